"""Measured times, fitted ones, and how far they are apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plots.lines import BOTTOM, LEFT, RIGHT, TOP, a_few
from plots.style import FAINT, INK, LONG, colour, label, look, new_figure
from topologies.text import format_bytes, format_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT = 10.0, 7.0
_RESIDUALS = 0.17


@dataclass(frozen=True, slots=True)
class FittedSeries:
    """A series of measurements and its fit.

    Attributes
    ----------
    name : str
    sizes : sequence of int
        Bytes, rising.
    measured, fitted : sequence of float
        s.
    ends : sequence of int
        Points after which another algorithm or protocol holds.
    """

    name: str
    sizes: Sequence[int]
    measured: Sequence[float]
    fitted: Sequence[float]
    ends: Sequence[int] = ()


def calibration_figure(series: Sequence[FittedSeries], *, title: str = "", subtitle: str = "") -> Figure:
    """Draw dots for what was measured, lines for what is fitted, and the residuals below.

    Parameters
    ----------
    series : sequence of FittedSeries
        At least one.
    title, subtitle : str

    Examples
    --------
    >>> one = FittedSeries("ring", [1024, 2048, 4096], [1e-6, 2e-6, 4e-6], [1.1e-6, 2e-6, 3.9e-6], [0])
    >>> [len(axes.lines) for axes in calibration_figure([one]).axes]
    [3, 3]
    """
    with look():
        figure = new_figure(_WIDTH, _HEIGHT)
        figure.text(0.012, 0.975, label(title, LONG), va="top", fontsize=12, color=INK)
        figure.text(0.012, 0.935, label(subtitle, 2 * LONG), va="top", fontsize=8, color=FAINT)
        top = BOTTOM + _RESIDUALS
        above = figure.add_axes((LEFT, top, 1 - LEFT - RIGHT, 1 - TOP - top))
        below = figure.add_axes((LEFT, BOTTOM - 0.08, 1 - LEFT - RIGHT, _RESIDUALS), sharex=above)
        for tint, one in enumerate(series):
            _draw(above, below, one, colour(tint))
        _scales(above, below, series)
        above.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=8)
        about = "circles: measured; lines: fitted; below: fitted over measured, less 1"
        figure.text(LEFT, 0.02, about, color=FAINT, fontsize=8)
        return figure


def _draw(above: Axes, below: Axes, one: FittedSeries, tint: str) -> None:
    starts = [0, *(end + 1 for end in one.ends)]
    stops = [*(end + 1 for end in one.ends), len(one.sizes)]
    name = label(one.name, LONG // 2)
    above.plot(one.sizes, one.measured, color=tint, ls="", marker="o", ms=4, mfc="none", label=name)
    errors = [100 * (fitted / time - 1) for fitted, time in zip(one.fitted, one.measured, strict=True)]
    for start, stop in zip(starts, stops, strict=True):
        above.plot(one.sizes[start:stop], one.fitted[start:stop], color=tint, lw=1.3)
        below.plot(one.sizes[start:stop], errors[start:stop], color=tint, lw=0.8, marker=".", ms=4)


def _scales(above: Axes, below: Axes, series: Sequence[FittedSeries]) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

    below.axhline(0, color=INK, lw=0.6)
    above.set_xscale("log", base=2)
    above.set_yscale("log")
    above.set_xticks(list(a_few(sorted({size for one in series for size in one.sizes}))))
    below.xaxis.set_major_formatter(FuncFormatter(lambda size, _: format_bytes(round(size))))
    below.xaxis.set_minor_locator(NullLocator())
    above.yaxis.set_major_formatter(FuncFormatter(lambda time, _: format_time(time, 3)))
    above.yaxis.set_minor_formatter(NullFormatter())
    below.yaxis.set_major_formatter(FuncFormatter(lambda error, _: f"{error:+g} %"))
    for axes in (above, below):
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize=8)
        axes.set_axisbelow(True)
        axes.grid(color="#e4e4e4", lw=0.6)
    above.tick_params(labelbottom=False)
