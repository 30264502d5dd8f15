"""The compiled engine of plans with flows: the same as SimPy's, the same bits, by numba."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.engine.compiled_run import compiled_timeline, run_to_end
from simulator.engine.sharing import flow_hops

if TYPE_CHECKING:
    from simulator.engine.plan import Flows, Plan
    from simulator.engine.timeline import Timeline

REPORT_EVERY: Final = 1 << 14

# an operation walks hops up to `end`, the first ones as a flow: of it, `left` bytes were to be sent at
# the instant `since`, and go at `rate`; `before` and `behind` are its neighbours in a queue
OPERATION: Final = np.dtype(
    [(name, np.int64) for name in ("end", "delay", "dependents", "dependents_end", "missing")]
    + [(name, np.int64) for name in ("position", "came", "before", "behind", "since")]
    + [(name, np.float64) for name in ("left", "rate")]
)
# operations from `first` to `last` wait; `crossing` is the first of a list of hops that flows have
# here, `crossings` their number, of which `rising` have no rate yet in this filling
RESOURCE: Final = np.dtype(
    [(name, np.int64) for name in ("latency", "gap", "after", "first", "last", "free_at")]
    + [(name, np.int64) for name in ("crossing", "crossings", "marked", "rising", "frozen")]
    + [(name, np.float64) for name in ("capacity", "used", "share")]
)
# what a filling looks at again and again, kept small: the hops and the new rate of an operation's
# flow, and of a hop its neighbours in the list of its resource
FLOW: Final = np.dtype([(name, np.int64) for name in ("first", "end", "marked")] + [("target", np.float64)])
HOP: Final = np.dtype([(name, np.int32) for name in ("resource", "operation", "before", "behind")])
TIMES: Final = np.dtype([(name, np.int64) for name in ("hold", "arrival", "grant", "release")])


def run_compiled_sharing(
    plan: Plan, flows: Flows, progress: Callable[[int, int], None] | None = None
) -> Timeline:
    """Run a plan with flows in compiled loops.

    Parameters
    ----------
    plan : Plan
    flows : Flows
        The plan's.
    progress : callable, optional
        Called now and then with (hops granted, hops in all).

    Raises
    ------
    PlanError
        If the clock runs past 2.5 hours.
    """
    from simulator.engine.sharing_kernel import flow_loop

    run = _at_rest(plan, flows)
    run_to_end(partial(flow_loop, run), run.scalars, plan.hops, REPORT_EVERY, progress)
    return compiled_timeline(plan, *(run.times[name].copy() for name in ("arrival", "grant", "release")))


def _at_rest(plan: Plan, flows: Flows) -> Any:
    """The plan before its first instant, as the loops take it."""
    from simulator.engine.kernel import NONE, NOW, SCALARS, STAMP, dependents_of
    from simulator.engine.sharing_kernel import NEVER, Motion

    offset, dependents = dependents_of(plan.dependency_offset, plan.dependency)
    operations, resources = len(plan), len(plan.resources)
    leaves = 1 << max(0, operations + resources - 1).bit_length()
    scalars = np.zeros(SCALARS, dtype=np.int64)
    scalars[NOW], scalars[STAMP] = NONE, 1
    return Motion(
        operations=_operation_rows(plan, flows, offset),
        resources=_resource_rows(plan, flows),
        flows=_flow_rows(plan),
        hops=_hop_rows(plan),
        times=_time_rows(plan),
        dependents=dependents,
        due=np.full(2 * leaves, NEVER, dtype=np.int64),
        started=np.empty(operations, dtype=np.int64),
        ready=np.empty(resources, dtype=np.int64),
        moved=np.empty(operations, dtype=np.int64),
        found=np.empty(resources, dtype=np.int64),
        touched=np.empty(resources, dtype=np.int64),
        scalars=scalars,
    )


def _operation_rows(plan: Plan, flows: Flows, dependents: Any) -> Any:
    rows = np.zeros(len(plan), dtype=OPERATION).view(np.recarray)
    rows.end = plan.hop_offset[1:]
    rows.delay, rows.left = flows.delay, flows.bytes
    rows.dependents, rows.dependents_end = dependents[:-1], dependents[1:]
    rows.missing = np.diff(plan.dependency_offset)
    return rows


def _resource_rows(plan: Plan, flows: Flows) -> Any:
    rows = np.zeros(len(plan.resources), dtype=RESOURCE).view(np.recarray)
    rows.latency, rows.gap = plan.resources.latency, plan.resources.gap
    rows.after = np.maximum(rows.latency, rows.gap)
    rows.first = rows.last = rows.crossing = -1
    rows.capacity = flows.capacity
    return rows


def _flow_rows(plan: Plan) -> Any:
    rows = np.zeros(len(plan), dtype=FLOW).view(np.recarray)
    rows.first = plan.hop_offset[:-1]
    rows.end = rows.first + flow_hops(plan)
    return rows


def _hop_rows(plan: Plan) -> Any:
    rows = np.zeros(plan.hops, dtype=HOP).view(np.recarray)
    rows.resource = plan.resource
    rows.operation = plan.operation()
    return rows


def _time_rows(plan: Plan) -> Any:
    rows = np.zeros(plan.hops, dtype=TIMES).view(np.recarray)
    rows.hold = plan.hold
    return rows
