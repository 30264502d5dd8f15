"""Where a log's times bend: the sizes at which another protocol or algorithm takes over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from simulator.scenario.calibration.robust import first_guess

if TYPE_CHECKING:
    from numpy.typing import NDArray

LEAST: Final = 3
"""Sizes of a part: a line through two says nothing."""

MOST_PARTS: Final = 4
MOST_SIZES: Final = 48
"""Sizes of which every one may be a bend; of more, evenly as many."""

MOST_POINTS: Final = 96
"""Points of a part by which a line is judged; of more, evenly as many."""


def breaks_of(sizes: NDArray[np.float64], times: NDArray[np.float64]) -> list[tuple[int, ...]]:
    """For 1, 2, ... parts, where they begin best if each is a straight line in the size.

    Parameters
    ----------
    sizes, times : ndarray of float, shape (points,)
        By rising size; a size may be there several times.

    Returns
    -------
    list of tuple of int
        Of every number of parts the first points of the second, third, ...

    Examples
    --------
    >>> sizes = 2.0 ** np.arange(10, 22)
    >>> breaks_of(sizes, np.where(sizes < 2**15, 5e-6, 20e-6 + sizes / 1e10))[1]
    (5,)
    """
    starts = np.flatnonzero(np.diff(sizes, prepend=-1.0) > 0)
    starts = starts[np.unique(np.linspace(0, len(starts) - 1, min(len(starts), MOST_SIZES)).astype(int))]
    ends = [*starts.tolist(), len(sizes)]
    count = len(starts)
    cost: dict[tuple[int, int], float] = {}
    for low in range(count):
        for high in range(low + LEAST, count + 1):
            points = ends[high] - ends[low]
            part = ends[low] + np.unique(np.linspace(0, points - 1, min(points, MOST_POINTS)).astype(int))
            design = np.stack([np.ones(len(part)), sizes[part]], axis=1)
            cost[low, high] = first_guess(design, times[part])[1] * points / len(part)
    best: list[dict[int, tuple[float, tuple[int, ...]]]] = [
        {high: (cost[0, high], ()) for high in range(LEAST, count + 1)}
    ]
    for _ in range(1, MOST_PARTS):
        longer: dict[int, tuple[float, tuple[int, ...]]] = {}
        for high in range(LEAST, count + 1):
            ways = [
                (lost + cost[low, high], (*at, low))
                for low, (lost, at) in best[-1].items()
                if (low, high) in cost
            ]
            if ways:
                longer[high] = min(ways)
        best.append(longer)
    return [tuple(ends[low] for low in one[count][1]) for one in best if count in one]
