"""Where the nodes of a topology stand in its picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, islice
from math import ceil, cos, hypot, pi, prod, sin, sqrt
from typing import TYPE_CHECKING

import numpy as np

from plots.places import Hull, Layout, Points, on_circle
from plots.tiers import dragonfly, fat_tree, leaf_spine, rails

if TYPE_CHECKING:
    from topologies import Topology

_MOST_ON_A_CIRCLE = 36
_MOST_IN_A_ROW = 24
_MOST_FOR_STRESS = 2000
_ROUNDS = 60
_MOST_TILT = 0.4


def layout(topology: Topology) -> Layout:
    """Positions that show the structure of a topology; the same on every run.

    Examples
    --------
    >>> from topologies import ring
    >>> layout(ring(4, bandwidth=1e9)).points.round(3).tolist()
    [[0.0, 1.0], [1.0, 0.0], [0.0, -1.0], [-1.0, 0.0]]
    """
    layouts: dict[str, Callable[[Topology], Layout]] = {
        "ring": _circle,
        "line": _line,
        "mesh": _grid,
        "torus": _grid,
        "hypercube": _hypercube,
        "full_mesh": _circle,
        "star": _star,
        "crossbar": _circle,
        "fat_tree": fat_tree,
        "leaf_spine": leaf_spine,
        "dragonfly": dragonfly,
        "rails": rails,
        "multilevel": _clusters,
    }
    return layouts.get(topology.kind, _springs)(topology)


def _circle(topology: Topology) -> Layout:
    """Ranks clockwise from the top, a switch in the middle."""
    points = np.zeros((len(topology.nodes), 2))
    points[: topology.ranks] = on_circle(topology.ranks, pi if topology.ranks == 2 else pi / 2)
    return Layout(points)


def _star(topology: Topology) -> Layout:
    """Rank 0 in the middle, the others clockwise from the top."""
    return Layout(np.vstack([np.zeros((1, 2)), on_circle(topology.ranks - 1, pi / 2)]))


def _line(topology: Topology) -> Layout:
    """A row from left to right; a long one turns at the end of a row."""
    ranks = topology.ranks
    if ranks <= _MOST_IN_A_ROW:
        return Layout(np.stack([np.arange(ranks), np.zeros(ranks)], axis=1))
    return Layout(_snake(ranks, hole=False))


def _grid(topology: Topology) -> Layout:
    """Rows and columns with rank 0 above, on the left; a third dimension goes aslant into the paper.

    Of further dimensions the even ones lie side by side, the odd ones below each other.
    """
    place = np.stack(np.unravel_index(np.arange(topology.ranks), topology.dims, order="F"), axis=1)
    steps = _steps(topology.dims)
    return Layout(place @ steps, steps=steps)


def _steps(dims: tuple[int, ...]) -> Points:
    """From a rank of a grid to its neighbour along each dimension."""
    depth = np.array([0.9, 0.62]) / max(dims[2], 2) if len(dims) > 2 else np.zeros(2)
    steps = np.zeros((len(dims), 2))
    steps[:3] = np.array([[1.0, 0.0], [0.0, -1.0], depth])[: len(dims)]
    for i in range(3, len(dims)):
        # past all that lies inside, a little aslant, so that no link runs along another
        width, height = np.abs(steps[:i]).T @ (np.array(dims[:i]) - 1) + 1.2
        steps[i] = (width, 0.4) if i % 2 else (0.4, -height)
    return steps


def _hypercube(topology: Topology) -> Layout:
    """Oblique cube; the fourth dimension is a cube inside it, further ones lie side by side."""
    bits = (np.arange(topology.ranks)[:, None] >> np.arange(max(len(topology.dims), 4))) & 1
    centred = bits - 0.5
    cube = centred[:, :3] @ np.array([[1.5, 0.0], [0.0, 1.5], [1.0, 0.42]])
    points = cube * np.where(bits[:, 3:4] == 1, 0.42, 1.0)
    # a little aslant, so that no link runs along another
    steps = np.array([[3.0, 0.16], [-0.16, 2.6]])
    for k in range(4, len(topology.dims)):
        points += bits[:, k, None] * steps[k % 2]
        steps[k % 2] *= 2.1
    return Layout(points)


def _springs(topology: Topology) -> Layout:
    """As far apart on paper as in hops, the longest side level and rank 0 on the left, above."""
    count = len(topology.nodes)
    if not 1 < count <= _MOST_FOR_STRESS:
        return _circle(topology)
    points = _least_stress(_hops(topology))
    points -= points.mean(axis=0)
    _, _, axes = np.linalg.svd(points, full_matrices=False)
    points = (points @ axes.T).round(6)
    corner = points[0] * np.array([-1.0, 1.0])
    return Layout(points * np.where(corner < -1e-6, -1.0, 1.0))


def _hops(topology: Topology) -> Points:
    """Hops between all nodes, links taken both ways; parts that are not joined stand one hop apart."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import shortest_path

    links, count = topology.links, len(topology.nodes)
    ones = np.ones(len(links))
    hops = shortest_path(
        coo_array((ones, (links.src, links.dst)), shape=(count, count)).tocsr(),
        method="D",
        directed=False,
        unweighted=True,
    )
    apart = np.isinf(hops)
    distance: Points = np.where(apart, hops[~apart].max() + 1, hops)
    return distance


def _least_stress(distance: Points) -> Points:
    """Points whose distances are nearly the given ones.

    Gansner, Koren, North, Graph Drawing by Stress Majorization (2004), eq. 7, with weights
    1/distance^2, from classical scaling on.
    """
    from scipy.spatial.distance import cdist

    count = len(distance)
    far = distance + np.eye(count)
    weight = 1.0 / far**2 - np.eye(count)
    # the Laplacian has no inverse; with a constant added, it moves no centre and has one
    solve = np.linalg.inv(np.diag(weight.sum(axis=1)) - weight + 1.0 / count)
    points = _classical_scaling(distance)
    for _ in range(_ROUNDS):
        pull = weight * distance / np.maximum(cdist(points, points), 1e-9)
        points = solve @ (pull.sum(axis=1)[:, None] * points - pull @ points)
    return points


def _classical_scaling(distance: Points) -> Points:
    """Torgerson's points in the plane, nodes that would coincide moved a little apart."""
    from scipy.linalg import eigh

    count = len(distance)
    squares = distance**2
    mean = squares.mean(axis=0)
    centred = -0.5 * (squares - mean - mean[:, None] + squares.mean())
    values, vectors = eigh(centred, subset_by_index=(count - 2, count - 1))
    points: Points = vectors * np.sqrt(np.maximum(values, 0.0))
    angle = np.arange(count) * pi * (3 - sqrt(5))
    return points + 0.05 * np.stack([np.cos(angle), np.sin(angle)], axis=1)


@dataclass(frozen=True, slots=True)
class _Switch:
    """A switch of a multi-level shape.

    Parameters
    ----------
    level : int
        Lowest level that it joins.
    ranks : tuple of int
        Ranks below it.
    hub : bool
        Whether it is all that joins its members; otherwise it is a gateway beside their own links.
    """

    level: int
    ranks: tuple[int, ...]
    hub: bool


@dataclass(frozen=True, slots=True, eq=False)
class _Cluster:
    """Positions of the ranks of a group around its centre, and what surrounds the groups in it."""

    points: Points
    hulls: tuple[Hull, ...]
    radius: float


def _clusters(topology: Topology) -> Layout:
    """Groups of groups, each a disc; hubs in the middle, gateways at the edge towards the next level."""
    switches = _read_switches(topology)
    cluster = _Cluster(np.zeros((1, 2)), (), 0.5)
    for level in range(len(topology.dims)):
        inside = [topology.dims[level] > 1 and s.hub for s in switches if s.level == level]
        room = 0.8 + 0.4 * cluster.radius if any(inside) else 0.0
        margin = 0.1 if all(inside) else 0.6
        cluster = _surround(cluster, topology.dims, level, room, margin)
    places = [_switch_place(topology, cluster, switch) for switch in switches]
    points = np.vstack([cluster.points, np.array(places).reshape(-1, 2)])
    return Layout(points, tuple(hull for hull in cluster.hulls if hull.level < len(topology.dims) - 1))


def _surround(inner: _Cluster, dims: tuple[int, ...], level: int, room: float, margin: float) -> _Cluster:
    """Cluster of dims[level] copies of a cluster, with room in the middle and a margin around."""
    size = dims[level]
    # a turn of the inner groups, one way and less the other by turns, keeps the links between groups off
    # the links within
    tilt = min(_MOST_TILT, 0.59 * pi / size) * (-0.6) ** level if level < len(dims) - 1 else 0.0
    if size <= _MOST_ON_A_CIRCLE:
        reach = max(1.1 * inner.radius / sin(pi / size), inner.radius + room) if size > 1 else 0.0
        centres = reach * on_circle(size, _first_angle(size, level) - tilt)
    else:
        centres = _snake(size, hole=room > 0) * (2.2 * inner.radius + room)
        turn = 0.15 if tilt else 0.0
        centres = centres @ np.array([[cos(turn), -sin(turn)], [sin(turn), cos(turn)]])
        reach = float(np.hypot(*centres.T).max())
    points = (centres[:, None, :] + inner.points[None, :, :]).reshape(-1, 2)
    copies = (Hull(h.level, h.x + x, h.y + y, h.radius) for x, y in centres for h in inner.hulls)
    radius = reach + 1.05 * inner.radius + margin
    return _Cluster(points, (*copies, Hull(level, 0.0, 0.0, radius)), radius)


def _first_angle(size: int, level: int) -> float:
    """A pair lies level or stands, by turns; a larger circle begins left of its top."""
    if size == 2:
        return pi if level % 2 == 0 else pi / 2
    return pi / 2 + pi / size


def _snake(size: int, hole: bool) -> Points:
    """Cells of a grid around 0, in an order in which the next is a neighbour; a hole is left at 0 itself."""
    columns = ceil(sqrt(size + hole))
    rows = ceil((size + hole) / columns)
    if hole:
        columns, rows = columns | 1, rows | 1
    row, column = np.divmod(np.arange(rows * columns), columns)
    column = np.where(row % 2 == 1, columns - 1 - column, column)
    cells = np.stack([column - (columns - 1) / 2, (rows - 1) / 2 - row], axis=1)
    return cells[cells.any(axis=1)][:size] if hole else cells[:size]


def _read_switches(topology: Topology) -> list[_Switch]:
    links, ranks = topology.links, topology.ranks
    switches: dict[int, _Switch] = {}
    lowest = np.full(len(topology.nodes), len(topology.dims))
    np.minimum.at(lowest, links.src, links.level)

    def read(node: int) -> _Switch:
        if node not in switches:
            level = lowest[node]
            near = np.unique(links.dst[(links.src == node) & (links.level == level)])
            # a neighbour that reaches further down is a gateway of a group below
            members = near[(near < ranks) | (lowest[near] < level)]
            own = np.isin(links.src, members) & (links.level == level)
            below = (read(m).ranks if m >= ranks else (m,) for m in members.tolist())
            hub = bool((links.dst[own] == node).all())
            switches[node] = _Switch(int(level), tuple(sorted(chain(*below))), hub)
        return switches[node]

    return [read(node) for node in range(ranks, len(topology.nodes))]


def _switch_place(topology: Topology, cluster: _Cluster, switch: _Switch) -> tuple[float, float]:
    """Place of a switch: in the middle of its members, or at the edge of its group if it is a gateway."""
    first, level = switch.ranks[0], switch.level
    group = _hull(topology, cluster, level, first)
    if switch.hub and topology.dims[level] > 1:
        # hubs of one group lie as their members do, but close together, between the groups
        size = prod(topology.dims[: level + 1])
        whole = cluster.points[first // size * size :][:size].mean(axis=0)
        x, y = (0.45 * (cluster.points[list(switch.ranks)].mean(axis=0) - whole)).tolist()
        return group.x + x, group.y + y
    outer = _hull(topology, cluster, min(level + 1, len(topology.dims) - 1), first)
    way, edge = hypot(outer.x - group.x, outer.y - group.y), group.radius - 0.45
    if way == 0:
        return group.x, group.y + edge
    return group.x + edge * (outer.x - group.x) / way, group.y + edge * (outer.y - group.y) / way


def _hull(topology: Topology, cluster: _Cluster, level: int, rank: int) -> Hull:
    """Disc of the group of a level that a rank lies in."""
    number = rank // prod(topology.dims[: level + 1])
    return next(islice((hull for hull in cluster.hulls if hull.level == level), number, None))
