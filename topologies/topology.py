"""A topology: ranks, switches and directed links, in columns and as a networkx graph."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    import networkx as nx
    import numpy as np
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
    ranks : int
        Number of ranks N.
    dims : tuple of int
        p_0 x p_1 x ..., innermost first; their product is N.
    nodes : tuple
        Name of each node, in index order.
    levels : tuple of str
        Names of the levels, innermost first.
    links : Links
        The links as columns.
    spread : {'first', 'hash'}
        Of several next links on shortest paths a message takes the first, or the one that a
        hash of its source and destination picks.
    reduces : tuple of int
        Nodes of the switches that also reduce what passes, and copy it to several links.
    notes : tuple of str
        What a person should know of the file that it was read from.
    """

    kind: str
    ranks: int
    dims: tuple[int, ...]
    nodes: tuple[Hashable, ...] = field(repr=False)
    levels: tuple[str, ...]
    links: Links = field(repr=False)
    spread: Literal["first", "hash"] = "first"
    reduces: tuple[int, ...] = ()
    notes: tuple[str, ...] = field(default=(), repr=False)

    @property
    def graph(self) -> Graph:
        """The topology as a networkx graph, built on demand: a run needs no more than the columns.

        Nodes 0..N-1 are ranks, named nodes are switches (`kind`); an edge carries `bandwidth`,
        `latency`, `overhead`, `level` and `cost`.
        """
        import networkx as nx

        graph: Graph = nx.MultiDiGraph()
        graph.add_nodes_from(self.nodes[: self.ranks], kind="rank")
        graph.add_nodes_from(self.nodes[self.ranks :], kind="switch")
        links = self.links
        names = ("bandwidth", "latency", "overhead", "cost")
        values = zip(*(getattr(links, name).tolist() for name in names), strict=True)
        ends = zip(links.src.tolist(), links.dst.tolist(), links.level.tolist(), values, strict=True)
        graph.add_edges_from(
            (self.nodes[u], self.nodes[v], dict(zip(names, row, strict=True), level=self.levels[level]))
            for u, v, level, row in ends
        )
        return graph

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
        src, dst, twin = int(self.links.src[link]), int(self.links.dst[link]), self.twin(link)
        return f"{self.nodes[src]}->{self.nodes[dst]}" + (f"#{twin}" if twin else "")

    def twin(self, link: int) -> int:
        """Which of parallel links a link is, from 0."""
        ends = self.links.src[link], self.links.dst[link]
        first = link
        while first and (self.links.src[first - 1], self.links.dst[first - 1]) == ends:
            first -= 1
        return link - first
