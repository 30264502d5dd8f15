"""Routes that are given node by node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from topologies.errors import TopologyError
from topologies.paths import Routes
from topologies.quantities import Whole
from topologies.ways import parallel_links

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topologies.topology import Topology

_Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class StaticRoute:
    """The way from one rank to another.

    Attributes
    ----------
    src, dst : int
        Ranks of the topology.
    via : sequence of int or str
        All nodes between them, in walking order: ranks by number, switches by name.
    """

    src: Whole
    dst: Whole
    via: Sequence[int | str] = ()


def listed(
    topology: Topology, static: Sequence[StaticRoute], src: NDArray[np.int64], dst: NDArray[np.int64]
) -> tuple[Routes, NDArray[np.int64]]:
    """Static routes as links, and the number of the one that each pair (src[p], dst[p]) takes, or -1.

    Of k parallel links rank r takes number r mod k.

    Raises
    ------
    TopologyError
        If a node or a link is not there, a route passes a node twice, or a pair has two routes.
    """
    which = np.full(len(src), -1, dtype=np.int64)
    nodes = len(topology.nodes)
    number: dict[int, int] = {}
    for i, route in enumerate(static):
        for name, end in (("src", route.src), ("dst", route.dst)):
            if end >= topology.ranks:
                known = f"ranks are 0 to {topology.ranks - 1}"
                raise TopologyError(f"there is no rank {end} ({known})", ("routes", i, name))
        if number.setdefault(route.src * nodes + route.dst, i) != i:
            raise TopologyError(f"two routes from {route.src} to {route.dst}", ("routes", i))
    walks = [_walk(topology, route, i) for i, route in enumerate(static)]
    keys = np.array(sorted(number), dtype=np.int64)
    wanted = src * nodes + dst
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    known_pairs = keys[at] == wanted
    which[known_pairs] = np.array([number[key] for key in keys.tolist()])[at[known_pairs]]
    count = np.array([len(walk) for walk in walks], dtype=np.int64)
    return Routes.counted(count, np.array([link for walk in walks for link in walk], dtype=np.int32)), which


def _walk(topology: Topology, route: StaticRoute, i: int) -> list[int]:
    """Links of a static route."""
    if route.src == route.dst:
        raise TopologyError(f"a route from {route.src} to itself", ("routes", i, "dst"))
    stops = [route.src, *(_node(topology, name, ("routes", i, "via", j)) for j, name in enumerate(route.via))]
    stops.append(route.dst)
    lanes, walk = parallel_links(topology.links), []
    for j, (here, there) in enumerate(pairwise(stops)):
        at: _Place = ("routes", i, "via", min(j, len(route.via) - 1)) if route.via else ("routes", i)
        if there in stops[: j + 1]:
            raise TopologyError(f"the route passes {topology.nodes[there]} twice", at)
        found = np.flatnonzero((topology.links.src == here) & (topology.links.dst == there))
        if not len(found):
            ends = f"{topology.nodes[here]} to {topology.nodes[there]}"
            raise TopologyError(f"there is no link from {ends}", at)
        walk.append(int(found[0]) + route.src % int(lanes[found[0]]))
    return walk


def _node(topology: Topology, name: int | str, at: _Place) -> int:
    """Number of a node; a switch has one only by name."""
    if isinstance(name, int):
        if not 0 <= name < topology.ranks:
            raise TopologyError(f"there is no rank {name} (ranks are 0 to {topology.ranks - 1})", at)
        return name
    if name not in topology.nodes:
        raise TopologyError(f'there is no switch "{name}"', at)
    return topology.nodes.index(name)
