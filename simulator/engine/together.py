"""The plan of several jobs that share a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from simulator.engine.errors import PlanError
from simulator.engine.numbering import narrow_offsets
from simulator.engine.plan import NO_TRANSFER, START, Buffers, Flows, Plan, Resources, carried_bytes
from topologies.clock import femtoseconds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.engine.jobs import Job
    from simulator.engine.timeline import Timeline


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """Jobs that share a network.

    Attributes
    ----------
    jobs : tuple of Job
    plan : Plan
        Of all of them, one after the other. Its transfers are the rows of their schedules, one
        after the other; its `bytes` are given.
    first : ndarray of int64, shape (jobs + 1,)
        Job j has the operations first[j]:first[j + 1].
    row : ndarray of int64, shape (jobs + 1,)
        And the transfers row[j]:row[j + 1].
    carried : ndarray of int64, shape (operations,)
        Bytes that each carries over links: the plan's own `bytes`.
    """

    jobs: tuple[Job, ...]
    plan: Plan
    first: NDArray[np.int64]
    row: NDArray[np.int64]
    carried: NDArray[np.int64]

    def spans(self, timeline: Timeline) -> list[tuple[int, int]]:
        """When each job could start, and when it has finished, fs.

        Parameters
        ----------
        timeline : Timeline
            Of the plan.
        """
        spans: list[tuple[int, int]] = []
        done = timeline.release + self.plan.resources.latency[self.plan.resource]
        hop = self.plan.hop_offset[self.first]
        for job, begin, end in zip(self.jobs, hop[:-1], hop[1:], strict=True):
            start = femtoseconds(job.start) + max((spans[other][1] for other in job.after), default=0)
            spans.append((start, int(done[begin:end].max(initial=start))))
        return spans

    def messages(self, timeline: Timeline, job: int) -> NDArray[np.int64]:
        """When each transfer of a job has finished, fs, shape (transfers,)."""
        done = timeline.release + self.plan.resources.latency[self.plan.resource]
        transfer = self.plan.transfer[timeline.operation()]
        own = np.flatnonzero((transfer >= self.row[job]) & (transfer < self.row[job + 1]))
        finish = np.zeros(self.row[job + 1] - self.row[job], dtype=np.int64)
        np.maximum.at(finish, transfer[own] - self.row[job], done[own])
        return finish


def together(jobs: Sequence[Job], plans: Sequence[Plan]) -> Together:
    """One plan of several jobs' plans on one machine: they share its links and what its ranks have.

    Operations are in the order of the jobs. One that comes after others begins with a join, which
    waits for the last operations of these, and for which its ranks wait.

    Parameters
    ----------
    jobs : sequence of Job
    plans : sequence of Plan
        Each job's own.

    Raises
    ------
    PlanError
        If a job comes after one that is not before it.
    """
    for i, job in enumerate(jobs):
        if any(not 0 <= other < i for other in job.after):
            raise PlanError(f"job {i} comes after jobs that are not before it", ("after",))
    joins = [int(bool(job.after)) for job in jobs]
    first = np.cumsum([0, *(join + len(plan) for join, plan in zip(joins, plans, strict=True))])
    row = np.cumsum([0, *(len(job.schedule) for job in jobs)])
    begin, rows = first[:-1].tolist(), row[:-1].tolist()
    parts = [_Part(*part) for part in zip(jobs, plans, joins, begin, rows, strict=True)]
    last = [part.last_operations() for part in parts]
    waiting = [part.dependencies([last[other] for other in part.job.after]) for part in parts]
    shared, starts = _shared(plans[0]), [len(plan.resources) - _shared(plan) for plan in plans]
    carried = np.concatenate(
        [part.by_operation(carried_bytes(part.plan, part.job.schedule)) for part in parts]
    )
    place = accumulate(starts[:-1], initial=shared)
    plan = Plan(
        np.concatenate([part.transfers() for part in parts]),
        narrow_offsets(np.concatenate([part.by_operation(np.diff(part.plan.hop_offset)) for part in parts])),
        np.concatenate([_moved(plan.resource, shared, to) for plan, to in zip(plans, place, strict=True)]),
        np.concatenate([plan.hold for plan in plans]),
        np.concatenate([plan.head for plan in plans]),
        narrow_offsets(np.concatenate([count for count, _ in waiting])),
        np.concatenate([awaited for _, awaited in waiting]).astype(np.int32),
        _resources([plan.resources for plan in plans], shared),
        _flows(parts, shared),
        _buffers(plans, shared),
        carried,
    )
    return Together(tuple(jobs), plan, first, row, carried)


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """A job in the plan of all.

    Attributes
    ----------
    job : Job
    plan : Plan
        Its own.
    joins : int
        1 where a join for what it comes after is its first operation, else 0.
    first, row : int
        Its first operation and its first transfer among those of all.
    """

    job: Job
    plan: Plan
    joins: int
    first: int
    row: int

    def by_operation(self, column: NDArray[np.integer]) -> NDArray[np.int64]:
        """A column of the operations, with 0 for the join."""
        return np.concatenate([np.zeros(self.joins, dtype=np.int64), column])

    def transfers(self) -> NDArray[np.int32]:
        """Transfer of each operation, among those of all."""
        own = self.plan.transfer
        moved = np.where(own == NO_TRANSFER, NO_TRANSFER, own + self.row).astype(np.int32)
        return np.concatenate([np.full(self.joins, NO_TRANSFER, dtype=np.int32), moved])

    def last_operations(self) -> NDArray[np.int64]:
        """Those for which no other of the job waits."""
        last = np.ones(len(self.plan), dtype=bool)
        last[self.plan.dependency] = False
        return np.flatnonzero(last) + self.joins + self.first

    def dependencies(
        self, awaited: Sequence[NDArray[np.int64]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """How many operations each waits for, and which; the join waits for what is awaited."""
        count, own = np.diff(self.plan.dependency_offset), self.plan.dependency.astype(np.int64)
        own += self.joins + self.first
        if not self.joins:
            return count.astype(np.int64), own
        # its own first operations are the starts of its ranks, which wait for nothing else
        starts = self.job.schedule.ranks
        count = np.concatenate([np.ones(starts, dtype=np.int64), count[starts:]])
        ends = np.concatenate(awaited)
        number = np.concatenate([ends, np.full(starts, self.first), own])
        return np.concatenate([[len(ends)], count]), number


def _shared(plan: Plan) -> int:
    """How many resources are the machine's; the starts of ranks come after them, and are a job's own."""
    return int(np.count_nonzero(plan.resources.kind != START))


def _moved(resource: NDArray[np.int32], shared: int, to: int) -> NDArray[np.int32]:
    """Resources of a job's hops, with its starts from number `to` on."""
    return np.where(resource < shared, resource, resource + np.int32(to - shared))


def _resources(every: Sequence[Resources], shared: int) -> Resources:
    columns = [
        np.concatenate([getattr(every[0], name)[:shared], *(getattr(one, name)[shared:] for one in every)])
        for name in ("kind", "which", "latency", "gap")
    ]
    return Resources(*columns)


def _flows(parts: Sequence[_Part], shared: int) -> Flows | None:
    flows = [(part, part.plan.flows) for part in parts if part.plan.flows is not None]
    if not flows:
        return None
    own = [flow.capacity[shared:] for _, flow in flows]
    return Flows(
        np.concatenate([part.by_operation(flow.bytes) for part, flow in flows]),
        np.concatenate([part.by_operation(flow.delay) for part, flow in flows]),
        np.concatenate([flows[0][1].capacity[:shared], *own]),
    )


def _buffers(plans: Sequence[Plan], shared: int) -> Buffers | None:
    buffers = [plan.buffers for plan in plans if plan.buffers is not None]
    if not buffers:
        return None
    room = np.concatenate([buffers[0].room[:shared], *(one.room[shared:] for one in buffers)])
    need, reach, overhead, drain = (
        np.concatenate([getattr(one, name) for one in buffers])
        for name in ("need", "reach", "overhead", "drain")
    )
    return replace(buffers[0], room=room, need=need, reach=reach, overhead=overhead, drain=drain)
