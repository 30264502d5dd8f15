"""The engines by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from simulator.engine.errors import PlanError

if TYPE_CHECKING:
    from simulator.engine.plan import Plan
    from simulator.engine.timeline import Timeline

ENGINES = ("auto", "simpy")
Progress = Callable[[int, int], None]


def simulate(plan: Plan, engine: str = "auto", progress: Progress | None = None) -> Timeline:
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
