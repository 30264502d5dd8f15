"""Ways by a node between, as Valiant and Brebner (1981) spread any pattern of traffic evenly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topologies.paths import Routes
from topologies.routing import check_reached, reached

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topologies.topology import Topology


def by_way_of(
    topology: Topology, drawn: NDArray[np.uint32], src: NDArray[np.int64], dst: NDArray[np.int64]
) -> Routes:
    """Routes of the pairs (src[p], dst[p]) by way of a node between, see `middles`.

    It is the one of number drawn[p] modulo how many there are; to it and from it a message goes the
    topology's own way. Where the second leg meets the first, the loop is left out: no node is
    passed twice. Where the node cannot be reached, or not left, the message goes straight.

    Raises
    ------
    TopologyError
        If a destination cannot be reached.
    """
    candidates = middles(topology)
    middle = candidates[drawn.astype(np.int64) % len(candidates)] if len(candidates) else src
    (there, stuck), (on, lost) = reached(topology, src, middle), reached(topology, middle, dst)
    if (stuck | lost).any():
        middle = np.where(stuck | lost, src, middle)
        (there, _), (on, lost) = reached(topology, src, middle), reached(topology, middle, dst)
        check_reached(topology, lost, src, dst)
    return _joined(topology, there, on, dst)


def middles(topology: Topology) -> NDArray[np.int64]:
    """Nodes that may lie between: the ranks that forward or, if none does, the switches farthest from ranks.

    A rank forwards if it has two neighbours or more. The switches are the spines of leaf and spine, the
    cores of a fat tree (as in VL2, Greenberg et al. 2009) and all routers of a dragonfly (Kim et al.
    2008 draw a group; a router in it spreads the links inside groups, too).

    >>> from topologies import leaf_spine, ring
    >>> middles(ring(4, 1e9)).tolist(), middles(leaf_spine(2, 2, 3, 1e9)).tolist()
    ([0, 1, 2, 3], [6, 7, 8])
    """
    links, ranks, nodes = topology.links, topology.ranks, len(topology.nodes)
    between = np.unique(links.src.astype(np.int64) * nodes + links.dst)
    forwards = np.flatnonzero(np.bincount(between // nodes, minlength=nodes)[:ranks] > 1)
    if len(forwards):
        return forwards
    far = np.where(np.arange(nodes) < ranks, 0, nodes)
    # outwards from all ranks at once
    while ((nearer := far[links.dst] + 1) < far[links.src]).any():
        np.minimum.at(far, links.src, nearer)
    reaches = np.where(far < nodes, far, 0)
    return np.flatnonzero(reaches == reaches.max()) if reaches.any() else np.zeros(0, dtype=np.int64)


def _joined(topology: Topology, there: Routes, on: Routes, dst: NDArray[np.int64]) -> Routes:
    """First legs up to where they first meet the second ones, then these."""
    nodes, tails = len(topology.nodes), topology.links.src
    pairs = np.arange(len(dst))
    # each stop of the second legs by pair and node, the last one included
    pair = np.concatenate([np.repeat(pairs, on.hops()), pairs])
    key = pair * nodes + np.concatenate([tails[on.links], dst])
    place = np.concatenate([np.arange(len(on.links)), on.offsets[1:]]) - on.offsets[pair]
    order = np.argsort(key)
    walker = np.repeat(pairs, there.hops())
    wanted = walker * nodes + tails[there.links]
    found = order[np.minimum(np.searchsorted(key[order], wanted), len(key) - 1)]
    met = np.flatnonzero(key[found] == wanted)
    # where nothing meets earlier, it is in the middle
    kept, skipped = there.hops(), np.zeros(len(dst), dtype=np.int64)
    first, at = np.unique(walker[met], return_index=True)
    kept[first] = met[at] - there.offsets[first]
    skipped[first] = place[found[met[at]]]
    return _spliced(there, kept, on, skipped)


def _spliced(there: Routes, kept: NDArray[np.int64], on: Routes, skipped: NDArray[np.int64]) -> Routes:
    """The first kept[p] links of one route, then the other without its first skipped[p]."""
    rest = on.hops() - skipped
    whole = Routes.counted(kept + rest, np.empty(int((kept + rest).sum()), dtype=np.int32))
    for part, first, count, start in (
        (there, there.offsets[:-1], kept, whole.offsets[:-1]),
        (on, on.offsets[:-1] + skipped, rest, whole.offsets[:-1] + kept),
    ):
        index = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
        whole.links[index + np.repeat(start, count)] = part.links[index + np.repeat(first, count)]
    return whole
