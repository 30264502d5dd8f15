"""The proof refuses exactly the schedules that a plain reading of a step refuses, and says where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import Any

import numpy as np
import pytest

import algorithms.cells
from algorithms import COPY, REDUCE, Schedule, ScheduleError, assemble, build, count, make_collective, prove
from algorithms import collective as collectives
from algorithms.assembly import settled
from algorithms.collective import EVERY
from algorithms.schedule import Ranges
from tests.algorithms.variants import KINDS, variants


@dataclass(frozen=True)
class Row:
    """One transfer, as plain Python."""

    step: int
    src: int
    dst: int
    chunks: tuple[int, ...]
    mode: int
    channel: int = 0


def rows_of(schedule: Schedule) -> list[Row]:
    return [
        Row(
            int(schedule.step[i]),
            int(schedule.src[i]),
            int(schedule.dst[i]),
            tuple(schedule.chunks(i).tolist()),
            int(schedule.mode[i]),
            int(schedule.channel[i]),
        )
        for i in range(len(schedule))
    ]


def schedule_of(rows: Sequence[Row], like: Schedule) -> Schedule:
    size = np.array([len(row.chunks) for row in rows], dtype=np.int32)
    step, src, dst, mode, channel = (
        np.array([getattr(row, name) for row in rows], dtype=np.int32)
        for name in ("step", "src", "dst", "mode", "channel")
    )
    index = np.array([chunk for row in rows for chunk in row.chunks], dtype=np.int32)
    first = (np.cumsum(size) - size).astype(np.int32)
    raw = Schedule(
        like.collective,
        step,
        channel.astype(np.int16),
        src,
        dst,
        first,
        size,
        mode.astype(np.uint8),
        index,
        "mutant",
        switches=like.switches,
    )
    return settled(raw)


def is_right(rows: Sequence[Row], like: Schedule) -> bool:
    """Reference interpreter: how often each rank's contribution is in each cell, nothing else."""
    collective = like.collective
    held: dict[tuple[int, int], Counter[int]] = {}
    for rank, chunk in zip(*(c.tolist() for c in collective.initial()), strict=True):
        held[rank, chunk] = Counter([rank])
    for _, together in groupby(sorted(rows, key=lambda row: row.step), key=lambda row: row.step):
        arrivals = []
        for row in together:
            for chunk in row.chunks:
                if (row.src, chunk) not in held:
                    return False
                arrivals.append((row.dst, chunk, row.mode, held[row.src, chunk]))
        copies: dict[tuple[int, int], Counter[int]] = {}
        for rank, chunk, mode, content in arrivals:
            if mode == REDUCE:
                held[rank, chunk] = held.get((rank, chunk), Counter()) + content
            elif copies.setdefault((rank, chunk), content) != content:
                return False
        held |= copies
    everyone = Counter(range(collective.ranks))
    for rank, chunk in zip(*(c.tolist() for c in collective.final()), strict=True):
        source = int(collective.source[chunk])
        if held.get((rank, chunk)) != (everyone if source == EVERY else Counter([source])):
            return False
    return True


def cannot_be_built(rows: Sequence[Row]) -> bool:
    """Sends to itself, or copies and reduces into one cell in one step."""
    modes: dict[tuple[int, int, int], set[int]] = {}
    for row in rows:
        for chunk in row.chunks:
            modes.setdefault((row.step, row.dst, chunk), set()).add(row.mode)
    return any(row.src == row.dst for row in rows) or any(len(mode) > 1 for mode in modes.values())


MUTATIONS = (
    "dropped",
    "repeated later",
    "repeated at once",
    "wrong chunk",
    "earlier",
    "later",
    "swapped",
    "wrong destination",
    "wrong mode",
)


def mutate(
    rows: list[Row], at: int, mutation: str, schedule: Schedule, rng: np.random.Generator
) -> list[Row]:
    """The rows with one of them spoilt; the same rows where there is nothing to spoil."""
    row, others = rows[at], rows[:at] + rows[at + 1 :]
    match mutation:
        case "dropped":
            return others
        case "repeated later":
            return [*rows, replace(row, step=row.step + int(rng.integers(1, 4)))]
        case "repeated at once":
            return [*rows, row]
        case "wrong chunk":
            free = [c for c in range(schedule.collective.chunks) if c not in row.chunks]
            if not free or not row.chunks:
                return rows
            chunks = list(row.chunks)
            chunks[int(rng.integers(len(chunks)))] = int(rng.choice(free))
            return [*others, replace(row, chunks=tuple(chunks))]
        case "earlier":
            return [*others, replace(row, step=int(rng.integers(row.step)))] if row.step else rows
        case "later":
            return [*others, replace(row, step=row.step + int(rng.integers(1, 4)))]
        case "swapped":
            return [*others, replace(row, src=row.dst, dst=row.src)]
        case "wrong destination":
            return [*others, replace(row, dst=int(rng.integers(schedule.ranks)))]
        case _:
            return [*others, replace(row, mode=COPY if row.mode == REDUCE else REDUCE)]


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_agrees_with_the_reference_on_every_mutant(name: str, kind: str) -> None:
    for mutation in MUTATIONS:
        check_mutants(name, kind, mutation)


def check_mutants(name: str, kind: str, mutation: str) -> None:
    rng = np.random.default_rng(sum(map(ord, name + kind + mutation)))
    caught = 0
    for schedule, rows in samples(name, kind):
        for at in rng.choice(len(rows), size=min(len(rows), 3), replace=False).tolist():
            mutant = mutate(rows, at, mutation, schedule, rng)
            error = verdict(mutant, schedule)
            assert (error is None) == (not cannot_be_built(mutant) and is_right(mutant, schedule))
            if error is not None:
                caught += 1
                check_place(error, mutant, rows, rows[at], schedule)
    if not caught:
        assert can_be_harmless(kind, mutation, [schedule for schedule, _ in samples(name, kind)])


def can_be_harmless(kind: str, mutation: str, schedules: Sequence[Schedule]) -> bool:
    """A copy may come twice or be added to nothing; what nothing depends on may come at any time."""
    depth = max(count(schedule).depth for schedule in schedules)
    if mutation == "wrong chunk" and all(schedule.collective.chunks == 1 for schedule in schedules):
        return True  # there is no other
    if any(schedule.switches for schedule in schedules) and mutation in ("wrong mode", "repeated later"):
        return True  # what comes first into a switch is stored, and what comes after it has sent, is lost
    if collectives.KINDS[kind].source != "every" and mutation in (
        "repeated later",
        "repeated at once",
        "wrong mode",
    ):
        return True
    return depth == 1 and mutation in ("earlier", "later", "wrong chunk")


@lru_cache(maxsize=1)
def samples(name: str, kind: str) -> tuple[tuple[Schedule, list[Row]], ...]:
    asked = [(ranks, variants(name, kind, ranks)) for ranks in (3, 4, 6)]
    chosen = [(ranks, ways[i]) for ranks, ways in asked for i in ((0, -1) if ranks == 6 else (0,))]
    every = [build(name, kind, ranks, 64 * (kind != "barrier"), **options) for ranks, options in chosen]
    return tuple((schedule, rows_of(schedule)) for schedule in every)


def verdict(rows: Sequence[Row], like: Schedule) -> ScheduleError | None:
    try:
        prove(schedule_of(rows, like))
    except ScheduleError as error:
        return error
    return None


def check_place(
    error: ScheduleError, mutant: Sequence[Row], rows: Sequence[Row], spoilt: Row, schedule: Schedule
) -> None:
    """It points at a rank, and at a chunk that the spoilt transfer carried before or carries now."""
    assert error.rank is not None
    assert 0 <= error.rank < schedule.nodes
    if error.chunk is None:
        assert "sends to itself" in str(error)
        return
    touched = {chunk for row in (spoilt, *set(mutant).difference(rows)) for chunk in row.chunks}
    assert error.chunk in touched
    assert f"chunk {error.chunk}" in str(error)
    place = f"rank {error.rank}"
    if error.rank >= schedule.ranks:
        place = f"switch {error.rank - schedule.ranks}"
    assert place in str(error)
    if error.step is not None:
        assert f"step {error.step}" in str(error)


def is_dropped_noticed(name: str, kind: str, options: dict[str, Any]) -> Iterator[bool]:
    schedule = build(name, kind, 4, 64 * (kind != "barrier"), **options)
    rows = rows_of(schedule)
    for at in range(len(rows)):
        yield verdict(rows[:at] + rows[at + 1 :], schedule) is not None


# a barrier's last token may tell nobody anything new, a call to send carries nothing, and the library's
# AllGather after a Scatter sends what its receiver has had on its way
IDLE = ("linear_sync", "scatter_allgather", "reduce_broadcast", "gather_broadcast")


@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for name, kind in KINDS if kind != "barrier" and name not in IDLE]
)
def test_no_transfer_is_superfluous(name: str, kind: str) -> None:
    for options in variants(name, kind, 4):
        assert all(is_dropped_noticed(name, kind, options)), options


# ring ReduceScatter of 4 ranks by hand: chunk 0 goes 1 -> 2 -> 3 -> 0 in the steps 0, 1, 2
RING = build("ring", "reduce_scatter", 4, 64)
FIRST, SECOND, THIRD = (Row(0, 1, 2, (0,), REDUCE), Row(1, 2, 3, (0,), REDUCE), Row(2, 3, 0, (0,), REDUCE))


def ring_with(old: Row, *new: Row) -> list[Row]:
    rows = rows_of(RING)
    assert old in rows
    return [row for row in rows if row != old] + list(new)


@pytest.mark.parametrize(
    ("rows", "message", "place"),
    [
        (
            ring_with(SECOND),
            "rank 0 ends without the contribution of ranks 1, 2 to chunk 0; "
            "the last write there was in step 2, from rank 3",
            (2, 0, 0),
        ),
        (
            ring_with(THIRD),
            "rank 0 ends without the contribution of ranks 1, 2, 3 to chunk 0; "
            "nothing was ever written there",
            (None, 0, 0),
        ),
        (
            ring_with(THIRD, THIRD, replace(THIRD, step=3)),
            "step 3: rank 0 adds chunk 0 from rank 3 and counts the contribution of ranks 1, 2, 3 twice",
            (3, 0, 0),
        ),
        (
            ring_with(FIRST, replace(FIRST, chunks=(3,))),
            "rank 0 ends without the contribution of rank 1 to chunk 0; "
            "the last write there was in step 2, from rank 3",
            (2, 0, 0),
        ),
        (
            ring_with(SECOND, replace(SECOND, step=3)),
            "rank 0 ends without the contribution of ranks 1, 2 to chunk 0; "
            "the last write there was in step 2, from rank 3",
            (2, 0, 0),
        ),
        (
            ring_with(THIRD, replace(THIRD, src=0, dst=3)),
            "rank 0 ends without the contribution of ranks 1, 2, 3 to chunk 0; "
            "nothing was ever written there",
            (None, 0, 0),
        ),
        (
            ring_with(THIRD, replace(THIRD, dst=1)),
            "step 2: rank 1 adds chunk 0 from rank 3 and counts the contribution of rank 1 twice",
            (2, 1, 0),
        ),
        (
            ring_with(THIRD, replace(THIRD, mode=COPY)),
            "rank 0 ends without the contribution of rank 0 to chunk 0; "
            "the last write there was in step 2, from rank 3",
            (2, 0, 0),
        ),
    ],
    ids=["dropped", "last dropped", "doubled", "chunk", "step", "swapped", "destination", "mode"],
)
def test_says_what_is_wrong_with_a_ring(
    rows: list[Row], message: str, place: tuple[int | None, int, int]
) -> None:
    error = verdict(rows, RING)
    assert error is not None
    assert str(error) == message
    assert (error.step, error.rank, error.chunk) == place


def test_says_who_sends_nothing() -> None:
    gather = build("ring", "allgather", 4, 64)
    first = Row(0, 1, 2, (1,), COPY)
    rows = [row for row in rows_of(gather) if row != first]
    error = verdict(rows, gather)
    assert error is not None
    assert str(error) == "step 1: rank 2 sends chunk 1 to rank 3 but holds nothing of it"
    assert (error.step, error.rank, error.chunk) == (1, 2, 1)


def test_the_last_write_is_the_one_to_the_rank_that_is_wrong() -> None:
    # rank 1 misses rank 2's contribution; the last write of the chunk goes to rank 2, which is right
    rows = [Row(0, 0, 1, (0,), REDUCE), Row(1, 1, 2, (0,), REDUCE), Row(2, 2, 0, (0,), COPY)]
    error = verdict(rows, build("recursive_doubling", "allreduce", 3, 64))
    assert error is not None
    assert str(error) == (
        "rank 1 ends without the contribution of rank 2 to chunk 0; "
        "the last write there was in step 0, from rank 0"
    )


def test_a_lost_doubling_is_no_error() -> None:
    # rank 2 adds rank 1's part again after it has passed its sum on: nothing looks at it any more
    rows = [*rows_of(RING), replace(FIRST, step=1)]
    assert is_right(rows, RING)
    prove(schedule_of(rows, RING))


ALLREDUCE = make_collective("allreduce", 3, 1, blocks=1)


def test_two_unequal_copies_are_refused() -> None:
    steps = [([0, 1], [2, 2], np.array([0, 0]), COPY)]
    with pytest.raises(
        ScheduleError, match="step 0: rank 2 is sent two different copies of chunk 0"
    ) as caught:
        prove(assemble(ALLREDUCE, steps))
    assert (caught.value.step, caught.value.rank, caught.value.chunk) == (0, 2, 0)


def test_two_unequal_copies_are_refused_even_if_overwritten_later() -> None:
    steps = [
        (2, 0, 0, REDUCE),
        ([0, 1], [2, 2], np.array([0, 0]), COPY),
        (1, 0, 0, REDUCE),
        ([0, 0], [1, 2], np.array([0, 0]), COPY),
    ]
    with pytest.raises(ScheduleError, match="step 1: rank 2 is sent two different copies of chunk 0"):
        prove(assemble(ALLREDUCE, steps))


def test_two_equal_copies_are_fine() -> None:
    steps = [
        ([0, 1], [2, 2], np.array([0, 0]), REDUCE),
        (2, 0, 0, COPY),
        ([0, 2], [1, 1], np.array([0, 0]), COPY),
    ]
    prove(assemble(ALLREDUCE, steps))


def test_many_reductions_into_one_cell_in_one_step_all_count() -> None:
    ranks = 9
    everybody = np.arange(1, ranks)
    collective = make_collective("allreduce", ranks, 1, blocks=1)
    steps = [
        (everybody, np.zeros(ranks - 1, dtype=int), np.zeros(ranks - 1, dtype=int), REDUCE),
        (np.zeros(ranks - 1, dtype=int), everybody, np.zeros(ranks - 1, dtype=int), COPY),
    ]
    schedule = assemble(collective, steps)
    prove(schedule)
    assert count(schedule).bytes_reduced_max == ranks - 1


def test_copy_and_reduce_into_one_cell_are_refused_when_building() -> None:
    step = [(0, 2, 0, COPY), (1, 2, 0, REDUCE)]
    with pytest.raises(ScheduleError, match="step 0: chunk 0 at rank 2 is both copied and reduced") as caught:
        assemble(ALLREDUCE, [step])
    assert (caught.value.step, caught.value.rank, caught.value.chunk) == (0, 2, 0)


@pytest.mark.parametrize(
    ("src", "dst", "chunk", "message", "rank"),
    [
        (1, 1, 0, "step 1: rank 1 sends to itself", 1),
        (3, 1, 0, "step 1: there is no rank 3 to send", 3),
        (-1, 1, 0, "step 1: there is no rank -1 to send", -1),
        (1, 3, 0, "step 1: there is no rank 3 to receive", 1),
        (1, 0, 1, "step 1: there is no chunk 1", None),
        (1, 0, -1, "step 1: there is no chunk -1", None),
    ],
)
def test_ends_and_chunks_out_of_range_are_refused_when_building(
    src: int, dst: int, chunk: int, message: str, rank: int | None
) -> None:
    with pytest.raises(ScheduleError, match=message) as caught:
        assemble(ALLREDUCE, [(0, 1, 0, REDUCE), (src, dst, chunk, REDUCE)])
    assert (caught.value.step, caught.value.rank) == (1, rank)


def test_a_range_past_the_last_chunk_is_refused() -> None:
    collective = make_collective("allreduce", 3, 6)
    with pytest.raises(ScheduleError, match="there is no chunk 3"):
        assemble(collective, [(0, 1, Ranges(np.array([1]), np.array([3])), REDUCE)])


def test_chunks_for_another_number_of_transfers_are_refused() -> None:
    with pytest.raises(ScheduleError, match="step 0: 2 sources but chunks for 1 transfers") as caught:
        assemble(ALLREDUCE, [([0, 1], [1, 2], np.array([0]), REDUCE)])
    assert caught.value.step == 0


def test_destinations_for_another_number_of_transfers_are_refused() -> None:
    with pytest.raises(ScheduleError, match="step 0: 2 sources but 1 destinations"):
        assemble(ALLREDUCE, [([0, 1], [2], np.array([0, 0]), REDUCE)])


@pytest.mark.parametrize(("name", "kind"), KINDS[::3])
def test_sparse_cells_give_the_same_verdicts(name: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    options = variants(name, kind, 6)[0]
    schedule = build(name, kind, 6, 64 * (kind != "barrier"), **options)
    rng = np.random.default_rng(6)
    rows = rows_of(schedule)
    picked = rng.choice(len(rows), size=min(len(rows), 2), replace=False).tolist()
    mutants = [mutate(rows, at, m, schedule, rng) for at in picked for m in MUTATIONS]
    dense = [str(verdict(mutant, schedule)) for mutant in mutants]
    counts = count(schedule)
    monkeypatch.setattr(algorithms.cells, "_DENSE_CELLS", 0)
    prove(schedule)
    assert count(schedule) == counts
    assert [str(verdict(mutant, schedule)) for mutant in mutants] == dense
