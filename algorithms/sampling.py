"""Schedules that move too many chunks to look at them all: some of the chunks stand for the others.

Chunks are independent of each other: what happens to one does not depend on what the same
transfers carry beside it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.schedule import MOST_MOVES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.schedule import Schedule

SAMPLE: Final = 64
"""Chunks that stand for the others."""


def moves_of(schedule: Schedule) -> int:
    """Moves of single chunks of all transfers."""
    return int(schedule.count.sum(dtype=np.int64))


def sample_of(chunks: int, size: int = SAMPLE, seed: int = 2005) -> NDArray[np.int64]:
    """Some chunks in rising order: the first, the last, and others drawn at random, the same every time.

    >>> sample_of(5).tolist(), len(sample_of(10**6))
    ([0, 1, 2, 3, 4], 64)
    """
    if chunks <= size:
        return np.arange(chunks)
    drawn = np.random.default_rng(seed).choice(chunks - 2, size - 2, replace=False)
    return np.sort(np.concatenate([[0], drawn + 1, [chunks - 1]]))


def sampled(schedule: Schedule) -> Schedule:
    """The schedule itself; or, where it moves too much, with no other chunks than a sample of them.

    Every transfer stays, with the chunks of the sample that it carries, under their numbers in it.
    """
    return (
        schedule
        if moves_of(schedule) <= MOST_MOVES
        else restricted(schedule, sample_of(schedule.collective.chunks))
    )


def restricted(schedule: Schedule, chunks: NDArray[np.int64]) -> Schedule:
    """The schedule with no other chunks than some.

    Parameters
    ----------
    schedule : Schedule
    chunks : ndarray of int64
        In rising order.
    """
    collective = schedule.collective
    some = replace(
        collective,
        sizes=collective.sizes[chunks],
        source=collective.source[chunks],
        target=collective.target[chunks],
    )
    before = np.searchsorted(chunks, np.arange(collective.chunks + 1)).astype(np.int32)
    if schedule.index is None:
        first, index = before[schedule.first], None
        count = before[schedule.first + schedule.count] - first
    else:
        kept = np.isin(schedule.index, chunks)
        # how many of the list are kept up to each place
        kept_before = np.concatenate([[0], np.cumsum(kept)]).astype(np.int32)
        first, index = kept_before[schedule.first], before[schedule.index[kept]]
        count = kept_before[schedule.first + schedule.count] - first
    return replace(schedule, collective=some, first=first, count=count, index=index)
