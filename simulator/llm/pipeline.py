"""How many micro-batches a pipeline stage has under way: forward done, backward not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import lcm

from simulator.llm.plan import Parallel


def in_flight(parallel: Parallel, microbatches: int, stage: int) -> Iterator[tuple[int, ...]]:
    """Yield micro-batches under way in each chunk of a stage, at every moment that may be a peak.

    GPipe keeps all m; 1F1B min(m, p - stage); interleaved 1F1B keeps, over its v chunks together,
    min(m v, 2(p - stage - 1) + (v - 1) p + 1) (Narayanan et al. 2021; Megatron-LM's schedules).

    Parameters
    ----------
    parallel : Parallel
    microbatches : int
        m; a multiple of the stages where chunks are interleaved.
    stage : int
        From 0.

    Examples
    --------
    >>> list(in_flight(Parallel(pp=4), 8, 1)), list(in_flight(Parallel(pp=4, schedule="gpipe"), 8, 1))
    ([(3,)], [(8,)])
    >>> max(map(sum, in_flight(Parallel(pp=8, interleave=3), 64, 0)))  # p v + p - 1
    31
    """
    if parallel.schedule == "gpipe":
        yield (microbatches,)
    elif parallel.interleave == 1:
        yield (min(microbatches, parallel.pp - stage),)
    else:
        counts = [0] * parallel.interleave
        for begun, ended in _interleaved(parallel, microbatches, stage):
            counts[begun] += 1
            if ended is not None:
                yield tuple(counts)
                counts[ended] -= 1


def most_in_flight(
    parallel: Parallel, microbatches: int, stage: int, sizes: Sequence[Fraction]
) -> tuple[Fraction, int]:
    """Find the largest sum of what a stage keeps at a moment, and the micro-batches under way then.

    Parameters
    ----------
    parallel, microbatches, stage
        As of `in_flight`.
    sizes : sequence of Fraction
        What one micro-batch keeps in each chunk.

    Examples
    --------
    >>> most_in_flight(Parallel(pp=2, interleave=2), 4, 0, [Fraction(1), Fraction(3)])
    (Fraction(9, 1), 5)
    """
    if parallel.interleave == 1:
        [(count,)] = in_flight(parallel, microbatches, stage)
        return count * sizes[0], count
    # whole numbers, as there are many moments
    unit = lcm(*(size.denominator for size in sizes))
    parts = [int(size * unit) for size in sizes]
    most = now = alive = 0
    for begun, ended in _interleaved(parallel, microbatches, stage):
        now += parts[begun]
        most = max(most, now)
        if ended is None:
            alive += 1
        else:
            now -= parts[ended]
    return Fraction(most, unit), alive + 1


def _interleaved(parallel: Parallel, microbatches: int, stage: int) -> Iterator[tuple[int, int | None]]:
    """The chunk of each forward pass in turn, and of the backward pass after it; at first there is none."""
    stages, chunks = parallel.pp, parallel.interleave
    # after that many the pattern repeats
    shown = min(microbatches, 4 * stages)
    ahead = min(shown * chunks, 2 * (stages - stage - 1) + (chunks - 1) * stages + 1)
    for item in range(shown * chunks):
        back = item + 1 - ahead
        # the backward passes go through the chunks the other way round
        yield item // stages % chunks, None if back < 0 else chunks - 1 - back // stages % chunks
