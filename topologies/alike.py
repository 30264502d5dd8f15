"""Ranks that see the same topology around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topologies.translations import translations
from topologies.ways import parallel_links

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from topologies.topology import Topology
    from topologies.translations import Translations


def moved_by(topology: Topology) -> Translations | None:
    """The translations of the topology's grid, where each leaves its links' bandwidths as they are.

    Examples
    --------
    >>> from topologies import line, ring
    >>> moved_by(ring(8, bandwidth=64e9))
    Translations(dims=(8,))
    >>> moved_by(line(8, bandwidth=64e9))
    """
    group, links, ranks = translations(topology.dims), topology.links, topology.ranks
    if len(topology.nodes) != ranks or group.order != ranks or not len(links):
        return None
    src, dst = links.src.astype(np.int64), links.dst.astype(np.int64)

    def sorted_rows(src: NDArray[np.int64], dst: NDArray[np.int64]) -> tuple[NDArray[np.number], ...]:
        key = src * ranks + dst
        order = np.lexsort((links.bandwidth, key))
        return key[order], links.bandwidth[order]

    here, stride = sorted_rows(src, dst), 1
    for size in group.dims:
        step = np.full(len(src), stride)
        there = sorted_rows(group.add(src, step), group.add(dst, step))
        if not all(np.array_equal(one, other) for one, other in zip(here, there, strict=True)):
            return None
        stride *= size
    return group


def is_maximally_connected(topology: Topology) -> bool:
    """Whether no nodes can be cut off by fewer links than leave one rank, by what is known of such graphs.

    Where all links are alike and the ranks all look the same (Mader 1971; Hamidoune 1981 for links
    that go one way).

    Examples
    --------
    >>> from topologies import mesh, torus
    >>> [is_maximally_connected(shape([4, 4], bandwidth=64e9)) for shape in (torus, mesh)]
    [True, False]
    """
    links = topology.links
    if not len(links) or links.bandwidth.min() < links.bandwidth.max():
        return False
    return int(parallel_links(links).max()) == 1 and moved_by(topology) is not None


def twins(topology: Topology, marks: Sequence[int], ranks: Sequence[int]) -> list[int]:
    """The first of all ranks that can change places: with the same neighbours, bandwidths and marks.

    Parameters
    ----------
    topology : Topology
    marks : sequence of int
        What else tells nodes apart, one a node.
    ranks : sequence of int
        Among which to look.

    Examples
    --------
    >>> from topologies import leaf_spine
    >>> twins(leaf_spine(2, 4, 1, 64e9), [0] * 11, range(8))
    [0, 4]
    """
    links = topology.links
    around: list[list[tuple[int, bool, float]]] = [[] for _ in topology.nodes]
    for src, dst, bandwidth in zip(
        links.src.tolist(), links.dst.tolist(), links.bandwidth.tolist(), strict=True
    ):
        around[src].append((dst, True, bandwidth))
        around[dst].append((src, False, bandwidth))
    first: dict[tuple[int, tuple[tuple[int, bool, float], ...]], int] = {}
    for rank in ranks:
        first.setdefault((marks[rank], tuple(sorted(around[rank]))), rank)
    return list(first.values())
