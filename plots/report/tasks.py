"""Tasks as the page draws them: a lane for each stream of each stage, or rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from plots.density import coverage
from plots.palette import label
from plots.report.columns import numbered, packed
from plots.report.spans import FINEST, MOST_SPANS, cells_for, use_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plots.report.values import Chart
    from plots.steps import Bars

NAMES: Final = 40
"""Characters of a task's name."""


def tasks_chart(bars: Bars, names: Sequence[str], sizes: Sequence[int], most: int = MOST_SPANS) -> Chart:
    """What the page draws of tasks.

    Parameters
    ----------
    bars : Bars
    names : sequence of str
        Of each task.
    sizes : sequence of int
        Bytes of each task that is a call, else 0.
    most : int
        Tasks that are drawn one by one.
    """
    words, colours = zip(*bars.tints, strict=True)
    chart = {
        "end": bars.time,
        "hops": len(bars.lane),
        "left_out": 0,
        "tints": {"title": "task", "names": words, "colours": colours},
        **_lanes(bars),
        "path": None,
        "schedules": [],
    }
    if len(bars.lane) > most:
        return chart | {"use": _use(bars, most)}
    return chart | _tasks(bars, names, sizes)


def _lanes(bars: Bars) -> dict[str, Any]:
    """A lane for each stream, in groups by stage."""
    lanes = np.arange(len(bars.names))
    return {
        "resources": {
            "names": [
                f"{bars.group_name(stage)} {label(name)}"
                for stage, name in zip(bars.group, bars.names, strict=True)
            ],
            "link": packed(np.full(len(lanes), -1)),
            "latency": packed(0 * lanes),
        },
        "views": [
            {
                "name": f"by {bars.whose}",
                "groups": [bars.group_name(stage) for stage in dict.fromkeys(bars.group)],
                "lanes": [label(name) for name in bars.names],
                "group": packed(np.unique(np.array(bars.group), return_inverse=True)[1]),
                "resource": packed(lanes),
                "lane": packed(lanes),
                "low": packed(0 * lanes),
                "high": packed(0 * lanes + FINEST),
            }
        ],
    }


def _use(bars: Bars, most: int) -> dict[str, Any]:
    """How busy each stream is in equal parts of the time."""
    lanes = len(bars.names)
    cells = cells_for(lanes, most)
    begin, end = (moments * (cells / max(bars.time, 1)) for moments in (bars.begin, bars.end))
    lane = np.array(bars.lane, dtype=np.int64)
    return use_columns(coverage(lane, begin, end, (lanes, cells), np.ones(len(lane))))


def _tasks(bars: Bars, names: Sequence[str], sizes: Sequence[int]) -> dict[str, Any]:
    """Every task."""
    distinct, which = numbered([label(name, NAMES) for name in names])
    kind = {name: number for number, name in enumerate(bars.kinds)}
    return {
        "spans": {
            "resource": packed(bars.lane),
            "arrival": packed(bars.begin),
            "wait": packed(np.zeros(len(bars.lane), dtype=np.int64)),
            "hold": packed(bars.end - bars.begin),
        },
        "tasks": {
            "names": distinct,
            "name": packed(which),
            "tint": packed([kind[what] for what in bars.what]),
            "number": packed(bars.number),
            "bytes": packed(sizes),
        },
    }
