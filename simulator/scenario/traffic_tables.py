"""The traffic of a plan for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from simulator.llm.states import title
from simulator.scenario.memory_tables import degrees, gib
from simulator.scenario.sheets import Column, Sheet
from topologies.text import format_bytes, format_time

if TYPE_CHECKING:
    from simulator.llm.levels import Levels
    from simulator.llm.traffic import Traffic
    from simulator.scenario.traffic_run import TrafficResult


def traffic_lines(result: TrafficResult) -> Iterator[str]:
    """What was counted: the model, the ranks, the step."""
    found = result.traffic
    yield f"{found.model.name}, {found.parallel.ranks} ranks: {degrees(found.parallel)}"
    count = found.batch.microbatches(found.parallel)
    size = f"{found.batch.micro} sequence{_s(found.batch.micro)}"
    many = f"{count} micro-batch{_s(count, 'es')} of {size} a replica"
    yield (
        f"a step of training, {many}" if found.memory.phase == "training" else f"a pass of inference, {many}"
    )


def traffic_verdict(result: TrafficResult) -> str:
    """What sends most, and which level is busy longest."""
    found = result.traffic
    if not found.calls:
        return "nothing is sent: every rank works by itself"
    stage = found.busiest
    line = (
        f"a rank of stage {stage} sends most, {gib(found.rank(stage))} a step; all ranks {gib(found.total)}"
    )
    if result.levels is None:
        return f"{line}; no topology is given"
    busy = max(result.levels.levels, key=lambda level: level.time)
    return f"{line}\nlevel {busy.level} is busy longest: {format_time(busy.time, 4)} over {busy.link}"


def traffic_sheets(result: TrafficResult) -> list[Sheet]:
    """What each kind of group sends, and what each level carries."""
    sheets = [calls_sheet(result.traffic), stages_sheet(result.traffic)]
    if result.levels is not None:
        sheets += [group_levels_sheet(result.levels), levels_sheet(result.levels)]
    return [sheet for sheet in sheets if sheet.columns[0].values]


def calls_sheet(found: Traffic) -> Sheet:
    """A row for each primitive of each kind of group."""
    rows = found.rows()
    return Sheet(
        "what is sent in a step, at the stage that sends most of it; M of the largest message",
        (
            Column("group", [row.group for row in rows], words=True),
            Column("ranks", [row.ranks for row in rows]),
            Column("phase", [row.phase for row in rows], words=True),
            Column("what", [row.what for row in rows], words=True),
            Column("primitive", [row.kind for row in rows], title, words=True),
            Column("M", [_whole(row.size) for row in rows], _bytes),
            Column("times", [float(row.times) for row in rows], "{:.6g}".format),
            Column("sent by a rank", [_whole(row.rank) for row in rows], gib),
            Column("sent by all", [_whole(row.total) for row in rows], gib),
        ),
    )


def stages_sheet(found: Traffic) -> Sheet:
    """A row for each pipeline stage, a column for each kind of group."""
    stages = range(found.parallel.pp) if found.calls else range(0)
    columns = [Column("stage", list(stages))]
    columns += [
        Column(group, [_whole(found.rank(stage, group)) for stage in stages], gib) for group in found.groups
    ]
    columns.append(Column("sent by a rank", [_whole(found.rank(stage)) for stage in stages], gib))
    return Sheet("by stage", tuple(columns))


def group_levels_sheet(found: Levels) -> Sheet:
    """What each kind of group sends over each level."""
    rows = [row for row in found.groups if row.total]
    return Sheet(
        "which level carries what, bytes over links",
        (
            Column("group", [row.group for row in rows], words=True),
            Column("level", [row.level for row in rows], words=True),
            Column("over all links", [row.total for row in rows], _size),
            Column("over the busiest", [row.busiest for row in rows], _size),
            Column("% of the group's", [100 * row.share for row in rows], "{:.1f}".format),
        ),
    )


def levels_sheet(found: Levels) -> Sheet:
    """What each level carries for all groups together."""
    rows = found.levels
    return Sheet(
        "levels",
        (
            Column("level", [row.level for row in rows], words=True),
            Column("links", [row.links for row in rows]),
            Column("over all links", [row.total for row in rows], _size),
            Column("over the busiest", [row.busiest for row in rows], _size),
            Column("busy", [row.time for row in rows], lambda seconds: format_time(seconds, 4)),
            Column("busiest link", [row.link for row in rows], words=True),
        ),
    )


def traffic_json(result: TrafficResult) -> str:
    """One object; sizes in bytes, times in seconds."""
    found = result.traffic
    stages: Sequence[int] = range(found.parallel.pp)
    written: dict[str, Any] = {
        "scenario": result.scenario.name,
        "model": found.model.name,
        "ranks": found.parallel.ranks,
        "mesh": found.parallel.mesh,
        "phase": found.memory.phase,
        "microbatches": found.batch.microbatches(found.parallel),
        "sent_total": _whole(found.total),
        "sent_max": _whole(found.rank(found.busiest)),
        "stages": [{group: _whole(found.rank(stage, group)) for group in found.groups} for stage in stages],
        "calls": [
            {
                "group": row.group,
                "ranks": row.ranks,
                "phase": row.phase,
                "what": row.what,
                "kind": row.kind,
                "size": _whole(row.size),
                "times": float(row.times),
                "sent_by_rank": _whole(row.rank),
                "sent_total": _whole(row.total),
            }
            for row in found.rows()
        ],
        "levels": None if result.levels is None else _levels(result.levels),
    }
    return json.dumps(written, indent=2) + "\n"


def _levels(found: Levels) -> list[dict[str, Any]]:
    return [
        {
            "level": row.level,
            "links": row.links,
            "bytes": row.total,
            "busiest": row.busiest,
            "busy": row.time,
            "link": row.link,
            "groups": {part.group: part.total for part in found.groups if part.level == row.level},
        }
        for row in found.levels
    ]


def _whole(size: Fraction) -> int | float:
    """Bytes as a whole number where they are one."""
    return int(size) if size.denominator == 1 else float(size)


def _bytes(size: float) -> str:
    return format_bytes(round(size), 4)


def _size(size: float) -> str:
    return gib(Fraction(size))


def _s(count: int, ending: str = "s") -> str:
    return "" if count == 1 else ending
