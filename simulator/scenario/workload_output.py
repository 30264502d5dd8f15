"""A workload's run as files: a row for each of its tasks, and what its picture and its trace show."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.llm.step.graph import COMPUTE
from simulator.llm.workload.events import SEND
from simulator.llm.workload.report import whose
from simulator.scenario.rows import Kind, Rows
from simulator.scenario.task_rows import task_rows

if TYPE_CHECKING:
    from plots.steps import Bars
    from simulator.llm.step.graph import Task
    from simulator.scenario.workload_result import WorkloadResult

_OWN: Final[Mapping[str, Kind]] = MappingProxyType({"rank": int, "stream": str, "phase": str, "name": str})


def workload_rows(result: WorkloadResult) -> Rows:
    """A row a task; times in s, exact to the femtosecond."""
    report = result.report

    def about(task: Task) -> tuple[Any, ...]:
        rank = "" if report.alike else task.stream.stage
        return (rank, task.stream.name, task.phase, task.name)

    return task_rows(report.step, _OWN, about)


def workload_bars(result: WorkloadResult) -> tuple[Bars, list[Task]]:
    """What the picture of a workload draws, and the task of each bar: one at every rank that takes part."""
    from plots.steps import Bars

    step, alike = result.report.step, result.report.alike
    shown = [
        (rank, _lane(task, rank), number)
        for number, task in enumerate(step.graph.tasks)
        for rank in whose(task, alike=alike)
    ]
    lanes = sorted({(rank, name != COMPUTE, name) for rank, name, _ in shown})
    lane = {(rank, name): number for number, (rank, _, name) in enumerate(lanes)}
    tasks = [step.graph.tasks[number] for *_, number in shown]
    which = np.array([number for *_, number in shown], dtype=np.int64)
    bars = Bars(
        lane=[lane[rank, name] for rank, name, _ in shown],
        begin=step.begin[which],
        end=step.end[which],
        what=[(task.phase or task.stream.name) if task.way is None else task.way.kind for task in tasks],
        calls=[task.way is not None for task in tasks],
        number=[-1] * len(tasks),
        names=[name for *_, name in lanes],
        group=[rank for rank, *_ in lanes],
        whose="all ranks" if alike else "rank",
    )
    return bars, tasks


def _lane(task: Task, rank: int) -> str:
    """Lane of a task at a rank."""
    receives = task.way is not None and task.way.kind == SEND and rank == task.way.peer
    return "receive" if receives else task.stream.name
