"""YAML with a comment at every key, and what is not given as comments, ready to be taken in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from simulator.scenario.errors import one_of
from simulator.scenario.fields import Parameter
from simulator.scenario.new.samples import sample_of, words_of
from simulator.scenario.schema.docstrings import about

WIDTH: Final = 120
_COLUMN: Final = 40
_LONGEST: Final = 110
_MOST_WORDS: Final = 6
# not after "...", or after "et al."
_END: Final = re.compile(r"(?<!\.)(?<!al)[.;] ")

Given: TypeAlias = "str | Sequence[Entry] | Sequence[Sequence[Entry]]"
"""A value on one line, the entries of a block, or those of each block of a list."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A key of a block.

    Attributes
    ----------
    name : str
    value : str, entries, or a list of entries
    comment : str
    off : bool
        Whether it is only a comment.
    """

    name: str
    value: Given
    comment: str = ""
    off: bool = False


def entries(
    keys: Mapping[str, Parameter], given: Mapping[str, Given], *, without: Sequence[str] = ()
) -> list[Entry]:
    """Entries of a block: what is given, then what else may be, but for some keys."""
    shown = [Entry(name, value, _comment(keys.get(name))) for name, value in given.items()]
    others = (name for name in keys if name not in given and name not in without)
    return [*shown, *filter(None, (_off(name, keys[name]) for name in others))]


def to_text(root: Sequence[Entry]) -> str:
    """The text of a file; its blocks stand apart."""
    parts: list[str] = []
    for before, entry in zip([None, *root], root, strict=False):
        text = "\n".join(_lines(entry, 0))
        is_apart = before is not None and (not isinstance(entry.value, str) or entry.off != before.off)
        parts += ["\n"] * is_apart + [text, "\n"]
    return "".join(parts)


def _off(name: str, key: Parameter) -> Entry | None:
    """A key that is not given: what holds then, or an example."""
    text = sample_of(key)
    return None if text is None else Entry(name, text, _comment(key), off=True)


def _comment(key: Parameter | None) -> str:
    """What may be written and what it means, on one line; the less important left out where that is long."""
    if key is None:
        return ""
    words = words_of(key.annotation)
    choice = one_of(map(str, words)) if 0 < len(words) <= _MOST_WORDS else ""
    said = _END.split(f"{about(key)} ", maxsplit=1)[0].strip()
    short = said.partition(": ")[0]
    both = f"{choice}: {said[:1].lower()}{said[1:]}" if choice and said else choice or said
    return next((text for text in (both, choice, said) if text and len(text) <= _LONGEST), short)


def _lines(entry: Entry, depth: int, dash: str = "") -> Iterator[str]:
    head = f"{'  ' * depth}{'# ' if entry.off else ''}{dash}{entry.name}:"
    if isinstance(entry.value, str):
        yield from _commented(f"{head} {entry.value}", entry.comment, depth)
        return
    yield from _commented(head, entry.comment, depth)
    for part in entry.value:
        if isinstance(part, Entry):
            yield from _lines(part, depth + 1)
        else:
            for i, inner in enumerate(part):
                yield from _lines(inner, depth + (2 if i else 1), "" if i else "- ")


def _commented(line: str, comment: str, depth: int) -> Iterator[str]:
    """A line with its comment behind it or, where that is long, above it."""
    whole = f"{line:<{_COLUMN}}  # {comment}" if comment else line
    if len(whole) <= WIDTH:
        yield whole
    else:
        yield f"{'  ' * depth}# {comment}"
        yield line
