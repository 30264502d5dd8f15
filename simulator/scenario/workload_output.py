"""A workload's run as files: a row for each of its tasks, and what its picture and its trace show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.llm.step.graph import COMPUTE
from simulator.llm.workload.events import SEND
from simulator.llm.workload.report import whose
from simulator.scenario.rows import Kind, Rows
from topologies.clock import exact_seconds

if TYPE_CHECKING:
    from plots.steps import Bars
    from simulator.llm.step.graph import Task
    from simulator.scenario.workload_result import WorkloadResult

WORKLOAD_TASK: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        "task": int,
        "rank": int,
        "stream": str,
        "phase": str,
        "name": str,
        "collective": str,
        "group": str,
        "peer": int,
        "size": int,
        "memoised": int,
        "begin": float,
        "end": float,
    }
)
"""What is said of a task."""


def workload_rows(result: WorkloadResult) -> Rows:
    """A row a task; times in s, exact to the femtosecond."""
    return Rows(WORKLOAD_TASK, partial(_tasks, result))


def _tasks(result: WorkloadResult) -> Iterator[tuple[Any, ...]]:
    report = result.report
    step = report.step
    times = zip(step.begin.tolist(), step.end.tolist(), strict=True)
    for number, (task, (begin, end)) in enumerate(zip(step.graph.tasks, times, strict=True)):
        of_call: tuple[Any, ...] = ("",) * 5
        if task.way is not None:
            peer = "" if task.way.peer is None else task.way.peer
            of_call = (task.way.kind, task.way.group.name, peer, task.size, int(task.way in step.memoised))
        rank = "" if report.alike else task.stream.stage
        about = (rank, task.stream.name, task.phase, task.name)
        yield (number, *about, *of_call, exact_seconds(begin), exact_seconds(end))


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
