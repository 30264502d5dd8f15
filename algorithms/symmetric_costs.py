"""Bounds, congestion and prices on a topology that looks the same from every rank: by what rank 0 sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from algorithms.bounds import Bounds, ceil_log, must_move
from algorithms.collective import KINDS
from algorithms.platform import message_price
from algorithms.schedule import expand
from topologies.clock import femtoseconds, to_seconds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.representative import Representative
    from algorithms.rounds import Platform
    from topologies.orbits import SymmetricTopology


def symmetric_bounds(
    one: Representative,
    topology: SymmetricTopology,
    *,
    model: str,
    reduction: float | None = None,
    messages: int = 0,
) -> Bounds:
    """Bounds of a collective without a root, as `lower_bounds` gives them.

    Parameters
    ----------
    one : Representative
        Of which only the collective matters.
    topology : SymmetricTopology
    model, reduction, messages
        As `lower_bounds`.
    """
    ranks, size, wire = one.ranks, one.schedule.collective.size, topology.wire
    if ranks == 1:
        return Bounds(0.0, 0.0, 0.0, 0.0)
    slack, ports, hops = to_seconds(messages), topology.ports, topology.shape.farthest
    overhead, latency = femtoseconds(wire.overhead), femtoseconds(wire.latency)
    farthest = hops * latency + (hops if model == "store_and_forward" else 1) * overhead
    sums = KINDS[one.schedule.collective.kind].source == "every"
    reduced = (ranks - 1) * size / ranks / reduction if reduction is not None and sums else 0.0
    return Bounds(
        latency=to_seconds(max(farthest, ceil_log(ranks, ports + 1) * overhead)),
        textbook_latency=ceil_log(ranks, 2) * (wire.latency + wire.overhead),
        bandwidth=max(0.0, max(_moved_by_rank_0(one)) / (ports * wire.bandwidth) - slack),
        reduction=max(0.0, reduced - slack),
    )


def _moved_by_rank_0(one: Representative) -> tuple[float, float, float]:
    """Bytes that a rank must send, must receive, and must send on average, by any algorithm."""
    collective = one.schedule.collective
    sent, received, total = must_move(collective)
    if collective.kind == "all_to_all":
        # the chunks are those of rank 0, which is sent as many
        return total, total, total
    return float(sent[0]), float(received[0]), total / one.ranks


def symmetric_congestion(one: Representative, topology: SymmetricTopology) -> float | None:
    """Sum over steps of the bytes on the most loaded link, in units of M, as `congestion_factor` gives it."""
    schedule = one.schedule
    size = schedule.collective.size
    if size == 0:
        return None
    if not len(schedule):
        return 0.0
    transfer, orbit, hops = ways_of(one, topology, spread=True)
    load = schedule.sizes()[transfer] * hops
    place = schedule.step[transfer].astype(np.int64) * topology.orbits + orbit
    order = np.argsort(place, kind="stable")
    place = place[order]
    new = np.flatnonzero(np.diff(place, prepend=-1))
    # what a link carries of each of the N images of a transfer, one of its orbit carries of them all
    carried, step = np.add.reduceat(load[order], new), place[new] // topology.orbits
    worst = np.maximum.reduceat(carried, np.flatnonzero(np.diff(step, prepend=-1)))
    return float(worst.sum()) / size


def ways_of(
    one: Representative, topology: SymmetricTopology, *, spread: bool = False
) -> tuple[NDArray[np.integer], NDArray[np.int64], NDArray[np.number]]:
    """Ways of all of rank 0's transfers: transfer, orbit and hops of each leg, in walking order."""
    there, which = np.unique(one.schedule.dst, return_inverse=True)
    legs = topology.shape.legs(there.astype(np.int64), spread=spread)
    count = np.bincount(legs.row, minlength=len(there))
    transfer, leg = expand((np.cumsum(count) - count)[which.ravel()], count[which.ravel()])
    return transfer, legs.orbit[leg], legs.hops[leg]


def symmetric_platforms(
    topology: SymmetricTopology,
    model: str,
    reduction: float | None = None,
    mode: Literal["after", "streamed"] = "after",
) -> tuple[Platform, ...] | None:
    """Price of an undisturbed message of rank 0 to its nearest neighbour, as `platforms` gives it."""
    hops, wire = 2 if topology.through_switch else 1, topology.wire
    price = message_price(
        [wire.bandwidth] * hops, [wire.latency] * hops, [wire.overhead] * hops, model, reduction, mode
    )
    return None if price is None else (price,)
