"""What a step takes at least: its passes in order, with what stops them, and nothing in anybody's way.

A stage computes one thing after another, and waits for what other stages hand on, and for its own calls that
let nothing go on meanwhile. All other communication is taken to be free. Nothing that a simulated step
has in addition makes it shorter.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from simulator.llm.calls import that_send
from simulator.llm.fit import chunks_of
from simulator.llm.search.passes import Ends, Lengths, Priced, lengths
from simulator.llm.step.fabric import way_of, whole_bytes
from simulator.llm.step.lines import stream_of
from simulator.llm.step.orders import Orders, orders
from simulator.llm.step.stage_units import StageUnits, UnitKind
from simulator.llm.step.unit_passes import Operation, Sends
from simulator.llm.traffic import shared_calls

if TYPE_CHECKING:
    from simulator.llm.calls import Call
    from simulator.llm.step.report_setting import Setting
    from simulator.llm.step.slots import PassKind, Slot


@dataclass(frozen=True, slots=True)
class Least:
    """Lower bounds of the time of a step.

    Attributes
    ----------
    compute : int
        fs, where no communication takes time.
    time : int
        fs, with calls that stop their stage, each as long as its busiest link carries it.
    exact : bool
        Whether `compute` is what a step without communication takes; where two passes of a stage run at
        once, or a chunk has no layers, it may take longer.
    """

    compute: int
    time: int
    exact: bool


def least_time(setting: Setting) -> Least:
    """Find what a step takes at least.

    Raises
    ------
    ModelError, PlanError
        As `training_graph` and `Fabric.plan`.
    """
    asked = setting.asked
    order = orders(asked.parallel, int(asked.microbatches))
    units = StageUnits(asked, 0, setting.machine, setting.work)
    updates = tuple(
        StageUnits(asked, stage, setting.machine, setting.work).optimizer()
        for stage in range(asked.parallel.pp)
    )
    compute = _Walk(setting, order, units, updates, priced=False).time()
    if any(slot.with_next for slots in order.stages for slot in slots):
        return Least(compute, compute, exact=False)
    time = _Walk(setting, order, units, updates, priced=True).time()
    # what an empty chunk waits for is not looked at
    return Least(compute, time, exact=all(chunks_of(asked.model, asked.parallel)))


def _carried(setting: Setting, stage: int, call: Call) -> int:
    """Fs for which some link, or reducer, is held by a call of a stage, whoever else waits for it."""
    if setting.overlap.of(stream_of(call)):
        return 0
    plan = setting.fabric.plan(replace(way_of(call), stage=stage), whole_bytes(call))
    if plan.flows is not None:
        return 0
    held = np.zeros(len(plan.resources), dtype=np.int64)
    np.add.at(held, plan.resource, plan.hold)
    return int(held.max(initial=0))


@dataclass(slots=True, eq=False)
class _Walk:
    """Slots, each as soon as it can be.

    Attributes
    ----------
    setting : Setting
    order : Orders
    units : StageUnits
        Of any stage: units of a kind do the same everywhere.
    updates : tuple of int
        fs of each stage's update.
    priced : bool
        Whether calls that stop their stage take time.
    """

    setting: Setting
    order: Orders
    units: StageUnits
    updates: tuple[int, ...]
    priced: bool
    ended: dict[tuple[int, Slot], Ends] = field(default_factory=dict)
    known: dict[tuple[int, PassKind, int], Lengths] = field(default_factory=dict)
    prices: dict[tuple[int, UnitKind, bool], tuple[Priced, ...]] = field(default_factory=dict)

    def time(self) -> int:
        """Fs until the last stage has updated its weights."""
        stages = self.order.stages
        places, free = [0] * len(stages), [0] * len(stages)
        while any(place < len(slots) for place, slots in zip(places, stages, strict=True)):
            for stage, slots in enumerate(stages):
                while places[stage] < len(slots):
                    taken = self._advance(stage, slots[places[stage] : places[stage] + 2], free)
                    if not taken:
                        break
                    places[stage] += taken
        return self._updated(free)

    def _advance(self, stage: int, slots: tuple[Slot, ...], free: list[int]) -> int:
        """Go through the next slot of a stage, or two that run together, if what they need is there."""
        slots = slots if slots[0].with_next else slots[:1]
        needs = [self.order.needs(slot, stage) for slot in slots]
        if any(need not in self.ended for need in chain.from_iterable(needs)):
            return 0
        several = [self._lengths(stage, slot) for slot in slots]
        # one stream computes both
        frees = [free[stage] + sum(each.free.free for each in several)]
        for slot, need, each in zip(slots, needs, several, strict=True):
            there = max((self._there(stage, *one) for one in need), default=0)
            ends = each.ends(free[stage], there)
            self.ended[stage, slot] = ends
            frees.append(ends.free)
        free[stage] = max(frees)
        return len(slots)

    def _there(self, stage: int, other: int, slot: Slot) -> int:
        """When a stage has what it needs of a slot."""
        ends = self.ended[other, slot]
        # what follows a whole backward pass comes after all of it
        return ends.done if other == stage or slot.kind == "B" else ends.ready

    def _lengths(self, stage: int, slot: Slot) -> Lengths:
        key = (stage, slot.kind, slot.chunk)
        if key not in self.known:
            kinds = self.units.chunk(slot.chunk)
            there = kinds if slot.kind == "F" else reversed(kinds)
            self.known[key] = lengths((self._priced(stage, kind, slot.kind) for kind in there), slot.kind)
        return self.known[key]

    def _priced(self, stage: int, unit: UnitKind, kind: PassKind) -> tuple[Priced, ...]:
        """What a unit does at a stage, and what its calls take."""
        key = (stage, unit, kind == "F")
        if key not in self.prices:
            passes = self.units.passes(unit)
            self.prices[key] = tuple(
                (each, self._price(stage, each)) for each in (passes.forward if key[2] else passes.backward)
            )
        return self.prices[key]

    def _price(self, stage: int, operation: Operation) -> int:
        if not self.priced or not isinstance(operation, Sends):
            return 0
        return sum(_carried(self.setting, stage, call) for call in operation.calls)

    def _updated(self, free: list[int]) -> int:
        """Fs until all weights are updated: where two stages add up gradients, when both have theirs."""
        asked, last = self.setting.asked, len(free) - 1
        ready = list(free)
        for stage in range(len(free)):
            if any(True for _ in that_send(shared_calls(asked, stage), asked.parallel)):
                ready[stage] = ready[last - stage] = max(free[stage], free[last - stage])
        return max(end + update for end, update in zip(ready, self.updates, strict=True))
