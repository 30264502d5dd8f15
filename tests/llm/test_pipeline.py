"""Micro-batches under way: closed forms, and a count by hand."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.llm.pipeline import in_flight, most_in_flight
from simulator.llm.plan import Parallel, Schedule
from simulator.llm.step.orders import orders


@given(st.integers(1, 12), st.integers(1, 40))
def test_1f1b_and_gpipe(stages: int, microbatches: int) -> None:
    for stage in range(stages):
        one = in_flight(Parallel(pp=stages), microbatches, stage)
        assert set(one) == {(min(microbatches, stages - stage),)}
        all_first = in_flight(Parallel(pp=stages, schedule="gpipe"), microbatches, stage)
        assert list(all_first) == [(microbatches,)]


@given(st.integers(2, 8), st.integers(2, 4), st.integers(1, 5))
def test_interleaved_1f1b(stages: int, chunks: int, times: int) -> None:
    """Megatron-LM warms up with 2(p - stage - 1) + (v - 1)p forward passes, and one more is under way."""
    parallel = Parallel(pp=stages, interleave=chunks)
    for stage in range(stages):
        moments = list(in_flight(parallel, times * stages, stage))
        most = min(times * stages * chunks, 2 * (stages - stage - 1) + (chunks - 1) * stages + 1)
        assert {sum(counts) for counts in moments} == {most}
        assert min(map(min, moments)) >= 0


def test_interleaved_by_hand() -> None:
    """Two stages of two chunks, four micro-batches, first stage: forward passes 0 0 1 1 0 0 1 1 by
    chunk, backward 1 1 0 0 1 1 0 0; five forward passes come before the first backward."""
    found = list(in_flight(Parallel(pp=2, interleave=2), 4, 0))
    # a peak comes before every backward pass; after the last forward pass they only end
    assert found == [(3, 2), (4, 1), (4, 1), (3, 2)]


@pytest.mark.parametrize(("stages", "chunks"), [(8, 3), (35, 3)])
def test_first_stage_of_korthikanti_2022(stages: int, chunks: int) -> None:
    """L(1 + (p - 1)/(p m)) layers of L/(p m) a chunk: p m + p - 1 chunks."""
    moments = in_flight(Parallel(pp=stages, interleave=chunks), 8 * stages, 0)
    assert max(map(sum, moments)) == stages * chunks + stages - 1


def test_zero_bubble() -> None:
    """ZB-H1 keeps p on every stage, ZB-H2 2p - 1, Qi et al. 2023; ZB-V 2p chunks of half a stage."""
    for stages in (1, 2, 3, 6, 12):
        for microbatches in (1, stages, 2 * stages, 5 * stages + 1):
            assert peaks("zb-h1", stages, microbatches) == [min(stages, microbatches)] * stages
            assert peaks("zb-h2", stages, microbatches) == [min(2 * stages - 1, microbatches)] * stages
            assert max(peaks("zbv", stages, microbatches)) == min(2 * stages, 2 * microbatches)


def test_dualpipe_keeps_one_more_than_stages() -> None:
    """PP + 1, deepseek-ai/DualPipe; on the first stage all but one of them came in there."""
    for stages in (2, 4, 6, 12):
        for microbatches in (2 * stages, 6 * stages):
            assert peaks("dualpipe", stages, microbatches) == [stages + 1] * stages
    first = in_flight(Parallel(pp=8, schedule="dualpipe"), 20, 0)
    assert max(first, key=sum) == (8, 1)


def peaks(schedule: Schedule, stages: int, microbatches: int) -> list[int]:
    """Of the whole order, however long, and of the part of it that `in_flight` looks at."""
    parallel = Parallel(pp=stages, schedule=schedule)
    found = [max(map(sum, in_flight(parallel, microbatches, stage))) for stage in range(stages)]
    kept = {"F": 1, "B": -1, "W": -1, "I": 0}
    every = orders(parallel, microbatches).stages
    assert found == [max(accumulate(kept[slot.kind] for slot in slots)) for slots in every]
    return found


@given(st.integers(1, 6), st.integers(1, 4), st.integers(1, 5), st.data())
def test_most_in_flight(stages: int, chunks: int, times: int, data: st.DataObject) -> None:
    """The largest of all moments, each taken by itself."""
    parallel = Parallel(pp=stages, interleave=chunks if stages > 1 else 1)
    pieces = parallel.interleave
    sizes = data.draw(st.lists(st.fractions(0, 10, max_denominator=6), min_size=pieces, max_size=pieces))
    for stage in range(stages):
        moments = list(in_flight(parallel, times * stages, stage))
        sums = [sum((n * size for n, size in zip(m, sizes, strict=True)), Fraction(0)) for m in moments]
        found = most_in_flight(parallel, times * stages, stage, sizes)
        assert found == (max(sums), max(map(sum, moments)))
