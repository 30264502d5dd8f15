"""Paths of fields as people write them: `topology.levels[1].bandwidth`."""

from __future__ import annotations

import re
from typing import Final

from simulator.scenario.errors import ScenarioError, ScenarioErrors, did_you_mean
from simulator.scenario.source import At, Block, Items, Node, Scalar, Source, describe, dotted, put
from topologies.errors import CollsimError
from topologies.text import printable

_STEP: Final = re.compile(r"\.?([^.\[\]\s][^.\[\]]*)|\[([0-9]{1,9})\]")


def path_of(text: str) -> At:
    """Read the path of a field; what is all digits is a number, be it of a list or a key.

    Raises
    ------
    CollsimError

    Examples
    --------
    >>> path_of("collectives[0].size"), path_of("delay.3")
    (('collectives', 0, 'size'), ('delay', 3))
    """
    steps: list[str | int] = []
    place = 0
    while place < len(text):
        match = _STEP.match(text, place)
        if match is None or (not steps) == text.startswith((".", "["), place):
            break
        word = match[1] if match[2] is None else match[2]
        steps.append(int(word) if word.isdecimal() else word)
        place = match.end()
    if place < len(text) or not steps:
        raise CollsimError(f'"{printable(text)}" is no path of a field, as "topology.ranks"')
    return tuple(steps)


def set_field(source: Source, at: At, value: Node, place: Scalar) -> Source:
    """A scenario's source with another value at a path; an entry of a list may go by its name.

    Parameters
    ----------
    source : Source
    at : path
    value : Node
    place : Scalar
        Where the path is written.

    Raises
    ------
    ScenarioErrors
        If the path leads into what has no fields.
    """
    at = _by_number(source, at)
    try:
        root = put(source.root, at, value)
    except LookupError as error:
        raise ScenarioErrors([_stuck(source, error.args[0], place)]) from None
    return Source(source.file, root, root)


def _by_number(source: Source, at: At) -> At:
    """A path in which entries of lists go by their numbers.

    A name that no entry has is left as it is.
    """
    found: list[str | int] = []
    for step in at:
        node = source.find(tuple(found))
        named = _names(node).index(step) if isinstance(node, Items) and step in _names(node) else step
        found.append(named)
    return tuple(found)


def _names(items: Items) -> list[str | int | None]:
    """What the entries of a list are called, None where they have no name."""
    entries = (entry.entries.get("name") if isinstance(entry, Block) else None for entry in items.items)
    words = (None if entry is None else entry[1] for entry in entries)
    return [
        word.value if isinstance(word, Scalar) and isinstance(word.value, str) else None for word in words
    ]


def _stuck(source: Source, at: At, place: Scalar) -> ScenarioError:
    """Say why a path ends where it does."""
    *before, step = at
    node, where = source.nearest(tuple(before)), dotted(tuple(before))
    if isinstance(node, Items):
        names = [name for name in _names(node) if isinstance(name, str)]
        hint = did_you_mean(str(step), names)
        message = f"{where} has no entry {printable(str(step))}; it has {len(node.items)}{hint}"
    else:
        message = f'{where} is {describe(node)} and has no "{printable(str(step))}"'
    return ScenarioError(message, source.file, place.line, place.column)
