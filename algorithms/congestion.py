"""Static congestion: what the most loaded link of each step carries, without simulating time."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from topologies.routing import direct_links, distances

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.schedule import Schedule
    from topologies.topology import Links, Topology


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

    Examples
    --------
    >>> from algorithms import build
    >>> from topologies import ring
    >>> congestion_factor(build("recursive_halving", "reduce_scatter", 8, 1024), ring(8, bandwidth=1.0))
    1.625
    """
    size = schedule.collective.size
    if size == 0:
        return None
    place = np.arange(topology.ranks) if placement is None else placement
    src, dst = place[schedule.src], place[schedule.dst]
    weight = schedule.sizes().astype(np.float64)
    direct = direct_links(topology, src, dst)
    lanes = _lanes(topology.links)
    worst = 0.0
    for start, stop in schedule.step_bounds():
        step = slice(start, stop)
        load = _spread_direct(direct[step], weight[step], lanes, len(topology.links))
        far = start + np.flatnonzero(direct[step] < 0)
        if len(far):
            load += _spread_far(topology, src[far], dst[far], weight[far])
        worst += float(load.max(initial=0.0))
    return worst / size


def _lanes(links: Links) -> NDArray[np.int64]:
    """Number of parallel links, of each first one."""
    _, first, count = np.unique(
        np.stack([links.src, links.dst], axis=1), axis=0, return_index=True, return_counts=True
    )
    lanes = np.ones(len(links), dtype=np.int64)
    lanes[first] = count
    return lanes


def _spread_direct(
    link: NDArray[np.int64], weight: NDArray[np.float64], lanes: NDArray[np.int64], links: int
) -> NDArray[np.float64]:
    """Load of every link by messages between neighbours; parallel links share evenly."""
    one_hop = link >= 0
    load = np.bincount(link[one_hop], weights=weight[one_hop], minlength=links).astype(np.float64)
    for first in np.flatnonzero((lanes > 1) & (load > 0)):
        load[first : first + lanes[first]] = load[first] / lanes[first]
    return load


def _spread_far(
    topology: Topology, src: NDArray[np.int64], dst: NDArray[np.int64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Load of every link by messages that take several hops, over all their shortest paths.

    For all sources of one destination at once: the number of shortest paths to the destination
    is counted outwards from it, and the flow is then sent inwards, each link out of a node
    taking its share of the paths.
    """
    links = topology.links
    targets, which = np.unique(dst, return_inverse=True)
    cost = distances(topology, targets)
    load = np.zeros(len(links))
    for row in range(len(targets)):
        flow = np.zeros(len(topology.nodes))
        np.add.at(flow, src[which == row], weight[which == row])
        _send_inwards(links, cost[row], flow, load)
    return load


def _send_inwards(
    links: Links, cost: NDArray[np.float64], flow: NDArray[np.float64], load: NDArray[np.float64]
) -> None:
    """Add to `load` what `flow` (bytes at each node, bound for the node of cost 0) puts on each link."""
    nearer = np.flatnonzero(np.isfinite(cost[links.src]) & (cost[links.dst] + links.cost == cost[links.src]))
    nearer = nearer[np.argsort(cost[links.src[nearer]], kind="stable")]
    source, target = links.src[nearer], links.dst[nearer]
    rings = np.append(np.flatnonzero(np.diff(cost[source], prepend=-1.0)), len(nearer))
    paths = np.zeros(len(cost))
    paths[cost == 0] = 1.0
    for start, stop in pairwise(rings):
        np.add.at(paths, source[start:stop], paths[target[start:stop]])
    for start, stop in zip(rings[-2::-1], rings[:0:-1], strict=True):
        share = flow[source[start:stop]] * paths[target[start:stop]] / paths[source[start:stop]]
        load[nearer[start:stop]] += share
        np.add.at(flow, target[start:stop], share)
