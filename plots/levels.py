"""Bytes and busy time of the links of each level."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from plots.frame import text_width
from plots.stacks import bar_axis
from plots.style import DIGITS, FAINT, INK, colour, label, look, titled_figure
from topologies.clock import to_seconds
from topologies.text import format_bytes, format_time

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from plots.markers import Marker
    from simulator.engine.analysis import LinkUse
    from topologies.topology import Topology

_WIDTH: Final = 10.0
_ROW: Final = 0.62
_TOP: Final = 0.95
_FOOT: Final = 0.95
_GAP: Final = 0.95
"""Inches between the panels, for what stands behind the bars."""

_LINES: Final = ((0, (4, 2)), (0, (1, 1.5)), "-.", (0, (6, 2, 1, 2)))


def levels_figure(
    topology: Topology,
    use: LinkUse,
    time: int,
    *,
    title: str,
    markers: Sequence[Marker] = (),
    copies: int = 1,
) -> Figure:
    """Draw what all links of each level carry, and for how long they are busy: on average, and the busiest.

    Parameters
    ----------
    topology : Topology
    use : LinkUse
        Of its links.
    time : int
        fs until everything has ended.
    title : str
        First line.
    markers : sequence of Marker
        Bounds that the busy times are held against.
    copies : int
        Links that each stands for.

    Examples
    --------
    >>> from algorithms.registry import build
    >>> from simulator.engine.analysis import link_use
    >>> from simulator.engine.lower import lower
    >>> from simulator.engine.simpy_engine import run_simpy
    >>> from topologies import ring
    >>> schedule, four = build("ring", "allgather", 4, 2**20), ring(4, bandwidth=64e9)
    >>> timeline = run_simpy(lower(schedule, four))
    >>> figure = levels_figure(four, link_use(timeline, schedule), timeline.time, title="Ring")
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['3 MiB']
    """
    own = [topology.links.level == level for level in range(len(topology.levels))]
    names = [
        f"{label(name)}\n{copies * int(some.sum()):,} links"
        for name, some in zip(topology.levels, own, strict=True)
    ]
    carried = [copies * sum(use.bytes[some].tolist()) for some in own]
    means = [to_seconds(round(float(use.busy[some].mean()))) if some.any() else 0.0 for some in own]
    most = [to_seconds(int(use.busy[some].max(initial=0))) for some in own]
    with look():
        rows = max(len(names), 1)
        height = _TOP + _ROW * rows + _FOOT
        facts = f"{format_bytes(sum(carried), DIGITS)} over links, {format_time(to_seconds(time), DIGITS)}"
        figure = titled_figure(_WIDTH, height, title, facts)
        left = 0.35 + text_width([line for name in names for line in name.split("\n")])
        wide = (_WIDTH - left - 2 * _GAP) / 2
        panels = [
            figure.add_axes((at / _WIDTH, _FOOT / height, wide / _WIDTH, _ROW * rows / height))
            for at in (left, left + wide + _GAP)
        ]
        _bars(panels[0], carried, 0.6)
        _end(panels[0], [format_bytes(count, DIGITS) for count in carried], carried)
        _frame(panels[0], names, float(max(carried, default=0)), "bytes", _bytes)
        whole = to_seconds(time) or 1.0
        for values, aside, strong in ((most, -0.17, True), (means, 0.17, False)):
            _bars(panels[1], values, 0.3, aside, strong=strong)
            _end(panels[1], [f"{value / whole:.0%}" for value in values], values, aside)
        _frame(panels[1], [""] * rows, to_seconds(time), "busy", lambda value: format_time(value, 3))
        _mark(figure, panels[1], markers, to_seconds(time), height)
        return figure


def _bytes(count: float) -> str:
    return format_bytes(round(count), 3)


def _bars(
    axes: Axes, values: Sequence[float], tall: float, aside: float = 0.0, *, strong: bool = True
) -> None:
    """Draw bars in the colours of the levels, pale where they are not the main ones."""
    rows = np.arange(len(values)) + 0.5 + aside
    colours = [colour(level) for level in range(len(values))]
    axes.barh(rows, values, height=tall, color=colours, alpha=1.0 if strong else 0.45, lw=0)


def _end(axes: Axes, texts: Sequence[str], values: Sequence[float], aside: float = 0.0) -> None:
    for row, (text, value) in enumerate(zip(texts, values, strict=True)):
        place = (value, row + 0.5 + aside)
        axes.annotate(
            text,
            place,
            (3, 0),
            textcoords="offset points",
            va="center",
            fontsize=7.5,
            color=INK,
            annotation_clip=False,
            bbox={"boxstyle": "square,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.7},
        )


def _frame(axes: Axes, names: Sequence[str], most: float, what: str, text: Callable[[float], str]) -> None:
    """Axes from nothing to the most, with a row a level."""
    rows = max(len(names), 1)
    axes.set_ylim(rows, 0)
    axes.set_xlim(0, 1.04 * (most or 1.0))
    axes.set_yticks(np.arange(len(names)) + 0.5, names, fontsize=8)
    ticks = [part * most / 2 for part in range(3)] if most else [0.0]
    bar_axis(axes, ticks, text, what)


def _mark(figure: Figure, axes: Axes, markers: Sequence[Marker], whole: float, height: float) -> None:
    """Draw the bounds across the busy times, and explain all of it at the foot."""
    keys: list[Artist] = [
        Patch(color=FAINT, label="busiest link"),
        Patch(color=FAINT, alpha=0.45, lw=0, label="mean of the links"),
        Line2D([], [], color=INK, lw=1.0, label=f"time {format_time(whole, DIGITS)}"),
    ]
    axes.axvline(whole, color=INK, lw=1.0, zorder=4)
    for marker, dash in zip(markers, _LINES, strict=False):
        arrow = " \u2192" if marker.time_seconds > whole else ""
        text = f"{marker.label} {format_time(marker.time_seconds, DIGITS)}{arrow}"
        keys.append(Line2D([], [], color=FAINT, lw=1.0, ls=dash, label=text))
        if not arrow:
            axes.axvline(marker.time_seconds, color=FAINT, lw=1.0, ls=dash, zorder=4, label=text)
    figure.legend(
        handles=keys,
        loc="lower right",
        bbox_to_anchor=(0.99, 0.04 / height),
        ncols=-(-len(keys) // 2) if len(keys) > 4 else len(keys),
        frameon=False,
        fontsize=8,
        handlelength=1.8,
        columnspacing=1.2,
        borderaxespad=0,
    )
