"""Picture of a topology: ranks, switches and links, coloured by level."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, FancyArrowPatch, Patch, Rectangle

from plots.cut import crossing, cut_legend, draw_cut, tinted
from plots.layout import layout
from plots.places import Layout, Points
from plots.style import DIGITS, INK, colour, label, look, new_figure
from plots.topology_lines import Lines, ends_of, lines_of, shifted, tips_of
from topologies.text import format_bandwidth, format_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from algorithms.cuts import Cut
    from topologies import Topology

_MOST_LABELLED = 200
_MOST_COUNTS = 24
_MOST_LINES = 10_000
_WIDTH = 7.0
_PAPER, _SWITCH = "#ffffff", "#d9d9d9"


def topology_figure(topology: Topology, cut: Cut | None = None) -> Figure:
    """Draw a topology, and a cut through it.

    Ranks are numbered circles, switches are squares, a colour is a level. A line is a link
    each way, an arrow a link one way, and ``x4`` at a line says that there are four in parallel.
    Past 200 nodes labels and arrow heads are left out, and of a level of more than 10,000
    lines only an even sample is drawn. Of a cut the nodes are tinted, and the links that cross it
    are red arrows towards who receives.

    Parameters
    ----------
    topology : Topology
    cut : Cut, optional
        As `algorithms.lower_bounds` finds it.

    Examples
    --------
    >>> from topologies import ring
    >>> figure = topology_figure(ring(8, bandwidth=64e9, latency=1e-6))
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['ring: 64 GB/s, 1 us']
    """
    with look():
        places, lines = layout(topology), lines_of(topology)
        tips = tips_of(places, lines)
        legend = _legend(topology, lines, wraps=bool((tips != ends_of(places, lines)).any()))
        figure, axes, scale = _canvas(places, tips, len(legend) + (cut is not None))
        sizes = _node_sizes(topology, places.points, scale)
        _draw_groups(axes, places)
        if len(lines):
            ends = shifted(lines, places, scale)
            _draw_links(axes, topology, lines, places, tips, ends, max(sizes))
            if cut is not None:
                _draw_crossing(axes, topology, lines, cut, ends, tips, max(sizes))
                legend.append(cut_legend(cut))
        _draw_nodes(axes, topology, places.points, sizes, cut)
        if legend:
            figure.legend(handles=legend, loc="lower center", frameon=False, fontsize=9)
        figure.suptitle(_title(topology), fontsize=10, y=1 - 0.12 / figure.get_figheight(), va="top")
    return figure


def _title(topology: Topology) -> str:
    shown = topology.kind != "hypercube" and len(topology.dims) > 1
    dims = f" ({' x '.join(map(str, topology.dims))})" if shown else ""
    plural = "" if topology.ranks == 1 else "s"
    return f"{topology.kind}: {topology.ranks} rank{plural}{dims}, {len(topology.links)} links"


def _canvas(places: Layout, tips: Points, entries: int) -> tuple[Figure, Axes, float]:
    """Figure with empty axes of equal scale, as high as the layout asks for, and its points per unit."""
    discs = np.array([(h.x, h.y, h.radius) for h in places.hulls]).reshape(-1, 3)
    boxes = np.array([(*box.low, *box.high) for box in places.boxes]).reshape(-1, 2)
    inside = np.vstack([places.points, boxes, tips.reshape(-1, 2)])
    corners = np.vstack([inside, discs[:, :2] - discs[:, 2:], discs[:, :2] + discs[:, 2:]])
    low, high = corners.min(axis=0), corners.max(axis=0)
    span = np.maximum(high - low, 1e-6)
    wide, pad = _WIDTH - 0.8, 0.35
    scale = min(wide / span.max(), 1.5 / _nearest(places.points).min())
    tall = span[1] * scale
    top, bottom = 0.35, 0.15 + 0.2 * entries
    height = tall + 2 * pad + top + bottom
    figure = new_figure(_WIDTH, height)
    axes = figure.add_axes((0, bottom / height, 1, (tall + 2 * pad) / height))
    middle, half = (low + high) / 2, np.array([_WIDTH, tall + 2 * pad]) / 2 / scale
    axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
    axes.set_ylim(middle[1] - half[1], middle[1] + half[1])
    axes.set_axis_off()
    return figure, axes, 72 * scale


def _nearest(points: Points) -> NDArray[np.float64]:
    """Distance of every node to the one nearest to it; a switch that lies on another counts as apart."""
    from scipy.spatial import cKDTree

    if len(points) == 1:
        return np.ones(1)
    apart = np.asarray(cKDTree(points).query(points, k=2)[0][:, 1], dtype=np.float64)
    return np.where(apart > 0, apart, 1.0)


def _node_sizes(topology: Topology, points: Points, scale: float) -> tuple[float, float]:
    """Diameter of the ranks and of the switches in points: what keeps the nearest apart."""
    room = 0.55 * scale * _nearest(points)
    rank, switch = room[: topology.ranks].min(), room[topology.ranks :].min(initial=24.0)
    return float(np.clip(rank, 2.0, 24.0)), float(np.clip(switch, 3.0, 20.0))


def _draw_groups(axes: Axes, places: Layout) -> None:
    groups: list[tuple[int, Callable[..., Patch]]] = [
        *((hull.level, partial(Circle, (hull.x, hull.y), hull.radius)) for hull in places.hulls),
        *((box.level, partial(Rectangle, box.low, *box.size)) for box in places.boxes),
    ]
    for level, shape in sorted(groups, key=lambda group: -group[0]):
        axes.add_patch(shape(fc=colour(level), ec="none", alpha=0.07, zorder=0))
        axes.add_patch(shape(fill=False, ec=colour(level), lw=0.8, alpha=0.5, zorder=0))


def _draw_crossing(
    axes: Axes, topology: Topology, lines: Lines, cut: Cut, ends: Points, tips: Points, size: float
) -> None:
    """Draw the lines that cross a cut, the way that counts; of one that wraps round, both stubs."""
    way = crossing(cut, topology, lines.src, lines.dst, lines.level)
    wraps = (tips != ends).any(axis=(1, 2)) & (lines.shift == 0)
    ends, tips = (np.where((way < 0)[:, None, None], each[:, ::-1], each)[way != 0] for each in (ends, tips))
    wraps = wraps[way != 0]
    out, back = (np.stack([ends[wraps, at], tips[wraps, at]], axis=1) for at in (0, 1))
    drawn = np.concatenate([ends[~wraps], out, back[:, ::-1]])
    draw_cut(axes, drawn, size, heads=len(topology.nodes) <= _MOST_LABELLED)


def _draw_links(
    axes: Axes, topology: Topology, lines: Lines, places: Layout, tips: Points, ends: Points, size: float
) -> None:
    straight = ends_of(places, lines)
    small = len(topology.nodes) > _MOST_LABELLED
    wraps = (tips != straight).any(axis=(1, 2))
    for level in range(len(topology.levels)):
        own = (lines.level == level) & (small | (lines.back > 0))
        stubs = np.stack([straight[own & wraps], tips[own & wraps]], axis=2).reshape(-1, 2, 2)
        _draw_plain(axes, np.concatenate([ends[own & ~wraps], stubs]), level)
    if small:
        return
    for i in np.flatnonzero(lines.back == 0):
        _draw_arrow(axes, ends[i], colour(lines.level[i]), size)
    several = np.flatnonzero(np.maximum(lines.forth, lines.back) > 1)
    for i in several if len(several) <= _MOST_COUNTS else ():
        same = lines.back[i] in (0, lines.forth[i])
        text = f"x{lines.forth[i]}" if same else f"x{lines.forth[i]}/x{lines.back[i]}"
        _draw_count(axes, text, ends[i].mean(axis=0), colour(lines.level[i]))


def _draw_plain(axes: Axes, ends: NDArray[np.float64], level: int) -> None:
    """Draw lines without a head; of very many only every k-th, which looks the same."""
    count = len(ends)
    few = count <= 400
    width, alpha = (1.4, 1.0) if few else (0.6, max(0.15, min(0.8, 1600 / count)))
    axes.add_collection(
        LineCollection(
            list(ends[:: -(-count // _MOST_LINES) or 1]),
            colors=colour(level),
            linewidths=width,
            alpha=alpha,
            zorder=1 + level / 100,
        ),
        autolim=False,
    )


def _draw_arrow(axes: Axes, ends: NDArray[np.float64], tint: str, size: float) -> None:
    (x0, y0), (x1, y1) = ends.tolist()
    axes.add_patch(
        FancyArrowPatch(
            (x0, y0),
            (x1, y1),
            arrowstyle="-|>",
            mutation_scale=max(6.0, 0.45 * size),
            shrinkA=size / 2,
            shrinkB=size / 2 + 1,
            color=tint,
            lw=1.4,
            zorder=1.5,
        )
    )


def _draw_count(axes: Axes, text: str, place: NDArray[np.float64], tint: str) -> None:
    box = {"boxstyle": "round,pad=0.15", "fc": _PAPER, "ec": "none"}
    x, y = place.tolist()
    axes.text(x, y, text, color=tint, ha="center", va="center", fontsize=8, bbox=box, zorder=2)


def _draw_nodes(
    axes: Axes, topology: Topology, points: Points, sizes: tuple[float, float], cut: Cut | None
) -> None:
    ranks, small = topology.ranks, len(topology.nodes) > _MOST_LABELLED
    size, side = sizes
    fill, edge = (INK, 0.0) if small else (_PAPER, 1.0)
    colours = [fill] * ranks + [_SWITCH] * (len(points) - ranks)
    if cut is not None:
        colours = tinted(cut, colours, small=small)
    x, y = points[:ranks].T
    axes.scatter(x, y, s=size**2, c=colours[:ranks], edgecolors=INK, linewidths=edge, zorder=3)
    x, y = points[ranks:].T
    axes.scatter(
        x, y, s=side**2, c=colours[ranks:], edgecolors=INK, linewidths=edge or 0.3, marker="s", zorder=3
    )
    if small:
        return
    font = min(9.0, 0.5 * size)
    for rank, (x, y) in enumerate(points[:ranks].tolist()):
        axes.text(x, y, str(rank), ha="center", va="center_baseline", fontsize=font, color=INK, zorder=4)
    if topology.kind == "custom":
        _name_switches(axes, topology, points, side)


def _name_switches(axes: Axes, topology: Topology, points: Points, side: float) -> None:
    named = zip(topology.nodes[topology.ranks :], points[topology.ranks :].tolist(), strict=True)
    for name, place in named:
        below = (0, -side / 2 - 2)
        axes.annotate(
            label(name),
            place,
            below,
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=8,
            color=INK,
        )


def _legend(topology: Topology, lines: Lines, *, wraps: bool) -> list[Line2D]:
    handles = [
        Line2D([], [], color=colour(level), lw=2, label=_level_text(topology, lines, level))
        for level in range(len(topology.levels))
    ]
    if wraps:
        handles.append(Line2D([], [], ls="", label="an open end leads round to the other side"))
    switches = len(topology.nodes) - topology.ranks
    if switches:
        text = "switch" if switches == 1 else f"{switches} switches"
        handles.append(
            Line2D([], [], marker="s", ls="", markerfacecolor=_SWITCH, markeredgecolor=INK, label=text)
        )
    return handles


def _level_text(topology: Topology, lines: Lines, level: int) -> str:
    """Name, bandwidth, latency, overhead and parallel links of a level; a range where they differ."""
    links, name = topology.links, label(topology.levels[level])
    own = links.level == level
    if not own.any():
        return f"{name}: no links"
    latency = _range(links.latency[own], format_time)
    text = f"{name}: {_range(links.bandwidth[own], format_bandwidth)}, {latency}"
    if links.overhead[own].any():
        text += f", overhead {_range(links.overhead[own], format_time)}"
    count = np.maximum(lines.forth, lines.back)[lines.level == level]
    if count.max() == 1:
        return text
    return f"{text}, {'' if count.min() == count.max() else 'up to '}{count.max()} in parallel"


def _range(values: NDArray[np.float64], text: Callable[[float, int], str]) -> str:
    low, high = (text(float(value), DIGITS) for value in (values.min(), values.max()))
    return low if low == high else f"{low} to {high}"
