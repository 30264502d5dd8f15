"""Routes of many pairs of nodes, in columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_NONE: Final = np.zeros(0, dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Routes:
    """Routes of many pairs.

    Attributes
    ----------
    offsets : ndarray of int64, shape (pairs + 1,)
        Pair p walks links[offsets[p]:offsets[p + 1]].
    links : ndarray of int32
        Link indices, in walking order.
    """

    offsets: NDArray[np.int64]
    links: NDArray[np.int32]

    @classmethod
    def counted(cls, count: NDArray[np.int64], links: NDArray[np.int32]) -> Routes:
        """Routes of which pair p has the next count[p] links."""
        offsets = np.zeros(len(count) + 1, dtype=np.int64)
        np.cumsum(count, out=offsets[1:])
        return cls(offsets, links)

    def hops(self) -> NDArray[np.int64]:
        """Number of links of each route."""
        return np.diff(self.offsets)

    def pick(self, which: NDArray[np.int64]) -> Routes:
        """Some of the routes, or some several times."""
        count = self.hops()[which]
        picked = Routes.counted(count, np.empty(int(count.sum()), dtype=np.int32))
        shift = np.repeat(self.offsets[which] - picked.offsets[:-1], count)
        picked.links[:] = self.links[shift + np.arange(len(picked.links))]
        return picked


def assemble(pairs: int, parts: Sequence[tuple[NDArray[np.int64], Routes]]) -> Routes:
    """Routes of all pairs from those of some at a time.

    Parameters
    ----------
    pairs : int
        How many; one that is in none of the parts has no links.
    parts : sequence of (ndarray of int64, Routes)
        The pairs, each in at most one part, and their routes.
    """
    count = np.zeros(pairs, dtype=np.int64)
    for rows, part in parts:
        count[rows] = part.hops()
    every = np.concatenate([np.zeros(0, dtype=np.int64), *(rows for rows, _ in parts)])
    if (np.diff(every) > 0).all():
        links = [part.links for _, part in parts]
        return Routes.counted(count, links[0] if len(links) == 1 else np.concatenate([_NONE, *links]))
    whole = Routes.counted(count, np.empty(int(count.sum()), dtype=np.int32))
    # the largest part fills what the others leave
    largest = max(range(len(parts)), key=lambda i: len(parts[i][1].links))
    free = np.ones(len(whole.links), dtype=bool)
    for i, (rows, part) in enumerate(parts):
        if i != largest or (np.diff(rows) <= 0).any():
            shift = np.repeat(whole.offsets[rows] - part.offsets[:-1], part.hops())
            at = shift + np.arange(len(part.links))
            whole.links[at], free[at] = part.links, False
    if free.any():
        whole.links[free] = parts[largest][1].links
    return whole
