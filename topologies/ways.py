"""The links on shortest paths: distances, direct links, and where each node may go next."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topologies.topology import Links, Topology

SMALL: Final = 256
"""Nodes up to which all distances are found in numpy before scipy is done loading."""


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


def parallel_links(links: Links) -> NDArray[np.int64]:
    """How many parallel links begin at each link, itself included."""
    last = np.ones(len(links), dtype=bool)
    last[:-1] = (links.src[1:] != links.src[:-1]) | (links.dst[1:] != links.dst[:-1])
    ends = np.flatnonzero(last)
    link = np.arange(len(links))
    return ends[np.searchsorted(ends, link)] - link + 1


def count_paths(topology: Topology, targets: NDArray[np.int64], found: Ways) -> NDArray[np.float64]:
    """Number of shortest paths from every node to each target.

    Returns
    -------
    ndarray of float64, shape (targets, nodes)
    """
    cost = distances(topology, targets)
    paths = np.zeros(cost.shape)
    paths[np.arange(len(targets)), targets] = 1.0
    row, link = np.repeat(np.arange(len(targets)), found.count.sum(axis=1)), found.links
    source, target = topology.links.src[link], topology.links.dst[link]
    order = np.argsort(cost[row, source], kind="stable")
    row, source, target = row[order], source[order], target[order]
    # outwards from the targets: what is equally far at once
    bounds = np.flatnonzero(np.diff(cost[row, source], prepend=-1.0))
    for start, stop in pairwise([*bounds.tolist(), len(row)]):
        far = slice(start, stop)
        np.add.at(paths, (row[far], source[far]), paths[row[far], target[far]])
    return paths
