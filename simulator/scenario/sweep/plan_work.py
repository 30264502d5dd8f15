"""A parallel plan as a point of a sweep: a step where it can be simulated, what it serves, or its memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulator.scenario.flat import flat

if TYPE_CHECKING:
    from simulator.scenario.plan_models import PlanScenario


def plan_row(scenario: PlanScenario) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What `collsim llm serve` says of a plan with `serve`, or `step` of one with topology and hardware.

    Of others it is what `memory` says. As a row, and what a person should know.
    """
    if scenario.serve is not None:
        return _served(scenario), ()
    if scenario.topology is not None and scenario.hardware is not None:
        from simulator.scenario.step_json import step_object
        from simulator.scenario.step_run import work_out_step

        result = work_out_step(scenario)
        return flat(step_object(result)), result.warnings
    from simulator.scenario.memory_tables import memory_object
    from simulator.scenario.plan_run import work_out

    return flat(memory_object(work_out(scenario))), ()


def _served(scenario: PlanScenario) -> dict[str, Any]:
    """What is served, and how fast: `batch.global` requests, or the largest batch where they are not told."""
    from simulator.scenario.serve_run import work_out_serve
    from simulator.scenario.serve_tables import serve_object

    served = serve_object(work_out_serve(scenario))
    (plan,) = served.pop("plans")
    points = {point["requests"]: point for point in plan.pop("points")}
    point = points.get(scenario.batch.total) or points.get(plan["largest_batch"]) or {}
    return flat({**served, **plan, **point})
