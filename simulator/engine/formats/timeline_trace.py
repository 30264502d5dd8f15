"""A timeline as a trace for Perfetto: who held what, what led to what, and who queued where.

Ranks and switches are the groups, and what each has are its tracks: the links that leave it, its
reducer, its processor. So a rank can be unfolded by itself, a message be followed from rank to rank,
and the groups stay as many as the nodes, where a full mesh has their square of links.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from algorithms.schedule import REDUCE
from algorithms.trace import ranges_text
from simulator.engine.formats.trace_events import NONE, Counter, Slices, Trace, Track, as_text, as_us, lanes
from simulator.engine.path_parts import PARTS
from simulator.engine.plan import LINK, NO_TRANSFER, START, carried_bytes, resource_name
from topologies.loops import fast

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.schedule import Schedule
    from simulator.engine.critical_path import CriticalPath
    from simulator.engine.jobs import Job
    from simulator.engine.timeline import Timeline
    from simulator.engine.together import Together
    from topologies.topology import Topology

MOST_HOPS: Final = 200_000
"""Past these a trace would be some 100 MB, which browsers no longer show."""

_ON_THE_WAY: Final = "critical path"
_REMEMBERED: Final = 1 << 16

_Ints: TypeAlias = "NDArray[np.integer]"


def timeline_trace(
    timeline: Timeline, schedule: Schedule, topology: Topology, path: CriticalPath | None = None
) -> Trace:
    """Trace of a timeline.

    Parameters
    ----------
    timeline : Timeline
    schedule, topology
        What its plan was made from.
    path : CriticalPath, optional
        Shown on a track of its own, above the others.
    """
    plan = timeline.plan
    whole = np.array([0, len(plan)])
    carried, row = carried_bytes(plan, schedule), np.array([0, len(schedule)])
    told = _Told(plan.transfer, carried, whole, row, [_Part(schedule)])
    return _trace(timeline, topology, told, path)


def together_trace(
    timeline: Timeline,
    together: Together,
    topology: Topology,
    names: Sequence[str],
    path: CriticalPath | None = None,
) -> Trace:
    """Trace of several schedules on one network, whose sources and destinations are the topology's ranks.

    Parameters
    ----------
    timeline : Timeline
    together, topology
        What its plan was made from.
    names : sequence of str
        Of each schedule.
    path : CriticalPath, optional
    """
    parts = [_Part(job.schedule, name, job) for name, job in zip(names, together.jobs, strict=True)]
    told = _Told(together.plan.transfer, together.carried, together.first, together.row, parts)
    return _trace(timeline, topology, told, path)


class _Part:
    """A schedule of a plan, and where there are several, its name and its job."""

    def __init__(self, schedule: Schedule, name: str = "", job: Job | None = None) -> None:
        self.schedule, self.job = schedule, job
        # of JSON text, without its last quote
        self.before = as_text(f"{name}: " if name else "")[:-1]
        self.named = f'"collective":{as_text(name)},' if name else ""
        columns = (schedule.step, schedule.channel, schedule.src, schedule.dst, schedule.mode)
        self.columns = [column.tolist() for column in columns]

    def about(self, row: int) -> tuple[str, str]:
        """Name of a transfer as JSON, and keys and values of what is to be said of it."""
        step, channel, src, dst, mode = (column[row] for column in self.columns)
        chunks = ranges_text(self.schedule.chunks(row))
        if self.job is not None:
            src, dst = self.job.node(src), self.job.node(dst)
        where = f'"step":{step},"channel":{channel},"src":{src},"dst":{dst},"chunks":"{chunks}"'
        does = "reduce" if mode == REDUCE else "copy"
        return f'{self.before}step {step}, chunk {chunks}"', f'{where},"mode":"{does}"'


class _Told:
    """What is said of operations: of part k those from first[k] and the transfers from row[k] on."""

    def __init__(self, transfer: _Ints, carried: _Ints, first: _Ints, row: _Ints, parts: Sequence[_Part]):
        self.transfer, self.carried = transfer.tolist(), carried.tolist()
        self.first, self.row, self.parts = first.tolist(), row.tolist(), parts
        # the hops of an operation are met now and then
        self.about = lru_cache(_REMEMBERED)(self._about)

    def _about(self, operation: int) -> tuple[str, str]:
        """Name of an operation as JSON, and keys and values of what is to be said of it."""
        which = bisect_right(self.first, operation) - 1
        part, transfer = self.parts[which], self.transfer[operation]
        own = f'{part.named}"operation":{operation}'
        if transfer == NO_TRANSFER:
            return '"starts late"', own
        name, args = part.about(transfer - self.row[which])
        return name, f'{own},{args},"bytes":{self.carried[operation]}'


def _trace(timeline: Timeline, topology: Topology, told: _Told, path: CriticalPath | None) -> Trace:
    stage = _Stage(timeline, topology)
    slices = _hop_slices(timeline, stage, told)
    tracks = stage.tracks
    if path is not None and len(path):
        slices = _with_path(slices, path, stage, told)
        tracks = [Track(0, _ON_THE_WAY), *tracks]
    return Trace(stage.groups, tracks, slices, _queues(timeline, stage))


class _Stage:
    """Groups and tracks of a timeline; the first group, and the track before all, is for its path.

    Attributes
    ----------
    shown : ndarray of int64
        Hops that are shown: all but those of ranks that start at once.
    groups : list of str
    group : ndarray of int64, shape (resources,)
        Of those in use.
    tracks : list of Track
    track : ndarray of int64, shape (shown,)
        Position in `tracks`.
    """

    def __init__(self, timeline: Timeline, topology: Topology) -> None:
        plan = timeline.plan
        self.timeline, self.topology = timeline, topology
        starts_at_once = (plan.resources.kind[plan.resource] == START) & (timeline.grant == timeline.release)
        self.shown = np.flatnonzero(~starts_at_once)
        self.groups, self.group = self._groups()
        self.tracks, self.track = self._tracks()

    def name(self, resource: int) -> str:
        """Name of a resource."""
        resources = self.timeline.plan.resources
        return resource_name(self.topology, int(resources.kind[resource]), int(resources.which[resource]))

    def _groups(self) -> tuple[list[str], NDArray[np.int64]]:
        resources, topology = self.timeline.plan.resources, self.topology
        node = resources.which.astype(np.int64)
        link = resources.kind == LINK
        node[link] = topology.links.src[resources.which[link]]
        used = np.unique(node[np.unique(self.timeline.plan.resource[self.shown])])
        ranks = topology.ranks
        names = [f"rank {topology.nodes[i]}" if i < ranks else str(topology.nodes[i]) for i in used.tolist()]
        return [_ON_THE_WAY, *names], 1 + np.searchsorted(used, node)

    def _tracks(self) -> tuple[list[Track], NDArray[np.int64]]:
        """Tracks by group, kind and number; flows that share a link have one each while they do."""
        plan = self.timeline.plan
        resource, lane = plan.resource[self.shown].astype(np.int64), self._lanes()
        kind, which = plan.resources.kind[resource], plan.resources.which[resource]
        order = np.lexsort((lane, resource, which, kind, kind != START, self.group[resource]))
        new = (np.diff(resource[order], prepend=NONE) != 0) | (np.diff(lane[order], prepend=NONE) != 0)
        track = np.empty(len(order), dtype=np.int64)
        track[order] = np.cumsum(new) - 1
        heads = zip(resource[order[new]].tolist(), lane[order[new]].tolist(), strict=True)
        named = [Track(int(self.group[r]), self.name(r) + (f" ({k + 1})" if k else "")) for r, k in heads]
        return named, track

    def _lanes(self) -> NDArray[np.int64]:
        timeline, lane = self.timeline, np.zeros(len(self.shown), dtype=np.int64)
        if timeline.plan.flows is None:
            return lane
        resource, begin = timeline.plan.resource[self.shown], timeline.grant[self.shown]
        order = np.lexsort((self.shown, begin, resource))
        edges = np.flatnonzero(np.diff(resource[order])) + 1
        for some in np.split(order, edges):
            lane[some] = lanes(begin[some], timeline.release[self.shown[some]])
        return lane


def _hop_slices(timeline: Timeline, stage: _Stage, told: _Told) -> Slices:
    shown, operation = stage.shown, timeline.operation()
    source = _sources(timeline, shown)
    waits, operations = (timeline.grant - timeline.arrival)[shown].tolist(), operation[shown].tolist()

    def about(number: int) -> tuple[str, str]:
        name, args = told.about(operations[number])
        return name, f'{{{args},"queueing_us":{as_us(waits[number])}}}'

    return Slices(
        stage.track, timeline.grant[shown], timeline.release[shown], operation[shown], source, about
    )


def _sources(timeline: Timeline, shown: NDArray[np.int64]) -> NDArray[np.int64]:
    """Last slice of what each operation waited for last, or NONE; shape (operations,)."""
    plan = timeline.plan
    done = timeline.release + plan.resources.latency[plan.resource]
    place = np.full(plan.hops, NONE, dtype=np.int64)
    place[shown] = np.arange(len(shown))
    source, last, finish = np.full((3, len(plan)), NONE, dtype=np.int64)
    find = fast(_find_sources, len(plan) + len(plan.dependency))
    find(plan.hop_offset, plan.dependency_offset, plan.dependency, done, place, source, last, finish)
    return source


def _find_sources(
    hop_offset: NDArray[np.integer],
    dependency_offset: NDArray[np.integer],
    dependency: NDArray[np.int32],
    done: NDArray[np.int64],
    place: NDArray[np.int64],
    source: NDArray[np.int64],
    last: NDArray[np.int64],
    finish: NDArray[np.int64],
) -> None:
    """Fill in the source, the last slice and the finish of each operation, of one without from its source."""
    for operation in range(len(source)):
        for k in range(dependency_offset[operation], dependency_offset[operation + 1]):
            awaited = dependency[k]
            if finish[awaited] > finish[operation]:
                finish[operation] = finish[awaited]
                source[operation] = last[awaited]
        last[operation] = source[operation]
        if hop_offset[operation] < hop_offset[operation + 1]:
            hop = hop_offset[operation + 1] - 1
            finish[operation] = done[hop]
            if place[hop] >= 0:
                last[operation] = place[hop]


def _with_path(slices: Slices, path: CriticalPath, stage: _Stage, told: _Told) -> Slices:
    """The slices, and those of the path after them, on the track before theirs."""
    count = len(slices)

    def about(number: int) -> tuple[str, str]:
        if number < count:
            return slices.about(number)
        segment = number - count
        name, args = told.about(int(path.operation[segment]))
        resource = as_text(stage.name(int(path.resource[segment])))
        return as_text(PARTS[path.part[segment]]), f'{{{args},"of":{name},"resource":{resource}}}'

    return Slices(
        np.append(slices.track + 1, np.zeros(len(path), dtype=np.int64)),
        np.append(slices.begin, path.begin),
        np.append(slices.end, path.end),
        np.append(slices.flow, np.full(len(path), NONE)),
        slices.source,
        about,
    )


def _queues(timeline: Timeline, stage: _Stage) -> Iterator[Counter]:
    """How many wait for each resource for which anybody ever waits."""
    plan = timeline.plan
    queued = timeline.arrival < timeline.grant
    if plan.flows is not None:
        # nobody waits for what is shared
        queued &= plan.flows.capacity[plan.resource] == 0
    some = np.flatnonzero(queued)
    for resource in np.unique(plan.resource[some]).tolist():
        own = some[plan.resource[some] == resource]
        change = np.repeat([1, -1], len(own))
        time, which = np.unique(np.append(timeline.arrival[own], timeline.grant[own]), return_inverse=True)
        length = np.cumsum(np.bincount(which.ravel(), weights=change).astype(np.int64))
        changes = np.diff(length, prepend=0) != 0
        group = int(stage.group[resource])
        yield Counter(group, f"queue for {stage.name(resource)}", "waiting", time[changes], length[changes])
