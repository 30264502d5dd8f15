"""Names of curves at the right of their axes, in the order in which the curves end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from matplotlib.lines import Line2D

from plots.style import COLOURS, FAINT, INK, colour, label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DASHES: Final = ("-", (0, (5, 2)))
_FORMULAS: Final = ((0, (4, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (3, 1, 1, 1, 1, 1)))
_ROW: Final = 0.032
_SAMPLE: Final = 0.024
_BESIDE: Final = 0.012


@dataclass(frozen=True, slots=True)
class Look:
    """Colour of a line, and how it is broken."""

    tint: str
    dash: Any = "-"


def look_of(number: int) -> Look:
    """Look of the number-th curve; two of one colour are told apart by their dashes.

    >>> look_of(0).tint == look_of(6).tint, look_of(0).dash == look_of(6).dash
    (True, False)
    """
    return Look(colour(number), _DASHES[number // COLOURS % len(_DASHES)])


def formula_look(number: int) -> Look:
    """Look of the number-th curve that is worked out rather than measured; the first is the darkest."""
    return Look(FAINT if number else INK, _FORMULAS[number % len(_FORMULAS)])


def name_curves(
    figure: Figure, axes: Axes, ends: Mapping[str, float], looks: Mapping[str, Look], most: int = 24
) -> float:
    """Write the names at the right of the axes, each beside the end of its curve and apart from the others.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    axes : matplotlib.axes.Axes
        In their final place and scale.
    ends : mapping of str to float
        Last value of each curve.
    looks : mapping of str to Look
        Of the curves; of those that end at one value the first stands lowest.
    most : int
        Characters of a name.

    Returns
    -------
    float
        Where they begin, as part of the figure's width.
    """
    box = axes.get_position()
    heights = {}
    for name, value in ends.items():
        at = axes.transAxes.inverted().transform(axes.transData.transform((1, value)))[1]
        heights[name] = box.y0 + min(max(float(at), 0.0), 1.0) * box.height
    beside = float(box.x1) + _BESIDE
    order = list(looks)
    ranked = sorted(heights, key=lambda name: (heights[name], order.index(name)))
    for name, at in zip(ranked, _apart([heights[name] for name in ranked], box.y1), strict=True):
        look, sample = looks[name], ([beside, beside + _SAMPLE], [at, at])
        figure.add_artist(
            Line2D(*sample, color=look.tint, ls=look.dash, lw=1.5, transform=figure.transFigure)
        )
        figure.text(beside + 1.3 * _SAMPLE, at, label(name, most), color=look.tint, fontsize=8, va="center")
    return beside


def _apart(heights: Sequence[float], highest: float) -> list[float]:
    """Rising heights, moved a row from each other, and none above the highest.

    >>> [round(height, 3) for height in _apart([0.2, 0.21, 0.88, 0.88], 0.88)]
    [0.2, 0.232, 0.848, 0.88]
    """
    placed: list[float] = []
    for height in heights:
        placed.append(max(height, placed[-1] + _ROW) if placed else height)
    for i in range(len(placed) - 1, -1, -1):
        placed[i] = highest = min(placed[i], highest)
        highest -= _ROW
    return placed
