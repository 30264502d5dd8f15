"""An explanation as tables on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from simulator.engine.path_parts import PARTS
from simulator.scenario.tables import NOTHING, new_table, number_text
from topologies.clock import to_seconds
from topologies.text import format_bandwidth, format_bytes, format_time

if TYPE_CHECKING:
    from rich.table import Table

    from algorithms.bounds import Bounds
    from simulator.scenario.explain import Explanation

HOT_LINKS: Final = 10
"""Links that the table names."""


def explanation_tables(explanation: Explanation) -> Iterator[Table]:
    """Where the time goes, the hottest links, the bounds, and what each parameter would gain."""
    yield _parts_table(explanation)
    if len(explanation.hottest):
        yield _links_table(explanation)
    if explanation.bounds is not None:
        yield _bounds_table(explanation, explanation.bounds)
    if explanation.gains:
        yield _gains_table(explanation)


def explanation_notes(explanation: Explanation) -> Iterator[str]:
    """What there is to say beside the tables."""
    time, bounds = explanation.result.timeline.time, explanation.bounds
    if bounds is not None and bounds.best:
        yield f"bound on bandwidth: {bounds.moved}"
    idle = explanation.idle[: 1 if explanation.result_is_one_rank else None]
    if time and len(idle):
        least, most = (f"{share / time:.1%}" for share in (int(idle.min()), int(idle.max())))
        yield f"ranks are idle for {least}" + (f" to {most}" if least != most else "")


def _parts_table(explanation: Explanation) -> Table:
    """A row a part of the path, in all and by level."""
    time, totals = explanation.path.time, explanation.path.totals()
    places = [*explanation.parts.levels.items(), ("at the ranks", explanation.parts.ranks)]
    named = [(name, parts) for name, parts in places if any(parts.values())]
    named = named if len(named) > 1 else []
    table = new_table("part", "time", "share", *(name for name, _ in named), title="where the time goes")
    for part in PARTS:
        if totals[part]:
            split = (parts[part] for _, parts in named)
            table.add_row(part, _time(totals[part]), f"{totals[part] / time:.1%}", *map(_time, split))
    return table


def _time(time: int) -> str:
    return format_time(to_seconds(time)) if time else NOTHING


def _links_table(explanation: Explanation) -> Table:
    """The busiest links."""
    title, headers, rows = busiest_links(explanation)
    table = new_table(*headers, title=title)
    for row in rows:
        table.add_row(*row)
    return table


def busiest_links(explanation: Explanation) -> tuple[str, tuple[str, ...], Iterator[tuple[str, ...]]]:
    """What a table of the busiest links is called, its columns, and its rows."""
    title = f"the hottest of {len(explanation.hottest)} links that carried something"
    if explanation.result_is_one_rank:
        title = "links around rank 0, which stands for all"
    headers = ("link", "level", "bytes", "rate", "busy", "longest queue", "longest wait")
    return title, headers, _link_rows(explanation)


def _link_rows(explanation: Explanation) -> Iterator[tuple[str, ...]]:
    use, waits, topology = explanation.use, explanation.waits, explanation.result.topology
    time = explanation.result.timeline.time
    for link in explanation.hottest[:HOT_LINKS].tolist():
        yield (
            topology.link_name(link),
            topology.levels[topology.links.level[link]],
            format_bytes(int(use.bytes[link])),
            format_bandwidth(int(use.bytes[link]) / to_seconds(time)) if time else NOTHING,
            f"{int(use.busy[link]) / time:.1%}" if time else NOTHING,
            str(int(waits.queue[link])),
            _time(int(waits.longest[link])),
        )


def _bounds_table(explanation: Explanation, bounds: Bounds) -> Table:
    """The bounds of the topology, and the textbook's."""
    textbook = explanation.textbook
    table = new_table("bound", "this topology", "textbook", title="what no algorithm can beat")
    for name in ("latency", "bandwidth"):
        book = NOTHING if textbook is None else format_time(getattr(textbook, name))
        table.add_row(name, format_time(getattr(bounds, name)), book)
    table.add_row("reduction", format_time(bounds.reduction), NOTHING)
    if bounds.composed is not None:
        table.add_row("best ReduceScatter + AllGather, no bound", format_time(bounds.composed), NOTHING)
    table.add_row("time / best", number_text(explanation.gap, "{:.4g}"), NOTHING)
    return table


def _gains_table(explanation: Explanation) -> Table:
    """What each parameter would gain."""
    table = new_table("parameter", "time", "times as fast", title="with one parameter twice as good")
    for gain in explanation.gains:
        table.add_row(gain.parameter, format_time(to_seconds(gain.time)), f"{gain.factor:.4g}")
    return table
