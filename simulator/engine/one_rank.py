"""The plan of one rank that stands for all: where a schedule and a topology are the same from each.

Links that are images of each other are one resource: what crosses rank 0's link are images of rank 0's
own transfers, which cross other links of that orbit. So a transfer over three links of a ring is three
hops over one resource.

It is exact. An engine begins in a state that every translation leaves as it is, and whatever it decides
keeps it so: of those that wait for a resource it takes the first by (arrival, step, channel, slot,
source), and to any of these but the source a translation makes no difference. To differ in the source
alone, two would have to be images of one operation; but that waits at one hop of its walk at a time, and
its images at the same one, which are at different resources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from algorithms.schedule import REDUCE, unique_inverse
from algorithms.symmetric_costs import ways_of
from algorithms.symmetry import cell_moves
from simulator.engine.dependencies import Waits, waits_on_writers
from simulator.engine.hops import Hops, hold_table, joined
from simulator.engine.links import check_direct
from simulator.engine.lower import planned
from simulator.engine.machine import Machine
from simulator.engine.memory import Memory
from simulator.engine.operations import Operations

if TYPE_CHECKING:
    from algorithms.representative import Representative
    from simulator.engine.network import Network, Reduction
    from simulator.engine.plan import Plan
    from topologies.orbits import SymmetricTopology


def lower_one(
    one: Representative,
    topology: SymmetricTopology,
    network: Network,
    reduction: Reduction | None = None,
    memory: Memory | None = None,
) -> Plan:
    """Plan of rank 0's transfers; its resources are those of `topology.around_rank_0()`.

    Parameters
    ----------
    one : Representative
    topology : SymmetricTopology
        Which the representative's group leaves as it is.
    network : Network
        `store_and_forward` or `cut_through`, every rank in its own place.
    reduction : Reduction, optional
        The same for every rank.
    memory : Memory, optional
        What the run may take; default 80 % of what is free.

    Raises
    ------
    ScheduleError
        If a transfer needs more than one hop and `direct_links_only` forbids it.
    PlanError
        If the plan takes more memory than it may, or could run past 2.5 hours.
    """
    schedule = one.schedule
    machine = Machine(topology.around_rank_0(), network, reduction, memory or Memory())
    reduces = (schedule.mode == REDUCE) & (reduction is not None)
    streamed = reduction is not None and reduction.mode == "streamed"
    sizes = schedule.sizes()[reduces]
    reducing = machine.reducing(reduces, np.zeros(len(sizes), dtype=np.int64), sizes, head=streamed)
    hops = joined([_link_hops(one, topology, machine), reducing])
    moves = Operations(np.arange(len(schedule), dtype=np.int32), hops)
    wait = _dataflow_waits(one) if network.sync == "dataflow" else _step_waits(one)
    return planned(schedule, moves, wait, machine.resources(np.zeros(0, dtype=np.int64)), [])


def _link_hops(one: Representative, topology: SymmetricTopology, machine: Machine) -> Hops:
    """Links that rank 0's transfers cross, each by its orbit."""
    schedule, links = one.schedule, machine.topology.links
    transfer, orbit, length = ways_of(one, topology)
    total = int(length.sum())
    machine.memory.check(len(schedule), total)
    times = length.astype(np.int64)
    message, walked = np.repeat(transfer, times), np.repeat(orbit, times).astype(np.int32)
    count = np.bincount(message, minlength=len(schedule))
    check_direct(schedule, np.arange(len(schedule)), count, machine.network)
    head = np.zeros(total, dtype=bool)
    if machine.network.model == "cut_through":
        head[1:] = message[1:] == message[:-1]
    distinct, which = unique_inverse(schedule.sizes())
    hold = hold_table(links.bandwidth, links.overhead, distinct, walked, which[message])
    return Hops(count, walked, hold, head)


def _step_waits(one: Representative) -> Waits:
    """Every rank takes part in every step, at both ends, so that each transfer waits for the step before."""
    step = one.schedule.step
    starts = np.flatnonzero(np.diff(step, prepend=-1))
    group = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(step))))
    later = np.flatnonzero(group > 0)
    return Waits(np.append(starts, len(step)), 2 * np.arange(len(step)), 2 * later, group[later] - 1)


def _dataflow_waits(one: Representative) -> Waits:
    """What wrote to rank 0 before are images of what rank 0 has written."""
    moves = cell_moves(one)
    return waits_on_writers(moves.row, one.schedule.step[moves.row], moves.source, moves.target)
