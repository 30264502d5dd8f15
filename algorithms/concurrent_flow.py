"""All-to-All: bounds by lengths of links, of which the best is a concurrent flow's dual.

Give every link a length. A byte from s to t uses up at least the distance from s to t, and in a
second a link gives bandwidth times length: so the time is at least the sum over all pairs of bytes
times distance, over the sum over all links of bandwidth times length (Shahrokhi and Matula 1990;
Leighton and Rao 1999). It holds for any lengths. The best ones are the dual of the linear program
that spreads the bytes over all ways; they give the exact optimum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.cut_search import whole_numbers
from algorithms.cuts import total_bandwidth
from algorithms.schedule import expand
from topologies.stubs import find_stubs
from topologies.ways import cheapest, count_paths, distances, ways

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from algorithms.collective import Collective
    from topologies.topology import Topology
    from topologies.translations import Translations

_LONGEST: Final = 1 << 40
"""Of lengths that are rounded to whole numbers."""

_MULTIPLES: Final = 64
"""Lengths are tried as multiples of so many parts of the longest."""


@dataclass(frozen=True, slots=True, eq=False)
class Exchange:
    """What every rank has for every other, and the links that look alike.

    Attributes
    ----------
    topology : Topology
    place : ndarray of int64, shape (ranks,)
        The topology's rank of each rank.
    demand : ndarray of int64, shape (sources, ranks)
        Bytes from each rank to each; the first row alone where all ranks see the same.
    orbit : ndarray of int64, shape (links,)
        Links that are images of each other have the same; each its own where not all ranks see the same.
    """

    topology: Topology
    place: NDArray[np.int64]
    demand: NDArray[np.int64]
    orbit: NDArray[np.int64]

    @property
    def sources(self) -> NDArray[np.int64]:
        """Nodes of the ranks that stand for all."""
        return self.place[: len(self.demand)]

    @property
    def size(self) -> int:
        """Unknowns of the linear program."""
        return len(self.demand) * len(self.topology.links)


def exchange(
    collective: Collective, topology: Topology, place: NDArray[np.int64], group: Translations | None = None
) -> Exchange:
    """An All-to-All on a topology.

    Parameters
    ----------
    collective : Collective
    topology : Topology
    place : ndarray of int64, shape (ranks,)
        The topology's rank of each rank.
    group : Translations, optional
        Which leave the topology as it is: then rank 0 stands for all. Every chunk must be as large.
    """
    ranks, links = collective.ranks, topology.links
    if group is None:
        pairs = np.zeros(ranks * ranks, dtype=np.int64)
        np.add.at(pairs, collective.source.astype(np.int64) * ranks + collective.target, collective.sizes)
        demand = pairs.reshape(ranks, ranks)
        np.fill_diagonal(demand, 0)
        return Exchange(topology, place, demand, np.arange(len(links)))
    demand = np.zeros((1, ranks), dtype=np.int64)
    own = collective.source == 0
    np.add.at(demand[0], collective.target[own], collective.sizes[own])
    demand[0, 0] = 0
    src, dst = links.src.astype(np.int64), links.dst.astype(np.int64)
    ends = np.stack([group.subtract(dst, src).astype(np.float64), links.bandwidth], axis=1)
    _, orbit = np.unique(ends, axis=0, return_inverse=True)
    return Exchange(topology, np.arange(ranks), demand, orbit.ravel())


def distance_bound(exchange: Exchange, length: NDArray[np.int64]) -> Fraction:
    """Exact seconds that whole lengths of the links prove.

    Examples
    --------
    >>> from algorithms.collective import make_collective
    >>> from topologies import ring
    >>> eight = ring(8, bandwidth=1.0, direction="one")
    >>> one = exchange(make_collective("all_to_all", 8, 8), eight, np.arange(8), None)
    >>> distance_bound(one, np.ones(8, dtype=np.int64))
    Fraction(28, 1)
    """
    links = exchange.topology.links
    # ways are looked for towards a node: turned round, from it
    turned = replace(links, src=links.dst, dst=links.src)
    away = cheapest(turned, len(exchange.topology.nodes), exchange.sources, length)
    far = away[:, exchange.place][exchange.demand > 0]
    bytes_moved = exchange.demand[exchange.demand > 0]
    distinct, which = np.unique(far, return_inverse=True)
    moved = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(moved, which.ravel(), bytes_moved)
    used = sum(int(d) * m for d, m in zip(distinct.tolist(), moved.tolist(), strict=True))
    images = len(exchange.place) // len(exchange.demand)
    given = sum(
        (int(one) * total_bandwidth(links.bandwidth[length == one]) for one in np.unique(length)),
        start=Fraction(0),
    )
    return used * images / given if given else Fraction(0)


def plain_lengths(topology: Topology) -> Iterator[NDArray[np.int64]]:
    """Lengths that are the best on many regular topologies: 1 / bandwidth on all links, or on one level's."""
    whole, _ = whole_numbers(topology.links.bandwidth)
    common = lcm(*set(whole))
    if common < _LONGEST:
        slow = np.array([common // bandwidth for bandwidth in whole], dtype=np.int64)
    else:
        slow = np.array([round(_LONGEST * min(whole) / bandwidth) for bandwidth in whole], dtype=np.int64)
    levels = topology.links.level
    yield slow
    for level in range(len(topology.levels) if len(topology.levels) > 1 else 0):
        if (levels == level).any():
            yield np.where(levels == level, slow, 0)


def spread_time(exchange: Exchange) -> float:
    """Seconds in which the bytes are through if they are spread evenly over all shortest ways."""
    load = _spread_load(exchange)
    # the images of a link carry for the images of a rank what it carries for the others
    carried = np.bincount(exchange.orbit, weights=load)
    images = len(exchange.place) // len(exchange.demand)
    links = np.bincount(exchange.orbit)
    bandwidth = np.zeros(len(links))
    bandwidth[exchange.orbit] = exchange.topology.links.bandwidth
    return float((carried * images / links / bandwidth).max())


def _spread_load(exchange: Exchange) -> NDArray[np.float64]:
    """Bytes on every link; those of many nodes with one neighbour each go on together from there."""
    topology, nodes = exchange.topology, len(exchange.topology.nodes)
    row, column = np.nonzero(exchange.demand)
    src, dst, moved = exchange.sources[row], exchange.place[column], exchange.demand[row, column]
    if len(exchange.demand) < len(exchange.place):
        # what all send to rank 0 are images of what it sends to all, but with one end to look for
        src, dst = dst, src
    stubs = find_stubs(topology)
    outer, inner = stubs.between(src, dst)
    targets, which = np.unique(inner, return_inverse=True)
    held = np.zeros((len(targets), nodes))
    np.add.at(held, (which.ravel(), outer), moved)
    load = _downhill(topology, targets, held)
    for hop, node, first, lanes in (
        (src != outer, src, stubs.up, stubs.up_lanes),
        (dst != inner, dst, stubs.down, stubs.down_lanes),
    ):
        through = np.bincount(node[hop], weights=moved[hop], minlength=nodes)
        ends = np.flatnonzero(through)
        of, link = expand(first[ends], lanes[ends])
        load[link] += through[ends][of] / lanes[ends][of]
    return load


def _downhill(
    topology: Topology, targets: NDArray[np.int64], held: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Bytes on every link, where nodes hold some for each target and spread them over their shortest ways."""
    links, load = topology.links, np.zeros(len(topology.links))
    found, far = ways(topology, targets), distances(topology, targets)
    paths = count_paths(topology, targets, found)
    for row in range(len(targets)):
        own = found.links[found.start[row, 0] : found.start[row, -1] + found.count[row, -1]]
        link = own[np.argsort(-far[row, links.src[own]], kind="stable")]
        steps = np.flatnonzero(np.diff(far[row, links.src[link]], prepend=np.inf))
        # from the farthest inwards: what is equally far at once
        for first, stop in pairwise([*steps.tolist(), len(link)]):
            over = link[first:stop]
            src, dst = links.src[over], links.dst[over]
            share = held[row, src] * paths[row, dst] / paths[row, src]
            load[over] += share
            np.add.at(held[row], dst, share)
    return load


def best_lengths(exchange: Exchange) -> tuple[NDArray[np.int64], float]:
    """Lengths that prove the most, rounded to whole numbers, and the seconds of the best flow.

    One commodity a source: bytes that flow over each link, as many in as out but for what a node
    wants; what crosses a link fits in the time. The lengths are the prices of that.
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    topology, demand = exchange.topology, exchange.demand
    links, nodes, sources = topology.links, len(topology.nodes), len(demand)
    count, orbits = len(links), int(exchange.orbit.max()) + 1
    share = float(demand.max())
    fastest = float(links.bandwidth.max())
    flow = np.arange(sources * count)
    which, link = np.divmod(flow, count)
    kept_in = np.concatenate([which * nodes + links.dst[link], which * nodes + links.src[link]])
    sign = np.concatenate([np.ones(len(flow)), -np.ones(len(flow))])
    balance = coo_array((sign, (kept_in, np.tile(flow, 2))), shape=(sources * nodes, len(flow) + 1))
    wanted = np.zeros((sources, nodes))
    wanted[:, exchange.place] = demand / share
    wanted[np.arange(sources), exchange.sources] = -wanted.sum(axis=1)
    images = len(exchange.place) // sources
    room = np.bincount(exchange.orbit, weights=links.bandwidth / fastest, minlength=orbits) / images
    rows = np.concatenate([exchange.orbit[link], np.arange(orbits)])
    columns = np.concatenate([flow, np.full(orbits, len(flow))])
    crossing = coo_array(
        (np.concatenate([np.ones(len(flow)), -room]), (rows, columns)), shape=(orbits, len(flow) + 1)
    )
    cost = np.zeros(len(flow) + 1)
    cost[-1] = 1.0
    solved = linprog(
        cost,
        A_ub=crossing.tocsr(),
        b_ub=np.zeros(orbits),
        A_eq=balance.tocsr(),
        b_eq=wanted.ravel(),
        method="highs-ipm",
    )
    if solved.status != 0:
        return np.ones(count, dtype=np.int64), np.inf
    price = np.maximum(-np.asarray(solved.ineqlin.marginals), 0.0)[exchange.orbit]
    return _whole(price), float(solved.fun) * share / fastest


def _whole(price: NDArray[np.float64]) -> NDArray[np.int64]:
    """Prices as small whole numbers where they are multiples of one, else rounded finely."""
    price = price / price.max()
    for parts in range(1, _MULTIPLES + 1):
        near = np.rint(price * parts)
        if np.abs(price * parts - near).max() < 1e-6:
            return near.astype(np.int64)
    return np.rint(price * _LONGEST).astype(np.int64)
