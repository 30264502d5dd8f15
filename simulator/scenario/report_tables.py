"""The tables and bars of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from plots.report.values import Stacks, Table
from simulator.engine.path_parts import PARTS
from simulator.engine.waiting import waits_behind
from simulator.scenario.explain_tables import busiest_links
from simulator.scenario.tables import NOTHING
from simulator.scenario.together_tables import background_row, member_row
from topologies.clock import to_seconds
from topologies.text import format_time

if TYPE_CHECKING:
    from simulator.llm.step.report import StepReport
    from simulator.llm.workload.report import WorkloadReport
    from simulator.scenario.explain import Explanation
    from simulator.scenario.sheets import Sheet
    from simulator.scenario.together_result import TogetherResult

MOST_OF_WAITS = 16
"""Collectives, and hops, up to which it is told who waits for whom."""

_MOST_HOPS = 1_000_000

MOST_BARS = 32
"""Ranks of a workload whose time is drawn."""


def path_stacks(explanation: Explanation) -> Stacks:
    """The critical path in all, on the links of each level, and at the ranks."""
    bars = {"critical path": explanation.path.totals()}
    levels = {f"on {name} links": parts for name, parts in explanation.parts.levels.items()}
    bars |= levels | {"at the ranks": explanation.parts.ranks}
    return Stacks("where the time goes", PARTS, [(name, _times(parts)) for name, parts in bars.items()])


def _times(parts: Mapping[str, int]) -> list[int]:
    return [parts[part] for part in PARTS]


def stage_stacks(report: StepReport) -> Stacks:
    """The time of a step: mean of the stages, and at each."""
    parts = ("compute", "exposed communication", "idle", "update")
    stages = [
        (f"stage {stage.stage}", (stage.passes, stage.communication, stage.idle, stage.update))
        for stage in report.stages
    ]
    return Stacks("where the time of each stage goes", parts, stages)


def rank_stacks(report: WorkloadReport) -> Stacks:
    """The time of a workload at each rank, or at the first of many."""
    parts = ("compute", "exposed communication", "else")
    ranks = [
        ("every rank" if report.alike else f"rank {rank.rank}", (rank.compute, rank.exposed, rank.other))
        for rank in report.ranks[:MOST_BARS]
    ]
    return Stacks("where the time of each rank goes", parts, ranks)


def busiest_table(explanation: Explanation) -> Table:
    """The busiest links."""
    title, headers, rows = busiest_links(explanation)
    return Table(title, headers, list(rows))


def plain_table(sheet: Sheet) -> Table:
    """A sheet as people are shown it."""
    columns = sheet.visible
    texts = (column.texts for column in columns)
    return Table(sheet.title, [column.header for column in columns], list(zip(*texts, strict=True)))


def several_tables(result: TogetherResult) -> Iterator[Table]:
    """The collectives, the background, and who keeps whom waiting."""
    for title, rows in (
        ("the collectives", [member_row(member) for member in result.members]),
        ("background", [background_row(stream) for stream in result.background]),
    ):
        if rows:
            yield Table(title, list(rows[0]), [list(row.values()) for row in rows])
    yield from _waits(result)


def _waits(result: TogetherResult) -> Iterator[Table]:
    """Who waits behind whom, where one at a time holds a link and there are not too many to tell."""
    jobs, plan, names = len(result.together.jobs), result.timeline.plan, result.names
    if plan.flows is not None or jobs > MOST_OF_WAITS or plan.hops > _MOST_HOPS:
        return
    group = np.repeat(np.arange(jobs), np.diff(result.together.first))
    behind = waits_behind(result.timeline, group, jobs)
    if behind.any():
        rows = [
            [name, *(format_time(to_seconds(time)) if time else NOTHING for time in row)]
            for name, row in zip(names, behind.tolist(), strict=True)
        ]
        title = "who slows whom: what messages of the row stood in queues behind those of the column, summed"
        yield Table(title, ["waits", *(f"behind {name}" for name in names)], rows)
