"""alpha and beta of a topology, where it has them: what a closed form is priced with."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Literal

import numpy as np

from algorithms.rounds import Platform
from topologies.routing import routes
from topologies.ways import direct_links

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topologies.topology import Topology


def platforms(
    topology: Topology,
    dims: Sequence[int],
    model: str,
    reduction: float | None = None,
    mode: Literal["after", "streamed"] = "after",
    placement: NDArray[np.int64] | None = None,
) -> tuple[Platform, ...] | None:
    """alpha, beta and gamma along each dimension of a grid of ranks.

    Along a dimension they are those of an undisturbed message from rank 0 to its nearest
    member: one link's on a ring, both links' on a crossbar.

    Parameters
    ----------
    topology : Topology
    dims : sequence of int
        p_0, p_1, ...; ``(N,)`` for an algorithm that knows no dimensions.
    model : {'store_and_forward', 'cut_through', 'fair_share'}
    reduction : float, optional
        gamma, bytes/s.
    mode : {'after', 'streamed'}
    placement : ndarray of int, optional
        The topology's rank of each rank.

    Returns
    -------
    tuple of Platform, or None
        None where there is no one alpha and beta along a dimension: links of a level differ, or
        some of its members are reached over links of other kinds than the nearest.
    """
    place = np.arange(topology.ranks) if placement is None else placement
    found: list[Platform] = []
    for i, size in enumerate(dims):
        members = place[prod(dims[:i]) * np.arange(size)]
        platform = _nearest(topology, members, model, reduction, mode)
        if platform is None and size > 1:
            return None
        # a dimension of one rank sends nothing, whatever its price
        found.append(platform or Platform(0.0, 1.0))
    return tuple(found)


def link_platforms(
    topology: Topology,
    reduction: float | None = None,
    mode: Literal["after", "streamed"] = "after",
) -> tuple[Platform, ...] | None:
    """Price of a single link, for schedules that go from link to link; None where links differ."""
    every = np.arange(len(topology.links), dtype=np.int32)
    kinds = _kinds(topology, every)
    if len(kinds) != 1:
        return None
    bandwidth, latency, overhead = kinds.pop()
    return (Platform(latency, bandwidth, overhead, reduction, mode),)


def _nearest(
    topology: Topology,
    members: NDArray[np.int64],
    model: str,
    reduction: float | None,
    mode: Literal["after", "streamed"],
) -> Platform | None:
    """Price of a message from the first member to the nearest other, if it is a price for them all."""
    if len(members) < 2:
        return None
    walked = _nearest_walk(topology, members)
    if walked is None:
        return None
    links = topology.links
    rates, latencies, overheads = (
        column[walked].tolist() for column in (links.bandwidth, links.latency, links.overhead)
    )
    return message_price(rates, latencies, overheads, model, reduction, mode)


def _nearest_walk(topology: Topology, members: NDArray[np.int64]) -> NDArray[np.integer] | None:
    """Links from the first member to the nearest other; None where others are reached over other kinds."""
    src, dst = np.repeat(members[0], len(members) - 1), members[1:]
    links = direct_links(topology, src, dst)
    if (links >= 0).any() and len(_kinds(topology, np.arange(len(topology.links)))) == 1:
        # all links are alike: the ways to the others need not be walked
        return links[[np.argmax(links >= 0)]]
    ways = routes(topology, src, dst)
    shortest = int(np.argmin(ways.hops()))
    walked = ways.links[ways.offsets[shortest] : ways.offsets[shortest + 1]]
    alike = _kinds(topology, ways.links) == _kinds(topology, walked) and _uniform(topology, walked)
    return walked if alike else None


def message_price(
    rates: Sequence[float],
    latencies: Sequence[float],
    overheads: Sequence[float],
    model: str,
    reduction: float | None = None,
    mode: Literal["after", "streamed"] = "after",
) -> Platform | None:
    """Price of an undisturbed message over several links, each with its rate, latency and overhead.

    None where its time is not one alpha and one beta for every size.
    """
    latency = sum((Fraction(x) for x in latencies), Fraction(0))
    if model == "fair_share":
        # what flows over all links at once has taken every latency and overhead before
        return Platform(
            latency + sum((Fraction(x) for x in overheads), Fraction(0)), min(rates), 0, reduction, mode
        )
    if model == "cut_through":
        # the slowest hold decides; it is one sum for every size only if one link has both largest parts
        slowest = (max(overheads), min(rates))
        if slowest not in zip(overheads, rates, strict=True):
            return None
        return Platform(latency, slowest[1], slowest[0], reduction, mode)
    if mode == "streamed" and reduction is not None and len(rates) > 1:
        return None
    pace = 1 / sum((1 / Fraction(rate) for rate in rates), Fraction(0))
    return Platform(latency, pace, sum((Fraction(x) for x in overheads), Fraction(0)), reduction, mode)


def _kinds(topology: Topology, walked: NDArray[np.integer]) -> set[tuple[float, float, float]]:
    """Different links among those walked: (bandwidth, latency, overhead)."""
    links = topology.links
    columns = np.stack([links.bandwidth[walked], links.latency[walked], links.overhead[walked]], axis=1)
    # of equal ones in a row the last is enough
    differs = np.append((columns[1:] != columns[:-1]).any(axis=1), True)[: len(columns)]
    return {(bandwidth, latency, overhead) for bandwidth, latency, overhead in columns[differs].tolist()}


def _uniform(topology: Topology, walked: NDArray[np.int32]) -> bool:
    """Whether all links of the levels that are walked are alike, level by level."""
    level = topology.links.level
    return all(
        len(_kinds(topology, np.flatnonzero(level == one).astype(np.int32))) == 1
        for one in np.unique(level[walked])
    )
