"""The critical path: the chain of operations that made the time, and what each part of it was.

It is walked backwards from the last finish, through what an operation waited for: the hop before,
the operations that it depends on, or those that held the resource when it came. The moments of
the walk lie one behind the other, so that the parts sum to the time exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.engine.machine import femtoseconds_of
from simulator.engine.occupants import Occupants
from simulator.engine.path_parts import (
    COMPUTE,
    LATENCY,
    OVERHEAD,
    PARTS,
    QUEUEING,
    REDUCTION,
    SERIALIZATION,
    WAITING,
)
from simulator.engine.plan import COMPUTE as COMPUTES
from simulator.engine.plan import LINK, PROCESSOR, REDUCER, START
from simulator.engine.walk_back import (
    DONE,
    FIELDS,
    FLOW,
    FULL,
    HOP,
    OPERATION,
    RELEASED,
    SINCE,
    SIZE,
    STATE,
    STEPS,
    Walk,
    add,
    last_up_to,
    walk_back,
)
from topologies.clock import LONGEST, femtoseconds
from topologies.loops import fast

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.engine.plan import Plan, Resources
    from simulator.engine.timeline import Timeline
    from topologies.topology import Topology

_HOLDS: Final = {REDUCER: REDUCTION, COMPUTES: COMPUTE, START: WAITING, PROCESSOR: OVERHEAD}
"""What holding a resource is; of links and ports, what is not overhead is serialization."""

ROOM: Final = 1024
"""Segments for which there is room at first."""


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
    plan = timeline.plan
    hops = int(plan.hop_offset[len(plan) if operations is None else operations])
    done = timeline.release[:hops] + plan.resources.latency[plan.resource[:hops]]
    found = np.zeros((0, FIELDS), dtype=np.int64)
    if done.max(initial=0):
        # of equal finishes that of the first hop
        found = _walk_from(int(done.argmax()), timeline, topology)[::-1]
    operation, resource, part, begin, end = _split_flows(np.ascontiguousarray(found.T), plan)
    return CriticalPath(operation, resource, part.astype(np.uint8), begin, end)


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


def _walk_from(hop: int, timeline: Timeline, topology: Topology) -> NDArray[np.int64]:
    """What is found on the way back from the finish of a hop, the last segment first.

    Returns
    -------
    ndarray of int64, shape (segments, FIELDS)
        Its part is one of `PARTS` or FLOW.
    """
    loop = fast(walk_back, timeline.plan.hops, STEPS)
    occupants = Occupants(timeline)
    # what one step finds: of a flow, two fixed times a link, each of them partly within a wait
    step = 4 * int(np.diff(timeline.plan.hop_offset).max()) + 8
    found = np.empty(FIELDS * (step + ROOM), dtype=np.int64)
    state = _at_finish(hop, timeline, found)
    columns = (*_columns(timeline, topology, occupants), state)
    while True:
        # Python reads the data of an array several times faster than the array
        walk = Walk._make(c.data if loop is walk_back else c for c in (*columns, found))
        why = loop(walk, len(found) // FIELDS - step)
        if why == DONE:
            return found[: FIELDS * state[SIZE]].reshape(-1, FIELDS)
        if why == FULL:
            fuller = np.empty(2 * len(found), dtype=np.int64)
            fuller[: len(found)] = found
            found = fuller
        else:
            occupants.sort(why)


def _at_finish(hop: int, timeline: Timeline, found: NDArray[np.int64]) -> NDArray[np.int64]:
    """State of a walk that has explained the latency after the release of a hop."""
    plan, state = timeline.plan, np.zeros(STATE, dtype=np.int64)
    state[HOP], state[OPERATION], state[RELEASED] = hop, last_up_to(plan.hop_offset, hop), 1
    state[SINCE] = LONGEST
    resource, release = int(plan.resource[hop]), int(timeline.release[hop])
    end = release + int(plan.resources.latency[resource])
    state[SIZE] = add(found, 0, (LONGEST, 0, 0), state[OPERATION], resource, LATENCY, release, end)
    return state


def _columns(timeline: Timeline, topology: Topology, occupants: Occupants) -> tuple[NDArray[Any], ...]:
    """Columns of a walk, but for its state and what it finds."""
    plan, resources = timeline.plan, timeline.plan.resources
    overhead, fixed = np.zeros((2, len(resources)), dtype=np.int64)
    is_link = resources.kind == LINK
    link = resources.which[is_link]
    overhead[is_link] = femtoseconds_of(topology.links.overhead)[link]
    fixed[is_link] = femtoseconds_of(topology.links.latency)[link]
    return (
        *(plan.hop_offset, plan.resource, plan.hold, plan.head, plan.dependency_offset, plan.dependency),
        *(resources.latency, resources.gap, _holding(resources), overhead, fixed),
        np.zeros(len(resources)) if plan.flows is None else plan.flows.capacity,
        *(timeline.arrival, timeline.grant, timeline.release),
        *(occupants.offset, occupants.order, occupants.rooms, occupants.rooms_end),
        np.zeros(len(plan), dtype=np.int64),
    )


def _holding(resources: Resources) -> NDArray[np.int64]:
    """Which of the parts holding each resource is."""
    part = np.full(len(resources), SERIALIZATION)
    for kind, held in _HOLDS.items():
        part[resources.kind == kind] = held
    return part


def _split_flows(found: NDArray[np.int64], plan: Plan) -> NDArray[np.int64]:
    """What was found, each FLOW taken apart: what its bytes take alone on its slowest link, and queueing."""
    flow = np.flatnonzero(found[2] == FLOW)
    if plan.flows is None or not len(flow):
        return found
    operation, resource, _, begin, end = found[:, flow]
    sizes, rates = plan.flows.bytes[operation], plan.flows.capacity[resource]
    pairs = list(zip(sizes.tolist(), rates.tolist(), strict=True))
    alone = {pair: femtoseconds(Fraction(pair[0]) / Fraction(pair[1])) for pair in set(pairs)}
    served = np.minimum(end, begin + np.array([alone[pair] for pair in pairs]))
    first, rest = found.copy(), found[:, flow]
    first[2, flow], first[4, flow] = _holding(plan.resources)[resource], served
    rest[2], rest[3] = QUEUEING, served
    split = np.insert(first, flow + 1, rest, axis=1)
    return split[:, split[3] < split[4]]
