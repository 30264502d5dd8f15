"""Where the time of a step goes: computing, communication that nothing hides, and waiting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simulator.llm.step.graph import COMPUTE
from simulator.llm.step.report_setting import GROUPS, groups_of
from simulator.llm.step.steals import merged

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.llm.step.graph import Task
    from simulator.llm.step.simulate import Step


@dataclass(frozen=True, slots=True)
class Bubble:
    """Stages that compute nothing, until the end of the last pass; updates are left out.

    Attributes
    ----------
    stages : int
    span : int
        fs from the beginning to the end of the last pass of any stage.
    busy : int
        fs for which stages compute passes, summed.
    """

    stages: int
    span: int
    busy: int

    @property
    def idle(self) -> int:
        """Fs for which stages compute no pass, summed."""
        return self.stages * self.span - self.busy

    @property
    def over_compute(self) -> float:
        """Idle over ideal compute time: (p - 1) / m under GPipe and 1F1B (Narayanan et al. 2021, 2.2)."""
        return self.idle / self.busy if self.busy else 0.0

    @property
    def over_total(self) -> float:
        """Idle over the whole time: (p - 1) / (m + p - 1) there (Qi et al. 2023)."""
        return self.idle / (self.stages * self.span) if self.span else 0.0


@dataclass(frozen=True, slots=True)
class StageTime:
    """The time of a step at one stage.

    Attributes
    ----------
    stage : int
    passes, update : int
        fs for which it computes passes, and updates its weights.
    exposed : mapping of str to int
        fs for which a call of each group that it takes part in is under way while it computes nothing.
    communication : int
        The same of any call: less than their sum where several are under way at once.
    idle : int
        fs for which it neither computes nor takes part in a call.
    """

    stage: int
    passes: int
    update: int
    exposed: Mapping[str, int]
    communication: int
    idle: int

    @property
    def time(self) -> int:
        """Fs of the whole step."""
        return self.passes + self.update + self.communication + self.idle


def bubble(step: Step) -> Bubble:
    """Find for how long the stages of a step compute no pass."""
    span, busy = 0, 0
    for number, task in enumerate(step.graph.tasks):
        if task.stream.name == COMPUTE and task.phase != "update":
            busy += int(step.end[number] - step.begin[number])
            span = max(span, int(step.end[number]))
    return Bubble(len(_stages(step)), span, busy)


def stage_times(step: Step) -> tuple[StageTime, ...]:
    """Find where the time of each stage goes."""
    stages, groups = _stages(step), groups_of(step.graph)
    group_of = {stream: group for group, names in GROUPS.items() for stream in names}
    computing: dict[int, list[int]] = {stage: [] for stage in stages}
    calls: dict[int, dict[str, list[int]]] = {stage: {group: [] for group in groups} for stage in stages}
    for number, task in enumerate(step.graph.tasks):
        if task.stream.name == COMPUTE:
            computing[task.stream.stage].append(number)
            continue
        for stage in _taking_part(task, len(stages)):
            calls[stage][group_of[task.stream.name]].append(number)
    return tuple(_stage_time(step, stage, computing[stage], calls[stage]) for stage in stages)


def _stages(step: Step) -> Sequence[int]:
    return range(1 + max(task.stream.stage for task in step.graph.tasks))


def _taking_part(task: Task, stages: int) -> Iterator[int]:
    """Stages whose ranks send or receive in a call."""
    stage, way = task.stream.stage, task.way
    yield stage
    if way is not None and way.peer is not None:
        yield way.peer
    elif way is not None and way.group.part == "mirror":
        yield stages - 1 - stage


def _stage_time(
    step: Step, stage: int, computing: Sequence[int], calls: Mapping[str, Sequence[int]]
) -> StageTime:
    work = Computing.of(step, computing)
    exposed = {group: work.exposed(*under_way(step, numbers)) for group, numbers in calls.items()}
    everything = [number for numbers in calls.values() for number in numbers]
    communication = work.exposed(*under_way(step, everything))
    busy = int((work.end - work.begin).sum())
    update = sum(
        int(step.end[number] - step.begin[number])
        for number in computing
        if step.graph.tasks[number].phase == "update"
    )
    return StageTime(stage, busy - update, update, exposed, communication, step.time - busy - communication)


@dataclass(frozen=True, slots=True, eq=False)
class Computing:
    """When a stage computes: spans that do not overlap, in order, and how much lies before each."""

    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    before: NDArray[np.int64]

    @classmethod
    def of(cls, step: Step, numbers: Sequence[int]) -> Computing:
        """Of the tasks that compute there."""
        """Of the tasks that compute there."""
        chosen = np.array(numbers, dtype=np.int64)
        begin, end = step.begin[chosen], step.end[chosen]
        order = np.lexsort((end, begin))
        begin, end = begin[order], end[order]
        return cls(begin, end, np.concatenate([[0], np.cumsum(end - begin)]))

    def until(self, moments: NDArray[np.int64]) -> NDArray[np.int64]:
        """Fs of computing before each of some moments."""
        place = np.searchsorted(self.begin, moments, side="right")
        past = np.zeros(len(moments), dtype=np.int64)
        inside = place > 0
        past[inside] = np.maximum(self.end[place[inside] - 1] - moments[inside], 0)
        return np.asarray(self.before[place] - past)

    def exposed(self, begin: NDArray[np.int64], end: NDArray[np.int64]) -> int:
        """Fs of spans that do not overlap, less those of computing in them."""
        return int((end - begin - self.until(end) + self.until(begin)).sum())


def under_way(step: Step, numbers: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """When any of some tasks is under way: spans that do not overlap."""
    chosen = np.array(numbers, dtype=np.int64)
    return merged(step.begin[chosen], step.end[chosen])
