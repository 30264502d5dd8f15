"""A difference as JSON, and as tables on a terminal."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from simulator.scenario.diff_file import BOUNDS
from simulator.scenario.diff_sentence import sentence
from simulator.scenario.tables import NOTHING, new_table
from topologies.clock import to_seconds
from topologies.text import format_bytes, format_time

if TYPE_CHECKING:
    from rich.table import Table

    from simulator.scenario.diff import Difference, Pair
    from simulator.scenario.diff_sides import Side


def difference_json(found: Difference) -> str:
    """One object, with a line's end; the same bytes on every run."""
    return json.dumps(difference_object(found), indent=2, allow_nan=False) + "\n"


def difference_object(found: Difference) -> dict[str, Any]:
    """A difference's fields: `a` and `b` of every figure, times in s, sizes in bytes."""
    before, after = found.time.before or 0, found.time.after or 0
    return {
        "a": {"from": found.before.label, "scenario": found.before.result.get("scenario")},
        "b": {"from": found.after.label, "scenario": found.after.result.get("scenario")},
        "time": _seconds(found.time),
        "difference": to_seconds(after - before),
        "ratio": after / before if before else None,
        "sentence": sentence(found),
        "settings": [{"key": one.key, "a": one.before, "b": one.after} for one in found.settings],
        "critical_path": {part: _seconds(pair) for part, pair in found.parts.items()},
        "levels": [
            {
                "name": level.name,
                "bytes": _pair(level.bytes),
                "busy": _seconds(level.busy),
                "critical_path": {part: _seconds(pair) for part, pair in level.parts.items()},
            }
            for level in found.levels
        ],
        "at_ranks": {part: _seconds(pair) for part, pair in found.ranks.items()},
        "links": [
            {
                "src": link.src,
                "dst": link.dst,
                "twin": link.twin,
                "level": link.level,
                "bytes": _pair(link.bytes),
                "busy": _seconds(link.busy),
            }
            for link in found.links
        ],
        "every_link": found.every_link,
        "counts": {key: _pair(pair) for key, pair in found.counts.items()},
        "bounds": {key: dict(zip("ab", pair, strict=True)) for key, pair in _bounds(found).items()},
    }


def _pair(pair: Pair) -> dict[str, int | None]:
    return {"a": pair.before, "b": pair.after}


def _seconds(pair: Pair) -> dict[str, float | None]:
    return {
        side: None if time is None else to_seconds(time)
        for side, time in (("a", pair.before), ("b", pair.after))
    }


def _bounds(found: Difference) -> dict[str, tuple[float | None, float | None]]:
    """Lower bounds and gaps of two collectives."""
    if "bounds" not in found.before.result:
        return {}
    return {key: (_bound(found.before, key), _bound(found.after, key)) for key in (*BOUNDS, "gap")}


def _bound(side: Side, key: str) -> float | None:
    """A figure that a file may lack."""
    value = (side.result if key == "gap" else side.result.get("bounds") or {}).get(key)
    return None if value is None else float(value)


def difference_tables(found: Difference) -> Iterator[Table]:
    """Where the difference is, what of the scenarios differs, and on which links."""
    if found.settings:
        yield _settings_table(found)
    yield _parts_table(found)
    if len(found.levels) > 1:
        yield _levels_table(found)
    if found.links:
        yield _links_table(found)
    yield _figures_table(found)


def _settings_table(found: Difference) -> Table:
    table = new_table("name", "A", "B", title="what differs")
    for one in found.settings:
        table.add_row(one.key, one.before or NOTHING, one.after or NOTHING)
    return table


def _parts_table(found: Difference) -> Table:
    table = new_table("part", "A", "B", "difference", "share", title="where the time goes")
    for part, pair in (*found.parts.items(), ("time", found.time)):
        if pair.before or pair.after:
            share = f"{pair.grown / found.time.grown:.1%}" if found.time.grown else NOTHING
            table.add_row(part, *_times(pair), share)
    return table


def _levels_table(found: Difference) -> Table:
    """What changed on the links of each level, and at the ranks."""
    places = [*(level.parts for level in found.levels), found.ranks]
    some = [part for part in found.parts if any(parts[part].grown for parts in places)]
    table = new_table("level", "bytes: A", "B", *some, title="by level, what the path takes more")
    for level in found.levels:
        sizes = (
            NOTHING if size is None else format_bytes(size)
            for size in (level.bytes.before, level.bytes.after)
        )
        table.add_row(level.name, *sizes, *(_change(level.parts[part]) for part in some))
    table.add_row("at the ranks", NOTHING, NOTHING, *(_change(found.ranks[part]) for part in some))
    return table


def _links_table(found: Difference) -> Table:
    title = "links that changed most" + ("" if found.every_link else ", of the busiest that the results name")
    table = new_table("link", "level", "bytes: A", "B", "busy: A", "B", "difference", title=title)
    for link in found.links:
        sizes = (
            NOTHING if size is None else format_bytes(size) for size in (link.bytes.before, link.bytes.after)
        )
        table.add_row(link.name, link.level, *sizes, *_times(link.busy))
    return table


def _figures_table(found: Difference) -> Table:
    """Counts and bounds."""
    table = new_table("figure", "A", "B", title="counts and bounds")
    for key, pair in found.counts.items():
        text: Callable[[int], str] = format_bytes if key.startswith("bytes") else str
        table.add_row(
            key, *(NOTHING if value is None else text(value) for value in (pair.before, pair.after))
        )
    for key, bound in _bounds(found).items():
        name = key if key == "gap" else f"bound: {key}"
        table.add_row(name, *(_bound_text(key, value) for value in bound))
    return table


def _bound_text(key: str, value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"{value:.4g}" if key == "gap" else format_time(value)


def _times(pair: Pair) -> tuple[str, str, str]:
    a, b = (NOTHING if time is None else format_time(to_seconds(time)) for time in (pair.before, pair.after))
    return a, b, _change(pair)


def _change(pair: Pair) -> str:
    return (
        NOTHING
        if not pair.grown
        else ("+" if pair.grown > 0 else "") + format_time(to_seconds(pair.grown), 4)
    )
