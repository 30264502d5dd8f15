"""What comes of a parallel plan that is only handed in: the most that it says enough for."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from simulator.scenario.plan_run import PlanResult, work_out
from simulator.scenario.serve_run import ServeResult, work_out_serve
from simulator.scenario.step_run import StepResult, work_out_step

if TYPE_CHECKING:
    from simulator.scenario.plan_models import PlanScenario
    from simulator.scenario.run import Report

PlanAnswer: TypeAlias = ServeResult | StepResult | PlanResult


def answer_plan(plan: PlanScenario, report: Report | None = None) -> PlanAnswer:
    """What a plan serves where it says so, a step where one can be simulated, else its memory.

    Parameters
    ----------
    plan : PlanScenario
    report : callable, optional
        As of `work_out_step`.

    Raises
    ------
    ScenarioErrors
        If its parts do not fit each other; names the place in the file.
    """
    if plan.serve is not None:
        return work_out_serve(plan)
    if plan.hardware is None or plan.topology is None or plan.memory.phase != "training":
        return work_out(plan)
    return work_out_step(plan, report)
