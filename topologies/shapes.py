"""Shapes in which the members of one level are wired, and the links that wire them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from topologies.errors import TopologyError

if TYPE_CHECKING:
    from topologies.topology import Graph

Shape = Literal["ring", "line", "full_mesh", "switch", "hypercube"]


@dataclass(frozen=True, slots=True)
class Wire:
    """What one directed link is made of: bytes/s, s, s, the level's name, routing cost."""

    bandwidth: float
    latency: float
    overhead: float
    level: str
    cost: int = 1

    def add(self, graph: Graph, src: Hashable, dst: Hashable, count: int = 1) -> None:
        """Add `count` parallel links from src to dst."""
        for _ in range(count):
            graph.add_edge(
                src,
                dst,
                bandwidth=self.bandwidth,
                latency=self.latency,
                overhead=self.overhead,
                level=self.level,
                cost=self.cost,
            )


def check_wire(bandwidth: float, latency: float, overhead: float) -> None:
    """Refuse a link that cannot carry anything.

    Raises
    ------
    TopologyError
        If the bandwidth is not positive and finite, or a time is negative or not finite.
    """
    if not 0 < bandwidth < float("inf"):
        raise TopologyError(f"bandwidth must be positive and finite, found {bandwidth}", ("bandwidth",))
    for name, value in (("latency", latency), ("overhead", overhead)):
        if not 0 <= value < float("inf"):
            raise TopologyError(f"{name} must be zero or more and finite, found {value}", (name,))


def pairs(shape: Shape, size: int) -> Iterator[tuple[int, int]]:
    """Directed links of a switchless shape, each member's in its order of preference.

    The positive direction comes before the negative one, a hypercube's lower dimension
    before the higher: so the first link on a shortest path goes the positive way round
    where both are as short, and in dimension order.

    Examples
    --------
    >>> list(pairs("ring", 3))
    [(0, 1), (1, 2), (2, 0), (0, 2), (1, 0), (2, 1)]
    >>> list(pairs("ring", 2))
    [(0, 1), (1, 0)]
    """
    match shape:
        case "ring" if size > 2:
            yield from ((i, (i + 1) % size) for i in range(size))
            yield from ((i, (i - 1) % size) for i in range(size))
        case "ring" | "line":
            yield from ((i, i + 1) for i in range(size - 1))
            yield from ((i, i - 1) for i in range(1, size))
        case "full_mesh":
            yield from ((i, (i + k) % size) for k in range(1, size) for i in range(size))
        case "hypercube":
            dimension = size.bit_length() - 1
            yield from ((i, i ^ (1 << k)) for k in range(dimension) for i in range(size))
        case _:
            raise TopologyError(f"{shape} is not a shape of direct links", ("shape",))


def connect(
    graph: Graph,
    members: Sequence[Hashable],
    shape: Shape,
    wire: Wire,
    *,
    count: int = 1,
    switch: str = "switch",
) -> None:
    """Wire `members` in a shape with `count` parallel links a pair; a `switch` shape adds its switch node."""
    if shape == "hypercube" and len(members).bit_count() != 1:
        raise TopologyError(f"a hypercube needs a power of two, found {len(members)} members", ("size",))
    if shape == "switch":
        graph.add_node(switch, kind="switch")
        for member in members:
            wire.add(graph, member, switch, count)
        for member in members:
            wire.add(graph, switch, member, count)
        return
    for i, j in pairs(shape, len(members)):
        wire.add(graph, members[i], members[j], count)
