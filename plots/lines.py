"""Lines over a floor: what figures of something against something else share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from matplotlib.lines import Line2D

from plots.style import COLOURS, FAINT, GRID, INK, LONG, colour, label, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMED: Final = 10
"""Lines that have a colour and a name; the others are grey."""

WIDTH, HEIGHT = 10.0, 6.0  # inches
LEFT, RIGHT, TOP, BOTTOM = 0.09, 0.22, 0.12, 0.17  # of the figure, beside the axes

_ROW, _SAMPLE = 0.032, 0.024
_GREY, _FLOOR = "#c4c4c4", "#ececec"
_DASHES = ("-", (0, (5, 2)), (0, (1, 1)))
_FORMULAS = ((0, (4, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (3, 1, 1, 1, 1, 1)))
_SHORT: Final = 50
"""From the foot of an axis to its top, times: powers of ten alone would hardly mark a shorter one."""

_BETWEEN: Final = 16
"""Points of the floor between neighbouring places."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A value at every place; None where there is none.

    Attributes
    ----------
    name : str
    values : sequence of float or None
    formula : bool
        Whether they are worked out, not simulated: a bound, or a closed form.
    """

    name: str
    values: Sequence[float | None]
    formula: bool = False


@dataclass(frozen=True, slots=True)
class _Look:
    """Colour of a line, how it is broken, and what lies above what."""

    tint: str
    dash: Any
    order: float


@dataclass(frozen=True, slots=True)
class Floor:
    """Lower bounds at a size, s: one that no size changes, and one that grows as the size does."""

    fixed: float
    growing: float

    @property
    def best(self) -> float:
        """The larger of the two."""
        return max(self.fixed, self.growing)


def begin(title: str, subtitle: str) -> tuple[Figure, Axes]:
    """A figure with its titles, and axes with room at the right for names."""
    figure = new_figure(WIDTH, HEIGHT)
    axes = figure.add_axes((LEFT, BOTTOM, 1 - LEFT - RIGHT, 1 - TOP - BOTTOM))
    figure.text(0.012, 0.975, label(title, LONG), va="top", fontsize=12, color=INK)
    figure.text(0.012, 0.93, label(subtitle, LONG), va="top", fontsize=9, color=FAINT)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def say_nothing(axes: Axes, why: str) -> None:
    """Say why nothing is drawn."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, why, transform=axes.transAxes, ha="center", color=FAINT)


def scale(
    axes: Axes,
    heights: Sequence[float],
    ticks: Mapping[float, str],
    form: Callable[[float], str],
    bounds: Sequence[float],
) -> None:
    """A logarithmic axis upwards around what is drawn, and names at places across.

    Parameters
    ----------
    axes : Axes
    heights, bounds : sequence of float
        Of lines, and of the floor.
    ticks : mapping of float to str
        Names by place.
    form : callable
        A height in words.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    axes.set_yscale("log")
    low, high = min([*heights, *bounds]) / 1.6, max(heights) * 1.6
    axes.set_ylim(low, high)
    if high / low < _SHORT:
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.set_xticks(list(ticks), labels=list(ticks.values()))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda height, _: form(height)))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(labelsize=8)
    axes.set_axisbelow(True)
    axes.grid(color=GRID, lw=0.6)


def points_of(places: Sequence[float], values: Sequence[float | None]) -> tuple[list[float], list[float]]:
    """What has a place on logarithmic axes."""
    pairs = [(place, value) for place, value in zip(places, values, strict=True) if place and value]
    return [place for place, _ in pairs], [value for _, value in pairs]


def a_few(places: Sequence[float]) -> Sequence[float]:
    """A few of the places, evenly taken.

    >>> a_few([1, 2, 3]), a_few(range(1, 22))[:3]
    ([1, 2, 3], [1, 4, 7])
    """
    return list(places)[:: max(1, -(-len(places) // 8))]


def draw_floor(axes: Axes, places: Sequence[float], floor: Sequence[Floor | None]) -> None:
    """Shade what is below the floor."""
    known = [(place, one) for place, one in zip(places, floor, strict=True) if place and one and one.best]
    line = [point for pair in pairwise(known) for point in _floor_between(*pair)]
    if line:
        x, y = zip(*line, strict=True)
        axes.fill_between(x, y, min(y) * 1e-9, color=_FLOOR, lw=0, zorder=0.5, label="lower bound")


def _floor_between(low: tuple[float, Floor], high: tuple[float, Floor]) -> Iterator[tuple[float, float]]:
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


def draw_curves(
    axes: Axes, places: Sequence[float], curves: Sequence[Curve], tints: Mapping[str, int]
) -> None:
    """Draw lines in the colours of their numbers, formulas dark, and those that have none in grey."""
    looks = _looks(curves, tints)
    for curve in curves:
        x, y = points_of(places, curve.values)
        own = looks.get(curve.name)
        axes.plot(
            x,
            y,
            color=_GREY if own is None else own.tint,
            ls="-" if own is None else own.dash,
            lw=0.7 if own is None else 1.1 if curve.formula else 1.5,
            marker="" if curve.formula else ".",
            ms=3 if own is None else 5,
            zorder=1 if own is None else own.order,
            label=label(curve.name),
        )


def _looks(curves: Sequence[Curve], tints: Mapping[str, int]) -> dict[str, _Look]:
    """Looks of the lines that have a name; two of one colour are told apart by their dashes."""
    formulas = [curve.name for curve in curves if curve.formula]
    simulated = {
        name: _Look(colour(tint), _DASHES[tint // COLOURS % len(_DASHES)], 3 - tint / NAMED)
        for name, tint in tints.items()
    }
    return simulated | {
        name: _Look(FAINT if i else INK, _FORMULAS[i % len(_FORMULAS)], 1.5)
        for i, name in enumerate(formulas)
    }


def draw_names(
    axes: Axes,
    figure: Figure,
    places: Sequence[float],
    curves: Sequence[Curve],
    tints: Mapping[str, int],
    foot: str,
    most: int = 24,
) -> None:
    """Names at the right, in the order in which the lines end, apart from each other; a word at the foot."""
    looks = _looks(curves, tints)
    heights: dict[str, float] = {}
    for curve in curves:
        _, y = points_of(places, curve.values)
        if curve.name in looks and y:
            end = axes.transAxes.inverted().transform(axes.transData.transform((1, y[-1])))[1]
            heights[curve.name] = BOTTOM + min(max(float(end), 0.0), 1.0) * (1 - TOP - BOTTOM)
    beside = 1 - RIGHT + 0.012
    named = beside + 1.3 * _SAMPLE
    order = list(looks)
    ranked = sorted(heights, key=lambda name: (heights[name], order.index(name)))
    for name, at in zip(ranked, _apart([heights[name] for name in ranked]), strict=True):
        own, ends = looks[name], ([beside, beside + _SAMPLE], [at, at])
        figure.add_artist(Line2D(*ends, color=own.tint, ls=own.dash, lw=1.5, transform=figure.transFigure))
        figure.text(named, at, label(name, most), color=own.tint, fontsize=8, va="center")
    if len(curves) > len(looks):
        figure.text(beside, 0.02, f"grey: {len(curves) - len(looks)} more", color=FAINT, fontsize=8)
    figure.text(LEFT, 0.02, foot, color=FAINT, fontsize=8)


def _apart(heights: Sequence[float]) -> list[float]:
    """Rising heights, moved a row from each other, and none above the axes.

    >>> [round(height, 3) for height in _apart([0.2, 0.21, 0.88, 0.88])]
    [0.2, 0.232, 0.848, 0.88]
    """
    placed: list[float] = []
    for height in heights:
        placed.append(max(height, placed[-1] + _ROW) if placed else height)
    highest = 1 - TOP
    for i in range(len(placed) - 1, -1, -1):
        placed[i] = highest = min(placed[i], highest)
        highest -= _ROW
    return placed
