"""Who held each resource, or kept room behind it, in the order of their ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topologies.loops import fast

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.engine.timeline import Timeline


class Occupants:
    """The hops of a timeline, by what they held; each resource's are sorted when they are first asked for.

    Attributes
    ----------
    offset : ndarray of int64, shape (resources + 1,)
        Resource r has the places offset[r]:offset[r + 1] in both columns of hops.
    order : ndarray of int64, shape (hops,)
        Hops in the order in which they let the resource go; of equals, that which was granted it first.
    rooms : ndarray of int64, shape (hops,)
        Hops with whose release one of the resource's gave back its room, in the order of these
        releases, up to rooms_end[r].
    rooms_end : ndarray of int64, shape (resources,)
        -1 where nobody has asked.
    """

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        plan = timeline.plan
        resources = len(plan.resources)
        self.offset = np.zeros(resources + 1, dtype=np.int64)
        self.order = np.empty(plan.hops, dtype=np.int64)
        self.rooms = np.empty(0 if plan.buffers is None else plan.hops, dtype=np.int64)
        self.rooms_end = np.full(resources, -1, dtype=np.int64)

    def sort(self, resource: int) -> None:
        """Put the hops of a resource in order."""
        timeline, buffers = self._timeline, self._timeline.plan.buffers
        if not self.offset[-1]:
            self._group()
        first, after = self.offset[resource : resource + 2].tolist()
        hops = self.order[first:after]
        hops[:] = hops[np.lexsort((timeline.grant[hops], timeline.release[hops]))]
        self.rooms_end[resource] = first
        if buffers is not None:
            kept = np.sort(hops[buffers.need[hops] > 0]) + 1
            self.rooms_end[resource] += len(kept)
            self.rooms[first : first + len(kept)] = kept[np.argsort(timeline.release[kept], kind="stable")]

    def _group(self) -> None:
        """Group the hops by their resources."""
        plan = self._timeline.plan
        np.cumsum(np.bincount(plan.resource, minlength=len(plan.resources)), out=self.offset[1:])
        fast(_group, plan.hops)(plan.resource, self.offset[:-1].copy(), self.order)


def _group(resource: NDArray[np.int32], place: NDArray[np.int64], order: NDArray[np.int64]) -> None:
    """Put every hop where its resource's group is filled next."""
    for hop in range(len(resource)):
        order[place[resource[hop]]] = hop
        place[resource[hop]] += 1
