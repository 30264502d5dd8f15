"""Who held a resource, or its buffer, before a hop was granted it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topologies.loops import fast

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.engine.timeline import Timeline


class Occupants:
    """The hops of a timeline, by what they held; sorted when they are first asked for."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._grouped: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
        self._sorted: dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}

    def before(self, hop: int) -> int | None:
        """The hop whose end let this one be granted; None where it waited for nobody that can be told.

        It had the resource before this one; or it is the next hop of one that had room at the far
        end of it.
        """
        timeline = self._timeline
        resource, grant = int(timeline.plan.resource[hop]), int(timeline.grant[hop])
        free, hops = self._by_end(resource)
        # of those that ended then, the first held it for longest, and some for no time
        place = int(free.searchsorted(grant))
        if place < len(free) and free[place] == grant and timeline.grant[hops[place]] < grant:
            return int(hops[place])
        return self._gave_room(hops, grant)

    def _gave_room(self, hops: NDArray[np.int64], grant: int) -> int | None:
        """The hop with whose release one of these gave back its room at that moment."""
        buffers = self._timeline.plan.buffers
        if buffers is None:
            return None
        kept = hops[buffers.need[hops] > 0] + 1
        gave = kept[self._timeline.release[kept] == grant]
        return int(gave.min()) if len(gave) else None

    def _by_end(self, resource: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """When each of its hops let a resource go for the next, in order, and which hops these are."""
        if resource not in self._sorted:
            plan = self._timeline.plan
            offset, order = self._groups()
            hops = order[offset[resource] : offset[resource + 1]]
            free = self._timeline.release[hops] + plan.resources.gap[resource]
            by_end = np.lexsort((self._timeline.grant[hops], free))
            self._sorted[resource] = free[by_end], hops[by_end]
        return self._sorted[resource]

    def _groups(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Hops grouped by their resources, and where each group begins."""
        if self._grouped is None:
            plan = self._timeline.plan
            offset = np.zeros(len(plan.resources) + 1, dtype=np.int64)
            np.cumsum(np.bincount(plan.resource, minlength=len(plan.resources)), out=offset[1:])
            order = np.empty(plan.hops, dtype=np.int64)
            fast(_group, plan.hops)(plan.resource, offset[:-1].copy(), order)
            self._grouped = offset, order
        return self._grouped


def _group(resource: NDArray[np.int32], place: NDArray[np.int64], order: NDArray[np.int64]) -> None:
    """Put every hop where its resource's group is filled next."""
    for hop in range(len(resource)):
        order[place[resource[hop]]] = hop
        place[resource[hop]] += 1
