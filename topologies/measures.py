"""What a graph is worth: degree, diameter and bisection of a topology."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np

from topologies.errors import TopologyError
from topologies.ways import cheapest, direct_links, next_links

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from topologies.topology import Topology

_MOST_PLACEMENTS = 1 << 17
_TARGETS_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class Measures:
    """Measures of a topology.

    Attributes
    ----------
    ranks, switches, links : int
        How many; links are directed and parallel ones count each.
    degree, in_degree : tuple of int
        Smallest and largest number of links that leave, and that enter, a rank.
    diameter : int
        Links of the longest route between two ranks.
    alpha_diameter : float
        s; overhead + latency of every hop (each to the femtosecond), summed along the
        cheapest way, of the two ranks that are farthest apart.
    bisection_links : int
        Fewest links that lead from one half of the ranks to the other, in one direction,
        over all splits into floor(N/2) and ceil(N/2) ranks and all places of the switches.
    bisection_bandwidth : float
        bytes/s; least bandwidth of the links that do, over the same splits.
    bisection_exact : bool
        False if there were too many splits to try: then only ranks 0..floor(N/2)-1
        against the others were, and the bisection may be smaller.
    """

    ranks: int
    switches: int
    links: int
    degree: tuple[int, int]
    in_degree: tuple[int, int]
    diameter: int
    alpha_diameter: float
    bisection_links: int
    bisection_bandwidth: float
    bisection_exact: bool


def measure(topology: Topology, *, alike: bool = False) -> Measures:
    """Measure a topology.

    Parameters
    ----------
    topology : Topology
    alike : bool
        Whether it is known to look the same from every rank, so that rank 0 alone is looked at.

    Raises
    ------
    TopologyError
        If a rank cannot reach another.

    Examples
    --------
    >>> from topologies import hypercube
    >>> cube = measure(hypercube(3, bandwidth=64e9, latency=1e-6))
    >>> cube.degree, cube.diameter, cube.bisection_links
    ((3, 3), 3, 4)
    """
    links, seen = topology.links, np.arange(1 if alike else topology.ranks)
    exact = _placements(topology) <= _MOST_PLACEMENTS
    cut = _smallest_cut if exact else _natural_cut
    return Measures(
        ranks=topology.ranks,
        switches=len(topology.nodes) - topology.ranks,
        links=len(links),
        degree=_degree(links.src, topology.ranks),
        in_degree=_degree(links.dst, topology.ranks),
        diameter=_diameter(topology, seen),
        alpha_diameter=_alpha_diameter(topology, seen),
        bisection_links=round(cut(topology, np.ones(len(links)))),
        bisection_bandwidth=cut(topology, links.bandwidth),
        bisection_exact=exact,
    )


def _degree(ends: NDArray[np.int32], ranks: int) -> tuple[int, int]:
    count = np.bincount(ends, minlength=ranks)[:ranks]
    return int(count.min()), int(count.max())


def _diameter(topology: Topology, seen: NDArray[np.int64]) -> int:
    blocks = np.array_split(seen, -(-len(seen) // _TARGETS_AT_ONCE))
    return max(_longest_route(topology, block) for block in blocks)


def _longest_route(topology: Topology, targets: NDArray[np.int64]) -> int:
    """Links of the longest route from any rank to one of the targets."""
    src, dst = (column.ravel() for column in np.meshgrid(np.arange(topology.ranks), targets))
    far = (direct_links(topology, src, dst) < 0) & (src != dst)
    if not far.any():
        return int((src != dst).any())
    targets = np.unique(dst[far])
    following = next_links(topology, targets)
    _check_reached(topology, targets, following)
    hops = (following >= 0).astype(np.int64)
    reached = np.where(following >= 0, topology.links.dst[following], np.arange(len(topology.nodes)))
    # each round doubles the stretch of the routes that is counted
    while (further := np.take_along_axis(hops, reached, axis=1)).any():
        hops += further
        reached = np.take_along_axis(reached, reached, axis=1)
    return int(hops[:, : topology.ranks].max())


def _check_reached(topology: Topology, targets: NDArray[np.int64], following: NDArray[np.int64]) -> None:
    lost = following[:, : topology.ranks] < 0
    lost[np.arange(len(targets)), targets] = False
    if lost.any():
        row, src = np.argwhere(lost)[0]
        raise TopologyError(f"there is no way from {src} to {targets[row]}")


def _alpha_diameter(topology: Topology, seen: NDArray[np.int64]) -> float:
    """Longest of the cheapest ways in overhead + latency; every rank is known to reach every other."""
    links, ranks = topology.links, topology.ranks
    if ranks == 1:
        return 0.0
    # whole femtoseconds, whose sums are exact
    alpha = np.rint(links.overhead * 1e15) + np.rint(links.latency * 1e15)
    near = np.flatnonzero(links.dst < len(seen))
    one_hop = np.full((len(topology.nodes), len(seen)), np.inf)
    np.minimum.at(one_hop, (links.src[near], links.dst[near]), alpha[near])
    np.fill_diagonal(one_hop, 0.0)
    one_hop = one_hop[:ranks]
    # no way of two hops can be cheaper than such a link
    settled = one_hop <= 2 * alpha.min()
    targets = np.flatnonzero(~settled.all(axis=0))
    longest = one_hop[settled].max()
    if len(targets):
        ways = cheapest(links, len(topology.nodes), targets, alpha)[:, :ranks]
        longest = max(longest, ways.max())
    return float(longest) / 1e15


def _placements(topology: Topology) -> int:
    """Number of splits of the ranks into halves, times the places of the switches."""
    return comb(topology.ranks, topology.ranks // 2) << (len(topology.nodes) - topology.ranks)


def _smallest_cut(topology: Topology, weight: NDArray[np.float64]) -> float:
    """Least weight from one side to the other, over all splits and places of switches."""
    side = _sides(topology.ranks, len(topology.nodes) - topology.ranks)
    other = 1.0 - side
    joined = _joined(topology, np.arange(len(topology.nodes)), weight)
    forth = ((side @ joined) * other).sum(axis=1)
    back = ((other @ joined) * side).sum(axis=1)
    return float(min(forth.min(), back.min()))


def _sides(ranks: int, switches: int) -> NDArray[np.float64]:
    """1 where a node is on the side of floor(N/2) ranks, a row for each placement."""
    chosen = np.array(list(combinations(range(ranks), ranks // 2)), dtype=np.int64)
    half = np.zeros((len(chosen), ranks))
    np.put_along_axis(half, chosen, 1.0, axis=1)
    places = (np.arange(1 << switches)[:, None] >> np.arange(switches)) & 1
    return np.hstack([np.repeat(half, len(places), axis=0), np.tile(places, (len(half), 1))])


def _natural_cut(topology: Topology, weight: NDArray[np.float64]) -> float:
    """Least weight from the lower half of the ranks to the upper or back, over all places of switches."""
    half, ranks = topology.ranks // 2, topology.ranks
    merged = np.maximum(np.arange(len(topology.nodes)) - ranks + 2, 0)
    merged[half:ranks] = 1
    joined = _joined(topology, merged, weight)
    flow: nx.DiGraph[Hashable] = nx.DiGraph()
    flow.add_nodes_from((0, 1))
    for src, dst in np.argwhere(joined).tolist():
        # fractions, since a flow of floats may never quite saturate a link
        flow.add_edge(src, dst, capacity=Fraction(joined[src, dst]))
    return float(min(nx.minimum_cut_value(flow, 0, 1), nx.minimum_cut_value(flow, 1, 0)))


def _joined(
    topology: Topology, merged: NDArray[np.int64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Weight from node to node after node i was merged into merged[i]; nothing to itself."""
    size = int(merged.max()) + 1
    joined = np.zeros((size, size))
    np.add.at(joined, (merged[topology.links.src], merged[topology.links.dst]), weight)
    np.fill_diagonal(joined, 0.0)
    return joined
