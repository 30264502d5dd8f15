"""What transfers are made of: messages that cross the network, and the operations that carry them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from simulator.engine.hops import Hops


@dataclass(frozen=True, slots=True, eq=False)
class Operations:
    """Operations of all transfers, in the order of these.

    A transfer has two ends: 2t is transfer t at its source, 2t + 1 at its destination.

    Attributes
    ----------
    transfer : ndarray of int32, shape (operations,)
        Row of the schedule.
    hops : Hops
    begin, end : ndarray of int64, shape (2 * transfers,), optional
        Operation that waits until an end is ready, and operation with which the end is done.
        None where operation t is all of transfer t.
    waiter, awaited : ndarray of int64, optional
        Operations of one transfer that wait for each other.
    bytes : ndarray of int64, shape (operations,), optional
        What each carries over links; None where that is all of its transfer.
    """

    transfer: NDArray[np.int32]
    hops: Hops
    begin: NDArray[np.int64] | None = None
    end: NDArray[np.int64] | None = None
    waiter: NDArray[np.int64] | None = None
    awaited: NDArray[np.int64] | None = None
    bytes: NDArray[np.int64] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Messages:
    """What crosses the network.

    Attributes
    ----------
    src, dst : ndarray of int64, shape (messages,)
        The topology's nodes.
    size : ndarray of int64
        Bytes.
    transfer : ndarray of int32
        Row of the schedule that each belongs to.
    """

    src: NDArray[np.int64]
    dst: NDArray[np.int64]
    size: NDArray[np.int64]
    transfer: NDArray[np.int32]

    def take(self, some: NDArray[np.bool_] | slice) -> Messages:
        """Some of them."""
        return Messages(self.src[some], self.dst[some], self.size[some], self.transfer[some])
