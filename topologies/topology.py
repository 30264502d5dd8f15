"""A topology: a networkx graph of ranks, switches and directed links, and its columns."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import networkx as nx
import numpy as np

from topologies.errors import TopologyError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Graph: TypeAlias = "nx.MultiDiGraph[Any]"


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """The directed links of a topology, one row a link.

    Rows are grouped by source node; within a node they stand in the order in which the
    builder added them, which is the order of preference of routing. Parallel links are
    rows of their own and stand side by side.

    Attributes
    ----------
    src, dst : ndarray of int32, shape (links,)
        Node indices; ranks are 0..N-1, switches follow.
    bandwidth : ndarray of float64
        bytes/s.
    latency : ndarray of float64
        s; pipelined, the link is free again while the message is still under way.
    overhead : ndarray of float64
        s; the link is held before the bytes of each message.
    level : ndarray of int32
        Index into `Topology.levels`.
    cost : ndarray of int64
        What routing minimises (1 for an ordinary link).
    """

    src: NDArray[np.int32]
    dst: NDArray[np.int32]
    bandwidth: NDArray[np.float64]
    latency: NDArray[np.float64]
    overhead: NDArray[np.float64]
    level: NDArray[np.int32]
    cost: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.src)


@dataclass(frozen=True, slots=True, eq=False)
class Topology:
    """Ranks (they compute and reduce), switches (they forward) and directed links.

    Parameters
    ----------
    kind : str
        Name of the builder.
    graph : networkx.MultiDiGraph
        Nodes 0..N-1 are ranks, named nodes are switches; an edge carries `bandwidth`,
        `latency`, `overhead`, `level` and `cost`.
    ranks : int
        Number of ranks N.
    dims : tuple of int
        p_0 x p_1 x ..., innermost first; their product is N.
    nodes : tuple
        Name of each node, in index order.
    levels : tuple of str
        Names of the levels, innermost first.
    links : Links
        The edges as columns.
    """

    kind: str
    graph: Graph = field(repr=False)
    ranks: int
    dims: tuple[int, ...]
    nodes: tuple[Hashable, ...] = field(repr=False)
    levels: tuple[str, ...]
    links: Links = field(repr=False)

    def coordinates(self, rank: int) -> tuple[int, ...]:
        """Coordinates of a rank in `dims`, innermost first.

        >>> from topologies import ring
        >>> ring(4, bandwidth=1e9).coordinates(3)
        (3,)
        """
        out = []
        for size in self.dims:
            rank, inner = divmod(rank, size)
            out.append(inner)
        return tuple(out)

    def link_name(self, link: int) -> str:
        """Name of a link for people: `0->1`, with `#k` for the k-th of parallel links."""
        src, dst = int(self.links.src[link]), int(self.links.dst[link])
        first = link
        while first and self.links.src[first - 1] == src and self.links.dst[first - 1] == dst:
            first -= 1
        twin = f"#{link - first}" if link > first else ""
        return f"{self.nodes[src]}->{self.nodes[dst]}{twin}"


def empty_graph(ranks: int) -> Graph:
    """Graph of `ranks` rank nodes and no links."""
    graph: Graph = nx.MultiDiGraph()
    graph.add_nodes_from(range(ranks), kind="rank")
    return graph


def wrap(kind: str, graph: Graph, ranks: int, dims: Sequence[int], levels: Sequence[str]) -> Topology:
    """Read a finished graph into a `Topology`.

    Raises
    ------
    TopologyError
        If the dimensions do not multiply to the number of ranks.
    """
    if int(np.prod(dims, dtype=np.int64)) != ranks:
        raise TopologyError(f"dims {tuple(dims)} do not multiply to {ranks} ranks")
    nodes = tuple(graph.nodes)
    index = {node: i for i, node in enumerate(nodes)}
    edges = [(index[u], index[v], data) for u, v, data in graph.edges(data=True)]
    names = {name: i for i, name in enumerate(levels)}
    links = Links(
        src=np.array([u for u, _, _ in edges], dtype=np.int32),
        dst=np.array([v for _, v, _ in edges], dtype=np.int32),
        bandwidth=np.array([data["bandwidth"] for *_, data in edges], dtype=np.float64),
        latency=np.array([data["latency"] for *_, data in edges], dtype=np.float64),
        overhead=np.array([data["overhead"] for *_, data in edges], dtype=np.float64),
        level=np.array([names[data["level"]] for *_, data in edges], dtype=np.int32),
        cost=np.array([data["cost"] for *_, data in edges], dtype=np.int64),
    )
    return Topology(kind, graph, ranks, tuple(dims), nodes, tuple(levels), links)
