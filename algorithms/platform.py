"""alpha and beta of a topology, where it has them: what a closed form is priced with."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Literal

import numpy as np

from algorithms.rounds import Platform
from topologies.routing import routes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topologies.topology import Topology


def platforms(
    topology: Topology,
    dims: Sequence[int],
    model: Literal["store_and_forward", "cut_through"],
    reduction: float | None = None,
    mode: Literal["after", "streamed"] = "after",
) -> tuple[Platform, ...] | None:
    """alpha, beta and gamma along each dimension of a grid of ranks.

    Along a dimension they are those of an undisturbed message from rank 0 to its nearest
    member: one link's on a ring, both links' on a crossbar.

    Parameters
    ----------
    topology : Topology
    dims : sequence of int
        p_0, p_1, ...; ``(N,)`` for an algorithm that knows no dimensions.
    model : {'store_and_forward', 'cut_through'}
    reduction : float, optional
        gamma, bytes/s.
    mode : {'after', 'streamed'}

    Returns
    -------
    tuple of Platform, or None
        None where links of one level differ, so that there is no one alpha and beta.
    """
    found: list[Platform] = []
    for i, size in enumerate(dims):
        stride = prod(dims[:i])
        members = stride * np.arange(1, size)
        platform = _nearest(topology, members, model, reduction, mode)
        if platform is None and size > 1:
            return None
        # a dimension of one rank sends nothing, whatever its price
        found.append(platform or Platform(0.0, 1.0))
    return tuple(found)


def _nearest(
    topology: Topology,
    members: NDArray[np.int64],
    model: str,
    reduction: float | None,
    mode: Literal["after", "streamed"],
) -> Platform | None:
    if not len(members):
        return None
    ways = routes(topology, np.zeros(len(members), dtype=np.int64), members)
    shortest = int(np.argmin(ways.hops()))
    walked = ways.links[ways.offsets[shortest] : ways.offsets[shortest + 1]]
    links = topology.links
    alike = links.level == links.level[walked][:, None]
    for column in (links.bandwidth, links.latency, links.overhead):
        if (alike & (column != column[walked][:, None])).any():
            return None
    latency = sum((Fraction(x) for x in links.latency[walked].tolist()), Fraction(0))
    overheads, rates = links.overhead[walked].tolist(), links.bandwidth[walked].tolist()
    if model == "cut_through":
        return Platform(latency, min(rates), max(overheads), reduction, mode)
    if mode == "streamed" and len(walked) > 1:
        return None
    pace = 1 / sum((1 / Fraction(rate) for rate in rates), Fraction(0))
    return Platform(latency, pace, sum((Fraction(x) for x in overheads), Fraction(0)), reduction, mode)
