"""A cut in the picture of a topology: the links that cross it, and the nodes that it cuts off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from plots.arrows import draw_arrow
from plots.style import label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from algorithms.cuts import Cut
    from plots.topology_lines import Lines

_STRONG: Final = "#B3003C"
_TINT: Final = "#F3C6D3"
_MOST_ARROWS: Final = 200


def crossing(cut: Cut, lines: Lines) -> NDArray[np.int64]:
    """Of each line 1 where the cut's links cross from its src to its dst, -1 the other way, else 0."""
    way = np.zeros(len(lines), dtype=np.int64)
    over = np.array(cut.links, dtype=np.int64)
    onwards = lines.onwards[over]
    way[lines.of_link[over[~onwards]]] = -1
    way[lines.of_link[over[onwards]]] = 1
    return way


def draw_cut(axes: Axes, lines: NDArray[np.float64], size: float, *, heads: bool, behind: bool) -> None:
    """Draw the lines that cross, from who sends to who receives.

    Parameters
    ----------
    axes : Axes
    lines : ndarray of float64, shape (lines, 2, 2)
        Both ends of each.
    size : float
        Of a node, points.
    heads : bool
        Whether arrows have heads, where there are not too many.
    behind : bool
        Whether they are bands behind the lines, whose colours say something.
    """
    if behind:
        width, tint, order = (9.0 if heads else 4.0), _TINT, 0.9
    elif heads and len(lines) <= _MOST_ARROWS:
        for ends in lines:
            draw_arrow(axes, ends, _STRONG, size, width=2.4, order=2.2)
        return
    else:
        width, tint, order = 1.2, _STRONG, 2.2
    axes.add_collection(
        LineCollection(list(lines), colors=tint, linewidths=width, zorder=order), autolim=False
    )


def tinted(cut: Cut, colours: Sequence[str], *, small: bool) -> list[str]:
    """Colours of all nodes, of which the cut's own are tinted; in a small picture strongly."""
    own = set(cut.nodes)
    return [(_STRONG if small else _TINT) if i in own else plain for i, plain in enumerate(colours)]


def cut_legend(cut: Cut, *, behind: bool) -> Line2D:
    """What the legend says of a cut."""
    tint, width = (_TINT, 7.0) if behind else (_STRONG, 2.4)
    return Line2D([], [], color=tint, lw=width, label=label(f"cut: {cut.text()}", most=90))
