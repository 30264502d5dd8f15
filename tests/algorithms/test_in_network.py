"""Sums in switches: counts by hand, trees of topologies, and times link by link."""

from __future__ import annotations

from fractions import Fraction

import pytest

from algorithms import Platform, ScheduleError, build, closed_form, count, prove, rounds, totals
from algorithms.bounds import lower_bounds
from algorithms.catalogue.in_network import BOTH_WAYS
from algorithms.rounds import steps_of
from simulator.engine.lower import lower
from simulator.engine.network import Network, Reduction
from simulator.engine.simpy_engine import run_simpy
from topologies import CustomLink, CustomNodes, Topology, crossbar, custom, fat_tree, leaf_spine
from topologies.errors import TopologyError
from topologies.trees import aggregation_tree

B, ALPHA = 50e9, 1e-6


def seconds(
    topology: Topology, kind: str, size: int, reduction: Reduction | None = None, segments: int = 1
) -> float:
    tree = aggregation_tree(topology)
    schedule = build("in_network", kind, topology.ranks, size, tree=tree, segments=segments)
    prove(schedule)
    return run_simpy(lower(schedule, topology, Network("cut_through"), reduction)).seconds


def test_a_switch_takes_and_gives_each_vector_once() -> None:
    counts = count(build("in_network", "allreduce", 8, 1000))
    assert (counts.steps, counts.depth, counts.transfers) == (2, 2, 16)
    # half of what a ring's rank sends for large N, and nothing is reduced at a rank
    assert (counts.bytes_sent_max, counts.bytes_sent_total) == (1000, 16000)
    assert (counts.bytes_reduced_max, counts.bytes_reduced_total) == (0, 8000)


@pytest.mark.parametrize("segments", [1, 4])
def test_time_on_one_switch_by_hand(segments: int) -> None:
    # up and down: two alphas and two holds; with segments the way down follows the way up
    size = 4 * 10**6
    hold = size / B / segments
    expected = 2 * ALPHA + (segments + 1) * hold
    topology = crossbar(8, B, ALPHA, switch="reduces")
    assert seconds(topology, "allreduce", size, segments=segments) == pytest.approx(expected, rel=1e-9)
    turns = rounds("in_network", "allreduce", 8, size, segments=segments)
    assert turns is not None
    assert float(closed_form(turns, [Platform(ALPHA, B)])) == pytest.approx(expected, rel=1e-9)


def test_a_switch_reduces_for_nothing_and_a_root_does_not() -> None:
    topology, gamma, size = crossbar(4, B, ALPHA, switch="reduces"), 10e9, 10**6
    free = seconds(topology, "allreduce", size)
    assert seconds(topology, "allreduce", size, Reduction(gamma)) == free
    # the root of a Reduce adds its own part to the switch's sum
    assert seconds(topology, "reduce", size, Reduction(gamma)) == pytest.approx(free + size / gamma, rel=1e-9)


@pytest.mark.parametrize(
    ("topology", "height", "edges"),
    [
        (crossbar(5, B, ALPHA, switch="reduces"), 1, 5),
        # two leaves under one spine: the other spine takes no part
        (leaf_spine(2, 3, 2, B, ALPHA, switch="reduces"), 2, 8),
        # every host, edge and one aggregation switch of each pod, under one core
        (fat_tree(4, B, ALPHA, switch="reduces"), 3, 16 + 8 + 4),
    ],
)
def test_trees_of_topologies(topology: Topology, height: int, edges: int) -> None:
    tree = aggregation_tree(topology)
    assert tree is not None
    assert sum(parent >= 0 for parent in tree) == edges
    schedule = build("in_network", "allreduce", topology.ranks, 64, tree=tree)
    assert (schedule.steps, len(schedule)) == (2 * height, 2 * edges)
    found = totals("in_network", "allreduce", topology.ranks, tree=tree)
    assert found is not None
    assert found.sent == Fraction(2 * edges)
    run_simpy(lower(schedule, topology, Network("cut_through", direct_links_only=True)))


def test_bound_is_one_vector_in_and_out() -> None:
    size = 8 * 10**6
    forwards, reduces = (crossbar(8, B, switch=word) for word in ("forwards", "reduces"))  # type: ignore[arg-type]
    collective = build("in_network", "allreduce", 8, size).collective
    bounds = [
        lower_bounds(collective, topology, model="cut_through", reduction=1e9)
        for topology in (forwards, reduces)
    ]
    # 2 (N - 1)/N M/beta without a switch that reduces, M/beta with one; its sums cost nothing
    assert [b.bandwidth for b in bounds] == pytest.approx([14 / 8 * size / B, size / B])
    assert bounds[0].reduction == pytest.approx(7 / 8 * size / 1e9)
    assert bounds[1].reduction == 0.0


@pytest.mark.parametrize("ranks", [2, 8, 64])
@pytest.mark.parametrize("kind", ["broadcast", "reduce", "allreduce", "barrier"])
def test_nothing_is_faster_than_the_bound_where_overheads_count(kind: str, ranks: int) -> None:
    # up and down: two overheads, whatever N; log2 N of them would be needed without the switch
    topology = crossbar(ranks, B, overhead=ALPHA, switch="reduces")
    schedule = build("in_network", kind, ranks)
    bounds = lower_bounds(schedule.collective, topology, model="cut_through")
    time = run_simpy(lower(schedule, topology, Network("cut_through"))).seconds
    assert time == pytest.approx(2 * ALPHA)
    assert bounds.best <= time


def test_switches_that_do_not_reduce_are_refused() -> None:
    schedule = build("in_network", "allreduce", 4, 64)
    with pytest.raises(TopologyError, match="reduces in switch switch, but there is none that reduces"):
        lower(schedule, crossbar(4, B))
    assert aggregation_tree(crossbar(4, B)) is None


def test_no_tree_where_only_some_ranks_are_under_the_switch() -> None:
    links = [CustomLink(0, "a", B), CustomLink(1, "a", B), CustomLink(1, 2, B)]
    assert aggregation_tree(custom(CustomNodes(3, ["a"], ["a"]), links)) is None
    one_way = [CustomLink(0, "a", B), CustomLink(1, "a", B, direction="one")]
    assert aggregation_tree(custom(CustomNodes(2, ["a"], ["a"]), one_way)) is None


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ([3, 3], "names the parents of 3 ranks and of their switches, found 2"),
        ([3, 3, 3], "names the parents of 3 ranks and of their switches, found 3"),
        ([3, 3, 2, -1], "the parent of node 2 must be a switch, found 2"),
        ([3, 3, 4, -1], "the parent of node 2 must be a switch, found 4"),
        ([3, 3, -1, -1], "the parent of node 2 must be a switch, found -1"),
        ([3, 3, 4, -1, -1], "the ranks must meet in one switch, found 2 at the top"),
        ([3, 3, 3, 4, 3], "switch 3 is above itself"),
    ],
)
def test_wrong_trees_are_refused(tree: list[int], message: str) -> None:
    with pytest.raises(ScheduleError, match=message) as caught:
        build("in_network", "allreduce", 3, 64, tree=tree)
    assert caught.value.at[0] == "tree"


@pytest.mark.parametrize("kind", ["broadcast", "reduce", "allreduce", "barrier"])
def test_a_chain_of_switches_higher_than_python_calls_itself(kind: str) -> None:
    # rank 0 under the lowest of 2,000 switches, rank 1 under the highest
    height = 2000
    tree = [2, height + 1, *range(3, height + 2), -1]
    schedule = build("in_network", kind, 2, tree=tree)
    prove(schedule)
    turns = rounds("in_network", kind, 2, 0, tree=tree)
    assert turns is not None
    assert schedule.steps == steps_of(turns) == (2 * height if kind in BOTH_WAYS else height + 1)
    found = totals("in_network", kind, 2, tree=tree)
    assert found is not None
    assert len(schedule) == found.messages
