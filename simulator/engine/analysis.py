"""What a timeline says of the links: bytes that crossed them, and how long they were held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simulator.engine.plan import LINK

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
        fs from grant to release, summed.
    """

    bytes: NDArray[np.int64]
    busy: NDArray[np.int64]


def link_use(timeline: Timeline, schedule: Schedule) -> LinkUse:
    """Use of every link.

    Parameters
    ----------
    timeline : Timeline
    schedule : Schedule
        The one that the timeline's plan was made from.
    """
    plan = timeline.plan
    links = int(np.count_nonzero(plan.resources.kind == LINK))
    crossing = np.flatnonzero(plan.resource < links)
    link = plan.resource[crossing]
    carried = schedule.sizes()[plan.transfer[timeline.operation()[crossing]]]
    use = LinkUse(np.zeros(links, dtype=np.int64), np.zeros(links, dtype=np.int64))
    np.add.at(use.bytes, link, carried)
    np.add.at(use.busy, link, (timeline.release - timeline.grant)[crossing])
    return use
