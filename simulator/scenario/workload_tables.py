"""A workload for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from simulator.scenario.memory_tables import gib
from simulator.scenario.sheets import Column, Sheet
from simulator.scenario.step_tables import levels_sheet, links_sheet
from topologies.clock import to_seconds
from topologies.text import format_time

if TYPE_CHECKING:
    from simulator.llm.workload.report import RankTime, WorkloadReport
    from simulator.scenario.workload_result import WorkloadResult

MOST_RANKS = 16
"""Up to so many the table has a row a rank."""


def workload_lines(result: WorkloadResult) -> Iterator[str]:
    """What was run, and what came of it."""
    report = result.report
    graph, ranks = report.step.graph, report.fabric.topology.ranks
    calls = sum(row.calls for row in report.calls)
    who = f"{ranks:,} ranks{', all alike' if report.alike else ''}"
    yield f"{result.scenario.name}: {who}; {len(graph):,} tasks, {calls:,} of them collectives or messages"
    yield f"takes {format_time(result.time)}"


def workload_sheets(report: WorkloadReport) -> list[Sheet]:
    """Where the time goes, what the calls take, what the links carry."""
    sheets = [ranks_sheet(report), calls_sheet(report), levels_sheet(report), links_sheet(report)]
    return [sheet for sheet in sheets if sheet.columns[0].values]


def ranks_sheet(report: WorkloadReport) -> Sheet:
    """A row a rank; of many those that compute most and least, and that wait most."""
    rows = [(str(rank.rank), rank) for rank in report.ranks]
    if report.alike:
        rows = [("every rank", report.ranks[0])]
    elif len(rows) > MOST_RANKS:
        rows = [(f"{rank.rank}: {what}", rank) for what, rank in _extremes(report.ranks)]
    ranks = [rank for _, rank in rows]
    whole = report.time or 1
    return Sheet(
        "time of ranks; exposed: a collective or message is under way while nothing is computed",
        (
            Column("rank", [name for name, _ in rows], words=True),
            Column("compute", [to_seconds(rank.compute) for rank in ranks], _seconds, unit="s"),
            Column("exposed", [to_seconds(rank.exposed) for rank in ranks], _seconds, unit="s"),
            Column("else", [to_seconds(rank.other) for rank in ranks], _seconds, unit="s"),
            Column("% compute", [100 * rank.compute / whole for rank in ranks], "{:.1f}".format),
            Column("% exposed", [100 * rank.exposed / whole for rank in ranks], "{:.1f}".format),
        ),
    )


def mostly(report: WorkloadReport) -> str:
    """What most of the time of all ranks goes into."""
    parts = {
        "compute": sum(rank.compute for rank in report.ranks),
        "communication that no compute hides": sum(rank.exposed for rank in report.ranks),
        "neither compute nor communication": sum(rank.other for rank in report.ranks),
    }
    return max(parts, key=parts.__getitem__)


def _extremes(ranks: tuple[RankTime, ...]) -> Iterator[tuple[str, RankTime]]:
    """The first of the ranks with the most or the least of something."""
    yield "computes most", max(ranks, key=lambda rank: rank.compute)
    yield "computes least", min(ranks, key=lambda rank: rank.compute)
    yield "most exposed", max(ranks, key=lambda rank: rank.exposed)
    yield "most of neither", max(ranks, key=lambda rank: rank.other)


def calls_sheet(report: WorkloadReport) -> Sheet:
    """A row a kind and group of collectives."""
    rows = report.calls
    return Sheet(
        "collectives and messages; memoised: no other can meet them on a link; time from begin to end",
        (
            Column("kind", [row.kind for row in rows], words=True),
            Column("group", [row.group for row in rows], words=True),
            Column("calls", [row.calls for row in rows]),
            Column("memoised", [row.memoised for row in rows]),
            Column("M, all", [row.bytes for row in rows], gib, unit="B"),
            Column("time, all", [to_seconds(row.time) for row in rows], _seconds, unit="s"),
            Column(
                "busbw",
                [None if row.bus is None else row.bus / 1e9 for row in rows],
                "{:.1f}".format,
                unit="GB/s",
            ),
        ),
    )


def _seconds(seconds: float) -> str:
    return format_time(seconds, 4)
