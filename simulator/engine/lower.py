"""From a schedule and a topology to a plan: the only place that turns bytes into time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from algorithms.congestion import places
from algorithms.placement import find_placement
from algorithms.schedule import REDUCE
from simulator.engine.dependencies import waits
from simulator.engine.errors import PlanError
from simulator.engine.frames import framed, packets_of
from simulator.engine.hops import clipped, joined
from simulator.engine.links import link_hops
from simulator.engine.machine import Machine
from simulator.engine.network import Network, Reduction
from simulator.engine.numbering import Numbered, narrow_offsets, numbered
from simulator.engine.operations import Messages, Operations
from simulator.engine.plan import NO_TRANSFER, Plan, Resources
from topologies.clock import LONGEST, femtoseconds
from topologies.errors import TopologyError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.schedule import Schedule
    from topologies.topology import Topology


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
    machine = Machine(topology, network, reduction)
    late = _late_ranks(schedule, delay or {})
    ranks = np.array(list(late), dtype=np.int64)
    moves = _operations(schedule, places(schedule, topology, place), machine)
    order = numbered(schedule, moves, waits(schedule, network.sync, ranks), len(late))
    plan = _in_order(moves, order, machine.resources(place[ranks]), list(late.values()))
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


def _operations(schedule: Schedule, place: NDArray[np.int64], machine: Machine) -> Operations:
    """Operations of every transfer: one that walks its links, and a reducer; or several."""
    sizes, rows = schedule.sizes(), np.arange(len(schedule), dtype=np.int32)
    whole = Messages(place[schedule.src], place[schedule.dst], sizes, rows)
    # a switch that reduces keeps up with its links
    reduces = (schedule.mode == REDUCE) & (schedule.dst < schedule.ranks) & (machine.reduction is not None)
    if machine.endpoint is not None or (packets_of(sizes, machine) > 1).any():
        return framed(schedule, whole, reduces, machine)
    streamed = machine.reduction is not None and machine.reduction.mode == "streamed"
    reducing = machine.reducing(reduces, whole.dst[reduces], sizes[reduces], head=streamed)
    return Operations(rows, joined([link_hops(schedule, whole, machine), reducing]))


def _late_ranks(schedule: Schedule, delay: Mapping[int, float]) -> dict[int, int]:
    """Femtoseconds of each rank that starts late, by rank."""
    for rank in delay:
        if not 0 <= rank < schedule.ranks:
            raise TopologyError(f"there is no rank {rank} to delay", ("delay", rank))
        if not 0 <= delay[rank] < float("inf"):
            raise TopologyError(f"a delay is zero or more and finite, found {delay[rank]}", ("delay", rank))
    return {rank: clipped(femtoseconds(delay[rank])) for rank in sorted(delay)}


def _in_order(moves: Operations, order: Numbered, resources: Resources, late: list[int]) -> Plan:
    """Plan with operations in the order of their numbers: delays first, then the transfers', and joins."""
    hops, count, delays = moves.hops, len(moves.transfer), len(late)
    if order.number is None:
        offsets = narrow_offsets(hops.count)
        columns = (hops.resource, hops.hold, hops.head)
        return Plan(moves.transfer, offsets, *columns, order.dependency_offset, order.dependency, resources)
    transfer = np.full(len(order), NO_TRANSFER, dtype=np.int32)
    transfer[order.number[:count]] = moves.transfer
    walked = np.zeros(len(order), dtype=np.int64)
    walked[order.number[:count]] = hops.count
    walked[order.number[count : count + delays]] = 1
    starts = np.arange(len(resources) - delays, len(resources), dtype=np.int32)
    return Plan(
        transfer,
        narrow_offsets(walked),
        np.concatenate([starts, hops.resource]),
        np.concatenate([np.array(late, dtype=np.int64), hops.hold]),
        np.concatenate([np.zeros(delays, dtype=bool), hops.head]),
        order.dependency_offset,
        order.dependency,
        resources,
    )


def _check_length(plan: Plan) -> None:
    """Refuse a plan that might run past what 64 bits count in femtoseconds."""
    resources = plan.resources
    after = (resources.latency + resources.gap)[plan.resource]
    if plan.hold.sum(dtype=np.float64) + after.sum(dtype=np.float64) < LONGEST:
        return
    held = plan.hold + resources.gap[plan.resource].astype(np.float64)
    busy = np.bincount(plan.resource, weights=held, minlength=len(resources))
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
