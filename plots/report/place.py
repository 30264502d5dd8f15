"""A topology as the page draws it: nodes and links where they stand, and how much each link had to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from plots.layout import layout
from plots.palette import label
from plots.report.columns import packed
from plots.topology_lines import tips_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.cuts import Cut
    from plots.places import Box, Hull, Points
    from plots.report.values import Chart
    from simulator.engine.analysis import LinkUse
    from simulator.engine.waiting import LinkWaits
    from topologies.topology import Topology

MOST_LINKS: Final = 4_000
"""Links that are drawn; of more only those with the most to do."""

MOST_NODES: Final = 6_000
"""Nodes of a topology that is drawn at all."""

_FINEST: Final = 20_000
"""Of a coordinate: so many parts of the longer side."""


def place_chart(
    topology: Topology, use: LinkUse, waits: LinkWaits | None, cut: Cut | None, time: int
) -> Chart | None:
    """What the page draws of a topology; None where it has too many nodes.

    Parameters
    ----------
    topology : Topology
    use : LinkUse
    waits : LinkWaits or None
    cut : Cut or None
        The one that sets the bound on bandwidth.
    time : int
        fs of which a link's use is a share.
    """
    if len(topology.nodes) > MOST_NODES:
        return None
    places, links = layout(topology), topology.links
    points, tips = places.points, tips_of(places, links)
    drawn = np.vstack([points, tips.reshape(-1, 2)])
    low, span = drawn.min(axis=0), max(float(np.ptp(drawn, axis=0).max()), 1e-9)
    shown = _shown(use, cut)
    at, ends = (np.rint((p - low) * (_FINEST / span)) for p in (points, tips[shown]))
    chart: dict[str, Any] = {
        "finest": _FINEST,
        "ranks": topology.ranks,
        "nodes": [label(name) for name in topology.nodes],
        "x": packed(at[:, 0]),
        "y": packed(at[:, 1]),
        "groups": _groups(places.hulls, places.boxes, low, _FINEST / span),
        "levels": [label(level, 40) for level in topology.levels],
        "links": len(links),
        "time": time,
        "link": packed(shown),
        "src": packed(links.src[shown]),
        "dst": packed(links.dst[shown]),
        "twin": packed([topology.twin(link) for link in shown.tolist()]),
        "level": packed(links.level[shown]),
        "tips": packed(ends),
        "bytes": packed(use.bytes[shown]),
        "busy": packed(use.busy[shown]),
        "queue": None if waits is None else packed(waits.queue[shown]),
        "longest": None if waits is None else packed(waits.longest[shown]),
        "cut": None,
    }
    if cut is not None:
        chart["cut"] = {"text": cut.text(), "nodes": packed(cut.nodes), "links": packed(cut.links)}
    return chart


def _shown(use: LinkUse, cut: Cut | None) -> NDArray[np.int64]:
    """Links that are drawn, in order: those with the most to do, and of these as many as fit."""
    links = len(use.bytes)
    if links <= MOST_LINKS:
        return np.arange(links)
    crossing = np.zeros(links, dtype=bool)
    crossing[list(cut.links) if cut is not None else []] = True
    order = np.lexsort((-use.bytes, -use.busy, ~crossing))
    return np.sort(order[:MOST_LINKS])


def _groups(hulls: tuple[Hull, ...], boxes: tuple[Box, ...], low: Points, scale: float) -> list[list[float]]:
    """Discs (level, x, y, radius) and boxes (level, x, y, width, height) around groups, outer ones first."""
    rounded: list[list[float]] = []
    for hull in hulls:
        x, y = (np.array([hull.x, hull.y]) - low) * scale
        rounded.append([hull.level, round(float(x)), round(float(y)), round(hull.radius * scale)])
    for box in boxes:
        x, y = (np.array(box.low) - low) * scale
        sides = (round(side * scale) for side in box.size)
        rounded.append([box.level, round(float(x)), round(float(y)), *sides])
    return sorted(rounded, key=lambda group: -group[0])
