"""Time against size: a line for every algorithm over the lower bound, on logarithmic axes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from plots.curves import Look, formula_look, look_of, name_curves
from plots.style import CHARACTER, FAINT, INK, LONG, label, look, new_figure
from topologies.text import format_bytes, format_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMED: Final = 10
"""Lines that have a colour and a name; the others are grey."""

_WIDTH, _HEIGHT = 10.0, 6.0
_LEFT, _RIGHT, _TOP, _BOTTOM, _STRIP = 0.09, 0.22, 0.12, 0.17, 0.03
_GREY, _FLOOR = "#c4c4c4", "#ececec"
_BETWEEN: Final = 16
"""Points of the floor between neighbouring sizes."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Seconds at every size; None where there is none.

    Attributes
    ----------
    name : str
    seconds : sequence of float or None
    formula : bool
        Whether they are worked out, not simulated: a bound, or a closed form.
    """

    name: str
    seconds: Sequence[float | None]
    formula: bool = False


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
        looks = _looks(curves, leaders)
        _floor(axes, sizes, floor)
        bounds = [None if known is None else known.best for known in floor]
        _curves(axes, sizes, curves, looks)
        drawn = _scales(axes, sizes, curves, bounds, leaders)
        if drawn:
            _crossings(axes, leaders)
            _name(axes, figure, sizes, curves, looks)
            if leaders:
                foot = figure.add_axes((_LEFT, _BOTTOM - 0.075, place[2], _STRIP), sharex=axes)
                _strip(foot, leaders, looks)
        return figure


def _looks(curves: Sequence[Curve], leaders: Sequence[Leader]) -> dict[str, Look]:
    """Looks of the lines that have a name."""
    winning = dict.fromkeys(leader.name for leader in leaders)
    never = float("inf")
    simulated = [curve for curve in curves if not curve.formula]
    last = sorted(simulated, key=lambda curve: never if curve.seconds[-1] is None else curve.seconds[-1])
    named = dict.fromkeys((*winning, *(curve.name for curve in last)))
    formulas = [curve.name for curve in curves if curve.formula]
    return {
        **{name: look_of(i) for i, name in enumerate(list(named)[:NAMED])},
        **{name: formula_look(i) for i, name in enumerate(formulas)},
    }


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


def _curves(axes: Axes, sizes: Sequence[int], curves: Sequence[Curve], looks: dict[str, Look]) -> None:
    order = list(looks)
    for curve in curves:
        x, y = _points(sizes, curve.seconds)
        own = looks.get(curve.name)
        axes.plot(
            x,
            y,
            color=_GREY if own is None else own.tint,
            ls="-" if own is None else own.dash,
            lw=0.7 if own is None else 1.1 if curve.formula else 1.5,
            marker="" if curve.formula else ".",
            ms=3 if own is None else 5,
            zorder=1 if own is None else 3 - order.index(curve.name) / NAMED / 2,
            label=label(curve.name),
        )


def _scales(
    axes: Axes,
    sizes: Sequence[int],
    curves: Sequence[Curve],
    bounds: Sequence[float | None],
    leaders: Sequence[Leader],
) -> bool:
    """Logarithmic axes around what is drawn; whether anything is."""
    from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

    # what is worked out may lie far below
    points = [_points(sizes, curve.seconds) for curve in curves if not curve.formula]
    times = [time for _, y in points for time in y]
    axes.spines[["top", "right"]].set_visible(False)
    if not times:
        axes.set_axis_off()
        what = "all of it takes no time, or no size"
        axes.text(0.5, 0.5, what, transform=axes.transAxes, ha="center", color=FAINT)
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


def _name(
    axes: Axes, figure: Figure, sizes: Sequence[int], curves: Sequence[Curve], looks: dict[str, Look]
) -> None:
    """Name the lines at the right, and say what else there is."""
    last = {curve.name: _points(sizes, curve.seconds)[1] for curve in curves if curve.name in looks}
    beside = name_curves(figure, axes, {name: y[-1] for name, y in last.items() if y}, looks)
    if len(curves) > len(looks):
        figure.text(beside, 0.02, f"grey: {len(curves) - len(looks)} more", color=FAINT, fontsize=8)
    figure.text(
        _LEFT, 0.02, "shaded: faster than any algorithm can be; dots: sizes that ran", color=FAINT, fontsize=8
    )


def _strip(axes: Axes, leaders: Sequence[Leader], looks: dict[str, Look]) -> None:
    """The fastest from size to size, in its colour, along the foot."""
    axes.set_axis_off()
    axes.set_ylim(0, 1)
    low, high = axes.get_xlim()
    ends = [min(max(leader.since, low), high) for leader in leaders[1:]]
    for leader, left, right in zip(leaders, [low, *ends], [*ends, high], strict=True):
        axes.axvspan(left, right, color=looks[leader.name].tint, lw=0)
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
