"""What came of a workload: where the time of its ranks goes, what its calls take, what links carry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from algorithms.collective import bus_factor
from simulator.llm.step.graph import COMPUTE
from simulator.llm.step.report_links import hottest_links, level_uses, step_link_use
from simulator.llm.step.report_time import Computing, under_way
from topologies.clock import to_seconds

if TYPE_CHECKING:
    from simulator.engine.analysis import LinkUse
    from simulator.llm.step.fabric import Fabric
    from simulator.llm.step.graph import Task
    from simulator.llm.step.report_links import HotLink, LevelUse
    from simulator.llm.step.simulate import Step


@dataclass(frozen=True, slots=True)
class RankTime:
    """Where the time of a rank goes.

    Attributes
    ----------
    rank : int
    compute : int
        fs for which its stream of compute is busy.
    exposed : int
        fs for which a collective or message that it takes part in is under way while it computes nothing.
    other : int
        fs of neither: it waits, or does what is on other streams.
    """

    rank: int
    compute: int
    exposed: int
    other: int


@dataclass(frozen=True, slots=True)
class CallRow:
    """Collectives of one kind and group, or messages.

    Attributes
    ----------
    kind, group : str
    calls : int
    memoised : int
        Of them, those that no other can meet on a link, which are timed once by themselves.
    bytes : int
        M of all of them.
    time : int
        fs from begin to end, of all of them.
    bus : float or None
        B/s over the bus, as nccl-tests counts it, of all of them; None where there is none.
    """

    kind: str
    group: str
    calls: int
    memoised: int
    bytes: int
    time: int
    bus: float | None


@dataclass(frozen=True, slots=True, eq=False)
class WorkloadReport:
    """What came of a workload.

    Attributes
    ----------
    step : Step
    fabric : Fabric
    alike : bool
        Whether all ranks do the same, so that one stands for all.
    ranks : tuple of RankTime
    calls : tuple of CallRow
    use : LinkUse
    levels : tuple of LevelUse
    hottest : tuple of HotLink
    """

    step: Step
    fabric: Fabric
    alike: bool
    ranks: tuple[RankTime, ...]
    calls: tuple[CallRow, ...]
    use: LinkUse
    levels: tuple[LevelUse, ...]
    hottest: tuple[HotLink, ...]

    @property
    def time(self) -> int:
        """Fs of all of it."""
        return self.step.time


def workload_report(step: Step, fabric: Fabric, *, alike: bool) -> WorkloadReport:
    """Find what came of a workload.

    Parameters
    ----------
    step : Step
    fabric : Fabric
    alike : bool
        Whether all ranks do the same, so that one stands for all.
    """
    topology, use = fabric.topology, step_link_use(step, fabric)
    return WorkloadReport(
        step,
        fabric,
        alike,
        tuple(_rank_times(step, 1 if alike else topology.ranks)),
        tuple(_call_rows(step)),
        use,
        level_uses(use, topology, step.time),
        hottest_links(use, topology, step.time),
    )


def whose(task: Task, *, alike: bool) -> Sequence[int]:
    """Ranks that take part in a task; where one stands for all, that one."""
    if alike or task.way is None or task.way.ranks is None:
        return (task.stream.stage,)
    return [int(rank) for rank in task.way.ranks.ravel()]


def _rank_times(step: Step, ranks: int) -> Iterator[RankTime]:
    computing: list[list[int]] = [[] for _ in range(ranks)]
    calls: list[list[int]] = [[] for _ in range(ranks)]
    for number, task in enumerate(step.graph.tasks):
        if task.stream.name == COMPUTE:
            computing[task.stream.stage].append(number)
        elif task.way is not None:
            for rank in whose(task, alike=ranks == 1):
                calls[rank].append(number)
    for rank in range(ranks):
        work = Computing.of(step, computing[rank])
        busy = int((work.end - work.begin).sum())
        exposed = work.exposed(*under_way(step, calls[rank]))
        yield RankTime(rank, busy, exposed, step.time - busy - exposed)


def _call_rows(step: Step) -> Iterator[CallRow]:
    rows: dict[tuple[str, str], list[int]] = {}
    for number, task in enumerate(step.graph.tasks):
        if task.way is not None:
            rows.setdefault((task.way.kind, task.way.group.name), []).append(number)
    for (kind, group), numbers in sorted(rows.items()):
        tasks = [step.graph.tasks[number] for number in numbers]
        time = int((step.end - step.begin)[np.array(numbers)].sum())
        yield CallRow(
            kind,
            group,
            len(tasks),
            sum(task.way in step.memoised for task in tasks),
            sum(task.size for task in tasks),
            time,
            _bus_bandwidth(tasks, time),
        )


def _bus_bandwidth(tasks: Sequence[Task], time: int) -> float | None:
    """B/s over the bus of calls of one kind that took so many fs."""
    moved = Fraction(0)
    for task in tasks:
        members = 2 if task.way is None or task.way.ranks is None else task.way.ranks.shape[1]
        share = None if task.way is None else bus_factor(task.way.kind, members)
        if share is None:
            return None
        moved += share * task.size
    return float(moved) / to_seconds(time) if time else None
