"""The critical path: the chain of operations that made the time, and what each part of it was.

It is walked backwards from the last finish, through what an operation waited for: the hop before,
the operations that it depends on, or those that held the resource when it came. The moments of
the walk lie one behind the other, so that the parts sum to the time exactly.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from simulator.engine.machine import femtoseconds_of
from simulator.engine.occupants import Occupants
from simulator.engine.plan import COMPUTE as COMPUTES
from simulator.engine.plan import LINK, PROCESSOR, REDUCER, START
from simulator.engine.sharing import flow_hops
from topologies.clock import LONGEST, femtoseconds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.engine.timeline import Timeline
    from topologies.topology import Topology

PARTS: Final = ("latency", "overhead", "serialization", "queueing", "reduction", "compute", "waiting")
"""What time can go into: `waiting` is for a rank, or a collective, that begins late."""

LATENCY, OVERHEAD, SERIALIZATION, QUEUEING, REDUCTION, COMPUTE, WAITING = range(len(PARTS))

_HOLDS: Final = {REDUCER: REDUCTION, COMPUTES: COMPUTE, START: WAITING, PROCESSOR: OVERHEAD}
"""What holding a resource is; of links and ports, what is not overhead is serialization."""


@dataclass(frozen=True, slots=True, eq=False)
class CriticalPath:
    """Segments that lie one behind the other, from the start to the finish.

    Attributes
    ----------
    operation : ndarray of int64, shape (segments,)
        Of the plan.
    resource : ndarray of int64, shape (segments,)
        What it held, crossed or waited for.
    part : ndarray of uint8, shape (segments,)
        Index into `PARTS`.
    begin, end : ndarray of int64, shape (segments,)
        fs.
    """

    operation: NDArray[np.int64]
    resource: NDArray[np.int64]
    part: NDArray[np.uint8]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.operation)

    @property
    def time(self) -> int:
        """Fs that it explains: all of its parts."""
        return int(self.end[-1]) if len(self) else 0

    def totals(self) -> dict[str, int]:
        """Femtoseconds of each of `PARTS`; they sum to `time`."""
        return dict(zip(PARTS, self._sums(np.zeros(len(self), dtype=np.int64), 1)[0], strict=True))

    def by_resource(self, group: NDArray[np.integer], groups: int) -> list[dict[str, int]]:
        """Femtoseconds of each of `PARTS` in each group of resources.

        Parameters
        ----------
        group : ndarray of int, shape (resources,)
            Group of each of the plan's resources.
        groups : int
            How many there are.
        """
        sums = self._sums(group[self.resource].astype(np.int64), groups)
        return [dict(zip(PARTS, row, strict=True)) for row in sums]

    def _sums(self, group: NDArray[np.int64], groups: int) -> list[list[int]]:
        sums = np.zeros((groups, len(PARTS)), dtype=np.int64)
        np.add.at(sums, (group, self.part), self.end - self.begin)
        rows: list[list[int]] = sums.tolist()
        return rows


@dataclass(frozen=True, slots=True)
class PartsByLevel:
    """Femtoseconds of each part of a path by where they were spent; all of them sum to its time.

    Attributes
    ----------
    levels : dict of str to dict of str to int
        On the links of each level.
    ranks : dict of str to int
        On no link.
    """

    levels: dict[str, dict[str, int]]
    ranks: dict[str, int]


def critical_path(timeline: Timeline, topology: Topology, operations: int | None = None) -> CriticalPath:
    """What made the time of a timeline, or of its first operations.

    A part of the path during which its message stood in a queue is `queueing`, whatever the
    message before it did in the meantime; of that, the path goes on with what held it up before.
    A flow's time past what its bytes take alone on its slowest link is `queueing`, too.

    Parameters
    ----------
    timeline : Timeline
    topology : Topology
        Whose links the plan's are.
    operations : int, optional
        Of how many operations, the first ones, the last finish is explained; default all.
    """
    walk = _Walk(timeline, topology)
    walk.back_from(len(timeline.plan) if operations is None else operations)
    return walk.path()


def parts_by_level(path: CriticalPath, timeline: Timeline, topology: Topology) -> PartsByLevel:
    """Where the time of a path was spent.

    Parameters
    ----------
    path : CriticalPath
    timeline : Timeline
    topology : Topology
    """
    resources = timeline.plan.resources
    group = np.full(len(resources), len(topology.levels), dtype=np.int64)
    is_link = resources.kind == LINK
    group[is_link] = topology.links.level[resources.which[is_link]]
    *levels, ranks = path.by_resource(group, len(topology.levels) + 1)
    return PartsByLevel(dict(zip(topology.levels, levels, strict=True)), ranks)


Moment: TypeAlias = tuple[int, bool]
"""A hop's release, or its grant."""


class _Walk:
    """The walk back, and the segments that it has found."""

    def __init__(self, timeline: Timeline, topology: Topology) -> None:
        self.timeline = timeline
        self.plan = timeline.plan
        self.latency = self.plan.resources.latency
        self.link_latency, self.link_overhead = (
            femtoseconds_of(column) for column in (topology.links.latency, topology.links.overhead)
        )
        self.flow_hops = flow_hops(self.plan)
        self.occupants = Occupants(timeline)
        self.segments: list[tuple[int, int, int, int, int]] = []
        self.ends: dict[int, int] = {}
        # an operation and its hops: that of the last hop that was asked about
        self.walked = (0, 0, 0)
        # since when the path stands in a queue, and who stands in which
        self.queued_since = LONGEST
        self.queued = (0, 0)

    def path(self) -> CriticalPath:
        """What was found, from the start on."""
        operation, resource, part, begin, end = np.array(self.segments[::-1], dtype=np.int64).reshape(-1, 5).T
        return CriticalPath(operation, resource, part.astype(np.uint8), begin, end)

    def back_from(self, operations: int) -> None:
        """Explain the last finish of the first operations, of equal ones that of the first hop."""
        hops = int(self.plan.hop_offset[operations])
        done = self.timeline.release[:hops] + self.latency[self.plan.resource[:hops]]
        if not done.max(initial=0):
            return
        moment: Moment | None = self.left(int(done.argmax()), released=True)
        while moment is not None:
            hop, released = moment
            moment = self.before_release(hop) if released else self.before_grant(hop)

    def operation(self, hop: int) -> int:
        """Operation of a hop."""
        operation, first, after = self.walked
        if not first <= hop < after:
            # numpy's own search would turn the whole column into wider numbers first
            operation = bisect_right(self.plan.hop_offset, hop) - 1
            self.walked = (operation, *self.plan.hop_offset[operation : operation + 2].tolist())
        return operation

    def left(self, hop: int, *, released: bool) -> Moment:
        """Explain the latency after a hop was released, or granted."""
        since = int((self.timeline.release if released else self.timeline.grant)[hop])
        self.add(hop, LATENCY, since, since + int(self.latency[self.plan.resource[hop]]))
        return hop, released

    def before_release(self, hop: int) -> Moment:
        """Explain why a hop was released when it was."""
        timeline, plan = self.timeline, self.plan
        if self.flows(hop):
            return self.before_end_of_flow(hop), False
        grant, release = int(timeline.grant[hop]), int(timeline.release[hop])
        held = grant + int(plan.hold[hop])
        if held < release and plan.head[hop]:
            tail = int(timeline.release[hop - 1] + self.latency[plan.resource[hop - 1]])
            if tail == release:
                return self.left(hop - 1, released=True)
        # what keeps it past its hold is that there is no room further on
        self.add(hop, QUEUEING, min(held, release), release)
        self.hold(hop, grant, min(held, release))
        return hop, False

    def hold(self, hop: int, grant: int, release: int) -> None:
        """Explain the time for which a hop held its resource for its own sake."""
        resource = int(self.plan.resource[hop])
        kind = int(self.plan.resources.kind[resource])
        if kind != LINK:
            self.add(hop, _HOLDS.get(kind, SERIALIZATION), grant, release)
            return
        bytes_from = min(release, grant + int(self.link_overhead[self.plan.resources.which[resource]]))
        self.add(hop, SERIALIZATION, bytes_from, release)
        self.add(hop, OVERHEAD, grant, bytes_from)

    def before_grant(self, hop: int) -> Moment | None:
        """Explain why a hop was granted when it was."""
        timeline = self.timeline
        arrival, grant = int(timeline.arrival[hop]), int(timeline.grant[hop])
        operation = self.operation(hop)
        first = int(self.plan.hop_offset[operation])
        if self.flows(hop):
            self.before_flow(operation, grant)
        elif arrival < grant:
            if arrival < self.queued_since:
                self.queued_since, self.queued = arrival, (operation, int(self.plan.resource[hop]))
            other = self.occupants.before(hop)
            if other is not None:
                self.add(other, OVERHEAD, int(timeline.release[other]), grant)
                return other, True
            self.add(hop, QUEUEING, arrival, grant)
        if hop > first:
            return self.left(hop - 1, released=not self.plan.head[hop])
        return self.before_start(operation, arrival)

    def before_start(self, operation: int, start: int) -> Moment | None:
        """Explain why an operation began when it did: what it waited for last."""
        while start > 0:
            awaited = self.awaited(operation)
            operation = max(awaited, key=self.end)
            first, after = self.plan.hop_offset[operation : operation + 2].tolist()
            if first < after:
                return self.left(after - 1, released=True)
        return None

    def awaited(self, operation: int) -> list[int]:
        """What an operation depends on."""
        first, after = self.plan.dependency_offset[operation : operation + 2]
        awaited: list[int] = self.plan.dependency[first:after].tolist()
        return awaited

    def end(self, operation: int) -> int:
        """When an operation has finished, fs."""
        first, after = self.plan.hop_offset[operation : operation + 2].tolist()
        if first < after:
            return int(self.timeline.release[after - 1] + self.latency[self.plan.resource[after - 1]])
        if operation not in self.ends:
            self.ends[operation] = max(map(self.end, self.awaited(operation)), default=0)
        return self.ends[operation]

    def add(self, hop: int, part: int, begin: int, end: int) -> None:
        """Put a segment before those that were found; of what is within a wait, it is the waiting."""
        since = max(begin, self.queued_since)
        if since < end:
            self.put((*self.queued, QUEUEING), since, end)
            end = since
        if begin < end:
            self.put((self.operation(hop), int(self.plan.resource[hop]), part), begin, end)

    def put(self, what: tuple[int, int, int], begin: int, end: int) -> None:
        """Put a segment before the others, or let the first of them begin earlier."""
        if self.segments and self.segments[-1][:3] == what:
            end = self.segments.pop()[4]
        self.segments.append((*what, begin, end))

    def flows(self, hop: int) -> bool:
        """Whether a hop is part of a flow."""
        return self.plan.flows is not None and bool(self.plan.flows.capacity[self.plan.resource[hop]])

    def flow(self, operation: int) -> range:
        """Hops of an operation's flow."""
        first = int(self.plan.hop_offset[operation])
        return range(first, first + int(self.flow_hops[operation]))

    def before_end_of_flow(self, hop: int) -> int:
        """Explain how long the bytes of a flow took; its first hop."""
        operation, timeline, flows = self.operation(hop), self.timeline, self.plan.flows
        assert flows is not None
        walked = self.flow(operation)
        capacity = flows.capacity[self.plan.resource[walked.start : walked.stop]]
        slowest = walked[int(capacity.argmin())]
        alone = Fraction(int(flows.bytes[operation])) / Fraction(float(capacity.min()))
        begin, end = int(timeline.grant[hop]), int(timeline.release[hop])
        served = min(end, begin + femtoseconds(alone))
        self.add(slowest, QUEUEING, served, end)
        kind = int(self.plan.resources.kind[self.plan.resource[slowest]])
        self.add(slowest, _HOLDS.get(kind, SERIALIZATION), begin, served)
        return walked.start

    def before_flow(self, operation: int, begin: int) -> None:
        """Explain what a flow takes before its bytes: the latencies and overheads of its links."""
        for hop in reversed(self.flow(operation)):
            resource = int(self.plan.resource[hop])
            if self.plan.resources.kind[resource] == LINK:
                link = int(self.plan.resources.which[resource])
                for part, fixed in ((LATENCY, self.link_latency), (OVERHEAD, self.link_overhead)):
                    self.add(hop, part, begin - int(fixed[link]), begin)
                    begin -= int(fixed[link])
