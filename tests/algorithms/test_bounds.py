"""Lower bounds: the textbook's formulas, values by hand, and that nothing ever beats them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any, get_args

import numpy as np
import pytest

from algorithms import ALGORITHMS, Schedule, build, lower_bounds, make_collective, textbook_bounds
from algorithms.bounds import ceil_log
from simulator.engine.engines import run_plan
from simulator.engine.frames import packets_of
from simulator.engine.lower import lower
from simulator.engine.network import Endpoint, Mode, Model, Network, Reduction, Sync
from tests.algorithms.variants import KINDS, variants
from tests.topologies.topology_examples import ladder_links
from topologies import (
    CustomLink,
    CustomNodes,
    Level,
    Shared,
    Topology,
    crossbar,
    custom,
    fat_tree,
    full_mesh,
    hypercube,
    leaf_spine,
    multilevel,
    ring,
)
from topologies.trees import aggregation_tree

B, ALPHA = 64e9, 1e-6


@pytest.mark.parametrize(
    ("number", "base", "expected"),
    [(1, 2, 0), (2, 2, 1), (3, 2, 2), (8, 2, 3), (9, 2, 4), (9, 3, 2), (10, 3, 3), (1, 5, 0), (2**20, 2, 20)],
)
def test_ceil_log(number: int, base: int, expected: int) -> None:
    assert ceil_log(number, base) == expected


@pytest.mark.parametrize("ranks", [1, 2, 3, 8, 9, 64])
@pytest.mark.parametrize("ports", [1, 2, 7])
def test_textbook_is_the_seeds(ranks: int, ports: int) -> None:
    # the seed: ceil(log2 N) alpha, and (N - 1) M / (N d beta)
    m, rounds = 2**30, {1: 0, 2: 1, 3: 2, 8: 3, 9: 4, 64: 6}[ranks]
    for kind in ("reduce_scatter", "allgather"):
        bounds = textbook_bounds(kind, ranks, m, ALPHA, B, ports)
        assert bounds.latency == rounds * ALPHA
        assert bounds.bandwidth == float(Fraction((ranks - 1) * m, ranks * ports) / Fraction(B))
    both = textbook_bounds("allreduce", ranks, m, ALPHA, B, ports)
    assert both.latency == rounds * ALPHA
    assert both.bandwidth == 2 * bounds.bandwidth


EIGHT: dict[str, Callable[..., Topology]] = {
    "ring": lambda *link: ring(8, *link),
    "hypercube": lambda *link: hypercube(3, *link),
    "crossbar": lambda *link: crossbar(8, *link),
    "full_mesh": lambda *link: full_mesh(8, *link),
}
# of eight ranks: links that a rank has each way, hops of the farthest pair
PORTS = {"ring": 2, "hypercube": 3, "crossbar": 1, "full_mesh": 7}
HOPS = {"ring": 4, "hypercube": 3, "crossbar": 2, "full_mesh": 1}


@pytest.mark.parametrize("kind", EIGHT)
@pytest.mark.parametrize("collective", ["reduce_scatter", "allgather", "allreduce"])
def test_bounds_of_eight_ranks_by_hand(kind: str, collective: str) -> None:
    m = 8 * 64 * 10**6
    topology = EIGHT[kind](B, ALPHA)
    bounds = lower_bounds(
        make_collective(collective, 8, m), topology, model="store_and_forward", reduction=512e9
    )
    twice = 2 if collective == "allreduce" else 1
    # 7/8 of M leaves every rank: 7 ms over one port at 64 GB/s
    assert bounds.bandwidth == pytest.approx(twice * 7e-3 / PORTS[kind], rel=1e-12)
    assert bounds.latency == pytest.approx(HOPS[kind] * ALPHA, rel=1e-12)
    assert bounds.textbook_latency == pytest.approx(3 * ALPHA, rel=1e-12)
    # 7/8 of M reduced at 512 GB/s
    reduced = 0.0 if collective == "allgather" else 7 / 8 * 1e-3
    assert bounds.reduction == pytest.approx(reduced, rel=1e-12)
    assert bounds.best == max(bounds.latency, bounds.bandwidth, bounds.reduction)


@pytest.mark.parametrize(
    ("kind", "rounds"),
    # ceil(log_{d+1} 8): 3 ports 2 rounds, 2 ports 2, 1 port 3, 7 ports 1; but the farthest pair is farther
    [("ring", 4), ("hypercube", 3), ("crossbar", 3), ("full_mesh", 1)],
)
def test_overheads_are_paid_in_rounds(kind: str, rounds: int) -> None:
    collective = make_collective("allgather", 8, 0)
    stored = lower_bounds(collective, EIGHT[kind](B, 0.0, ALPHA), model="store_and_forward")
    assert stored.latency == pytest.approx(rounds * ALPHA, rel=1e-12)
    # cut through, a way costs one overhead: what is left is the number of rounds
    cut = lower_bounds(collective, EIGHT[kind](B, 0.0, ALPHA), model="cut_through")
    informed = {"ring": 2, "hypercube": 2, "crossbar": 3, "full_mesh": 1}[kind]
    assert cut.latency == pytest.approx(informed * ALPHA, rel=1e-12)


def test_cut_through_diameter_is_the_latencies_and_the_largest_overhead() -> None:
    # 0 - a - 1 with overheads 5 and 2 us, latencies 1 us each; and a way round with more latency, no overhead
    links = [CustomLink(0, "a", B, 1e-6, 5e-6), CustomLink("a", 1, B, 1e-6, 2e-6)]
    collective = make_collective("allgather", 2, 0)
    short = custom(CustomNodes(2, ["a"]), links)
    assert lower_bounds(collective, short, model="cut_through").latency == pytest.approx(7e-6)
    assert lower_bounds(collective, short, model="store_and_forward").latency == pytest.approx(9e-6)
    for latency, cut, stored in ((3e-6, 6e-6, 6e-6), (3.25e-6, 6.5e-6, 6.5e-6), (4e-6, 7e-6, 8e-6)):
        round_about = [CustomLink(0, "b", B, latency), CustomLink("b", 1, B, latency)]
        both = custom(CustomNodes(2, ["a", "b"]), links + round_about)
        assert lower_bounds(collective, both, model="cut_through").latency == pytest.approx(cut)
        assert lower_bounds(collective, both, model="store_and_forward").latency == pytest.approx(stored)


def test_one_rank_and_no_bytes() -> None:
    alone = lower_bounds(make_collective("allreduce", 1, 100), ring(1, B), model="cut_through", reduction=B)
    assert (alone.best, alone.textbook_latency) == (0.0, 0.0)
    empty = lower_bounds(make_collective("allreduce", 4, 0), ring(4, B, ALPHA), model="cut_through")
    assert (empty.bandwidth, empty.reduction, empty.best) == (0.0, 0.0, empty.latency)


def test_a_slow_rank_sets_the_bandwidth() -> None:
    # rank 1 hangs on a link of a tenth of the speed; it must send 3/4 of M, its block of M/4 comes back
    links = [CustomLink(i, "hub", B / 10 if i == 1 else B) for i in range(4)]
    star, m = custom(CustomNodes(4, ["hub"]), links), 64 * 10**6
    bounds = lower_bounds(make_collective("reduce_scatter", 4, m), star, model="cut_through")
    assert bounds.bandwidth == pytest.approx(7.5e-3, rel=1e-12)
    # placed elsewhere it is another rank that suffers, by as much
    placed = lower_bounds(
        make_collective("reduce_scatter", 4, m), star, model="cut_through", placement=np.array([1, 0, 3, 2])
    )
    assert placed.bandwidth == bounds.bandwidth


def test_the_slack_is_a_femtosecond_a_message() -> None:
    collective, topology = make_collective("reduce_scatter", 8, 2**20), ring(8, B)
    exact = lower_bounds(collective, topology, model="cut_through", reduction=B)
    loose = lower_bounds(collective, topology, model="cut_through", reduction=B, messages=1000)
    assert exact.bandwidth - loose.bandwidth == pytest.approx(1e-12)
    assert exact.reduction - loose.reduction == pytest.approx(1e-12)
    assert lower_bounds(collective, topology, model="cut_through", messages=2**60).bandwidth == 0.0


@cache
def small_topologies(overhead: float) -> dict[int, list[Topology]]:
    """By number of ranks."""
    link = (B, ALPHA, overhead)
    return {
        2: [ring(2, *link), crossbar(2, *link)],
        3: [ring(3, *link), full_mesh(3, *link), ring(3, *link, direction="one")],
        6: [
            ring(6, *link),
            multilevel(
                [
                    Level("card", 3, "ring", *link),
                    Level("node", 2, "line", B / 4, 5 * ALPHA, overhead / 2, uplink=Shared(2)),
                ]
            ),
        ],
        8: [
            ring(8, *link),
            ring(8, *link, direction="one"),
            hypercube(3, *link),
            full_mesh(8, *link),
            crossbar(8, *link),
            multilevel([Level("card", 4, "full_mesh", *link), Level("node", 2, "ring", B / 4, 5 * ALPHA)]),
            custom(CustomNodes(8), ladder_links()),
        ],
    }


@cache
def switches_that_reduce(overhead: float) -> dict[int, list[Topology]]:
    """By number of ranks."""
    link = (B, ALPHA, overhead)
    return {
        3: [crossbar(3, *link, switch="reduces")],
        6: [leaf_spine(2, 3, 2, *link, switch="reduces"), crossbar(6, *link, switch="reduces")],
        16: [fat_tree(4, *link, switch="reduces")],
    }


def busiest(schedule: Schedule) -> int:
    return int(max(np.bincount(end, minlength=1).max() for end in (schedule.src, schedule.dst)))


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_nothing_beats_the_best_bound(name: str, kind: str) -> None:
    for model in get_args(Model):
        check_bound(name, kind, model)


def check_bound(name: str, kind: str, model: Model) -> None:
    rng = np.random.default_rng(sum(map(ord, name + kind + model)))
    overhead = float(rng.choice([0.0, 3e-7]))
    in_switches = ALGORITHMS[name].ideal == "switch"
    places = switches_that_reduce(overhead) if in_switches else small_topologies(overhead)
    cases = [(ranks, topology) for ranks, several in places.items() for topology in several]
    few = 1 if model in ("packet", "fair_share") else 3
    for i in rng.permutation(len(cases))[:few].tolist():
        ranks, topology = cases[i]
        for size in [0] if kind == "barrier" else rng.choice([0, 1, 1001, 2**26], 2, replace=False).tolist():
            options: dict[str, Any] = rng.choice(variants(name, kind, ranks))
            if in_switches:
                options = {"tree": aggregation_tree(topology)}
            schedule = build(name, kind, ranks, size, **options)
            check(schedule, topology, model, rng)


def check(schedule: Schedule, topology: Topology, model: Model, rng: np.random.Generator) -> None:
    place = rng.permutation(topology.ranks)
    sync: Sync = rng.choice(get_args(Sync))
    mode: Mode = rng.choice(get_args(Mode))
    gamma = rng.choice([None, 512e9, 8e9])
    mtu = 2**24 if model == "packet" else None
    # what costs the ranks something, and what has to wait for room, takes no less
    ends = [None, None, Endpoint(2e-7, 1e-7), Endpoint(2e-7, 0.0, "rendezvous")]
    endpoint = None if model == "fair_share" else ends[rng.integers(4)]
    buffers = None if model == "fair_share" else rng.choice([None, 2**27])
    network = Network(
        model=model, sync=sync, placement=place.tolist(), mtu=mtu, endpoint=endpoint, buffers=buffers
    )
    reduction = None if gamma is None else Reduction(gamma, mode)
    time = run_plan(lower(schedule, topology, network, reduction)).time
    bounds = lower_bounds(
        schedule.collective,
        topology,
        model=model,
        reduction=gamma,
        placement=place,
        messages=busiest(schedule) * int(packets_of(schedule.sizes(), network).max(initial=1)),
    )
    assert time / 10**15 >= bounds.best, (topology.kind, schedule.collective.size, network, reduction)


def test_the_bounds_are_met_where_theory_says_so() -> None:
    # direct on a full mesh sends every byte once over N - 1 ports in one hop: alpha apart it is optimal
    m = 8 * 64 * 10**6
    schedule = build("direct", "reduce_scatter", 8, m)
    topology = full_mesh(8, B, ALPHA)
    bounds = lower_bounds(schedule.collective, topology, model="store_and_forward")
    time = run_plan(lower(schedule, topology)).time / 10**15
    assert time == pytest.approx(bounds.bandwidth + bounds.latency, rel=1e-9)
    # recursive halving of nothing on one port takes the textbook's log2 N rounds
    machine = crossbar(8, B, 0.0, ALPHA)
    halving = build("recursive_halving", "reduce_scatter", 8, 0)
    fastest = lower_bounds(halving.collective, machine, model="cut_through")
    time = run_plan(lower(halving, machine, Network(model="cut_through"))).time / 10**15
    assert time == fastest.best == fastest.textbook_latency
