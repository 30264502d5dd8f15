"""The engines by name, and the way from a schedule to its timeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from simulator.engine.errors import PlanError
from simulator.engine.lower import lower

if TYPE_CHECKING:
    from algorithms.schedule import Schedule
    from simulator.engine.network import Network, Reduction
    from simulator.engine.plan import Plan
    from simulator.engine.simpy_engine import Progress
    from simulator.engine.timeline import Timeline
    from topologies.topology import Topology

ENGINES = ("auto", "simpy")


def run_plan(plan: Plan, engine: str = "auto", progress: Progress | None = None) -> Timeline:
    """Run a plan.

    Parameters
    ----------
    plan : Plan
    engine : {'auto', 'simpy'}
        `simpy` is the reference; `auto` picks the fastest that gives the same bits.
    progress : callable, optional
        Called now and then with (hops granted, hops in all).

    Raises
    ------
    PlanError
        If there is no such engine, or the clock runs past 2.5 hours.
    """
    from simulator.engine.simpy_engine import run_simpy

    if engine not in ENGINES:
        raise PlanError(f'there is no engine "{engine}"', ("engine",))
    return run_simpy(plan, progress)


def simulate(
    schedule: Schedule,
    topology: Topology,
    network: Network | None = None,
    reduction: Reduction | None = None,
    delay: Mapping[int, float] | None = None,
    engine: str = "auto",
) -> Timeline:
    """Timeline of a schedule on a topology: `lower`, then `run_plan`.

    Parameters
    ----------
    schedule, topology, network, reduction, delay
        As `lower`.
    engine : {'auto', 'simpy'}

    Examples
    --------
    >>> from algorithms import build
    >>> from topologies import ring
    >>> eight = ring(8, bandwidth=64e9, latency=1e-6)
    >>> simulate(build("ring", "allgather", 8, 2**30), eight).seconds
    0.014687064
    """
    return run_plan(lower(schedule, topology, network, reduction, delay), engine)
