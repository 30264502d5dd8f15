"""Arrows between the nodes of a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.patches import FancyArrowPatch

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray


def draw_arrow(
    axes: Axes,
    ends: NDArray[Any],
    tint: str,
    size: float,
    *,
    width: float = 1.4,
    order: float = 1.5,
    dash: Any = "-",
    bend: float = 0.0,
) -> None:
    """Draw an arrow from the edge of a node to the edge of another.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    ends : ndarray of float64, shape (2, 2)
        The middles of both.
    tint : str
    size : float
        Diameter of a node, points.
    width, order, dash
        Of the line.
    bend : float
        How far it leaves the straight line, to the right, in units of its length.
    """
    begin, end = ends.tolist()
    axes.add_patch(
        FancyArrowPatch(
            begin,
            end,
            arrowstyle="-|>",
            connectionstyle=f"arc3,rad={bend}",
            mutation_scale=max(5.0 + width, 0.4 * size + width),
            shrinkA=size / 2,
            shrinkB=size / 2 + 1,
            color=tint,
            lw=width,
            ls=dash,
            zorder=order,
        )
    )
