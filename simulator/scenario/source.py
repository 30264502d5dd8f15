"""A scenario's text as a tree of values that know their line and column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from simulator.scenario.errors import ScenarioError
from topologies.text import printable

Value = str | int | float | bool | None
At = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Scalar:
    """A word, text or number at a place; `text` is how it was written."""

    line: int
    column: int
    value: Value
    text: str


@dataclass(frozen=True, slots=True)
class Items:
    """A list at a place."""

    line: int
    column: int
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """A mapping at a place; every entry is (key, value), under the step of a path to it."""

    line: int
    column: int
    entries: Mapping[str | int, tuple[Scalar, Node]]


Node = Scalar | Items | Block


@dataclass(frozen=True, slots=True)
class Source:
    """Where everything that a scenario says stands in its file.

    Parameters
    ----------
    file : str
        Name of the file, as it was given.
    root : Node
        The whole text, and what presets put into it.
    written : Node
        The whole text by itself.
    """

    file: str
    root: Node = field(repr=False)
    written: Node = field(repr=False)

    def existing(self, at: At) -> At:
        """Cut a path to what exists of it."""
        return at[: sum(1 for _ in self._along(at)) - 1]

    def nearest(self, at: At) -> Node:
        """Find the value at a path, or its nearest ancestor that exists."""
        return list(self._along(at))[-1][1]

    def find(self, at: At) -> Node | None:
        """Find the value at a path, e.g. ``("topology", "levels", 1)``; None where there is none."""
        return self.nearest(at) if self.existing(at) == at else None

    def key(self, at: At) -> Node:
        """Find the key of the value at a path, or the value where it stands in a list."""
        name, node = list(self._along(at))[-1]
        return name or node

    def word(self, at: At) -> str | None:
        """Give the text at a path; None where there is none."""
        node = self.find(at)
        return node.value if isinstance(node, Scalar) and isinstance(node.value, str) else None

    def locate(self, at: At, *, key: bool = False) -> tuple[int, int]:
        """Give line and column, from 1, of the value at a path, or of its key.

        A path that does not exist falls back to its nearest ancestor that does.
        """
        place = self.key(at) if key else self.nearest(at)
        return place.line, place.column

    def error(
        self, message: str, at: At = (), *, key: bool = False, found: str | None = None
    ) -> ScenarioError:
        """Make an error that points at the value at a path, or at its key.

        `found`, if given, is added to the message as what was found there.
        """
        text = message if found is None else f"{message}, found {printable(found)}"
        return ScenarioError(text, self.file, *self.locate(at, key=key), at=at)

    def _along(self, at: At) -> Iterator[tuple[Scalar | None, Node]]:
        """Yield (key, value) of every step of a path that exists, the root first."""
        node = self.root
        yield None, node
        for step in at:
            name: Scalar | None = None
            if isinstance(node, Block) and step in node.entries:
                name, node = node.entries[step]
            elif isinstance(node, Items) and isinstance(step, int) and 0 <= step < len(node.items):
                node = node.items[step]
            else:
                return
            yield name, node


def put(node: Node, at: At, value: Node) -> Node:
    """A tree with another value at a path; keys that a mapping lacks are added, at the value's place.

    Raises
    ------
    LookupError
        If a step leads into no mapping, or to no item of a list; its argument is the path to there.

    Examples
    --------
    >>> tree = Block(1, 1, {"size": (Scalar(1, 1, "size", "size"), Scalar(1, 7, 8, "8"))})
    >>> plain(put(tree, ("size",), Scalar(1, 1, 9, "9"))), plain(put(tree, ("a", "b"), Scalar(1, 1, 9, "9")))
    ({'size': 9}, {'size': 8, 'a': {'b': 9}})
    """
    if not at:
        return value
    step, *rest = at
    try:
        match node:
            case Block():
                key, old = node.entries.get(step) or (
                    Scalar(value.line, value.column, step, str(step)),
                    Block(value.line, value.column, {}),
                )
                return replace(node, entries={**node.entries, step: (key, put(old, tuple(rest), value))})
            case Items(items=items) if isinstance(step, int) and 0 <= step < len(items):
                new = put(items[step], tuple(rest), value)
                return replace(node, items=(*items[:step], new, *items[step + 1 :]))
    except LookupError as error:
        raise LookupError((step, *error.args[0])) from None
    raise LookupError((step,))


def plain(node: Node) -> Any:
    """Strip the places from a tree: dicts, lists and values."""
    match node:
        case Scalar():
            return node.value
        case Items():
            return [plain(item) for item in node.items]
        case Block():
            return {key.value: plain(value) for key, value in node.entries.values()}


def step_of(key: Scalar) -> str | int:
    """Give the step of a path to the value under a key, as pydantic does: a word or an int64.

    Examples
    --------
    >>> step_of(Scalar(1, 1, 3, "0x3")), step_of(Scalar(1, 1, 1.5, "1.50"))
    (3, '1.5')
    """
    value = key.value
    return value if isinstance(value, int) and -(2**63) <= value < 2**63 else str(value)


def describe(node: Node) -> str:
    """Say what a value is, for a message."""
    match node:
        case Items():
            return "a list" if node.items else "an empty list"
        case Block():
            return "a mapping" if node.entries else "an empty mapping"
        case Scalar(value=None):
            return "nothing"
        case Scalar(value=bool()):
            return printable(node.text)
        case Scalar(value=str()):
            return f'the text "{printable(node.text)}"'
        case Scalar():
            return f"the number {printable(node.text)}"


def written(node: Node) -> str:
    """Give a word or number as it was written; empty for lists and mappings."""
    return node.text if isinstance(node, Scalar) else ""


def dotted(at: At) -> str:
    """Write a path as people do.

    Examples
    --------
    >>> dotted(("topology", "levels", 1, "size"))
    'topology.levels[1].size'
    """
    steps = (f"[{step}]" if isinstance(step, int) else f".{printable(step)}" for step in at)
    return "".join(steps).removeprefix(".")
