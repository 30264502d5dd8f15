"""Tasks as the page draws them: a lane for each stream of each stage, or rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

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
    lanes = np.arange(len(bars.names))
    group = np.unique(np.array(bars.group), return_inverse=True)[1]
    words, colours = zip(*bars.tints, strict=True)
    chart = {
        "end": bars.time,
        "hops": len(bars.lane),
        "left_out": 0,
        "tints": {"title": "task", "names": words, "colours": colours},
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
                "group": packed(group),
                "resource": packed(lanes),
                "lane": packed(lanes),
                "low": packed(0 * lanes),
                "high": packed(0 * lanes + FINEST),
            }
        ],
        "path": None,
        "schedules": [],
    }
    lane = np.array(bars.lane, dtype=np.int64)
    if len(lane) > most:
        cells = cells_for(len(lanes), most)
        begin, end = (moments * (cells / max(bars.time, 1)) for moments in (bars.begin, bars.end))
        busy = coverage(lane, begin, end, (len(lanes), cells), np.ones(len(lane)))
        return chart | {"use": use_columns(busy)}
    distinct, which = numbered([label(name, NAMES) for name in names])
    kind = {name: number for number, name in enumerate(bars.kinds)}
    return chart | {
        "spans": {
            "resource": packed(lane),
            "arrival": packed(bars.begin),
            "wait": packed(0 * lane),
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
