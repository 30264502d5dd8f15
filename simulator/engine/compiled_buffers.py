"""The compiled engine of plans whose links have finite buffers: the same bits as SimPy's, by numba."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.engine.buffers import check_nobody_waits
from simulator.engine.compiled_run import compiled_timeline, run_to_end

if TYPE_CHECKING:
    from simulator.engine.plan import Buffers, Plan
    from simulator.engine.timeline import Timeline

REPORT_EVERY: Final = 1 << 18

# an operation walks hops from `begin` up to `end`; it is at the hop `position`, where it `came` at an
# instant, between its neighbours `before` and `behind` in a queue
OPERATION: Final = np.dtype(
    [(name, np.int64) for name in ("begin", "end", "dependents", "dependents_end", "missing")]
    + [(name, np.int64) for name in ("position", "came", "before", "behind")]
)
# operations from `first` to `last` wait; `asked` is 1 while it is to grant in this round
RESOURCE: Final = np.dtype(
    [(name, np.int64) for name in ("latency", "gap", "room", "first", "last", "free_at", "asked")]
)
HOP: Final = np.dtype(
    [("resource", np.int32), ("reach", np.int32), ("head", np.int64)]
    + [(name, np.int64) for name in ("hold", "overhead", "need", "drain", "arrival", "grant", "release")]
)


def run_buffers(plan: Plan, buffers: Buffers, progress: Callable[[int, int], None] | None = None) -> Timeline:
    """Run a plan with finite buffers in compiled loops.

    Parameters
    ----------
    plan : Plan
    buffers : Buffers
        The plan's.
    progress : callable, optional
        Called now and then with (hops granted, hops in all).

    Raises
    ------
    PlanError
        If the clock runs past 2.5 hours, or operations wait for each other's buffers.
    """
    from simulator.engine.buffer_kernel import buffer_loop

    run = _at_rest(plan, buffers)
    run_to_end(partial(buffer_loop, run), run.scalars, plan.hops, REPORT_EVERY, progress)
    times = (run.hops[name].copy() for name in ("arrival", "grant", "release"))
    timeline = compiled_timeline(plan, *times)
    check_nobody_waits(plan, buffers, timeline.arrival, timeline.grant)
    return timeline


def _at_rest(plan: Plan, buffers: Buffers) -> Any:
    """The plan before its first instant, as the loops take it."""
    from simulator.engine.buffer_kernel import Crowd
    from simulator.engine.kernel import NONE, NOW, SCALARS, dependents_of

    offset, dependents = dependents_of(plan.dependency_offset, plan.dependency)
    operations, resources = len(plan), len(plan.resources)
    scalars = np.zeros(SCALARS, dtype=np.int64)
    scalars[NOW] = NONE
    # an operation, a resource and the room of a hop each are to come once at most
    events = operations + resources + plan.hops
    return Crowd(
        operations=_operation_rows(plan, offset),
        resources=_resource_rows(plan, buffers),
        hops=_hop_rows(plan, buffers),
        dependents=dependents,
        times=np.empty(events, dtype=np.int64),
        codes=np.empty(events, dtype=np.int64),
        started=np.empty(operations, dtype=np.int64),
        ready=np.empty(resources, dtype=np.int64),
        scalars=scalars,
    )


def _operation_rows(plan: Plan, dependents: Any) -> Any:
    rows = np.zeros(len(plan), dtype=OPERATION).view(np.recarray)
    rows.begin, rows.end = plan.hop_offset[:-1], plan.hop_offset[1:]
    rows.dependents, rows.dependents_end = dependents[:-1], dependents[1:]
    rows.missing = np.diff(plan.dependency_offset)
    return rows


def _resource_rows(plan: Plan, buffers: Buffers) -> Any:
    rows = np.zeros(len(plan.resources), dtype=RESOURCE).view(np.recarray)
    rows.latency, rows.gap = plan.resources.latency, plan.resources.gap
    rows.room = buffers.room
    rows.first = rows.last = -1
    return rows


def _hop_rows(plan: Plan, buffers: Buffers) -> Any:
    rows = np.zeros(plan.hops, dtype=HOP).view(np.recarray)
    rows.resource, rows.hold, rows.head = plan.resource, plan.hold, plan.head
    rows.reach, rows.need = buffers.reach, buffers.need
    rows.overhead, rows.drain = buffers.overhead, buffers.drain
    rows.arrival = rows.grant = rows.release = -1
    return rows
