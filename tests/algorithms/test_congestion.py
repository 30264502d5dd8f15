"""Bytes on the most loaded links: the factor, a brute force, and the levels of a cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import prod

import networkx as nx
import numpy as np
import pytest

from algorithms import Schedule, build, congestion_factor
from simulator.engine.analysis import link_use
from simulator.engine.lower import lower
from simulator.engine.network import Network
from simulator.engine.simpy_engine import run_simpy
from tests.topologies.topology_examples import ladder_links
from topologies import (
    CustomLink,
    CustomNodes,
    Level,
    Topology,
    custom,
    full_mesh,
    hypercube,
    multilevel,
    ring,
)

B = 64e9


def halving(ranks: int = 8) -> Schedule:
    return build("recursive_halving", "reduce_scatter", ranks, 720720 * 64)


@pytest.mark.parametrize(
    ("topology", "factor"),
    [(hypercube(3, B), 7 / 8), (full_mesh(8, B), 7 / 8), (ring(8, B), 13 / 8)],
    ids=["hypercube", "full_mesh", "ring"],
)
def test_ring_cannot_halve(topology: Topology, factor: float) -> None:
    # the seed: halving needs something like a hypercube; on a ring M/2 goes 4 hops both ways,
    # 4 M/2 / 2 + 2 M/4 + M/8 = 13/8 M
    assert congestion_factor(halving(), topology) == factor


def test_recursive_halving_takes_longer_on_the_ring() -> None:
    times = [run_simpy(lower(halving(), t)).time for t in (hypercube(3, B, 1e-6), ring(8, B, 1e-6))]
    assert times[1] > 1.5 * times[0]


# the chips of an SG2260 box are wired as a ladder; what halving costs there hangs on who sits where
@pytest.mark.parametrize(
    ("name", "placement", "factor"),
    [
        ("natural", [0, 1, 2, 3, 4, 5, 6, 7], Fraction(9, 8)),
        ("better", [0, 1, 2, 3, 4, 6, 5, 7], Fraction(25, 24)),
        ("best", [0, 3, 1, 5, 6, 2, 7, 4], Fraction(29, 32)),
    ],
)
def test_halving_on_the_ladder_depends_on_the_order(
    name: str, placement: list[int], factor: Fraction
) -> None:
    ladder = custom(CustomNodes(8), ladder_links())
    found = congestion_factor(halving(), ladder, np.array(placement))
    assert found == pytest.approx(float(factor), rel=1e-12)
    assert brute_force(halving(), ladder, placement) == factor


@pytest.mark.parametrize("name", ["ring", "bidirectional_ring", "direct", "recursive_halving"])
def test_nothing_of_nothing(name: str) -> None:
    assert congestion_factor(build(name, "reduce_scatter", 8, 0), ring(8, B)) is None
    assert congestion_factor(build(name, "reduce_scatter", 1, 100), ring(1, B)) == 0.0


def brute_force(schedule: Schedule, topology: Topology, placement: Sequence[int]) -> Fraction:
    """Every shortest path by name, parallel links apart; a message is cut evenly over them."""
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(len(topology.nodes)))
    parallel = Counter(zip(topology.links.src.tolist(), topology.links.dst.tolist(), strict=True))
    graph.add_edges_from(parallel)
    worst = Fraction(0)
    for start, stop in schedule.step_bounds():
        load: Counter[tuple[int, int, int]] = Counter()
        for row in range(start, stop):
            ends = (placement[int(schedule.src[row])], placement[int(schedule.dst[row])])
            lanes = [
                lane
                for path in nx.all_shortest_paths(graph, *ends)
                for lane in _lanes(list(nx.utils.pairwise(path)), parallel)
            ]
            for lane in lanes:
                for link in lane:
                    load[link] += Fraction(int(schedule.sizes()[row]), len(lanes))
        worst += max(load.values(), default=Fraction(0))
    return worst / schedule.collective.size


def _lanes(
    path: list[tuple[int, int]], parallel: Counter[tuple[int, int]]
) -> list[list[tuple[int, int, int]]]:
    """Every choice of one of the parallel links at each hop."""
    lanes: list[list[tuple[int, int, int]]] = [[]]
    for src, dst in path:
        lanes = [[*lane, (src, dst, k)] for lane in lanes for k in range(parallel[src, dst])]
    return lanes


@pytest.mark.parametrize("seed", range(25))
def test_agrees_with_every_shortest_path_by_name(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ranks, switches = int(rng.integers(2, 9)), ["s", "t", "u"][: int(rng.integers(0, 4))]
    topology = custom(CustomNodes(ranks, switches), random_links(ranks, switches, rng))
    name, kind = [
        ("ring", "reduce_scatter"),
        ("recursive_halving", "reduce_scatter"),
        ("direct", "allgather"),
        ("bidirectional_ring", "allreduce"),
    ][seed % 4]
    schedule = build(name, kind, ranks, 1001)
    placement = rng.permutation(ranks)
    found = congestion_factor(schedule, topology, placement)
    assert found == pytest.approx(float(brute_force(schedule, topology, placement.tolist())), rel=1e-12)


def random_links(ranks: int, switches: list[str], rng: np.random.Generator) -> list[CustomLink]:
    """A ring through all nodes, so that every rank is reached, and chords; some links are several."""
    nodes: list[int | str] = [*range(ranks), *switches]
    order = rng.permutation(len(nodes)).tolist()
    ends = {(order[i - 1], order[i]) for i in range(len(nodes))}
    ends |= {tuple(rng.choice(len(nodes), 2, replace=False).tolist()) for _ in range(len(nodes))}
    both = {tuple(sorted(pair)) for pair in ends}
    return [CustomLink(nodes[a], nodes[b], B, count=int(rng.integers(1, 4))) for a, b in sorted(both)]


def level_bytes(schedule: Schedule, dims: Sequence[int]) -> list[int]:
    """Bytes counted on the links of every level of full meshes, from a simulated timeline."""
    cluster = multilevel([Level(f"level{i}", p, "full_mesh", B, 1e-6) for i, p in enumerate(dims)])
    use = link_use(run_simpy(lower(schedule, cluster, Network())), schedule)
    return [int(use.bytes[cluster.links.level == i].sum()) for i in range(len(dims))]


@pytest.mark.parametrize("dims", [[8, 4], [4, 2], [2, 2, 2], [4, 3, 2], [3, 5]])
@pytest.mark.parametrize("kind", ["reduce_scatter", "allgather"])
def test_outer_links_carry_fewer_bytes_by_the_inner_ranks(kind: str, dims: list[int]) -> None:
    # the seed: the traffic of level i shrinks P_{i-1} = p_0 ... p_{i-1} times
    ranks = prod(dims)
    size = 120 * ranks
    levels = level_bytes(build("hierarchical", kind, ranks, size, dims=dims), dims)
    flat = level_bytes(build("direct", kind, ranks, size), dims)
    for i, p in enumerate(dims):
        inner = prod(dims[:i])
        # each rank sends (p_i - 1)/p_i of the M / P_{i-1} that it has there
        assert levels[i] == ranks * Fraction(p - 1, p) * size / inner
        assert flat[i] == inner * levels[i]


@pytest.mark.parametrize(
    ("dims", "ratio"),
    # p_1 of the ring's N edges lead from group to group and carry (N-1)/N M each: all in all
    # p_1 (N-1)/N M against (p_1 - 1) M
    [
        ([8, 4], Fraction(31, 24)),
        ([4, 2], Fraction(7, 4)),
        ([3, 5], Fraction(7, 6)),
        ([8, 2], Fraction(15, 8)),
    ],
)
def test_a_flat_ring_crosses_only_a_little_more(dims: list[int], ratio: Fraction) -> None:
    ranks = prod(dims)
    size = 120 * ranks
    flat = level_bytes(build("ring", "reduce_scatter", ranks, size), dims)
    levels = level_bytes(build("hierarchical", "reduce_scatter", ranks, size, dims=dims), dims)
    assert Fraction(flat[1], levels[1]) == ratio
