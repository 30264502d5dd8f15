"""Swing: peers of the reference implementation, what a message holds, and the paper's congestion."""

from __future__ import annotations

from collections import Counter
from math import prod
from typing import Any

import pytest

from algorithms import (
    Platform,
    Schedule,
    ScheduleError,
    build,
    closed_form,
    congestion_factor,
    count,
    rounds,
    totals,
)
from algorithms.catalogue.swing import meetings
from algorithms.catalogue.swing_peers import swing_distance, swing_peers, swing_turns
from simulator.engine.lower import lower
from simulator.engine.network import Reduction
from simulator.engine.simpy_engine import run_simpy
from topologies import full_mesh, ring, torus


# libswing (the authors' library), rank 0
@pytest.mark.parametrize(
    ("ranks", "peers"),
    [
        (2, [1]),
        (4, [1, 3]),
        (6, [1, 5, 3]),
        (8, [1, 7, 3]),
        (10, [1, 9, 3, 5]),
        (12, [1, 11, 3, 7]),
        (16, [1, 15, 3, 11]),
    ],
)
def test_peers_of_rank_0(ranks: int, peers: list[int]) -> None:
    assert [int(peer[0]) for peer in swing_peers([ranks])] == peers
    # mirrored: the same distances to the other side
    assert [int(peer[0]) for peer in swing_peers([ranks], way=-1)] == [ranks - peer for peer in peers]
    schedule = build("swing", "reduce_scatter", ranks, ranks)
    assert schedule.dst[schedule.src == 0].tolist() == peers


def test_distances() -> None:
    # the paper: delta(s) = 1, 1, 3, 5, 11, 21, 43, to the right and to the left in turns
    assert [swing_distance(s) for s in range(8)] == [1, -1, 3, -5, 11, -21, 43, -85]


@pytest.mark.parametrize("ranks", [*range(2, 40, 2), 64, 100])
def test_partners_are_each_others(ranks: int) -> None:
    for peer in swing_peers([ranks]):
        assert peer[peer].tolist() == list(range(ranks))
        assert ((peer - range(ranks)) % 2 == 1).all()


def test_dimensions_take_turns() -> None:
    # by hand on 4 x 4: right, up, left round, down round; the mirror image the other way
    assert [int(peer[0]) for peer in swing_peers([4, 4])] == [1, 4, 3, 12]
    assert [int(peer[0]) for peer in swing_peers([4, 4], start=1)] == [4, 1, 12, 3]
    assert [int(peer[0]) for peer in swing_peers([4, 4], way=-1)] == [3, 12, 1, 4]
    # a short dimension is through before the others
    assert swing_turns([2, 16, 4]) == [(0, 0), (1, 0), (2, 0), (1, 1), (2, 1), (1, 2), (1, 3)]
    assert swing_turns([2, 16], start=1) == [(1, 0), (0, 0), (1, 1), (1, 2), (1, 3)]


def held(schedule: Schedule, src: int) -> list[set[int]]:
    """Chunks of every message of a rank."""
    return [set(schedule.chunks(row).tolist()) for row in range(len(schedule)) if schedule.src[row] == src]


def walks(ranks: int) -> Counter[int]:
    """Where rank 0's blocks would be sent if nothing were looked at but who reaches whom."""

    def go(rank: int, first: int) -> None:
        for step in range(first, len(peers)):
            there = int(peers[step][rank])
            found[there] += 1
            go(there, step + 1)

    peers, found = swing_peers([ranks]), Counter[int]()
    go(0, 0)
    return found


@pytest.mark.parametrize(("ranks", "slots"), [(4, 3), (6, 7), (8, 7), (10, 15), (12, 15), (16, 15)])
def test_no_block_is_sent_twice(ranks: int, slots: int) -> None:
    # the paper's N = 6: 7 slots for 5 other blocks
    assert walks(ranks).total() == slots
    messages = held(build("swing", "reduce_scatter", ranks, ranks), 0)
    sent = Counter(chunk for message in messages for chunk in message)
    assert sent == Counter(range(1, ranks))


def test_ten_ranks_would_send_their_own_block() -> None:
    assert walks(10)[0] > 0
    assert not any(0 in message for message in held(build("swing", "reduce_scatter", 10, 10), 0))


def test_a_block_that_could_leave_twice_leaves_later() -> None:
    # by hand for N = 6: 0 reaches 1, 2, 4, 5 by way of 1, then 5 and 2 by way of 5, then 3
    assert held(build("swing", "reduce_scatter", 6, 6), 0) == [{1, 4}, {2, 5}, {3}]
    assert held(build("swing", "reduce_scatter", 8, 8), 0) == [{1, 2, 5, 6}, {4, 7}, {3}]


def test_the_last_of_seven_meets_three_two_and_one() -> None:
    # the paper's figure 3
    assert meetings(6) == [3, 2, 1]
    for kind, met in (("reduce_scatter", [3, 2, 1]), ("allgather", [1, 2, 3])):
        schedule = build("swing", kind, 7, 7)
        for end, other in ((schedule.src, schedule.dst), (schedule.dst, schedule.src)):
            assert [int((schedule.step[end == 6] == step).sum()) for step in range(3)] == met
            assert sorted(other[end == 6].tolist()) == list(range(6))
        assert (schedule.count[(schedule.src == 6) | (schedule.dst == 6)] == 1).all()


@pytest.mark.parametrize(
    ("ranks", "steps"), [(2, 1), (3, 1), (4, 2), (5, 2), (6, 3), (7, 3), (8, 3), (9, 3), (10, 4), (17, 4)]
)
def test_steps(ranks: int, steps: int) -> None:
    # ceil(log2 N) a phase, of N - 1 where N is odd
    assert build("swing", "reduce_scatter", ranks, 64).steps == steps
    assert build("swing", "allreduce", ranks, 64).steps == 2 * steps


@pytest.mark.parametrize("ranks", [2, 3, 6, 7, 8, 10, 11, 16, 22, 31, 32])
@pytest.mark.parametrize("copies", ["one", "all"])
def test_every_rank_sends_as_little_as_can_be(ranks: int, copies: str) -> None:
    counts = count(build("swing", "allreduce", ranks, 2 * ranks, copies=copies))
    assert counts.bytes_sent_max == 2 * 2 * (ranks - 1)
    assert counts.bytes_reduced_max == 2 * (ranks - 1)


@pytest.mark.parametrize(("ranks", "steps"), [(2, 1), (3, 3), (4, 2), (6, 4), (8, 3), (12, 5), (16, 4)])
def test_whole_vectors(ranks: int, steps: int) -> None:
    # log2 N; folded f + 2
    schedule = build("swing", "allreduce", ranks, 100, variant="latency")
    assert schedule.steps == steps
    assert (schedule.sizes() == 100).all()
    assert schedule.fallback == (None if ranks & (ranks - 1) == 0 else "fold")


# the sum of delta(s // D) / 2^(s + 1) over log2 p steps: the paper's congestion deficiency, of which
# each of 2 D copies has its share
XI = [
    ([4, 4], 0.9375),
    ([8, 8], 1.0781),
    ([16, 16], 1.1367),
    ([4, 4, 4], 0.9844),
    ([8, 8, 8], 1.0254),
    ([4, 4, 4, 4], 0.9961),
]


@pytest.mark.parametrize(("dims", "xi"), XI, ids=str)
def test_congestion_deficiency(dims: list[int], xi: float) -> None:
    ranks, copies = prod(dims), 2 * len(dims)
    schedule = build("swing", "reduce_scatter", ranks, ranks * copies, dims=dims, copies="all")
    found = congestion_factor(schedule, torus(dims, 1e9))
    assert found is not None
    assert found * copies == pytest.approx(xi, abs=5e-5)


def test_a_ring_is_less_congested_than_by_halving() -> None:
    # 16 ranks, shares M / 2^(s + 1). Swing: evens go delta right, odds left, (delta + 1) / 2 on a link,
    # 1/2 + 1/4 + 2/8 + 3/16. Halving, far ones first: 8 / 2 both ways, then 4, 2, 1: 4/2 + 4/4 + 2/8 + 1/16
    swing, halving = (
        congestion_factor(build(name, "reduce_scatter", 16, 1600), ring(16, 1e9))
        for name in ("swing", "recursive_halving")
    )
    assert swing == 1 / 2 + 1 / 4 + 2 / 8 + 3 / 16
    assert halving == 4 / 2 + 4 / 4 + 2 / 8 + 1 / 16


def test_copies_share_the_links_of_a_torus() -> None:
    # every message of 4 x 4 goes one hop: with 4 copies all 4 links of a rank are busy in every step
    one, every = (
        congestion_factor(
            build("swing", "allreduce", 16, 1600, dims=[4, 4], copies=copies), torus([4, 4], 1e9)
        )
        for copies in ("one", "all")
    )
    assert (one, every) == (2 * 15 / 16, 2 * 15 / 64)


@pytest.mark.parametrize("kind", ["reduce_scatter", "allgather", "allreduce"])
@pytest.mark.parametrize("ranks", [3, 5, 7, 9, 11, 15, 17, 23])
def test_the_blocks_of_the_last_rank_hide(ranks: int, kind: str) -> None:
    # on a full mesh they go beside the others' messages: ceil(log2(N - 1)) steps, M (N - 2) / N bytes
    mesh, reducing = full_mesh(ranks, 1e9, 1e-6), Reduction(64e9)
    schedule = build("swing", kind, ranks, 640 * ranks)
    turns = rounds("swing", kind, ranks, 640 * ranks)
    assert turns is not None
    phases = 2 if kind == "allreduce" else 1
    form = closed_form(turns, [Platform(1e-6, 1e9)])
    expected = phases * ((ranks - 2).bit_length() * 1e-6 + 640 * (ranks - 2) / 1e9)
    assert float(form) == pytest.approx(expected, rel=1e-12)
    assert run_simpy(lower(schedule, mesh)).time * 1e-15 == pytest.approx(expected, rel=1e-12)
    # where all must reduce, they hide as long as reducing is quick
    form = closed_form(turns, [Platform(1e-6, 1e9, reduction=64e9)])
    time = run_simpy(lower(schedule, mesh, reduction=reducing)).time * 1e-15
    assert time == pytest.approx(float(form), rel=1e-12)


@pytest.mark.parametrize(
    ("kind", "ranks", "options", "message", "at"),
    [
        ("allgather", 8, {"dims": [4, 3]}, r"dims \[4, 3\] do not multiply to 8 ranks", "dims"),
        ("allgather", 12, {"dims": [4, 3]}, "needs dims that are even, found 3", "dims"),
        (
            "allreduce",
            24,
            {"dims": [4, 6], "variant": "latency"},
            "needs dims that are powers of two, found 6",
            "dims",
        ),
        ("allgather", 8, {"variant": "latency"}, "only an allreduce moves whole vectors", "variant"),
        ("allgather", 8, {"copies": "two"}, "copies must be one or all", "copies"),
    ],
)
def test_refuses(kind: str, ranks: int, options: dict[str, Any], message: str, at: str) -> None:
    for ask in (build, rounds):
        with pytest.raises(ScheduleError, match=message) as caught:
            ask("swing", kind, ranks, 64, **options)
        assert caught.value.at == (at,)
    with pytest.raises(ScheduleError, match=message):
        totals("swing", kind, ranks, **options)


def test_a_dimension_of_one_rank_changes_nothing() -> None:
    schedules = [
        build("swing", "allreduce", 7, 700, **options) for options in ({}, {"dims": [7]}, {"dims": [1, 7, 1]})
    ]
    assert len({(tuple(s.src.tolist()), tuple(s.dst.tolist()), tuple(s.sizes())) for s in schedules}) == 1
