"""Bars that are stacked of parts, one below the other, with what they are in their middle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from matplotlib.patches import Patch

from plots.frame import text_width
from plots.style import GRID, INK, RULE, show_spines, titled_figure

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

_WIDTH: Final = 10.0
_RIGHT: Final = 1.3
"""Inches for what stands behind a bar."""

_TOP: Final = 0.72
_FOOT: Final = 0.85


@dataclass(frozen=True, slots=True)
class Part:
    """What a bar is made of.

    Attributes
    ----------
    name : str
    tint : str
    hatch : str
        Tells it from another of a like tint.
    """

    name: str
    tint: str
    hatch: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Stacks:
    """Bars of parts.

    Attributes
    ----------
    rows : sequence of str
        Names of the bars, from the top.
    parts : sequence of Part
    size : ndarray of float64, shape (rows, parts)
    text : callable
        A size for people.
    axis : str
        What sizes are.
    ends : sequence of str
        What stands behind each bar; by default its total.
    """

    rows: Sequence[str]
    parts: Sequence[Part]
    size: NDArray[np.float64]
    text: Callable[[float], str]
    axis: str
    ends: Sequence[str] = ()

    @property
    def total(self) -> NDArray[np.float64]:
        """Of each bar."""
        return np.asarray(self.size.sum(axis=1))


def stacks_figure(stacks: Stacks, *, title: str, subtitle: str, most: float = 0.0) -> tuple[Figure, Axes]:
    """Draw bars; returns the axes, too.

    Parameters
    ----------
    stacks : Stacks
    title, subtitle : str
    most : float
        Up to which the axis goes at least.
    """
    rows = len(stacks.rows)
    tall = float(np.clip(6.0 / rows, 0.11, 0.42))
    font = min(8.5, 0.8 * 72 * tall)
    left = 0.3 + text_width(stacks.rows, font)
    height = _TOP + tall * rows + _FOOT
    figure = titled_figure(_WIDTH, height, title, subtitle)
    axes = figure.add_axes(
        (left / _WIDTH, _FOOT / height, 1 - (left + _RIGHT) / _WIDTH, tall * rows / height)
    )
    longest = max(float(stacks.total.max(initial=0.0)), most) or 1.0
    axes.set_xlim(0, 1.02 * longest)
    axes.set_ylim(rows, 0)
    axes.set_yticks(np.arange(rows) + 0.5, stacks.rows, fontsize=font)
    _axis(axes, stacks, longest)
    used = _draw(axes, stacks, longest, font, _WIDTH - left - _RIGHT)
    keys: list[Artist] = [
        Patch(facecolor=part.tint, hatch=part.hatch, edgecolor="white", label=part.name) for part in used
    ]
    figure.legend(
        handles=keys,
        loc="lower left",
        bbox_to_anchor=(left / _WIDTH, 0.06 / height),
        ncols=max(1, len(keys)),
        frameon=False,
        fontsize=8,
        handlelength=1.4,
        columnspacing=1.3,
        borderaxespad=0,
    )
    return figure, axes


def bar_axis(axes: Axes, ticks: Sequence[float], text: Callable[[float], str], what: str) -> None:
    """Scale, grid and spines of axes whose bars lie: ticks with their texts, and what they count."""
    axes.set_xticks(ticks, [text(tick) for tick in ticks], fontsize=8)
    axes.set_xlabel(what, fontsize=8.5)
    axes.set_axisbelow(True)
    axes.grid(axis="x", color=GRID, lw=0.6)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", color=RULE)
    show_spines(axes, "left", "bottom")


def _axis(axes: Axes, stacks: Stacks, longest: float) -> None:
    ticks = [longest * part / 4 for part in range(5)] if stacks.size.any() else [0.0]
    bar_axis(axes, ticks, stacks.text, stacks.axis)


def _draw(axes: Axes, stacks: Stacks, longest: float, font: float, inches: float) -> list[Part]:
    """Draw the parts and what they are where there is room; returns those that there are."""
    rows = np.arange(len(stacks.rows)) + 0.5
    begin, used = np.zeros(len(rows)), []
    for column, part in enumerate(stacks.parts):
        size = stacks.size[:, column]
        if not size.any():
            continue
        used.append(part)
        bars = axes.barh(rows, size, left=begin, height=0.74, color=part.tint, label=part.name)
        for bar in bars:
            bar.set(hatch=part.hatch, edgecolor="white", linewidth=0.5)
        for row in np.flatnonzero(size).tolist():
            text = stacks.text(float(size[row]))
            if text_width([text], font) < 0.9 * inches * size[row] / longest:
                _say(axes, text, (float(begin[row] + size[row] / 2), float(rows[row])), part, 0.9 * font)
        begin = begin + size
    ends = stacks.ends or [stacks.text(float(total)) for total in stacks.total]
    for row, (end, text) in enumerate(zip(begin.tolist(), ends, strict=True)):
        axes.annotate(
            text,
            (end, rows[row]),
            (4, 0),
            textcoords="offset points",
            va="center",
            fontsize=font,
            color=INK,
            annotation_clip=False,
            bbox={"boxstyle": "square,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.8},
            zorder=5,
        )
    return used


def _say(axes: Axes, text: str, place: tuple[float, float], part: Part, font: float) -> None:
    """Write into a bar what it is."""
    tint = "white" if _is_dark(part.tint) and not part.hatch else INK
    written = axes.text(*place, text, ha="center", va="center", fontsize=font, color=tint)
    if part.hatch:
        written.set_bbox({"boxstyle": "square,pad=0.15", "fc": "white", "ec": "none"})


def _is_dark(tint: str) -> bool:
    from matplotlib.colors import to_rgb

    return float(np.dot(to_rgb(tint), (0.299, 0.587, 0.114))) < 0.55
