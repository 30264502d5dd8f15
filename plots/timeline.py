"""Picture of a timeline: who held which link or reducer, when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np
from matplotlib import rc_context
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.ticker import FixedLocator, MaxNLocator

from plots import density, gantt
from plots import markers as lines_of
from plots.lanes import Lanes, by_rank, by_resource
from plots.markers import Line, Marker
from plots.style import look, new_figure, time_text
from topologies.clock import FEMTOSECONDS, to_seconds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from algorithms.schedule import Schedule
    from simulator.engine.timeline import Timeline
    from topologies.topology import Topology

__all__ = ["Marker", "timeline_figure"]

View = Literal["auto", "links", "ranks"]

_MOST_LANES = 120
_MOST_BARS = 5_000
_FEW_LANES = 48
_MOST_NAMED_STEPS = 16
_WIDTH = 10.0
_GAP = 0.16
_CHARACTER = 0.068
_INK, _FAINT, _RULE = "#222222", "#666666", "#bbbbbb"


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where things stand on the page, in inches, and the axis of time.

    Attributes
    ----------
    left, right, top, bottom : float
        Margins around the axes.
    body, curve : float
        Height of the lanes, and of the curve above them (0: none).
    end : float
        Last second shown.
    lines : tuple of Line
    """

    left: float
    right: float
    top: float
    bottom: float
    body: float
    curve: float
    end: float
    lines: tuple[Line, ...]

    @property
    def height(self) -> float:
        """Of the page."""
        return self.top + self.body + self.bottom + (self.curve + _GAP if self.curve else 0)

    @property
    def unit(self) -> tuple[str, float]:
        """Name and seconds of the unit of time."""
        return _unit(self.end)

    @property
    def span(self) -> float:
        """Length of the axis of time in its unit; 1 if nothing takes time."""
        return self.end / self.unit[1] or 1.0

    def axes(self, figure: Figure, below: float, tall: float) -> Axes:
        """Add axes that stand so many inches above the foot of the page, and are so high."""
        wide = _WIDTH - self.left - self.right
        return figure.add_axes((self.left / _WIDTH, below / self.height, wide / _WIDTH, tall / self.height))


def timeline_figure(
    timeline: Timeline,
    schedule: Schedule,
    topology: Topology,
    *,
    title: str,
    markers: Sequence[Marker] = (),
    lanes: View = "auto",
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
    lanes : {'auto', 'links', 'ranks'}
        A lane for each link and reducer, lanes of what each rank sends, receives and reduces,
        or the ranks where the links would be many more.

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
    # names are people's own: a dollar in them is no formula
    with look(), rc_context({"text.parse_math": False}):
        if not timeline.plan.hops:
            return _nothing(schedule, title)
        shown = _lanes(timeline, topology, lanes, role_first=False)
        if _is_big(timeline, shown):
            return _density_figure(timeline, schedule, topology, title, markers, lanes)
        return _gantt_figure(timeline, schedule, topology, title, markers, shown)


def _lanes(timeline: Timeline, topology: Topology, view: View, *, role_first: bool) -> Lanes:
    links = by_resource(timeline.plan, topology)
    if view == "links" or (view == "auto" and len(links) <= _FEW_LANES):
        return links
    ranks = by_rank(timeline.plan, topology, role_first=role_first)
    return ranks if view == "ranks" or len(ranks) < len(links) else links


def _is_big(timeline: Timeline, lanes: Lanes) -> bool:
    bars = int((lanes.lane >= 0).sum(axis=0)[timeline.plan.resource].sum())
    return len(lanes) > _MOST_LANES or bars > _MOST_BARS


def _unit(seconds: float) -> tuple[str, float]:
    """Unit of time in which a duration is 1 or more, and its seconds.

    >>> _unit(0.0147), _unit(0.0)
    (('ms', 0.001), ('s', 1.0))
    """
    units = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("ps", 1e-12))
    if seconds <= 0:
        return units[0]
    return next((unit for unit in units if seconds >= unit[1]), units[-1])


def _subtitle(timeline: Timeline | None, schedule: Schedule) -> str:
    counts = [(schedule.ranks, "rank"), (schedule.steps, "step"), (len(schedule), "transfer")]
    parts = [f"{count:,} {what}{'' if count == 1 else 's'}" for count, what in counts]
    if timeline is not None:
        parts.append(time_text(to_seconds(timeline.time)))
    return ", ".join(parts)


def _nothing(schedule: Schedule, title: str) -> Figure:
    """Figure of an empty timeline."""
    frame = _Frame(0.3, 0.3, 0.55, 0.1, 0.6, 0.0, 0.0, ())
    figure = new_figure(_WIDTH, frame.height)
    _head(figure, frame, title, _subtitle(None, schedule))
    axes = frame.axes(figure, frame.bottom, frame.body)
    axes.set_axis_off()
    axes.text(0.5, 0.5, "nothing moves", ha="center", va="center", fontsize=12, color=_FAINT)
    return figure


def _frame(
    timeline: Timeline,
    markers: Sequence[Marker],
    left: float,
    body: float,
    curve: float = 0.0,
) -> _Frame:
    right = 0.25
    lines, end = lines_of.layout(markers, to_seconds(timeline.time), _WIDTH - left - right)
    top = 0.62 + lines_of.label_height(lines)
    return _Frame(left, right, top, 0.92, body, curve, end, lines)


def _head(figure: Figure, frame: _Frame, title: str, subtitle: str) -> None:
    """Write title and subtitle."""
    x = 0.12 / _WIDTH
    for text, below, size, tint in ((title, 0.1, 12, _INK), (subtitle, 0.34, 9, _FAINT)):
        figure.text(x, 1 - below / frame.height, text, va="top", ha="left", fontsize=size, color=tint)


def _gantt_figure(
    timeline: Timeline,
    schedule: Schedule,
    topology: Topology,
    title: str,
    markers: Sequence[Marker],
    lanes: Lanes,
) -> Figure:
    tall = float(np.clip(5.0 / len(lanes), 0.11, 0.26))
    font = min(8.0, 0.85 * 72 * tall)
    names = [lanes.name(lane) for lane in range(len(lanes))]
    ranked = len(lanes.lane) > 1
    groups = _CHARACTER * max(map(len, lanes.groups)) if ranked else 0.15
    left = 0.3 + groups + _CHARACTER * font / 8 * max(map(len, names))
    frame = _frame(timeline, markers, left, tall * len(lanes))
    figure = new_figure(_WIDTH, frame.height)
    _head(figure, frame, title, _subtitle(timeline, schedule))
    axes = frame.axes(figure, frame.bottom, frame.body)
    axes.set_ylim(len(lanes), 0)
    axes.set_yticks(np.arange(len(lanes)) + 0.5, names, fontsize=font)
    _time_axis(axes, frame)
    gantt.zebra(axes, len(lanes), frame.span)
    chart = gantt.bars(timeline, schedule, topology, lanes, frame.unit[1] * FEMTOSECONDS)
    legend = gantt.draw(axes, chart, schedule.steps, frame.span)
    lines_of.draw_lines(axes, frame.lines, frame.unit[1])
    lines_of.draw_labels(axes, frame.lines, frame.unit[1], frame.body)
    bounds = [*lanes.starts().tolist(), len(lanes)]
    _name_groups(axes, lanes.groups, bounds, left - 0.12, tall, upright=ranked)
    figure.legend(
        handles=legend,
        loc="lower right",
        bbox_to_anchor=(1 - frame.right / _WIDTH, 0.1 / frame.height),
        borderaxespad=0,
        ncols=len(legend),
        frameon=False,
        fontsize=8,
        handlelength=1.6,
        columnspacing=1.4,
    )
    if schedule.steps:
        _step_bar(figure, frame, schedule.steps)
    return figure


def _time_axis(axes: Axes, frame: _Frame) -> None:
    """Scale, grid and spines of axes along time."""
    axes.set_xlim(-0.003 * frame.span, 1.005 * frame.span)
    axes.set_axisbelow(True)
    axes.grid(axis="x", color="#e4e4e4", lw=0.6)
    axes.tick_params(axis="x", labelsize=8, color=_RULE)
    axes.tick_params(axis="y", length=0)
    for side, spine in axes.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(_RULE)
    if frame.end:
        axes.set_xlabel(f"time ({frame.unit[0]})", fontsize=8.5)
    else:
        axes.set_xticks([0], ["0"])
        axes.set_xlabel("all of it takes no time", fontsize=8.5)


def _name_groups(
    axes: Axes,
    groups: Sequence[str],
    bounds: Sequence[int],
    left: float,
    tall: float,
    *,
    upright: bool = False,
) -> None:
    """Rule off groups of lanes, each so many inches high, and name those that have room for it."""
    for name, (first, stop) in zip(groups, pairwise(bounds), strict=True):
        if first:
            axes.axhline(first, color=_RULE, lw=0.6, zorder=0.5)
        if not upright and _CHARACTER * len(name) > (stop - first) * tall:
            continue
        axes.annotate(
            name,
            (0, (first + stop) / 2),
            (-72 * left, 0),
            xycoords=axes.get_yaxis_transform(),
            textcoords="offset points",
            rotation=0 if upright else 90,
            ha="left",
            va="center",
            fontsize=8,
            color=_FAINT,
        )


def _step_bar(figure: Figure, frame: _Frame, steps: int) -> None:
    """Draw the colours of the steps at the foot, each with its number unless they are many."""
    wide, tall = min(0.24 * steps, 3.8), 0.13
    axes = figure.add_axes((0.62 / _WIDTH, 0.25 / frame.height, wide / _WIDTH, tall / frame.height))
    norm = BoundaryNorm(np.arange(steps + 1) - 0.5, max(steps, 2))
    colours = gantt.step_colours(steps)
    bar = figure.colorbar(
        ScalarMappable(norm, ListedColormap(colours.repeat(2 if steps == 1 else 1, axis=0))),
        cax=axes,
        orientation="horizontal",
        drawedges=steps <= _MOST_NAMED_STEPS,
    )
    few = steps <= _MOST_NAMED_STEPS
    bar.set_ticks(FixedLocator(range(steps)) if few else MaxNLocator(8, integer=True))
    bar.minorticks_off()
    bar.outline.set_linewidth(0.4)
    axes.tick_params(labelsize=7.5, length=0 if few else 2, pad=2)
    x, y = 0.12 / _WIDTH, (0.25 + tall / 2) / frame.height
    figure.text(x, y, "step", va="center", fontsize=8.5, color=_INK)


def _density_figure(
    timeline: Timeline,
    schedule: Schedule,
    topology: Topology,
    title: str,
    markers: Sequence[Marker],
    view: View,
) -> Figure:
    lanes = _lanes(timeline, topology, view, role_first=True)
    frame = _frame(timeline, markers, 1.5, 4.2, 0.8)
    figure = new_figure(_WIDTH, frame.height)
    _head(figure, frame, title, _subtitle(timeline, schedule))
    bins = density.fitting_bins(timeline)
    picture = density.density(timeline, lanes, frame.end * FEMTOSECONDS or 1.0, bins)
    axes = frame.axes(figure, frame.bottom, frame.body)
    image = density.draw_image(axes, picture, frame.span)
    _time_axis(axes, frame)
    axes.grid(visible=False)
    _name_rows(axes, lanes, picture)
    bounds = [*picture.first.tolist(), len(picture.busy)]
    _name_groups(axes, lanes.groups, bounds, frame.left - 0.12, frame.body / len(picture.busy))
    above = frame.axes(figure, frame.bottom + frame.body + _GAP, frame.curve)
    density.draw_curves(above, picture, lanes, frame.span)
    _time_axis(above, frame)
    above.set_xlabel("")
    above.tick_params(axis="x", labelbottom=False, length=0)
    above.set_ylim(0, 1.05)
    above.set_yticks([0, 0.5, 1], ["0 %", "50 %", "100 %"], fontsize=7.5)
    for part in (axes, above):
        lines_of.draw_lines(part, frame.lines, frame.unit[1])
    lines_of.draw_labels(above, frame.lines, frame.unit[1], frame.curve)
    figure.legend(
        handles=above.get_legend_handles_labels()[0][:6],
        loc="lower right",
        bbox_to_anchor=(1 - frame.right / _WIDTH, 0.1 / frame.height),
        borderaxespad=0,
        ncols=6,
        frameon=False,
        fontsize=8,
    )
    cax = figure.add_axes((0.62 / _WIDTH, 0.25 / frame.height, 2.4 / _WIDTH, 0.13 / frame.height))
    bar = figure.colorbar(image, cax=cax, orientation="horizontal")
    bar.set_ticks([0, 0.5, 1], labels=["0 %", "50 %", "100 %"], fontsize=7.5)
    bar.outline.set_linewidth(0.4)
    cax.tick_params(length=2, pad=2)
    figure.text(0.12 / _WIDTH, 0.315 / frame.height, "busy", va="center", fontsize=8.5, color=_INK)
    return figure


def _name_rows(axes: Axes, lanes: Lanes, picture: density.Density) -> None:
    """Name some lanes, evenly within their groups."""
    bounds = [*lanes.starts().tolist(), len(lanes)]
    ticks: list[int] = []
    for first, stop in pairwise(bounds):
        some = max(1, round(16 * (stop - first) / len(lanes)))
        ticks += range(first, stop, -(-(stop - first) // some))
    names = [lanes.name(lane) for lane in ticks]
    axes.set_yticks(picture.row[ticks] + 0.5, names, fontsize=7.5)
