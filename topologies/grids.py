"""Lines, stars, meshes and tori: ranks on a grid, wired dimension by dimension."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Final, Literal

import numpy as np

from topologies.errors import TopologyError
from topologies.quantities import Bandwidth, Count, Time
from topologies.shapes import Shape, connect, pairs
from topologies.topology import Topology
from topologies.wiring import Wire, Wiring, check_wire

MOST_DIMENSIONS: Final = 20
"""Of a grid; with more, some would have a single rank."""


def line(ranks: Count, bandwidth: Bandwidth, latency: Time = 0.0, overhead: Time = 0.0) -> Topology:
    """Line of N ranks, a link each way between neighbours.

    Parameters
    ----------
    ranks : int
        N, how many ranks.
    bandwidth, latency, overhead : float
        Of each directed link: bytes/s, s, s.

    Examples
    --------
    >>> len(line(4, bandwidth=64e9).links)
    6
    """
    check_wire(bandwidth, latency, overhead)
    wiring = Wiring(ranks)
    connect(wiring, range(ranks), "line", Wire(bandwidth, latency, overhead, "line"))
    return wiring.topology("line", (ranks,), ("line",))


def star(ranks: Count, bandwidth: Bandwidth, latency: Time = 0.0, overhead: Time = 0.0) -> Topology:
    """Rank 0 in the middle, with a link each way to every other rank.

    Unlike in a `crossbar` the middle is a rank: it computes, and the others reach each other
    through it in two hops.

    Parameters
    ----------
    ranks : int
        N, how many ranks.
    bandwidth, latency, overhead : float
        Of each directed link: bytes/s, s, s.

    Examples
    --------
    >>> len(star(4, bandwidth=64e9).links)
    6
    """
    check_wire(bandwidth, latency, overhead)
    wiring = Wiring(ranks)
    wiring.join([0], range(1, ranks), Wire(bandwidth, latency, overhead, "star"))
    return wiring.topology("star", (ranks,), ("star",))


def mesh(dims: Sequence[Count], bandwidth: Bandwidth, latency: Time = 0.0, overhead: Time = 0.0) -> Topology:
    """Mesh of p_0 x p_1 x ... ranks: a line along every dimension, routed in dimension order.

    Parameters
    ----------
    dims : sequence of int
        p_0, p_1, ..., innermost first; the links along p_i are the level "dim<i>".
    bandwidth, latency, overhead : float
        Of each directed link: bytes/s, s, s.

    Examples
    --------
    >>> mesh([3, 3], bandwidth=64e9).ranks
    9
    """
    return _grid("mesh", dims, "line", Wire(bandwidth, latency, overhead, "dim"))


def torus(
    dims: Sequence[Count],
    bandwidth: Bandwidth,
    latency: Time = 0.0,
    overhead: Time = 0.0,
    size_two: Literal["one_link", "two_links"] = "one_link",
) -> Topology:
    """Torus of p_0 x p_1 x ... ranks: a ring along every dimension, routed in dimension order.

    Parameters
    ----------
    dims : sequence of int
        p_0, p_1, ..., innermost first; the links along p_i are the level "dim<i>".
    bandwidth, latency, overhead : float
        Of each directed link: bytes/s, s, s.
    size_two : {'one_link', 'two_links'}
        Whether in a dimension of two ranks the way forward and the way round are the same link
        each way, or two parallel ones.

    Examples
    --------
    >>> len(torus([4, 2], bandwidth=64e9).links), len(torus([4, 2], 64e9, size_two="two_links").links)
    (24, 32)
    """
    if size_two not in ("one_link", "two_links"):
        raise TopologyError(f'size_two must be one_link or two_links, found "{size_two}"', ("size_two",))
    links_of_two = 2 if size_two == "two_links" else 1
    return _grid("torus", dims, "ring", Wire(bandwidth, latency, overhead, "dim"), links_of_two)


def _check_dims(dims: Sequence[int]) -> None:
    if not 1 <= len(dims) <= MOST_DIMENSIONS:
        raise TopologyError(f"a grid has 1 to {MOST_DIMENSIONS} dimensions, found {len(dims)}", ("dims",))
    for i, size in enumerate(dims):
        if size < 1:
            raise TopologyError(f"a dimension needs at least 1 rank, found {size}", ("dims", i))


def _grid(kind: str, dims: Sequence[int], shape: Shape, wire: Wire, links_of_two: int = 1) -> Topology:
    check_wire(wire.bandwidth, wire.latency, wire.overhead)
    _check_dims(dims)
    wiring = Wiring(prod(dims), ("dims",))
    names = [f"{wire.level}{i}" for i in range(len(dims))]
    for i, size in enumerate(dims):
        # outer coordinates, the one along which the links run, inner coordinates
        grid = np.arange(prod(dims)).reshape(-1, size, prod(dims[:i]))
        src, dst = pairs(shape, size)
        count = links_of_two if size == 2 else 1
        wiring.make_room(grid.size // size * len(src) * count, ("dims",))
        wiring.add(grid[:, src].ravel(), grid[:, dst].ravel(), replace(wire, level=names[i]), count)
    return wiring.topology(kind, dims, names)
