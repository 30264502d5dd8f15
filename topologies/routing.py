"""Routes along shortest paths, the same from run to run.

From every node a message takes the first out-link, in the builder's order, that lies on a
shortest path to its destination. So a ring goes the positive way round where both ways are
as short, a hypercube and a grid go in dimension order, and where the shape is symmetric every
rank's route is the same, shifted. Of k parallel links the rank r takes number r mod k.

In a network whose `spread` is "hash" a message takes the out-link that a hash of its source and
destination picks among those on shortest paths: up and down a fat tree, by equal-cost multipath.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from topologies.errors import TopologyError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topologies.topology import Links, Topology

_Whole: TypeAlias = "NDArray[np.int64]"
_Choose: TypeAlias = "Callable[[_Whole, _Whole, _Whole, _Whole], NDArray[np.integer]]"
"""From a cell of the ways, source, destination and node to the link to take."""

SMALL: Final = 256
"""Nodes up to which all distances are found in numpy before scipy is done loading."""

_PAIRS_AT_ONCE: Final = 1 << 15


@dataclass(frozen=True, slots=True, eq=False)
class Routes:
    """Routes of many pairs.

    Attributes
    ----------
    offsets : ndarray of int64, shape (pairs + 1,)
        Pair p walks links[offsets[p]:offsets[p + 1]].
    links : ndarray of int32
        Link indices, in walking order.
    """

    offsets: NDArray[np.int64]
    links: NDArray[np.int32]

    def hops(self) -> NDArray[np.int64]:
        """Number of links of each route."""
        return np.diff(self.offsets)


def route(topology: Topology, src: int, dst: int) -> tuple[int, ...]:
    """Links from one rank to another, in walking order.

    Examples
    --------
    >>> from topologies import ring
    >>> eight = ring(8, bandwidth=64e9)
    >>> [eight.link_name(link) for link in route(eight, 0, 4)]
    ['0->1', '1->2', '2->3', '3->4']
    """
    return tuple(routes(topology, np.array([src]), np.array([dst])).links.tolist())


def routes(topology: Topology, src: NDArray[np.integer], dst: NDArray[np.integer]) -> Routes:
    """Routes of the pairs (src[p], dst[p]).

    Parameters
    ----------
    src, dst : ndarray of int, shape (pairs,)
        Node indices (ranks are 0..N-1).

    Raises
    ------
    TopologyError
        If a destination cannot be reached.
    """
    start, end = np.asarray(src, dtype=np.int64), np.asarray(dst, dtype=np.int64)
    direct = direct_links(topology, start, end)
    near, far = np.flatnonzero(direct >= 0), np.flatnonzero((direct < 0) & (start != end))
    walked = _walk_all(topology, start[far], end[far])
    count = (direct >= 0).astype(np.int64)
    count[far] = walked.hops()
    offsets = _ends(count)
    links, is_near = np.empty(offsets[-1], dtype=np.int32), np.zeros(offsets[-1], dtype=bool)
    is_near[offsets[near]] = True
    links[is_near] = _lane(parallel_links(topology.links), direct[near], start[near])
    links[~is_near] = walked.links
    return Routes(offsets, links)


def _ends(count: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each of several stretches of so many items begins, and where the last one ends."""
    offsets = np.zeros(len(count) + 1, dtype=np.int64)
    np.cumsum(count, out=offsets[1:])
    return offsets


def direct_links(topology: Topology, src: NDArray[np.int64], dst: NDArray[np.int64]) -> NDArray[np.int64]:
    """First link from src[p] to dst[p] where it is a shortest path by itself, else -1."""
    links, nodes = topology.links, len(topology.nodes)
    if not len(links):
        return np.full(len(src), -1, dtype=np.int64)
    key = links.src.astype(np.int64) * nodes + links.dst
    order = np.argsort(key, kind="stable")
    wanted = src * nodes + dst
    at = np.minimum(np.searchsorted(key[order], wanted), len(key) - 1)
    found = order[at]
    # a link that costs less than any two can have no rival
    is_direct = (key[found] == wanted) & (links.cost[found] < 2 * links.cost.min())
    return np.where(is_direct, found, -1)


def distances(topology: Topology, targets: NDArray[np.integer]) -> NDArray[np.float64]:
    """Routing cost from every node to each target; infinite where there is no way.

    Returns
    -------
    ndarray of float64, shape (targets, nodes)
    """
    return cheapest(topology.links, len(topology.nodes), targets, topology.links.cost)


def cheapest(
    links: Links, nodes: int, targets: NDArray[np.integer], weight: NDArray[np.number]
) -> NDArray[np.float64]:
    """Smallest sum of `weight`, one a link, on a way from every node to each target; infinite where none.

    Returns
    -------
    ndarray of float64, shape (targets, nodes)
    """
    # of parallel links only the lightest counts
    order = np.lexsort((weight, links.src, links.dst))
    first = np.ones(len(order), dtype=bool)
    first[1:] = (np.diff(links.src[order]) != 0) | (np.diff(links.dst[order]) != 0)
    keep = order[first]
    search = _by_relaxing if nodes <= SMALL else _by_scipy
    return search(links.dst[keep], links.src[keep], weight[keep].astype(np.float64), nodes, targets)


def _by_relaxing(
    tail: NDArray[np.int32],
    head: NDArray[np.int32],
    weight: NDArray[np.float64],
    nodes: int,
    sources: NDArray[np.integer],
) -> NDArray[np.float64]:
    """Smallest weights from each source, by Floyd and Warshall over all pairs."""
    found = np.full((nodes, nodes), np.inf)
    found[tail, head] = weight
    np.fill_diagonal(found, 0.0)
    for middle in range(nodes):
        np.minimum(found, found[:, middle, None] + found[middle], out=found)
    return found[np.asarray(sources, dtype=np.int64)]


def _by_scipy(
    tail: NDArray[np.int32],
    head: NDArray[np.int32],
    weight: NDArray[np.float64],
    nodes: int,
    sources: NDArray[np.integer],
) -> NDArray[np.float64]:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    graph = csr_array((weight, (tail, head)), shape=(nodes, nodes))
    return np.asarray(dijkstra(graph, indices=np.asarray(sources, dtype=np.int64)))


@dataclass(frozen=True, slots=True, eq=False)
class Ways:
    """The links on shortest paths to some targets.

    Attributes
    ----------
    start, count : ndarray of int64, shape (targets, nodes)
        From node u towards target t lead links[start[t, u]:][:count[t, u]].
    links : ndarray of int32
        Link indices, each node's in its order of preference.
    """

    start: NDArray[np.int64]
    count: NDArray[np.int64]
    links: NDArray[np.int32]


def ways(topology: Topology, targets: NDArray[np.int64]) -> Ways:
    """All links on shortest paths from every node to each target."""
    links, nodes = topology.links, len(topology.nodes)
    found, counts = [], np.zeros((len(targets), nodes), dtype=np.int64)
    for row, cost in enumerate(distances(topology, targets)):
        nearer = np.isfinite(cost[links.src]) & (cost[links.dst] + links.cost == cost[links.src])
        found.append(np.flatnonzero(nearer).astype(np.int32))
        counts[row] = np.bincount(links.src[nearer], minlength=nodes)
    ends = np.cumsum(counts.ravel()).reshape(counts.shape)
    return Ways(ends - counts, counts, np.concatenate(found) if found else np.zeros(0, dtype=np.int32))


def next_links(topology: Topology, targets: NDArray[np.int64]) -> NDArray[np.int64]:
    """First link of preference towards each target from each node, or -1; (targets, nodes)."""
    found = ways(topology, targets)
    first = np.full(found.count.shape, -1, dtype=np.int64)
    some = found.count > 0
    first[some] = found.links[found.start[some]]
    return first


def _walk_all(topology: Topology, src: NDArray[np.int64], dst: NDArray[np.int64]) -> Routes:
    """Routes of pairs by the links on shortest paths, so many pairs at once as fit the processor's cache."""
    if not len(src):
        return Routes(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32))
    targets, which = np.unique(dst, return_inverse=True)
    found, row = ways(topology, targets), which * len(topology.nodes)
    _check_reached(topology, found.count.ravel()[row + src], src, dst)
    choose = _by_hash(found) if topology.spread == "hash" else _by_preference(topology, found)
    blocks = [slice(first, first + _PAIRS_AT_ONCE) for first in range(0, len(src), _PAIRS_AT_ONCE)]
    walks = [_walk(topology, choose, row[block], src[block], dst[block]) for block in blocks]
    return Routes(
        _ends(np.concatenate([walk.hops() for walk in walks])),
        np.concatenate([walk.links for walk in walks]),
    )


def _check_reached(
    topology: Topology, choices: NDArray[np.int64], src: NDArray[np.int64], dst: NDArray[np.int64]
) -> None:
    if not choices.all():
        lost = int(np.argmin(choices))
        raise TopologyError(
            f"there is no way from {topology.nodes[src[lost]]} to {topology.nodes[dst[lost]]}"
        )


def _walk(
    topology: Topology,
    choose: _Choose,
    row: NDArray[np.int64],
    src: NDArray[np.int64],
    dst: NDArray[np.int64],
) -> Routes:
    """Walk some pairs, hop by hop; pair p towards the target whose nodes begin at row[p] in the ways."""
    pair, here, hops = np.arange(len(src)), src, []
    count, heads = np.zeros(len(src), dtype=np.int64), topology.links.dst.astype(np.int64)
    while len(pair):
        link = choose(row + here, src, dst, here)
        hops.append((pair, link))
        here = heads[link]
        under_way = here != dst
        if not under_way.all():
            count[pair[~under_way]] = len(hops)
            pair, row, src, dst, here = (column[under_way] for column in (pair, row, src, dst, here))
    offsets = _ends(count)
    links = np.empty(offsets[-1], dtype=np.int32)
    for hop, (pair, link) in enumerate(hops):
        links[offsets[pair] + hop] = link
    return Routes(offsets, links)


def _by_preference(topology: Topology, found: Ways) -> _Choose:
    """Choose the first link towards the target, and among parallel ones by the source."""
    first, lanes = (
        found.links[np.minimum(found.start.ravel(), len(found.links) - 1)],
        parallel_links(topology.links),
    )
    if lanes.max() == 1:
        return lambda cell, _src, _dst, _node: first[cell]
    return lambda cell, src, _dst, _node: _lane(lanes, first[cell], src)


def _by_hash(found: Ways) -> _Choose:
    """Choose among all links towards the target by source, destination and the node reached."""
    start, count = found.start.ravel(), found.count.ravel()

    def choose(cell: _Whole, src: _Whole, dst: _Whole, node: _Whole) -> NDArray[np.integer]:
        return found.links[start[cell] + _hash(src, dst, node) % count[cell]]

    return choose


def _hash(*parts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Whole number below 2^32 that depends on all parts, by the finaliser of MurmurHash3 (Appleby 2011)."""
    mixed = np.zeros(len(parts[0]), dtype=np.uint64)
    for part in parts:
        mixed ^= part.astype(np.uint64)
        mixed *= np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(33)
        mixed *= np.uint64(0xFF51AFD7ED558CCD)
        mixed ^= mixed >> np.uint64(33)
    return (mixed >> np.uint64(32)).astype(np.int64)


def _lane(
    lanes: NDArray[np.int64], first: NDArray[np.integer], rank: NDArray[np.int64]
) -> NDArray[np.integer]:
    """Of the parallel links that begin at `first`, the one that `rank` uses."""
    other: NDArray[np.int64] = rank % lanes[first]
    return first + other


def parallel_links(links: Links) -> NDArray[np.int64]:
    """How many parallel links begin at each link, itself included."""
    last = np.ones(len(links), dtype=bool)
    last[:-1] = (links.src[1:] != links.src[:-1]) | (links.dst[1:] != links.dst[:-1])
    ends = np.flatnonzero(last)
    link = np.arange(len(links))
    return ends[np.searchsorted(ends, link)] - link + 1
