"""A cut in the picture of a topology: the links that cross it, and the nodes that it cuts off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch

from plots.style import label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from algorithms.cuts import Cut
    from topologies import Topology

_STRONG: Final = "#B3003C"
_TINT: Final = "#F3C6D3"
_MOST_ARROWS: Final = 200


def crossing(
    cut: Cut,
    topology: Topology,
    src: NDArray[np.int64],
    dst: NDArray[np.int64],
    level: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Of lines that stand for links: 1 where one crosses from src to dst, -1 the other way, else 0."""
    links, nodes = topology.links, len(topology.nodes)
    over = np.array(cut.links, dtype=np.int64)
    size = nodes * nodes

    def key(
        src: NDArray[np.integer], dst: NDArray[np.integer], level: NDArray[np.integer]
    ) -> NDArray[np.int64]:
        return np.asarray(level.astype(np.int64) * size + src.astype(np.int64) * nodes + dst)

    over_keys = key(links.src[over], links.dst[over], links.level[over])
    forth, back = np.isin(key(src, dst, level), over_keys), np.isin(key(dst, src, level), over_keys)
    return forth.astype(np.int64) - (back & ~forth)


def draw_cut(axes: Axes, lines: NDArray[np.float64], size: float, *, heads: bool) -> None:
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
    """
    if not heads or len(lines) > _MOST_ARROWS:
        axes.add_collection(
            LineCollection(list(lines), colors=_STRONG, linewidths=1.2, zorder=2.2), autolim=False
        )
        return
    for (x0, y0), (x1, y1) in lines.tolist():
        axes.add_patch(
            FancyArrowPatch(
                (x0, y0),
                (x1, y1),
                arrowstyle="-|>",
                mutation_scale=max(7.0, 0.5 * size),
                shrinkA=size / 2,
                shrinkB=size / 2 + 1,
                color=_STRONG,
                lw=2.4,
                zorder=2.2,
            )
        )


def tinted(cut: Cut, colours: Sequence[str], *, small: bool) -> list[str]:
    """Colours of all nodes, of which the cut's own are tinted; in a small picture strongly."""
    own = set(cut.nodes)
    return [(_STRONG if small else _TINT) if i in own else plain for i, plain in enumerate(colours)]


def cut_legend(cut: Cut) -> Line2D:
    """What the legend says of a cut."""
    return Line2D([], [], color=_STRONG, lw=2.4, label=label(f"cut: {cut.text()}", most=90))
