"""Plans: timed operations over resources, in columns. Engines know nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LINK: Final = 0
REDUCER: Final = 1
START: Final = 2
PROCESSOR: Final = 3
SEND_PORT: Final = 4
RECEIVE_PORT: Final = 5
NO_TRANSFER: Final = -1


@dataclass(frozen=True, slots=True, eq=False)
class Resources:
    """What operations hold: one at a time, first come first served.

    Attributes
    ----------
    kind : ndarray of uint8, shape (resources,)
        LINK, REDUCER, START (what keeps a rank that begins late), PROCESSOR, SEND_PORT or
        RECEIVE_PORT.
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
    hop_offset : ndarray of int64, shape (operations + 1,)
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
    """

    transfer: NDArray[np.int32]
    hop_offset: NDArray[np.integer]
    resource: NDArray[np.int32]
    hold: NDArray[np.int64]
    head: NDArray[np.bool_]
    dependency_offset: NDArray[np.integer]
    dependency: NDArray[np.int32]
    resources: Resources

    def __len__(self) -> int:
        return len(self.transfer)

    @property
    def hops(self) -> int:
        """Number of hops of all operations."""
        return len(self.resource)
