"""A stage of a training step: its slots, what ZeRO gathers for them, and its gradients."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from simulator.llm.calls import that_send
from simulator.llm.step.lines import Line
from simulator.llm.step.unit_passes import Operation, Sends, Stretch
from simulator.llm.traffic import shared_calls, tensor_update_calls

if TYPE_CHECKING:
    from simulator.llm.calls import Call
    from simulator.llm.layer_calls import Pass
    from simulator.llm.step.graph import Builder
    from simulator.llm.step.overlap import Overlap
    from simulator.llm.step.slots import Slot
    from simulator.llm.step.stage_units import StageUnits, UnitKind


@dataclass(slots=True, eq=False)
class Stage:
    """A stage that grows in a graph.

    Attributes
    ----------
    asked : Pass
    overlap : Overlap
    builder : Builder
    units : StageUnits
    slots : sequence of Slot
        All that it will do.
    """

    asked: Pass
    overlap: Overlap
    builder: Builder
    units: StageUnits
    slots: Sequence[Slot]
    chunks: dict[int, tuple[UnitKind, ...]] = field(init=False)
    left: Counter[int] = field(init=False)
    visits: list[list[int]] = field(default_factory=list)
    visited: tuple[int, int, int] | None = None
    due: list[tuple[Call, list[int]]] = field(default_factory=list)
    summed: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.chunks = self.units.chunks()
        self.left = Counter(slot.chunk for slot in self.slots if slot.kind in ("B", "W"))

    @property
    def number(self) -> int:
        """Which stage it is."""
        return self.units.stage

    def slot(self, slot: Slot, line: Line) -> Iterator[None]:
        """Add a slot, with a stop after each of its operations."""
        units = list(enumerate(self.chunks[slot.chunk]))
        last = slot.kind in ("B", "W") and self.left[slot.chunk] == 1
        for number, kind in units if slot.kind == "F" else reversed(units):
            passes = self.units.passes(kind)
            operations = passes.forward if slot.kind == "F" else passes.backward
            if slot.kind != "W":
                line.ends = [*line.ends, *self._gathered(kind, slot, number)]
            done, line.aside, line.fetched = line.aside, [], []
            yield from line.add(tuple(_only(operations, slot.kind)))
            if slot.kind != "W":
                self.visits.append([*line.ends, *line.aside])
            if slot.kind in ("B", "W"):
                self._gradients(kind, [*line.ends, *line.aside], last=last)
            line.aside = [*done, *line.aside]
        self.left[slot.chunk] -= slot.kind in ("B", "W")

    def _gathered(self, kind: UnitKind, slot: Slot, number: int) -> list[int]:
        """Calls that bring the weights of a unit, which wait for room; none where these are there already."""
        same = (slot.microbatch, slot.chunk, number)
        # what has just been used forward stays for its backward pass
        stays, self.visited = self.visited == same, same
        phase = "forward" if slot.kind == "F" else "backward"
        calls = [c for c in self.units.calls(kind) if c.kind == "allgather" and c.phase == phase]
        if not calls or (stays and slot.kind != "F"):
            return []
        ahead = self.asked.parallel.prefetch if self.overlap.dp else 0
        free = len(self.visits) - 1 - ahead
        after = self.visits[free] if free >= 0 else []
        tasks = [self.builder.call(call, "gather", slot.kind, after, slot.microbatch) for call in calls]
        if not self.overlap.dp:
            self.builder.hold_up(self.number, tasks)
        return tasks

    def _gradients(self, kind: UnitKind, after: list[int], *, last: bool) -> None:
        """Sum the gradients of a unit over the replicas: each time, or when the last are there."""
        calls = [call for call in self.units.calls(kind) if call.kind != "allgather"]
        each = any(call.phase == "backward" for call in calls)
        if not calls or not (each or last):
            return
        once = [call for call in calls if call.phase == "backward" or last]
        if each:
            tasks = self._sum(once, after)
            if not self.overlap.dp:
                self.builder.hold_up(self.number, tasks)
            return
        self.due += [(call, after) for call in once]
        if self.overlap.dp and sum(call.size for call, _ in self.due) >= self.overlap.bucket:
            self._sum_due()

    def _sum_due(self) -> None:
        """Sum what is due, calls of a kind together."""
        together: dict[tuple[object, str], tuple[Call, list[int]]] = {}
        for call, after in self.due:
            key = (call.group, call.kind)
            size, before = (together[key][0].size, together[key][1]) if key in together else (0, [])
            together[key] = (replace(call, size=call.size + size), [*before, *after])
        self.due = []
        for call, after in together.values():
            self._sum([call], after)

    def _sum(self, calls: Iterable[Call], after: list[int]) -> list[int]:
        tasks = []
        for call in calls:
            after = [self.builder.call(call, "reduce", "update", after)]
            tasks += after
        self.summed += tasks
        return tasks

    def gradients_summed(self) -> list[int]:
        """Sum what is left, and say after which tasks all gradients of the stage are there."""
        last = self.builder.last_of(self.number)
        if not self.overlap.dp:
            for call, after in self.due:
                self._sum([call], [*after, *last])
            self.due = []
        self._sum_due()
        ends = [*self.summed, *last]
        for call in that_send(tensor_update_calls(self.asked, self.number), self.asked.parallel):
            ends.append(self.builder.call(call, "tp", "update", ends))
        return ends

    def shared_gradients(self, ready: Sequence[list[int]]) -> list[int]:
        """Sum gradients with the stage that has the same weights, once both have all of theirs."""
        tasks = []
        for call in that_send(shared_calls(self.asked, self.number), self.asked.parallel):
            mirror = self.asked.parallel.pp - 1 - self.number
            tasks.append(self.builder.call(call, "reduce", "update", [*ready[self.number], *ready[mirror]]))
        return tasks

    def update(self, after: Iterable[int]) -> None:
        """Update the weights, and gather those of which every replica has updated a part."""
        done = [self.builder.compute("optimizer", self.number, "update", self.units.optimizer(), after)]
        for kinds in self.chunks.values():
            for kind in kinds:
                for call in self.units.calls(kind):
                    if call.phase == "update" and call.kind == "allgather":
                        self.builder.call(call, "gather", "update", done)


def _only(operations: Iterable[Operation], kind: str) -> Iterator[Operation]:
    """What a kind of slot does of a backward pass: all, its way through the layers, or what is aside."""
    for operation in operations:
        if isinstance(operation, Stretch):
            chain = 0 if kind == "W" else operation.chain
            aside = 0 if kind == "I" else operation.aside
            if chain or aside:
                yield Stretch(operation.name, chain, aside)
        elif kind in ("F", "B") or (isinstance(operation, Sends) and operation.aside) == (kind == "W"):
            yield operation
