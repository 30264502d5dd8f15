"""Putting the passes of a unit into a graph: what waits for what, and what may run meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import TYPE_CHECKING

from simulator.llm.step.fabric import SHIFT, SHIFT_AND_ADD, way_of
from simulator.llm.step.unit_passes import Operation, Sends, Stretch, Waits

if TYPE_CHECKING:
    from simulator.llm.calls import Call
    from simulator.llm.plan import Parallel
    from simulator.llm.step.graph import Builder
    from simulator.llm.step.overlap import Overlap


def stream_of(call: Call) -> str:
    """The stream of a call inside a pass: of its axis."""
    return call.group.name.split()[0]


@dataclass(slots=True, eq=False)
class Line:
    """A pass of a stage that grows in a graph.

    Attributes
    ----------
    builder : Builder
    parallel : Parallel
    overlap : Overlap
    stage : int
    phase : str
    microbatch : int
    ends : list of int
        Tasks for which what comes next waits.
    paired : bool
        Whether another pass of the stage fills the time of its calls.
    """

    builder: Builder
    parallel: Parallel
    overlap: Overlap
    stage: int
    phase: str
    microbatch: int
    ends: list[int]
    paired: bool = False
    aside: list[int] = field(default_factory=list)
    begun: dict[str, list[int]] = field(default_factory=dict)
    fetched: list[int] = field(default_factory=list)
    due: list[tuple[str, int, list[int]]] = field(default_factory=list)

    def add(self, operations: Sequence[Operation]) -> Iterator[None]:
        """Add operations one after the other, with a stop after each for a pass that runs meanwhile."""
        place = 0
        while place < len(operations):
            cut = self._cut(operations[place : place + 3])
            if cut is not None:
                self._in_pieces(*cut[1:])
                place += cut[0]
            else:
                self._one(operations[place])
                place += 1
            yield
        self.flush()

    def flush(self) -> None:
        """Add the gradients of weights that are due; what they leave is in `aside`."""
        for name, hold, after in self.due:
            self.aside.append(
                self.builder.compute(
                    name, self.stage, self.phase, hold, [*after, *self.fetched], self.microbatch
                )
            )
        self.due = []

    def _one(self, operation: Operation) -> None:
        if isinstance(operation, Stretch):
            self.flush()
            if operation.chain:
                self.ends = [self._compute(operation.name, operation.chain, self.ends)]
            self._later(operation)
        elif isinstance(operation, Waits):
            self.ends = [*self.ends, *self.begun.pop(operation.until, ())]
        else:
            self._send(operation)

    def _later(self, stretch: Stretch) -> None:
        if stretch.aside:
            self.due.append((stretch.name, stretch.aside, list(self.ends)))

    def _send(self, sends: Sends) -> None:
        ends = self.ends
        for call in sends.calls:
            ends = [self._call(call, ends)]
        if sends.until:
            self.begun[sends.until] = ends
        elif sends.aside:
            self.fetched = [*self.fetched, *ends]
        else:
            self.ends = ends
        if not (self.paired or self.overlap.of(stream_of(sends.calls[0]))):
            self.builder.hold_up(self.stage, ends)

    def _compute(self, name: str, hold: int, after: Iterable[int]) -> int:
        return self.builder.compute(name, self.stage, self.phase, hold, after, self.microbatch)

    def _call(self, call: Call, after: Iterable[int]) -> int:
        return self.builder.call(call, stream_of(call), self.phase, after, self.microbatch)

    def _cut(self, ahead: Sequence[Operation]) -> tuple[int, Call | None, Stretch, Call | None] | None:
        """How many of the next operations to do in pieces, and these: a call, a product, a call."""
        if not self.overlap.tp:
            return None
        before = _divisible(ahead[0], "allgather")
        rest = ahead if before is None else ahead[1:]
        if not rest or not isinstance(rest[0], Stretch) or not rest[0].chain:
            return None
        after = _divisible(rest[1], "reduce_scatter") if len(rest) > 1 else None
        if before is None and after is None:
            return None
        return 1 + (before is not None) + (after is not None), before, rest[0], after

    def _in_pieces(self, before: Call | None, stretch: Stretch, after: Call | None) -> None:
        """Multiply each piece when it has come round a ring, and send it on round one when it is multiplied.

        A rank has the first piece of what it gathers, and keeps the last one of what it gives.
        """
        self.flush()
        call = before or after
        assert call is not None
        pieces = call.group.size(self.parallel)
        here = self.ends
        come = [here]
        for _ in range(pieces - 1 if before is not None else 0):
            come.append([self._shift(call, SHIFT, come[-1])])
        gone: list[int] = []
        for piece in range(pieces):
            hold = stretch.chain * (piece + 1) // pieces - stretch.chain * piece // pieces
            done = self._compute(stretch.name, hold, come[piece if before is not None else 0])
            if after is not None and piece + 1 < pieces:
                gone = [self._shift(after, SHIFT_AND_ADD, [done, *gone])]
        self.ends = [done, *gone]
        self._later(stretch)

    def _shift(self, call: Call, kind: str, after: Iterable[int]) -> int:
        """A step of a ring that does a call."""
        way = replace(way_of(call), kind=kind)
        size = ceil(call.size / call.group.size(self.parallel))
        return self.builder.send(call.what, way, size, stream_of(call), self.phase, after, self.microbatch)


def _divisible(operation: Operation, kind: str) -> Call | None:
    """The one call of tensor parallelism, of that kind, that an operation is."""
    if not isinstance(operation, Sends) or operation.aside or operation.until:
        return None
    [call, *more] = operation.calls
    return call if not more and stream_of(call) == "tp" and call.kind == kind else None
