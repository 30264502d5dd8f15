"""Micro-batches under way: closed forms, and a count by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.llm.pipeline import in_flight, most_in_flight
from simulator.llm.plan import Parallel


@given(st.integers(1, 12), st.integers(1, 40))
def test_1f1b_and_gpipe(stages: int, microbatches: int) -> None:
    for stage in range(stages):
        one = in_flight(Parallel(pp=stages), microbatches, stage)
        assert list(one) == [(min(microbatches, stages - stage),)]
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
    assert found == [(3, 2), (4, 1), (4, 1), (3, 2)]


@pytest.mark.parametrize(("stages", "chunks"), [(8, 3), (35, 3)])
def test_first_stage_of_korthikanti_2022(stages: int, chunks: int) -> None:
    """L(1 + (p - 1)/(p m)) layers of L/(p m) a chunk: p m + p - 1 chunks."""
    moments = in_flight(Parallel(pp=stages, interleave=chunks), 8 * stages, 0)
    assert max(map(sum, moments)) == stages * chunks + stages - 1


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
