"""How many messages wait for what they need, over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from matplotlib.patches import Patch

from plots.density import coverage
from plots.lanes import HIDDEN
from plots.style import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from simulator.engine.timeline import Timeline

_LOOK: Final[dict[str, Any]] = {"facecolor": "#d4d4d4", "edgecolor": "#8a8a8a", "hatch": "//////", "lw": 0.4}


def waiting(
    timeline: Timeline, row: NDArray[np.int64], rows: int, end: float, bins: int
) -> NDArray[np.float64]:
    """Messages that wait in each row, on average over each of equal bins of time, shape (rows, bins).

    Parameters
    ----------
    timeline : Timeline
    row : ndarray of int64, shape (resources,)
        Row of each resource, HIDDEN where it has none.
    rows : int
    end : float
        fs; not before the last release.
    bins : int
    """
    plan = timeline.plan
    of_hop = row[plan.resource]
    queues = (of_hop != HIDDEN) & (timeline.grant > timeline.arrival)
    if plan.flows is not None:
        # flows share: they wait for nobody
        queues &= plan.flows.capacity[plan.resource] == 0
    own = np.flatnonzero(queues)
    start, stop = (column[own] * (bins / end) for column in (timeline.arrival, timeline.grant))
    return coverage(of_hop[own], start, stop, (rows, bins), np.ones(len(own)))


def draw_waiting(
    axes: Axes, counts: NDArray[np.float64], edges: NDArray[np.float64], foot: float, head: float
) -> Patch | None:
    """Draw one row of them between two heights, and say the most; returns what the legend says of it.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    counts : ndarray of float64, shape (bins,)
    edges : ndarray of float64, shape (bins + 1,)
        Of the bins, on the axis of time.
    foot, head : float
        Where none wait, and where the most do.
    """
    most = float(counts.max(initial=0.0))
    if not most:
        return None
    heights = foot + (head - foot) * counts / most
    axes.stairs(heights, edges, baseline=foot, fill=True, label="queueing", zorder=1.5, **_LOOK)
    at = float(edges[int(counts.argmax())])
    right = at > 0.5 * edges[-1]
    axes.annotate(
        f"{most:,.0f} wait" if most >= 1 else f"{most:.1g} wait",
        (at, (foot + head) / 2),
        (-3 if right else 3, 0),
        textcoords="offset points",
        ha="right" if right else "left",
        va="center",
        fontsize=6.5,
        color=INK,
        bbox={"boxstyle": "square,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.75},
        zorder=5,
    )
    return Patch(label="messages that wait", **_LOOK)
