"""Trees, by the numbers of Open MPI 5.0.11 and NCCL 2.30.7 and by hand counts."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pytest

from algorithms import ScheduleError, build, count, prove, rounds, totals
from algorithms.catalogue.double_tree import alternating_tree, second_players, second_players_below
from algorithms.catalogue.tree_shapes import (
    Tree,
    binary_tree,
    chain_tree,
    in_order_tree,
    knomial_tree,
    linear_tree,
    subtree_sizes,
)
from algorithms.order import association, keeps_order
from simulator.engine.network import Reduction
from tests.algorithms.one_port import alpha_steps, beta_term, is_price

WHOLE = ("linear", "binomial", "knomial", "binary_tree", "chain")


def children(tree: Tree) -> dict[int, list[int]]:
    """Children of every rank that has some, in the order in which they are served."""
    below: dict[int, list[int]] = {}
    for rank in np.argsort(tree.step, kind="stable").tolist():
        if rank != tree.root:
            below.setdefault(int(tree.parent[rank]), []).append(rank)
    return below


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (linear_tree(5), {0: [1, 2, 3, 4]}),
        (linear_tree(5, 2), {2: [1, 0, 3, 4]}),
        (linear_tree(5, 2, upwards=True), {2: [4, 3, 0, 1]}),
        (knomial_tree(8), {0: [4, 2, 1], 4: [6, 5], 2: [3], 6: [7]}),
        # drawn in Open MPI's coll_base_topo.c; it serves children of one power in rising order
        (knomial_tree(10, 3), {0: [9, 6, 3, 2, 1], 3: [5, 4], 6: [8, 7]}),
        (knomial_tree(10, 4), {0: [8, 4, 3, 2, 1], 4: [7, 6, 5], 8: [9]}),
        (binary_tree(7), {0: [1, 2], 1: [3, 5], 2: [4, 6]}),
        (in_order_tree(2), {1: [0]}),
        (in_order_tree(4), {3: [1, 2], 1: [0]}),
        (in_order_tree(9), {8: [3, 7], 7: [5, 6], 5: [4], 3: [1, 2], 1: [0]}),
        (chain_tree(4), {0: [1], 1: [2], 2: [3]}),
        (chain_tree(7, 4), {0: [1, 3, 5, 6], 1: [2], 3: [4]}),
        (chain_tree(7, 4, upwards=True), {0: [6, 5, 3, 1], 1: [2], 3: [4]}),
        (chain_tree(3, 4), {0: [1, 2]}),
        (knomial_tree(1), {}),
    ],
)
def test_whose_child_each_rank_is(tree: Tree, expected: dict[int, list[int]]) -> None:
    assert children(tree) == expected
    assert tree.fan_out == max(map(len, expected.values()), default=0)


def test_a_rank_serves_one_child_a_step_once_it_is_served() -> None:
    for ranks in range(1, 70):
        for tree in (knomial_tree(ranks), knomial_tree(ranks, 3), binary_tree(ranks), in_order_tree(ranks)):
            for parent, below in children(tree).items():
                first = int(tree.step[parent]) + 1
                assert tree.step[below].tolist() == list(range(first, first + len(below))), ranks


@pytest.mark.parametrize(
    ("tree", "steps"),
    [
        # Open MPI 5.0.11, N = 2, 3, 4, 5, 7, 8, 9, 10, 12, 15, 16
        ("knomial", [1, 2, 3, 4, 4, 4, 5, 5, 5, 6, 6]),
        ("binary_tree", [1, 2, 2, 3, 4, 4, 4, 4, 5, 6, 6]),
        ("split_binary_tree", [2, 3, 3, 4, 5, 5, 5, 5, 6, 7, 7]),
    ],
)
def test_steps_of_a_broadcast(tree: str, steps: list[int]) -> None:
    every = (2, 3, 4, 5, 7, 8, 9, 10, 12, 15, 16)
    assert [build(tree, "broadcast", n).steps for n in every] == steps


# Open MPI 5.0.11 in S segments, N = 2 ... 16: steps, and S times the bytes per M of the longest path
PIPELINED: list[tuple[str, str, dict[str, Any], list[int]]] = [
    ("chain", "broadcast", {"segments": 4}, [*range(4, 19)]),
    ("chain", "broadcast", {"segments": 8}, [*range(8, 23)]),
    ("chain", "reduce", {"segments": 4}, [*range(4, 19)]),
    ("chain", "reduce", {"segments": 8}, [*range(8, 23)]),
    ("chain", "broadcast", {"segments": 4, "fanout": 4}, [4, 8, 12, *[16] * 4, *[17] * 4, *[18] * 4]),
    ("chain", "broadcast", {"segments": 8, "fanout": 4}, [8, 16, 24, *[32] * 4, *[33] * 4, *[34] * 4]),
    ("binary_tree", "broadcast", {"segments": 4}, [4, 8, 8, 9, 9, *[10] * 4, *[11] * 4, 12, 12]),
    ("binary_tree", "broadcast", {"segments": 8}, [8, 16, 16, 17, 17, *[18] * 4, *[19] * 4, 20, 20]),
    ("binomial", "broadcast", {"segments": 4}, [4, 8, 8, *[12] * 4, *[16] * 8]),
]


@pytest.mark.parametrize(("name", "kind", "options", "steps"), PIPELINED)
def test_pipelines(name: str, kind: str, options: dict[str, Any], steps: list[int]) -> None:
    every = range(2, 17)
    assert [build(name, kind, n, **options).steps for n in every] == steps
    assert [alpha_steps(build(name, kind, n, **options)) for n in every] == steps
    betas = [beta_term(build(name, kind, n, 720720, **options)) for n in every]
    assert [beta * options["segments"] for beta in betas] == steps


# in Open MPI a segment is a quarter or an eighth of the vector, half or a quarter of a half
@pytest.mark.parametrize(
    ("segments", "steps"),
    [
        (2, [3, 5, 5, 6, 6, *[7] * 4, *[8] * 4, 9, 9]),
        (4, [5, 9, 9, 10, 10, *[11] * 4, *[12] * 4, 13, 13]),
    ],
)
def test_pipelined_halves(segments: int, steps: list[int]) -> None:
    schedules = [build("split_binary_tree", "broadcast", n, tree_segments=segments) for n in range(2, 17)]
    assert [schedule.steps for schedule in schedules] == steps
    assert [alpha_steps(schedule) for schedule in schedules] == steps


def test_split_halves_cross_over() -> None:
    # 0 -> 1 first half, 0 -> 2 second, 1 -> 3 first; then 1 and 2 exchange, and 0 -> 3 second
    schedule = build("split_binary_tree", "broadcast", 4)
    columns = (schedule.step, schedule.src, schedule.dst, schedule.first)
    moves = sorted(zip(*(column.tolist() for column in columns), strict=True))
    assert moves == [(0, 0, 1, 0), (1, 0, 2, 1), (1, 1, 3, 0), (2, 0, 3, 1), (2, 1, 2, 0), (2, 2, 1, 1)]


@pytest.mark.parametrize("kind", ["broadcast", "reduce"])
@pytest.mark.parametrize("name", WHOLE)
def test_a_pipeline_costs_its_closed_form(name: str, kind: str) -> None:
    reductions = [None, Reduction(512e9), Reduction(16e9, "streamed")] if kind == "reduce" else [None]
    for ranks, segments in product((1, 2, 3, 6, 8, 12, 16, 21), (3, 8)):
        schedule = build(name, kind, ranks, 720720, segments=segments)
        turns = rounds(name, kind, ranks, 720720, segments=segments)
        assert turns is not None
        assert all(is_price(turns, schedule, reduction) for reduction in reductions), (ranks, segments)


@pytest.mark.parametrize("kind", ["scatter", "gather", "barrier"])
@pytest.mark.parametrize("name", ["linear", "binomial", "knomial"])
def test_blocks_in_segments_cost_their_closed_form(name: str, kind: str) -> None:
    if (name, kind) == ("knomial", "barrier"):
        return
    size = 4 * 720720 * (kind != "barrier")
    for ranks, segments in product((1, 2, 5, 7, 8, 12, 16), (1, 4)):
        schedule = build(name, kind, ranks, size, segments=segments)
        prove(schedule)
        turns = rounds(name, kind, ranks, size, segments=segments)
        assert turns is not None
        assert is_price(turns, schedule), (ranks, segments)
        every = totals(name, kind, ranks, segments=segments)
        assert every is not None
        assert every.messages == len(schedule), (ranks, segments)
        assert every.sent * size == count(schedule).bytes_sent_total


@pytest.mark.parametrize(("ranks", "root"), [(5, 0), (5, 2), (5, 4), (2, 1)])
def test_linear_hears_its_neighbours_first(ranks: int, root: int) -> None:
    schedule = build("linear", "reduce", ranks, root=root)
    assert schedule.src.tolist() == [*range(root - 1, -1, -1), *range(root + 1, ranks)]
    assert keeps_order(schedule)


def test_linear_sums_from_the_root_outwards() -> None:
    assert association(build("linear", "reduce", 4, root=1), chunk=0, rank=1) == (((0, 1), 2), 3)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("binomial", {}),
        ("knomial", {"radix": 3}),
        ("knomial", {"radix": 5}),
        ("chain", {"fanout": 3}),
        ("chain", {"segments": 3}),
        ("in_order_binary_tree", {}),
    ],
)
def test_keeps_the_order_of_ranks(name: str, options: dict[str, Any]) -> None:
    for ranks in (*range(1, 18), 27, 31, 64):
        assert keeps_order(build(name, "reduce", ranks, **options)), ranks


@pytest.mark.parametrize("root", range(6))
def test_in_order_tree_hands_the_sum_to_the_root(root: int) -> None:
    schedule = build("in_order_binary_tree", "reduce", 6, root=root)
    prove(schedule)
    assert len(schedule) == (5 if root == 5 else 6)
    assert keeps_order(schedule)


# children at distance m are sent min(m, N - c) blocks
@pytest.mark.parametrize(
    ("ranks", "radix", "sizes"),
    [(6, 2, [6, 1, 2, 1, 2, 1]), (7, 3, [7, 1, 1, 3, 1, 1, 1]), (1, 2, [1])],
)
def test_a_scatter_sends_the_blocks_of_a_subtree(ranks: int, radix: int, sizes: list[int]) -> None:
    assert subtree_sizes(ranks, radix).tolist() == sizes
    schedule = build("knomial", "scatter", ranks, ranks, radix=radix)
    sent = dict(zip(schedule.dst.tolist(), schedule.sizes().tolist(), strict=True))
    assert sent == dict(enumerate(sizes[1:], start=1))


def test_bytes_of_a_binomial_scatter() -> None:
    # block i travels as many hops as i has bits: 0 1 1 2 1 2 2 of 7
    assert count(build("binomial", "scatter", 7, 700)).bytes_sent_total == 900


@pytest.mark.parametrize("ranks", [1, 2, 3, 8, 16])
def test_linear_sync_calls_every_rank(ranks: int) -> None:
    schedule = build("linear_sync", "gather", ranks)
    assert len(schedule) == 3 * (ranks - 1)
    assert alpha_steps(schedule) == schedule.steps == (2 * ranks - 1 if ranks > 1 else 0)
    calls = schedule.count == 0
    assert schedule.dst[calls].tolist() == list(range(1, ranks))
    assert set(schedule.src[calls].tolist()) <= {0}


# Open MPI 5.0.11, N = 2 ... 16
@pytest.mark.parametrize(
    ("name", "steps"), [("linear", [*range(2, 31, 2)]), ("binomial", [2, 4, 4, *[6] * 4, *[8] * 8])]
)
def test_barriers_go_up_and_down(name: str, steps: list[int]) -> None:
    barriers = [build(name, "barrier", n) for n in range(2, 17)]
    assert [alpha_steps(barrier) for barrier in barriers] == steps
    assert [len(barrier) for barrier in barriers] == [*range(2, 31, 2)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        # NCCL 2.30.7, parents of both trees for N = 2 ... 9
        ([-1, 0], [1, -1]),
        ([-1, 2, 0], [1, -1, 0]),
        ([-1, 2, 0, 2], [1, 3, 1, -1]),
        ([-1, 2, 4, 2, 0], [1, -1, 3, 0, 3]),
        ([-1, 2, 4, 2, 0, 4], [1, 5, 3, 1, 3, -1]),
        ([-1, 2, 4, 2, 0, 6, 4], [5, -1, 3, 5, 3, 1, 0]),
        ([-1, 2, 4, 2, 0, 6, 4, 6], [1, 3, 1, 7, 5, 3, 5, -1]),
        ([-1, 2, 4, 2, 8, 6, 4, 6, 0], [1, -1, 3, 5, 3, 0, 7, 5, 7]),
    ],
)
def test_double_trees_are_those_of_nccl(first: list[int], second: list[int]) -> None:
    ranks = len(first)
    schedule = build("double_binary_tree", "allreduce", ranks, 2)
    down = schedule.mode == 0
    for tree, expected in enumerate((first, second)):
        rows = down & (schedule.channel == tree)
        parent = [-1] * ranks
        for src, dst in zip(schedule.src[rows].tolist(), schedule.dst[rows].tolist(), strict=True):
            parent[dst] = src
        assert parent == expected


def test_a_rank_has_children_in_one_of_the_two_trees() -> None:
    for ranks in range(2, 66):
        inner = np.unique(np.delete(alternating_tree(ranks).parent, 0))
        twice = set(inner.tolist()) & set(second_players(ranks)[inner].tolist())
        assert len(twice) == ranks % 2
        assert set(inner.tolist()) & set(second_players_below(ranks)[inner].tolist()) == {0}, ranks


@pytest.mark.parametrize("ranks", [2, 3, 6, 9, 16])
def test_double_trees_send_half_of_the_vector_each(ranks: int) -> None:
    schedule = build("double_binary_tree", "broadcast", ranks, 100)
    assert set(schedule.sizes().tolist()) == {50}
    received = Counter(zip(schedule.dst.tolist(), schedule.first.tolist(), strict=True))
    assert received == Counter((rank, half) for rank in range(1, ranks) for half in (0, 1))
    assert max(Counter(schedule.src.tolist()).values()) == 2


@pytest.mark.parametrize(
    ("name", "kind", "options", "message"),
    [
        ("knomial", "broadcast", {"radix": 1}, "a radix is 2 or more, found 1"),
        ("chain", "reduce", {"fanout": 0}, "at least 1 chain, found 0"),
        ("binomial", "broadcast", {"segments": 0}, "at least 1 segment, found 0"),
        ("binomial", "reduce", {"segments": 32769}, "at most 32768 segments fit, found 32769"),
        ("linear", "scatter", {"segments": 0}, "at least 1 segment, found 0"),
        ("split_binary_tree", "broadcast", {"tree_segments": 0}, "at least 1 segment, found 0"),
    ],
)
def test_refuses(name: str, kind: str, options: dict[str, Any], message: str) -> None:
    for ask in (build, rounds):
        with pytest.raises(ScheduleError, match=message) as caught:
            ask(name, kind, 4, 64, **options)
        assert caught.value.at == tuple(options)
