"""Which stage has which chunk, by hand."""

from __future__ import annotations

from simulator.llm.placement import beside, chunk_count, chunks_held, copies, handed_on, holds_ends
from simulator.llm.plan import Parallel, Schedule

V = Parallel(pp=4, schedule="zbv")
ENDS = Parallel(pp=4, schedule="dualpipe")
DEALT = Parallel(pp=4, interleave=3)


def test_chunks_of_stages() -> None:
    assert [chunks_held(V, stage) for stage in range(4)] == [(0, 7), (1, 6), (2, 5), (3, 4)]
    assert [chunks_held(ENDS, stage) for stage in range(4)] == [(0, 3), (1, 2), (1, 2), (0, 3)]
    assert [chunks_held(DEALT, stage) for stage in range(4)] == [(s, s + 4, s + 8) for s in range(4)]
    assert chunks_held(Parallel(), 0) == (0,)
    assert chunks_held(Parallel(schedule="zbv"), 0) == (0, 1)


def test_every_chunk_is_somewhere_as_often_as_there_are_copies() -> None:
    schedules: tuple[Schedule, ...] = ("gpipe", "1f1b", "zb-h1", "zb-h2", "zbv", "dualpipe")
    for schedule in schedules:
        for stages in (2, 4, 6):
            parallel = Parallel(pp=stages, schedule=schedule)
            held = sorted(chunk for stage in range(stages) for chunk in chunks_held(parallel, stage))
            every = range(chunk_count(parallel))
            assert held == sorted([*every] * copies(parallel))


def test_a_micro_batch_goes_from_the_first_chunk_to_the_last_and_back() -> None:
    for parallel, way in ((V, [0, 1, 2, 3, 3, 2, 1, 0]), (DEALT, [0, 1, 2, 3] * 3), (ENDS, [0, 1, 2, 3])):
        for chunk, stage in enumerate(way):
            after = way[chunk + 1] if chunk + 1 < len(way) else None
            assert beside(parallel, stage, chunk, 1) == after
            assert beside(parallel, stage, chunk, -1) == (way[chunk - 1] if chunk else None)
    # what came in at the last stage goes up
    assert [beside(ENDS, 3 - chunk, chunk, 1) for chunk in range(4)] == [2, 1, 0, None]


def test_ends_of_the_model() -> None:
    assert [holds_ends(V, stage) for stage in range(4)] == [(True, True), *[(False, False)] * 3]
    assert [holds_ends(ENDS, stage) for stage in (0, 1, 3)] == [(True, True), (False, False), (True, True)]
    assert [holds_ends(DEALT, stage) for stage in (0, 3)] == [(True, False), (False, True)]


def test_what_a_stage_hands_on() -> None:
    assert [handed_on(V, stage, 1) for stage in (0, 2, 3)] == [{1: 1}, {3: 1, 1: 1}, {2: 1}]
    assert [handed_on(V, stage, -1) for stage in (0, 2, 3)] == [{1: 1}, {3: 1, 1: 1}, {2: 1}]
    assert [handed_on(ENDS, stage, 1) for stage in (0, 1, 3)] == [{1: 1}, {2: 1, 0: 1}, {2: 1}]
    assert handed_on(DEALT, 3, 1) == {0: 2}
    assert handed_on(DEALT, 0, -1) == {3: 2}
    # one stage has nobody to hand on to
    assert handed_on(Parallel(), 0, 1) == handed_on(Parallel(schedule="zbv"), 0, 1) == {}
