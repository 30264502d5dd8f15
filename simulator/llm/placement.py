"""Which chunks of a model's layers lie at which pipeline stage.

A chunk is a run of layers, counted in the model's order. Interleaving deals chunks out in turn
(Narayanan et al. 2021); the V of Qi et al. 2023, section 6 goes down the stages and back up; DualPipe
(DeepSeek-V3 report, 2024) has two copies of each chunk, for micro-batches that enter at either end.
"""

from __future__ import annotations

from collections import Counter

from simulator.llm.plan import Parallel


def chunk_count(parallel: Parallel) -> int:
    """Chunks that the model is cut into.

    >>> [chunk_count(Parallel(pp=4, schedule=schedule)) for schedule in ("1f1b", "zbv", "dualpipe")]
    [4, 8, 4]
    """
    return parallel.pp * (2 if parallel.schedule == "zbv" else parallel.interleave)


def copies(parallel: Parallel) -> int:
    """Stages that hold the same chunk, each for its part of the micro-batches: 2 under DualPipe."""
    return 2 if parallel.schedule == "dualpipe" else 1


def chunks_held(parallel: Parallel, stage: int) -> tuple[int, ...]:
    """Chunks of a stage, in the model's order.

    Examples
    --------
    >>> chunks_held(Parallel(pp=4, interleave=2), 1)
    (1, 5)
    >>> chunks_held(Parallel(pp=4, schedule="zbv"), 1), chunks_held(Parallel(pp=4, schedule="dualpipe"), 3)
    ((1, 6), (0, 3))
    """
    count = chunk_count(parallel)
    if parallel.schedule in ("zbv", "dualpipe"):
        return min(stage, count - 1 - stage), max(stage, count - 1 - stage)
    return tuple(range(stage, count, parallel.pp))


def holds_ends(parallel: Parallel, stage: int) -> tuple[bool, bool]:
    """Whether a stage has the first chunk, with the embedding, and the last, with the output layer.

    >>> holds_ends(Parallel(pp=4), 0), holds_ends(Parallel(pp=4, schedule="zbv"), 0)
    ((True, False), (True, True))
    """
    held = chunks_held(parallel, stage)
    return held[0] == 0, held[-1] == chunk_count(parallel) - 1


def beside(parallel: Parallel, stage: int, chunk: int, steps: int) -> int | None:
    """The stage that has the chunk before (-1) or after (1), for the same micro-batches.

    Returns
    -------
    int or None
        None where there is no such chunk.

    Examples
    --------
    >>> beside(Parallel(pp=4, interleave=2), 3, 3, 1), beside(Parallel(pp=4, schedule="zbv"), 3, 3, 1)
    (0, 3)
    >>> beside(Parallel(pp=4, schedule="dualpipe"), 3, 0, 1)
    2
    """
    other, count = chunk + steps, chunk_count(parallel)
    if not 0 <= other < count:
        return None
    match parallel.schedule:
        case "zbv":
            return min(other, count - 1 - other)
        case "dualpipe" if chunk != stage:
            return count - 1 - other
    return other % parallel.pp


def handed_on(parallel: Parallel, stage: int, steps: int) -> dict[int, int]:
    """To which other stages a stage hands something after (1) or back before (-1) its chunks.

    Returns
    -------
    dict of int to int
        Chunks, by stage.

    Examples
    --------
    >>> handed_on(Parallel(pp=4, interleave=2), 3, 1), handed_on(Parallel(pp=4, schedule="zbv"), 1, 1)
    ({0: 1}, {2: 1, 0: 1})
    """
    there = Counter(beside(parallel, stage, chunk, steps) for chunk in chunks_held(parallel, stage))
    return {peer: chunks for peer, chunks in there.items() if peer is not None and peer != stage}
