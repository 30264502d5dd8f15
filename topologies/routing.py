"""Routes along shortest paths, the same from run to run.

From every node a message takes the first out-link, in the builder's order, that lies on a
shortest path to its destination. So a ring goes the positive way round where both ways are
as short, a hypercube and a grid go in dimension order, and where the shape is symmetric every
rank's route is the same, shifted. Of k parallel links the rank r takes number r mod k.

In a network whose `spread` is "hash" a message takes the out-link that a hash of its source and
destination picks among those on shortest paths: up and down a fat tree, by equal-cost multipath.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topologies.choices import Hashed, Preferred, choose, mixed
from topologies.errors import TopologyError
from topologies.paths import Routes, assemble
from topologies.walking import walk
from topologies.ways import direct_links, parallel_links

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topologies.choices import Chooser, State
    from topologies.topology import Topology


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
    found, lost = reached(topology, start, end)
    check_reached(topology, lost, start, end)
    return found


def reached(
    topology: Topology, src: NDArray[np.int64], dst: NDArray[np.int64]
) -> tuple[Routes, NDArray[np.bool_]]:
    """Routes of the pairs (src[p], dst[p]), and for which of them there is none; theirs are empty."""
    if topology.spread == "hash":
        return chosen_routes(topology, Hashed(), mixed(0, src, dst), src, dst)
    lanes = parallel_links(topology.links)
    chooser = Preferred(lanes) if lanes.max(initial=1) > 1 else None
    return chosen_routes(topology, chooser, src, src, dst)


def chosen_routes(
    topology: Topology, chooser: Chooser | None, state: State, src: NDArray[np.int64], dst: NDArray[np.int64]
) -> tuple[Routes, NDArray[np.bool_]]:
    """Routes of the pairs (src[p], dst[p]) as a chooser takes them, and for which there is none.

    Parameters
    ----------
    chooser : Chooser or None
        Which of several next links a pair takes; without one the first.
    state : ndarray, shape (pairs,)
        What it goes by.
    src, dst : ndarray of int64, shape (pairs,)
        Node indices.
    """
    direct = direct_links(topology, src, dst)
    near, far = np.flatnonzero(direct >= 0), np.flatnonzero((direct < 0) & (src != dst))
    lost = np.zeros(len(src), dtype=bool)
    parts = []
    if len(near):
        first = direct[near]
        link, _ = choose(chooser, first, parallel_links(topology.links)[first], src[near], state[near])
        parts.append((near, Routes(np.arange(len(near) + 1), link.astype(np.int32))))
    if len(far):
        walks, lost[far] = walk(topology, chooser, state[far], src[far], dst[far])
        parts.append((far, walks))
    return assemble(len(src), parts), lost


def check_reached(
    topology: Topology, lost: NDArray[np.bool_], src: NDArray[np.int64], dst: NDArray[np.int64]
) -> None:
    """Refuse pairs between which there is no way.

    Raises
    ------
    TopologyError
    """
    if lost.any():
        pair = int(np.argmax(lost))
        raise TopologyError(
            f"there is no way from {topology.nodes[src[pair]]} to {topology.nodes[dst[pair]]}"
        )
