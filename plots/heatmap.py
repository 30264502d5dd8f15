"""Use of links over time: a row a link, the darker the busier."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from plots import density
from plots import markers as lines_of
from plots.frame import frame, name_groups, text_width, time_axis
from plots.lanes import by_resource, only, some_lanes
from plots.shades import draw_busy, nothing
from plots.style import DIGITS, FAINT, RULE, look, show_spines
from simulator.engine.plan import LINK
from topologies.clock import FEMTOSECONDS, to_seconds
from topologies.text import format_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from plots.density import Density
    from plots.frame import Frame
    from plots.lanes import Lanes
    from plots.markers import Marker
    from simulator.engine.timeline import Timeline
    from topologies.topology import Topology

_MOST_ROWS: Final = 256
_MOST_NAMED: Final = 40
_SIDE: Final = 1.0
"""Inches for the bars of the means."""

_SIDE_GAP: Final = 0.12


def heatmap_figure(
    timeline: Timeline, topology: Topology, *, title: str, markers: Sequence[Marker] = ()
) -> Figure:
    """Draw how busy each link is over time, and on its right how busy it is in all.

    Links stand by level, source and destination; those that carry nothing are left out. Where they are more
    than 256, neighbours of a level share a row, which has their mean.

    Parameters
    ----------
    timeline : Timeline
    topology : Topology
        Whose links the timeline's plan has.
    title : str
        First line.
    markers : sequence of Marker
        Times to compare with; the simulated time has a line of its own.

    Examples
    --------
    >>> from algorithms.registry import build
    >>> from simulator.engine.lower import lower
    >>> from simulator.engine.simpy_engine import run_simpy
    >>> from topologies import ring
    >>> four = ring(4, bandwidth=64e9, latency=1e-6)
    >>> timeline = run_simpy(lower(build("ring", "allgather", 4, 2**20), four))
    >>> figure = heatmap_figure(timeline, four, title="Ring")
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['0->1', '1->2', '2->3', '3->0']
    """
    with look():
        lanes = only(by_resource(timeline.plan, topology), timeline.plan.resources.kind == LINK)
        if not len(lanes):
            return nothing(title, "no link carries anything")
        ticks = some_lanes(lanes, _MOST_NAMED)
        names = [lanes.name(lane) for lane in ticks]
        font = 7.5 if len(ticks) > 24 else 8.0
        rows = min(len(lanes), _MOST_ROWS)
        body = float(np.clip(0.16 * rows, 0.8, 5.0))
        page = frame(timeline, markers, max(1.2, 0.45 + text_width(names, font)), body)
        page = replace(page, right=page.right + _SIDE + _SIDE_GAP)
        figure = page.figure(title, _facts(timeline, lanes))
        picture = density.density(
            timeline,
            lanes,
            page.end * FEMTOSECONDS or 1.0,
            density.fitting_bins(timeline),
            _MOST_ROWS,
        )
        axes = page.axes(figure, page.bottom, page.body)
        image = density.draw_image(axes, picture, page.span)
        time_axis(axes, page)
        axes.grid(visible=False)
        axes.set_yticks(picture.row[ticks] + 0.5, names, fontsize=font)
        name_groups(axes, lanes, [*picture.first.tolist(), len(picture.busy)], page)
        lines_of.draw_lines(axes, page.lines, page.unit[1])
        lines_of.draw_labels(axes, page.lines, page.unit[1], page.body)
        _draw_means(figure, page, picture)
        draw_busy(figure, page, image)
        return figure


def _facts(timeline: Timeline, lanes: Lanes) -> str:
    links = int((lanes.lane >= 0).sum())
    plural = "" if links == 1 else "s"
    time = format_time(to_seconds(timeline.time), digits=DIGITS)
    verb = "carries" if links == 1 else "carry"
    rows = f" in {_MOST_ROWS} rows" if links > _MOST_ROWS else ""
    return f"{links:,} link{plural} that {verb} something{rows}, {time}"


def _draw_means(figure: Figure, page: Frame, picture: Density) -> Axes:
    """Draw how busy each row is over the whole time."""
    wide, tall = figure.get_size_inches()
    left = (wide - page.right + _SIDE_GAP) / wide
    axes = figure.add_axes((left, page.bottom / tall, _SIDE / wide, page.body / tall))
    rows = len(picture.busy)
    means = picture.busy.mean(axis=1)
    axes.barh(np.arange(rows) + 0.5, means, height=1.0 if rows > 60 else 0.8, color="#6a8fb5", lw=0)
    axes.set_xlim(0, 1)
    axes.set_ylim(rows, 0)
    axes.set_yticks([])
    axes.set_xticks([0, 0.5, 1], ["0", "50", "100 %"], fontsize=7)
    axes.tick_params(length=2, pad=2)
    show_spines(axes, "left", "bottom")
    for first in picture.first[1:].tolist():
        axes.axhline(first, color=RULE, lw=0.6)
    axes.set_xlabel("busy in all", fontsize=8, color=FAINT)
    return axes
