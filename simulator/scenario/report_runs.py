"""Results as the page of a report shows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from plots.report.moves import Part
from plots.report.place import place_chart
from plots.report.spans import timeline_chart
from plots.report.values import Run
from simulator.scenario.report_facts import facts_of
from simulator.scenario.report_tables import (
    busiest_table,
    path_stacks,
    plain_table,
    rank_stacks,
    several_tables,
    stage_stacks,
)
from simulator.scenario.run import Result

if TYPE_CHECKING:
    from plots.report.values import Table
    from simulator.scenario.explain import Explanation
    from simulator.scenario.step_run import StepResult
    from simulator.scenario.together_result import TogetherResult
    from simulator.scenario.workload_result import WorkloadResult
    from topologies.topology import Topology


def run_of_result(
    result: Result | TogetherResult, explanation: Explanation, notes: Sequence[str] = ()
) -> Run:
    """A result of one collective, or of several.

    Parameters
    ----------
    result : Result or TogetherResult
    explanation : Explanation
        Of the result.
    notes : sequence of str
        To say beside its warnings.
    """
    one, timeline = isinstance(result, Result), result.timeline
    parts = [_part(result)] if isinstance(result, Result) else _parts(result)
    cut = None if explanation.bounds is None else explanation.bounds.cut
    tables: list[Table] = [] if isinstance(result, Result) else list(several_tables(result))
    if len(explanation.hottest):
        tables.append(busiest_table(explanation))
    return Run(
        name=result.scenario.name,
        sentence=explanation.sentence,
        time=result.duration,
        facts=facts_of(result),
        warnings=(*notes, *result.warnings),
        stacks=(path_stacks(explanation),),
        tables=tables,
        timeline=timeline_chart(timeline, parts, result.topology, explanation.path),
        place=place_chart(
            _drawn(result), explanation.use, explanation.waits, cut if one else None, timeline.time
        ),
    )


def _part(result: Result) -> Part:
    return Part(result.scenario.name, result.schedule, result.placement, whole=result.symmetry is None)


def _parts(result: TogetherResult) -> list[Part]:
    jobs = zip(result.names, result.together.jobs, strict=True)
    return [Part(name, job.schedule, job.place) for name, job in jobs]


def _drawn(result: Result | TogetherResult) -> Topology:
    """The topology; of rank 0, which stands for all, with its neighbours around it."""
    topology = result.topology
    if not isinstance(result, Result) or result.symmetry is None or topology.ranks == 1:
        return topology
    return replace(topology, kind="star")


def run_of_step(result: StepResult, notes: Sequence[str] = ()) -> Run:
    """A training step of a language model.

    Parameters
    ----------
    result : StepResult
    notes : sequence of str
        To say beside its warnings.
    """
    from plots.report.tasks import tasks_chart
    from simulator.llm.step.report import bottleneck
    from simulator.llm.step.report_links import step_link_use
    from simulator.scenario.plan_pictures import step_bars
    from simulator.scenario.step_tables import step_sheets

    report = result.report
    tasks, fabric = report.step.graph.tasks, report.setting.fabric
    return Run(
        name=result.scenario.name,
        sentence=f"Most of the step goes into {bottleneck(report.stages)}.",
        time=report.time,
        facts=facts_of(result),
        warnings=(*notes, *result.warnings),
        stacks=(stage_stacks(report),),
        tables=[plain_table(sheet) for sheet in step_sheets(report)],
        timeline=tasks_chart(step_bars(result), [task.name for task in tasks], [task.size for task in tasks]),
        place=place_chart(fabric.topology, step_link_use(report.step, fabric), None, None, report.time),
    )


def run_of_workload(result: WorkloadResult, notes: Sequence[str] = ()) -> Run:
    """A workload of files.

    Parameters
    ----------
    result : WorkloadResult
    notes : sequence of str
        To say beside its warnings.
    """
    from plots.report.tasks import tasks_chart
    from simulator.scenario.workload_output import workload_bars
    from simulator.scenario.workload_tables import mostly, workload_sheets

    report = result.report
    bars, tasks = workload_bars(result)
    return Run(
        name=result.scenario.name,
        sentence=f"Most of the ranks' time goes into {mostly(report)}.",
        time=report.time,
        facts=facts_of(result),
        warnings=(*notes, *result.warnings),
        stacks=(rank_stacks(report),),
        tables=[plain_table(sheet) for sheet in workload_sheets(report)],
        timeline=tasks_chart(bars, [task.name for task in tasks], [task.size for task in tasks]),
        place=place_chart(report.fabric.topology, report.use, None, None, report.time),
    )
