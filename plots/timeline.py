"""Picture of a timeline: who held which link or reducer, when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from plots import density, gantt
from plots import markers as lines_of
from plots import path as paths
from plots.bars import bars
from plots.frame import GAP, Frame, frame, name_groups, text_width, time_axis
from plots.lanes import HIDDEN, Lanes, by_rank, by_resource, packed, some_lanes
from plots.levels_over_time import levels_chart
from plots.markers import Marker
from plots.queues import draw_waiting, waiting
from plots.shades import PERCENT, draw_busy, draw_tints, nothing
from plots.style import DIGITS, look
from plots.tints import Tints, by_schedule, by_step
from simulator.engine.plan import LINK
from topologies.clock import FEMTOSECONDS, to_seconds
from topologies.text import format_time

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from algorithms.schedule import Schedule
    from plots.views import View
    from simulator.engine.critical_path import CriticalPath
    from simulator.engine.timeline import Timeline
    from simulator.engine.together import Together
    from topologies.topology import Topology

__all__ = ["Marker", "timeline_figure", "together_figure"]

_MOST_LANES = 120
_MOST_BARS = 5_000
_FEW_LANES = 48
_MOST_NAMED_CURVES = 6
_WAIT_HIGH = 0.6
_MOST_NAMED_LANES = 16


def timeline_figure(
    timeline: Timeline,
    schedule: Schedule,
    topology: Topology,
    *,
    title: str,
    markers: Sequence[Marker] = (),
    lanes: View = "auto",
    path: CriticalPath | None = None,
) -> Figure:
    """Draw a timeline as a Gantt chart, or as an image of how busy the lanes are if it is too big.

    A bar is a hop: it holds its lane from the grant to the release, in the colour of its step.
    Past 120 lanes or 5,000 bars the lanes become rows of an image, below a curve of the mean.

    Parameters
    ----------
    timeline : Timeline
        What to draw.
    schedule, topology
        What the timeline's plan was made from.
    title : str
        First line.
    markers : sequence of Marker
        Times to compare with; the simulated time has a line of its own.
    lanes : {'auto', 'links', 'ranks', 'levels'}
        A lane for each link and reducer, lanes of what each rank sends, receives and reduces,
        or the ranks where the links would be many more; or one lane a level.
    path : CriticalPath, optional
        Drawn over the bars, or as one line through the image; what has no lane is left out.

    Examples
    --------
    >>> from algorithms.registry import build
    >>> from simulator.engine.lower import lower
    >>> from simulator.engine.simpy_engine import run_simpy
    >>> from topologies import ring
    >>> schedule, four = build("ring", "allgather", 4, 2**20), ring(4, bandwidth=64e9, latency=1e-6)
    >>> timeline = run_simpy(lower(schedule, four))
    >>> figure = timeline_figure(timeline, schedule, four, title="Ring")
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['0->1', '1->2', '2->3', '3->0']
    """
    return _figure(timeline, by_step(schedule), topology, title, markers, lanes, path)


def together_figure(
    timeline: Timeline,
    together: Together,
    topology: Topology,
    *,
    title: str,
    names: Sequence[str],
    markers: Sequence[Marker] = (),
    lanes: View = "auto",
    path: CriticalPath | None = None,
) -> Figure:
    """Draw a timeline of several schedules, each in a colour of its own; else as `timeline_figure`.

    When ranks start is not drawn.

    Parameters
    ----------
    timeline : Timeline
        What to draw.
    together, topology
        What the timeline's plan was made from.
    title : str
        First line.
    names : sequence of str
        Of each schedule.
    markers : sequence of Marker
        Times to mark.
    lanes : {'auto', 'links', 'ranks', 'levels'}
    path : CriticalPath, optional
    """
    tints = by_schedule([job.schedule for job in together.jobs], names, topology.ranks)
    return _figure(timeline, tints, topology, title, markers, lanes, path)


def _figure(
    timeline: Timeline,
    tints: Tints,
    topology: Topology,
    title: str,
    markers: Sequence[Marker],
    view: View,
    path: CriticalPath | None,
) -> Figure:
    with look():
        if not timeline.plan.hops:
            return nothing(title, tints.facts)
        if view == "levels":
            return levels_chart(timeline, tints, topology, title, _subtitle(timeline, tints), markers, path)
        shown = _lanes(timeline, topology, view, tints, role_first=False)
        if _is_big(timeline, shown):
            return _density_figure(timeline, tints, topology, title, markers, view, path)
        return _gantt_figure(timeline, tints, topology, title, markers, shown, path)


def _lanes(timeline: Timeline, topology: Topology, view: View, tints: Tints, *, role_first: bool) -> Lanes:
    # many schedules start at many times, which their bars tell
    starts = not tints.names
    links = by_resource(timeline.plan, topology, starts=starts)
    if view == "links" or (view == "auto" and len(links) <= _FEW_LANES):
        return links
    ranks = by_rank(timeline.plan, topology, role_first=role_first, starts=starts)
    return ranks if view == "ranks" or len(ranks) < len(links) else links


def _is_big(timeline: Timeline, lanes: Lanes) -> bool:
    shown = int((lanes.lane != HIDDEN).sum(axis=0)[timeline.plan.resource].sum())
    return len(lanes) > _MOST_LANES or shown > _MOST_BARS


def _subtitle(timeline: Timeline, tints: Tints) -> str:
    return f"{tints.facts}, {format_time(to_seconds(timeline.time), digits=DIGITS)}"


def _gantt_figure(
    timeline: Timeline,
    tints: Tints,
    topology: Topology,
    title: str,
    markers: Sequence[Marker],
    lanes: Lanes,
    path: CriticalPath | None,
) -> Figure:
    tall = float(np.clip(5.0 / len(lanes), 0.11, 0.26))
    font = min(8.0, 0.85 * 72 * tall)
    names = [lanes.name(lane) for lane in range(len(lanes))]
    ranked = len(lanes.lane) > 1
    left = 0.3 + (text_width(lanes.groups) if ranked else 0.15) + text_width(names, font)
    page = frame(timeline, markers, left, tall * len(lanes))
    figure = page.figure(title, _subtitle(timeline, tints))
    axes = page.axes(figure, page.bottom, page.body)
    axes.set_ylim(len(lanes), 0)
    axes.set_yticks(np.arange(len(lanes)) + 0.5, names, fontsize=font)
    time_axis(axes, page)
    gantt.zebra(axes, len(lanes), page.span)
    scale, shown = page.unit[1] * FEMTOSECONDS, packed(lanes, timeline)
    chart = bars(timeline, tints.of_transfer, topology, shown, scale)
    legend: list[Artist] = [*gantt.draw(axes, chart, tints.count, page.span, numbered=not tints.names)]
    if path is not None and len(path):
        where = paths.stretches(path, timeline, shown, gantt.room_of(chart), scale)
        legend.append(paths.draw(axes, where, page.span))
    page.legend(figure, legend)
    lines_of.draw_lines(axes, page.lines, page.unit[1])
    lines_of.draw_labels(axes, page.lines, page.unit[1], page.body)
    name_groups(axes, lanes, [*lanes.starts().tolist(), len(lanes)], page, upright=ranked)
    if tints.count:
        draw_tints(figure, page, tints)
    return figure


def _density_figure(
    timeline: Timeline,
    tints: Tints,
    topology: Topology,
    title: str,
    markers: Sequence[Marker],
    view: View,
    path: CriticalPath | None,
) -> Figure:
    lanes = _lanes(timeline, topology, view, tints, role_first=True)
    ticks = some_lanes(lanes, _MOST_NAMED_LANES)
    names = [lanes.name(lane) for lane in ticks]
    page = frame(timeline, markers, max(1.5, 0.45 + text_width(names, 7.5)), 4.2, 0.8)
    figure = page.figure(title, _subtitle(timeline, tints))
    bins = density.fitting_bins(timeline)
    picture = density.density(timeline, lanes, page.end * FEMTOSECONDS or 1.0, bins)
    axes = page.axes(figure, page.bottom, page.body)
    image = density.draw_image(axes, picture, page.span)
    time_axis(axes, page)
    axes.grid(visible=False)
    axes.set_yticks(picture.row[ticks] + 0.5, names, fontsize=7.5)
    name_groups(axes, lanes, [*picture.first.tolist(), len(picture.busy)], page)
    lines_of.draw_lines(axes, page.lines, page.unit[1])
    scale = page.unit[1] * FEMTOSECONDS
    links = np.where(timeline.plan.resources.kind == LINK, 0, HIDDEN)
    waits = waiting(timeline, links, 1, page.end * FEMTOSECONDS or 1.0, bins)[0]
    legend: list[Artist] = [*_draw_curves(figure, page, picture, lanes, waits)]
    if path is not None and len(path):
        legend.append(paths.draw_line(axes, path, timeline, lanes, picture.row, scale))
    page.legend(figure, legend)
    draw_busy(figure, page, image)
    return figure


def _draw_curves(
    figure: Figure, page: Frame, picture: density.Density, lanes: Lanes, waits: NDArray[np.float64]
) -> list[Artist]:
    """Draw the means above the image, how many messages wait, and the labels of the markers above them."""
    axes = page.axes(figure, page.bottom + page.body + GAP, page.curve)
    legend: list[Artist] = [*density.draw_curves(axes, picture, lanes, page.span)[:_MOST_NAMED_CURVES]]
    key = draw_waiting(axes, waits, np.linspace(0, page.span, len(waits) + 1), 0.0, _WAIT_HIGH)
    time_axis(axes, page)
    axes.set_xlabel("")
    axes.tick_params(axis="x", labelbottom=False, length=0)
    axes.set_ylim(0, 1.05)
    axes.set_yticks(*PERCENT, fontsize=7.5)
    lines_of.draw_lines(axes, page.lines, page.unit[1])
    lines_of.draw_labels(axes, page.lines, page.unit[1], page.curve)
    return legend if key is None else [*legend, key]
