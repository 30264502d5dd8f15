"""Finite buffers at the far ends of links: what a plan's hops need, and how they wait for each other."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from simulator.engine.errors import PlanError
from simulator.engine.hops import TOO_LONG, clipped
from simulator.engine.machine import femtoseconds_of
from simulator.engine.plan import LINK, Buffers, Plan, carried_bytes
from topologies.clock import LONGEST, femtoseconds, to_seconds
from topologies.text import format_time

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.schedule import Schedule
    from topologies.topology import Topology

HELD: Final = LONGEST + 1
"""When a resource is free that is held until nobody knows when, fs."""

MOST_NAMED: Final = 8
"""Links of a cycle that an error names."""


def with_buffers(plan: Plan, schedule: Schedule, topology: Topology, room: int) -> Plan:
    """A plan whose links have buffers of `room` bytes at their far ends.

    A link that goes on to another moves a buffer a latency at most, since a byte takes its room
    when it leaves and gives it back when it leaves again: what is larger holds such a link longer
    where the buffer is less than bandwidth x latency.

    Raises
    ------
    PlanError
        If a message must be stored whole on its way, and does not fit.
    """
    crosses = plan.resources.kind[plan.resource] == LINK
    operation = plan.operation()
    # a way's links are next to each other, whatever an operation walks before and after them
    goes_on = np.zeros(plan.hops, dtype=bool)
    goes_on[:-1] = crosses[:-1] & crosses[1:] & (operation[:-1] == operation[1:])
    size = carried_bytes(plan, schedule)[operation]
    _check_stored(plan, size, goes_on, room)
    drain, overhead = np.zeros((2, plan.hops), dtype=np.int64)
    link = plan.resources.which[plan.resource[crosses]]
    drain[crosses] = _drains(topology, room)[link]
    overhead[crosses] = femtoseconds_of(topology.links.overhead)[link]
    around = np.where(goes_on, np.maximum(plan.resources.latency[plan.resource] - drain, 0), 0)
    more = np.maximum(-(-size // room) - 1, 0)
    reach = np.minimum(more, _links_after(goes_on)).astype(np.int32)
    has = np.where(plan.resources.kind == LINK, room, 0)
    need = np.where(goes_on, np.minimum(size, room), 0)
    buffers = Buffers(has, need, reach, overhead, drain + around, topology.link_name)
    return replace(plan, hold=_longer(plan.hold, more, around), buffers=buffers)


def _longer(hold: NDArray[np.int64], times: NDArray[np.int64], more: NDArray[np.int64]) -> NDArray[np.int64]:
    """Holds with so many times more, or what stands for any time that is too long."""
    fits = hold + times.astype(np.float64) * more < LONGEST
    return np.where(fits, hold + np.where(fits, times, 0) * more, TOO_LONG)


def _check_stored(plan: Plan, size: NDArray[np.int64], goes_on: NDArray[np.bool_], room: int) -> None:
    stored = goes_on[:-1] & ~plan.head[1:] & (size[:-1] > room)
    if stored.any():
        largest = int(size[:-1][stored].max())
        message = f"a message of {largest} bytes is stored on its way and does not fit buffers of {room}"
        raise PlanError(message, ("buffers",))


def _drains(topology: Topology, room: int) -> NDArray[np.int64]:
    """Femtoseconds in which each link moves a whole buffer."""
    rate, which = np.unique(topology.links.bandwidth, return_inverse=True)
    times = [clipped(femtoseconds(Fraction(room) / Fraction(one))) for one in rate.tolist()]
    return np.array(times, dtype=np.int64)[which.ravel()]


def _links_after(goes_on: NDArray[np.bool_]) -> NDArray[np.int64]:
    """How many links of its way come after each hop.

    >>> _links_after(np.array([True, True, False, False, True, False])).tolist()
    [2, 1, 0, 0, 1, 0]
    """
    hop = np.arange(len(goes_on))
    last = np.where(goes_on, len(goes_on), hop)
    return np.minimum.accumulate(last[::-1])[::-1] - hop


def check_nobody_waits(
    plan: Plan, buffers: Buffers, arrival: NDArray[np.int64], grant: NDArray[np.int64]
) -> None:
    """Refuse a run that has ended while operations wait for each other's buffers.

    Parameters
    ----------
    plan : Plan
    buffers : Buffers
        The plan's.
    arrival, grant : ndarray of int64, shape (hops,)
        fs; -1 where it has not come to that.

    Raises
    ------
    PlanError
        Names links that wait for each other in a cycle.
    """
    waiting = np.flatnonzero((arrival >= 0) & (grant < 0))
    if not len(waiting):
        return
    cycle = _cycle(plan, buffers, waiting, grant)
    names = [buffers.name(link) for link in plan.resource[cycle[:MOST_NAMED]].tolist()]
    if len(cycle) > MOST_NAMED:
        names.append(f"... ({len(cycle)} links)")
    sealed = format_time(to_seconds(int(arrival[cycle].max())))
    raise PlanError(
        f"the messages wait for each other's buffers: {', '.join(names)} (deadlock at {sealed})", ("buffers",)
    )


def _cycle(
    plan: Plan, buffers: Buffers, waiting: NDArray[np.int64], grant: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Hops that wait, each for a resource that the operation of the next one has not let go."""
    operation = plan.operation()
    waits_at = np.full(len(plan), -1)
    waits_at[operation[waiting]] = waiting
    # a resource is kept by who holds it, or has room at its far end, until a hop that has not been granted
    kept = np.flatnonzero((grant >= 0) & (waits_at[operation] >= 0))
    until = kept + buffers.reach[kept]
    taken = buffers.need[kept] > 0
    until[taken] = np.maximum(until[taken], kept[taken] + 1 + buffers.reach[kept[taken] + 1])
    kept = kept[grant[until] < 0]
    keeper = np.full(len(plan.resources), -1)
    keeper[plan.resource[kept[::-1]]] = waits_at[operation[kept[::-1]]]
    # in the order in which they were come to
    seen: dict[int, int] = {}
    hop = int(waiting[0])
    while hop not in seen:
        seen[hop] = len(seen)
        hop = int(keeper[plan.resource[hop]])
    return np.array(list(seen)[seen[hop] :])
