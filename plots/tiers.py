"""Where the hosts and switches of networks in tiers stand."""

from __future__ import annotations

from math import ceil, pi, sin, sqrt
from typing import TYPE_CHECKING

import numpy as np

from plots.places import Box, Hull, Layout, Points, on_circle

if TYPE_CHECKING:
    from topologies import Topology

_MOST_HOSTS_IN_A_ROW = 40
_GAP = 0.35  # between the hosts of neighbouring switches, on top of the one between hosts
_POD_GAP = 1.4
_ARC = 4 / 3 * pi  # of a group of routers
_SIDE, _TOP = 0.7, 0.95  # from the members of a box to its edge


def fat_tree(topology: Topology) -> Layout:
    """Hosts below, pod by pod, then edge, aggregation and core switches above them."""
    half, _, pods = topology.dims
    hosts, middles = _hosts(half, half * pods, groups_in_box=half)
    rise = max(1.2, 0.13 * _width(hosts))
    tiers = [_raised(middles, rise), _raised(middles, 2 * rise)]
    cores = _raised(_spread(half * half, middles), 3.3 * rise)
    boxes = (_box(1, pod, top=2 * rise) for pod in hosts.reshape(pods, -1, 2))
    return Layout(np.vstack([hosts, *tiers, cores]), boxes=tuple(boxes))


def leaf_spine(topology: Topology) -> Layout:
    """Hosts below, then the leaf switches, then the spine switches."""
    per_leaf, leaves = topology.dims
    hosts, middles = _hosts(per_leaf, leaves)
    spines = _spread(len(topology.nodes) - topology.ranks - leaves, middles)
    rise = max(1.4, 0.14 * _width(hosts))
    return Layout(np.vstack([hosts, _raised(middles, rise), _raised(spines, 2.3 * rise)]))


def rails(topology: Topology) -> Layout:
    """Nodes as boxes side by side, their switch below the ranks; above them the planes of each rail."""
    places, nodes = topology.dims
    planes = (len(topology.nodes) - topology.ranks - nodes) // places
    ranks, middles = _hosts(places, nodes, groups_in_box=1, most=places * nodes)
    depth = 0.9 + 0.15 * places
    switches = _raised(middles, -depth)
    middle = _spread(places, middles, room=planes + 1)
    apart = min(1.2, 0.6 * _width(middle) / max(places - 1, 1) / planes) if places > 1 else 1.0
    above = np.repeat(middle, planes, axis=0)
    above[:, 0] += apart * np.tile(np.arange(planes) - (planes - 1) / 2, places)
    boxes = (_box(0, row, bottom=-depth) for row in ranks.reshape(nodes, places, 2))
    rise = max(1.8, 0.24 * _width(ranks))
    return Layout(np.vstack([ranks, switches, _raised(above, rise)]), boxes=tuple(boxes))


def dragonfly(topology: Topology) -> Layout:
    """A circle of groups; in each its routers in an arc that opens inwards, their hosts outside it."""
    hosts, routers, groups = topology.dims
    inner = 0.6 / sin(_ARC / 2 / routers) if routers > 1 else 0.0
    outer = max(inner + 0.8, 0.5 / sin(_ARC / 2 / (hosts * routers)))
    group = np.vstack([outer * _on_arc(hosts * routers), inner * _on_arc(routers)])
    # the middle of the disc around them is 0
    group[:, 1] -= 0.15 * outer
    radius = outer + 0.5
    reach = 1.06 * radius / sin(pi / groups) if groups > 1 else 0.0
    away = on_circle(groups, pi / 2)
    points = reach * away[:, None] + _turned(group, away)
    split = hosts * routers
    hulls = (Hull(1, x, y, radius) for x, y in (reach * away).tolist())
    return Layout(
        np.vstack([points[:, :split].reshape(-1, 2), points[:, split:].reshape(-1, 2)]), tuple(hulls)
    )


def _on_arc(count: int) -> Points:
    """Points clockwise on the unit circle, evenly over the arc."""
    angle = pi / 2 + _ARC * (0.5 - (np.arange(count) + 0.5) / count)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1).round(12) + 0.0


def _turned(points: Points, away: Points) -> Points:
    """Copies of some points, turned so that what was above lies in each of the given directions."""
    x, y = away.T
    turns = np.stack([np.stack([y, -x], axis=1), np.stack([x, y], axis=1)], axis=1)
    return np.asarray(points @ turns, dtype=np.float64)


def _hosts(
    size: int, groups: int, groups_in_box: int = 0, most: int = _MOST_HOSTS_IN_A_ROW
) -> tuple[Points, Points]:
    """Hosts in groups side by side, each group in several rows if there are many, and the groups' middles.

    A wider gap follows every `groups_in_box` groups, if any.
    """
    columns = size if size * groups <= most else ceil(sqrt(size))
    row, column = np.divmod(np.arange(size), columns)
    group = np.arange(groups)
    left = group * (columns + _GAP)
    if groups_in_box:
        left = left + group // groups_in_box * _POD_GAP
    x = left[:, None] + column
    points = np.stack([x.ravel(), np.tile(-1.0 * row, groups)], axis=1)
    return points, np.stack([left + (columns - 1) / 2, np.zeros(groups)], axis=1)


def _spread(count: int, below: Points, room: float = 1.0) -> Points:
    """So many points in a row over those below, evenly, with some room each."""
    low, high = below[:, 0].min(), below[:, 0].max()
    width = max(high - low, room * (count - 1))
    x = (low + high) / 2 + width * ((np.arange(count) + 0.5) / count - 0.5)
    return np.stack([x, np.zeros(count)], axis=1)


def _raised(points: Points, height: float) -> Points:
    raised: Points = points + np.array([0.0, height])
    return raised


def _width(points: Points) -> float:
    return float(np.ptp(points[:, 0]))


def _box(level: int, members: Points, bottom: float | None = None, top: float | None = None) -> Box:
    """Box around some members, down to a bottom and up to a top."""
    (left, low), (right, high) = members.min(axis=0).tolist(), members.max(axis=0).tolist()
    bottom, top = low if bottom is None else bottom, high if top is None else top
    return Box(level, (left - _SIDE, bottom - _TOP), (right + _SIDE, top + _TOP))
