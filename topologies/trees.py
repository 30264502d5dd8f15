"""Trees of switches that reduce: the way of a sum through a network."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from topologies.topology import Topology


def aggregation_tree(topology: Topology) -> tuple[int, ...] | None:
    """The lowest tree of reducing switches with all ranks as its leaves.

    Every edge of it is a pair of links, one each way.

    Returns
    -------
    tuple of int, one for each node, or None
        The parent of each rank and switch; -1 for the switch at the top and for switches that are
        not needed. None where no such tree spans the ranks.

    Examples
    --------
    >>> from topologies import crossbar
    >>> aggregation_tree(crossbar(3, bandwidth=1e9, switch="reduces"))
    (3, 3, 3, -1)
    """
    below = _neighbours(topology)
    best: tuple[int, tuple[int, ...]] | None = None
    for top in topology.reduces:
        found = _tree_under(top, below, topology)
        if found is not None and (best is None or found[0] < best[0]):
            best = found
    return None if best is None else best[1]


def _neighbours(topology: Topology) -> list[list[int]]:
    """Nodes that each node is joined to by links both ways."""
    ends = list(zip(topology.links.src.tolist(), topology.links.dst.tolist(), strict=True))
    there = set(ends)
    joined: list[list[int]] = [[] for _ in topology.nodes]
    for src, dst in sorted(there):
        if (dst, src) in there:
            joined[src].append(dst)
    return joined


def _tree_under(top: int, joined: list[list[int]], topology: Topology) -> tuple[int, tuple[int, ...]] | None:
    """(height, parents) of the tree of shortest ways up to a switch, through switches that reduce."""
    able = set(topology.reduces)
    depth, parent = {top: 0}, {}
    queue = deque([top])
    while queue:
        node = queue.popleft()
        for child in joined[node]:
            if child not in depth and (child < topology.ranks or child in able):
                depth[child], parent[child] = depth[node] + 1, node
                if child >= topology.ranks:
                    queue.append(child)
    if any(rank not in depth for rank in range(topology.ranks)):
        return None
    needed: set[int] = set()
    for rank in range(topology.ranks):
        node = rank
        while node != top and node not in needed:
            needed.add(node)
            node = parent[node]
    parents = tuple(parent[node] if node in needed else -1 for node in range(len(topology.nodes)))
    return max(depth[rank] for rank in range(topology.ranks)), parents
