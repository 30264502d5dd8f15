"""Plans under `fair_share`: the hops over links become flows that share them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from simulator.engine.errors import PLAN_TOO_LONG, PlanError
from simulator.engine.machine import femtoseconds_of
from simulator.engine.plan import REDUCER, Flows, carried_bytes
from topologies.clock import LONGEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.schedule import Schedule
    from simulator.engine.machine import Machine
    from simulator.engine.plan import Plan


def with_flows(plan: Plan, schedule: Schedule, machine: Machine) -> Plan:
    """The plan with every link shared, and every reducer that reduces what streams in.

    A transfer takes the latencies and overheads of all its links first; then its bytes flow.

    Raises
    ------
    PlanError
        If a transfer's latencies and overheads alone are longer than 2.5 hours.
    """
    capacity = _capacity(plan, machine)
    shared = capacity[plan.resource] > 0
    latency = np.where(capacity > 0, 0, plan.resources.latency)
    return replace(
        plan,
        hold=np.where(shared, 0, plan.hold),
        head=np.zeros(plan.hops, dtype=bool),
        resources=replace(plan.resources, latency=latency),
        flows=Flows(carried_bytes(plan, schedule), _delays(plan, machine), capacity),
    )


def _capacity(plan: Plan, machine: Machine) -> NDArray[np.float64]:
    """Bytes/s of each resource that is shared, else 0."""
    capacity = np.zeros(len(plan.resources))
    capacity[: len(machine.topology.links)] = machine.topology.links.bandwidth
    if machine.reduction is not None and machine.reduction.mode == "streamed":
        ranks = machine.topology.ranks
        capacity[machine.number(REDUCER, np.arange(ranks))] = machine.reduction.rates(ranks)
    return capacity


def _delays(plan: Plan, machine: Machine) -> NDArray[np.int64]:
    """Fs of the latencies and overheads on the way of each operation."""
    links = machine.topology.links
    fixed = np.zeros((2, len(plan.resources)), dtype=np.int64)
    fixed[:, : len(links)] = plan.resources.latency[: len(links)], femtoseconds_of(links.overhead)
    operation = plan.operation()
    about = np.bincount(operation, fixed.sum(axis=0, dtype=np.float64)[plan.resource], len(plan))
    if about.max(initial=0) > LONGEST:
        raise PlanError(PLAN_TOO_LONG)
    before = np.zeros(plan.hops + 1, dtype=np.int64)
    # it may wrap around; the differences are right
    np.cumsum(fixed.sum(axis=0)[plan.resource], out=before[1:])
    return np.asarray(before[plan.hop_offset[1:]] - before[plan.hop_offset[:-1]])
