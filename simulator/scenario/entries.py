"""Entries of the list `collectives`, each seen as the `collective` of a file of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from simulator.scenario.errors import ScenarioError, ScenarioErrors
from simulator.scenario.source import At, Block, Items, Source

ONE: Final = "collective"
LIST: Final = "collectives"
_ONE: Final = re.compile(rf"(^| in ){ONE}(?=$|[.:;,])")


def entry_source(source: Source, i: int) -> Source:
    r"""The source in which entry i of the list is the collective; everything stands where it stood.

    Examples
    --------
    >>> from simulator.scenario.parse import parse
    >>> whole, _ = parse("collectives:\n  - {kind: barrier}\n  - {kind: reduce}", "a.yaml")
    >>> one = entry_source(whole, 1)
    >>> one.word(("collective", "kind")), one.locate(("collective", "kind"))
    ('reduce', (3, 12))
    """
    root = source.root
    if not isinstance(root, Block):
        return source
    key, entries = root.entries[LIST]
    if not isinstance(entries, Items):
        return source
    others = {step: entry for step, entry in root.entries.items() if step != LIST}
    own = entries.items[i]
    # an entry of a list has no key of its own: it stands where it begins
    name = replace(key, line=own.line, column=own.column, value=ONE, text=ONE)
    return replace(source, root=replace(root, entries={**others, ONE: (name, own)}))


def path_of(at: At, i: int) -> At:
    """Path in the file of what stands at a path of an entry's own source.

    >>> path_of(("collective", "size"), 2), path_of(("network", "sync"), 2)
    (('collectives', 2, 'size'), ('network', 'sync'))
    """
    return (LIST, i, *at[1:]) if at[:1] == (ONE,) else at


def in_list(errors: ScenarioErrors, i: int) -> ScenarioErrors:
    """Errors of an entry's own source in the words of the file."""
    return ScenarioErrors(_in_list(error, i) for error in errors.errors)


def _in_list(error: ScenarioError, i: int) -> ScenarioError:
    message = _ONE.sub(rf"\g<1>{LIST}[{i}]", error.message)
    if error.at[:1] != (ONE,):
        # it stands elsewhere, and does not tell whose it is
        message = f"{LIST}[{i}]: {message}"
    return ScenarioError(message, error.file, error.line, error.column, path_of(error.at, i))


@contextmanager
def of_entry(i: int) -> Iterator[None]:
    """Put errors of an entry's own source into the words of the file."""
    try:
        yield
    except ScenarioErrors as error:
        raise in_list(error, i) from None
