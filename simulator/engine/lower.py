"""From a schedule and a topology to a plan: the only place that turns bytes into time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.congestion import places
from algorithms.placement import find_placement
from algorithms.schedule import REDUCE
from simulator.engine.buffers import with_buffers
from simulator.engine.dependencies import waits
from simulator.engine.errors import PLAN_TOO_LONG, PlanError
from simulator.engine.flows import with_flows
from simulator.engine.frames import framed, packets_of
from simulator.engine.hops import Hops, in_a_row, joined
from simulator.engine.jobs import Job
from simulator.engine.links import computed, link_hops
from simulator.engine.machine import Machine
from simulator.engine.memory import Memory
from simulator.engine.network import Network, Reduction
from simulator.engine.numbering import Numbered, narrow_offsets, numbered
from simulator.engine.operations import Messages, Operations
from simulator.engine.plan import NO_TRANSFER, Plan, Resources
from simulator.engine.staging import LEGS, staged
from simulator.engine.together import Together, together
from topologies.clock import LONGEST
from topologies.errors import TopologyError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.schedule import Schedule
    from simulator.engine.dependencies import Waits
    from topologies.topology import Topology


_AT_ONCE: Final = 1 << 19
"""Transfers that are lowered at a time: what is in work stays in the processor's cache."""


def lower(
    schedule: Schedule,
    topology: Topology,
    network: Network | None = None,
    reduction: Reduction | None = None,
    delay: Mapping[int, float] | None = None,
    memory: Memory | None = None,
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
    memory : Memory, optional
        What the run may take; default 80 % of what is free.

    Raises
    ------
    TopologyError
        If the number of ranks or the placement does not fit, or there is no route.
    ScheduleError
        If a transfer needs more than one hop and `direct_links_only` forbids it.
    PlanError
        If the plan could run past 2.5 hours, or takes more memory than it may.
    """
    network = network or Network()
    job = Job(schedule, placement(schedule, topology, network), delay=delay or {})
    processors = schedule.processors
    return lower_job(job, Machine(topology, network, reduction, memory or Memory(), processors))


def lower_together(
    jobs: Sequence[Job],
    topology: Topology,
    network: Network | None = None,
    reduction: Reduction | None = None,
) -> Together:
    """Plan of several schedules that share a network.

    Parameters
    ----------
    jobs : sequence of Job
        At least one.
    topology : Topology
    network : Network, optional
        The jobs say where their ranks are: it has no placement.
    reduction : Reduction, optional

    Raises
    ------
    TopologyError, ScheduleError, PlanError
        As `lower`, or if a job's ranks are not there, or it comes after one that is not before it.
    """
    processors = max((job.schedule.processors for job in jobs), default=0)
    return lower_on(jobs, Machine(topology, network or Network(), reduction, processors=processors))


def lower_on(jobs: Sequence[Job], machine: Machine) -> Together:
    """Plan of several schedules on a machine; as `lower_together`."""
    return together(jobs, [lower_job(job, machine) for job in jobs])


def lower_job(job: Job, machine: Machine) -> Plan:
    """Plan of one job by itself, as if it came after no other.

    Raises
    ------
    TopologyError, ScheduleError, PlanError
        As `lower_together`.
    """
    schedule, topology, network = job.schedule, machine.topology, machine.network
    job.check_place(topology)
    late = job.holds()
    ranks = np.array(list(late), dtype=np.int64)
    moves = _operations(schedule, places(schedule, topology, job.place), machine)
    wait = waits(schedule, job.sync or network.sync, ranks)
    plan = planned(schedule, moves, wait, machine.resources(job.place[ranks]), list(late.values()))
    if network.model == "fair_share":
        return with_flows(plan, schedule, machine)
    return plan if network.buffers is None else with_buffers(plan, schedule, topology, network.buffers)


def planned(
    schedule: Schedule, moves: Operations, waits: Waits, resources: Resources, late: list[int]
) -> Plan:
    """Plan of operations and of what they wait for, in the order of its numbers.

    Parameters
    ----------
    schedule : Schedule
    moves : Operations
        Of all its transfers.
    waits : Waits
    resources : Resources
        The starts of late ranks at their end.
    late : list of int
        Fs by which each of these is late.

    Raises
    ------
    PlanError
        If the plan could run past 2.5 hours.
    """
    plan = _in_order(moves, numbered(schedule, moves, waits, len(late)), resources, late)
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
    routing, network = machine.network.chosen_routing, machine.network
    several = machine.endpoint is not None or bool((packets_of(sizes, network) > 1).any())
    # where every message has its own way, they are taken in turn, all of them
    at_once = max(len(rows), 1) if several or routing.by_turn else _AT_ONCE
    blocks = []
    for first in range(0, max(len(rows), 1), at_once):
        block = slice(first, first + at_once)
        src, dst = schedule.src[block], schedule.dst[block]
        messages = Messages(place[src], place[dst], sizes[block], rows[block])
        # a switch that reduces keeps up with its links
        reduces = (schedule.mode[block] == REDUCE) & (dst < schedule.ranks) & (machine.reduction is not None)
        if several:
            return framed(schedule, messages, reduces, machine)
        blocks.append(_whole_hops(schedule, messages, reduces, machine))
    return Operations(rows, in_a_row(blocks))


def _whole_hops(schedule: Schedule, messages: Messages, reduces: NDArray[np.bool_], machine: Machine) -> Hops:
    streamed = machine.reduction is not None and machine.reduction.mode == "streamed"
    staging = machine.network.staging
    links = link_hops(schedule, messages, machine, extra=(len(LEGS) + 1) * len(schedule) if staging else 0)
    before, after = [links], list[Hops]()
    if staging is not None:
        adds = (schedule.mode[messages.transfer] == REDUCE) & (messages.dst < machine.topology.ranks)
        before, after = staged(links, messages.size, adds, staging, machine.topology, machine.engines)
    # what a rank adds up by itself streams in from nowhere
    head = streamed & (messages.src != messages.dst)[reduces]
    reducing = machine.reducing(reduces, messages.dst[reduces], messages.size[reduces], head=head)
    return joined([*before, reducing, *computed(schedule, messages, machine), *after])


def _in_order(moves: Operations, order: Numbered, resources: Resources, late: list[int]) -> Plan:
    """Plan with operations in the order of their numbers: delays first, then the transfers', and joins."""
    hops, count, delays = moves.hops, len(moves.transfer), len(late)
    if order.number is None:
        offsets = narrow_offsets(hops.count)
        columns = (hops.resource, hops.hold, hops.head)
        waiting = (order.dependency_offset, order.dependency)
        return Plan(moves.transfer, offsets, *columns, *waiting, resources, bytes=moves.bytes)
    transfer = np.full(len(order), NO_TRANSFER, dtype=np.int32)
    transfer[order.number[:count]] = moves.transfer
    walked = np.zeros(len(order), dtype=np.int64)
    walked[order.number[:count]] = hops.count
    walked[order.number[count : count + delays]] = 1
    carried = None
    if moves.bytes is not None:
        carried = np.zeros(len(order), dtype=np.int64)
        carried[order.number[:count]] = moves.bytes
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
        bytes=carried,
    )


def _check_length(plan: Plan) -> None:
    """Refuse a plan that might run past what 64 bits count in femtoseconds."""
    resources = plan.resources
    after = (resources.latency.astype(np.float64) + resources.gap)[plan.resource]
    if plan.hold.sum(dtype=np.float64) + after.sum(dtype=np.float64) < LONGEST:
        return
    held = plan.hold + resources.gap[plan.resource].astype(np.float64)
    busy = np.bincount(plan.resource, weights=held, minlength=len(resources))
    if busy.max() > LONGEST or _longest_chain(plan) > LONGEST:
        raise PlanError(PLAN_TOO_LONG)


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
