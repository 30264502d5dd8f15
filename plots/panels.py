"""One step of a storyboard: a small graph with arrows, or a matrix of who sends to whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from matplotlib import colormaps
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from plots.arrows import draw_arrow
from plots.gantt import corners
from plots.style import FAINT, INK, label

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from plots.moves import Held, Moves
    from plots.places import Points

REDUCES: Final = "#D55E00"
COPIES: Final = "#0072B2"
_PART: Final = "#E69F00"
_DASHES: Final[Any] = (0, (3, 1.2))
_BEND: Final = 0.18
_NEAR: Final = 0.38
"""Part of the way along its arrow at which a name stands."""

_MOST_HEADS: Final = 64
"""Transfers of a step up to which they have heads."""

_MOST_NAMED: Final = 16
"""Transfers of a step, and ranks, up to which chunks are named."""

_MOST_CELLS: Final = 128
"""Chunks of all ranks together up to which they are drawn one by one."""

_MOST_CHUNKS: Final = 16
"""Chunks of a rank up to which they are."""

_NAME: Final = 9
"""Characters of the names of an arrow's chunks."""

_BINS: Final = 128
_FAINTEST: Final = 0.35
"""Part of a colour that the smallest message of a matrix has."""


def draw_graph(axes: Axes, points: Points, ranks: int, moves: Moves | None, state: Held | None) -> None:
    """Draw ranks, what they hold, and arrows for the transfers of a step.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    points : ndarray of float64, shape (nodes, 2)
        Ranks, then switches.
    ranks : int
    moves : Moves or None
        None draws none: the start.
    state : Held or None
        After the step.
    """
    cells = state is not None and has_cells(ranks, state)
    size = _fit(axes, points, 0.75 if cells else 0.45)
    if moves is not None:
        _draw_arrows(axes, points, ranks, moves, size)
    done = np.zeros(len(points)) if state is None else state.done
    fill = colormaps["Blues"](0.55 * done)
    for own, marker in ((slice(ranks), "o"), (slice(ranks, None), "s")):
        x, y = points[own].T
        axes.scatter(x, y, s=size**2, c=fill[own], edgecolors=INK, linewidths=0.7, marker=marker, zorder=3)
    for rank, (x, y) in enumerate(points[:ranks].tolist()):
        axes.text(
            x, y, str(rank), ha="center", va="center_baseline", fontsize=0.5 * size, color=INK, zorder=4
        )
    if state is not None and cells:
        _draw_cells(axes, points[:ranks], state.share[:ranks], size)


def _fit(axes: Axes, points: Points, margin: float) -> float:
    """Scale axes around points, with inches beside them; the diameter of a node, points of the page."""
    axes.set_axis_off()
    low, high = points.min(axis=0), points.max(axis=0)
    box = axes.get_window_extent()
    inches = np.array([box.width, box.height]) / axes.figure.dpi
    span = np.maximum(high - low, 1e-6)
    scale = min((inches - margin) / span)
    half, middle = inches / scale / 2, (low + high) / 2
    axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
    axes.set_ylim(middle[1] - half[1], middle[1] + half[1])
    apart = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1)) + 1e9 * np.eye(len(points))
    return float(np.clip(0.4 * 72 * scale * apart.min(), 7.0, 18.0))


def _draw_arrows(axes: Axes, points: Points, ranks: int, moves: Moves, size: float) -> None:
    if len(moves) > _MOST_HEADS:
        _draw_lines(axes, points, moves)
        return
    named = bool(moves.names) and len(moves) <= _MOST_NAMED and ranks <= _MOST_NAMED
    for i in range(len(moves)):
        ends = points[[moves.src[i], moves.dst[i]]]
        reduces = bool(moves.reduces[i])
        tint = REDUCES if reduces else COPIES
        draw_arrow(axes, ends, tint, size, width=1.1, order=2, dash="-" if reduces else _DASHES, bend=_BEND)
        if not named:
            continue
        along = ends[1] - ends[0]
        # near who sends, so that the names of an exchange keep apart
        aside = 2 * _NEAR * (1 - _NEAR) * _BEND * np.array([along[1], -along[0]])
        x, y = (ends[0] + _NEAR * along + aside).tolist()
        box = {"boxstyle": "square,pad=0.08", "fc": "white", "ec": "none", "alpha": 0.85}
        name = label(moves.names[i], _NAME)
        axes.text(x, y, name, ha="center", va="center", fontsize=6, color=tint, bbox=box, zorder=2.5)


def _draw_lines(axes: Axes, points: Points, moves: Moves) -> None:
    """Draw very many transfers as thin lines without heads."""
    for own, tint in ((moves.reduces, REDUCES), (~moves.reduces, COPIES)):
        lines = list(np.stack([points[moves.src[own]], points[moves.dst[own]]], axis=1))
        axes.add_collection(
            LineCollection(lines, colors=tint, linewidths=0.5, alpha=0.5, zorder=2), autolim=False
        )


def has_cells(ranks: int, state: Held) -> bool:
    """Whether there is room to draw every chunk of every rank."""
    chunks = state.share.shape[1]
    return bool(chunks <= _MOST_CHUNKS and ranks * chunks <= _MOST_CELLS)


def _draw_cells(axes: Axes, points: Points, share: NDArray[np.float64], size: float) -> None:
    """Draw a cell for each chunk below each rank: empty, part of a sum, or complete."""
    chunks = share.shape[1]
    inches = axes.get_window_extent().width / axes.figure.dpi
    unit = float(np.diff(axes.get_xlim())[0]) / inches / 72
    wide = min(4.0, 34.0 / chunks) * unit
    left = points[:, :1] + wide * (np.arange(chunks) - chunks / 2)
    top = np.repeat(points[:, 1:] - (size / 2 + 1.5) * unit, chunks, axis=1)
    boxes = corners(left.ravel(), (left + wide).ravel(), top.ravel(), (top - 4.5 * unit).ravel())
    part = 0.25 + 0.75 * share.ravel()[:, None]
    fill = 1 - part * (1 - np.array(to_rgb(_PART)))
    fill[share.ravel() >= 1] = to_rgb(COPIES)
    fill[share.ravel() == 0] = 1.0
    cells = PolyCollection(boxes, facecolors=fill, edgecolors=FAINT, linewidths=0.3, zorder=2.8, label="held")
    axes.add_collection(cells, autolim=False)


def draw_matrix(axes: Axes, ranks: int, moves: Moves) -> None:
    """Draw a step as a matrix: a row sends, a column receives, the darker the more."""
    bins = min(ranks, _BINS)
    moved = np.zeros((2, bins, bins))
    # neighbours share a cell
    own = (moves.src < ranks) & (moves.dst < ranks)
    place = (moves.src[own] * bins // ranks, moves.dst[own] * bins // ranks)
    np.add.at(moved, (moves.reduces[own].astype(np.int64), *place), np.maximum(moves.bytes[own], 1))
    total, reduces = moved.sum(axis=0), moved[1] >= moved[0]
    strong = np.where(total > 0, _FAINTEST + (1 - _FAINTEST) * total / max(total.max(), 1.0), 0.0)
    tint = np.where(reduces[:, :, None], to_rgb(REDUCES), to_rgb(COPIES))
    image = 1 - strong[:, :, None] * (1 - tint)
    axes.imshow(image, extent=(-0.5, ranks - 0.5, ranks - 0.5, -0.5), interpolation="nearest")
    ticks = [0, ranks // 2, ranks - 1]
    axes.set_xticks(ticks, map(str, ticks), fontsize=6)
    axes.set_yticks(ticks, map(str, ticks), fontsize=6)
    axes.tick_params(length=2, pad=1, color=FAINT)
    for spine in axes.spines.values():
        spine.set_color("#bbbbbb")


def graph_legend(*, cells: bool) -> list[Artist]:
    """What the legend of graphs says."""
    held: list[Artist] = [
        Patch(facecolor="white", edgecolor=FAINT, label="chunk: not held"),
        Patch(facecolor=_PART, edgecolor=FAINT, label="part of a sum"),
        Patch(facecolor=COPIES, edgecolor=FAINT, label="complete"),
    ]
    return [
        Line2D([], [], color=REDUCES, lw=1.4, label="reduced where it arrives"),
        Line2D([], [], color=COPIES, lw=1.4, ls=_DASHES, label="copied"),
        *(held if cells else ()),
        Patch(facecolor=colormaps["Blues"](0.55), edgecolor=INK, label="rank that has all that it needs"),
    ]


def matrix_legend() -> list[Artist]:
    """What the legend of matrices says."""
    return [
        Patch(color=REDUCES, label="reduced where it arrives"),
        Patch(color=COPIES, label="copied"),
        Line2D([], [], ls="", label="rows send, columns receive; the darker, the more bytes"),
    ]
