"""Messages that belong to no collective: traffic that others meet on their way."""

from __future__ import annotations

import numpy as np

from algorithms.assembly import assemble
from algorithms.collective import Collective
from algorithms.errors import ScheduleError
from algorithms.schedule import COPY, Schedule
from topologies.wiring import MOST_RANKS


def messages(size: int, times: int, *, mode: int = COPY) -> Schedule:
    """So many messages of one size that have nothing to do with each other.

    Message i is chunk i and goes from rank 2 i to rank 2 i + 1, all in one step; whoever places
    these ranks says between whom it really goes.

    Parameters
    ----------
    size : int
        Bytes of each.
    times : int
        How many.
    mode : int
        COPY, or REDUCE where the receiver adds them to what it has.

    Raises
    ------
    ScheduleError
        If there are none, or too many.

    Examples
    --------
    >>> two = messages(1024, 2)
    >>> two.src.tolist(), two.dst.tolist(), two.collective.sizes.tolist()
    ([0, 2], [1, 3], [1024, 1024])
    """
    if not 1 <= times <= MOST_RANKS // 2:
        raise ScheduleError(f"there are 1 to {MOST_RANKS // 2:,} messages, found {times:,}", ("times",))
    sender = 2 * np.arange(times, dtype=np.int32)
    collective = Collective("send_recv", 2 * times, np.full(times, size, dtype=np.int64), sender, sender + 1)
    return assemble(collective, [(sender, sender + 1, np.arange(times), mode)], algorithm="messages")
