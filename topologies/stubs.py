"""Nodes with one neighbour: whatever leaves or enters them goes by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topologies.topology import Topology

Column: TypeAlias = "NDArray[np.int64]"


@dataclass(frozen=True, slots=True, eq=False)
class Stubs:
    """Nodes with one neighbour: it, and the first and the number of their links to it and from it.

    Of other nodes the neighbour is -1 and the rest means nothing. Shape (nodes,) each.
    """

    neighbour: Column
    up: Column
    up_lanes: Column
    down: Column
    down_lanes: Column

    def between(self, src: Column, dst: Column) -> tuple[Column, Column]:
        """Where the pairs (src[p], dst[p]) are after the hop from a stub, and before the hop to one.

        Both are the same where there is nothing between, and such a hop is taken only where it
        changes the node.
        """
        last = np.where(self.neighbour[dst] >= 0, self.neighbour[dst], dst)
        leaves = (self.neighbour[src] >= 0) & (src != last)
        return np.where(leaves, self.neighbour[src], src), last


def find_stubs(topology: Topology) -> Stubs:
    """Find the nodes with one neighbour, to and from which all links cost the same.

    >>> from topologies import crossbar
    >>> find_stubs(crossbar(3, 1e9)).neighbour.tolist()
    [3, 3, 3, -1]
    """
    links, nodes = topology.links, len(topology.nodes)
    src, dst = links.src.astype(np.int64), links.dst.astype(np.int64)
    up_lanes, down_lanes = (np.bincount(ends, minlength=nodes) for ends in (src, dst))
    up = np.minimum(np.cumsum(up_lanes) - up_lanes, max(len(links) - 1, 0))
    down = np.zeros(nodes, dtype=np.int64)
    down[dst[::-1]] = np.arange(len(links))[::-1]
    if not len(links):
        return Stubs(np.full(nodes, -1), up, up_lanes, down, down_lanes)
    neighbour = dst[up]
    alone = (up_lanes > 0) & (down_lanes > 0)
    # every link out leads there, every link in comes from there, and all of a kind cost the same
    alone[src[(dst != neighbour[src]) | (links.cost != links.cost[up[src]])]] = False
    alone[dst[(src != neighbour[dst]) | (links.cost != links.cost[down[dst]])]] = False
    return Stubs(np.where(alone, neighbour, -1), up, up_lanes, down, down_lanes)
