"""The critical path, drawn over a timeline: what it held, what it crossed, and where it waited."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from matplotlib.collections import Collection, LineCollection, PolyCollection
from matplotlib.lines import Line2D
from matplotlib.patheffects import AbstractPathEffect, Normal, Stroke

from plots.gantt import WAITING, WIDE, corners, height_of
from plots.lanes import HIDDEN
from simulator.engine.path_parts import LATENCY, QUEUEING
from simulator.engine.plan import RECEIVE_PORT, SEND_PORT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from plots.lanes import Lanes
    from simulator.engine.critical_path import CriticalPath
    from simulator.engine.plan import Plan
    from simulator.engine.timeline import Timeline

NAME: Final = "critical path"
_RED, _EDGE = "#d0021b", 1.4
HELD, KEPT, CROSSED, AWAITED = range(4)
"""What a message holds; what it holds for longer than it need; what lets it pass; what it waits for."""

_COLUMNS = 800
"""Of an image, in each of which a row is drawn over once."""

_CLEAR: Final = 40
"""Turns of so many that what is below them is still seen, each drawn in full."""

_DASHES = (0, (2.4, 1.2))
_LOOKS: tuple[tuple[int, str, Any], ...] = (
    (HELD, "held", "-"),
    (KEPT, "kept", _DASHES),
    (CROSSED, "crossed", "-"),
    (AWAITED, "awaited", _DASHES),
)


@dataclass(frozen=True, slots=True, eq=False)
class Stretches:
    """Where a path is shown, one stretch behind the other.

    Attributes
    ----------
    begin, end : ndarray of float64, shape (stretches,)
        Times.
    look : ndarray of uint8, shape (stretches,)
        HELD, KEPT, CROSSED or AWAITED.
    resource : ndarray of int64, shape (stretches,)
    top, bottom : ndarray of float64, shape (layers, stretches)
        Part of the chart's height, in lanes; NaN where it has no lane. A link that is shown at both
        of its ends has two.
    """

    begin: NDArray[np.float64]
    end: NDArray[np.float64]
    look: NDArray[np.uint8]
    resource: NDArray[np.int64]
    top: NDArray[np.float64]
    bottom: NDArray[np.float64]

    @property
    def middle(self) -> NDArray[np.float64]:
        """Between top and bottom."""
        return (self.top + self.bottom) / 2


def stretches(
    path: CriticalPath, timeline: Timeline, lanes: Lanes, room: tuple[float, float], scale: float
) -> Stretches:
    """Where a path is among the bars of a chart, times in units of `scale` femtoseconds.

    Segments that look alike are one stretch: of one message, or of all that wait for one resource.

    Parameters
    ----------
    path : CriticalPath
    timeline : Timeline
        Whose path it is.
    lanes : Lanes
    room : (float, float)
        Part of a lane's height that is for its bars.
    scale : float
    """
    look = np.select([path.part == LATENCY, path.part == QUEUEING], [CROSSED, KEPT], HELD)
    look[_waits(path, timeline)] = AWAITED
    who = np.where(look == AWAITED, -1, path.operation)
    first = np.flatnonzero(np.diff([path.resource, look, who], prepend=-2).any(axis=0))
    resource, look = _shown(path, timeline, lanes)[first], look[first]
    low, high = height_of(timeline.plan.resources.kind[resource], room)
    low[look == AWAITED], high[look == AWAITED] = WAITING
    lane = lanes.lane[:, resource]
    shown = np.where(lane == HIDDEN, np.nan, lane)
    above, below = lanes.low[:, resource], lanes.high[:, resource]
    top, bottom = (shown + above + part * (below - above) for part in (low, high))
    end = path.end[np.append(first[1:], len(path)) - 1]
    return Stretches(path.begin[first] / scale, end / scale, look.astype(np.uint8), resource, top, bottom)


def _shown(path: CriticalPath, timeline: Timeline, lanes: Lanes) -> NDArray[np.int64]:
    """Resource on whose lane each segment is shown: for a port that has none, the link beside it."""
    plan, resource = timeline.plan, path.resource.copy()
    aside = {SEND_PORT: 1, RECEIVE_PORT: -1}
    for i in np.flatnonzero((lanes.lane[:, resource] == HIDDEN).all(axis=0)).tolist():
        step = aside.get(int(plan.resources.kind[resource[i]]))
        if step is not None:
            own = _hops(plan, path, i)
            resource[i] = plan.resource[own[0] + step]
    return resource


def _hops(plan: Plan, path: CriticalPath, segment: int) -> NDArray[np.int64]:
    """Hops of a segment's operation that are over its resource."""
    operation = path.operation[segment]
    first, after = plan.hop_offset[operation : operation + 2].tolist()
    return np.asarray(first + np.flatnonzero(plan.resource[first:after] == path.resource[segment]))


def _waits(path: CriticalPath, timeline: Timeline) -> NDArray[np.bool_]:
    """Which segments are before the grant of what they wait for; others queue while they hold it."""
    waits = np.array(path.part == QUEUEING)
    for i in np.flatnonzero(waits).tolist():
        waits[i] = (path.begin[i] < timeline.grant[_hops(timeline.plan, path, i)]).any()
    return waits


def draw(axes: Axes, where: Stretches, span: float) -> Line2D:
    """Draw a path over the bars of a chart; returns what the legend says of it.

    What it holds is framed, with dashes for the time by which that is longer than it need be.
    Latencies, what is too narrow for a frame, and dashed what waits for its turn are lines in a
    lane; thin ones lead from lane to lane.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    where : Stretches
    span : float
        Length of the time axis.
    """
    framed = (where.look <= KEPT) & (where.end - where.begin > WIDE * span)
    for look, name, dash in _LOOKS:
        layer, at = np.nonzero(np.isfinite(where.top) & framed & (where.look == look))
        if len(at):
            edges = where.begin[at], where.end[at], where.top[layer, at], where.bottom[layer, at]
            frames = PolyCollection(corners(*edges), facecolors="none", joinstyle="miter")
            _add(axes, frames, f"path {name}", 1.4, 3.6, dash)
        layer, at = np.nonzero(np.isfinite(where.top) & ~framed & (where.look == look))
        if len(at):
            y = where.middle[layer, at]
            _add(axes, _lines((where.begin[at], y), (where.end[at], y)), f"path {name}", 1.8, 3.6, dash)
    x, high, low = _turns(where.end, where.middle, where.resource)
    _add(axes, _lines((x, high), (x, low)), "path turns", 0.9, 3.5)
    return Line2D([], [], color=_RED, lw=1.8, label=NAME)


def _lines(*ends: tuple[NDArray[np.float64], NDArray[np.float64]]) -> LineCollection:
    """Straight lines between two points each."""
    return LineCollection(list(np.stack([np.stack(end, axis=1) for end in ends], axis=1)))


def _cased(width: float) -> list[AbstractPathEffect]:
    """White edges around lines."""
    return [Stroke(linewidth=width + _EDGE, foreground="white", alpha=0.8), Normal()]


def _add(axes: Axes, lines: Collection, name: str, width: float, order: float, dash: Any = "-") -> None:
    """Draw red lines with a white edge, which tells them from bars of any colour."""
    lines.set(edgecolor=_RED, linewidth=width, linestyle=dash, zorder=order, label=name)
    lines.set_path_effects(_cased(width))
    axes.add_collection(lines, autolim=False)


def _turns(
    time: NDArray[np.float64], middle: NDArray[np.float64], resource: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Where a path goes from place to place: times, and the highest and the lowest place of each turn."""
    first, last = _ends(middle)
    following = np.append(first[1:], np.nan)
    # on the lanes of one resource it only steps from who waits to who holds
    stays = np.append(resource[1:] == resource[:-1], False)
    places = np.stack([first, np.where(stays, first, last), following])
    shown = np.isfinite(first)
    high, low = np.nanmin(places[:, shown], axis=0), np.nanmax(places[:, shown], axis=0)
    moves = high < low
    return time[shown][moves], high[moves], low[moves]


def _ends(middle: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Where each segment is first and last shown: a link at its beginning, then at its end."""
    first, last = (np.where(np.isnan(middle[i]), middle[~i], middle[i]) for i in (0, -1))
    return first, last


def draw_line(
    axes: Axes, path: CriticalPath, timeline: Timeline, lanes: Lanes, row: NDArray[Any], scale: float
) -> Line2D:
    """Draw a path as lines along the rows of an image, and thinner ones from row to row; returns the first.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    path : CriticalPath
    timeline : Timeline
        Whose path it is.
    lanes : Lanes
    row : ndarray, shape (lanes,)
        Of the image, of each lane; the line runs half a row below it.
    scale : float
        Femtoseconds of a unit of the axis.
    """
    resource = _shown(path, timeline, lanes)
    lane = lanes.lane[:, resource]
    middle = np.where(lane == HIDDEN, np.nan, row[lane] + 0.5)
    x, high, low = _turns(path.end / scale, middle, resource)
    column = _COLUMNS / path.time * scale
    once = np.unique(np.stack([(x * column).astype(np.int64), high, low]), axis=1, return_index=True)[1]
    x, high, low = x[once], high[once], low[once]
    # many turns would be all that is seen
    alpha = min(0.6, _CLEAR / max(len(x), 1))
    (turns,) = axes.plot(*_broken((x, high), (x, low)), color=_RED, lw=0.6, alpha=alpha, label="_path turns")
    begin, end, y = _joined(path.begin / scale, path.end / scale, _ends(middle)[0], column)
    (line,) = axes.plot(*_broken((begin, y), (end, y)), color=_RED, lw=1.6)
    turns.set_zorder(3.5)
    line.set(zorder=3.6, label=NAME, path_effects=_cased(1.6))
    return line


def _joined(
    begin: NDArray[np.float64], end: NDArray[np.float64], y: NDArray[np.float64], column: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Lines along rows, those that begin in one column of a row joined: the eye sees no more of them."""
    shown = np.isfinite(y)
    cells = np.stack([(begin[shown] * column).astype(np.int64), y[shown]])
    cells, which = np.unique(cells, axis=1, return_inverse=True)
    first, last = np.full(cells.shape[1], np.inf), np.zeros(cells.shape[1])
    np.minimum.at(first, which.ravel(), begin[shown])
    np.maximum.at(last, which.ravel(), end[shown])
    return first, last, cells[1]


def _broken(*ends: tuple[NDArray[np.float64], NDArray[np.float64]]) -> list[NDArray[np.float64]]:
    """Straight lines between two points each as one line with breaks."""
    (begin, one), (end, other) = ends
    gap = np.full(len(begin), np.nan)
    return [np.stack([begin, end, gap], axis=1).ravel(), np.stack([one, other, gap], axis=1).ravel()]
