"""Several ways between two ranks: equal-cost multipath, spraying, and ways by a node between."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, permutations
from math import comb

import numpy as np
import pytest

from tests.topologies.topology_examples import EXAMPLES
from topologies import (
    TOPOLOGIES,
    CustomLink,
    CustomNodes,
    Tier,
    Topology,
    TopologyError,
    crossbar,
    custom,
    dragonfly,
    fat_tree,
    full_mesh,
    hypercube,
    leaf_spine,
    line,
    mesh,
    rails,
    ring,
    routes,
    star,
    torus,
)
from topologies.detours import middles
from topologies.multipath import Kind, Routing, flow_routes
from topologies.paths import Routes
from topologies.ways import count_paths, distances, ways


def find(
    topology: Topology, routing: Routing, src: object, dst: object, channel: object = 0, turn: object = 0
) -> Routes:
    columns = (np.asarray(column, dtype=np.int64) for column in (src, dst, channel, turn))
    src, dst, channel, turn = (column.copy() for column in np.broadcast_arrays(*map(np.atleast_1d, columns)))
    return flow_routes(topology, routing, (), src, dst, channel, turn)


def walks(topology: Topology, found: Routes) -> list[tuple[int, ...]]:
    """Links of each route, each known to begin where the one before ends."""
    several = [tuple(found.links[first:stop].tolist()) for first, stop in pairwise(found.offsets.tolist())]
    for walk in several:
        for one, two in pairwise(walk):
            assert topology.links.dst[one] == topology.links.src[two]
    return several


def stops(topology: Topology, walk: tuple[int, ...]) -> list[int]:
    links = list(walk)
    return [*topology.links.src[links[:1]].tolist(), *topology.links.dst[links].tolist()]


def all_pairs(topology: Topology) -> tuple[np.ndarray, np.ndarray]:
    return np.divmod(np.arange(topology.ranks**2), topology.ranks)


def every_topology() -> list[Topology]:
    return [TOPOLOGIES[kind](**arguments) for kind, several in EXAMPLES.items() for arguments in several]


@pytest.mark.parametrize("kind", ["ecmp", "spray"])
def test_of_every_topology_the_walks_are_shortest_and_the_same_again(kind: Kind) -> None:
    for topology in every_topology():
        src, dst = all_pairs(topology)
        cost = distances(topology, np.arange(topology.ranks))
        turn = np.arange(len(src)) % 3
        found = find(topology, Routing(kind, 5), src, dst, 1, turn)
        again = find(topology, Routing(kind, 5), src, dst, 1, turn)
        assert found.links.tolist() == again.links.tolist()
        for a, b, walk in zip(src.tolist(), dst.tolist(), walks(topology, found), strict=True):
            assert topology.links.cost[list(walk)].sum() == cost[b, a]
            assert (stops(topology, walk) or [a])[0] == a
            assert (stops(topology, walk) or [b])[-1] == b


def test_of_every_topology_spray_takes_all_paths_equally_often() -> None:
    """Counted by dynamic programming over the links on shortest paths, which enumerates no path."""
    for topology in every_topology():
        src, dst = all_pairs(topology)
        ranks = np.arange(topology.ranks)
        paths = count_paths(topology, ranks, ways(topology, ranks))
        for a, b in list(zip(src.tolist(), dst.tolist(), strict=True))[1 :: max(len(src) // 6, 1)]:
            count = int(paths[b, a])
            if a == b or count > 200:
                continue
            found = find(topology, Routing("spray", 3), a, b, 0, np.arange(2 * count + 1))
            used = Counter(walks(topology, found))
            assert len(used) == count
            assert sorted(used.values()) == [2] * (count - 1) + [3]


def test_spray_takes_the_next_spine_for_every_message() -> None:
    """Four spines: eight messages go over each of them twice, the next four as the first."""
    place = leaf_spine(2, 3, 4, 1e9)
    found = walks(place, find(place, Routing("spray"), 1, 5, 0, np.arange(8)))
    spines = [stops(place, walk)[2] for walk in found]
    assert sorted(spines[:4]) == [8, 9, 10, 11]
    assert spines[4:] == spines[:4]
    assert {tuple(stops(place, walk)[:2] + stops(place, walk)[3:]) for walk in found} == {(1, 6, 7, 5)}


def test_spray_shares_a_mesh_out_by_paths() -> None:
    """From corner to corner of 4 x 3 there are C(5, 2) = 10 ways, 6 along the longer side first."""
    place = mesh([4, 3], 1e9)
    found = walks(place, find(place, Routing("spray"), 0, 11, 0, np.arange(10)))
    assert len(set(found)) == comb(5, 2)
    assert Counter(stops(place, walk)[1] for walk in found) == {1: 6, 4: 4}


def test_spray_of_a_cube_takes_every_order_of_dimensions() -> None:
    place = hypercube(3, 1e9)
    found = walks(place, find(place, Routing("spray", 9), 2, 5, 0, np.arange(6)))
    orders = {tuple(a ^ b for a, b in pairwise(stops(place, walk))) for walk in found}
    assert orders == set(permutations((1, 2, 4)))


def test_parallel_links_are_ways_of_their_own() -> None:
    """Two lanes up, three between and two down: 12 paths."""
    links = [
        CustomLink(0, "a", 1e9, count=2),
        CustomLink("a", "b", 1e9, count=3),
        CustomLink("b", 1, 1e9, count=2),
    ]
    place = custom(CustomNodes(2, ["a", "b"]), links)
    assert len(set(walks(place, find(place, Routing("spray"), 0, 1, 0, np.arange(12))))) == 12
    hashed = walks(place, find(place, Routing("ecmp"), 0, 1, np.arange(200)))
    assert len(set(hashed)) == 12


def test_a_link_that_is_shortest_alone_is_hashed_over_its_parallels() -> None:
    place = custom(CustomNodes(2), [CustomLink(0, 1, 1e9, count=3)])
    assert len(set(walks(place, find(place, Routing("ecmp"), 0, 1, np.arange(40))))) == 3
    assert [walk for (walk,) in walks(place, find(place, Routing("spray"), 1, 0, 0, np.arange(3)))] != []
    assert sorted(walks(place, find(place, Routing("spray"), 1, 0, 0, np.arange(3)))) == [(3,), (4,), (5,)]


def test_another_seed_or_channel_is_another_draw() -> None:
    place = fat_tree(8, 1e9)
    src, dst = all_pairs(place)
    by_seed = [find(place, Routing("ecmp", seed), src, dst).links for seed in (0, 1, 2**62)]
    by_channel = [find(place, Routing("ecmp"), src, dst, channel).links for channel in (0, 1)]
    for one, two in (by_seed[:2], by_seed[1:], by_channel):
        # 4 ways in a pod and 16 between pods, so most routes differ somewhere
        assert 0.3 < (one != two).mean() < 0.7
    assert by_seed[0].tolist() == by_channel[0].tolist()


def test_hashes_are_spread_evenly() -> None:
    """65,280 flows over 8 cores of each row: within 5 standard deviations of a fair draw."""
    place = fat_tree(8, 1e9)
    src, dst = all_pairs(place)
    found = find(place, Routing("ecmp", 1), src, dst)
    up = place.links.level[found.links] == place.levels.index("core")
    used = np.bincount(found.links[up], minlength=len(place.links))
    used = used[(place.links.level == 2) & (place.links.src < place.links.dst)]
    # each pod has 16 hosts that send to 112 others over its 16 uplinks
    mean = 16 * 112 / 16
    assert len(used) == 128
    assert abs(used - mean).max() < 5 * np.sqrt(mean)


def test_ecmp_of_seed_0_is_what_switched_networks_do_unasked() -> None:
    for place in (fat_tree(4, 1e9), leaf_spine(3, 2, 4, 1e9), dragonfly(2, 4, 2, 1e9)):
        src, dst = all_pairs(place)
        assert find(place, Routing("ecmp"), src, dst).links.tolist() == routes(place, src, dst).links.tolist()
        assert (
            find(place, Routing("shortest"), src, dst).links.tolist()
            == routes(place, src, dst).links.tolist()
        )


def test_middles() -> None:
    """Ranks that forward; else the spines, the cores, the routers, the one switch."""
    assert middles(torus([3, 2], 1e9)).tolist() == list(range(6))
    assert middles(line(4, 1e9)).tolist() == [1, 2]
    assert middles(star(5, 1e9)).tolist() == [0]
    assert middles(rails(2, 2, 1e9, Tier(1e9))).tolist() == [0, 1, 2, 3]
    assert [leaf_spine(2, 2, 3, 1e9).nodes[i] for i in middles(leaf_spine(2, 2, 3, 1e9))] == [
        "spine0",
        "spine1",
        "spine2",
    ]
    tree = fat_tree(4, 1e9)
    assert [tree.nodes[i] for i in middles(tree)] == ["core0.0", "core0.1", "core1.0", "core1.1"]
    groups = dragonfly(2, 4, 2, 1e9)
    assert middles(groups).tolist() == list(range(groups.ranks, len(groups.nodes)))
    assert middles(crossbar(4, 1e9)).tolist() == [4]
    assert middles(ring(2, 1e9)).tolist() == []
    assert middles(custom(CustomNodes(2), [])).tolist() == []


def test_of_every_topology_valiant_goes_from_source_to_destination_and_passes_nothing_twice() -> None:
    for topology in every_topology():
        src, dst = all_pairs(topology)
        cost = distances(topology, np.arange(topology.ranks))
        possible = np.isfinite(cost[dst, src])
        found = find(topology, Routing("valiant", 4), src[possible], dst[possible])
        for a, b, walk in zip(
            src[possible].tolist(), dst[possible].tolist(), walks(topology, found), strict=True
        ):
            passed = stops(topology, walk) or [a]
            assert (passed[0], passed[-1]) == (a, b)
            assert len(set(passed)) == len(passed)


def test_valiant_on_a_ring_goes_either_way_round() -> None:
    """From 0 to 3 of 9 the middles 5, 6 and 7 are nearer the other way round, and from there 3 is, too.

    1 to 4 lie ahead, and from 8 the nearer way leads back over 0: from these a message goes straight.
    """
    place = ring(9, 1e9)
    found = walks(place, find(place, Routing("valiant"), 0, 3, np.arange(400)))
    lengths = Counter(len(walk) for walk in found)
    assert set(lengths) == {3, 6}
    assert abs(lengths[6] / 400 - 3 / 9) < 5 * np.sqrt(2 / 9 / 400)


def test_valiant_spreads_what_shortest_ways_pile_up() -> None:
    """Bit reversal on a cube of 2^8 is the classic bad case of going in dimension order: sqrt(N) meet."""
    place = hypercube(8, 1e9)
    src = np.arange(256)
    dst = np.array([int(f"{rank:08b}"[::-1], 2) for rank in range(256)])
    straight = np.bincount(routes(place, src, dst).links).max()
    spread = np.bincount(find(place, Routing("valiant", 1), src, dst).links).max()
    assert straight == 8
    assert spread < straight


def test_valiant_on_a_dragonfly_passes_other_groups() -> None:
    """Between two groups there is one link; through the other seven there are more (Kim et al. 2008)."""
    place = dragonfly(2, 4, 2, 1e9)
    src, dst = (np.arange(8)[:, None] + 0 * np.arange(8)).ravel(), np.tile(np.arange(8, 16), 8)
    far = place.levels.index("between")

    def crossed(kind: Kind) -> np.ndarray:
        links = find(place, Routing(kind, 2), src, dst).links
        return links[place.links.level[links] == far]

    assert len(set(crossed("ecmp").tolist())) == 1
    assert len(set(crossed("valiant").tolist())) > 10


def test_valiant_goes_straight_where_the_middle_is_out_of_reach() -> None:
    """1 and 2 forward, but from 1 there is no way back to 2."""
    links = [
        CustomLink(0, 1, 1e9),
        CustomLink(0, 2, 1e9, direction="one"),
        CustomLink(2, 1, 1e9, direction="one"),
    ]
    place = custom(CustomNodes(3), links)
    found = walks(place, find(place, Routing("valiant"), 1, 0, np.arange(20)))
    assert {tuple(stops(place, walk)) for walk in found} == {(1, 0)}
    with pytest.raises(TopologyError, match="no way from 1 to 0"):
        find(custom(CustomNodes(2), [CustomLink(0, 1, 1e9, direction="one")]), Routing("valiant"), 1, 0)


@pytest.mark.parametrize("kind", ["shortest", "ecmp", "spray", "valiant"])
def test_no_way_is_refused(kind: Kind) -> None:
    place = custom(CustomNodes(3, ["a"]), [CustomLink(0, "a", 1e9), CustomLink(1, "a", 1e9)])
    for src, dst in ((0, 2), (2, 1)):
        with pytest.raises(TopologyError, match=f"no way from {src} to {dst}"):
            find(place, Routing(kind), src, dst)


def test_one_message_or_none() -> None:
    for kind in ("shortest", "ecmp", "spray", "valiant"):
        assert find(full_mesh(3, 1e9), Routing(kind), [], []).offsets.tolist() == [0]
        assert find(full_mesh(3, 1e9), Routing(kind), 1, 1).offsets.tolist() == [0, 0]


def test_wrong_kinds_and_seeds() -> None:
    with pytest.raises(TopologyError, match='no routing "random"'):
        Routing("random")  # type: ignore[arg-type]
    with pytest.raises(TopologyError, match="takes no seed") as caught:
        Routing("shortest", 1)
    assert caught.value.at == ("seed",)
