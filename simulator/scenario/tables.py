"""Results, topologies and schedules as tables on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from algorithms.catalogue.hierarchical import level_flow
from topologies.text import format_bandwidth, format_bytes, format_time

if TYPE_CHECKING:
    from simulator.engine.critical_path import CriticalPath
    from simulator.scenario.run import Result
    from topologies.measures import Measures
    from topologies.topology import Topology

NOTHING = "-"
WORDS = {
    "phase",
    "scenario",
    "algorithm",
    "collectives",
    "name",
    "value",
    "transfers",
    "formula",
    "group",
    "keeps order",
    "source",
    "proof",
}
"""Columns that hold words; the others hold numbers, which are set right and never broken."""


def new_table(*headers: str, title: str | None = None) -> Table:
    """An empty table whose columns are words or numbers by their headers."""
    heading = None if title is None else Text(title)
    table = Table(box=box.SIMPLE_HEAD, title=heading, title_justify="left", title_style="bold")
    for header in headers:
        if header in WORDS:
            table.add_column(header, justify="left", overflow="fold")
        else:
            table.add_column(header, justify="right", no_wrap=True)
    return table


def result_table(result: Result) -> Table:
    """One result, a line a figure."""
    counts, bounds, schedule = result.counts, result.bounds, result.schedule
    table = new_table("name", "value", title=result.scenario.name)
    rows = (
        (
            "collective",
            f"{schedule.collective.kind}, {format_bytes(schedule.collective.size)}, {schedule.ranks} ranks",
        ),
        ("algorithm", _algorithm(result)),
        ("steps, depth, transfers", f"{counts.steps}, {counts.depth}, {counts.transfers}"),
        (
            "sent by a rank, by all",
            f"{format_bytes(counts.bytes_sent_max)}, {format_bytes(counts.bytes_sent_total)}",
        ),
        ("congestion factor", number_text(result.congestion_factor, "{:.4g} M")),
        ("time", format_time(result.time)),
        ("closed form", NOTHING if result.analytic is None else format_time(result.analytic)),
        ("bounds: latency, bandwidth", f"{format_time(bounds.latency)}, {format_time(bounds.bandwidth)}"),
        (
            "bounds: reduction, textbook latency",
            f"{format_time(bounds.reduction)}, {format_time(bounds.textbook_latency)}",
        ),
        ("bandwidth bound", bounds.moved),
        ("time / best bound", number_text(result.gap, "{:.4g}")),
        ("critical path", path_text(result.critical_path)),
        ("algbw, busbw", f"{rate_text(result.algbw)}, {rate_text(result.busbw)}"),
        ("over the busiest link", rate_text(result.wire_rate)),
        ("proof", result.verified),
    )
    for row in rows:
        table.add_row(*row)
    if result.scenario.network.placement == "auto":
        natural = result.placement == tuple(range(result.schedule.ranks))
        table.add_row(
            "placement found", "the natural order" if natural else " ".join(map(str, result.placement))
        )
    return table


ROOMY = 120
"""Columns of a terminal from which on a row holds everything."""


def results_table(results: Iterable[Result], width: int) -> Table:
    """A row a scenario, with as many figures as `width` columns hold."""
    rows = [_figures(result) for result in results]
    headers = list(rows[0])
    if width < ROOMY:
        headers = ["scenario", "time", "closed form", "gap"]
    table = new_table(*headers)
    for row in rows:
        table.add_row(*(row[header] for header in headers))
    return table


def _figures(result: Result) -> dict[str, str]:
    return {
        "scenario": result.scenario.name,
        "N": str(result.schedule.ranks),
        "algorithm": f"{_algorithm(result)}, {result.schedule.collective.kind}",
        "size": format_bytes(result.schedule.collective.size),
        "steps": str(result.counts.steps),
        "time": format_time(result.time),
        "closed form": NOTHING if result.analytic is None else format_time(result.analytic),
        "bound": format_time(result.bounds.best),
        "gap": number_text(result.gap, "{:.3f}"),
        "proof": result.verified,
    }


def _algorithm(result: Result) -> str:
    fallback = f" ({result.schedule.fallback})" if result.schedule.fallback else ""
    return result.schedule.algorithm + fallback


def number_text(value: float | None, form: str) -> str:
    """A number in some form, or a dash where there is none."""
    return NOTHING if value is None else form.format(value)


def rate_text(value: float | None) -> str:
    """Bytes/s, or a dash where there are none."""
    return NOTHING if value is None else format_bandwidth(value)


def path_text(path: CriticalPath) -> str:
    """Parts of a critical path, the largest first, in percent."""
    parts = sorted(path.totals().items(), key=lambda part: -part[1])
    return ", ".join(f"{name} {time / path.time:.1%}" for name, time in parts if time) or NOTHING


def flow_table(dims: Sequence[int], kind: str, size: int | None = None) -> Table:
    """What each level of a hierarchical collective takes in and gives out: in bytes, or in units of M."""
    table = new_table(
        "level", "phase", "ranks", "input / rank", "output / rank", title="data volume by level"
    )
    for flow in level_flow(dims, kind):
        volumes = (
            share_text(share) if size is None else format_bytes(round(share * size))
            for share in (flow.taken, flow.given)
        )
        table.add_row(str(flow.level), flow.phase, str(flow.ranks), *volumes)
    return table


def topology_table(topology: Topology, measures: Measures) -> Table:
    """Measures of a topology."""
    table = new_table("name", "value", title=f"{topology.kind}, dims {' x '.join(map(str, topology.dims))}")
    for row in measure_rows(measures):
        table.add_row(*row)
    return table


def measure_rows(measures: Measures) -> tuple[tuple[str, str], ...]:
    """What is measured of a topology, and its value."""
    exact = "" if measures.bisection_exact else " (of the natural halves)"
    bandwidth = format_bandwidth(measures.bisection_bandwidth)
    return (
        ("ranks", str(measures.ranks)),
        ("switches", str(measures.switches)),
        ("links", f"{measures.links} directed"),
        ("links out of a rank", _span(measures.degree)),
        ("links into a rank", _span(measures.in_degree)),
        ("diameter", f"{measures.diameter} hops, {format_time(measures.alpha_diameter)}"),
        ("bisection", f"{measures.bisection_links} links, {bandwidth}{exact}"),
    )


def _span(pair: tuple[int, int]) -> str:
    return str(pair[0]) if pair[0] == pair[1] else f"{pair[0]} to {pair[1]}"


def share_text(share: Fraction) -> str:
    """A share of the full vector M for people.

    >>> share_text(Fraction(3, 8)), share_text(Fraction(1)), share_text(Fraction(0))
    ('3M/8', 'M', '0')
    """
    if share.numerator == 0:
        return "0"
    times = "" if share.numerator == 1 else str(share.numerator)
    return f"{times}M" + ("" if share.denominator == 1 else f"/{share.denominator}")
