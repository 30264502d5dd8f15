"""From a schedule and a topology to a plan: the only place that turns bytes into time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.congestion import places
from algorithms.errors import ScheduleError
from algorithms.placement import find_placement
from algorithms.schedule import REDUCE, expand
from simulator.engine.dependencies import Dependencies, dependencies
from simulator.engine.errors import PlanError
from simulator.engine.network import Network, Reduction
from simulator.engine.plan import LINK, NO_TRANSFER, REDUCER, START, Plan, Resources
from topologies.clock import LONGEST, femtoseconds
from topologies.errors import TopologyError
from topologies.routing import Routes, routes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.schedule import Schedule
    from topologies.topology import Topology

TOO_LONG: Final = 2**63 - 1
"""fs that stand for any time past what a plan may take: it is refused only if something takes that long."""


def lower(
    schedule: Schedule,
    topology: Topology,
    network: Network | None = None,
    reduction: Reduction | None = None,
    delay: Mapping[int, float] | None = None,
) -> Plan:
    """Plan of a schedule on a topology.

    A transfer walks the links of its route and, if it reduces, the reducer of its destination; a
    switch that reduces has none, it keeps up with its links.
    A hop over a link holds it for overhead + bytes / bandwidth, then takes its latency; each of
    the three is rounded to femtoseconds, half to even, before they are added.

    Parameters
    ----------
    schedule : Schedule
    topology : Topology
        With as many ranks.
    network : Network, optional
        Default: store_and_forward, sync by step, rank r on rank r.
    reduction : Reduction, optional
        Without it reducing takes no time.
    delay : mapping of int to float, optional
        Seconds after which a rank of the schedule begins.

    Raises
    ------
    TopologyError
        If the number of ranks or the placement does not fit, or there is no route.
    ScheduleError
        If a transfer needs more than one hop and `direct_links_only` forbids it.
    PlanError
        If the plan could run past 2.5 hours.
    """
    network = network or Network()
    place = placement(schedule, topology, network)
    walk = _walk(schedule, topology, network, places(schedule, topology, place), reduction)
    late = _late_ranks(schedule, delay or {})
    edges = dependencies(schedule, network.sync, np.array(list(late), dtype=np.int64))
    resources = _resources(topology, reduction, place, list(late))
    plan = _number(schedule, walk, edges, resources, list(late.values()))
    _check_length(plan)
    return plan


def placement(schedule: Schedule, topology: Topology, network: Network) -> NDArray[np.int64]:
    """The topology's rank that plays each rank of the schedule.

    Raises
    ------
    TopologyError
        If the topology has another number of ranks, or the placement does not name every rank once.
    ScheduleError
        If it is to be searched among too many ranks.
    """
    ranks = topology.ranks
    if schedule.ranks != ranks:
        raise TopologyError(f"the schedule has {schedule.ranks} ranks, the topology {ranks}")
    if network.placement is None:
        return np.arange(ranks)
    if network.placement == "auto":
        return find_placement(schedule, topology)
    if sorted(network.placement) != list(range(ranks)):
        raise TopologyError(f"a placement names every rank from 0 to {ranks - 1} once", ("placement",))
    return np.array(network.placement, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class _Walk:
    """Hops of all transfers, in columns like those of `Plan`."""

    count: NDArray[np.integer]
    resource: NDArray[np.int32]
    hold: NDArray[np.int64]
    head: NDArray[np.bool_]


def _walk(
    schedule: Schedule,
    topology: Topology,
    network: Network,
    place: NDArray[np.int64],
    reduction: Reduction | None,
) -> _Walk:
    """Walk of every transfer: its links, then the reducer of its destination."""
    way, pair = _routes(schedule, topology, place)
    links = way.hops()[pair]
    if network.direct_links_only and (links > 1).any():
        raise _indirect(schedule, links, int(np.argmax(links > 1)))
    reduces = np.zeros(len(schedule), dtype=bool)
    if reduction is not None:
        # a switch that reduces keeps up with its links
        reduces = (schedule.mode == REDUCE) & (schedule.dst < schedule.ranks)
    count = links + reduces
    first = np.cumsum(count) - count
    row, at = expand(way.offsets[pair], links)
    slot = first if len(row) == len(first) else at - way.offsets[pair][row] + first[row]
    resource = np.empty(int(count.sum()), dtype=np.int32)
    head = np.zeros(len(resource), dtype=bool)
    hold = np.empty(len(resource), dtype=np.int64)
    resource[slot] = walked = way.links[at]
    size, number = unique_inverse(schedule.sizes())
    links_of = topology.links
    hold[slot] = _hold_table(links_of.bandwidth, links_of.overhead, size, walked, number[row])
    if network.model == "cut_through":
        head[slot] = at != way.offsets[pair][row]
    if reduction is not None and reduces.any():
        last = (first + count - 1)[reduces]
        reducer = place[schedule.dst[reduces]]
        resource[last] = len(topology.links) + reducer
        rates = reduction.rates(topology.ranks)
        hold[last] = _hold_table(rates, np.zeros(topology.ranks), size, reducer, number[reduces])
        head[last] = reduction.mode == "streamed"
    return _Walk(count, resource, hold, head)


def _routes(
    schedule: Schedule, topology: Topology, place: NDArray[np.int64]
) -> tuple[Routes, NDArray[np.int64]]:
    """Routes of the distinct pairs of ranks, and which of them each transfer takes."""
    nodes = len(topology.nodes)
    pairs, pair = unique_inverse(place[schedule.src] * nodes + place[schedule.dst])
    return routes(topology, pairs // nodes, pairs % nodes), pair


def unique_inverse(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Distinct values in rising order, and the position of each value among them.

    >>> [column.tolist() for column in unique_inverse(np.array([7, 5, 7]))]
    [[5, 7], [1, 0, 1]]
    """
    if not len(values):
        return values, np.zeros(0, dtype=np.int64)
    low, span = int(values.min()), int(values.max()) - int(values.min()) + 1
    if span > max(4 * len(values), 1 << 20):
        distinct, inverse = np.unique(values, return_inverse=True)
        return distinct, inverse.ravel()
    # values lie close together: a table is several times faster than a sort
    seen = np.zeros(span, dtype=bool)
    seen[values - low] = True
    return np.flatnonzero(seen) + low, (np.cumsum(seen) - 1)[values - low]


def _clipped(time: int) -> int:
    return min(time, TOO_LONG)


def _holds(sizes: NDArray[np.int64], bandwidth: float, overhead: float = 0.0) -> NDArray[np.int64]:
    """Femtoseconds that a message of each size holds a resource: overhead + bytes / bandwidth."""
    rate, fixed = Fraction(bandwidth), femtoseconds(overhead)
    times = [_clipped(fixed + femtoseconds(Fraction(size) / rate)) for size in sizes.tolist()]
    return np.array(times, dtype=np.int64)


def _hold_table(
    bandwidth: NDArray[np.float64],
    overhead: NDArray[np.float64],
    sizes: NDArray[np.int64],
    resource: NDArray[np.integer],
    size: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Hold of each hop over resource[h] by a message of sizes[size[h]]: distinct prices by distinct sizes."""
    distinct, price = np.unique(np.stack([bandwidth, overhead], axis=1), axis=0, return_inverse=True)
    table = np.empty((len(distinct), len(sizes)), dtype=np.int64)
    for row, (rate, fixed) in enumerate(distinct.tolist()):
        table[row] = _holds(sizes, rate, fixed)
    return np.asarray(table[price.ravel()[resource], size])


def _indirect(schedule: Schedule, links: NDArray[np.integer], row: int) -> ScheduleError:
    step, src, dst = (int(column[row]) for column in (schedule.step, schedule.src, schedule.dst))
    text = (
        f"step {step}: rank {src} sends to rank {dst}, {links[row]} hops away; direct_links_only forbids it"
    )
    return ScheduleError(text, ("direct_links_only",), step=step, rank=src)


def _late_ranks(schedule: Schedule, delay: Mapping[int, float]) -> dict[int, int]:
    """Femtoseconds of each rank that starts late, by rank."""
    for rank in delay:
        if not 0 <= rank < schedule.ranks:
            raise TopologyError(f"there is no rank {rank} to delay", ("delay", rank))
        if not 0 <= delay[rank] < float("inf"):
            raise TopologyError(f"a delay is zero or more and finite, found {delay[rank]}", ("delay", rank))
    return {rank: _clipped(femtoseconds(delay[rank])) for rank in sorted(delay)}


def _resources(
    topology: Topology, reduction: Reduction | None, place: NDArray[np.int64], late: list[int]
) -> Resources:
    """Links, then the reducers of the topology's ranks, then a start for every late rank."""
    latency = [_clipped(femtoseconds(s)) for s in topology.links.latency.tolist()]
    reducers = topology.ranks if reduction is not None else 0
    parts = ((LINK, np.arange(len(latency))), (REDUCER, np.arange(reducers)), (START, place[late]))
    return Resources(
        np.concatenate([np.full(len(which), kind, dtype=np.uint8) for kind, which in parts]),
        np.concatenate([which for _, which in parts]).astype(np.int32),
        np.array(latency + [0] * (reducers + len(late)), dtype=np.int64),
    )


def _number(
    schedule: Schedule, walk: _Walk, edges: Dependencies, resources: Resources, waits: list[int]
) -> Plan:
    """Plan with operations in their order: delays, then step by step the transfers, joins last."""
    transfers, delays, joins = len(schedule), len(waits), len(edges.join_last)
    place = _operation_numbers(schedule, edges.join_last, delays)
    total = transfers + delays + joins
    transfer = np.full(total, NO_TRANSFER, dtype=np.int32)
    transfer[place[:transfers]] = np.arange(transfers)
    hops = np.zeros(total, dtype=np.int64)
    hops[place[:transfers]] = walk.count
    hops[place[transfers : transfers + delays]] = 1
    starts = len(resources) - delays + np.arange(delays, dtype=np.int32)
    moved = joins or delays
    waiter = place[edges.waiter] if moved else edges.waiter
    awaited = (place[edges.awaited] if moved else edges.awaited).astype(np.int32, copy=False)
    if joins:
        order = np.argsort(waiter, kind="stable")
        waiter, awaited = waiter[order], awaited[order]
    return Plan(
        transfer,
        _offsets(hops),
        np.concatenate([starts, walk.resource]),
        np.concatenate([np.array(waits, dtype=np.int64), walk.hold]),
        np.concatenate([np.zeros(delays, dtype=bool), walk.head]),
        _offsets(np.bincount(waiter, minlength=total)),
        awaited,
        resources,
    )


def _operation_numbers(schedule: Schedule, join_last: NDArray[np.int64], delays: int) -> NDArray[np.int64]:
    """Operation id of each transfer, delay and join (in this order)."""
    transfers = len(schedule)
    # a join comes after the last transfer of the step and channel of what it awaits
    block = np.append(
        np.flatnonzero((np.diff(schedule.step) != 0) | (np.diff(schedule.channel) != 0)), transfers - 1
    )
    after = block[np.searchsorted(block, join_last)] if transfers else join_last
    after = np.where(join_last < 0, -1, after)
    order = np.argsort(after, kind="stable")
    join_id = np.empty(len(after), dtype=np.int64)
    join_id[order] = delays + after[order] + 1 + np.arange(len(after))
    before = np.searchsorted(after[order], np.arange(transfers), side="left")
    transfer_id = delays + np.arange(transfers) + before
    return np.concatenate([transfer_id, np.arange(delays), join_id])


def _offsets(counts: NDArray[np.integer]) -> NDArray[np.int32] | NDArray[np.int64]:
    """Running sum with a leading 0, as narrow as it can be."""
    total = np.concatenate([[0], np.cumsum(counts)])
    return total.astype(np.int32) if total[-1] < 2**31 else total.astype(np.int64)


def _check_length(plan: Plan) -> None:
    """Refuse a plan that might run past what 64 bits count in femtoseconds."""
    latency = plan.resources.latency[plan.resource]
    if plan.hold.sum(dtype=np.float64) + latency.sum(dtype=np.float64) < LONGEST:
        return
    busy = np.bincount(plan.resource, weights=plan.hold, minlength=len(plan.resources))
    if busy.max() > LONGEST or _longest_chain(plan) > LONGEST:
        raise PlanError("the plan runs longer than 2.5 hours, past which femtoseconds do not fit 64 bits")


def _longest_chain(plan: Plan) -> int:
    """Femtoseconds of the longest chain of dependent operations, if none ever queued."""
    hop_offset, hold, head = plan.hop_offset.tolist(), plan.hold.tolist(), plan.head.tolist()
    latency = plan.resources.latency[plan.resource].tolist()
    offset, dependency = plan.dependency_offset.tolist(), plan.dependency.tolist()
    finish = [0] * len(plan)
    for i in range(len(plan)):
        front = tail = max((finish[d] for d in dependency[offset[i] : offset[i + 1]]), default=0)
        for hop in range(hop_offset[i], hop_offset[i + 1]):
            granted = front if head[hop] else tail
            released = granted + hold[hop]
            if head[hop]:
                released = max(released, tail)
            front, tail = granted + latency[hop], released + latency[hop]
        finish[i] = tail
    return max(finish, default=0)
