"""Lines, stars, meshes and tori: ranks on a grid, wired dimension by dimension."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Literal

from topologies.errors import TopologyError
from topologies.multilevel import along
from topologies.quantities import Bandwidth, Count, Time
from topologies.shapes import Shape, connect
from topologies.topology import Topology
from topologies.wiring import Wire, Wiring, check_wire


def line(ranks: Count, bandwidth: Bandwidth, latency: Time = 0.0, overhead: Time = 0.0) -> Topology:
    """Line of N ranks, a link each way between neighbours.

    Examples
    --------
    >>> len(line(4, bandwidth=64e9).links)
    6
    """
    return _grid("line", (ranks,), "line", ("line",), bandwidth, latency, overhead, at=("ranks",))


def star(ranks: Count, bandwidth: Bandwidth, latency: Time = 0.0, overhead: Time = 0.0) -> Topology:
    """Rank 0 in the middle, with a link each way to every other rank.

    Unlike in a `crossbar` the middle is a rank: it computes, and the others reach each other
    through it in two hops.

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
        p_0, p_1, ..., innermost first.
    bandwidth, latency, overhead : float
        Of each directed link: bytes/s, s, s.

    Examples
    --------
    >>> mesh([3, 3], bandwidth=64e9).ranks
    9
    """
    return _grid("mesh", _checked(dims), "line", _names(dims), bandwidth, latency, overhead)


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
        p_0, p_1, ..., innermost first.
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
    pairs = 2 if size_two == "two_links" else 1
    return _grid("torus", _checked(dims), "ring", _names(dims), bandwidth, latency, overhead, pairs)


def _checked(dims: Sequence[int]) -> tuple[int, ...]:
    if not dims:
        raise TopologyError("a grid needs at least one dimension", ("dims",))
    for i, size in enumerate(dims):
        if size < 1:
            raise TopologyError(f"a dimension needs at least 1 rank, found {size}", ("dims", i))
    return tuple(dims)


def _names(dims: Sequence[int]) -> tuple[str, ...]:
    return tuple(f"dim{i}" for i in range(len(dims)))


def _grid(
    kind: str,
    dims: tuple[int, ...],
    shape: Shape,
    names: tuple[str, ...],
    bandwidth: float,
    latency: float,
    overhead: float,
    links_of_two: int = 1,
    at: tuple[str, ...] = ("dims",),
) -> Topology:
    check_wire(bandwidth, latency, overhead)
    wiring = Wiring(prod(dims), at)
    for i, name in enumerate(names):
        wire = Wire(bandwidth, latency, overhead, name)
        for members in along(dims, i):
            connect(wiring, members, shape, wire, count=links_of_two if dims[i] == 2 else 1)
    return wiring.topology(kind, dims, names)
