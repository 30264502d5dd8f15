"""Bruck, dissemination and sparbit: messages round by round, counted by hand or in Open MPI 5.0.11."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from algorithms import Schedule, ScheduleError, build, count, prove, rounds, totals
from algorithms.rounds import steps_of
from simulator.engine.lower import lower
from simulator.engine.network import Network
from simulator.engine.simpy_engine import run_simpy
from topologies import crossbar


def sent_by(schedule: Schedule, rank: int) -> list[list[tuple[int, list[int]]]]:
    """(destination, chunks) of a rank's messages, step by step."""
    return [
        [
            (int(schedule.dst[row]), sorted(schedule.chunks(row).tolist()))
            for row in range(start, stop)
            if schedule.src[row] == rank
        ]
        for start, stop in schedule.step_bounds()
    ]


def test_bruck_allgather_of_five() -> None:
    """Bruck et al. 1997: distances 1, 2, 4, and N - 4 = 1 block in the last round."""
    assert sent_by(build("bruck", "allgather", 5), 3) == [[(2, [3])], [(1, [3, 4])], [(4, [3])]]


def test_bruck_all_to_all_of_five() -> None:
    """Blocks for the ranks 1 and 3 further on move by 1, then those with a 2 in their way by 2, then by 4."""
    sent = sent_by(build("bruck", "all_to_all", 5), 0)
    # block s * 5 + d; the one from 4 to 2 has come from rank 4 in the first round
    assert sent == [[(1, [1, 3])], [(2, [2, 4 * 5 + 2])], [(4, [4])]]


@pytest.mark.parametrize(
    ("ranks", "messages", "moved"),
    [
        # Open MPI 5.0.11, alltoall 3 (modified Bruck) and allgather 2: messages of all, blocks sent by a rank
        (2, 2, 1),
        (3, 6, 2),
        (4, 8, 4),
        (5, 15, 5),
        (7, 21, 9),
        (8, 24, 12),
        (9, 36, 13),
        (10, 40, 15),
        (12, 48, 20),
        (15, 60, 28),
        (16, 64, 32),
    ],
)
def test_bruck_sends_as_open_mpi_does(ranks: int, messages: int, moved: int) -> None:
    exchange = count(build("bruck", "all_to_all", ranks, ranks))
    assert (exchange.transfers, exchange.bytes_sent_max) == (messages, moved)
    gather = count(build("bruck", "allgather", ranks, ranks))
    assert (gather.transfers, gather.bytes_sent_max) == (messages, ranks - 1)
    barrier = count(build("dissemination", "barrier", ranks))
    assert (barrier.transfers, barrier.bytes_sent_total) == (messages, 0)
    assert exchange.steps == gather.steps == barrier.steps == (ranks - 1).bit_length()


@pytest.mark.parametrize(
    ("ranks", "radix", "distances"),
    [
        (9, 3, [[1, 2], [3, 6]]),
        (8, 4, [[1, 2, 3], [4]]),
        (16, 4, [[1, 2, 3], [4, 8, 12]]),
        (5, 7, [[1, 2, 3, 4]]),
        (10, 3, [[1, 2], [3, 6], [9]]),
    ],
)
def test_a_radix_gives_fewer_rounds_of_more_messages(
    ranks: int, radix: int, distances: list[list[int]]
) -> None:
    """Distances i k^j below N, i = 1..k-1: an AllGather sends backwards, the others forwards."""
    for name, kind, direction in (
        ("bruck", "allgather", -1),
        ("bruck", "all_to_all", 1),
        ("dissemination", "barrier", 1),
    ):
        schedule = build(name, kind, ranks, radix=radix)
        sent = [[(direction * to) % ranks for to, _ in step] for step in sent_by(schedule, 0)]
        assert sent == distances


def test_bruck_reduce_scatter_is_the_allgather_backwards() -> None:
    schedule = build("bruck", "reduce_scatter", 6, 600)
    prove(schedule)
    assert [turn.sent for turn in rounds("bruck", "reduce_scatter", 6, 600) or ()] == [200, 200, 100]
    assert count(schedule).bytes_reduced_total == 5 * 600


@pytest.mark.parametrize("radix", [1, 0, -2])
@pytest.mark.parametrize(
    ("name", "kind"),
    [("bruck", "allgather"), ("dissemination", "barrier"), ("recursive_multiplying", "allreduce")],
)
def test_refuses_a_radix_below_two(name: str, kind: str, radix: int) -> None:
    for ask in (build, rounds):
        with pytest.raises(ScheduleError, match=f"a radix is 2 or more, found {radix}") as caught:
            ask(name, kind, 8, 0, radix=radix)
        assert caught.value.at == ("radix",)
    with pytest.raises(ScheduleError, match="a radix is 2 or more"):
        totals(name, kind, 8, radix=radix)


def test_a_reduce_scatter_of_bruck_has_radix_two() -> None:
    with pytest.raises(ScheduleError, match="has radix 2, found 3") as caught:
        build("bruck", "reduce_scatter", 8, radix=3)
    assert caught.value.at == ("radix",)


def test_sparbit_of_six() -> None:
    """Loch and Koslovski 2021: distances 4, 2, 1; a block that has come already is left out."""
    assert sent_by(build("sparbit", "allgather", 6), 5) == [
        [(3, [5])],
        [(1, [5])],
        [(0, [5]), (0, [3]), (0, [1])],
    ]


@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 7, 8, 12, 15, 16, 33])
def test_sparbit_takes_n_minus_one_messages_over_one_port(ranks: int) -> None:
    """Open MPI 5.0.11, allgather 7, on a machine with one port: N - 1 steps of a block."""
    schedule = build("sparbit", "allgather", ranks, 1000 * ranks)
    counts = count(schedule)
    assert counts.transfers == ranks * (ranks - 1)
    assert counts.bytes_sent_total == ranks * (ranks - 1) * 1000
    assert (
        counts.steps == steps_of(rounds("sparbit", "allgather", ranks, 0) or ()) == (ranks - 1).bit_length()
    )
    machine = crossbar(ranks, bandwidth=1e9, latency=0.0, overhead=1e-6)
    femtoseconds = run_simpy(lower(schedule, machine, Network("cut_through"))).time
    assert femtoseconds == (ranks - 1) * 2 * 10**9


def test_bruck_of_a_thousand_ranks() -> None:
    schedule = build("bruck", "all_to_all", 1024)
    assert len(schedule) == 10 * 1024
    assert (schedule.count == 512).all()
    for kind in ("allgather", "reduce_scatter"):
        prove(build("bruck", kind, 1000))


def test_totals_are_in_units_of_m() -> None:
    every = totals("bruck", "all_to_all", 5)
    assert every is not None
    assert (every.messages, every.sent) == (15, Fraction(5))
    np.testing.assert_array_equal(build("sparbit", "allgather", 1).src, [])
