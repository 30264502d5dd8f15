"""What a timeline says of who waits: messages for links, and ranks for something to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simulator.engine.plan import LINK, START
from topologies.loops import fast

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.engine.timeline import Timeline
    from topologies.topology import Topology


@dataclass(frozen=True, slots=True, eq=False)
class LinkWaits:
    """Messages that waited for the links of a topology.

    Attributes
    ----------
    queue : ndarray of int64, shape (links,)
        Most messages that stood in its queue at once; of a link that is shared, most flows that it
        had at once beside one.
    longest : ndarray of int64, shape (links,)
        fs of the longest wait in its queue.
    """

    queue: NDArray[np.int64]
    longest: NDArray[np.int64]


def link_waits(timeline: Timeline) -> LinkWaits:
    """What the queues of the links were like."""
    plan = timeline.plan
    links = int(np.count_nonzero(plan.resources.kind == LINK))
    on_link = plan.resource < links
    begin, end = timeline.arrival, timeline.grant
    if plan.flows is not None:
        begin, end = timeline.grant, timeline.release
    some = np.flatnonzero(on_link & (begin < end))
    resource, begin, end = plan.resource[some], begin[some], end[some]
    queue = _most_at_once(resource, begin, end, links)
    longest = np.zeros(links, dtype=np.int64)
    if plan.flows is not None:
        return LinkWaits(np.maximum(queue - 1, 0), longest)
    np.maximum.at(longest, resource, end - begin)
    return LinkWaits(queue, longest)


def _most_at_once(
    resource: NDArray[np.int32], begin: NDArray[np.int64], end: NDArray[np.int64], resources: int
) -> NDArray[np.int64]:
    """Most intervals of each resource that overlap; one that begins where another ends does not.

    >>> begin, end = np.array([0, 1, 3]), np.array([3, 5, 4])
    >>> _most_at_once(np.array([0, 0, 0], np.int32), begin, end, 2).tolist()
    [2, 0]
    """
    most = np.zeros(resources, dtype=np.int64)
    if not len(resource):
        return most
    both = np.concatenate([resource, resource])
    change = np.repeat([1, -1], len(resource))
    order = np.lexsort((change, np.concatenate([begin, end]), both))
    both, now = both[order], np.cumsum(change[order])
    first = np.flatnonzero(np.diff(both, prepend=-1))
    # every resource's changes cancel out, so that each begins at 0
    most[both[first]] = np.maximum.reduceat(now, first)
    return most


def waits_behind(timeline: Timeline, group: NDArray[np.integer], groups: int) -> NDArray[np.int64]:
    """How long messages of each group stood in queues while one of each group held what they waited for.

    Parameters
    ----------
    timeline : Timeline
        Of a plan in which nothing is shared, so that one at a time holds a resource.
    group : ndarray of int, shape (operations,)
        Group of each operation.
    groups : int
        How many there are.

    Returns
    -------
    ndarray of int64, shape (groups, groups)
        fs, summed over the messages of the row's group, behind those of the column's.
    """
    behind = np.zeros((groups, groups), dtype=np.int64)
    resource, own = timeline.plan.resource, group[timeline.operation()]
    order = np.lexsort((timeline.grant, resource))
    first = np.flatnonzero(np.diff(resource[order], prepend=-1))
    for hops in np.split(order, first[1:]) if len(first) else ():
        waiting = hops[timeline.arrival[hops] < timeline.grant[hops]]
        if len(waiting):
            _add_waits(timeline, own, hops, waiting, behind)
    return behind


def _add_waits(
    timeline: Timeline,
    group: NDArray[np.integer],
    hops: NDArray[np.int64],
    waiting: NDArray[np.int64],
    behind: NDArray[np.int64],
) -> None:
    """Add what waiting hops of a resource, all of whose hops come as they were granted, waited for."""
    grant, hold = timeline.grant[hops], (timeline.release - timeline.grant)[hops]
    moments = np.stack([timeline.arrival[waiting], timeline.grant[waiting]])
    # the last that was granted before each moment
    place = np.searchsorted(grant, moments, side="left") - 1
    for other in np.unique(group[hops]).tolist():
        held = np.where(group[hops] == other, hold, 0)
        before = np.concatenate([[0], np.cumsum(held)])
        part = np.minimum(moments - grant[place], held[place])
        until = np.where(place >= 0, before[place] + part, 0)
        np.add.at(behind[:, other], group[waiting], until[1] - until[0])


def idle_times(timeline: Timeline, topology: Topology) -> NDArray[np.int64]:
    """How long each rank does nothing until the end: nothing leaves it, comes to it or is reduced at it.

    Returns
    -------
    ndarray of int64, shape (ranks,)
        fs.
    """
    plan, ranks = timeline.plan, topology.ranks
    at = np.full((2, len(plan.resources)), ranks, dtype=np.int64)
    is_link = plan.resources.kind == LINK
    which = plan.resources.which
    for end, column in zip(at, (topology.links.src, topology.links.dst), strict=True):
        end[is_link] = np.minimum(column[which[is_link]], ranks)
    # who is kept waiting by a late start does nothing
    busy_kinds = ~is_link & (plan.resources.kind != START)
    at[0, busy_kinds] = which[busy_kinds]
    order = np.argsort(timeline.grant, kind="stable")
    busy, until = np.zeros((2, ranks + 1), dtype=np.int64)
    add = fast(_add_busy, plan.hops)
    add(order, plan.resource, timeline.grant, timeline.release, at, until, busy)
    return np.asarray(timeline.time - busy[:ranks])


def _add_busy(
    order: NDArray[np.int64],
    resource: NDArray[np.int32],
    grant: NDArray[np.int64],
    release: NDArray[np.int64],
    at: NDArray[np.int64],
    until: NDArray[np.int64],
    busy: NDArray[np.int64],
) -> None:
    """Add to every rank's busy time what each hop, in the order of grants, adds to it."""
    for hop in order:
        for end in range(2):
            rank = at[end, resource[hop]]
            since = max(grant[hop], until[rank])
            if release[hop] > since:
                busy[rank] += release[hop] - since
                until[rank] = release[hop]
