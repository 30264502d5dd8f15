"""The compiled engine: the same plans as SimPy's, the same bits, by numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np

from simulator.engine.compiled_buffers import run_buffers
from simulator.engine.compiled_sharing import run_compiled_sharing
from simulator.engine.errors import TOO_LATE, PlanError
from simulator.engine.timeline import Timeline
from topologies.clock import LONGEST

if TYPE_CHECKING:
    from simulator.engine.plan import Plan

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
    from simulator.engine.kernel import pass_in_order

    timeline = _empty(plan)
    times = (timeline.arrival, timeline.grant, timeline.release)
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
    if verdict == 2 or (verdict == 0 and timeline.time > LONGEST):
        raise PlanError(TOO_LATE)
    return timeline if verdict == 0 else None


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
    from simulator.engine.kernel import GRANTED, LATE, NONE, NOW, SCALARS, dependents_of, event_loop

    timeline = _empty(plan)
    operations, resources, hops = len(plan), len(plan.resources), plan.hops
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
        *(timeline.arrival, timeline.grant, timeline.release),
    )
    limit = hops if progress is None else REPORT_EVERY
    advance: Callable[..., bool] = event_loop
    more = True
    while more:
        more = advance(*columns, *state, limit, LONGEST)
        if progress is not None:
            progress(int(scalars[GRANTED]), hops)
    if scalars[LATE] or timeline.time > LONGEST:
        raise PlanError(TOO_LATE)
    return timeline


def _empty(plan: Plan) -> Timeline:
    arrival, grant, release = (np.zeros(plan.hops, dtype=np.int64) for _ in range(3))
    return Timeline(plan, arrival, grant, release, engine="compiled")
