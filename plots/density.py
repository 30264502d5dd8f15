"""Timelines too big for bars: how busy the lanes are, as an image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plots.lanes import HIDDEN
from plots.palette import colour
from topologies.clock import FEMTOSECONDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage
    from matplotlib.patches import StepPatch
    from numpy.typing import NDArray

    from plots.lanes import Lanes
    from simulator.engine.timeline import Timeline

_MOST_ROWS = 320
_MOST_BINS = 800
_FEWEST_BINS = 64


@dataclass(frozen=True, slots=True, eq=False)
class Density:
    """Part of the time that lanes are busy.

    Attributes
    ----------
    busy : ndarray of float64, shape (rows, bins)
        Mean over a row's resources, 0 to 1.
    resources : ndarray of int64, shape (rows,)
        How many a row has.
    row : ndarray of int64, shape (lanes,)
        Row of each lane; a row never spans two groups.
    first : ndarray of int64, shape (groups,)
        First row of each group.
    """

    busy: NDArray[np.float64]
    resources: NDArray[np.int64]
    row: NDArray[np.int64]
    first: NDArray[np.int64]

    def groups(self) -> NDArray[np.float64]:
        """Mean over the resources of each group, shape (groups, bins)."""
        total = np.add.reduceat(self.busy * self.resources[:, None], self.first, axis=0)
        return np.asarray(total / np.add.reduceat(self.resources, self.first)[:, None])


def fitting_bins(timeline: Timeline) -> int:
    """Bins of time that either resolve the holds of the busiest resource or take several at once.

    Bins about as long as a hold would show a beat that is not there.
    """
    holds = int(np.bincount(timeline.plan.resource).max(initial=1))
    return _MOST_BINS if 6 * holds <= _MOST_BINS else min(_MOST_BINS, max(_FEWEST_BINS, holds // 3))


def density(timeline: Timeline, lanes: Lanes, end: float, bins: int, rows: int = _MOST_ROWS) -> Density:
    """How busy the lanes are, in equal bins of time from 0 to `end` femtoseconds.

    Parameters
    ----------
    timeline : Timeline
    lanes : Lanes
    end : float
        Not before the last release.
    bins : int
    rows : int
        About the most rows; where there are more lanes, several share one.
    """
    row, first = _rows(lanes, rows)
    count = int(row[-1]) + 1
    busy = np.zeros((count, bins))
    resources = np.zeros(count, dtype=np.int64)
    start, stop = (column * (bins / end) for column in (timeline.grant, timeline.release))
    part = part_used(timeline)
    for lane in lanes.lane:
        shown = lane != HIDDEN
        of_resource = np.where(shown, row[lane], HIDDEN)
        of_hop = of_resource[timeline.plan.resource]
        own = slice(None) if shown.all() else of_hop != HIDDEN
        busy += coverage(of_hop[own], start[own], stop[own], (count, bins), part[own])
        resources += np.bincount(of_resource[shown], minlength=count)
    return Density(np.clip(busy / resources[:, None], 0.0, 1.0), resources, row, first)


def part_used(timeline: Timeline) -> NDArray[np.float64]:
    """Part of its resource that each hop uses: all of it, or of one that is shared the flow's mean rate."""
    plan = timeline.plan
    part = np.ones(plan.hops)
    if plan.flows is not None:
        shared = np.flatnonzero(plan.flows.capacity[plan.resource])
        size = plan.flows.bytes[timeline.operation()[shared]]
        duration = np.maximum(timeline.release - timeline.grant, 1)[shared] / FEMTOSECONDS
        part[shared] = size / duration / plan.flows.capacity[plan.resource[shared]]
    return part


def _rows(lanes: Lanes, most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Row of each lane, and first row of each group."""
    start = lanes.starts()
    size = np.diff(np.append(start, len(lanes)))
    share = size if len(lanes) <= most else -(-size * most // len(lanes))
    first = np.cumsum(share) - share
    place = np.arange(len(lanes)) - start[lanes.group]
    return first[lanes.group] + place * share[lanes.group] // size[lanes.group], first


def coverage(
    row: NDArray[np.int64],
    start: NDArray[np.floating],
    stop: NDArray[np.floating],
    shape: tuple[int, int],
    weight: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Weighted sum over intervals of the part of each bin that they cover, by row.

    Parameters
    ----------
    row : ndarray of int64, shape (intervals,)
    start, stop : ndarray of float64
        In bins, from 0.
    shape : (int, int)
        Rows and bins.
    weight : ndarray of float64, shape (intervals,)

    Examples
    --------
    >>> coverage(np.zeros(2, int), np.array([0.5, 2.0]), np.array([2.0, 2.25]), (1, 3), np.ones(2)).tolist()
    [[0.5, 1.0, 0.25]]
    """
    rows, bins = shape
    wide = bins + 2
    change = np.zeros(rows * wide)
    # what lies after a moment is a ramp over its bin, then 1: two differences
    for moment, sign in ((start, 1.0), (stop, -1.0)):
        first = np.minimum(moment.astype(np.int64), bins)
        after = moment - first
        at = row * wide + first
        change += sign * np.bincount(at, weights=weight * (1 - after), minlength=rows * wide)
        change += sign * np.bincount(at + 1, weights=weight * after, minlength=rows * wide)
    return np.asarray(change.reshape(rows, wide).cumsum(axis=1)[:, :bins])


def draw_image(axes: Axes, picture: Density, end: float) -> AxesImage:
    """Draw the image, rows from the top."""
    return axes.imshow(
        picture.busy,
        extent=(0, end, len(picture.busy), 0),
        aspect="auto",
        cmap="Blues",
        vmin=0,
        vmax=1,
        interpolation="nearest",
    )


def draw_curves(axes: Axes, picture: Density, lanes: Lanes, end: float) -> tuple[StepPatch, ...]:
    """Draw the busy fraction of each group over time; returns the curves."""
    edges = np.linspace(0, end, picture.busy.shape[1] + 1)
    curves = []
    for i, values in enumerate(picture.groups()):
        curves.append(axes.stairs(values, edges, color=colour(i), lw=1.1, label=lanes.groups[i]))
        axes.stairs(values, edges, color=colour(i), fill=True, alpha=0.12, lw=0, label=f"_{lanes.groups[i]}")
    return tuple(curves)
