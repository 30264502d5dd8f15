from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.topologies.topology_examples import SIZES
from topologies import (
    CustomLink,
    CustomNodes,
    Level,
    Topology,
    TopologyError,
    crossbar,
    custom,
    full_mesh,
    hypercube,
    multilevel,
    ring,
    route,
    routes,
)
from topologies.ways import distances


def stops(topology: Topology, src: int, dst: int) -> list[int]:
    """Nodes that a route passes, ends included."""
    return [src, *topology.links.dst[list(route(topology, src, dst))].tolist()]


@pytest.mark.parametrize("n", SIZES)
def test_ring_goes_the_shorter_way_and_ties_go_the_positive(n: int) -> None:
    topology = ring(n, 64e9)
    for src in range(n):
        for dst in range(n):
            ahead = (dst - src) % n
            step, count = (1, ahead) if ahead <= n - ahead else (-1, n - ahead)
            assert stops(topology, src, dst) == [(src + step * k) % n for k in range(count + 1)]


@pytest.mark.parametrize("n", SIZES)
def test_one_way_ring_goes_ahead(n: int) -> None:
    topology = ring(n, 64e9, direction="one")
    for src in range(n):
        for dst in range(n):
            assert stops(topology, src, dst) == [(src + k) % n for k in range((dst - src) % n + 1)]


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_hypercube_goes_in_dimension_order(d: int) -> None:
    topology = hypercube(d, 64e9)
    for src in range(2**d):
        for dst in range(2**d):
            expected, here = [src], src
            for k in range(d):
                if (src ^ dst) >> k & 1:
                    here ^= 1 << k
                    expected.append(here)
            assert stops(topology, src, dst) == expected


@pytest.mark.parametrize("d", [2, 3, 4])
def test_hypercube_routes_are_the_same_under_xor(d: int) -> None:
    topology = hypercube(d, 64e9)
    for src in range(2**d):
        for dst in range(2**d):
            assert stops(topology, src, dst) == [node ^ src for node in stops(topology, 0, src ^ dst)]


@pytest.mark.parametrize("dims", [(4, 3), (2, 4), (3, 3, 2), (4, 4)])
def test_grid_routes_are_the_same_shifted_and_in_dimension_order(dims: tuple[int, ...]) -> None:
    topology = multilevel([Level(f"l{i}", size, "ring", 64e9) for i, size in enumerate(dims)])
    wrapped = [size > 2 for size in dims]
    for src in range(topology.ranks):
        for dst in range(topology.ranks):
            walk = [topology.coordinates(node) for node in stops(topology, src, dst)]
            moves = [
                next((i, (b[i] - a[i]) % dims[i]) for i in range(len(dims)) if a[i] != b[i])
                for a, b in pairwise(walk)
            ]
            assert [i for i, _ in moves] == sorted(i for i, _ in moves)
            apart = [(b - a) % size for a, b, size in zip(walk[0], walk[-1], dims, strict=True)]
            expected = []
            for i, (ahead, size) in enumerate(zip(apart, dims, strict=True)):
                short = min(ahead, size - ahead)
                step = 1 if ahead == short or not wrapped[i] else size - 1
                expected += [(i, step)] * short
            assert moves == expected


def test_full_mesh_and_crossbar() -> None:
    assert stops(full_mesh(5, 64e9), 4, 1) == [4, 1]
    assert stops(crossbar(5, 64e9), 4, 1) == [4, 5, 1]


def test_no_hop_to_itself() -> None:
    assert route(ring(8, 64e9), 3, 3) == ()
    assert route(ring(1, 64e9), 0, 0) == ()


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_rank_r_takes_parallel_link_r_mod_k(k: int) -> None:
    links = [CustomLink(r, "a", 64e9) for r in range(8)]
    links += [CustomLink("a", "b", 16e9, level="up", count=k), CustomLink("b", 8, 64e9)]
    topology = custom(CustomNodes(9, ["a", "b"]), links)
    for rank in range(8):
        up = topology.link_name(route(topology, rank, 8)[1])
        assert up == ("a->b" if rank % k == 0 else f"a->b#{rank % k}")


def test_direct_parallel_links_are_shared_out_too() -> None:
    topology = custom(CustomNodes(3), [CustomLink(0, 1, 1e9, count=2), CustomLink(1, 2, 1e9, count=2)])
    assert topology.link_name(route(topology, 1, 0)[0]) == "1->0#1"
    assert topology.link_name(route(topology, 2, 0)[1]) == "1->0"


def test_the_first_link_of_a_custom_graph_is_preferred() -> None:
    ways = [CustomLink(0, 2, 1e9), CustomLink(0, 1, 1e9), CustomLink(1, 3, 1e9), CustomLink(2, 3, 1e9)]
    assert stops(custom(CustomNodes(4), ways), 0, 3) == [0, 2, 3]
    ways[0], ways[1] = ways[1], ways[0]
    assert stops(custom(CustomNodes(4), ways), 0, 3) == [0, 1, 3]


def test_many_pairs_are_as_one_by_one() -> None:
    topology = multilevel([Level("a", 4, "ring", 64e9), Level("b", 3, "switch", 8e9)])
    src, dst = np.divmod(np.arange(144), 12)
    found = routes(topology, src, dst)
    for pair in range(144):
        walk = found.links[found.offsets[pair] : found.offsets[pair + 1]]
        assert tuple(walk.tolist()) == route(topology, int(src[pair]), int(dst[pair]))
    assert found.hops().tolist() == np.diff(found.offsets).tolist()


def test_no_way_is_refused() -> None:
    with pytest.raises(TopologyError, match="no way from 0 to 2"):
        route(custom(CustomNodes(3), [CustomLink(0, 1, 1e9)]), 0, 2)
    with pytest.raises(TopologyError, match="no way from 0 to 1"):
        route(custom(CustomNodes(2), []), 0, 1)
    one_way = custom(CustomNodes(2), [CustomLink(0, 1, 1e9, direction="one")])
    assert stops(one_way, 0, 1) == [0, 1]
    with pytest.raises(TopologyError, match="no way from 1 to 0"):
        route(one_way, 1, 0)


@st.composite
def graphs(draw: st.DrawFn) -> Topology:
    ranks = draw(st.integers(2, 7))
    switches = [f"s{i}" for i in range(draw(st.integers(0, 3)))]
    ends = st.sampled_from([*range(ranks), *switches])
    links = st.builds(
        CustomLink,
        ends,
        ends,
        st.sampled_from([1e9, 64e9]),
        direction=st.sampled_from(["both", "one"]),
        count=st.integers(1, 3),
        level=st.sampled_from(["near", "far"]),
    ).filter(lambda link: link.src != link.dst)
    return custom(CustomNodes(ranks, switches), draw(st.lists(links, max_size=20)))


@settings(max_examples=150, deadline=None)
@given(graphs(), st.data())
def test_routes_are_walks_of_least_cost(topology: Topology, data: st.DataObject) -> None:
    rank = st.integers(0, topology.ranks - 1)
    src, dst = data.draw(rank, "src"), data.draw(rank, "dst")
    cost = distances(topology, np.array([dst]))[0]
    if not np.isfinite(cost[src]):
        with pytest.raises(TopologyError):
            route(topology, src, dst)
        return
    walk = list(route(topology, src, dst))
    assert walk == list(route(topology, src, dst))
    links, here = topology.links, src
    for link in walk:
        assert links.src[link] == here
        twins = np.flatnonzero((links.src == here) & (links.dst == links.dst[link]))
        assert link == twins[src % len(twins)]
        closer = np.flatnonzero((links.src == here) & (cost[links.dst] + links.cost == cost[here]))
        assert twins[0] == closer[0]
        here = links.dst[link]
    assert here == dst
    assert links.cost[walk].sum() == cost[src]
