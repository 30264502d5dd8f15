"""Execution traces of all ranks as a graph of tasks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from simulator.llm.calls import Group
from simulator.llm.step.fabric import Way
from simulator.llm.step.graph import Graph, Stream, Task
from simulator.llm.workload.event_order import in_order
from simulator.llm.workload.events import SEND, Event, events_of

if TYPE_CHECKING:
    from algorithms.formats.chakra import Trace
    from simulator.llm.workload.groups import Groups
    from simulator.llm.workload.plan import WorkloadPlan

_MOST: Final = 16
"""Tasks that something may wait for through nodes that take no time, before one task stands for them."""


def trace_graph(traces: Sequence[Trace], groups: Groups, plan: WorkloadPlan) -> Graph:
    """Tasks of execution traces; nodes that take no time are none, but are waited for like others.

    A task stands on a stream of its rank; a collective on one of its group, at the group's first rank.

    Parameters
    ----------
    traces : sequence of Trace
        Of each rank.
    groups : Groups
    plan : WorkloadPlan

    Raises
    ------
    FormatError
        If the traces do not fit each other, or some nodes wait for each other.
    """
    events = events_of(traces, groups, plan)
    grown = _Grown(plan)
    for number in in_order(events):
        grown.add(number, events[number])
    return grown.graph()


@dataclass(slots=True, eq=False)
class _Grown:
    """A graph that grows event by event.

    Attributes
    ----------
    ends : dict
        Tasks after which an event has ended.
    last : dict
        The last collective of a group, or of a rank.
    """

    plan: WorkloadPlan
    tasks: list[Task] = field(default_factory=list)
    after: list[tuple[int, ...]] = field(default_factory=list)
    streams: dict[tuple[int, str], Stream] = field(default_factory=dict)
    calls: dict[tuple[Way, int], int] = field(default_factory=dict)
    ends: dict[int, frozenset[int]] = field(default_factory=dict)
    last: dict[object, int] = field(default_factory=dict)

    def graph(self) -> Graph:
        """What has grown."""
        streams = sorted(self.streams.values(), key=lambda stream: stream.stage)
        return Graph(tuple(self.tasks), tuple(self.after), tuple(self.calls), tuple(streams))

    def add(self, number: int, event: Event) -> None:
        """Add what an event does."""
        after = frozenset[int]().union(*(self.ends[other] for other in event.after))
        rank, node = event.parts[0].rank, event.parts[0].node
        if event.kind:
            after = frozenset({self._call(event, after)})
        elif event.hold:
            after = frozenset(
                {self._task(Task(node.name, self._stream(rank, event.stream), "", hold=event.hold), after)}
            )
        elif len(after) > _MOST:
            # a stream of its own: nothing can keep it waiting
            task = Task(node.name, self._stream(rank, f"node {node.id}"), "")
            after = frozenset({self._task(task, after)})
        self.ends[number] = after

    def _call(self, event: Event, after: frozenset[int]) -> int:
        assert event.members is not None
        ranks, name = event.members.ranks, event.parts[0].node.name
        peer = ranks[1] if event.kind == SEND else None
        way = Way(Group(event.members.name, ()), event.kind, ranks[0], peer, ranks=event.members.array)
        call = self.calls.setdefault((way, event.size), len(self.calls))
        stream = self._stream(ranks[0], event.stream)
        turns = [] if event.kind == SEND else self._turns(event)
        task = self._task(
            Task(name, stream, "", -1, 0, way, event.size, call),
            after.union(self.last[turn] for turn in turns if turn in self.last),
        )
        self.last |= dict.fromkeys(turns, task)
        return task

    def _turns(self, event: Event) -> Sequence[object]:
        """Whose collectives follow each other."""
        assert event.members is not None
        return {"group": [event.members], "rank": event.members.ranks, "none": []}[self.plan.one_at_a_time]

    def _stream(self, rank: int, name: str) -> Stream:
        return self.streams.setdefault((rank, name), Stream(rank, name))

    def _task(self, task: Task, after: Iterable[int]) -> int:
        self.tasks.append(task)
        self.after.append(tuple(sorted(after)))
        return len(self.tasks) - 1
