"""Where the time of a critical path went: a bar for all of it, and one for each place where it was spent."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from plots.stacks import Part, Stacks, stacks_figure
from plots.style import DIGITS, label, look
from simulator.engine.path_parts import PARTS
from topologies.clock import to_seconds
from topologies.text import format_time

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from simulator.engine.critical_path import CriticalPath, PartsByLevel

_TINTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "latency": "#56B4E9",
        "overhead": "#E69F00",
        "serialization": "#0072B2",
        "queueing": "#8a8a8a",
        "reduction": "#D55E00",
        "compute": "#009E73",
        "waiting": "#CC79A7",
    }
)


def attribution_figure(path: CriticalPath, parts: PartsByLevel, *, title: str) -> Figure:
    """Draw what the time of a path was, in all, on the links of each level, and at the ranks.

    Parameters
    ----------
    path : CriticalPath
    parts : PartsByLevel
        Of that path.
    title : str
        First line.
    """
    spent = [*((f"{label(name)} links", of_level) for name, of_level in parts.levels.items())]
    places = [(name, of) for name, of in [*spent, ("at the ranks", parts.ranks)] if any(of.values())]
    rows = [("all", path.totals()), *places]
    if len(places) == 1:
        rows = [(f"all ({places[0][0]})", path.totals())]
    names = [name for name, _ in rows]
    size = np.array([[to_seconds(of[part]) for part in PARTS] for _, of in rows])
    whole = to_seconds(path.time)
    ends = [f"{_time(total)}, {total / whole:.0%}" if whole else _time(total) for total in size.sum(axis=1)]
    drawn = [Part(part, _TINTS[part], "////" if part == "queueing" else "") for part in PARTS]
    stacks = Stacks(names, drawn, size, _time, "time on the critical path", ends)
    with look():
        return stacks_figure(stacks, title=title, subtitle=f"the critical path, {_time(whole)}")[0]


def _time(seconds: float) -> str:
    return format_time(float(seconds), DIGITS)
