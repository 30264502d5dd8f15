"""A step as a graph: what every stage computes and sends, and what each of these tasks waits for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from simulator.llm.errors import ModelError
from simulator.llm.step.fabric import Way, way_of, whole_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.llm.calls import Call

MOST_PASSES: Final = 1 << 19
"""Passes of units, each of some ten tasks of a kilobyte, that a graph may hold: about five gigabytes."""

COMPUTE: Final = "compute"
"""The stream on which a stage computes; the others are of calls."""


def check_passes(passes: int, at: tuple[str, ...]) -> None:
    """Refuse a graph that would be too large.

    Parameters
    ----------
    passes : int
        Times that a layer, the embedding or the output layer is gone through, forward or backward.
    at : tuple of str
        What of a file asks for so many.

    Raises
    ------
    ModelError
    """
    if passes > MOST_PASSES:
        raise ModelError(
            f"to go through {passes:,} layers one by one is too long; the limit is {MOST_PASSES:,}", at
        )


@dataclass(frozen=True, slots=True)
class Stream:
    """What does one task after the other, in the order of the program.

    Attributes
    ----------
    stage : int
    name : str
    """

    stage: int
    name: str


@dataclass(frozen=True, slots=True)
class Task:
    """Something that a stage does.

    Attributes
    ----------
    name : str
        For people.
    stream : Stream
    phase : str
        F, B, I or W of a pass, or `update`.
    microbatch : int
        -1 where it is of none.
    hold : int
        fs for which it computes; 0 for a call.
    way : Way or None
        Whose call it is.
    size : int
        Bytes of the call.
    call : int
        Number of the way and size among `Graph.calls`; -1 for compute.
    """

    name: str
    stream: Stream
    phase: str
    microbatch: int = -1
    hold: int = 0
    way: Way | None = None
    size: int = 0
    call: int = -1


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """Tasks, each after those that it waits for.

    Attributes
    ----------
    tasks : tuple of Task
    after : tuple of tuple of int
        What each waits for, what comes before it on its stream among it.
    calls : tuple of (Way, int)
        Every way and size that calls have, once.
    streams : tuple of Stream
        In order of their stages.
    """

    tasks: tuple[Task, ...]
    after: tuple[tuple[int, ...], ...]
    calls: tuple[tuple[Way, int], ...]
    streams: tuple[Stream, ...]

    def __len__(self) -> int:
        return len(self.tasks)

    def edges(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """What each task waits for, as offsets and tasks."""
        offset = np.zeros(len(self) + 1, dtype=np.int64)
        np.cumsum([len(some) for some in self.after], out=offset[1:])
        flat = [one for some in self.after for one in some]
        return offset, np.array(flat, dtype=np.int64)


@dataclass(slots=True, eq=False)
class Builder:
    """A graph that grows task by task, in an order in which all that a task waits for is there."""

    tasks: list[Task] = field(default_factory=list)
    after: list[tuple[int, ...]] = field(default_factory=list)
    last: dict[tuple[int, str], int] = field(default_factory=dict)
    held_up: dict[int, list[int]] = field(default_factory=dict)
    calls: dict[tuple[Way, int], int] = field(default_factory=dict)
    streams: dict[tuple[int, str], Stream] = field(default_factory=dict)

    def graph(self) -> Graph:
        """What has grown."""
        streams = sorted(self.streams.values(), key=lambda stream: stream.stage)
        return Graph(tuple(self.tasks), tuple(self.after), tuple(self.calls), tuple(streams))

    def compute(
        self,
        name: str,
        stage: int,
        phase: str,
        hold: int,
        after: Iterable[int],
        microbatch: int = -1,
        stream: str = COMPUTE,
    ) -> int:
        """Add a task that takes so many fs; where it computes, after what its stage is held up by, too."""
        waits = [*after, *(self.held_up.pop(stage, ()) if stream == COMPUTE else ())]
        return self._add(Task(name, self._stream(stage, stream), phase, microbatch, hold), waits)

    def call(self, call: Call, stream: str, phase: str, after: Iterable[int], microbatch: int = -1) -> int:
        """Add a call on a stream of its stage."""
        return self.send(call.what, way_of(call), whole_bytes(call), stream, phase, after, microbatch)

    def send(
        self,
        name: str,
        way: Way,
        size: int,
        stream: str,
        phase: str,
        after: Iterable[int],
        microbatch: int = -1,
    ) -> int:
        """Add what a way does with so many bytes."""
        where = self._stream(way.stage, stream)
        number = self.calls.setdefault((way, size), len(self.calls))
        return self._add(Task(name, where, phase, microbatch, 0, way, size, number), after)

    def hold_up(self, stage: int, tasks: Sequence[int]) -> None:
        """Let a stage compute nothing more before some tasks have ended."""
        self.held_up.setdefault(stage, []).extend(tasks)

    def last_of(self, stage: int) -> list[int]:
        """What a stage has computed last, if anything."""
        return [self.last[stage, COMPUTE]] if (stage, COMPUTE) in self.last else []

    def _stream(self, stage: int, name: str) -> Stream:
        if (stage, name) not in self.streams:
            self.streams[stage, name] = Stream(stage, name)
        return self.streams[stage, name]

    def _add(self, task: Task, after: Iterable[int]) -> int:
        number, stream = len(self.tasks), (task.stream.stage, task.stream.name)
        before = self.last.get(stream)
        self.last[stream] = number
        self.tasks.append(task)
        self.after.append(tuple(sorted({*after} if before is None else {*after, before})))
        return number
