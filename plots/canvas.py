"""The paper of a topology's picture: as large as its nodes ask for, with its groups and its nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
from matplotlib.patches import Circle, Patch, Rectangle

from plots.cut import tinted
from plots.style import INK, colour, label, titled_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from algorithms.cuts import Cut
    from plots.places import Layout, Points
    from topologies import Topology

MOST_LABELLED: Final = 200
"""Nodes from which on none is named, and arrows have no heads."""

PAPER: Final = "#ffffff"
SWITCH: Final = "#d9d9d9"
_PALE: Final = "#bdbdbd"

_WIDTHS: Final = (7.0, 12.0)
_LARGE: Final = 10.0
_MARGIN: Final = 0.4
_PAD: Final = 0.35
_TOP: Final = 0.5
_NUMBERED: Final = 12.0
"""Points that a rank takes, for its number to be read."""

_SHARE: Final = 0.55
"""Part of the way to the nearest node that a node takes."""


@dataclass(frozen=True, slots=True)
class Canvas:
    """A figure with axes of equal scale.

    Attributes
    ----------
    figure : matplotlib.figure.Figure
    axes : matplotlib.axes.Axes
    scale : float
        Points of a unit.
    rank, switch : float
        Diameters, points.
    bottom : float
        Inches below the axes.
    """

    figure: Figure
    axes: Axes
    scale: float
    rank: float
    switch: float
    bottom: float

    @property
    def size(self) -> float:
        """Diameter of the larger nodes, points."""
        return max(self.rank, self.switch)


def canvas(topology: Topology, places: Layout, tips: Points, head: tuple[str, str], bottom: float) -> Canvas:
    """Empty axes, as wide as it takes to read the numbers of ranks and as high as the layout asks for.

    Parameters
    ----------
    topology : Topology
    places : Layout
    tips : ndarray of float64
        Points that lie inside, too.
    head : pair of str
        A title, and what there is to say below it.
    bottom : float
        Inches to keep free below.
    """
    discs = np.array([(h.x, h.y, h.radius) for h in places.hulls]).reshape(-1, 3)
    boxes = np.array([(*box.low, *box.high) for box in places.boxes]).reshape(-1, 2)
    inside = np.vstack([places.points, boxes, tips.reshape(-1, 2)])
    corners = np.vstack([inside, discs[:, :2] - discs[:, 2:], discs[:, :2] + discs[:, 2:]])
    low, high = corners.min(axis=0), corners.max(axis=0)
    span = np.maximum(high - low, 1e-6)
    near = _nearest(places.points)
    width = _width(near[: topology.ranks].min() / span.max(), labelled=len(topology.nodes) <= MOST_LABELLED)
    scale = min((width - 2 * _MARGIN) / span.max(), 1.5 / near.min())
    tall = span[1] * scale
    height = tall + 2 * _PAD + _TOP + bottom
    figure = titled_figure(width, height, *head)
    axes = figure.add_axes((0, bottom / height, 1, (tall + 2 * _PAD) / height))
    middle, half = (low + high) / 2, np.array([width, tall + 2 * _PAD]) / 2 / scale
    axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
    axes.set_ylim(middle[1] - half[1], middle[1] + half[1])
    axes.set_axis_off()
    return Canvas(figure, axes, 72 * scale, *_node_sizes(topology, near, 72 * scale), bottom)


def _width(nearest: float, *, labelled: bool) -> float:
    """Inches, where the nearest two ranks are such a part of the whole apart."""
    if not labelled:
        return _LARGE
    needed = 2 * _MARGIN + _NUMBERED / 72 / _SHARE / nearest
    return float(np.clip(needed, *_WIDTHS))


def _nearest(points: Points) -> NDArray[np.float64]:
    """Distance of every node to the one nearest to it; a switch that lies on another counts as apart."""
    from scipy.spatial import cKDTree

    if len(points) == 1:
        return np.ones(1)
    apart = np.asarray(cKDTree(points).query(points, k=2)[0][:, 1], dtype=np.float64)
    return np.where(apart > 0, apart, 1.0)


def _node_sizes(topology: Topology, near: NDArray[np.float64], scale: float) -> tuple[float, float]:
    """Diameter of the ranks and of the switches in points: what keeps the nearest apart."""
    room = _SHARE * scale * near
    rank, switch = room[: topology.ranks].min(), room[topology.ranks :].min(initial=24.0)
    return float(np.clip(rank, 2.0, 24.0)), float(np.clip(switch, 3.0, 20.0))


def draw_groups(axes: Axes, places: Layout) -> None:
    """Draw the groups as discs and boxes in the colours of the levels that join them."""
    groups: list[tuple[int, Callable[..., Patch]]] = [
        *((hull.level, partial(Circle, (hull.x, hull.y), hull.radius)) for hull in places.hulls),
        *((box.level, partial(Rectangle, box.low, *box.size)) for box in places.boxes),
    ]
    for level, shape in sorted(groups, key=lambda group: -group[0]):
        axes.add_patch(shape(fc=colour(level), ec="none", alpha=0.07, zorder=0))
        axes.add_patch(shape(fill=False, ec=colour(level), lw=0.8, alpha=0.5, zorder=0))


def draw_nodes(
    paper: Canvas, topology: Topology, points: Points, cut: Cut | None, *, behind: bool = False
) -> None:
    """Draw ranks as circles and switches as squares; ranks of a small picture have their numbers.

    Parameters
    ----------
    paper : Canvas
    topology : Topology
    points : ndarray of float64, shape (nodes, 2)
    cut : Cut or None
    behind : bool
        Whether nodes without numbers are pale, and lie behind the links.
    """
    axes, ranks, small = paper.axes, topology.ranks, len(topology.nodes) > MOST_LABELLED
    fill, edge = (_PALE if behind else INK, 0.0) if small else (PAPER, 1.0)
    layer = 0.8 if small and behind else 3.0
    colours = [fill] * ranks + [SWITCH] * (len(points) - ranks)
    if cut is not None:
        colours = tinted(cut, colours, small=small)
    x, y = points[:ranks].T
    axes.scatter(x, y, s=paper.rank**2, c=colours[:ranks], edgecolors=INK, linewidths=edge, zorder=layer)
    x, y = points[ranks:].T
    axes.scatter(
        x,
        y,
        s=paper.switch**2,
        c=colours[ranks:],
        edgecolors=INK,
        linewidths=edge or 0.3,
        marker="s",
        zorder=layer,
    )
    if small:
        return
    font = min(9.0, 0.54 * paper.rank)
    for rank, (x, y) in enumerate(points[:ranks].tolist()):
        axes.text(x, y, str(rank), ha="center", va="center_baseline", fontsize=font, color=INK, zorder=4)
    if topology.kind == "custom":
        _name_switches(paper, topology, points)


def _name_switches(paper: Canvas, topology: Topology, points: Points) -> None:
    named = zip(topology.nodes[topology.ranks :], points[topology.ranks :].tolist(), strict=True)
    for name, place in named:
        paper.axes.annotate(
            label(name),
            place,
            (0, -paper.switch / 2 - 2),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=8,
            color=INK,
        )
