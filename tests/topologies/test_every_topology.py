"""What holds for every topology of the registry; a new builder needs a line in EXAMPLES."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import prod

import networkx as nx
import numpy as np
import pytest

from tests.cases import case
from tests.topologies.topology_examples import EXAMPLES
from topologies import TOPOLOGIES, Topology, routes
from topologies.measures import measure
from topologies.ways import distances


@cache
def examples(kind: str) -> list[Topology]:
    return [TOPOLOGIES[kind](**arguments) for arguments in EXAMPLES[kind]]


def every_topology(check: Callable[[Topology], None]) -> Callable[[str], None]:
    """A test for each kind, of all its examples."""

    @pytest.mark.parametrize("kind", EXAMPLES)
    def test(kind: str) -> None:
        for number, topology in enumerate(examples(kind)):
            with case(number, EXAMPLES[kind][number]):
                check(topology)

    return test


def all_pairs(topology: Topology) -> tuple[np.ndarray, np.ndarray]:
    src, dst = np.divmod(np.arange(topology.ranks**2), topology.ranks)
    return src, dst


def test_every_builder_has_examples() -> None:
    assert EXAMPLES.keys() == TOPOLOGIES.keys()


@every_topology
def test_ranks_come_first_and_switches_have_names(topology: Topology) -> None:
    assert topology.nodes[: topology.ranks] == tuple(range(topology.ranks))
    assert all(isinstance(node, str) for node in topology.nodes[topology.ranks :])
    assert topology.nodes == tuple(topology.graph.nodes)
    kinds = [topology.graph.nodes[node]["kind"] for node in topology.nodes]
    assert kinds == ["rank"] * topology.ranks + ["switch"] * (len(topology.nodes) - topology.ranks)


@every_topology
def test_coordinates_count_through_the_dims(topology: Topology) -> None:
    assert prod(topology.dims) == topology.ranks
    grid = [tuple(reversed(c)) for c in np.ndindex(*reversed(topology.dims))]
    assert [topology.coordinates(rank) for rank in range(topology.ranks)] == grid


@every_topology
def test_links_are_the_edges_of_the_graph(topology: Topology) -> None:
    links = topology.links
    rows = [
        (topology.nodes[s], topology.nodes[d], b, lat, o, topology.levels[level], c)
        for s, d, b, lat, o, level, c in zip(
            links.src,
            links.dst,
            links.bandwidth,
            links.latency,
            links.overhead,
            links.level,
            links.cost,
            strict=True,
        )
    ]
    keys = ("bandwidth", "latency", "overhead", "level", "cost")
    assert rows == [(u, v, *(data[k] for k in keys)) for u, v, data in topology.graph.edges(data=True)]
    assert (links.src != links.dst).all()
    assert (np.diff(links.src) >= 0).all()


@every_topology
def test_link_names_are_unique(topology: Topology) -> None:
    names = [topology.link_name(link) for link in range(len(topology.links))]
    assert len(set(names)) == len(names)


@every_topology
def test_routes_walk_the_cheapest_way(topology: Topology) -> None:
    src, dst = all_pairs(topology)
    found, cost = routes(topology, src, dst), distances(topology, np.arange(topology.ranks))
    for pair, (a, b) in enumerate(zip(src, dst, strict=True)):
        walk = found.links[found.offsets[pair] : found.offsets[pair + 1]]
        stops = [a, *topology.links.dst[walk]]
        assert stops[:-1] == list(topology.links.src[walk])
        assert stops[-1] == b
        assert topology.links.cost[walk].sum() == cost[b, a]


@pytest.mark.parametrize("kind", EXAMPLES)
def test_building_and_routing_are_the_same_again(kind: str) -> None:
    for one, arguments in zip(examples(kind), EXAMPLES[kind], strict=True):
        two = TOPOLOGIES[kind](**arguments)
        assert one.kind == kind
        assert one.nodes == two.nodes
        for column in ("src", "dst", "bandwidth", "latency", "overhead", "level", "cost"):
            np.testing.assert_array_equal(getattr(one.links, column), getattr(two.links, column))
        a, b = routes(one, *all_pairs(one)), routes(two, *all_pairs(two))
        np.testing.assert_array_equal(a.links, b.links)
        np.testing.assert_array_equal(a.offsets, b.offsets)


@every_topology
def test_diameter_is_the_longest_route(topology: Topology) -> None:
    assert measure(topology).diameter == routes(topology, *all_pairs(topology)).hops().max()


@every_topology
def test_alpha_diameter_agrees_with_networkx(topology: Topology) -> None:
    alphas = nx.DiGraph()
    alphas.add_nodes_from(topology.nodes)
    for u, v, data in topology.graph.edges(data=True):
        alpha = data["overhead"] + data["latency"]
        alphas.add_edge(u, v, alpha=min(alpha, alphas.get_edge_data(u, v, {"alpha": alpha})["alpha"]))
    ways = dict(nx.all_pairs_dijkstra_path_length(alphas, weight="alpha"))
    ranks = range(topology.ranks)
    longest = max(ways[a][b] for a in ranks for b in ranks)
    assert measure(topology).alpha_diameter == pytest.approx(longest, rel=1e-12)


@every_topology
def test_bisection_is_no_more_than_the_natural_split(topology: Topology) -> None:
    """Max flow between the lower and the upper half of the ranks bounds it from above."""
    flow = nx.DiGraph()
    flow.add_nodes_from(["low", "high"])
    end = dict(enumerate(["low"] * (topology.ranks // 2) + ["high"] * -(-topology.ranks // 2)))
    for u, v in topology.graph.edges():
        a, b = end.get(u, u), end.get(v, v)
        if a != b:
            flow.add_edge(a, b, capacity=flow.get_edge_data(a, b, {"capacity": 0})["capacity"] + 1)
    assert measure(topology).bisection_links <= nx.maximum_flow_value(flow, "low", "high")
