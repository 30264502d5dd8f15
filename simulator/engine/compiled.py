"""The compiled engine: the same plans as SimPy's, the same bits, by numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np

from simulator.engine.compiled_buffers import run_buffers
from simulator.engine.compiled_run import compiled_timeline, run_to_end
from simulator.engine.compiled_sharing import run_compiled_sharing
from simulator.engine.errors import TOO_LATE, PlanError
from topologies.clock import LONGEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.engine.plan import Plan
    from simulator.engine.timeline import Timeline

REPORT_EVERY: Final = 1 << 20

REMEMBERED: Final = 1 << 10
"""Instants to come that are remembered, so that what is due then is put together."""


def run_compiled(plan: Plan, progress: Callable[[int, int], None] | None = None) -> Timeline:
    """Run a plan in compiled loops: one pass where no two operations meet, else the event loop.

    Parameters
    ----------
    plan : Plan
    progress : callable, optional
        Called now and then with (hops granted, hops in all).

    Raises
    ------
    PlanError
        If the clock runs past 2.5 hours, or operations wait for each other's buffers.
    """
    if plan.flows is not None:
        return run_compiled_sharing(plan, plan.flows, progress)
    if plan.buffers is not None:
        return run_buffers(plan, plan.buffers, progress)
    return run_in_order(plan) or run_events(plan, progress)


def run_in_order(plan: Plan) -> Timeline | None:
    """Run a plan in one pass, if no two of its operations meet; None where some do.

    Raises
    ------
    PlanError
        If the clock runs past 2.5 hours.
    """
    from simulator.engine.kernel import MEET, OVER, pass_in_order

    times = _no_times(plan)
    verdict = pass_in_order(
        plan.hop_offset,
        plan.resource,
        plan.hold,
        plan.head,
        plan.resources.latency,
        plan.resources.gap,
        plan.dependency_offset,
        plan.dependency,
        *times,
        np.empty(len(plan), dtype=np.int64),
        LONGEST,
    )
    if verdict == OVER:
        raise PlanError(TOO_LATE)
    return None if verdict == MEET else compiled_timeline(plan, *times)


def run_events(plan: Plan, progress: Callable[[int, int], None] | None = None) -> Timeline:
    """Run a plan event by event.

    Parameters
    ----------
    plan : Plan
    progress : callable, optional
        Called now and then with (hops granted, hops in all).

    Raises
    ------
    PlanError
        If the clock runs past 2.5 hours.
    """
    from simulator.engine.kernel import NONE, NOW, SCALARS, dependents_of, event_loop

    times = _no_times(plan)
    operations, resources = len(plan), len(plan.resources)
    # of a resource: the next that leaves it, and a look at it
    events = 2 * resources
    scalars = np.zeros(SCALARS, dtype=np.int64)
    scalars[NOW] = NONE
    state = (
        np.diff(plan.dependency_offset).astype(np.int32),
        np.zeros(operations, dtype=np.int64),
        np.zeros(operations, dtype=np.int64),
        np.empty(events, dtype=np.int64),
        np.empty(events, dtype=np.int64),
        np.full(REMEMBERED, NONE, dtype=np.int64),
        np.full(REMEMBERED, NONE, dtype=np.int64),
        np.empty(events, dtype=np.int64),
        np.full(resources, NONE, dtype=np.int64),
        np.full(resources, NONE, dtype=np.int64),
        np.empty(operations, dtype=np.int32),
        np.empty(operations, dtype=np.int32),
        np.full(resources, NONE, dtype=np.int64),
        np.full(resources, NONE, dtype=np.int64),
        np.zeros(resources, dtype=np.int64),
        np.empty(operations, dtype=np.int64),
        np.empty(resources, dtype=np.int64),
        scalars,
    )
    columns = (
        *(plan.hop_offset, plan.resource, plan.hold, plan.head, plan.resources.latency, plan.resources.gap),
        *dependents_of(plan.dependency_offset, plan.dependency),
        *times,
    )
    loop: Callable[..., bool] = event_loop

    def advance(limit: int) -> bool:
        return loop(*columns, *state, limit, LONGEST)

    run_to_end(advance, scalars, plan.hops, REPORT_EVERY, progress)
    return compiled_timeline(plan, *times)


def _no_times(plan: Plan) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Arrival, grant and release of every hop, to be filled."""
    arrival, grant, release = (np.zeros(plan.hops, dtype=np.int64) for _ in range(3))
    return arrival, grant, release
