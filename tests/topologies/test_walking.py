"""Many walks at once: what keeps the search for shortest paths small must not change them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.topologies.test_routing import graphs
from tests.topologies.topology_examples import EXAMPLES
from topologies import (
    TOPOLOGIES,
    Level,
    Topology,
    crossbar,
    hypercube,
    line,
    mesh,
    multilevel,
    ring,
    routes,
    torus,
    walking,
)
from topologies.choices import InTurn
from topologies.errors import TopologyError
from topologies.routing import chosen_routes
from topologies.walking import is_translated
from topologies.ways import count_paths, distances, ways


def all_pairs(topology: Topology) -> tuple[np.ndarray, np.ndarray]:
    return np.divmod(np.arange(topology.ranks**2), topology.ranks)


def test_some_targets_at_a_time_or_all(monkeypatch: pytest.MonkeyPatch) -> None:
    several = [TOPOLOGIES[kind](**arguments) for kind, each in EXAMPLES.items() for arguments in each[-1:]]
    at_once = [routes(topology, *all_pairs(topology)) for topology in several]
    monkeypatch.setattr(walking, "_CELLS_AT_ONCE", 1)
    monkeypatch.setattr(walking, "_WALKS_AT_ONCE", 40)
    for topology, expected in zip(several, at_once, strict=True):
        found = routes(topology, *all_pairs(topology))
        assert found.links.tolist() == expected.links.tolist()
        assert found.offsets.tolist() == expected.offsets.tolist()


def test_one_target_for_all_where_a_translation_leads_to_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the search is for one target or for each, the routes are the same."""
    several = [
        ring(7, 1e9),
        ring(6, 1e9, direction="one"),
        torus([4, 3], 1e9),
        torus([2, 2, 3], 1e9, size_two="two_links"),
        hypercube(4, 1e9),
        multilevel([Level("a", 4, "full_mesh", 1e9), Level("b", 5, "ring", 1e9)]),
    ]
    assert all(is_translated(topology) for topology in several)
    at_once = [routes(topology, *all_pairs(topology)).links.tolist() for topology in several]
    monkeypatch.setattr(walking, "is_translated", lambda _topology: False)
    assert [routes(topology, *all_pairs(topology)).links.tolist() for topology in several] == at_once


def test_what_no_translation_moves() -> None:
    for topology in (line(4, 1e9), mesh([3, 3], 1e9), crossbar(4, 1e9), ring(1, 1e9)):
        assert not is_translated(topology)
    # the same links, but preferred in another order at one rank
    four = ring(4, 1e9)
    swapped = np.array([1, 0, 2, 3, 4, 5, 6, 7])
    columns = {name: getattr(four.links, name)[swapped] for name in ("src", "dst", "cost")}
    assert not is_translated(replace(four, links=replace(four.links, **columns)))
    dear = four.links.cost.copy()
    dear[0] = 2
    assert not is_translated(replace(four, links=replace(four.links, cost=dear)))


def test_many_ranks() -> None:
    """By hand: every partner of a halving is a neighbour on a cube and two hops away on a crossbar."""
    rank = np.arange(1 << 16)
    far = rank ^ (1 << 15)
    cube = hypercube(16, 1e9)
    assert (routes(cube, rank, far).hops() == 1).all()
    assert (routes(crossbar(1 << 16, 1e9), rank, far).hops() == 2).all()
    assert (routes(cube, rank, rank ^ 0b111).hops() == 3).all()
    around = routes(ring(1 << 16, 1e9), rank, (rank + 5) % (1 << 16))
    assert (around.hops() == 5).all()
    assert around.links.reshape(-1, 5)[-2:].tolist() == [
        [2 * r % (1 << 17) for r in range(s, s + 5)] for s in (65534, 65535)
    ]


@settings(max_examples=60, deadline=None)
@given(graphs(), st.data())
def test_in_turn_every_shortest_path_comes_once(topology: Topology, data: st.DataObject) -> None:
    rank = st.integers(0, topology.ranks - 1)
    src, dst = data.draw(rank, "src"), data.draw(rank, "dst")
    target = np.array([dst])
    cost = distances(topology, target)[0, src]
    count = int(count_paths(topology, target, ways(topology, target))[0, src]) if np.isfinite(cost) else 1
    turn = data.draw(st.integers(0, 1000), "first") + np.arange(min(count, 500))
    found, lost = chosen_routes(topology, InTurn(), turn, 0 * turn + src, 0 * turn + dst)
    assert lost.tolist() == [not np.isfinite(cost)] * len(turn)
    walks = {tuple(found.links[a:b]) for a, b in zip(found.offsets, found.offsets[1:], strict=False)}
    assert len(walks) == len(turn)
    assert all(topology.links.cost[list(walk)].sum() == cost for walk in walks if not lost.any())


def test_routes_that_are_too_long_are_refused_while_they_are_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    # from rank 0 to each of 15: 2 (1 + ... + 7) + 8 links
    place, ranks = ring(16, 1e9), np.arange(1, 16)
    monkeypatch.setattr("topologies.walking.MOST_LINKS", 4 * 64)
    assert routes(place, np.zeros(15, dtype=np.int64), ranks).hops().sum() == 64
    # a quarter of them at a time; the two to neighbours are not walked
    monkeypatch.setattr("topologies.walking.MOST_LINKS", 4 * 61)
    with pytest.raises(TopologyError, match="the routes of 13 pairs cross too many links, over 244 in all"):
        routes(place, np.zeros(15, dtype=np.int64), ranks)
