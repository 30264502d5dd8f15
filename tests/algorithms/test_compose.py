"""Schedules out of schedules."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np
import pytest

from algorithms import (
    COPY,
    REDUCE,
    Lists,
    Schedule,
    ScheduleError,
    assemble,
    beside,
    build,
    dual,
    fold,
    make_collective,
    on,
    prove,
    then,
    together,
)
from algorithms.catalogue.halving import halving_steps
from algorithms.catalogue.ring import ring_steps


def scatter(ranks: int, size: int = 64) -> Schedule:
    return build("ring", "reduce_scatter", ranks, size)


def transfers(schedule: Schedule, step: int) -> set[tuple[int, int, tuple[int, ...], int]]:
    rows = np.flatnonzero(schedule.step == step).tolist()
    return {
        (
            int(schedule.src[i]),
            int(schedule.dst[i]),
            tuple(schedule.chunks(i).tolist()),
            int(schedule.mode[i]),
        )
        for i in rows
    }


def test_then_runs_the_second_after_the_first() -> None:
    gather = build("ring", "allgather", 5, 64)
    whole = then([scatter(5), gather], make_collective("allreduce", 5, 64), algorithm="both")
    prove(whole)
    assert (whole.steps, whole.algorithm) == (8, "both")
    assert transfers(whole, 3) == transfers(scatter(5), 3)
    assert transfers(whole, 4) == transfers(gather, 0)


def test_then_refuses_other_chunks() -> None:
    with pytest.raises(ScheduleError, match="cannot follow on: 4 chunks after 5"):
        then([scatter(5), scatter(4)], make_collective("allreduce", 5, 64))


def test_then_keeps_the_fallback_of_its_parts() -> None:
    folded = build("recursive_halving", "reduce_scatter", 6, 64)
    whole = then([folded, build("ring", "allgather", 6, 64)], make_collective("allreduce", 6, 64))
    prove(whole)
    assert whole.fallback == "fold"


def half_rings() -> tuple[Schedule, Schedule]:
    """A ring to the right over the even chunks, one to the left over the odd ones."""
    collective = make_collective("reduce_scatter", 4, 64, segments=2)
    parts = []
    for offset, direction in enumerate((1, -1)):
        one = assemble(make_collective("reduce_scatter", 4, 32), ring_steps(4, direction))
        chunks = Lists(np.arange(5), 2 * np.arange(4) + offset)
        parts.append(on(one, collective, np.arange(4), chunks))
    return parts[0], parts[1]


def test_together_plays_step_by_step_in_one_channel() -> None:
    right, left = half_rings()
    both = together([right, left], right.collective)
    prove(both)
    assert both.steps == 3
    assert set(both.channel.tolist()) == {0}
    assert transfers(both, 1) == transfers(right, 1) | transfers(left, 1)


def test_beside_gives_each_its_channel() -> None:
    right, left = half_rings()
    both = beside([right, left], right.collective)
    prove(both)
    assert both.steps == 3
    assert set(both.channel.tolist()) == {0, 1}
    for channel, part in enumerate((right, left)):
        rows = both.channel == channel
        assert set(both.dst[rows] - both.src[rows]) == set(part.dst - part.src)


def test_beside_numbers_channels_on() -> None:
    def pair(first: int) -> Schedule:
        collective = make_collective("reduce_scatter", 2, 8, segments=4)
        return assemble(
            collective, [([0, 1], [1, 0], np.array([4 + first, first]), REDUCE)], algorithm=f"pair{first}"
        )

    collective = pair(0).collective
    two, other_two = beside([pair(0), pair(1)], collective), beside([pair(2), pair(3)], collective)
    four = beside([two, other_two], collective)
    prove(four)
    assert sorted(set(four.channel.tolist())) == [0, 1, 2, 3]
    assert four.steps == 1


def test_beside_refuses_shared_cells() -> None:
    with pytest.raises(ScheduleError, match="two channels touch chunk 0 at rank 0") as caught:
        beside([scatter(4), scatter(4)], make_collective("reduce_scatter", 4, 64))
    assert (caught.value.rank, caught.value.chunk) == (0, 0)


def test_on_renames_ranks_and_chunks() -> None:
    collective = make_collective("reduce_scatter", 6, 60)
    chunks = Lists(np.array([0, 2, 3, 6]), np.array([4, 5, 1, 0, 2, 3]))
    played = on(scatter(3), collective, np.array([5, 1, 3]), chunks)
    # ring of three, step 0: rank i sends chunk i - 1 to rank i + 1
    assert transfers(played, 0) == {
        (5, 1, (0, 2, 3), REDUCE),
        (1, 3, (4, 5), REDUCE),
        (3, 5, (1,), REDUCE),
    }
    assert played.collective is collective


# MPICH: of the first 2r ranks, even ones send to odd ones and sit out; then come the others
FOLDS = {
    3: ({0: 1}, [1, 2]),
    5: ({0: 1}, [1, 2, 3, 4]),
    6: ({0: 1, 2: 3}, [1, 3, 4, 5]),
    7: ({0: 1, 2: 3, 4: 5}, [1, 3, 5, 6]),
}


@pytest.mark.parametrize("ranks", FOLDS)
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("recursive_halving", "reduce_scatter"),
        ("recursive_doubling", "allgather"),
        ("recursive_doubling", "allreduce"),
        ("rabenseifner", "allreduce"),
    ],
)
def test_fold_pairs_ranks_as_mpich_does(name: str, kind: str, ranks: int) -> None:
    pairs, players = FOLDS[ranks]
    schedule = build(name, kind, ranks, 64)
    before, after = transfers(schedule, 0), transfers(schedule, schedule.steps - 1)
    assert {(src, dst) for src, dst, *_ in before} == set(pairs.items())
    assert {(dst, src) for src, dst, *_ in after} == set(pairs.items())
    inner = (schedule.step > 0) & (schedule.step < schedule.steps - 1)
    assert sorted(set(schedule.src[inner].tolist())) == players
    assert {mode for *_, mode in before} == {COPY if kind == "allgather" else REDUCE}
    assert {mode for *_, mode in after} == {COPY}


@pytest.mark.parametrize("ranks", FOLDS)
def test_fold_hands_over_everything_and_gets_its_block_back(ranks: int) -> None:
    pairs, _ = FOLDS[ranks]
    everything = tuple(range(ranks))
    schedule = build("recursive_halving", "reduce_scatter", ranks, 64)
    assert {row[2] for row in transfers(schedule, 0)} == {everything}
    assert {row[1:3] for row in transfers(schedule, schedule.steps - 1)} == {(i, (i,)) for i in pairs}
    gather = build("recursive_doubling", "allgather", ranks, 64)
    assert {(row[0], row[2]) for row in transfers(gather, 0)} == {(i, (i,)) for i in pairs}
    others = {(i, tuple(c for c in everything if c != i)) for i in pairs}
    assert {row[1:3] for row in transfers(gather, gather.steps - 1)} == others


def test_fold_of_a_power_of_two_leaves_nobody_out() -> None:
    collective = make_collective("reduce_scatter", 4, 64)

    def core(p: int) -> Schedule:
        return assemble(make_collective("reduce_scatter", p, p), halving_steps(p))

    prove(fold(collective, core))


def mirror(schedule: Schedule, kind: str) -> Schedule:
    collective = schedule.collective
    return dual(schedule, replace(collective, kind=kind, source=collective.target, target=collective.source))


def test_dual_reverses_steps_and_directions() -> None:
    gather = mirror(scatter(4), "allgather")
    prove(gather)
    for step in range(3):
        forward = transfers(scatter(4), 2 - step)
        assert transfers(gather, step) == {(dst, src, chunks, COPY) for src, dst, chunks, _ in forward}


def test_dual_refuses_collectives_that_are_no_mirror() -> None:
    with pytest.raises(ScheduleError, match="reduce_scatter has no dual that is this allreduce"):
        dual(scatter(4), make_collective("allreduce", 4, 64))
    with pytest.raises(ScheduleError, match="no dual that is this allgather"):
        dual(scatter(4), make_collective("allgather", 4, 64, shift=1))
    with pytest.raises(ScheduleError, match="no dual that is this allgather"):
        dual(scatter(4), make_collective("allgather", 4, 64, segments=2))


def test_dual_refuses_allreduce() -> None:
    allreduce = build("ring", "allreduce", 4, 64)
    with pytest.raises(ScheduleError, match="allreduce has no dual: nothing is the mirror of it"):
        mirror(allreduce, "allreduce")


@pytest.mark.parametrize(
    ("kind", "extra", "message"),
    [
        ("reduce_scatter", (1, 3, 0), "chunk 0 leaves rank 1 more than once"),
        ("reduce_scatter", (0, 3, 0), "chunk 0 leaves rank 0, its own"),
        ("allgather", (1, 3, 0), "chunk 0 is written to rank 3 more than once"),
        ("allgather", (1, 0, 0), "chunk 0 is written to rank 0, its own"),
    ],
)
def test_dual_refuses_what_is_no_tree(kind: str, extra: tuple[int, int, int], message: str) -> None:
    ring = build("ring", kind, 4, 64)
    mode = int(ring.mode[0])
    late = assemble(ring.collective, [(*extra[:2], np.array([extra[2]]), mode)])
    bushy = then([ring, late], ring.collective)
    other = "allgather" if kind == "reduce_scatter" else "reduce_scatter"
    with pytest.raises(ScheduleError, match=message) as caught:
        mirror(bushy, other)
    assert caught.value.chunk == 0


def test_dual_refuses_a_folded_reduce_scatter() -> None:
    with pytest.raises(ScheduleError, match="chunk 0 leaves rank 0, its own"):
        mirror(build("recursive_halving", "reduce_scatter", 6, 64), "allgather")


@pytest.mark.parametrize(("ranks", "segments"), [(3, 1), (4, 2), (7, 1), (8, 2)])
@pytest.mark.parametrize("kind", ["reduce_scatter", "allgather"])
def test_bidirectional_ring_halves_blocks_where_the_far_one_has_two_ways(
    kind: str, ranks: int, segments: int
) -> None:
    schedule = build("bidirectional_ring", kind, ranks, 24 * ranks)
    assert schedule.collective.chunks == segments * ranks
    last = schedule.steps - 1
    assert {row[2] for row in transfers(schedule, last if kind == "allgather" else 0)} == {
        (c,) for c in range(segments * ranks)
    }
    whole = 0 if kind == "allgather" else last
    assert {len(row[2]) for row in transfers(schedule, whole)} == {segments}


def test_bidirectional_allreduce_sends_each_half_its_own_way() -> None:
    schedule = build("bidirectional_ring", "allreduce", 5, 1000)
    row, chunk = schedule.moves()
    way = (schedule.dst[row] - schedule.src[row]) % 5
    np.testing.assert_array_equal(way, np.where(chunk % 2 == 0, 1, 4))


@pytest.mark.parametrize(
    ("dims", "names"),
    [
        ([4, 2], ["ring", "ring"]),
        ([2, 3, 2], ["direct", "bidirectional_ring", "recursive_halving"]),
        ([3, 5], ["recursive_halving", "recursive_halving"]),
        ([1, 6, 1], ["ring", "direct", "ring"]),
        ([4, 4], ["bidirectional_ring", "bidirectional_ring"]),
    ],
)
def test_every_rank_of_a_grid_ends_with_its_own_block(dims: list[int], names: list[str]) -> None:
    ranks = prod(dims)
    schedule = build("hierarchical", "reduce_scatter", ranks, 16 * ranks, dims=dims, algorithms=names)
    prove(schedule)
    collective = schedule.collective
    segments = collective.chunks // ranks
    np.testing.assert_array_equal(collective.target, np.repeat(np.arange(ranks), segments))
    gather = build("hierarchical", "allgather", ranks, 16 * ranks, dims=dims, algorithms=names)
    prove(gather)
    np.testing.assert_array_equal(gather.collective.source, collective.target)


@pytest.mark.parametrize("dims", [[4, 2], [2, 3, 2]])
def test_a_level_of_a_grid_talks_only_along_its_coordinate(dims: list[int]) -> None:
    schedule = build("hierarchical", "reduce_scatter", prod(dims), 720, dims=dims)
    start = 0
    for level, size in enumerate(dims):
        stride = prod(dims[:level])
        for step in range(start, start + size - 1):
            for src, dst, chunks, _ in transfers(schedule, step):
                assert src % stride == dst % stride
                assert src // (stride * size) == dst // (stride * size)
                # what the levels inside have left there: blocks that share the inner coordinates
                assert {c % stride for c in chunks} == {src % stride}
                assert len(chunks) == prod(dims[level + 1 :])
        start += size - 1
    assert start == schedule.steps
