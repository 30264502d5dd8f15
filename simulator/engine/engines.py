"""The engines by name, and the way from a schedule to its timeline."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from simulator.engine.errors import PlanError
from simulator.engine.lower import lower
from topologies.loops import numba_is_here

if TYPE_CHECKING:
    from algorithms.schedule import Schedule
    from simulator.engine.network import Network, Reduction
    from simulator.engine.plan import Plan
    from simulator.engine.timeline import Timeline
    from topologies.topology import Topology

ENGINES: Final = ("auto", "simpy", "compiled")

WORTH_COMPILING: Final = 20_000
"""Hops from which on the compiled engine saves more than it takes to load (about half a second)."""

SHARED_HOP: Final = 4
"""How many hops one that is shared counts for: it is looked at again at every change."""


def run_plan(
    plan: Plan, engine: str = "auto", progress: Callable[[int, int], None] | None = None
) -> Timeline:
    """Run a plan.

    Parameters
    ----------
    plan : Plan
    engine : {'auto', 'simpy', 'compiled'}
        `simpy` is the reference, `compiled` gives the same bits faster, `auto` picks by size. Without
        numba it is always `simpy`; the timeline says which it was.
    progress : callable, optional
        Called now and then with (hops granted, hops in all).

    Raises
    ------
    PlanError
        If there is no such engine, the clock runs past 2.5 hours, operations wait for each other's
        buffers, or the plan is too large for SimPy.
    """
    if engine not in ENGINES:
        raise PlanError(f'there is no engine "{engine}"', ("engine",))
    if wants_compiled(plan, engine) and numba_is_here():
        from simulator.engine.compiled import run_compiled

        return run_compiled(plan, progress)
    if plan.flows is not None:
        from simulator.engine.simpy_sharing import run_simpy_sharing

        return run_simpy_sharing(plan, plan.flows, progress)
    if plan.buffers is not None:
        from simulator.engine.simpy_buffers import run_simpy_buffers

        return run_simpy_buffers(plan, plan.buffers, progress)
    from simulator.engine.simpy_engine import run_simpy

    return run_simpy(plan, progress)


def wants_compiled(plan: Plan, engine: str) -> bool:
    """Whether a plan is for the compiled engine, where there is one."""
    work = plan.hops if plan.flows is None else SHARED_HOP * plan.hops
    return engine == "compiled" or (engine == "auto" and work >= WORTH_COMPILING)


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
    engine : {'auto', 'simpy', 'compiled'}
        As `run_plan`.

    Examples
    --------
    >>> from algorithms import build
    >>> from topologies import ring
    >>> eight = ring(8, bandwidth=64e9, latency=1e-6)
    >>> simulate(build("ring", "allgather", 8, 2**30), eight).seconds
    0.014687064
    """
    return run_plan(lower(schedule, topology, network, reduction, delay), engine)
