"""Several collectives as tables on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from simulator.scenario.tables import ROOMY, new_table, number_text, rate_text
from topologies.clock import to_seconds
from topologies.text import format_bytes, format_time

if TYPE_CHECKING:
    from rich.table import Table

    from simulator.scenario.together_result import BackgroundResult, MemberResult, TogetherResult

MOST_RANKS: Final = 8
"""Ranks of a group that a row names."""


def together_tables(result: TogetherResult, width: int) -> Iterator[Table]:
    """A row a collective, with as many figures as `width` columns hold; then the background, if any."""
    title = f"{result.scenario.name}: {format_time(result.time)}, proof {result.verified}"
    rows = [member_row(member) for member in result.members]
    headers = list(rows[0]) if width >= ROOMY else ["name", "start", "finish", "time", "slowdown"]
    table = new_table(*headers, title=title)
    for row in rows:
        table.add_row(*(row[header] for header in headers))
    yield table
    if result.background:
        streams = [background_row(stream) for stream in result.background]
        table = new_table(*streams[0], title="background")
        for row in streams:
            table.add_row(*row.values())
        yield table


def member_row(member: MemberResult) -> dict[str, str]:
    """A collective's figures."""
    schedule = member.schedule
    return {
        "name": member.name,
        "algorithm": f"{schedule.algorithm}, {schedule.collective.kind}",
        "group": _group(member.ranks),
        "size": format_bytes(schedule.collective.size),
        "start": format_time(to_seconds(member.start)),
        "finish": format_time(to_seconds(member.finish)),
        "time": format_time(member.time),
        "alone": format_time(member.alone),
        "slowdown": number_text(member.slowdown, "{:.4g}"),
        "busbw": rate_text(member.busbw),
    }


def _group(ranks: tuple[int, ...]) -> str:
    """Ranks in a few words.

    >>> _group((0, 1, 2, 3)), _group((5,)), _group((0, 2, 6)), _group((0, *range(2, 20)))
    ('0-3', '5', '0 2 6', '19 ranks')
    """
    if len(ranks) > 2 and ranks == tuple(range(ranks[0], ranks[0] + len(ranks))):
        return f"{ranks[0]}-{ranks[-1]}"
    return " ".join(map(str, ranks)) if len(ranks) <= MOST_RANKS else f"{len(ranks)} ranks"


def background_row(stream: BackgroundResult) -> dict[str, str]:
    """Figures of background messages."""
    what = stream.background
    return {
        "way": f"{what.src}->{what.dst}",
        "messages": f"{what.times} of {format_bytes(what.size)}",
        "start": format_time(what.start),
        "finish": format_time(to_seconds(stream.finish)),
        "time": format_time(stream.time),
        "slowest": format_time(stream.longest),
        "alone": format_time(stream.alone),
        "slowdown": number_text(stream.slowdown, "{:.4g}"),
    }
