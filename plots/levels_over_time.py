"""A timeline by level: how much of each level's links is in use, by which step, and who waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from plots import markers as lines_of
from plots import path as paths
from plots.density import coverage, fitting_bins, part_used
from plots.frame import frame, text_width, time_axis
from plots.gantt import WAITING, step_colours
from plots.lanes import HIDDEN, by_level
from plots.queues import draw_waiting, waiting
from plots.shades import draw_tints
from topologies.clock import FEMTOSECONDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from plots.lanes import Lanes
    from plots.markers import Marker
    from plots.tints import Tints
    from simulator.engine.critical_path import CriticalPath
    from simulator.engine.timeline import Timeline
    from topologies.topology import Topology

_TALL: Final = 0.85
_ROOM: Final = (0.06, 0.7)
"""Part of a lane's height for what is in use, from all of it to nothing."""

_PATH: Final = 0.73
_MOST_LAYERS: Final = 64
"""Colours in a lane: of more steps, neighbours share one."""


def levels_chart(
    timeline: Timeline,
    tints: Tints,
    topology: Topology,
    title: str,
    subtitle: str,
    markers: Sequence[Marker],
    path: CriticalPath | None,
) -> Figure:
    """Draw a lane for the links of each level, and for what ranks have of each kind.

    What a lane is filled with is how many of its links, or reducers, are in use, of those that ever are, in
    the colours of the steps; hatched below it is how many messages wait for one of them.

    Parameters
    ----------
    timeline : Timeline
        Of at least one hop.
    tints : Tints
    topology : Topology
    title, subtitle : str
    markers : sequence of Marker
    path : CriticalPath or None
    """
    lanes = by_level(timeline.plan, topology)
    of_lane = np.bincount(lanes.lane[lanes.lane != HIDDEN], minlength=len(lanes))
    names = [
        f"{lanes.name(i)}\n{count:,} of them" if count > 1 else lanes.name(i)
        for i, count in enumerate(of_lane.tolist())
    ]
    left = 0.45 + text_width([lanes.name(i) for i in range(len(lanes))])
    page = frame(timeline, markers, left, _TALL * len(lanes))
    figure = page.figure(title, subtitle)
    axes = page.axes(figure, page.bottom, page.body)
    axes.set_ylim(len(lanes), 0)
    axes.set_yticks(np.arange(len(lanes)) + 0.38, names, fontsize=8)
    time_axis(axes, page)
    bins, end = fitting_bins(timeline), page.end * FEMTOSECONDS or 1.0
    edges = np.linspace(0, page.span, bins + 1)
    for lane in range(len(lanes)):
        axes.axhspan(lane + _ROOM[0], lane + _ROOM[1], color="#f4f4f4", lw=0, zorder=0)
    _draw_use(axes, _use(timeline, tints, lanes, end, bins), edges)
    waits = waiting(timeline, lanes.lane[0], len(lanes), end, bins)
    keys = [draw_waiting(axes, row, edges, lane + 0.98, lane + WAITING[0]) for lane, row in enumerate(waits)]
    legend: list[Artist] = [*[key for key in keys if key is not None][:1]]
    if path is not None and len(path):
        rows = np.arange(len(lanes)) + _PATH - 0.5
        legend.append(paths.draw_line(axes, path, timeline, lanes, rows, page.unit[1] * FEMTOSECONDS))
    page.legend(figure, legend)
    lines_of.draw_lines(axes, page.lines, page.unit[1])
    lines_of.draw_labels(axes, page.lines, page.unit[1], page.body)
    if tints.count:
        draw_tints(figure, page, tints)
    return figure


def _use(timeline: Timeline, tints: Tints, lanes: Lanes, end: float, bins: int) -> NDArray[np.float64]:
    """Part of each lane's resources in use by each colour, shape (lanes, layers, bins)."""
    plan = timeline.plan
    layers = min(tints.count, _MOST_LAYERS)
    transfer = plan.transfer[timeline.operation()]
    lane = lanes.lane[0, plan.resource]
    own = np.flatnonzero((lane != HIDDEN) & (transfer >= 0))
    layer = tints.of_transfer[transfer[own]].astype(np.int64) * layers // max(tints.count, 1)
    of_lane = np.bincount(lanes.lane[lanes.lane != HIDDEN], minlength=len(lanes))
    start, stop = (column[own] * (bins / end) for column in (timeline.grant, timeline.release))
    covered = coverage(
        lane[own] * layers + layer,
        start,
        stop,
        (len(lanes) * layers, bins),
        part_used(timeline)[own] / of_lane[lane[own]],
    )
    return covered.reshape(len(lanes), layers, bins)


def _draw_use(axes: Axes, use: NDArray[np.float64], edges: NDArray[np.float64]) -> None:
    """Stack the colours of each lane, from the bottom of its room."""
    top, bottom = _ROOM
    colours = step_colours(use.shape[1])
    for lane, layers in enumerate(use):
        floor = np.zeros(layers.shape[1])
        for layer in np.flatnonzero(layers.any(axis=1)).tolist():
            below, floor = floor, np.minimum(floor + layers[layer], 1.0)
            # the outline of what is not there takes most of the time
            own = np.flatnonzero(layers[layer])
            some = slice(own[0], own[-1] + 1)
            axes.stairs(
                lane + bottom - (bottom - top) * floor[some],
                edges[own[0] : own[-1] + 2],
                baseline=lane + bottom - (bottom - top) * below[some],
                color=colours[layer],
                fill=True,
                lw=0,
                label="in use",
                zorder=2,
            )
