"""How many micro-batches a pipeline stage has under way: forward done, backward not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from simulator.llm.placement import chunks_held
from simulator.llm.plan import Parallel
from simulator.llm.step.orders import stage_order


def in_flight(parallel: Parallel, microbatches: int, stage: int) -> Iterator[tuple[int, ...]]:
    """Yield micro-batches under way in each chunk of a stage, at every moment that may be a peak.

    Counted along the stage's order, up to the gradients of the weights: what those need is nearly all of
    what the forward pass kept (32 of 34 bytes a number, Qi et al. 2023, table 1). GPipe keeps all m; 1F1B
    min(m, p - stage); interleaved 1F1B, over its v chunks together, min(m v, 2(p - stage - 1) +
    (v - 1) p + 1) (Narayanan et al. 2021; Megatron-LM's schedules); ZB-H1 p and ZB-H2 2p - 1 on every
    stage; ZB-V 2p of its half as large chunks; DualPipe p + 1.

    Parameters
    ----------
    parallel : Parallel
    microbatches : int
        m, as many as the schedule can have.
    stage : int
        From 0.

    Examples
    --------
    >>> set(in_flight(Parallel(pp=4), 8, 1)), set(in_flight(Parallel(pp=4, schedule="gpipe"), 8, 1))
    ({(3,)}, {(8,)})
    >>> max(map(sum, in_flight(Parallel(pp=8, interleave=3), 64, 0)))  # p v + p - 1
    31
    """
    if parallel.schedule == "gpipe":
        yield (microbatches,)
        return
    held = chunks_held(parallel, stage)
    counts, begun = [0] * len(held), False
    # with more micro-batches the pattern repeats
    for slot in stage_order(parallel, min(microbatches, 4 * parallel.pp), stage):
        if slot.kind == "F":
            counts[held.index(slot.chunk)] += 1
            begun = True
        elif slot.kind != "I":
            if begun:
                yield tuple(counts)
            counts[held.index(slot.chunk)] -= 1
            begun = False


def most_in_flight(
    parallel: Parallel, microbatches: int, stage: int, sizes: Sequence[Fraction]
) -> tuple[Fraction, int]:
    """Find the largest sum of what a stage keeps at a moment, and the most micro-batches under way.

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
    moments = set(in_flight(parallel, microbatches, stage))
    most = max(sum(map(Fraction.__mul__, sizes, map(Fraction, counts)), Fraction(0)) for counts in moments)
    return most, max(map(sum, moments))
