"""In which order every pipeline stage works through its passes, and what a pass waits for.

An order is the same for all durations: who runs it starts each slot when the stage is free and what it
needs is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from simulator.llm.placement import beside
from simulator.llm.plan import Parallel, Schedule
from simulator.llm.step.orders_two_ends import dualpipe, zbv
from simulator.llm.step.orders_with_one_end import gpipe, interleaved, one_forward_one_backward, zb_h1, zb_h2
from simulator.llm.step.slots import PassKind, Slot

ORDERS: Final[Mapping[Schedule, Callable[[Parallel, int, int], Iterator[Slot]]]] = MappingProxyType(
    {
        "gpipe": gpipe,
        "1f1b": one_forward_one_backward,
        "zb-h1": zb_h1,
        "zb-h2": zb_h2,
        "zbv": zbv,
        "dualpipe": dualpipe,
    }
)
"""Order of a stage, by schedule: of (parallel, micro-batches, stage)."""


@dataclass(frozen=True, slots=True)
class Orders:
    """The order of every stage.

    Attributes
    ----------
    parallel : Parallel
    stages : tuple of tuple of Slot
        By stage; a slot of `with_next` begins together with the one after it.
    split : frozenset of (int, int)
        Micro-batch and chunk of backward passes that are two slots, I and W.
    """

    parallel: Parallel
    stages: tuple[tuple[Slot, ...], ...]
    split: frozenset[tuple[int, int]]

    def needs(self, slot: Slot, stage: int) -> tuple[tuple[int, Slot], ...]:
        """Find what a slot of a stage waits for: stages, and their slots.

        Examples
        --------
        >>> found = orders(Parallel(pp=2, schedule="zb-h1"), 4)
        >>> found.needs(Slot("F", 0, 1), 1)
        ((0, F0 of chunk 0),)
        >>> found.needs(Slot("I", 0, 0), 0), found.needs(Slot("W", 0, 0), 0)
        (((0, F0 of chunk 0), (1, I0 of chunk 1)), ((0, I0 of chunk 0),))
        """
        count, chunk = slot.microbatch, slot.chunk
        if slot.kind == "W":
            return ((stage, Slot("I", count, chunk)),)
        if slot.kind == "F":
            before = beside(self.parallel, stage, chunk, -1)
            return () if before is None else ((before, Slot("F", count, chunk - 1)),)
        own, after = (stage, Slot("F", count, chunk)), beside(self.parallel, stage, chunk, 1)
        if after is None:
            return (own,)
        kind: PassKind = "I" if (count, chunk + 1) in self.split else "B"
        return own, (after, Slot(kind, count, chunk + 1))


def orders(parallel: Parallel, microbatches: int, *, training: bool = True) -> Orders:
    """Put the passes of every stage in order.

    Parameters
    ----------
    parallel : Parallel
    microbatches : int
        m, as many as `simulator.llm.fit.check_fit` lets the schedule have.
    training : bool
        Whether there are backward passes.

    Examples
    --------
    >>> orders(Parallel(pp=2), 3).stages[0]
    (F0 of chunk 0, F1 of chunk 0, B0 of chunk 0, F2 of chunk 0, B1 of chunk 0, B2 of chunk 0)
    """
    stages = tuple(tuple(stage_order(parallel, microbatches, stage)) for stage in range(parallel.pp))
    if not training:
        stages = tuple(
            tuple(Slot("F", slot.microbatch, slot.chunk) for slot in slots if slot.kind == "F")
            for slots in stages
        )
    split = frozenset((slot.microbatch, slot.chunk) for slots in stages for slot in slots if slot.kind == "I")
    return Orders(parallel, stages, split)


def stage_order(parallel: Parallel, microbatches: int, stage: int) -> Iterator[Slot]:
    """Passes of one stage of a training step, in order."""
    order = interleaved if parallel.interleave > 1 else ORDERS[parallel.schedule]
    return order(parallel, microbatches, stage)
