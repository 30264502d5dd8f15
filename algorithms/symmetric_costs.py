"""Bounds, congestion and prices on a topology that looks the same from every rank: by what rank 0 sees."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from algorithms.bandwidth_bound import DISTANCES, EXACT, NO_BYTES, Moved
from algorithms.bounds import Bounds, give_way
from algorithms.collective import KINDS
from algorithms.cuts import Cut
from algorithms.group_cuts import must_move
from algorithms.latency_bound import ceil_log
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
    messages: Mapping[int, int] | None = None,
) -> Bounds:
    """Bounds of a collective without a root, as `lower_bounds` gives them.

    No cut takes longer than that of one rank: where links are alike and look the same from
    everywhere, no more nodes can be cut off by fewer links than a rank has (Mader 1971; Hamidoune
    1981 for links that go one way).

    Parameters
    ----------
    one : Representative
        Of which only the collective matters.
    topology : SymmetricTopology
    model, reduction
        As `lower_bounds`.
    messages : mapping of int to int, optional
        How many messages of each size hold any one link at most.
    """
    collective, ranks, wire = one.schedule.collective, one.ranks, topology.wire
    if ranks == 1:
        return Bounds(0.0, 0.0, 0.0, 0.0)
    overhead, latency = femtoseconds(wire.overhead), femtoseconds(wire.latency)
    hops = topology.shape.farthest
    farthest = hops * latency + (hops if model == "store_and_forward" else 1) * overhead
    sums = KINDS[collective.kind].source == "every"
    reduced = Fraction((ranks - 1) * collective.size, ranks)
    moved = _moved(one, topology)
    composed = moved.seconds if collective.kind == "allreduce" else None
    return Bounds(
        latency=to_seconds(max(farthest, ceil_log(ranks, topology.ports + 1) * overhead)),
        textbook_latency=ceil_log(ranks, 2) * (wire.latency + wire.overhead),
        bandwidth=give_way(moved.seconds, messages, [wire.bandwidth], model),
        reduction=give_way(reduced / Fraction(reduction), messages, [reduction], model)
        if reduction is not None and sums
        else 0.0,
        cut=moved.cut,
        composed=None if composed is None else float(composed),
        how=moved.how,
    )


def _moved(one: Representative, topology: SymmetricTopology) -> Moved:
    """Least time of the bytes: of a rank's over its links, of all over all, or by how far they go."""
    collective, ranks = one.schedule.collective, one.ranks
    if not collective.size:
        return Moved(Fraction(0), None, NO_BYTES)
    each = topology.ports * Fraction(topology.wire.bandwidth)
    sent, received, total = must_move(collective)
    how = EXACT
    if collective.kind == "all_to_all":
        # the chunks are those of rank 0, which is sent as many; every dimension's links must carry
        # all bytes as far as they go along it
        sent = received = np.array([total])
        far = max(Fraction(hops, ranks * ways) for hops, ways in topology.shape.distances)
        together = collective.size * far / Fraction(topology.wire.bandwidth)
        how = EXACT if collective.size % ranks == 0 else DISTANCES
    else:
        together = Fraction(total, ranks) / each
    sends = bool(sent.max() >= received.max())
    busiest = int(np.argmax(sent if sends else received))
    most = int((sent if sends else received)[busiest])
    if together > most / each:
        return Moved(together, None, how)
    links = tuple(range(topology.orbits))
    if topology.through_switch:
        links = links[:1] if sends else links[1:]
    # what is around that rank is around rank 0
    return Moved(most / each, Cut((0,), (busiest,), sends, most, float(each), links), how)


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
