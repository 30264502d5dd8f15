"""Picture of a topology: ranks, switches and links, coloured by level or by how much they did."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from plots.arrows import draw_arrow
from plots.canvas import MOST_LABELLED, PAPER, SWITCH, Canvas, canvas, draw_groups, draw_nodes
from plots.cut import crossing, cut_legend, draw_cut
from plots.heat import SCALE_TALL, Heat, draw_heat, draw_scale
from plots.layout import layout
from plots.places import Layout, Points
from plots.style import DIGITS, INK, colour, label, look
from plots.topology_lines import Lines, ends_of, lines_of, shifted, tips_of
from topologies.text import format_bandwidth, format_time

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from algorithms.cuts import Cut
    from topologies import Topology

_MOST_COUNTS = 24
_MOST_LINES = 10_000


def topology_figure(
    topology: Topology,
    cut: Cut | None = None,
    heat: Heat | None = None,
    *,
    title: str = "",
    notes: tuple[str, ...] = (),
) -> Figure:
    """Draw a topology, what its links did, and a cut through it.

    Ranks are numbered circles, switches are squares, a colour is a level. A line is a link
    each way, an arrow a link one way, and ``x4`` at a line says that there are four in parallel.
    Past 200 nodes labels and arrow heads are left out, and of a level of more than 10,000
    lines only an even sample is drawn. Where links are coloured by what they did, each direction is
    a line of its own that keeps to its right, of parallel links the busiest; past 200 nodes the
    busier direction stands for both. Of a cut the nodes are tinted, and the links that cross it
    are red arrows towards who receives, or stand on a red band.

    Parameters
    ----------
    topology : Topology
    cut : Cut, optional
        As `algorithms.lower_bounds` finds it.
    heat : Heat, optional
    title : str
        By default the topology's kind.
    notes : tuple of str
        Further lines of the legend.

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
        legend = _legend(topology, lines, heat, places.grouping)
        if (tips != ends_of(places, lines)).any():
            legend.append(Line2D([], [], ls="", label="an open end leads round to the other side"))
        legend += [Line2D([], [], ls="", label=note) for note in notes]
        if cut is not None and len(lines):
            legend.append(cut_legend(cut, behind=heat is not None))
        foot = 0.0 if heat is None else SCALE_TALL
        paper = canvas(topology, places, tips, _head(topology, title), 0.15 + 0.2 * len(legend) + foot)
        draw_groups(paper.axes, places)
        if len(lines):
            _draw_lines(paper, topology, lines, places, tips, cut, heat)
        draw_nodes(paper, topology, places.points, cut, behind=heat is not None)
        figure, tall = paper.figure, paper.figure.get_figheight()
        if legend:
            anchor = (0.5, foot / tall)
            figure.legend(
                handles=legend, loc="lower center", bbox_to_anchor=anchor, frameon=False, fontsize=9
            )
        if heat is not None:
            draw_scale(figure, heat)
    return figure


def _head(topology: Topology, title: str) -> tuple[str, str]:
    """A title, and how large the topology is."""
    shown = topology.kind != "hypercube" and len(topology.dims) > 1
    dims = f" ({' x '.join(map(str, topology.dims))})" if shown else ""
    plural = "" if topology.ranks == 1 else "s"
    size = f"{topology.ranks} rank{plural}{dims}, {len(topology.links)} links"
    return (title, f"{topology.kind}: {size}") if title else (topology.kind, size)


def _draw_lines(
    paper: Canvas,
    topology: Topology,
    lines: Lines,
    places: Layout,
    tips: Points,
    cut: Cut | None,
    heat: Heat | None,
) -> None:
    small, ends = len(topology.nodes) <= MOST_LABELLED, shifted(lines, places, paper.scale)
    if heat is not None:
        draw_heat(paper, heat, lines, places, tips, ends, small=small)
    else:
        _draw_links(paper, topology, lines, places, tips, ends)
    if small:
        _draw_counts(paper.axes, lines, ends, plain=heat is not None)
    if cut is not None:
        drawn = _crossing(lines, cut, ends, tips)
        draw_cut(paper.axes, drawn, paper.size, heads=small, behind=heat is not None)


def _crossing(lines: Lines, cut: Cut, ends: Points, tips: Points) -> Points:
    """The lines that cross a cut, the way that counts; of one that wraps round, both stubs."""
    way = crossing(cut, lines)
    wraps = (tips != ends).any(axis=(1, 2)) & (lines.shift == 0)
    ends, tips = (np.where((way < 0)[:, None, None], each[:, ::-1], each)[way != 0] for each in (ends, tips))
    wraps = wraps[way != 0]
    out, back = (np.stack([ends[wraps, at], tips[wraps, at]], axis=1) for at in (0, 1))
    return np.concatenate([ends[~wraps], out, back[:, ::-1]])


def _draw_links(
    paper: Canvas, topology: Topology, lines: Lines, places: Layout, tips: Points, ends: Points
) -> None:
    """Draw the links in the colours of their levels."""
    straight, small = ends_of(places, lines), len(topology.nodes) <= MOST_LABELLED
    wraps = (tips != straight).any(axis=(1, 2))
    for level in range(len(topology.levels)):
        own = (lines.level == level) & ((lines.back > 0) | (not small))
        stubs = np.stack([straight[own & wraps], tips[own & wraps]], axis=2).reshape(-1, 2, 2)
        _draw_plain(paper.axes, np.concatenate([ends[own & ~wraps], stubs]), level)
    for i in np.flatnonzero(lines.back == 0) if small else ():
        draw_arrow(paper.axes, ends[i], colour(lines.level[i]), paper.size)


def _draw_counts(axes: Axes, lines: Lines, ends: Points, *, plain: bool) -> None:
    """Say at lines how many links they stand for, if not too many do for several."""
    several = np.flatnonzero(np.maximum(lines.forth, lines.back) > 1)
    for i in several if len(several) <= _MOST_COUNTS else ():
        same = lines.back[i] in (0, lines.forth[i])
        text = f"x{lines.forth[i]}" if same else f"x{lines.forth[i]}/x{lines.back[i]}"
        _draw_count(axes, text, ends[i].mean(axis=0), INK if plain else colour(lines.level[i]))


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


def _draw_count(axes: Axes, text: str, place: NDArray[np.float64], tint: str) -> None:
    box = {"boxstyle": "round,pad=0.15", "fc": PAPER, "ec": "none"}
    x, y = place.tolist()
    axes.text(x, y, text, color=tint, ha="center", va="center", fontsize=8, bbox=box, zorder=2)


def _legend(topology: Topology, lines: Lines, heat: Heat | None, grouping: frozenset[int]) -> list[Artist]:
    handles: list[Artist] = []
    for level in range(len(topology.levels)):
        text = _level_text(topology, lines, level)
        if heat is None:
            handles.append(Line2D([], [], color=colour(level), lw=2, label=text))
            continue
        own = topology.links.level == level
        text += f"; {heat.name}: {heat.about(own)}" if own.any() else ""
        # links have the colours of the heat, groups those of the levels that join them
        handles.append(
            Patch(facecolor=colour(level), alpha=0.3, label=text)
            if level in grouping
            else Line2D([], [], ls="", label=text)
        )
    switches = len(topology.nodes) - topology.ranks
    if switches:
        text = "switch" if switches == 1 else f"{switches} switches"
        handles.append(
            Line2D([], [], marker="s", ls="", markerfacecolor=SWITCH, markeredgecolor=INK, label=text)
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
