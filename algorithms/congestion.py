"""Static congestion: what the most loaded link of each step carries, without simulating time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from algorithms.collective import check_same_ranks
from algorithms.schedule import expand
from topologies.errors import TopologyError
from topologies.routing import direct_links, distances, parallel_links, ways

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.schedule import Schedule
    from topologies.routing import Ways
    from topologies.topology import Topology


def congestion_factor(
    schedule: Schedule, topology: Topology, placement: NDArray[np.int64] | None = None
) -> float | None:
    """Sum over steps of the bytes on the most loaded link, in units of M, at equal bandwidth.

    Equal-length shortest paths share a message evenly. Recursive halving of 8 ranks gives 7/8 on
    the hypercube and 13/8 on the ring.

    Parameters
    ----------
    schedule : Schedule
    topology : Topology
        With as many ranks.
    placement : ndarray of int, optional
        The topology's rank of each of the schedule's ranks.

    Returns
    -------
    float or None
        None where M is 0.

    Raises
    ------
    ScheduleError
        If the topology has another number of ranks.

    Examples
    --------
    >>> from algorithms import build
    >>> from topologies import ring
    >>> congestion_factor(build("recursive_halving", "reduce_scatter", 8, 1024), ring(8, bandwidth=1.0))
    1.625
    """
    check_same_ranks(schedule.collective, topology)
    size = schedule.collective.size
    if size == 0:
        return None
    place = places(schedule, topology, placement)
    ends = place[schedule.src] * len(topology.nodes) + place[schedule.dst]
    pairs, pair = np.unique(ends, return_inverse=True)
    shares = path_shares(topology, pairs // len(topology.nodes), pairs % len(topology.nodes))
    weight = schedule.sizes().astype(np.float64)
    worst = 0.0
    for start, stop in schedule.step_bounds():
        carried = np.bincount(pair.ravel()[start:stop], weights=weight[start:stop], minlength=len(pairs))
        worst += float((shares @ carried.astype(np.float64)).max(initial=0.0))
    return worst / size


def places(
    schedule: Schedule, topology: Topology, placement: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """The topology's node of each rank of a schedule, and of each switch that takes part in it.

    Raises
    ------
    TopologyError
        If such a switch is not there, or does not reduce.
    """
    ranks = np.arange(topology.ranks) if placement is None else placement
    if not schedule.switches:
        return ranks
    used = np.unique(np.concatenate([schedule.src, schedule.dst]))
    for switch in used[used >= topology.ranks].tolist():
        if switch not in topology.reduces:
            known = topology.nodes[switch] if switch < len(topology.nodes) else switch - topology.ranks
            raise TopologyError(f"the schedule reduces in switch {known}, but there is none that reduces")
    return np.concatenate([ranks, topology.ranks + np.arange(schedule.switches)])


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Which share of each pair's bytes crosses which link.

    Attributes
    ----------
    pair, link : ndarray of int64, shape (shares,)
    share : ndarray of float64, shape (shares,)
    links : int
        Number of links.
    """

    pair: NDArray[np.int64]
    link: NDArray[np.int64]
    share: NDArray[np.float64]
    links: int

    def __matmul__(self, carried: NDArray[np.float64]) -> NDArray[np.float64]:
        """Bytes on every link from the bytes of every pair."""
        weights = self.share * carried[self.pair]
        return np.bincount(self.link, weights=weights, minlength=self.links).astype(np.float64)


def path_shares(topology: Topology, src: NDArray[np.int64], dst: NDArray[np.int64]) -> Shares:
    """Every pair's bytes, spread evenly over its shortest paths."""
    direct = direct_links(topology, src, dst)
    near = np.flatnonzero(direct >= 0)
    lanes = parallel_links(topology.links)[direct[near]] if len(near) else near
    row, link = expand(direct[near], lanes)
    parts = [(near[row], link.astype(np.int64), 1.0 / lanes[row])]
    far = np.flatnonzero(direct < 0)
    if len(far):
        parts += [(far[pair], link, share) for pair, link, share in _spread(topology, src[far], dst[far])]
    pairs, links, shares = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Shares(pairs, links, shares, len(topology.links))


def _spread(
    topology: Topology, src: NDArray[np.int64], dst: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]]:
    """(pair, link, share) of pairs that are several hops apart, hop by hop.

    The number of shortest paths to each destination is counted outwards from it; a pair's bytes
    are then sent inwards, each link taking its share of the paths.
    """
    targets, which = np.unique(dst, return_inverse=True)
    found = ways(topology, targets)
    paths = _count_paths(topology, targets, found)
    pair, node, share = np.arange(len(src)), src.copy(), np.ones(len(src))
    while len(pair):
        row = which.ravel()[pair]
        fork, at = expand(found.start[row, node], found.count[row, node])
        link = found.links[at].astype(np.int64)
        row, here, there = row[fork], node[fork], topology.links.dst[link].astype(np.int64)
        part = share[fork] * paths[row, there] / paths[row, here]
        yield pair[fork], link, part
        pair, node, share = _merged(pair[fork], there, part, len(topology.nodes))
        under_way = node != dst[pair]
        pair, node, share = pair[under_way], node[under_way], share[under_way]


def _merged(
    pair: NDArray[np.int64], node: NDArray[np.int64], share: NDArray[np.float64], nodes: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """What arrives at one node for one pair, added up."""
    key, where = np.unique(pair * nodes + node, return_inverse=True)
    total = np.bincount(where.ravel(), weights=share, minlength=len(key)).astype(np.float64)
    return key // nodes, key % nodes, total


def _count_paths(topology: Topology, targets: NDArray[np.int64], found: Ways) -> NDArray[np.float64]:
    """Number of shortest paths from every node to each target; (targets, nodes)."""
    cost = distances(topology, targets)
    paths = np.zeros(cost.shape)
    paths[np.arange(len(targets)), targets] = 1.0
    row, link = np.repeat(np.arange(len(targets)), found.count.sum(axis=1)), found.links
    source, target = topology.links.src[link], topology.links.dst[link]
    order = np.argsort(cost[row, source], kind="stable")
    row, source, target = row[order], source[order], target[order]
    rings = np.flatnonzero(np.diff(cost[row, source], prepend=-1.0))
    for start, stop in pairwise([*rings.tolist(), len(row)]):
        step = slice(start, stop)
        np.add.at(paths, (row[step], source[step]), paths[row[step], target[step]])
    return paths
