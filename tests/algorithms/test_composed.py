"""Broadcast and Reduce by way of blocks, and collectives by way of rank 0."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from algorithms import Platform, ScheduleError, assemble, build, closed_form, count, prove, rounds
from algorithms.catalogue.scattered import doubling_steps
from algorithms.collective import make_collective
from algorithms.order import keeps_order
from algorithms.rounds import steps_of
from simulator.engine.network import Reduction
from tests.algorithms.one_port import alpha_steps, beta_term, is_price, machine_time

RECURSIVE_DOUBLING: dict[str, Any] = {"allgather": "recursive_doubling"}


# Open MPI 5.0.11, bcast scatter_allgather: N = 2 ... 16
def test_steps_of_recursive_doubling_for_any_number_of_ranks() -> None:
    steps = [2, 5, 4, 8, 7, 8, 6, 11, 10, 10, 9, 11, 10, 11, 8]
    schedules = [build("scatter_allgather", "broadcast", n, **RECURSIVE_DOUBLING) for n in range(2, 17)]
    assert [alpha_steps(schedule) for schedule in schedules] == steps
    # among 11 ranks somebody who hands blocks on has been done with the scatter a step before rank 0
    assert [schedule.steps for schedule in schedules] == [steps[i] + (i == 9) for i in range(15)]


@pytest.mark.parametrize(
    ("ranks", "messages", "beta"),
    [
        # Open MPI 5.0.11; the scatter has N - 1 of the messages
        (2, 3, "1"),
        (3, 7, "2"),
        (4, 11, "3/2"),
        (5, 17, "13/5"),
        (7, 26, "16/7"),
        (9, 41, "26/9"),
        (12, 55, "5/2"),
        (15, 73, "38/15"),
        (16, 79, "15/8"),
    ],
)
def test_recursive_doubling_for_any_number_of_ranks(ranks: int, messages: int, beta: str) -> None:
    schedule = build("scatter_allgather", "broadcast", ranks, 720720, **RECURSIVE_DOUBLING)
    assert len(schedule) == messages
    assert beta_term(schedule) == Fraction(beta)


@pytest.mark.parametrize("ranks", [*range(1, 35), 63, 64, 65])
def test_recursive_doubling_sends_every_block_to_every_rank_once(ranks: int) -> None:
    schedule = assemble(make_collective("allgather", ranks, ranks), doubling_steps(ranks))
    prove(schedule)
    row, chunk = schedule.moves()
    arrived = Counter(zip(schedule.dst[row].tolist(), chunk.tolist(), strict=True))
    assert arrived == Counter(
        (rank, block) for rank in range(ranks) for block in range(ranks) if rank != block
    )


def test_five_ranks_hand_on_the_last_block() -> None:
    # 0 and 4 exchange; then 0 tells 2, and in the next step both tell their neighbours
    last = assemble(make_collective("allgather", 5, 5), doubling_steps(5))
    rows = [r for r in range(len(last)) if last.chunks(r).tolist() == [4]]
    assert [(int(last.src[r]), int(last.dst[r])) for r in rows] == [(4, 0), (0, 2), (0, 1), (2, 3)]


def test_there_is_no_closed_form_where_no_path_is_always_longest() -> None:
    # among 13 ranks the path of 11 messages is not that of 32/13 M: where alpha = M / beta, both are shorter
    schedule = build("scatter_allgather", "broadcast", 13, 720720, **RECURSIVE_DOUBLING)
    assert beta_term(schedule) == Fraction(32, 13)
    alpha = 720720e-9
    assert machine_time(schedule, 1e9, alpha) == (11 + Fraction(31, 13)) * Fraction(720720, 10**9)
    assert rounds("scatter_allgather", "broadcast", 13, 720720, **RECURSIVE_DOUBLING) is None
    assert rounds("scatter_allgather", "broadcast", 16, 720720, **RECURSIVE_DOUBLING) is not None


# Open MPI 5.0.11, bcast scatter_allgather_ring
@pytest.mark.parametrize(
    ("ranks", "messages", "steps", "beta"),
    [(2, 3, 2, "1"), (3, 8, 4, "4/3"), (4, 15, 5, "3/2"), (9, 80, 12, "16/9"), (16, 255, 19, "15/8")],
)
def test_scatter_and_ring(ranks: int, messages: int, steps: int, beta: str) -> None:
    schedule = build("scatter_allgather", "broadcast", ranks, 720720)
    assert (len(schedule), schedule.steps) == (messages, steps)
    assert beta_term(schedule) == Fraction(beta)


@pytest.mark.parametrize(
    ("fold", "steps"),
    [
        # 2f + 1 and, after an exchange of halves, 2f + 2: MPICH's comments, Open MPI 5.0.11
        ("mpich", [2, 3, 4, 5, 5, 5, 6, *[7] * 7, 8]),
        ("openmpi", [2, 4, 4, 6, 6, 6, 6, *[8] * 8]),
    ],
)
def test_steps_of_rabenseifners_reduce(fold: str, steps: list[int]) -> None:
    reduces = [build("reduce_scatter_gather", "reduce", n, fold=fold) for n in range(2, 17)]
    assert [alpha_steps(schedule) for schedule in reduces] == steps


@pytest.mark.parametrize(
    ("ranks", "messages", "sent", "most_reduced"),
    [
        # Open MPI 5.0.11
        (2, 3, "3/2", "1/2"),
        (3, 6, "3", "1"),
        (5, 14, "11/2", "5/4"),
        (8, 31, "17/2", "7/8"),
        (12, 43, "29/2", "11/8"),
        (16, 79, "17", "15/16"),
    ],
)
def test_what_open_mpis_reduce_moves(ranks: int, messages: int, sent: str, most_reduced: str) -> None:
    counts = count(build("reduce_scatter_gather", "reduce", ranks, 1600, fold="openmpi"))
    assert counts.transfers == messages
    assert counts.bytes_sent_total == Fraction(sent) * 1600
    assert counts.bytes_reduced_max == Fraction(most_reduced) * 1600


@pytest.mark.parametrize("ranks", [3, 5, 6, 7, 11, 16])
def test_price_of_mpichs_reduce(ranks: int) -> None:
    # (2f + 1) alpha + (2 (P-1)/P + 1) M/beta + (1 + (P-1)/P) M/gamma, by MPICH's comments
    p = 1 << (ranks.bit_length() - 1)
    folded = ranks > p
    turns = rounds("reduce_scatter_gather", "reduce", ranks, 720720)
    assert turns is not None
    share = Fraction(p - 1, p)
    alphas = 2 * (p.bit_length() - 1) + folded
    assert steps_of(turns) == alphas
    price = closed_form(turns, [Platform(latency=1, bandwidth=720720, reduction=7 * 720720)])
    assert price == alphas + 2 * share + folded + (share + folded) / 7
    schedule = build("reduce_scatter_gather", "reduce", ranks, 720720)
    assert is_price(turns, schedule, Reduction(512e9))


@pytest.mark.parametrize(
    ("name", "kind", "options", "messages", "steps", "beta"),
    [
        # Open MPI 5.0.11 among 16 ranks: allreduce 1 and 2, allgather 1, allgatherv 1, reduce_scatter 1
        ("reduce_broadcast", "allreduce", {"algorithms": ["linear", "linear"]}, 30, 30, "30"),
        (
            "reduce_broadcast",
            "allreduce",
            {"algorithms": ["binomial", "scatter_allgather"], **RECURSIVE_DOUBLING},
            94,
            12,
            "47/8",
        ),
        (
            "gather_broadcast",
            "allgather",
            {"algorithms": ["binomial", "scatter_allgather"], **RECURSIVE_DOUBLING},
            94,
            12,
            "45/16",
        ),
        ("gather_broadcast", "allgather", {"algorithms": ["linear", "linear"]}, 30, 30, "255/16"),
        ("reduce_then_scatter", "reduce_scatter", {"algorithms": ["binomial", "linear"]}, 30, 19, "79/16"),
        # two binomial trees, by hand: 4 + 4 steps; M, or 15/16 M, at every one of them in all
        ("reduce_broadcast", "allreduce", {}, 30, 8, "8"),
        ("gather_broadcast", "allgather", {}, 30, 8, "79/16"),
        ("reduce_then_scatter", "reduce_scatter", {}, 30, 8, "79/16"),
    ],
)
def test_by_way_of_rank_0(
    name: str, kind: str, options: dict[str, Any], messages: int, steps: int, beta: str
) -> None:
    schedule = build(name, kind, 16, 720720, **options)
    prove(schedule)
    assert (len(schedule), schedule.steps) == (messages, steps)
    assert beta_term(schedule) == Fraction(beta)
    assert alpha_steps(build(name, kind, 16, **options)) == steps


# Open MPI 5.0.11, allgather linear among 2, 3, 4, 5, 7 ranks
def test_a_gather_that_calls_and_a_chain() -> None:
    ways: dict[str, Any] = {"algorithms": ["linear_sync", "chain"]}
    schedules = [build("gather_broadcast", "allgather", n, **ways) for n in (2, 3, 4, 5, 7)]
    assert [alpha_steps(schedule) for schedule in schedules] == [4, 7, 10, 13, 19]
    assert [len(schedule) for schedule in schedules] == [4, 8, 12, 16, 24]


@pytest.mark.parametrize("ranks", [1, 2, 3, 6, 8, 13])
@pytest.mark.parametrize("first", ["double_binary_tree", "reduce_scatter_gather", "chain", "direct"])
def test_parts_may_cut_the_vector_their_own_way(first: str, ranks: int) -> None:
    for second in ("split_binary_tree", "scatter_allgather", "double_binary_tree"):
        prove(build("reduce_broadcast", "allreduce", ranks, 1001, algorithms=[first, second]))
    prove(build("reduce_then_scatter", "reduce_scatter", ranks, 1001, algorithms=[first, "knomial"]))


def test_the_order_is_that_of_the_reduce() -> None:
    assert keeps_order(build("reduce_broadcast", "allreduce", 6, algorithms=["chain", "scatter_allgather"]))
    unordered = build("reduce_broadcast", "allreduce", 6, algorithms=["reduce_scatter_gather", "binomial"])
    assert not keeps_order(unordered)
    assert unordered.fallback == "fold"


@pytest.mark.parametrize(
    ("name", "kind", "options", "message", "at"),
    [
        (
            "scatter_allgather",
            "broadcast",
            {"allgather": "binomial"},
            '"binomial" does no allgather',
            ("allgather",),
        ),
        (
            "reduce_broadcast",
            "allreduce",
            {"algorithms": ["binomial"]},
            "a reduce and a broadcast are needed, found 1",
            ("algorithms",),
        ),
        (
            "reduce_broadcast",
            "allreduce",
            {"algorithms": ["binomial", "ring"]},
            '"ring" does no broadcast',
            ("algorithms", 1),
        ),
        (
            "gather_broadcast",
            "allgather",
            {"algorithms": ["chain", "binomial"]},
            '"chain" does no gather',
            ("algorithms", 0),
        ),
        (
            "gather_broadcast",
            "allgather",
            {"allgather": "ring"},
            "no scatter_allgather among the algorithms",
            ("allgather",),
        ),
        (
            "reduce_then_scatter",
            "reduce_scatter",
            {"allgather": "ring"},
            "takes no allgather",
            ("allgather",),
        ),
        (
            "reduce_scatter_gather",
            "reduce",
            {"fold": "nobody"},
            "fold must be mpich or openmpi, found 'nobody'",
            ("fold",),
        ),
    ],
)
def test_refuses(
    name: str, kind: str, options: dict[str, Any], message: str, at: tuple[str | int, ...]
) -> None:
    for ask in (build, rounds):
        with pytest.raises(ScheduleError, match=message) as caught:
            ask(name, kind, 8, 64, **options)
        assert caught.value.at == at
