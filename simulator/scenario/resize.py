"""A schedule at another size."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from algorithms.schedule import Schedule


def evenly_resized(schedule: Schedule, size: int) -> Schedule | None:
    """A schedule of the catalogue for another size; None where the chunks of either size are not all equal.

    Which chunks move does not depend on their sizes. M is cut into blocks and these into segments, as
    evenly as can be: what goes evenly into all chunks of a vector is cut into equal ones.

    Examples
    --------
    >>> from algorithms.registry import build
    >>> eight = build("ring", "allgather", 8, 80)
    >>> evenly_resized(eight, 160).collective.size, evenly_resized(eight, 161)
    (160, None)
    """
    collective = schedule.collective
    chunk = int(collective.sizes.max(initial=0))
    if not chunk or (collective.sizes != chunk).any() or collective.size % chunk:
        return None
    chunks = collective.size // chunk
    if size % chunks:
        return None
    sizes = np.full_like(collective.sizes, size // chunks)
    return replace(schedule, collective=replace(collective, sizes=sizes))
