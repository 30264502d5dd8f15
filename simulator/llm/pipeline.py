"""How many micro-batches a pipeline stage has under way: forward done, backward not."""

from __future__ import annotations

from collections.abc import Iterator

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
    stages, chunks = parallel.pp, parallel.interleave
    if parallel.schedule == "gpipe":
        yield (microbatches,)
    elif chunks == 1:
        yield (min(microbatches, stages - stage),)
    else:
        # after that many the pattern repeats
        shown = min(microbatches, 4 * stages)
        ahead = min(shown * chunks, 2 * (stages - stage - 1) + (chunks - 1) * stages + 1)
        yield from _interleaved(stages, chunks, shown, ahead)


def _interleaved(stages: int, chunks: int, microbatches: int, ahead: int) -> Iterator[tuple[int, ...]]:
    """What is under way after each forward: `ahead` of them first, then each after a backward."""
    forward = [item // stages % chunks for item in range(microbatches * chunks)]
    # the backward passes go through the chunks the other way round
    counts = [0] * chunks
    for done, chunk in enumerate(forward):
        counts[chunk] += 1
        if done + 1 >= ahead:
            yield tuple(counts)
            counts[chunks - 1 - forward[done + 1 - ahead]] -= 1
