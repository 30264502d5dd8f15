"""What comes of a parallel plan, as a row of a sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulator.scenario.flat import flat
from simulator.scenario.memory_tables import memory_object
from simulator.scenario.plan_answer import answer_plan
from simulator.scenario.plan_run import PlanResult
from simulator.scenario.serve_tables import serve_object
from simulator.scenario.step_json import step_object
from simulator.scenario.step_run import StepResult

if TYPE_CHECKING:
    from simulator.scenario.plan_models import PlanScenario
    from simulator.scenario.serve_run import ServeResult


def plan_row(scenario: PlanScenario) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What `collsim llm serve`, `step` or `memory` says, as a row, and what a person should know."""
    result = answer_plan(scenario)
    if isinstance(result, StepResult):
        return flat(step_object(result)), result.warnings
    return flat(memory_object(result)) if isinstance(result, PlanResult) else _served(result), ()


def _served(result: ServeResult) -> dict[str, Any]:
    """What is served, and how fast: `batch.global` requests, or the largest batch where they are not told."""
    served = serve_object(result)
    (plan,) = served.pop("plans")
    points = {point["requests"]: point for point in plan.pop("points")}
    point = points.get(result.scenario.batch.total) or points.get(plan["largest_batch"]) or {}
    return flat({**served, **plan, **point})
