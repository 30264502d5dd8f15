"""Which message is whose: the n-th that is sent is the n-th that is received."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from algorithms.errors import ScheduleError
from algorithms.programs.program import members

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.programs.program import Program

NOBODY = -1
"""Instead of the partner of what is left over."""


def matched(
    sent: NDArray[np.int64], received: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Partner of each message that is sent, and of each that is received.

    Parameters
    ----------
    sent, received : ndarray of int64
        The queue that each goes through, in the order of each queue's ends.

    Returns
    -------
    tuple of ndarray of int64
        Position in `received` of each in `sent`, and the other way round, or `NOBODY`.

    >>> [partner.tolist() for partner in matched(np.array([7, 5, 7]), np.array([7, 7, 7, 5]))]
    [[0, 3, 1], [0, 2, -1, 1]]
    """
    # numbered from 0, so that a turn fits beside them
    _, queue = np.unique(np.concatenate([sent, received]), return_inverse=True)
    (by_sent, key_sent), (by_received, key_received) = map(_turns, np.split(queue.ravel(), [len(sent)]))
    _, at_sent, at_received = np.intersect1d(key_sent, key_received, assume_unique=True, return_indices=True)
    partner = np.full(len(sent), NOBODY, dtype=np.int64)
    other = np.full(len(received), NOBODY, dtype=np.int64)
    partner[by_sent[at_sent]] = by_received[at_received]
    other[by_received[at_received]] = by_sent[at_sent]
    return partner, other


def _turns(queue: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Order by queue, and there a number of each that says its queue and its turn."""
    order = np.argsort(queue, kind="stable")
    ordered = queue[order]
    at = np.arange(len(queue))
    first = np.maximum.accumulate(np.where(np.diff(ordered, prepend=-1) != 0, at, 0))
    # a queue has fewer turns than 2^26, the bytes of the largest file
    return order, (ordered << 26) + at - first


def messages_of(program: Program, why_not: str) -> tuple[dict[int, int], dict[int, int]]:
    """Whom each instruction sends to, and which instruction sends what each receives.

    Parameters
    ----------
    program : Program
    why_not : str
        What is refused where it has no such form, as "GOAL cannot say it".

    Raises
    ------
    ScheduleError
        If its ranks reach into each other's buffers, or an instruction has several messages.
    """
    wire = program.places.on_wire()
    instruction, other = program.senders()
    if len(program.fetchers()[0]) or int(wire[program.writes.index].sum()) != len(instruction):
        raise ScheduleError(f"{why_not}: its ranks reach into each other's buffers")
    waiter, awaited = members(program.after), program.after.index
    far = program.rank[waiter] != program.rank[awaited]
    sends = dict(zip(instruction.tolist(), other.tolist(), strict=True))
    receives = dict(zip(waiter[far].tolist(), awaited[far].tolist(), strict=True))
    if len(sends) < len(instruction) or len(receives) < int(far.sum()):
        raise ScheduleError(f"{why_not}: an instruction has several messages")
    return sends, receives
