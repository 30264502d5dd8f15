"""Time against size: a line for every algorithm over the lower bound, on logarithmic axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from plots.lines import (
    BOTTOM,
    LEFT,
    NAMED,
    RIGHT,
    WIDTH,
    Curve,
    Floor,
    a_few,
    begin,
    draw_curves,
    draw_floor,
    draw_names,
    points_of,
    say_nothing,
    scale,
)
from plots.style import CHARACTER, FAINT, INK, colour, label, look
from topologies.text import format_bytes, format_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STRIP: Final = 0.03
_FOOT: Final = "shaded: faster than any algorithm can be; dots: sizes that ran"


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
    measured: Mapping[int, float] | None = None,
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
    measured : mapping of int to float, optional
        Measured seconds by size, drawn as circles.

    Examples
    --------
    >>> floor = [Floor(5e-7, 1e-9), Floor(5e-7, 1e-6)]
    >>> figure = sizes_figure([1, 1024], [Curve("ring", [1e-6, 2e-6])], floor, [Leader("ring", 1)])
    >>> len(figure.axes[0].lines)
    1
    """
    with look():
        figure, axes = begin(title, subtitle)
        tints, seen = _tints(curves, leaders), measured or {}
        draw_floor(axes, sizes, floor)
        bounds = [None if known is None else known.best for known in floor]
        draw_curves(axes, sizes, curves, tints)
        drawn = _scales(axes, sizes, [*curves, *_as_curves(seen, sizes)], bounds, leaders)
        if drawn:
            _crossings(axes, leaders)
            about = _FOOT
            if seen:
                places, heights = list(seen), list(seen.values())
                axes.plot(places, heights, color=INK, ls="", marker="o", ms=5, mfc="none", label="measured")
                about += "; circles: measured"
            draw_names(axes, figure, sizes, curves, tints, about)
            if leaders:
                foot = figure.add_axes((LEFT, BOTTOM - 0.075, 1 - LEFT - RIGHT, _STRIP), sharex=axes)
                _strip(foot, leaders, tints)
        return figure


def _as_curves(measured: Mapping[int, float], sizes: Sequence[int]) -> list[Curve]:
    """What was measured at the sizes that ran, so that the axes leave room for it."""
    return [Curve("measured", [measured.get(size) for size in sizes])] if measured else []


def _tints(curves: Sequence[Curve], leaders: Sequence[Leader]) -> dict[str, int]:
    """Numbers of the colours of the lines that have one."""
    winning = dict.fromkeys(leader.name for leader in leaders)
    never = float("inf")
    simulated = [curve for curve in curves if not curve.formula]
    last = sorted(simulated, key=lambda curve: never if curve.values[-1] is None else curve.values[-1])
    named = dict.fromkeys((*winning, *(curve.name for curve in last)))
    return {name: i for i, name in enumerate(list(named)[:NAMED])}


def _scales(
    axes: Axes,
    sizes: Sequence[int],
    curves: Sequence[Curve],
    bounds: Sequence[float | None],
    leaders: Sequence[Leader],
) -> bool:
    """Logarithmic axes around what is drawn; whether anything is."""
    # what is worked out may lie far below
    points = [points_of(sizes, curve.values) for curve in curves if not curve.formula]
    times = [time for _, y in points for time in y]
    if not times:
        say_nothing(axes, "all of it takes no time, or no size")
        return False
    shown = [size for x, _ in points for size in x]
    axes.set_xscale("log", base=2)
    axes.set_xlim(min(shown) / 1.1, max(shown) * 1.1)
    # a crossover has a line of its own
    ticks = a_few(sorted({*shown} - {leader.since for leader in leaders[1:]}))
    words = {size: _size(round(size)) for size in ticks}
    scale(axes, times, words, lambda time: format_time(time, 3), points_of(sizes, bounds)[1])
    return True


def _size(size: int) -> str:
    """A size as it stands at the axis.

    >>> _size(524288), _size(104032)
    ('512 KiB', '104 kB')
    """
    return format_bytes(size) if size % 1024 == 0 else format_bytes(size, 3)


def _crossings(axes: Axes, leaders: Sequence[Leader]) -> None:
    for leader in leaders[1:]:
        axes.axvline(leader.since, color=FAINT, lw=0.6, ls=":", zorder=0.8)


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
        if (stop - start) * WIDTH * (1 - LEFT - RIGHT) > CHARACTER * len(name):
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
