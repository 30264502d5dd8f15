"""The traces and tables of the first seed document, and where other libraries' rings start."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

from algorithms import Schedule, build, level_flow, prove, trace


def chunk_sent(schedule: Schedule, step: int, rank: int) -> int:
    row = int(np.flatnonzero((schedule.step == step) & (schedule.src == rank))[0])
    return int(schedule.first[row])


def held_at_the_end(schedule: Schedule) -> dict[int, int]:
    """The chunk that each rank must end with: what the proof looks for."""
    return {int(rank): chunk for chunk, rank in enumerate(schedule.collective.target)}


# the seed's Ring ReduceScatter of four ranks: node i first sends chunk (i+1) mod 4 to its right
SEED_RING = {
    0: {0: 1, 1: 2, 2: 3, 3: 0},
    1: {0: 0, 1: 1, 2: 2, 3: 3},
    2: {0: 3, 1: 0, 2: 1, 3: 2},
}


def test_seed_ring_of_four() -> None:
    schedule = build("ring", "reduce_scatter", 4, 64, first_chunk=1)
    prove(schedule)
    assert {s: {r: chunk_sent(schedule, s, r) for r in range(4)} for s in range(3)} == SEED_RING
    assert (schedule.dst == (schedule.src + 1) % 4).all()
    assert held_at_the_end(schedule) == {0: 2, 1: 3, 2: 0, 3: 1}


@pytest.mark.parametrize("kind", ["reduce_scatter", "allreduce"])
@pytest.mark.parametrize("ranks", [*range(2, 10), 16])
def test_a_ring_that_starts_with_i_plus_a_ends_with_i_plus_a_plus_1(kind: str, ranks: int) -> None:
    for a in range(-ranks, ranks + 1):
        schedule = build("ring", kind, ranks, 1001, first_chunk=a)
        prove(schedule)
        assert [chunk_sent(schedule, 0, i) for i in range(ranks)] == [(i + a) % ranks for i in range(ranks)]
        # the last chunk that reaches rank i in the ReduceScatter is the one it then owns
        received = [chunk_sent(schedule, ranks - 2, (i - 1) % ranks) for i in range(ranks)]
        assert received == [(i + a + 1) % ranks for i in range(ranks)]
        if kind == "reduce_scatter":
            assert held_at_the_end(schedule) == {i: (i + a + 1) % ranks for i in range(ranks)}
        else:
            assert [chunk_sent(schedule, ranks - 1, i) for i in range(ranks)] == received


@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_the_default_is_where_nccl_and_mpich_start(ranks: int) -> None:
    # NCCL device/reduce_scatter.h: step 0 sends chunk ringIx - 1, the last step reduces chunk ringIx;
    # its all_gather.h starts with ringIx. MPICH's ring AllReduce starts with rank - 1 as well.
    for kind in ("reduce_scatter", "allreduce"):
        schedule = build("ring", kind, ranks, 64)
        assert [chunk_sent(schedule, 0, i) for i in range(ranks)] == [(i - 1) % ranks for i in range(ranks)]
    gather = build("ring", "allgather", ranks, 64)
    assert [chunk_sent(gather, 0, i) for i in range(ranks)] == list(range(ranks))


def test_open_mpi_allreduce_starts_with_its_own_chunk() -> None:
    # coll_base_allreduce.c, ring: a = 0, so that rank i owns chunk i + 1 half-way
    schedule = build("ring", "allreduce", 5, 100, first_chunk=0)
    assert [chunk_sent(schedule, 0, i) for i in range(5)] == [0, 1, 2, 3, 4]
    assert [chunk_sent(schedule, 4, i) for i in range(5)] == [1, 2, 3, 4, 0]


M = 8 * 1024
# the seed's table of recursive halving, N = 8: pairs, exchanged, data per node afterwards
SEED_HALVING = [
    (((0, 4), (1, 5), (2, 6), (3, 7)), M // 2, M // 2),
    (((0, 2), (1, 3), (4, 6), (5, 7)), M // 4, M // 4),
    (((0, 1), (2, 3), (4, 5), (6, 7)), M // 8, M // 8),
]


def test_seed_halving_of_eight() -> None:
    steps = list(trace(build("recursive_halving", "reduce_scatter", 8, M)))
    assert [step.pairs() for step in steps] == [pairs for pairs, *_ in SEED_HALVING]
    assert [step.sent for step in steps] == [(sent, sent) for _, sent, _ in SEED_HALVING]
    assert [step.live for step in steps] == [(live, live) for *_, live in SEED_HALVING]
    assert all(move.reduces for step in steps for move in step.moves)


def test_near_halving_takes_the_pairs_the_other_way_round() -> None:
    steps = list(trace(build("recursive_halving", "reduce_scatter", 8, M, order="near")))
    assert [step.pairs() for step in steps] == [pairs for pairs, *_ in SEED_HALVING][::-1]
    assert [step.sent[0] for step in steps] == [M // 2, M // 4, M // 8]


def test_doubling_is_the_halving_backwards() -> None:
    steps = list(trace(build("recursive_doubling", "allgather", 8, M)))
    assert [step.pairs() for step in steps] == [pairs for pairs, *_ in SEED_HALVING][::-1]
    assert [step.sent[0] for step in steps] == [M // 8, M // 4, M // 2]
    assert [step.live for step in steps] == [(M // 4, M // 4), (M // 2, M // 2), (M, M)]


def test_halving_exchanges_contiguous_halves() -> None:
    first = next(trace(build("recursive_halving", "reduce_scatter", 8, M)))
    for move in first.moves:
        assert move.chunks == ((4, 5, 6, 7) if move.src < 4 else (0, 1, 2, 3))


@pytest.mark.parametrize("dims", [[8], [4, 2], [2, 4, 3], [3, 1, 5], [2, 2, 2, 2]])
def test_seed_multi_level_volumes(dims: list[int]) -> None:
    ranks = prod(dims)
    size = 60 * ranks
    volumes = [size // prod(dims[: i + 1]) for i in range(len(dims))]
    taken = [size, *volumes[:-1]]
    flows = level_flow(dims)
    assert [(flow.taken * size, flow.given * size) for flow in flows] == list(
        zip(taken, volumes, strict=True)
    )
    assert [(flow.level, flow.ranks) for flow in flows] == list(enumerate(dims))
    # counted: the bytes that a rank still works on when a level's last step is over
    schedule = build("hierarchical", "reduce_scatter", ranks, size, dims=dims)
    steps = list(trace(schedule))
    ends = np.cumsum([p - 1 for p in dims]) - 1
    assert [steps[end].live for end, p in zip(ends, dims, strict=True) if p > 1] == [
        (given, given) for given, p in zip(volumes, dims, strict=True) if p > 1
    ]


def test_a_step_that_is_not_an_exchange_has_no_pairs() -> None:
    assert next(trace(build("ring", "reduce_scatter", 4, 64))).pairs() is None
    # two transfers between the same ranks are not a pair either
    assert next(trace(build("direct", "reduce_scatter", 2, 64))).pairs() == ((0, 1),)
