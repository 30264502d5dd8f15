"""The longest path through the orders of a pipeline, by hand: no streams, no links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from simulator.llm.step.orders import Orders
from simulator.llm.step.slots import Slot

Time = int | Fraction


@dataclass(frozen=True, slots=True)
class Walk:
    """When stages begin and end.

    Attributes
    ----------
    begin, end : tuple of Fraction
        By stage.
    """

    begin: tuple[Time, ...]
    end: tuple[Time, ...]

    @property
    def makespan(self) -> Time:
        """From the first pass to the end of the last."""
        return max(self.end)

    @property
    def longest(self) -> Time:
        """Of the stage that takes longest from its first pass to its last."""
        return max(end - begin for begin, end in zip(self.begin, self.end, strict=True))


def walk(
    orders: Orders,
    times: Mapping[str, Time],
    *,
    send: Time = 0,
    sender_waits: bool = False,
) -> Walk:
    """Start every slot as soon as its stage is free and what it needs is there.

    `times` are of F, B, I and W, and of F&B where slots run together. What comes from another stage is
    there `send` later; the sender may have to wait as long.
    """
    done: dict[tuple[int, Slot], Time] = {}
    count = len(orders.stages)
    asked = _asked_for(orders) if sender_waits else set()
    begin: list[Time | None] = [None] * count
    free: list[Time] = [0] * count
    left = [list(reversed(slots)) for slots in orders.stages]
    moved = True
    while moved:
        moved = False
        for stage, slots in enumerate(left):
            while slots:
                together = slots[-2:][::-1] if slots[-1].with_next else slots[-1:]
                needs = [need for slot in together for need in orders.needs(slot, stage)]
                ends = [done.get(need) for need in needs]
                if None in ends:
                    break
                start = free[stage]
                for need, end in zip(needs, ends, strict=True):
                    start = max(start, (end or 0) + (send if need[0] != stage else 0))
                begin[stage] = start if begin[stage] is None else begin[stage]
                free[stage] = start + times["&".join(slot.kind for slot in together)]
                for slot in together:
                    done[stage, slot] = free[stage]
                    slots.pop()
                free[stage] += send * any((stage, slot) in asked for slot in together)
                moved = True
    assert not any(left), "the orders wait for each other"
    return Walk(tuple(time or 0 for time in begin), tuple(free))


def _asked_for(orders: Orders) -> set[tuple[int, Slot]]:
    """Slots that another stage waits for."""
    every = ((stage, slot) for stage, slots in enumerate(orders.stages) for slot in slots)
    return {need for stage, slot in every for need in orders.needs(slot, stage) if need[0] != stage}
