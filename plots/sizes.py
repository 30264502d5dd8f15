"""Time against size: a line for every algorithm over the lower bound, on logarithmic axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from matplotlib.lines import Line2D

from plots.style import CHARACTER, COLOURS, FAINT, INK, LONG, colour, label, look, new_figure
from topologies.text import format_bytes, format_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMED: Final = 10
"""Lines that have a colour and a name; the others are grey."""

_WIDTH, _HEIGHT = 10.0, 6.0
_LEFT, _RIGHT, _TOP, _BOTTOM, _STRIP = 0.09, 0.22, 0.12, 0.17, 0.03
_ROW, _SAMPLE = 0.032, 0.024
_GREY, _FLOOR = "#c4c4c4", "#ececec"
_DASHES = ("-", (0, (5, 2)))
_BETWEEN: Final = 16
"""Points of the floor between neighbouring sizes."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Seconds at every size; None where there is none."""

    name: str
    seconds: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Floor:
    """Lower bounds at a size, s: one that no size changes, and one that grows as the size does."""

    fixed: float
    growing: float

    @property
    def best(self) -> float:
        """The larger of the two."""
        return max(self.fixed, self.growing)


@dataclass(frozen=True, slots=True)
class Leader:
    """Who is fastest from a size on, in bytes."""

    name: str
    since: int


def sizes_figure(
    sizes: Sequence[int],
    curves: Sequence[Curve],
    floor: Sequence[Floor | None],
    leaders: Sequence[Leader],
    *,
    title: str = "",
    subtitle: str = "",
) -> Figure:
    """Draw times against sizes, the lower bound as a floor, and the fastest along the foot.

    Sizes and times of 0 have no place on logarithmic axes and are left out. Those that win anywhere
    have a colour first, then those that are fastest at the last size.

    Parameters
    ----------
    sizes : sequence of int
        Bytes, rising.
    curves : sequence of Curve
    floor : sequence of Floor or None
        Lower bounds at every size; None where they are not known.
    leaders : sequence of Leader
        By rising size, each until the next.
    title, subtitle : str

    Examples
    --------
    >>> floor = [Floor(5e-7, 1e-9), Floor(5e-7, 1e-6)]
    >>> figure = sizes_figure([1, 1024], [Curve("ring", [1e-6, 2e-6])], floor, [Leader("ring", 1)])
    >>> len(figure.axes[0].lines)
    1
    """
    with look():
        figure = new_figure(_WIDTH, _HEIGHT)
        place = (_LEFT, _BOTTOM, 1 - _LEFT - _RIGHT, 1 - _TOP - _BOTTOM)
        axes = figure.add_axes(place)
        figure.text(0.012, 0.975, label(title, LONG), va="top", fontsize=12, color=INK)
        figure.text(0.012, 0.93, label(subtitle, LONG), va="top", fontsize=9, color=FAINT)
        tints = _tints(curves, leaders)
        _floor(axes, sizes, floor)
        bounds = [None if known is None else known.best for known in floor]
        _curves(axes, sizes, curves, tints)
        drawn = _scales(axes, sizes, curves, bounds, leaders)
        if drawn:
            _crossings(axes, leaders)
            _names(axes, figure, sizes, curves, tints)
            foot = figure.add_axes((_LEFT, _BOTTOM - 0.075, place[2], _STRIP), sharex=axes)
            _strip(foot, leaders, tints)
        return figure


def _tints(curves: Sequence[Curve], leaders: Sequence[Leader]) -> dict[str, int]:
    """Numbers of the colours of the lines that have one."""
    winning = dict.fromkeys(leader.name for leader in leaders)
    never = float("inf")
    last = sorted(curves, key=lambda curve: never if curve.seconds[-1] is None else curve.seconds[-1])
    named = dict.fromkeys((*winning, *(curve.name for curve in last)))
    return {name: i for i, name in enumerate(list(named)[:NAMED])}


def _points(sizes: Sequence[int], seconds: Sequence[float | None]) -> tuple[list[int], list[float]]:
    """What has a place on logarithmic axes."""
    pairs = [(size, time) for size, time in zip(sizes, seconds, strict=True) if size and time]
    return [size for size, _ in pairs], [time for _, time in pairs]


def _floor(axes: Axes, sizes: Sequence[int], floor: Sequence[Floor | None]) -> None:
    known = [(size, one) for size, one in zip(sizes, floor, strict=True) if size and one and one.best]
    line = [point for pair in pairwise(known) for point in _floor_between(*pair)]
    if line:
        x, y = zip(*line, strict=True)
        axes.fill_between(x, y, min(y) * 1e-9, color=_FLOOR, lw=0, zorder=0.5, label="lower bound")


def _floor_between(low: tuple[int, Floor], high: tuple[int, Floor]) -> Iterator[tuple[float, float]]:
    """Points of the floor between two sizes: it bends where what grows becomes the larger.

    >>> line = list(_floor_between((1, Floor(2e-6, 1e-6)), (4, Floor(2e-6, 4e-6))))
    >>> line[0], line[-1], (2.0, 2e-6) in line
    ((1.0, 2e-06), (4.0, 4e-06), True)
    """
    (left, before), (right, after) = low, high
    fixed = min(before.fixed, after.fixed)
    x = np.geomspace(left, right, _BETWEEN)
    slope = (after.growing - before.growing) / (right - left)
    if before.growing < fixed < after.growing:
        x = np.sort(np.append(x, left + (fixed - before.growing) / slope))
    y = np.maximum(fixed, before.growing + slope * (x - left))
    yield from zip(x.tolist(), y.tolist(), strict=True)


def _curves(axes: Axes, sizes: Sequence[int], curves: Sequence[Curve], tints: dict[str, int]) -> None:
    for curve in curves:
        x, y = _points(sizes, curve.seconds)
        tint = tints.get(curve.name)
        axes.plot(
            x,
            y,
            color=_GREY if tint is None else colour(tint),
            ls="-" if tint is None else _dashes(tint),
            lw=0.7 if tint is None else 1.5,
            marker=".",
            ms=3 if tint is None else 5,
            zorder=1 if tint is None else 3 - tint / NAMED,
            label=label(curve.name),
        )


def _dashes(tint: int) -> Any:
    """How a line is broken, so that two of one colour are told apart."""
    return _DASHES[tint // COLOURS]


def _scales(
    axes: Axes,
    sizes: Sequence[int],
    curves: Sequence[Curve],
    bounds: Sequence[float | None],
    leaders: Sequence[Leader],
) -> bool:
    """Logarithmic axes around what is drawn; whether anything is."""
    from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

    points = [_points(sizes, curve.seconds) for curve in curves]
    times = [time for _, y in points for time in y]
    axes.spines[["top", "right"]].set_visible(False)
    if not times:
        axes.set_axis_off()
        axes.text(0.5, 0.5, "all of it takes no time, or no size", ha="center", color=FAINT)
        return False
    shown = [size for x, _ in points for size in x]
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    low = min(times + _points(sizes, bounds)[1])
    axes.set_ylim(low / 1.6, max(times) * 1.6)
    axes.set_xlim(min(shown) / 1.1, max(shown) * 1.1)
    # a crossover has a line of its own
    axes.set_xticks(_ticks(sorted({*shown} - {leader.since for leader in leaders[1:]})))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: _size(round(size))))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda time, _: format_time(time, 3)))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(labelsize=8)
    axes.set_axisbelow(True)
    axes.grid(color="#e4e4e4", lw=0.6)
    return True


def _size(size: int) -> str:
    """A size as it stands at the axis.

    >>> _size(524288), _size(104032)
    ('512 KiB', '104 kB')
    """
    return format_bytes(size) if size % 1024 == 0 else format_bytes(size, 3)


def _ticks(sizes: Sequence[int]) -> Sequence[int]:
    """A few of the sizes, evenly taken.

    >>> _ticks([1, 2, 3]), _ticks(range(1, 22))[:3]
    ([1, 2, 3], [1, 4, 7])
    """
    return list(sizes)[:: max(1, -(-len(sizes) // 8))]


def _crossings(axes: Axes, leaders: Sequence[Leader]) -> None:
    for leader in leaders[1:]:
        axes.axvline(leader.since, color=FAINT, lw=0.6, ls=":", zorder=0.8)


def _names(
    axes: Axes, figure: Figure, sizes: Sequence[int], curves: Sequence[Curve], tints: dict[str, int]
) -> None:
    """Names at the right, in the order in which the lines end, apart from each other."""
    heights: dict[str, float] = {}
    for curve in curves:
        _, y = _points(sizes, curve.seconds)
        if curve.name in tints and y:
            end = axes.transAxes.inverted().transform(axes.transData.transform((1, y[-1])))[1]
            heights[curve.name] = _BOTTOM + float(end) * (1 - _TOP - _BOTTOM)
    beside = 1 - _RIGHT + 0.012
    named = beside + 1.3 * _SAMPLE
    ranked = sorted(heights, key=lambda name: (heights[name], tints[name]))
    for name, at in zip(ranked, _apart([heights[name] for name in ranked]), strict=True):
        tint, dashes = colour(tints[name]), _dashes(tints[name])
        ends = [beside, beside + _SAMPLE], [at, at]
        figure.add_artist(Line2D(*ends, color=tint, ls=dashes, lw=1.5, transform=figure.transFigure))
        figure.text(named, at, label(name), color=tint, fontsize=8, va="center")
    if len(curves) > len(tints):
        figure.text(beside, 0.02, f"grey: {len(curves) - len(tints)} more", color=FAINT, fontsize=8)
    figure.text(
        _LEFT, 0.02, "shaded: faster than any algorithm can be; dots: sizes that ran", color=FAINT, fontsize=8
    )


def _apart(heights: Sequence[float]) -> list[float]:
    """Rising heights, moved a row from each other, and none above the axes.

    >>> [round(height, 3) for height in _apart([0.2, 0.21, 0.88, 0.88])]
    [0.2, 0.232, 0.848, 0.88]
    """
    placed: list[float] = []
    for height in heights:
        placed.append(max(height, placed[-1] + _ROW) if placed else height)
    highest = 1 - _TOP
    for i in range(len(placed) - 1, -1, -1):
        placed[i] = highest = min(placed[i], highest)
        highest -= _ROW
    return placed


def _strip(axes: Axes, leaders: Sequence[Leader], tints: dict[str, int]) -> None:
    """The fastest from size to size, in its colour, along the foot."""
    axes.set_axis_off()
    axes.set_ylim(0, 1)
    low, high = axes.get_xlim()
    ends = [min(max(leader.since, low), high) for leader in leaders[1:]]
    for leader, left, right in zip(leaders, [low, *ends], [*ends, high], strict=True):
        axes.axvspan(left, right, color=colour(tints[leader.name]), lw=0)
        start, stop = (_across(axes, size) for size in (left, right))
        name = label(leader.name)
        if (stop - start) * _WIDTH * (1 - _LEFT - _RIGHT) > CHARACTER * len(name):
            axes.text(
                (start + stop) / 2,
                0.45,
                name,
                transform=axes.transAxes,
                color="white",
                fontsize=7.5,
                ha="center",
                va="center",
            )


def _across(axes: Axes, size: float) -> float:
    """Place of a size, as part of the axes' width."""
    return float(axes.transAxes.inverted().transform(axes.transData.transform((size, 0.5)))[0])
