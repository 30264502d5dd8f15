"""Tasks that wait for each other: work that holds a stream for a time, and plans that run on a network.

All of them become one plan, so that whatever shares a link, whichever task it belongs to, waits for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from simulator.engine.numbering import narrow_offsets
from simulator.engine.plan import COMPUTE, NO_TRANSFER, STREAM, Buffers, Flows, Plan, Resources

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.engine.timeline import Timeline

Column = TypeVar("Column", bound=np.generic)

HOLDS: Final = -1
"""Instead of a plan: the task holds its stream."""


@dataclass(frozen=True, slots=True, eq=False)
class Tasks:
    """What is to be done, in an order in which each task comes after those that it waits for.

    Attributes
    ----------
    plans : sequence of Plan
        On one machine and without late ranks, so that all have the same resources; each says its
        `bytes`.
    runs : ndarray of int32, shape (tasks,)
        Which of the plans a task runs, or `HOLDS`.
    stream : ndarray of int32, shape (tasks,)
        Stream that a task holds; one that runs a plan holds none.
    hold : ndarray of int64, shape (tasks,)
        fs for which it holds its stream.
    after_offset, after : ndarray of int64
        Task t begins when all of after[after_offset[t]:after_offset[t + 1]] have ended.
    kind : ndarray of uint8, shape (streams,)
        COMPUTE or STREAM, of each stream.
    owner : ndarray of int32, shape (streams,)
        Whose it is.
    """

    plans: Sequence[Plan]
    runs: NDArray[np.int32]
    stream: NDArray[np.int32]
    hold: NDArray[np.int64]
    after_offset: NDArray[np.int64]
    after: NDArray[np.int64]
    kind: NDArray[np.uint8]
    owner: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.runs)


@dataclass(frozen=True, slots=True, eq=False)
class TaskPlan:
    """The plan of tasks.

    Attributes
    ----------
    plan : Plan
    first : ndarray of int64, shape (tasks + 1,)
        Task t has the operations first[t]:first[t + 1]; of several, the first is a join that begins
        it and the last one that ends it.
    """

    plan: Plan
    first: NDArray[np.int64]

    def spans(self, timeline: Timeline) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """When each task has begun and ended, fs; two arrays of shape (tasks,).

        One that holds a stream begins when it gets it, one that runs a plan when all that it waits for has
        ended.

        Parameters
        ----------
        timeline : Timeline
            Of the plan.
        """
        plan = self.plan
        hops = plan.hop_offset[self.first].astype(np.int64)
        done = timeline.release + plan.resources.latency[plan.resource]
        begin = np.minimum.reduceat(timeline.arrival, hops[:-1])
        holds = np.isin(plan.resources.kind[plan.resource[hops[:-1]]], (COMPUTE, STREAM))
        begin[holds] = timeline.grant[hops[:-1][holds]]
        return begin, np.maximum.reduceat(done, hops[:-1])


def task_plan(tasks: Tasks) -> TaskPlan:
    """One plan of all tasks.

    Parameters
    ----------
    tasks : Tasks
        At least one; its plans have hops.
    """
    held = _held(tasks)
    parts = [held, *(_between_joins(plan, held.resources) for plan in tasks.plans)]
    laid = _Laid(parts, tasks.runs - HOLDS)
    first = laid.offsets([len(part) for part in parts])
    waits = laid.column([np.diff(part.dependency_offset) for part in parts])
    waits[first[:-1]] += np.diff(tasks.after_offset)
    plan = Plan(
        transfer=laid.column([part.transfer for part in parts]),
        hop_offset=narrow_offsets(laid.column([np.diff(part.hop_offset) for part in parts])),
        resource=laid.column([part.resource for part in parts]),
        hold=laid.column([part.hold for part in parts]),
        head=laid.column([part.head for part in parts]),
        dependency_offset=narrow_offsets(waits),
        dependency=_dependencies(tasks, laid, first),
        resources=held.resources,
        flows=_flows(laid),
        buffers=_buffers(laid),
        bytes=laid.column([_bytes(part) for part in parts]),
    )
    holds = np.flatnonzero(tasks.runs == HOLDS)
    at = plan.hop_offset[first[holds]]
    plan.resource[at] += tasks.stream[holds]
    plan.hold[at] = tasks.hold[holds]
    return TaskPlan(plan, first)


@dataclass(frozen=True, slots=True, eq=False)
class _Laid:
    """The plans of tasks, one task after the other.

    Attributes
    ----------
    parts : sequence of Plan
    which : ndarray of int, shape (tasks,)
        Part of each task.
    """

    parts: Sequence[Plan]
    which: NDArray[np.integer]

    def offsets(self, sizes: Sequence[int]) -> NDArray[np.int64]:
        """Where each task begins, if each part takes so much; shape (tasks + 1,)."""
        offsets = np.zeros(len(self.which) + 1, dtype=np.int64)
        np.cumsum(np.array(sizes, dtype=np.int64)[self.which], out=offsets[1:])
        return offsets

    def column(self, columns: Sequence[NDArray[Column]]) -> NDArray[Column]:
        """What a column of the parts is for all tasks."""
        first = self.offsets([len(column) for column in columns])
        whole = np.empty(int(first[-1]), dtype=columns[0].dtype)
        for part, column in enumerate(columns):
            tasks = np.flatnonzero(self.which == part)
            whole[first[tasks][:, None] + np.arange(len(column))] = column
        return whole


def _held(tasks: Tasks) -> Plan:
    """A task that holds the first stream for no time."""
    streams = Resources(tasks.kind, tasks.owner, *np.zeros((2, len(tasks.kind)), dtype=np.int64))
    resources = streams
    if tasks.plans:
        names = ("kind", "which", "latency", "gap")
        machine = tasks.plans[0].resources
        resources = Resources(*(np.concatenate([getattr(r, n) for r in (machine, streams)]) for n in names))
    return Plan(
        transfer=np.full(1, NO_TRANSFER, dtype=np.int32),
        hop_offset=np.array([0, 1], dtype=np.int32),
        resource=np.full(1, len(resources) - len(streams), dtype=np.int32),
        hold=np.zeros(1, dtype=np.int64),
        head=np.zeros(1, dtype=bool),
        dependency_offset=np.zeros(2, dtype=np.int32),
        dependency=np.zeros(0, dtype=np.int32),
        resources=resources,
    )


def _between_joins(plan: Plan, resources: Resources) -> Plan:
    """A plan after a join for which all of it waits, and before one that waits for all of it."""
    waits, count = np.diff(plan.dependency_offset), len(plan)
    last = np.ones(count, dtype=bool)
    last[plan.dependency] = False
    ends = np.flatnonzero(last) + 1
    # who waits for nobody waits for the join, operation 0
    place = np.searchsorted(np.repeat(np.arange(count), waits), np.flatnonzero(waits == 0))
    awaited = np.concatenate([np.insert(plan.dependency + 1, place, 0), ends])
    join = np.full(1, NO_TRANSFER, dtype=np.int32)
    return replace(
        plan,
        transfer=np.concatenate([join, plan.transfer, join]),
        hop_offset=np.concatenate([[0], plan.hop_offset, plan.hop_offset[-1:]]).astype(plan.hop_offset.dtype),
        dependency_offset=narrow_offsets(np.concatenate([[0], np.maximum(waits, 1), [len(ends)]])),
        dependency=awaited.astype(np.int32),
        resources=resources,
        bytes=np.concatenate([[0], _bytes(plan), [0]]),
    )


def _bytes(plan: Plan) -> NDArray[np.int64]:
    return np.zeros(len(plan), dtype=np.int64) if plan.bytes is None else plan.bytes


def _dependencies(tasks: Tasks, laid: _Laid, first: NDArray[np.int64]) -> NDArray[np.int32]:
    """What operations wait for: the first of a task for the last ones of others, the rest for its own."""
    inside = np.array([len(part.dependency) for part in laid.parts])[laid.which]
    outside = np.diff(tasks.after_offset)
    own = laid.column([part.dependency for part in laid.parts]) + np.repeat(first[:-1], inside)
    others = first[tasks.after + 1] - 1
    whole = np.empty(len(own) + len(others), dtype=np.int32)
    whole[np.arange(len(own)) + np.repeat(np.cumsum(outside), inside)] = own
    whole[np.arange(len(others)) + np.repeat(np.cumsum(inside) - inside, outside)] = others
    return whole


def _flows(laid: _Laid) -> Flows | None:
    """The flows of the parts, where they have any; between joins there are two operations more."""
    known = [part.flows for part in laid.parts if part.flows is not None]
    if not known:
        return None
    nothing = np.zeros(1, dtype=np.int64)
    size, delay = (
        laid.column(
            [nothing if part.flows is None else np.pad(getattr(part.flows, name), 1) for part in laid.parts]
        )
        for name in ("bytes", "delay")
    )
    capacity = known[0].capacity
    more = len(laid.parts[0].resources) - len(capacity)
    return Flows(size, delay, np.pad(capacity, (0, more)))


def _buffers(laid: _Laid) -> Buffers | None:
    """The buffers of the parts, where they have any."""
    known = [part.buffers for part in laid.parts if part.buffers is not None]
    if not known:
        return None
    need, reach, overhead, drain = (
        laid.column(
            [
                np.zeros(part.hops, dtype=getattr(known[0], name).dtype)
                if part.buffers is None
                else getattr(part.buffers, name)
                for part in laid.parts
            ]
        )
        for name in ("need", "reach", "overhead", "drain")
    )
    more = len(laid.parts[0].resources) - len(known[0].room)
    return Buffers(np.pad(known[0].room, (0, more)), need, reach, overhead, drain, known[0].name)
