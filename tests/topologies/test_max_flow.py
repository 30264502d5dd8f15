"""Minimum cuts: those of networkx, and the same whether the loops are compiled or not."""

from __future__ import annotations

import networkx as nx
import numpy as np

from topologies.loops import WORTH_LOADING
from topologies.max_flow import flow_network, min_cut


def test_cuts_of_random_networks_are_those_of_networkx() -> None:
    rng = np.random.default_rng(7)
    for case in range(150):
        nodes, edges = int(rng.integers(2, 12)), int(rng.integers(1, 40))
        u, v = rng.integers(0, nodes, (2, edges))
        u, v = u[u != v], v[u != v]
        forth, back = rng.integers(0, 9, (2, len(u)))
        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_nodes_from(range(nodes), capacity=0)
        for a, b, capacity in zip(
            [*u.tolist(), *v.tolist()], [*v.tolist(), *u.tolist()], [*forth, *back], strict=True
        ):
            had = graph.edges[a, b]["capacity"] if graph.has_edge(a, b) else 0
            graph.add_edge(a, b, capacity=had + int(capacity))
        wanted = nx.maximum_flow_value(graph, 0, nodes - 1)
        turns = WORTH_LOADING if case % 5 == 0 else 0
        value, side = min_cut(flow_network(nodes, u, v), forth, back, 0, nodes - 1, turns)
        assert value == wanted
        assert side[0]
        assert not side[-1]
        assert value == forth[side[u] & ~side[v]].sum() + back[side[v] & ~side[u]].sum()


def test_of_several_least_cuts_it_is_the_one_nearest_the_sink() -> None:
    # 0 - 1 - 2 - 3, all of them alike
    at = np.arange(3)
    ones = np.ones(3, dtype=np.int64)
    value, side = min_cut(flow_network(4, at, at + 1), ones, ones, 0, 3)
    assert (value, side.tolist()) == (1, [True, True, True, False])


def test_a_sink_out_of_reach_gets_nothing() -> None:
    value, side = min_cut(flow_network(3, np.array([0]), np.array([1])), np.array([4]), np.array([0]), 0, 2)
    assert (value, side.tolist()) == (0, [True, True, False])


def test_long_ways_and_returns() -> None:
    # a line of 300 with a trap of dead ends: what goes in must come back before the rest can pass
    line = np.arange(299)
    u, v = np.concatenate([line, line[:-1]]), np.concatenate([line + 1, np.arange(300, 598)])
    forth = np.concatenate([np.full(299, 5), np.full(298, 3)])
    forth[150] = 2
    for turns in (0, WORTH_LOADING):
        value, side = min_cut(flow_network(598, u, v), forth, np.zeros(597, dtype=np.int64), 0, 299, turns)
        assert value == 2
        assert side[:151].all()
        assert not side[151:300].any()
