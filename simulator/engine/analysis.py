"""What a timeline says of the links: bytes that crossed them, and how long they were held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simulator.engine.plan import LINK, carried_bytes
from topologies.clock import FEMTOSECONDS, to_seconds
from topologies.loops import fast

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.schedule import Schedule
    from simulator.engine.timeline import Timeline


@dataclass(frozen=True, slots=True, eq=False)
class LinkUse:
    """Use of every link of a topology.

    Attributes
    ----------
    bytes : ndarray of int64, shape (links,)
        Bytes of all messages that crossed it.
    busy : ndarray of int64, shape (links,)
        fs from grant to release, summed; of a link that is shared, bytes over bandwidth.
    """

    bytes: NDArray[np.int64]
    busy: NDArray[np.int64]

    def rate(self, time: int) -> float | None:
        """Bytes/s over the link with the most bytes, on average over so many fs; None where it is no time."""
        return int(self.bytes.max(initial=0)) / to_seconds(time) if time else None


def link_use(timeline: Timeline, schedule: Schedule) -> LinkUse:
    """Use of every link.

    Parameters
    ----------
    timeline : Timeline
    schedule : Schedule
        The one that the timeline's plan was made from.
    """
    return use_of(timeline, carried_bytes(timeline.plan, schedule))


def use_of(timeline: Timeline, carried: NDArray[np.int64]) -> LinkUse:
    """Use of every link by operations that carry so many bytes each."""
    plan = timeline.plan
    links = int(np.count_nonzero(plan.resources.kind == LINK))
    moved, busy = (np.zeros(len(plan.resources), dtype=np.int64) for _ in range(2))
    add = fast(_add_hops, plan.hops)
    # flows share a link: how long each holds it says nothing
    until = timeline.release if plan.flows is None else timeline.grant
    add(plan.hop_offset, plan.resource, carried, timeline.grant, until, moved, busy)
    if plan.flows is not None:
        # several at once: as long as the bytes take at the full rate
        seconds = moved[:links] / plan.flows.capacity[:links]
        return LinkUse(moved[:links], np.rint(seconds * FEMTOSECONDS).astype(np.int64))
    return LinkUse(moved[:links], busy[:links])


def _add_hops(
    hop_offset: NDArray[np.integer],
    resource: NDArray[np.int32],
    carried: NDArray[np.int64],
    grant: NDArray[np.int64],
    release: NDArray[np.int64],
    moved: NDArray[np.int64],
    busy: NDArray[np.int64],
) -> None:
    """Add up what each operation carries over its resources, and how long it holds them."""
    for operation in range(len(carried)):
        for hop in range(hop_offset[operation], hop_offset[operation + 1]):
            moved[resource[hop]] += carried[operation]
            busy[resource[hop]] += release[hop] - grant[hop]
