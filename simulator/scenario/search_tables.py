"""The plans of a search for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from simulator.llm.fit import sequence_of
from simulator.scenario.memory_tables import assumed
from simulator.scenario.sheets import Column, Sheet
from topologies.clock import to_seconds

if TYPE_CHECKING:
    from simulator.llm.search.search import Row
    from simulator.llm.search.sift import Dropped
    from simulator.llm.search.space import Degrees
    from simulator.scenario.search_run import SearchResult

WHY = {"layout": "cannot be laid out", "memory": "does not fit memory"}


def search_lines(result: SearchResult) -> Iterator[str]:
    """What was searched, and what became of all plans."""
    scenario, found = result.scenario, result.found
    batch, tokens = scenario.batch, sequence_of(scenario.model, scenario.batch)
    yield f"{scenario.model.name} on {result.ranks} ranks, {batch.total} sequences of {tokens} tokens a step"
    yield assumed(scenario.efficiency)
    unfit = sum(one.why == "memory" for one in found.dropped)
    counts = (
        (len(found.dropped) - unfit, "cannot be laid out"),
        (unfit, "do not fit memory"),
        (found.left_out, "left out (search.most)"),
        (found.pruned, "can be neither among the best nor on the front"),
        (len(found.failed), "failed"),
        (len(found.rows), "simulated"),
    )
    yield f"{found.tried} plans: " + ", ".join(f"{count} {what}" for count, what in counts if count)
    if found.rows:
        yield f"best: {_written(found.rows[0].kept.degrees)}"


def _written(plan: Degrees) -> str:
    """A plan as a file has it.

    >>> from simulator.llm.search.space import Degrees
    >>> _written(Degrees(tp=2, sp=True, cp=1, pp=4, schedule="1f1b", interleave=1, dp=1, ep=1, zero=0,
    ...                  recompute="none", micro=2))
    'parallel: {tp: 2, sp: true, pp: 4}, batch: {micro: 2}, memory: {recompute: none}'
    """
    usual = {"sp": False, "schedule": "1f1b", "zero": 0}
    own = {key: value for key, value in asdict(plan).items() if key not in ("recompute", "micro")}
    said = [f"{key}: {str(v).lower()}" for key, v in own.items() if v != usual.get(key, 1) or v is True]
    rest = f"batch: {{micro: {plan.micro}}}, memory: {{recompute: {plan.recompute}}}"
    return f"parallel: {{{', '.join(said)}}}, {rest}"


def search_sheets(result: SearchResult, *, everything: bool = False) -> list[Sheet]:
    """The fastest plans, others of the front, why plans were dropped, and which failed.

    Parameters
    ----------
    result : SearchResult
    everything : bool
        All that were simulated in one table.
    """
    found, top = result.found, result.found.top
    ranked = list(enumerate(found.rows, start=1))
    others = [(rank, row) for rank, row in ranked[top:] if row.best]
    title = "fastest plans; s, and GiB that a rank holds and sends at most"
    sheets = [_rows_sheet(title, ranked if everything else ranked[:top], result)]
    if others and not everything:
        some = f"the first {top} of {len(others)}" if len(others) > top else f"{len(others)}"
        title = f"{some} others that no plan beats in time, memory and bytes sent together"
        sheets.append(_rows_sheet(title, others[:top], result))
    sheets += [_reasons_sheet(found.dropped), _failures_sheet(found.failed)]
    return [sheet for sheet in sheets if sheet.columns[0].values]


def _rows_sheet(title: str, ranked: Sequence[tuple[int, Row]], result: SearchResult) -> Sheet:
    rows = [row for _, row in ranked]
    columns = [
        Column("rank", [rank for rank, _ in ranked]),
        *_degrees_columns([r.kept.degrees for r in rows]),
    ]
    columns += [
        Column("time", [to_seconds(row.rating.time) for row in rows], "{:.4g}".format),
        Column("MFU", [_mfu(row, result) for row in rows], "{:.1%}".format),
        Column("exposed", [to_seconds(row.exposed) for row in rows], "{:.3g}".format),
        Column("memory", [row.kept.memory for row in rows], _gib),
        Column("sent", [row.kept.traffic for row in rows], _gib),
        Column("Pareto", ["*" if row.best else "" for row in rows]),
    ]
    return Sheet(title, tuple(columns))


def _degrees_columns(plans: Sequence[Degrees]) -> Iterator[Column]:
    usual = {"cp": 1, "ep": 1, "interleave": 1}
    for name in ("tp", "sp", "cp", "pp", "interleave", "schedule", "dp", "ep", "zero", "recompute", "micro"):
        values = [getattr(plan, name) for plan in plans]
        shown = name not in usual or any(value != usual[name] for value in values)
        if name == "sp":
            shown = any(plan.sp != (plan.tp > 1) for plan in plans)
        yield Column(name, values, _word, shown=shown)


def _word(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _gib(size: int | Fraction) -> str:
    return f"{float(Fraction(size) / 2**30):.4g}"


def _mfu(row: Row, result: SearchResult) -> float:
    hardware = result.scenario.hardware
    assert hardware is not None
    return result.found.flops.mfu(row.rating.time, hardware)


def _reasons_sheet(dropped: Sequence[Dropped]) -> Sheet:
    reasons = _reasons(dropped)
    columns = (
        Column("why", [WHY[each["why"]] for each in reasons], words=True),
        Column("at", [each["at"] for each in reasons], words=True),
        Column("plans", [each["plans"] for each in reasons]),
        Column("for example", [each["example"] for each in reasons], words=True),
    )
    return Sheet("plans that were not simulated, by the first reason", columns)


def _reasons(dropped: Sequence[Dropped]) -> list[dict[str, Any]]:
    """Each reason, how many plans have it, and what it says of the first."""
    first: dict[tuple[str, str], Dropped] = {}
    counts: dict[tuple[str, str], int] = {}
    for one in dropped:
        key = (one.why, one.where)
        first.setdefault(key, one)
        counts[key] = counts.get(key, 0) + 1
    return [
        {"why": why, "at": where, "plans": counts[why, where], "example": first[why, where].message}
        for why, where in sorted(counts, key=lambda key: (key[0], -counts[key], key[1]))
    ]


def _failures_sheet(failed: Sequence[Row]) -> Sheet:
    columns = (
        *_degrees_columns([row.kept.degrees for row in failed]),
        Column("error", [row.rating.error for row in failed], words=True),
    )
    return Sheet("plans that could not be simulated", columns)


def search_json(result: SearchResult) -> str:
    """One object; times in s, sizes in bytes."""
    scenario, found = result.scenario, result.found
    written = {
        "scenario": scenario.name,
        "model": scenario.model.name,
        "ranks": result.ranks,
        "sequences": scenario.batch.total,
        "tried": found.tried,
        "simulated": len(found.rows),
        "failed": len(found.failed),
        "pruned": found.pruned,
        "left_out": found.left_out,
        "dropped": _reasons(found.dropped),
        "plans": [_plan(rank, row, result) for rank, row in enumerate(found.rows, start=1)],
        "failures": [{**asdict(row.kept.degrees), "error": row.rating.error} for row in found.failed],
    }
    return json.dumps(written, indent=2) + "\n"


def _plan(rank: int, row: Row, result: SearchResult) -> dict[str, Any]:
    return {
        "rank": rank,
        **asdict(row.kept.degrees),
        "time": to_seconds(row.rating.time),
        "mfu": _mfu(row, result),
        "exposed": to_seconds(row.exposed),
        "memory": row.kept.memory,
        "sent": row.kept.traffic,
        "pareto": row.best,
    }
