"""What rank 0 sees, held against whole topologies: routes, names of links, levels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from topologies import TOPOLOGIES, Topology, routes
from topologies.measures import measure
from topologies.orbits import SymmetricTopology, symmetric_topology
from topologies.translations import Translations, translations

WIRE = {"bandwidth": 50e9, "latency": 1e-6, "overhead": 2e-7}
GRIDS = ([5], [1, 4], [2, 2], [2, 4], [4, 2], [3, 3], [4, 4], [3, 4, 2], [2, 2, 2], [5, 1, 3])


def every_shape() -> Iterator[tuple[str, Mapping[str, Any]]]:
    for ranks in (1, 2, 3, 4, 5, 8, 13, 16):
        yield "ring", {"ranks": ranks}
        yield "ring", {"ranks": ranks, "direction": "one"}
        yield "full_mesh", {"ranks": ranks}
        yield "crossbar", {"ranks": ranks}
    for dimension in range(5):
        yield "hypercube", {"dimension": dimension}
    for dims in GRIDS:
        yield "torus", {"dims": dims}


def test_routes_of_every_rank_are_those_of_rank_0_moved() -> None:
    for kind, parameters in every_shape():
        whole = TOPOLOGIES[kind](**parameters, **WIRE)
        seen = symmetric_topology(kind, {**parameters, **WIRE})
        assert seen is not None
        assert (seen.kind, seen.ranks, seen.levels) == (kind, whole.ranks, whole.levels)
        group = seen.group or translations((whole.ranks,))
        assert walked_by(seen, group) == walked(whole), (kind, parameters)


def test_measured_from_rank_0_is_measured_whole() -> None:
    for kind, parameters in every_shape():
        whole = TOPOLOGIES[kind](**parameters, **WIRE)
        assert measure(whole, alike=True) == measure(whole), (kind, parameters)


def pairs(ranks: int) -> tuple[np.ndarray, np.ndarray]:
    src, dst = np.divmod(np.arange(ranks**2), ranks)
    return src[src != dst], dst[src != dst]


def walked(topology: Topology) -> list[list[tuple[Any, Any, int]]]:
    """Links of the routes of all pairs: their ends and level."""
    found, links = routes(topology, *pairs(topology.ranks)), topology.links
    ends = [(topology.nodes[src], topology.nodes[dst]) for src, dst in zip(links.src, links.dst, strict=True)]
    names = [(*pair, int(level)) for pair, level in zip(ends, links.level, strict=True)]
    bounds = found.offsets.tolist()
    return [[names[link] for link in found.links[start:stop]] for start, stop in pairwise(bounds)]


def walked_by(seen: SymmetricTopology, group: Translations) -> list[list[tuple[Any, Any, int]]]:
    """The same from the legs of rank 0."""
    src, dst = pairs(seen.ranks)
    legs = seen.shape.legs(group.subtract(dst, src), spread=False)
    found: list[list[tuple[Any, Any, int]]] = [[] for _ in src]
    here = src.tolist()
    for row, orbit, hops in zip(legs.row.tolist(), legs.orbit.tolist(), legs.hops.tolist(), strict=True):
        for _ in range(hops):
            src_name, dst_name = seen.link_ends(group, orbit, here[row])
            found[row].append((src_name, dst_name, int(seen.shape.level[orbit])))
            here[row] = int(dst[row]) if seen.through_switch else dst_name
    return found


def test_half_way_round_a_ring_both_ways_are_as_short() -> None:
    """By hand: rank 4 of 8 is 4 links away either way, and on average 2 are walked each way."""
    ring = symmetric_topology("ring", {"ranks": 8, **WIRE})
    assert ring is not None
    four = np.array([4])
    assert ring.shape.legs(four, spread=False).hops.tolist() == [4]
    assert ring.shape.legs(four, spread=True).hops.tolist() == [2.0, 2.0]


def test_rank_0_has_a_link_of_every_orbit() -> None:
    for kind, parameters, names in (
        ("ring", {"ranks": 8}, ["0->1", "0->7"]),
        ("torus", {"dims": [4, 2]}, ["0->1", "0->3", "0->4"]),
        ("hypercube", {"dimension": 3}, ["0->1", "0->2", "0->4"]),
        ("crossbar", {"ranks": 8}, ["0->switch", "switch->0"]),
    ):
        seen = symmetric_topology(kind, {**parameters, **WIRE})
        assert seen is not None
        around = seen.around_rank_0()
        assert [around.link_name(link) for link in range(len(around.links))] == names


def test_a_million_ranks_are_not_built() -> None:
    mesh = symmetric_topology("full_mesh", {"ranks": 1 << 20, **WIRE})
    assert mesh is not None
    assert mesh.ports == (1 << 20) - 1
    assert symmetric_topology("hypercube", {"dimension": 20, **WIRE}) is not None


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        ("line", {"ranks": 4, "bandwidth": 1e9}),
        ("ring", {"ranks": 4, "bandwidth": 0.0}),
        ("ring", {"ranks": 0, "bandwidth": 1e9}),
        ("ring", {"ranks": (1 << 20) + 1, "bandwidth": 1e9}),
        ("ring", {"ranks": 4, "bandwidth": 1e9, "direction": "up"}),
        ("hypercube", {"dimension": 21, "bandwidth": 1e9}),
        # whose rank takes which of two parallel links depends on its number
        ("torus", {"dims": [2, 2], "bandwidth": 1e9, "size_two": "two_links"}),
        ("torus", {"dims": [0, 2], "bandwidth": 1e9}),
        ("torus", {"dims": [], "bandwidth": 1e9}),
        ("crossbar", {"ranks": 4, "bandwidth": 1e9, "switch": "reduces"}),
    ],
)
def test_what_is_wrong_or_not_the_same_from_everywhere_is_left_to_the_builders(
    kind: str, parameters: Mapping[str, Any]
) -> None:
    assert symmetric_topology(kind, parameters) is None


def test_translations_are_undone_by_their_opposites() -> None:
    for dims in ((), (7,), (2, 2, 2), (4, 3), (5, 1, 2)):
        group = translations(dims)
        place, by = np.divmod(np.arange(group.order**2), group.order)
        assert (group.subtract(group.add(place, by), by) == place).all()
        # nobody stays where it was: the group acts freely
        assert ((group.add(place, by) == place) == (by == 0)).all()
