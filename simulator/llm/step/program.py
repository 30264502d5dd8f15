"""The program of a training step: what every stage does, in order, as a graph of tasks."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from simulator.llm.placement import beside
from simulator.llm.step.graph import Builder, Graph, check_passes
from simulator.llm.step.kernels import WorkPlan
from simulator.llm.step.lines import Line
from simulator.llm.step.orders import Orders, orders
from simulator.llm.step.overlap import Overlap
from simulator.llm.step.stage import Stage
from simulator.llm.step.stage_units import Machine, StageUnits
from simulator.llm.traffic import boundary_call

if TYPE_CHECKING:
    from simulator.llm.calls import Phase
    from simulator.llm.layer_calls import Pass
    from simulator.llm.step.slots import Slot


def training_graph(
    asked: Pass, machine: Machine, overlap: Overlap | None = None, plan: WorkPlan | None = None
) -> Graph:
    """Tasks of a training step.

    Parameters
    ----------
    asked : Pass
        Whose plan can be laid out (`check_fit`).
    machine : Machine
    overlap : Overlap, optional
    plan : WorkPlan, optional

    Raises
    ------
    ModelError
        If the hardware does not say how fast it is, or there are too many micro-batches and layers.
    """
    check_passes(2 * int(asked.microbatches) * (asked.model.layers + 2), ("batch", "global"))
    with _without_collector():
        return _Program(asked, machine, overlap or Overlap(), plan or WorkPlan()).graph()


@contextmanager
def _without_collector() -> Iterator[None]:
    """Do not look for cycles: a graph has none among its many objects, and it takes half the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@dataclass(slots=True, eq=False)
class _Program:
    """A program that grows slot by slot.

    Attributes
    ----------
    ends : dict
        Last tasks of each slot of a stage that has been added.
    sent : dict
        The call that hands on what a slot of a stage gives.
    """

    asked: Pass
    machine: Machine
    overlap: Overlap
    plan: WorkPlan
    builder: Builder = field(default_factory=Builder)
    ends: dict[tuple[int, Slot], list[int]] = field(default_factory=dict)
    sent: dict[tuple[int, Slot], int] = field(default_factory=dict)

    def graph(self) -> Graph:
        """All slots, each after what it needs; then the update."""
        found = orders(self.asked.parallel, int(self.asked.microbatches))
        stages = [
            Stage(
                self.asked,
                self.overlap,
                self.builder,
                StageUnits(self.asked, stage, self.machine, self.plan),
                slots,
            )
            for stage, slots in enumerate(found.stages)
        ]
        places = [0] * len(stages)
        while any(place < len(slots) for place, slots in zip(places, found.stages, strict=True)):
            # a slot of each stage in turn, so that tasks come about as they will run
            for stage in stages:
                places[stage.number] += self._advance(found, stage, places[stage.number])
        ready = [stage.gradients_summed() for stage in stages]
        shared = [stage.shared_gradients(ready) for stage in stages]
        for stage, mirrored in zip(stages, reversed(shared), strict=True):
            stage.update([*ready[stage.number], *shared[stage.number], *mirrored])
        return self.builder.graph()

    def _advance(self, found: Orders, stage: Stage, place: int) -> int:
        """Add the next slot of a stage, or two that run together, if what they need is there."""
        slots = found.stages[stage.number][place : place + 2]
        slots = slots if slots and slots[0].with_next else slots[:1]
        needs = [found.needs(slot, stage.number) for slot in slots]
        if not slots or any(need not in self.ends for need in chain.from_iterable(needs)):
            return 0
        lines = [
            Line(
                self.builder,
                self.asked.parallel,
                self.overlap,
                stage.number,
                slot.kind,
                slot.microbatch,
                self._arrived(stage.number, need),
                paired=len(slots) > 1,
            )
            for slot, need in zip(slots, needs, strict=True)
        ]
        turns = [stage.slot(slot, line) for slot, line in zip(slots, lines, strict=True)]
        for _ in zip_longest(*turns):
            pass
        for slot, line in zip(slots, lines, strict=True):
            self.ends[stage.number, slot] = [*line.ends, *line.aside]
            self._hand_on(stage.number, slot, line)
        return len(slots)

    def _arrived(self, stage: int, needs: tuple[tuple[int, Slot], ...]) -> list[int]:
        """What a slot waits for: what other stages have sent, and its own stage has done."""
        return [
            task
            for there, slot in needs
            for task in ([self.sent[there, slot]] if there != stage else self.ends[there, slot])
        ]

    def _hand_on(self, stage: int, slot: Slot, line: Line) -> None:
        """Send what a slot gives to the stage of the next chunk, or back to that of the one before."""
        if slot.kind == "W":
            return
        steps = 1 if slot.kind == "F" else -1
        peer = beside(self.asked.parallel, stage, slot.chunk, steps)
        if peer is None or peer == stage:
            return
        phase: Phase = "forward" if steps == 1 else "backward"
        call = boundary_call(self.asked, phase, stage, peer)
        # what follows a whole backward pass on its stream comes after all of it
        after = self.ends[stage, slot] if slot.kind == "B" else line.ends
        task = self.builder.call(call, f"send {phase}", slot.kind, after, slot.microbatch)
        self.sent[stage, slot] = task
        if not self.overlap.pp:
            self.builder.hold_up(stage, [task])
