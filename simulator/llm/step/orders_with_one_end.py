"""Orders of pipelines that all micro-batches go through the same way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from simulator.llm.plan import Parallel
from simulator.llm.step.slots import Slot


def gpipe(_: Parallel, microbatches: int, stage: int) -> Iterator[Slot]:
    """All forward, then all backward (Huang et al. 2019)."""
    yield from _alternating(stage, microbatches, microbatches)


def one_forward_one_backward(parallel: Parallel, microbatches: int, stage: int) -> Iterator[Slot]:
    """Warm up with p - stage forward passes, then alternate (Narayanan et al. 2021)."""
    yield from _alternating(stage, microbatches, parallel.pp - stage)


def zb_h1(parallel: Parallel, microbatches: int, stage: int) -> Iterator[Slot]:
    """1F1B whose weight gradients come `stage` micro-batches late, to fill the end (Qi et al. 2023).

    Every stage then has p micro-batches under way, as the first has under 1F1B.
    """
    yield from _zero_bubble(stage, microbatches, parallel.pp - stage, stage)


def zb_h2(parallel: Parallel, microbatches: int, stage: int) -> Iterator[Slot]:
    """ZB-H1 with 2p - 1 under way in place of p: nobody waits where F, I and W take equally long."""
    yield from _zero_bubble(stage, microbatches, 2 * (parallel.pp - stage) - 1, 2 * stage)


def interleaved(parallel: Parallel, microbatches: int, stage: int) -> Iterator[Slot]:
    """Megatron-LM's forward_backward_pipelining_with_interleaving.

    p micro-batches go through each chunk of the stage in turn; 2(p - stage - 1) + (v - 1)p forward
    passes come before the alternation.
    """
    stages, held = parallel.pp, parallel.interleave
    total = microbatches * held
    ahead = min(total, 2 * (stages - stage - 1) + (held - 1) * stages + 1)
    for item in range(ahead):
        yield _item("F", item, parallel, stage)
    for item in range(total):
        yield _item("B", item, parallel, stage)
        if item + ahead < total:
            yield _item("F", item + ahead, parallel, stage)


def _item(kind: Literal["F", "B"], item: int, parallel: Parallel, stage: int) -> Slot:
    """One of the passes of a stage in turn; backward passes go through its chunks the other way round."""
    turn, place = divmod(item, parallel.pp)
    turns, local = divmod(turn, parallel.interleave)
    if kind == "B":
        local = parallel.interleave - 1 - local
    return Slot(kind, turns * parallel.pp + place, local * parallel.pp + stage)


def _alternating(chunk: int, microbatches: int, ahead: int) -> Iterator[Slot]:
    """So many forward passes, then one backward, one forward."""
    for forward in range(min(ahead, microbatches)):
        yield Slot("F", forward, chunk)
    for backward in range(microbatches):
        yield Slot("B", backward, chunk)
        if backward + ahead < microbatches:
            yield Slot("F", backward + ahead, chunk)


def _zero_bubble(chunk: int, microbatches: int, ahead: int, late: int) -> Iterator[Slot]:
    """The same with halves of backward passes, the weight gradients so many micro-batches later."""
    for forward in range(min(ahead, microbatches)):
        yield Slot("F", forward, chunk)
    for backward in range(microbatches):
        yield Slot("I", backward, chunk)
        if backward >= late:
            yield Slot("W", backward - late, chunk)
        if backward + ahead < microbatches:
            yield Slot("F", backward + ahead, chunk)
    for weight in range(max(microbatches - late, 0), microbatches):
        yield Slot("W", weight, chunk)
