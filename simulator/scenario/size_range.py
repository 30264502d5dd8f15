"""Sizes from a command line: a range, or a list."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from simulator.scenario.errors import UnitError
from simulator.scenario.units import size

MOST_SIZES: Final = 200
"""Sizes of a comparison; a picture shows no more."""


def parse_sizes(text: str, points: int | None = None) -> tuple[int, ...]:
    """Read ``1KiB..1GiB``, or ``1KiB,1MiB,1GiB``.

    Parameters
    ----------
    text : str
    points : int, optional
        How many sizes a range holds, each as many times the one before; by default every doubling of
        the first, and the last.

    Returns
    -------
    tuple of int
        Bytes, rising.

    Raises
    ------
    UnitError
        If one is no size, a range does not rise, or there are more than `MOST_SIZES`.

    Examples
    --------
    >>> parse_sizes("1KiB..5KiB"), parse_sizes("1 B..1 MB", points=4), parse_sizes("1 kB, 0 B")
    ((1024, 2048, 4096, 5120), (1, 100, 10000, 1000000), (0, 1000))
    """
    low, dots, high = text.partition("..")
    if not dots:
        if points is not None:
            raise UnitError('points are of a range, as "1KiB..1GiB"')
        found = tuple(sorted({size(part) for part in text.split(",")}))
    else:
        found = tuple(_spread(size(low), size(high), points))
    if len(found) > MOST_SIZES:
        raise UnitError(f"at most {MOST_SIZES} sizes are compared, found {len(found)}")
    return found


def _spread(low: int, high: int, points: int | None) -> Iterator[int]:
    if low < 1 or high <= low:
        raise UnitError(f"a range goes from 1 B or more to what is more, found {low} B to {high} B")
    if points is None:
        reached = low
        while reached < high:
            yield reached
            reached *= 2
        yield high
        return
    if not 2 <= points <= MOST_SIZES:
        raise UnitError(f"a range holds 2 to {MOST_SIZES} sizes, found {points}")
    placed = [round(low * (high / low) ** (i / (points - 1))) for i in range(points - 1)] + [high]
    # close sizes may be the same in whole bytes
    yield low
    yield from (after for before, after in pairwise(placed) if after > before)
