"""Graphs whose nodes and edges carry attributes: what GraphML and node-link JSON have in common.

A node may say `kind` (rank or switch; a rank where it says nothing), `rank` (its number) and `reduces`;
an edge `bandwidth` (bytes/s), `latency`, `overhead` (s), `level` and `cost`; the graph `dims`, `levels` and
`spread`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, prod
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from topologies.errors import FormatError, TopologyError
from topologies.formats.reading import Beside, check_link
from topologies.text import printable
from topologies.wiring import Wire, Wiring

if TYPE_CHECKING:
    from topologies.topology import Topology

At = TypeVar("At")

EDGE_KEYS: Final = ("bandwidth", "latency", "overhead", "level", "cost")
"""What of an edge is read, and written."""


@dataclass(frozen=True, slots=True)
class Node(Generic[At]):
    """A node: its name, attributes, and place in the file."""

    name: Hashable
    attributes: Mapping[str, Any]
    at: At


@dataclass(frozen=True, slots=True)
class Edge(Generic[At]):
    """An edge from node to node, or both ways."""

    src: Hashable
    dst: Hashable
    attributes: Mapping[str, Any]
    both: bool
    at: At


@dataclass(frozen=True, slots=True)
class Graph(Generic[At]):
    """A graph as a file tells it.

    Attributes
    ----------
    attributes : mapping
    nodes, edges : sequence of Node, of Edge
    at : object
        Where it stands.
    fail : callable
        (message, at) -> the error of that place.
    """

    attributes: Mapping[str, Any]
    nodes: Sequence[Node[At]]
    edges: Sequence[Edge[At]]
    at: At
    fail: Callable[[str, At], FormatError]

    def number(self, attributes: Mapping[str, Any], name: str, at: At) -> float | None:
        """An attribute that is a number; None where there is none."""
        if name not in attributes:
            return None
        try:
            value = float(attributes[name])
        except (TypeError, ValueError):
            value = float("nan")
        if not isfinite(value) or isinstance(attributes[name], bool):
            raise self.fail(f'{name} is "{printable(attributes[name])}", expected a number', at)
        return value

    def whole(self, attributes: Mapping[str, Any], name: str, at: At) -> int | None:
        """An attribute that is a whole number; None where there is none."""
        value = self.number(attributes, name, at)
        if value is not None and (value != int(value) or value < 0):
            raise self.fail(f'{name} is "{printable(attributes[name])}", expected 0, 1, 2, ...', at)
        return None if value is None else int(value)


def to_topology(graph: Graph[At], beside: Beside, kind: str) -> Topology:
    """The topology that a graph tells of.

    Parameters
    ----------
    graph : Graph
    beside : Beside
        Links of which the graph does not say it have this bandwidth, latency and overhead.
    kind : str
        Name of its kind, where the graph has none.

    Raises
    ------
    FormatError
        With the place of the node or edge.
    """
    if beside.machines is not None:
        raise graph.fail("a graph is no machine; machines are of NCCL's topologies", graph.at)
    numbers, switches = _numbered(graph)
    try:
        wiring = Wiring(len(numbers) - len(switches))
        for name in switches:
            wiring.switch(name)
        levels = dict.fromkeys(_words(graph, "levels"))
        for edge in graph.edges:
            wire = _wire(graph, edge, beside)
            levels.setdefault(wire.level)
            ends = [_end(graph, numbers, edge, end) for end in (edge.src, edge.dst)]
            if ends[0] == ends[1]:
                raise graph.fail(f'an edge from "{printable(edge.src)}" to itself', edge.at)
            wiring.add(ends[0], ends[1], wire)
            if edge.both:
                wiring.add(ends[1], ends[0], wire)
        built = _finished(graph, wiring, tuple(levels), kind)
    except TopologyError as error:
        raise graph.fail(error.message, graph.at) from None
    reducing = [numbers[node.name] for node in graph.nodes if str(node.attributes.get("reduces")) in _TRUE]
    return replace(built, reduces=tuple(sorted(reducing)), notes=tuple(_unread(graph)))


_TRUE: Final = ("True", "true", "1")


def _finished(graph: Graph[At], wiring: Wiring, levels: tuple[str, ...], kind: str) -> Topology:
    spread = graph.attributes.get("spread", "first")
    if spread not in ("first", "hash"):
        raise graph.fail(f'spread is "{printable(spread)}", expected first or hash', graph.at)
    dims = tuple(int(word) for word in _words(graph, "dims") if word.isdecimal() and len(word) < 9)
    fits = dims and prod(dims) == wiring.ranks
    named = printable(graph.attributes.get("kind", kind))
    return wiring.topology(named, dims if fits else (wiring.ranks,), levels, spread)


def _words(graph: Graph[At], name: str) -> list[str]:
    """An attribute of the graph that is a list."""
    found = graph.attributes.get(name, "")
    return [str(word) for word in found] if isinstance(found, list) else str(found).split("\n")[0].split()


def _numbered(graph: Graph[At]) -> tuple[dict[Hashable, int], list[str]]:
    """Number of every node, ranks first, and the names of the switches."""
    ranks: list[Node[At]] = []
    switches: list[Node[At]] = []
    seen: set[Hashable] = set()
    for node in graph.nodes:
        if node.name in seen:
            raise graph.fail(f'the node "{printable(node.name)}" is given twice', node.at)
        seen.add(node.name)
        word = node.attributes.get("kind", "rank")
        if word not in ("rank", "switch"):
            raise graph.fail(f'kind is "{printable(word)}", expected rank or switch', node.at)
        (ranks if word == "rank" else switches).append(node)
    if not ranks:
        raise graph.fail("there is no rank among the nodes", graph.at)
    names = _switch_names(graph, switches, len(ranks))
    numbers = {node.name: rank for rank, node in _in_order(graph, ranks)}
    return numbers | {node.name: len(ranks) + i for i, node in enumerate(switches)}, names


def _switch_names(graph: Graph[At], switches: Sequence[Node[At]], ranks: int) -> list[str]:
    """Names that can be written anywhere, and that are no rank's number."""
    taken = set(map(str, range(ranks)))
    names = []
    for node in switches:
        name = printable(node.name, limit=len(str(node.name)))
        names.append(f"switch {name}" if name in taken else name)
    if len(set(names)) < len(names):
        raise graph.fail("two switches have the same name", graph.at)
    return names


def _in_order(graph: Graph[At], ranks: Sequence[Node[At]]) -> list[tuple[int, Node[At]]]:
    """Ranks with their numbers: as they say, as they are named, or as they stand."""
    said = [graph.whole(node.attributes, "rank", node.at) for node in ranks]
    if None in said:
        named = [str(node.name) for node in ranks]
        if sorted(named) == sorted(map(str, range(len(ranks)))):
            said = [int(name) for name in named]
        else:
            said = list(range(len(ranks)))
    taken: dict[int, Node[At]] = {}
    for rank, node in zip(said, ranks, strict=True):
        if rank is None or rank >= len(ranks) or rank in taken:
            last = len(ranks) - 1
            raise graph.fail(f"rank {printable(rank)} is given twice, or is not 0 to {last}", node.at)
        taken[rank] = node
    return sorted(taken.items(), key=lambda pair: pair[0])


def _end(graph: Graph[At], numbers: Mapping[Hashable, int], edge: Edge[At], end: Hashable) -> int:
    if end not in numbers:
        raise graph.fail(f'there is no node "{printable(end)}"', edge.at)
    return numbers[end]


def _wire(graph: Graph[At], edge: Edge[At], beside: Beside) -> Wire:
    values: dict[str, float] = {}
    for name, default in (("bandwidth", None), ("latency", 0.0), ("overhead", 0.0)):
        said = graph.number(edge.attributes, name, edge.at)
        given = default if getattr(beside, name) is None else getattr(beside, name)
        value = given if said is None else said
        if value is None:
            message = 'an edge has no bandwidth (bytes/s); say it for all such edges beside "file"'
            raise graph.fail(message, edge.at)
        values[name] = value
    try:
        check_link(**values)
    except TopologyError as error:
        raise graph.fail(error.message, edge.at) from None
    cost = graph.whole(edge.attributes, "cost", edge.at)
    if cost is not None and not 1 <= cost <= 1 << 40:
        raise graph.fail(f"cost is {cost}, expected 1 to 2^40", edge.at)
    level = printable(edge.attributes.get("level", "link"))
    return Wire(**values, level=level, cost=1 if cost is None else cost)


def _unread(graph: Graph[At]) -> list[str]:
    """Attributes of edges that make no difference here."""
    names = dict.fromkeys(name for edge in graph.edges for name in edge.attributes)
    left = [printable(name) for name in names if name not in EDGE_KEYS]
    return [f"attributes of edges that are not read: {', '.join(left)}"] if left else []
