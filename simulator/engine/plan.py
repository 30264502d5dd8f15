"""Plans: timed operations over resources, in columns. Engines know nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.schedule import Schedule
    from topologies.topology import Topology

LINK: Final = 0
REDUCER: Final = 1
START: Final = 2
PROCESSOR: Final = 3
SEND_PORT: Final = 4
RECEIVE_PORT: Final = 5
COMPUTE: Final = 6
STREAM: Final = 7
STAGE: Final = 8
NO_TRANSFER: Final = -1

_OF_RANKS: Final = {
    REDUCER: "reduces",
    START: "starts",
    PROCESSOR: "processor",
    SEND_PORT: "send port",
    RECEIVE_PORT: "receive port",
    COMPUTE: "computes",
    STREAM: "stream",
    STAGE: "stages",
}


def name_at_rank(kind: int, rank: int) -> str:
    """Name of something that every rank has.

    >>> name_at_rank(REDUCER, 3), name_at_rank(SEND_PORT, 0)
    ('rank 3 reduces', 'rank 0 send port')
    """
    return f"rank {rank} {_OF_RANKS[kind]}"


def resource_name(topology: Topology, kind: int, which: int) -> str:
    """Name of a resource: a link's own, or what a rank does."""
    if kind == LINK:
        return topology.link_name(which)
    return name_at_rank(kind, which)


@dataclass(frozen=True, slots=True, eq=False)
class Resources:
    """What operations hold: one at a time, first come first served.

    Attributes
    ----------
    kind : ndarray of uint8, shape (resources,)
        LINK, REDUCER, START (what keeps a rank that begins late), PROCESSOR, SEND_PORT,
        RECEIVE_PORT, COMPUTE or STREAM (what tasks hold), or STAGE (what moves between memory and a
        port).
    which : ndarray of int32
        Number of the link, or of the topology's rank.
    latency : ndarray of int64
        fs from the release (or, entered by the head, from the grant) to the next hop.
    gap : ndarray of int64
        fs from the release until it is free for the next.
    """

    kind: NDArray[np.uint8]
    which: NDArray[np.int32]
    latency: NDArray[np.int64]
    gap: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.kind)


@dataclass(frozen=True, slots=True, eq=False)
class Flows:
    """What of a plan is shared, max-min fairly, rather than held by one at a time.

    The first hops of an operation that are over shared resources are its flow: it takes the delay,
    then its bytes flow over all of them at once. Of each of these hops the arrival is when the
    operation begins, the grant is a delay later, and the release is when the last byte is through.
    The hops after them are first come first served, entered by the tail.

    Attributes
    ----------
    bytes : ndarray of int64, shape (operations,)
        0 for an operation without a flow.
    delay : ndarray of int64, shape (operations,)
        fs.
    capacity : ndarray of float64, shape (resources,)
        Bytes/s; 0 for a resource that is not shared. A shared one has no latency of its own.
    """

    bytes: NDArray[np.int64]
    delay: NDArray[np.int64]
    capacity: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Buffers:
    """Room at the far ends of links, without which nothing is sent.

    A hop is granted when its resource is free and has room for what the hop takes, which it gives
    back when the operation's next hop is released. What is larger than the room, and entered by
    the head, is let go only when the rest has room. The j-th hop after it, for j up to its reach,
    holds it back until that one's grant + overhead, and as long as the bytes that j rooms do not
    hold take on the slowest of the hops from the one to the other: its hold - its overhead - j
    times its drain.

    Attributes
    ----------
    room : ndarray of int64, shape (resources,)
        Bytes; 0 for what has no buffer.
    need : ndarray of int64, shape (hops,)
        Bytes that a hop takes at the far end; 0 on the last link of a way.
    reach : ndarray of int32, shape (hops,)
        How many of the hops after it can hold it back.
    overhead : ndarray of int64, shape (hops,)
        fs of its hold before the bytes.
    drain : ndarray of int64, shape (hops,)
        fs that a whole buffer takes to leave by this hop.
    name : callable
        Name of a link, by its number.
    """

    room: NDArray[np.int64]
    need: NDArray[np.int64]
    reach: NDArray[np.int32]
    overhead: NDArray[np.int64]
    drain: NDArray[np.int64]
    name: Callable[[int], str]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Plan:
    """A graph of operations; each walks a short route of resources, hop by hop.

    A hop holds its resource for `hold`, and after the resource's latency the operation is at
    the next hop: counted from the release, or from the grant where that next hop is entered by
    the head. A hop that is entered by the head is not released before the tail is through:
    release = max(grant + hold, release of the hop before + its latency). An operation without
    hops (a join) finishes the moment it may start.

    Attributes
    ----------
    transfer : ndarray of int32, shape (operations,)
        Row of the schedule, or NO_TRANSFER for joins and delays. Operations are in the order
        (step, channel, slot, source).
    hop_offset : ndarray of int32 or int64, shape (operations + 1,)
        Operation i walks the hops hop_offset[i]:hop_offset[i + 1].
    resource : ndarray of int32, shape (hops,)
        What a hop holds.
    hold : ndarray of int64, shape (hops,)
        fs.
    head : ndarray of bool, shape (hops,)
        Entered by the head; never the first hop.
    dependency_offset, dependency : ndarray of int32 or int64, and of int32
        Operation i may start when all of dependency[dependency_offset[i]:dependency_offset[i + 1]]
        have finished; they all come before it.
    resources : Resources
    flows : Flows, optional
        Where something is shared.
    buffers : Buffers, optional
        Where they are finite.
    bytes : ndarray of int64, shape (operations,), optional
        What each operation carries over links; None where that is all of its transfer.
    """

    transfer: NDArray[np.int32]
    hop_offset: NDArray[np.integer]
    resource: NDArray[np.int32]
    hold: NDArray[np.int64]
    head: NDArray[np.bool_]
    dependency_offset: NDArray[np.integer]
    dependency: NDArray[np.int32]
    resources: Resources
    flows: Flows | None = None
    buffers: Buffers | None = None
    bytes: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.transfer)

    def __repr__(self) -> str:
        return f"<Plan of {len(self):,} operations, {self.hops:,} hops>"

    @property
    def hops(self) -> int:
        """Number of hops of all operations."""
        return len(self.resource)

    def operation(self) -> NDArray[np.int64]:
        """Operation of each hop, shape (hops,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.hop_offset))


def carried_bytes(plan: Plan, schedule: Schedule) -> NDArray[np.int64]:
    """Bytes that each operation carries over links; 0 for joins and delays.

    Parameters
    ----------
    plan : Plan
    schedule : Schedule
        The one that it was made from.
    """
    if plan.bytes is not None:
        return plan.bytes
    return np.append(schedule.sizes(), 0)[plan.transfer]
