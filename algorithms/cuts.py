"""Cuts: what must cross from some nodes to the others, and how fast it can.

For any nodes S: the bytes that have their only source in S, or part of their sum, and a target
outside, have to leave S, over the links that do. No algorithm and no routing can avoid it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.collective import EVERY
from topologies.text import format_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.collective import Collective
    from topologies.topology import Topology

_NAMED: Final = 8


@dataclass(frozen=True, slots=True)
class Cut:
    """Some nodes, what must leave or enter them, and the links over which it can.

    Attributes
    ----------
    nodes : tuple of int
        Indices of the topology's nodes on one side, that with fewer of the ranks concerned.
    ranks : tuple of int
        The topology's ranks among them that take part.
    sends : bool
        Whether the bytes leave these nodes, or enter them.
    bytes : int
        What must cross, whatever the algorithm.
    bandwidth : float
        Of all links that cross in that direction, bytes/s.
    links : tuple of int
        These links.
    """

    nodes: tuple[int, ...]
    ranks: tuple[int, ...]
    sends: bool
    bytes: int
    bandwidth: float
    links: tuple[int, ...]

    @property
    def seconds(self) -> float:
        """Bytes over bandwidth."""
        return self.bytes / self.bandwidth

    def text(self) -> str:
        """Say it for people.

        Examples
        --------
        >>> Cut((0, 1, 4), (0, 1), True, 2**30, 128e9, (3, 7)).text()
        '2 ranks {0, 1} send 1 GiB over 2 links'
        """
        one = len(self.ranks) == 1
        named = ", ".join(map(str, self.ranks[:_NAMED])) + (", ..." if len(self.ranks) > _NAMED else "")
        who = f"rank {named}" if one else f"{len(self.ranks)} ranks {{{named}}}"
        verb = ("send" if self.sends else "receive") + ("s" if one else "")
        over = "1 link" if len(self.links) == 1 else f"{len(self.links)} links"
        return f"{who} {verb} {format_bytes(self.bytes)} over {over}"


def named_cut(
    collective: Collective, topology: Topology, place: NDArray[np.int64], side: NDArray[np.bool_]
) -> Cut:
    """The cut of what must leave a side.

    Parameters
    ----------
    collective : Collective
    topology : Topology
    place : ndarray of int64, shape (ranks,)
        The topology's rank of each rank.
    side : ndarray of bool, shape (nodes,)
    """
    links = topology.links
    over = np.flatnonzero(side[links.src] & ~side[links.dst])
    sends = 2 * int(side[place].sum()) <= len(place)
    named = side if sends else ~side
    return Cut(
        nodes=tuple(np.flatnonzero(named).tolist()),
        ranks=tuple(np.sort(place[named[place]]).tolist()),
        sends=sends,
        bytes=must_leave(collective, side[place]),
        bandwidth=float(total_bandwidth(links.bandwidth[over])),
        links=tuple(over.tolist()),
    )


def cut_side(cut: Cut, nodes: int) -> NDArray[np.bool_]:
    """Whether each node is on the side that sends."""
    named = np.zeros(nodes, dtype=bool)
    named[list(cut.nodes)] = True
    return named if cut.sends else ~named


def cut_time(
    collective: Collective, topology: Topology, place: NDArray[np.int64], side: NDArray[np.bool_]
) -> Fraction:
    """Exact seconds in which what must leave a side can; 0 where nothing must."""
    must = must_leave(collective, side[place])
    over = side[topology.links.src] & ~side[topology.links.dst]
    return must / total_bandwidth(topology.links.bandwidth[over]) if must else Fraction(0)


def must_leave(collective: Collective, inside: NDArray[np.bool_]) -> int:
    """Bytes that some ranks must send to the others, by any algorithm.

    Parameters
    ----------
    collective : Collective
    inside : ndarray of bool, shape (ranks,)

    Examples
    --------
    >>> from algorithms.collective import make_collective
    >>> must_leave(make_collective("allgather", 4, 400), np.array([True, True, False, False]))
    200
    """
    source, target = collective.source, collective.target
    starts = np.where(source == EVERY, inside.any(), inside[source])
    ends = np.where(target == EVERY, not inside.all(), ~inside[target])
    return int(collective.sizes[starts & ends].sum())


def total_bandwidth(bandwidth: NDArray[np.float64]) -> Fraction:
    """Exact sum, bytes/s."""
    distinct, times = np.unique(bandwidth, return_counts=True)
    return sum(
        (Fraction(b) * n for b, n in zip(distinct.tolist(), times.tolist(), strict=True)), start=Fraction(0)
    )
