from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from tests.topologies.topology_examples import CARD, NODE, RACK, SIZES, ladder_links, shared
from topologies import (
    CustomLink,
    CustomNodes,
    Level,
    Shared,
    Topology,
    TopologyError,
    crossbar,
    custom,
    full_mesh,
    hypercube,
    multilevel,
    ring,
)
from topologies.measures import measure

ALPHA = 1.25e-6


def cost(count: int) -> float:
    """Alpha of a way of `count` hops, in whole femtoseconds."""
    return count * 1_250_000_000 / 1e15


@pytest.mark.parametrize("n", SIZES)
def test_ring(n: int) -> None:
    found = measure(ring(n, 64e9, latency=1e-6, overhead=0.25e-6))
    neighbours = min(n - 1, 2)
    assert (found.ranks, found.switches, found.links) == (n, 0, n * neighbours)
    assert found.degree == found.in_degree == (neighbours, neighbours)
    assert found.diameter == n // 2
    assert found.alpha_diameter == cost(n // 2)
    # a ring is cut in two places, a pair in one
    assert found.bisection_links == neighbours
    assert found.bisection_bandwidth == neighbours * 64e9
    assert found.bisection_exact


@pytest.mark.parametrize("n", SIZES)
def test_one_way_ring(n: int) -> None:
    found = measure(ring(n, 64e9, ALPHA, direction="one"))
    out = min(n - 1, 1)
    assert found.links == n * out
    assert found.degree == found.in_degree == (out, out)
    assert found.diameter == n - 1
    assert found.alpha_diameter == cost(n - 1)
    assert found.bisection_links == out


@pytest.mark.parametrize("d", [0, 1, 2, 3, 4])
def test_hypercube(d: int) -> None:
    n = 2**d
    found = measure(hypercube(d, 64e9, ALPHA))
    assert (found.ranks, found.switches, found.links) == (n, 0, n * d)
    assert found.degree == (d, d)
    assert found.diameter == d
    assert found.alpha_diameter == cost(d)
    assert found.bisection_links == n // 2
    assert found.bisection_exact


@pytest.mark.parametrize("n", SIZES)
def test_full_mesh(n: int) -> None:
    found = measure(full_mesh(n, 64e9, ALPHA))
    assert (found.ranks, found.switches, found.links) == (n, 0, n * (n - 1))
    assert found.degree == (n - 1, n - 1)
    assert found.diameter == min(n - 1, 1)
    assert found.alpha_diameter == cost(min(n - 1, 1))
    assert found.bisection_links == (n // 2) * ((n + 1) // 2)
    assert found.bisection_bandwidth == 64e9 * (n // 2) * ((n + 1) // 2)


@pytest.mark.parametrize("n", SIZES)
def test_crossbar(n: int) -> None:
    found = measure(crossbar(n, 64e9, overhead=ALPHA))
    assert (found.ranks, found.switches, found.links) == (n, 1, 2 * n)
    assert found.degree == found.in_degree == (1, 1)
    assert found.diameter == (2 if n > 1 else 0)
    assert found.alpha_diameter == cost(2 if n > 1 else 0)
    # the switch stands with the larger half
    assert found.bisection_links == n // 2


def test_ladder() -> None:
    topology = custom(CustomNodes(8), ladder_links())
    found = measure(topology)
    assert [topology.graph.out_degree(rank) for rank in range(8)] == [3, 3, 3, 3, 2, 2, 2, 2]
    assert (found.links, found.degree, found.diameter, found.bisection_links) == (20, (2, 3), 4, 2)


@pytest.mark.parametrize("n", SIZES)
def test_line(n: int) -> None:
    found = measure(multilevel([Level("line", n, "line", 64e9, ALPHA)]))
    assert found.links == 2 * (n - 1)
    assert found.degree == (min(n - 1, 1), min(n - 1, 2))
    assert found.diameter == n - 1
    assert found.bisection_links == min(n - 1, 1)


def test_per_rank_levels() -> None:
    found = measure(multilevel([CARD, NODE, RACK]))
    # 3 to the card, 1 to the node, 2 to the rack
    assert (found.ranks, found.switches, found.links, found.degree) == (24, 0, 24 * 6, (6, 6))
    assert found.diameter == 3
    assert found.alpha_diameter == pytest.approx(1e-6 + 2e-6 + 5e-6)


def test_two_per_rank_levels_bisect_at_the_thinner() -> None:
    found = measure(multilevel([CARD, NODE]))
    # between the cards 4 links cross; through both cards it would be 8
    assert (found.bisection_links, found.bisection_bandwidth) == (4, 4 * 16e9)
    assert found.bisection_exact


def test_links_and_bandwidth_may_be_least_at_different_cuts() -> None:
    links = [
        CustomLink(0, 1, 1e9),
        CustomLink(0, 1, 1e9, level="twin"),
        CustomLink(2, 3, 1e9),
        CustomLink(0, 2, 9e9),
        CustomLink(1, 3, 1e9),
    ]
    found = measure(custom(CustomNodes(4), links))
    # {0, 1} | {2, 3} is cut in 2 links of 10 GB/s, {0, 2} | {1, 3} in 3 links of 3 GB/s
    assert (found.bisection_links, found.bisection_bandwidth) == (2, 3e9)


@pytest.mark.parametrize("count", [1, 3])
def test_shared_level(count: int) -> None:
    found = measure(multilevel([CARD, shared(NODE, count)]))
    # 2 cards of 12 links and 8 to and from the gateway, and `count` each way between gateways
    assert (found.switches, found.links) == (2, 2 * (12 + 8) + 2 * count)
    assert found.degree == found.in_degree == (4, 4)
    assert found.diameter == 3
    assert found.alpha_diameter == pytest.approx(1e-6 + 2e-6 + 1e-6)
    assert (found.bisection_links, found.bisection_bandwidth) == (count, count * 16e9)


def test_natural_split_when_there_are_too_many() -> None:
    for topology, links in (
        (ring(64, 64e9), 2),
        (hypercube(6, 64e9), 32),
        (full_mesh(64, 64e9), 32 * 32),
        (crossbar(64, 64e9), 32),
        (multilevel([Level("a", 32, "full_mesh", 64e9), Level("b", 2, "line", 8e9, uplink=Shared(5))]), 5),
    ):
        found = measure(topology)
        assert (found.bisection_links, found.bisection_exact) == (links, False)


def test_alpha_takes_the_cheapest_way_and_hops_the_route() -> None:
    links = [CustomLink(0, 1, 1e9, 9e-6), CustomLink(0, "s", 1e9, 1e-6), CustomLink("s", 1, 1e9, 1e-6)]
    found = measure(custom(CustomNodes(2, ["s"]), links))
    assert (found.diameter, found.alpha_diameter) == (1, 2e-6)


def test_degree_in_and_out() -> None:
    links = [CustomLink(a, b, 1e9, direction="one") for a, b in ((0, 1), (1, 2), (2, 0), (0, 2))]
    found = measure(custom(CustomNodes(3), links))
    assert (found.degree, found.in_degree) == ((1, 2), (1, 2))
    found = measure(custom(CustomNodes(2, ["s"]), [CustomLink(0, 1, 1e9), CustomLink(0, "s", 1e9)]))
    assert (found.degree, found.in_degree) == ((1, 2), (1, 2))
    lopsided = [CustomLink(0, 1, 1e9), CustomLink(0, "s", 1e9, direction="one", count=3)]
    found = measure(custom(CustomNodes(2, ["s"]), lopsided))
    assert (found.degree, found.in_degree) == ((1, 4), (1, 1))


@pytest.mark.parametrize(
    "links", [[], [CustomLink(0, 1, 1e9)], [CustomLink(0, 1, 1e9), CustomLink(2, 1, 1e9, direction="one")]]
)
def test_unreachable_ranks_are_refused(links: list[CustomLink]) -> None:
    with pytest.raises(TopologyError, match="there is no way from"):
        measure(custom(CustomNodes(3), links))


def brute_force(topology: Topology) -> int:
    """Smallest of the minimum cuts over all splits into halves."""
    ranks, best = set(range(topology.ranks)), len(topology.links)
    for chosen in combinations(sorted(ranks), topology.ranks // 2):
        flow = nx.DiGraph()
        flow.add_nodes_from(["a", "b"])
        for u, v in topology.graph.edges():
            x, y = (("a" if n in chosen else "b") if n in ranks else n for n in (u, v))
            if x != y:
                flow.add_edge(x, y, capacity=flow.get_edge_data(x, y, {"capacity": 0})["capacity"] + 1)
        best = min(best, nx.maximum_flow_value(flow, "a", "b"), nx.maximum_flow_value(flow, "b", "a"))
    return best


@pytest.mark.parametrize("seed", range(6))
def test_bisection_agrees_with_max_flow_over_all_splits(seed: int) -> None:
    draw = np.random.default_rng(seed)
    ends = [*range(6), "s", "t"]
    links = [CustomLink(i, (i + 1) % 6, 1e9, direction="one") for i in range(6)]
    for _ in range(14):
        a, b = draw.choice(len(ends), 2, replace=False)
        links.append(CustomLink(ends[a], ends[b], 1e9, direction="one", count=int(draw.integers(1, 4))))
    topology = custom(CustomNodes(6, ["s", "t"]), links)
    assert measure(topology).bisection_links == brute_force(topology)
