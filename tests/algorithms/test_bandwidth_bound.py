"""The bound on bandwidth: exact values of others' programs, all cuts by brute force, and what attains it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from algorithms import build, lower_bounds, make_collective
from algorithms.bandwidth_bound import bandwidth_bound
from algorithms.bounds import Bounds
from algorithms.collective import EVERY, KINDS, Collective
from algorithms.group_cuts import by_groups
from algorithms.sizes import resized
from simulator.engine.engines import run_plan
from simulator.engine.lower import lower
from tests.algorithms.bound_examples import DGX1, a100, best_times, in_links, linked, mi250
from topologies import (
    Level,
    Shared,
    Tier,
    Topology,
    crossbar,
    fat_tree,
    full_mesh,
    leaf_spine,
    line,
    mesh,
    multilevel,
    ring,
    star,
)

KB = 1000


def bounds(kind: str, topology: Topology, size: int, **more: object) -> Bounds:
    collective = make_collective(kind, topology.ranks, size)
    return lower_bounds(collective, topology, model="cut_through", **more)  # type: ignore[arg-type]


def test_values_of_forestcoll_and_of_linear_programs() -> None:
    for name, best in best_times().items():
        topology, size = best.topology, best.topology.ranks * KB
        for kind, wanted in (
            ("broadcast", str(Fraction(topology.ranks, best.broadcast))),
            ("allgather", best.allgather),
            ("all_to_all", best.all_to_all),
        ):
            if wanted is None:
                continue
            found = bounds(kind, topology, size, effort="full")
            assert in_links(found.bandwidth, topology, size) == Fraction(wanted), (name, kind)
            assert found.how == "exact", (name, kind)
    # links that go both ways alike can be turned round
    for name in ("DGX-1", "ring 5", "line 4", "mesh 3x3", "torus 2x4", "Petersen", "two leaves"):
        best = best_times()[name]
        size = best.topology.ranks * KB
        found = bounds("reduce", best.topology, size), bounds("reduce_scatter", best.topology, size)
        assert found[0].bandwidth == pytest.approx(size / best.broadcast)
        assert in_links(found[1].bandwidth, best.topology, size) == Fraction(best.allgather), name


def test_best_cuts_of_an_all_to_all() -> None:
    # found by trying all cuts: they take as long as the linear program, but on a ring that goes one way
    for name, best in best_times().items():
        if best.all_to_all is None:
            continue
        ranks = best.topology.ranks
        found = by_groups(make_collective("all_to_all", ranks, ranks * KB), best.topology, np.arange(ranks))
        wanted = "16" if name == "ring one way" else best.all_to_all
        assert in_links(found.seconds, best.topology, ranks * KB) == Fraction(wanted), name
        assert found.side is not None


def test_farthest_pairs() -> None:
    for name, best in best_times().items():
        found = bounds("allgather", best.topology, 0)
        assert found.latency == 0.0
        slow = lower_bounds(
            make_collective("allgather", best.topology.ranks, 0),
            with_latency(best.topology),
            model="cut_through",
        )
        assert slow.latency == pytest.approx(best.diameter), name


def with_latency(topology: Topology) -> Topology:
    return replace(topology, links=replace(topology.links, latency=np.ones(len(topology.links))))


def test_rates_of_the_machines_that_forestcoll_ships() -> None:
    # https://github.com/liangyuRain/ForestColl: M / T in GB/s
    rates = {342.857: [a100(1), mi250(1)], 346.667: [a100(2)], 266.667: [a100(4)], 354.133: [mi250(2)]}
    for rate, topologies in rates.items():
        for topology in topologies:
            size = topology.ranks * 10**6
            found = bounds("allgather", topology, size)
            assert size / found.bandwidth / 1e9 == pytest.approx(rate, abs=5e-4)
            assert found.how == "exact"


def test_msccl_tools_bounds() -> None:
    # https://github.com/microsoft/msccl-tools, `msccl analyze rounds`: rounds a chunk, of M / N
    square = linked(4, [(0, 1, 1), (0, 2, 1), (1, 3, 1), (2, 3, 1)])
    dgx, hub = linked(8, DGX1), crossbar(4, 1.0)
    rounds = [
        (dgx, "allgather", "7/6"),
        (dgx, "reduce_scatter", "7/6"),
        (dgx, "gather", "7/6"),
        (square, "allgather", "3/2"),
        (square, "reduce_scatter", "3/2"),
        (hub, "allgather", "3"),
        # its own 7/24 is loose: a root of six links sends seven blocks
        (dgx, "scatter", "7/6"),
    ]
    for topology, kind, wanted in rounds:
        size = topology.ranks * KB
        assert in_links(bounds(kind, topology, size).bandwidth, topology, size) == Fraction(wanted)
    # of a chunk that is all of M
    assert bounds("broadcast", dgx, 6 * KB).bandwidth == KB
    assert bounds("broadcast", square, 6 * KB).bandwidth == 3 * KB


def by_all_cuts(collective: Collective, topology: Topology) -> Fraction:
    """Longest of all cuts, one by one; bandwidths are whole."""
    links, nodes = topology.links, len(topology.nodes)
    sides = np.arange(1 << nodes)[:, None] >> np.arange(nodes) & 1 == 1
    ranks = sides[:, : collective.ranks]
    must = np.zeros(len(sides), dtype=np.int64)
    for size, source, target in zip(collective.sizes, collective.source, collective.target, strict=True):
        starts = ranks.any(axis=1) if source == EVERY else ranks[:, source]
        ends = ~ranks.all(axis=1) if target == EVERY else ~ranks[:, target]
        must += size * (starts & ends)
    can = (sides[:, links.src] & ~sides[:, links.dst]) @ links.bandwidth.astype(np.int64)
    pairs = set(zip(must[must > 0].tolist(), can[must > 0].tolist(), strict=True))
    return max((Fraction(*pair) for pair in pairs), default=Fraction(0))


def test_the_longest_of_all_cuts_is_found() -> None:
    rng = np.random.default_rng(3)
    for case in range(30):
        ranks = int(rng.integers(2, 7))
        wires = [(a, b, float(rng.integers(1, 9))) for a in range(ranks) for b in range(ranks) if a != b]
        # a ring keeps them together
        kept = [wire for wire in wires if wire[1] == (wire[0] + 1) % ranks or rng.random() < 0.3]
        topology = linked(ranks, kept, both=False)
        for kind in KINDS:
            if kind in ("barrier", "all_to_all"):
                continue
            size = int(rng.choice([1, 5, 64, 1001]))
            collective = make_collective(kind, ranks, size, root=case % ranks)
            found = bandwidth_bound(collective, topology, np.arange(ranks))
            wanted = by_all_cuts(collective, topology)
            if kind == "allreduce":
                # what all must send together may take longer than any cut
                assert found.seconds >= wanted
                assert found.cut is None or found.seconds == wanted
            else:
                assert found.seconds == wanted, (case, kind)
                assert found.how == "exact"


def test_uneven_shares_and_switches_by_all_cuts() -> None:
    sizes = [5, 0, 100, 7]
    for topology in (star(4, 3.0), leaf_spine(2, 2, 1, 3.0, uplink=Tier(2.0)), line(4, 2.0)):
        for kind in ("allgather", "reduce_scatter", "scatter", "gather"):
            collective = resized(make_collective(kind, 4, 112), sizes)
            found = bandwidth_bound(collective, topology, np.arange(4))
            assert found.seconds == by_all_cuts(collective, topology), (topology.kind, kind)


def test_where_ranks_look_the_same_but_links_do_not() -> None:
    # cards of four with slow links between them: a whole card is cut off, not a rank
    levels = [Level("card", 4, "ring", 16.0), Level("box", 3, "ring", 1.0)]
    topology = multilevel(levels)
    for kind, seconds in (("allgather", Fraction(8, 8)), ("broadcast", Fraction(12, 8))):
        collective = make_collective(kind, 12, 12)
        found = bandwidth_bound(collective, topology, np.arange(12))
        assert found.seconds == seconds == by_all_cuts(collective, topology)
        assert found.cut is not None
        assert len(found.cut.ranks) == 4


def test_ranks_that_do_not_take_part_pass_on() -> None:
    # a ring of six, of which 0, 2 and 3 exchange blocks of 10 bytes: each gets 20 over two links
    collective = make_collective("allgather", 3, 30)
    found = bandwidth_bound(collective, ring(6, 1.0), np.array([0, 2, 3]))
    assert found.seconds == 10
    # from 0 to 3 both ways round a ring
    one = make_collective("send_recv", 2, 30)
    assert bandwidth_bound(one, ring(6, 1.0), np.array([0, 3])).seconds == 15
    assert bandwidth_bound(one, line(6, 1.0), np.array([0, 3])).seconds == 30


def test_an_allreduce_is_not_a_reduce_scatter_and_an_allgather() -> None:
    # down a line and back: a chain of sums and a chain of copies overlap, M over every link each way
    found = bounds("allreduce", line(8, 1.0), 8 * KB)
    assert (found.bandwidth, found.composed) == (8 * KB, 14 * KB)
    assert found.how != "exact"
    # on a ring, what all must send together is just what the two take
    found = bounds("allreduce", ring(8, 1.0), 8 * KB)
    assert (found.bandwidth, found.composed, found.how) == (7 * KB, 7 * KB, "exact")
    assert bounds("allgather", ring(8, 1.0), 8 * KB).composed is None


def test_cards_with_slow_uplinks_must_tell_each_other_twice() -> None:
    # four cards of four: 2 (4 - 1) M leave them in all, over an uplink of 1 each, where a cut needs M
    levels = [Level("card", 4, "full_mesh", 64.0), Level("box", 4, "switch", 1.0, uplink=Shared(1))]
    found = bounds("allreduce", multilevel(levels), 16 * KB)
    assert found.bandwidth == 24 * KB
    assert found.composed == 24 * KB
    assert bounds("allgather", multilevel(levels), 16 * KB).bandwidth == 12 * KB


def test_switches_that_reduce_need_less() -> None:
    topology = crossbar(8, 1.0, switch="reduces")
    found = bounds("allreduce", topology, 8 * KB)
    assert (found.bandwidth, found.composed) == (8 * KB, None)
    assert found.cut is not None
    assert found.cut.text() == "rank 0 sends 8 kB over 1 link"


def test_what_attains_the_bound() -> None:
    # one byte a second and link: no latency, all that is left are the bytes
    cases = [
        ("bidirectional_ring", "allgather", ring(8, 1.0)),
        ("bidirectional_ring", "reduce_scatter", ring(8, 1.0)),
        ("bidirectional_ring", "allreduce", ring(8, 1.0)),
        ("ring", "allgather", ring(5, 1.0, direction="one")),
        ("direct", "all_to_all", full_mesh(6, 1.0)),
        ("direct", "reduce_scatter", full_mesh(6, 1.0)),
        ("direct", "allgather", full_mesh(6, 1.0)),
    ]
    for name, kind, topology in cases:
        schedule = build(name, kind, topology.ranks, topology.ranks * 20)
        found = lower_bounds(schedule.collective, topology, model="store_and_forward")
        assert found.how == "exact"
        assert run_plan(lower(schedule, topology)).seconds == found.best, (name, kind)


def test_a_known_cut_is_measured_and_none_looked_for() -> None:
    topology = linked(8, DGX1)
    found = bounds("allgather", topology, 8 * KB)
    again = bounds("allgather", topology, 8 * 2**20, cut=bounds("all_to_all", topology, 8 * KB).cut)
    assert found.cut is not None
    assert found.cut.seconds == found.bandwidth
    assert again.how == "a known cut"
    # a rank receives 7/8 of M over its six links; no worse where the cut is another's
    assert again.bandwidth == pytest.approx(7 * 2**20 / 6, rel=1e-12)


def test_large_topologies_fall_back_and_say_so() -> None:
    # 18 x 18 ranks that all look different, of which each pair would have to be looked at
    topology = mesh([18, 18], 1e9)
    found = bounds("all_to_all", topology, 324 * KB)
    assert found.how == "cuts of single ranks, groups and halves"
    assert found.bandwidth == pytest.approx(162 * 162 * KB / 18e9)
    # on a large ring uneven blocks count as the smallest of them
    even, uneven = (bounds("all_to_all", ring(256, 1e9), size) for size in (256 * KB, 256 * KB + 7))
    assert (even.how, even.bandwidth) == ("exact", pytest.approx(256 * 64 * KB / 2 / 1e9))
    assert uneven.how == "distances, cuts of groups and halves"
    assert uneven.bandwidth == pytest.approx(even.bandwidth, rel=1e-3)
    # one of two hosts on a switch stands for both
    tree = bounds("allgather", fat_tree(8, 50e9), 128 * 10**6)
    assert (tree.how, tree.bandwidth) == ("exact", pytest.approx(127e6 / 50e9))


def test_a_small_run_loads_neither_scipy_nor_numba() -> None:
    program = """
import sys
from algorithms.bounds import lower_bounds
from algorithms.collective import KINDS, make_collective
from topologies import fat_tree, mesh, torus
for topology in (mesh([4, 2], 1e9), torus([8, 8], 1e9), fat_tree(4, 1e9)):
    for kind in KINDS:
        collective = make_collective(kind, topology.ranks, 0 if kind == "barrier" else 1 << 20)
        lower_bounds(collective, topology, model="cut_through")
assert not {"scipy", "numba", "networkx"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)
