"""Exchanges and one-hop collectives: partners, blocks and counts, by hand or as libraries were measured."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from algorithms import REDUCE, Schedule, ScheduleError, build, count, prove, rounds, totals
from algorithms.cells import distinct
from algorithms.order import Tree, association, keeps_order

MEASURED = (2, 3, 4, 5, 7, 8, 9, 10, 12, 15, 16)
"""Numbers of ranks of the Open MPI 5.0.11 runs that are quoted here; M divided evenly."""


def partners(schedule: Schedule, rank: int) -> list[list[int]]:
    """To whom a rank sends, step by step."""
    return [
        schedule.dst[start:stop][schedule.src[start:stop] == rank].tolist()
        for start, stop in schedule.step_bounds()
    ]


def blocks(schedule: Schedule, step: int, rank: int) -> list[int]:
    """Chunks that a rank sends in a step."""
    return sorted(
        chunk
        for row in np.flatnonzero((schedule.step == step) & (schedule.src == rank)).tolist()
        for chunk in schedule.chunks(row).tolist()
    )


def work(schedule: Schedule) -> tuple[int, Fraction, Fraction]:
    """Messages, and bytes sent and reduced in units of M."""
    counts, size = count(schedule), schedule.collective.size
    return (
        counts.transfers,
        Fraction(counts.bytes_sent_total, size),
        Fraction(counts.bytes_reduced_total, size),
    )


@pytest.mark.parametrize(
    ("ranks", "options", "expected"),
    [
        (4, {}, [[2], [3], [0]]),
        (4, {"partner": "xor"}, [[0], [3], [2]]),
        (6, {"partner": "xor"}, [[2], [3], [4], [5], [0]]),
    ],
)
def test_pairwise_partners(ranks: int, options: dict[str, Any], expected: list[list[int]]) -> None:
    for kind in ("all_to_all", "reduce_scatter"):
        assert partners(build("pairwise", kind, ranks, **options), 1) == expected


def test_neighbor_exchange_of_six() -> None:
    """Chen et al. 2005: one block to one side, then in turn to the other side the two that came last."""
    schedule = build("neighbor_exchange", "allgather", 6)
    assert partners(schedule, 2) == [[3], [1], [3]]
    assert partners(schedule, 3) == [[2], [4], [2]]
    assert [blocks(schedule, step, 2) for step in range(3)] == [[2], [2, 3], [0, 1]]
    assert [blocks(schedule, step, 3) for step in range(3)] == [[3], [2, 3], [4, 5]]


def test_an_odd_number_of_neighbours_is_a_ring() -> None:
    schedule = build("neighbor_exchange", "allgather", 5, 500)
    assert (schedule.algorithm, schedule.fallback, schedule.steps) == ("neighbor_exchange", "ring", 4)
    np.testing.assert_array_equal(schedule.dst, build("ring", "allgather", 5, 500).dst)


@pytest.mark.parametrize(
    ("ranks", "radix", "expected"),
    [
        # MPICH 5.0.2 prints (((40)1)(23)) for radix 2
        (5, 2, (((0, 4), 1), (2, 3))),
        (4, 2, ((0, 1), (2, 3))),
    ],
)
def test_recursive_multiplying_combines(ranks: int, radix: int, expected: Tree) -> None:
    assert association(build("recursive_multiplying", "allreduce", ranks, radix=radix), 0, 0) == expected


def test_recursive_multiplying_groups() -> None:
    """Sixteen ranks are two rounds of groups of four; of fifteen, eleven hand over to the first four."""
    assert partners(build("recursive_multiplying", "allreduce", 16), 6) == [[7, 4, 5], [10, 14, 2]]
    assert partners(build("recursive_multiplying", "allreduce", 15), 0) == [[], [1, 2, 3], [4, 8, 12]]
    turns = rounds("recursive_multiplying", "allreduce", 15, 100) or ()
    assert [turn.fan_in for turn in turns] == [3, 3, 0]
    doubling, twos = (
        count(build(name, "allreduce", 32, 64, **options))
        for name, options in (("recursive_doubling", {}), ("recursive_multiplying", {"radix": 2}))
    )
    assert doubling == twos


@pytest.mark.parametrize(
    ("row", "name", "kind", "options"),
    [
        # messages of all ranks; bytes that all send, and reduce, in units of M / N or M
        (
            "2 4 8 10 14 24 26 28 32 38 64 / 2 4 8 10 14 24 26 28 32 38 64 / 2 3 8 9 11 24 25 26 28 31 64",
            "recursive_doubling",
            "allreduce",
            {},
        ),
        (
            "4 8 16 20 28 48 52 56 64 76 128 / 2 9/2 6 17/2 27/2 14 33/2 19 24 63/2 30 / "
            "1 2 3 4 6 7 8 9 11 14 15",
            "rabenseifner",
            "allreduce",
            {"fold": "openmpi"},
        ),
        (
            "2 4 10 12 16 28 30 32 36 42 76 / 1 7/3 7/2 23/5 47/7 15/2 77/9 48/5 35/3 221/15 63/4 / "
            "1 2 3 4 6 7 8 9 11 14 15",
            "butterfly",
            "reduce_scatter",
            {},
        ),
        (
            "2 4 8 12 16 24 30 32 36 42 64 / 1 7/3 3 23/5 47/7 7 77/9 48/5 35/3 221/15 15 / "
            "1 2 3 4 6 7 8 9 11 14 15",
            "butterfly",
            "reduce_scatter",
            {"permute": "before"},
        ),
        (
            "2 6 12 20 42 56 72 90 132 210 240 / 1 2 3 4 6 7 8 9 11 14 15 / 0 0 0 0 0 0 0 0 0 0 0",
            "pairwise",
            "all_to_all",
            {},
        ),
    ],
)
def test_all_ranks_send_and_reduce_as_in_open_mpi(
    row: str, name: str, kind: str, options: dict[str, Any]
) -> None:
    columns = zip(*(part.split() for part in row.split(" / ")), strict=True)
    for ranks, (messages, sent, reduced) in zip(MEASURED, columns, strict=True):
        expected = (int(messages), Fraction(sent), Fraction(reduced))
        assert work(build(name, kind, ranks, 720720, **options)) == expected


@pytest.mark.parametrize(("ranks", "sent"), [(2, 1), (4, 5), (8, 17), (16, 49)])
def test_recursive_doubling_sends_all_that_the_other_side_needs(ranks: int, sent: int) -> None:
    """Open MPI 5.0.11, reduce_scatter_block 2: M (log2 N - (N-1)/N) of each rank."""
    schedule = build("recursive_doubling", "reduce_scatter", ranks, 720720)
    prove(schedule)
    assert work(schedule) == (ranks * schedule.steps, sent, sent)
    assert [len(blocks(schedule, step, 0)) for step in range(schedule.steps)] == [
        ranks - (1 << step) for step in range(schedule.steps)
    ]


@pytest.mark.parametrize("ranks", [5, 6, 7, 12, 23])
def test_reduce_scatters_that_keep_the_order_of_the_ranks(ranks: int) -> None:
    for name in ("butterfly", "recursive_doubling"):
        assert keeps_order(build(name, "reduce_scatter", ranks))
    assert not keeps_order(build("recursive_halving", "reduce_scatter", ranks))


def test_recursive_doubling_along_a_dimension_of_a_reduce_scatter_is_halving() -> None:
    options: dict[str, Any] = {"dims": [4, 2], "algorithms": ["recursive_doubling", "recursive_doubling"]}
    schedule = build("hierarchical", "reduce_scatter", 8, 800, **options)
    assert count(schedule).bytes_sent_total == 7 * 800
    assert count(build("hierarchical", "allgather", 8, 800, **options)).bytes_sent_total == 7 * 800


def test_butterfly_of_six() -> None:
    """Traeff 2005 with the lower ranks in pairs: 1 and 3 stand for two ranks each, 4 and 5 for themselves."""
    schedule = build("butterfly", "reduce_scatter", 6, 6)
    assert partners(schedule, 3) == [[], [1], [5], [], [4]]
    assert blocks(schedule, 1, 3) == [0, 1, 2, 3]
    # virtual rank 1 of 4 ends with block 2 read backwards: that of rank 4, who has those of 2 and 3
    assert partners(schedule, 4) == [[], [5], [1], [2], [3]]
    assert [blocks(schedule, step, 4) for step in range(1, 5)] == [[4, 5], [0, 1], [2], [3]]


@pytest.mark.parametrize(
    ("ranks", "steps"), [(2, 1), (3, 3), (4, 3), (5, 4), (7, 5), (8, 4), (9, 5), (10, 6)]
)
def test_butterfly_steps(ranks: int, steps: int) -> None:
    """Open MPI 5.0.11, reduce_scatter 4; where N = 2^k, reduce_scatter_block 4 takes log2 N."""
    assert build("butterfly", "reduce_scatter", ranks).steps == steps
    before = build("butterfly", "reduce_scatter", ranks, permute="before").steps
    assert before == (ranks.bit_length() - 1 if ranks in (2, 4, 8) else steps)


@pytest.mark.parametrize(
    ("ranks", "steps"), [(2, 2), (3, 5), (4, 4), (5, 7), (7, 7), (8, 6), (9, 9), (16, 8)]
)
def test_rabenseifner_folds_as_open_mpi_does(ranks: int, steps: int) -> None:
    """Open MPI 5.0.11: two swaps of half a vector, 2 floor(log2 N) steps, and a whole vector back."""
    schedule = build("rabenseifner", "allreduce", ranks, 720720, fold="openmpi")
    prove(schedule)
    assert schedule.steps == steps
    if schedule.fallback:
        # ranks 0 and 1 swap halves; rank 0 goes on with both
        assert partners(schedule, 1)[:2] == [[0], [0]]
        assert (schedule.mode[schedule.step == 0] == REDUCE).all()


def test_rabenseifner_on_one_port_at_five_ranks() -> None:
    """7 alpha + 3.5 M/beta, as Open MPI's log replays."""
    turns = rounds("rabenseifner", "allreduce", 5, 1000, fold="openmpi") or ()
    assert sum(turn.times for turn in turns) == 7
    assert sum(turn.times * turn.sent for turn in turns) == 3500
    # MPICH: (2f + 2) alpha + (2 (P - 1)/P + 2) M/beta
    turns = rounds("rabenseifner", "allreduce", 5, 1000, fold="mpich") or ()
    assert (sum(turn.times for turn in turns), sum(turn.times * turn.sent for turn in turns)) == (6, 3500)


@pytest.mark.parametrize(
    ("kind", "messages", "sent"),
    [
        ("all_to_all", 30, 5),
        ("reduce_scatter", 30, 5),
        ("allgather", 30, 5),
        ("allreduce", 30, 30),
        ("broadcast", 5, 5),
        ("reduce", 5, 5),
        ("scatter", 5, Fraction(5, 6)),
        ("gather", 5, Fraction(5, 6)),
        ("send_recv", 1, 1),
    ],
)
def test_direct_is_one_step(kind: str, messages: int, sent: Fraction) -> None:
    schedule = build("direct", kind, 6, 600)
    prove(schedule)
    assert schedule.steps == 1
    assert work(schedule)[:2] == (messages, sent)


@pytest.mark.parametrize(
    ("ranks", "options", "ends"),
    [
        (5, {}, (0, 1)),
        (5, {"root": 4}, (4, 0)),
        (5, {"root": 1, "peer": 3}, (1, 3)),
        (5, {"peer": 2}, (0, 2)),
    ],
)
def test_send_and_receive(ranks: int, options: dict[str, int], ends: tuple[int, int]) -> None:
    schedule = build("direct", "send_recv", ranks, 10, **options)
    prove(schedule)
    assert (schedule.src.tolist(), schedule.dst.tolist()) == ([ends[0]], [ends[1]])


def test_one_rank_has_nobody_to_send_to() -> None:
    with pytest.raises(ScheduleError, match="rank 2 cannot send to itself"):
        build("direct", "send_recv", 4, root=2, peer=2)
    assert len(build("direct", "send_recv", 1, 10)) == 0
    assert totals("direct", "send_recv", 1) == totals("direct", "reduce", 1)


@pytest.mark.parametrize("root", [0, 2, 5])
def test_direct_from_and_to_any_root(root: int) -> None:
    scatter, gather = (build("direct", kind, 6, 1001, root=root) for kind in ("scatter", "gather"))
    for schedule in (scatter, gather):
        prove(schedule)
    assert (scatter.src == root).all()
    assert (scatter.first == scatter.dst).all()
    assert (gather.dst == root).all()
    assert (gather.first == gather.src).all()


def test_two_shot_is_two_hops() -> None:
    schedule = build("two_shot", "allreduce", 6, 600)
    prove(schedule)
    assert schedule.steps == 2
    assert work(schedule) == (60, 10, 5)
    assert [turn.fan_in for turn in rounds("two_shot", "allreduce", 6, 600) or ()] == [5, 0]


def test_ring_all_to_all_forwards_until_home() -> None:
    schedule = build("ring", "all_to_all", 4, 4)
    prove(schedule)
    # rank 0 sends its blocks for 1, 2, 3; then rank 3's for 1, 2; then rank 2's for 1
    assert [blocks(schedule, step, 0) for step in range(3)] == [[1, 2, 3], [13, 14], [9]]
    assert work(schedule) == (12, Fraction(4 * 3, 2), 0)


@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_double_ring_barrier(ranks: int) -> None:
    """Open MPI 5.0.11, barrier 2: one message at a time, twice round."""
    schedule = build("ring", "barrier", ranks)
    prove(schedule)
    assert (len(schedule), schedule.steps) == (2 * ranks, 2 * ranks)
    assert schedule.src.tolist() == [*range(ranks), *range(ranks)]


@pytest.mark.parametrize("kind", ["allgather", "all_to_all", "barrier"])
def test_only_a_sum_on_a_ring_chooses_its_first_chunk(kind: str) -> None:
    with pytest.raises(ScheduleError, match="starts with each rank's own chunk"):
        build("ring", kind, 4, first_chunk=0)


def test_a_hybrid_does_not_ask_how_to_fold() -> None:
    schedule = build("rabenseifner", "allreduce", 6, 60, fold="openmpi", non_power_of_two="hybrid")
    assert schedule.fallback == "hybrid"


@pytest.mark.parametrize(
    ("name", "kind"), [("direct", "all_to_all"), ("direct", "allreduce"), ("two_shot", "allreduce")]
)
def test_a_million_messages(name: str, kind: str) -> None:
    """They are built, proven and counted within a second or so."""
    schedule = build(name, kind, 1024, 1024)
    prove(schedule)
    assert count(schedule).transfers == (2 if name == "two_shot" else 1) * 1024 * 1023


def test_distinct_values_in_rising_order() -> None:
    assert distinct(np.array([3, -1, 3, 0, -1])).tolist() == [-1, 0, 3]
    assert distinct(np.zeros(0, dtype=np.int64)).tolist() == []
