"""Pictures of a parallel plan, the memory of its stages and a step, and of a workload."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simulator.llm.memory import PARTS
from simulator.scenario.memory_tables import degrees
from simulator.scenario.step_trace import streams_in_order
from simulator.scenario.workload_output import workload_bars

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from plots.steps import Bars
    from simulator.scenario.plan_run import PlanResult
    from simulator.scenario.step_run import StepResult
    from simulator.scenario.workload_result import WorkloadResult


def memory_picture(result: PlanResult) -> Figure:
    """What a rank of every stage holds, beside what it can."""
    from plots.memory import memory_figure

    found = result.memory
    held = {part: np.array([float(stage.parts[part]) for stage in found.stages]) for part in PARTS}
    names = ["every rank"] if len(found.stages) == 1 else [f"stage {stage.stage}" for stage in found.stages]
    capacity, ranks = found.plan.capacity, found.parallel
    return memory_figure(
        names,
        {part: sizes for part, sizes in held.items() if sizes.any()},
        None if capacity is None else float(capacity),
        title=result.scenario.name,
        subtitle=f"{found.model.name}, {found.plan.phase}; {ranks.ranks:,} ranks: {degrees(ranks)}",
    )


def step_picture(result: StepResult | WorkloadResult) -> Figure:
    """What every stage, or rank of a workload, computes and sends."""
    from plots.steps import step_figure
    from simulator.scenario.workload_result import WorkloadResult

    bars = workload_bars(result)[0] if isinstance(result, WorkloadResult) else step_bars(result)
    return step_figure(bars, title=result.scenario.name)


def step_bars(result: StepResult) -> Bars:
    """What the picture of a step draws: a lane for each stream of each stage."""
    from plots.steps import Bars

    step = result.report.step
    streams = streams_in_order(step)
    lane = {stream: number for number, stream in enumerate(streams)}
    tasks = step.graph.tasks
    return Bars(
        lane=[lane[task.stream] for task in tasks],
        begin=step.begin,
        end=step.end,
        what=[task.phase if task.way is None else task.stream.name for task in tasks],
        calls=[task.way is not None for task in tasks],
        number=[task.microbatch for task in tasks],
        names=[stream.name for stream in streams],
        group=[stream.stage for stream in streams],
    )
