"""Values that a field takes in a sweep: for the scenario, for a row, and for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from simulator.scenario.errors import ScenarioErrors, UnitError
from simulator.scenario.parse import parse
from simulator.scenario.presets import moved
from simulator.scenario.ranges import DOTS, parse_range
from simulator.scenario.source import Block, Items, Node, Scalar, Source, plain, step_of
from simulator.scenario.units import exact, kind_of
from simulator.scenario.written import to_yaml
from topologies.errors import CollsimError

if TYPE_CHECKING:
    from collections.abc import Iterator

Cell: TypeAlias = int | float | str | bool | None
"""A value of a row."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A value that a field takes.

    Attributes
    ----------
    node : Node
        As the scenario has it.
    cell : int, float, str, bool or None
        As a row has it: quantities in B, B/s, s and FLOP/s.
    text : str
        As people read it.
    """

    node: Node
    cell: Cell
    text: str


def choices(node: Node, points: int | None = None) -> tuple[Choice, ...]:
    """Values of a field, from what a sweep says of it.

    Parameters
    ----------
    node : Node
        A range, `{range: ..., points: ...}`, or a list.
    points : int, optional
        Of a range that says none itself.

    Raises
    ------
    UnitError
        If it is no range.
    CollsimError
        If it is a list of nothing.
    """
    match node:
        case Items():
            found = [choice(item) for item in node.items]
        case Block(entries=entries):
            of = entries.get("points")
            points = points if of is None else plain(of[1])
            found = list(_spread(entries["range"][1], points))
        case Scalar():
            found = list(_spread(node, points))
    if not found:
        raise CollsimError("found an empty list, expected values")
    return tuple(found)


def _spread(node: Node, points: int | None) -> Iterator[Choice]:
    """The values of a range."""
    text = node.text if isinstance(node, Scalar) else ""
    if DOTS not in text:
        raise UnitError(f'found "{text}", expected a range, as 1KiB..1GiB, or a list')
    for value in parse_range(text, points):
        written: Any = int(value) if value.isdecimal() else value
        yield choice(Scalar(node.line, node.column, written, value))


def choice(node: Node) -> Choice:
    """A value from how it is written.

    Examples
    --------
    >>> [choice(Scalar(1, 1, text, text)).cell for text in ("1 KiB", "2 us", "ring")]
    [1024, 2e-06, 'ring']
    """
    if not isinstance(node, Scalar):
        text = " ".join(_on_one_line(node).split())
        return Choice(node, text, text)
    value = node.value
    kind = kind_of(value) if isinstance(value, str) else None
    if kind is None or not isinstance(value, str):
        return Choice(node, value, node.text if value is not None else "null")
    quantity = exact(value, kind)
    whole = kind == "bytes" and quantity.denominator == 1
    return Choice(node, int(quantity) if whole else float(quantity), value)


def _on_one_line(node: Node) -> str:
    """A list or a mapping as YAML has it in brackets."""
    match node:
        case Items():
            return f"[{', '.join(map(_on_one_line, node.items))}]"
        case Block():
            pairs = (f"{key.text}: {_on_one_line(value)}" for key, value in node.entries.values())
            return f"{{{', '.join(pairs)}}}"
        case Scalar():
            return to_yaml(node).strip().removesuffix("...").strip()


def typed_values(text: str, line: int) -> Node:
    """Read what a command line gives for a field: a range, or values with commas between.

    Parameters
    ----------
    text : str
    line : int
        Where everything in it is said to stand.

    Raises
    ------
    CollsimError
        If it is no YAML.

    Examples
    --------
    >>> plain(typed_values("8,16", -1)), plain(typed_values("[8, 16]", -1)), plain(typed_values("1..8", -1))
    ([8, 16], [8, 16], '1..8')
    """
    try:
        source, refused = parse(f"values: [{text}]", "values")
    except ScenarioErrors as error:
        raise CollsimError(error.errors[0].message) from None
    if refused:
        raise CollsimError(refused[0].message)
    listed = _moved_to(source, line)
    if len(listed.items) == 1:
        (one,) = listed.items
        ranged = isinstance(one, Scalar) and isinstance(one.value, str) and DOTS in one.value
        if ranged or isinstance(one, Items) or (isinstance(one, Block) and "range" in one.entries):
            return one
    return listed


def _moved_to(source: Source, line: int) -> Items:
    """The list `values` of a source with everything in it at one place."""
    root = source.root
    if not isinstance(root, Block):
        raise CollsimError("expected values")
    listed = moved(root, Scalar(line, 1, None, "")).entries["values"][1]
    if not isinstance(listed, Items):
        raise CollsimError("expected values")
    return listed


def node_of(value: object, line: int) -> Node:
    """A value of Python as a scenario has it.

    Raises
    ------
    CollsimError
        If it is nothing that YAML has.

    Examples
    --------
    >>> plain(node_of({"kind": "ring", "ranks": (8, 16)}, -1))
    {'kind': 'ring', 'ranks': [8, 16]}
    """
    if isinstance(value, Mapping):
        keys = (Scalar(line, 1, key, str(key)) for key in value)
        entries = {step_of(key): (key, node_of(value[key.value], line)) for key in keys}
        return Block(line, 1, entries)
    if hasattr(value, "tolist"):
        # of numpy
        value = value.tolist()
    if value is None or isinstance(value, str | int | float):
        text = "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
        return Scalar(line, 1, value, text)
    if isinstance(value, Sequence):
        return Items(line, 1, tuple(node_of(item, line) for item in value))
    raise CollsimError(f"found {type(value).__name__}, expected what a scenario may say")
