"""A simulated step for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from simulator.llm.states import title
from simulator.llm.step.report import breakdown
from simulator.scenario.memory_tables import assumed, gib, plan_lines, verdict
from simulator.scenario.plan_run import PlanResult
from simulator.scenario.sheets import Column, Sheet
from topologies.clock import to_seconds
from topologies.text import format_time

if TYPE_CHECKING:
    from simulator.llm.step.report import StepReport
    from simulator.llm.step.report_ladder import Rung
    from simulator.llm.step.report_what_if import Case
    from simulator.llm.workload.report import WorkloadReport
    from simulator.scenario.step_run import StepResult


def step_lines(result: StepResult, tokens: int | None = None) -> Iterator[str]:
    """What was simulated, and what came of it.

    Parameters
    ----------
    result : StepResult
    tokens : int, optional
        Of a whole training, whose days are told.
    """
    report = result.report
    now, ideal = report.now, report.ideal
    yield from plan_lines(PlanResult(result.scenario, report.memory))
    yield assumed(result.scenario.efficiency)
    rate, ranks = now.tokens_per_second, now.flops.ranks
    yield (
        f"a step takes {_time(report.time)}: MFU {_percent(now.mfu)}, HFU {_percent(now.hfu)}, "
        f"{rate:,.0f} tokens/s, {rate / ranks:,.1f} a rank"
    )
    if tokens is not None:
        yield f"{tokens:,} tokens take {now.days(tokens):,.2f} days"
    shares = breakdown(report.stages)
    parts = ", ".join(f"{name} {100 * share:.1f} %" for name, share in shares.items())
    # nothing is left out, so more than the whole is calls of several groups at once
    both = "" if sum(shares.values()) < 1.0005 else " (groups under way at once count each)"
    yield f"of it, mean of the stages: {parts}{both}; without communication {_time(ideal.time)}"
    yield (
        f"bubble: {_percent(now.bubble)} of ideal compute (Megatron: (p - 1) / m), "
        f"{_percent(now.bubble_share)} of the whole (zero-bubble papers); "
        f"without communication {_percent(ideal.bubble)} and {_percent(ideal.bubble_share)}"
    )
    yield f"memory: {verdict(report.memory)}"


def step_sheets(report: StepReport) -> list[Sheet]:
    """Where the time goes, what is exposed, what the links carry, and how it was simulated."""
    sheets = [stages_sheet(report), exposed_sheet(report), levels_sheet(report), links_sheet(report)]
    sheets.append(simulated_sheet(report))
    return [sheet for sheet in sheets if sheet.columns[0].values]


def stages_sheet(report: StepReport) -> Sheet:
    """A row a stage: what its time goes into."""
    stages = report.stages
    columns = [
        Column("stage", [stage.stage for stage in stages]),
        Column("compute", [to_seconds(stage.passes) for stage in stages], _seconds, unit="s"),
        Column("update", [to_seconds(stage.update) for stage in stages], _seconds, unit="s"),
        Column("exposed", [to_seconds(stage.communication) for stage in stages], _seconds, unit="s"),
        Column("idle", [to_seconds(stage.idle) for stage in stages], _seconds, unit="s"),
        Column("% compute", [100 * stage.passes / stage.time for stage in stages], "{:.1f}".format),
    ]
    columns += [
        Column(found.group, [to_seconds(stage.exposed[found.group]) for stage in stages], _seconds, unit="s")
        for found in report.exposed
    ]
    return Sheet("time of each stage; of each group, calls while it computes nothing", tuple(columns))


def exposed_sheet(report: StepReport) -> Sheet:
    """A row a group of calls: what of it nothing hides, by both definitions."""
    rows, whole = report.exposed, report.time
    return Sheet(
        "exposed: how much shorter without a group; how long under way while a stage computes nothing",
        (
            Column("group", [row.group for row in rows], words=True),
            Column("calls", [row.calls for row in rows]),
            Column("counterfactual", [to_seconds(row.counterfactual) for row in rows], _seconds, unit="s"),
            Column("% of step", [100 * row.counterfactual / whole for row in rows], "{:.2f}".format),
            Column("timeline, mean", [row.timeline / 10**15 for row in rows], _seconds, unit="s"),
            Column("mean %", [100 * row.timeline / whole for row in rows], "{:.2f}".format),
            Column("timeline, most", [to_seconds(row.worst) for row in rows], _seconds, unit="s"),
        ),
    )


def levels_sheet(report: StepReport | WorkloadReport) -> Sheet:
    """A row a level of the topology."""
    rows = report.levels
    hottest = [row.hottest for row in rows]
    used = [None if link is None else 100 * link.utilisation for link in hottest]
    busy = [None if link is None else to_seconds(link.busy) for link in hottest]
    return Sheet(
        "levels: bytes over links, and over what these could carry in that time",
        (
            Column("level", [row.level for row in rows], words=True),
            Column("links", [row.links for row in rows]),
            Column("over all links", [row.bytes for row in rows], gib, unit="B"),
            Column("% used", [100 * row.utilisation for row in rows], "{:.2f}".format),
            Column("hottest link", [None if link is None else link.name for link in hottest], words=True),
            Column("over it", [None if link is None else link.bytes for link in hottest], gib, unit="B"),
            Column("busy", busy, _seconds, unit="s"),
            Column("% of it used", used, "{:.2f}".format),
        ),
    )


def links_sheet(report: StepReport | WorkloadReport) -> Sheet:
    """A row for each of the links that take longest for their bytes."""
    rows = report.hottest
    return Sheet(
        "hottest links",
        (
            Column("link", [row.name for row in rows], words=True),
            Column("level", [row.level for row in rows], words=True),
            Column("bytes", [row.bytes for row in rows], gib),
            Column("busy", [to_seconds(row.busy) for row in rows], _seconds, unit="s"),
            Column("% used", [100 * row.utilisation for row in rows], "{:.2f}".format),
            Column("GB/s while busy", [row.achieved / 1e9 for row in rows], "{:.1f}".format),
            Column("of", [row.bandwidth / 1e9 for row in rows], "{:g}".format, unit="GB/s"),
        ),
    )


def simulated_sheet(report: StepReport) -> Sheet:
    """A row a kind of call: how many were memoised, how many laid over the links with all others."""
    rows = report.simulated
    return Sheet(
        "calls: memoised where no other can meet them on a link, else laid over the links together; "
        "busbw in GB/s",
        (
            Column("group", [row.group for row in rows], words=True),
            Column("primitive", [row.kind for row in rows], title, words=True),
            Column("memoised", [row.memoised for row in rows]),
            Column("laid", [row.laid for row in rows]),
            Column("time, all", [to_seconds(row.time) for row in rows], _seconds, unit="s"),
            Column("busbw", [row.bus_bandwidth / 1e9 for row in rows], "{:.1f}".format, unit="GB/s"),
        ),
    )


def ladder_sheet(rungs: Sequence[Rung]) -> Sheet:
    """A row a rung: one kind of overlap more than the one before."""
    before = [None, *(rung.time for rung in rungs[:-1])]
    saved = [
        None if last is None else to_seconds(last - rung.time)
        for last, rung in zip(before, rungs, strict=True)
    ]
    return Sheet(
        "overlap, one kind after the other",
        (
            Column("overlap", [rung.name for rung in rungs], words=True),
            Column("step", [to_seconds(rung.time) for rung in rungs], _seconds, unit="s"),
            Column("saved", saved, _seconds, unit="s"),
            Column("MFU %", [100 * rung.mfu for rung in rungs], "{:.2f}".format),
        ),
    )


def what_if_sheet(cases: Sequence[Case]) -> Sheet:
    """A row for each thing that is changed."""
    base = cases[0].time
    times = [None if case.time is None else to_seconds(case.time) for case in cases]
    change = [None if case.time is None or not base else 100 * (case.time / base - 1) for case in cases]
    return Sheet(
        "what if",
        (
            Column("what if", [case.name for case in cases], words=True),
            Column("step", times, _seconds, unit="s"),
            Column("change %", change, "{:+.2f}".format),
            Column("most of it then", [case.bottleneck for case in cases], words=True),
        ),
    )


def _time(time: int) -> str:
    return format_time(to_seconds(time))


def _seconds(seconds: float) -> str:
    return format_time(seconds, 4)


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"
