"""What a sweep has found: a line for each combination, against what is varied first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from plots.lines import (
    BOTTOM,
    LEFT,
    NAMED,
    RIGHT,
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
from plots.style import FAINT, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FOOT: Final = "dots: points that ran"
_SHADED: Final = "shaded: faster than any algorithm can be; "


def curves_figure(
    places: Sequence[float] | None,
    names: Sequence[str],
    curves: Sequence[Curve],
    floor: Sequence[Floor | None] = (),
    *,
    across: str,
    form: Callable[[float], str],
    title: str = "",
    subtitle: str = "",
) -> Figure:
    """Draw values against numbers on a logarithmic axis, or against words that stand evenly.

    Values of 0 have no place on a logarithmic axis and are left out. The lines that end lowest have a
    colour.

    Parameters
    ----------
    places : sequence of float, or None
        Rising numbers of more than 0; None for words.
    names : sequence of str
        What stands at the axis, one a place.
    curves : sequence of Curve
        A value a place.
    floor : sequence of Floor or None, optional
        The lower bound at every place, where it is known.
    across : str
        What is varied.
    form : callable
        A value in words.
    title, subtitle : str

    Examples
    --------
    >>> words = ["ring", "direct"]
    >>> figure = curves_figure(None, words, [Curve("", [2e-6, 1e-6])], across="algorithm", form=str)
    >>> [text.get_text() for text in figure.axes[0].get_xticklabels()]
    ['ring', 'direct']
    """
    spots: list[float] = list(range(1, len(names) + 1)) if places is None else list(places)
    with look():
        figure, axes = begin(title, subtitle)
        heights = [height for curve in curves for height in points_of(spots, curve.values)[1]]
        if not heights:
            say_nothing(axes, "nothing came of it that has a place here")
            return figure
        known = list(floor) or [None] * len(spots)
        draw_floor(axes, spots, known)
        tints = _tints(curves)
        draw_curves(axes, spots, curves, tints)
        if places is None:
            # there is nothing between words
            for line in axes.lines:
                line.set(linestyle="none", markersize=9)
        _across(axes, spots, across, logarithmic=places is not None)
        ticks = {spot: names[spots.index(spot)] for spot in a_few(spots)}
        scale(axes, heights, ticks, form, [one.best for one in known if one is not None and one.best])
        foot = (_SHADED if any(known) else "") + _FOOT
        draw_names(axes, figure, spots, curves, tints, foot)
        return figure


def _tints(curves: Sequence[Curve]) -> dict[str, int]:
    """Numbers of the colours of the lines that have one."""
    never = float("inf")
    ends = [([value for value in curve.values if value] or [never])[-1] for curve in curves]
    ranked = sorted(range(len(curves)), key=lambda i: ends[i])
    return {curves[i].name: tint for tint, i in enumerate(ranked[:NAMED])}


def _across(axes: Axes, spots: Sequence[float], across: str, *, logarithmic: bool) -> None:
    """The axis across, and what it is."""
    axes.figure.text(
        (1 + LEFT - RIGHT) / 2, BOTTOM - 0.075, across, color=FAINT, fontsize=9, ha="center", va="center"
    )
    if logarithmic:
        axes.set_xscale("log", base=2)
        axes.set_xlim(spots[0] / 1.1, spots[-1] * 1.1)
    else:
        axes.set_xlim(0.7, len(spots) + 0.3)
