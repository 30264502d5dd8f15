"""Lower bounds: the textbook's formulas, values by hand, and that nothing ever beats them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any, get_args

import numpy as np
import pytest

from algorithms import ALGORITHMS, Schedule, build, lower_bounds, make_collective, textbook_bounds
from algorithms.collective import KINDS as KINDS_OF
from algorithms.errors import ScheduleError
from algorithms.latency_bound import ceil_log
from simulator.engine.engines import run_plan
from simulator.engine.frames import packet_sizes
from simulator.engine.lower import lower
from simulator.engine.network import Endpoint, Mode, Model, Network, Reduction, Sync
from tests.algorithms.variants import KINDS, variants
from tests.topologies.topology_examples import EXAMPLES
from topologies import (
    TOPOLOGIES,
    CustomLink,
    CustomNodes,
    Topology,
    crossbar,
    custom,
    fat_tree,
    full_mesh,
    hypercube,
    leaf_spine,
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


def test_what_is_round_does_not_give_way() -> None:
    # an eighth of 2^20 bytes at 64e9 bytes/s are 2048 ns; at 3e9 bytes/s 43690 2/3 ns, which is rounded up
    collective, sizes = make_collective("reduce_scatter", 8, 2**20), {2**17: 56}
    for bandwidth, lost in ((64e9, 0), (3e9, 0), (6e9, Fraction(1, 3)), (7e9, 0)):
        topology = ring(8, bandwidth)
        exact, loose = (
            lower_bounds(collective, topology, model="cut_through", reduction=bandwidth, messages=each)
            for each in (None, sizes)
        )
        seconds = Fraction(7 * 2**17) / Fraction(bandwidth)
        assert exact.bandwidth == float(seconds / 2)
        assert exact.reduction == float(seconds)
        assert loose.bandwidth == float(seconds / 2 - 56 * lost / 10**15)
        assert loose.reduction == float(seconds - 56 * lost / 10**15)


def test_flows_that_share_give_way_by_half_a_femtosecond_a_message() -> None:
    collective, topology = make_collective("reduce_scatter", 8, 2**20), ring(8, 64e9)
    loose = lower_bounds(collective, topology, model="fair_share", messages={2**17: 56})
    assert loose.bandwidth == float(Fraction(7 * 2**17, 128 * 10**9) - Fraction(28, 10**15))
    # more messages than there is time
    none = lower_bounds(collective, topology, model="fair_share", messages={1: 2**60})
    assert none.bandwidth == 0.0


def test_many_different_messages_are_not_looked_at_one_by_one() -> None:
    collective, sizes = make_collective("reduce_scatter", 8, 2**20), dict.fromkeys(range(1000), 1)
    loose = lower_bounds(collective, ring(8, 64e9), model="packet", messages=sizes)
    assert loose.bandwidth == float(Fraction(7 * 2**17, 128 * 10**9) - Fraction(500, 10**15))


def test_which_term_binds() -> None:
    def binding(size: int, latency: float, reduction: float | None) -> str:
        topology = ring(4, 1e9, latency)
        collective = make_collective("reduce_scatter", 4, size)
        return lower_bounds(collective, topology, model="cut_through", reduction=reduction).binds

    assert binding(0, 1e-6, None) == "latency"
    assert binding(4 * 10**6, 1e-6, None) == "bandwidth"
    assert binding(4 * 10**6, 1e-6, 1e9) == "reduction"


@cache
def small_topologies() -> list[Topology]:
    """Of every builder, up to twelve ranks."""
    built = [TOPOLOGIES[kind](**given) for kind, several in EXAMPLES.items() for given in several]
    return [topology for topology in built if topology.ranks <= 12]


@cache
def switches_that_reduce() -> list[Topology]:
    """Some of which aggregation trees can be made."""
    link = (B, ALPHA, 3e-7)
    return [
        *(crossbar(ranks, *link, switch="reduces") for ranks in (1, 3, 6)),
        leaf_spine(2, 3, 2, *link, switch="reduces"),
        fat_tree(4, *link, switch="reduces"),
    ]


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_nothing_beats_the_best_bound(name: str, kind: str) -> None:
    for model in get_args(Model):
        check_bound(name, kind, model)


def check_bound(name: str, kind: str, model: Model) -> None:
    rng = np.random.default_rng(sum(map(ord, name + kind + model)))
    in_switches = ALGORITHMS[name].ideal == "switch"
    places = switches_that_reduce() if in_switches else small_topologies()
    for i in rng.choice(len(places), 2 if model in ("packet", "fair_share") else 4).tolist():
        topology = with_bandwidth(places[i], float(rng.choice([1.0, 1 / 3, 0.7])))
        size = 0 if kind == "barrier" else int(rng.choice([0, 1, 7, 1001, 2**26]))
        options: dict[str, Any] = dict(rng.choice(variants(name, kind, topology.ranks)))
        if in_switches:
            options = {"tree": aggregation_tree(topology)}
        elif KINDS_OF[kind].by_rank and kind not in ("barrier", "all_to_all") and rng.random() < 0.4:
            options["sizes"] = rng.integers(0, 5000, topology.ranks).tolist()
        # some know no such number of ranks
        with suppress(ScheduleError):
            check(build(name, kind, topology.ranks, size, **options), topology, model, rng)


def with_bandwidth(topology: Topology, times: float) -> Topology:
    """The same with faster links, on which holds are not whole."""
    return replace(topology, links=replace(topology.links, bandwidth=topology.links.bandwidth * times))


def check(schedule: Schedule, topology: Topology, model: Model, rng: np.random.Generator) -> None:
    place = rng.permutation(topology.ranks)
    mode: Mode = rng.choice(get_args(Mode))
    gamma = rng.choice([None, 512e9, 8e9 / 3])
    # what costs the ranks something, and what has to wait for room, takes no less
    ends = [None, None, Endpoint(2e-7, 1e-7), Endpoint(2e-7, 0.0, "rendezvous")]
    endpoint = None if model == "fair_share" else ends[rng.integers(4)]
    buffers = None if model == "fair_share" or topology.kind == "dragonfly" else rng.choice([None, 2**27])
    network = Network(
        model=model,
        sync=rng.choice(get_args(Sync)),
        placement=place.tolist(),
        mtu=2**24 if model == "packet" else None,
        endpoint=endpoint,
        buffers=buffers,
        routing=str(rng.choice(["shortest", "ecmp", "spray"])),  # type: ignore[arg-type]
    )
    reduction = None if gamma is None else Reduction(gamma, mode, ranks={0: 3e9})
    time = run_plan(lower(schedule, topology, network, reduction)).time
    bounds = lower_bounds(
        schedule.collective,
        topology,
        model=model,
        reduction=None if reduction is None else reduction.rates(topology.ranks)[place],
        placement=place,
        messages=packet_sizes(schedule.sizes(), network),
    )
    # rates that are shared are not exact
    least = bounds.best * (1 - 1e-9 if model == "fair_share" else 1)
    assert time / 10**15 >= least, (topology.kind, schedule.collective.size, network, reduction)


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
