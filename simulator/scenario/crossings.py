"""Who is fastest at which size, and where another takes over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt
from typing import Final

TimeAt = Callable[[str, int], int | None]
"""(algorithm, bytes) -> fs; None where it cannot run at that size."""

NEVER: Final = 1 << 63
"""Longer than any run."""

DIGITS: Final = 3
"""Significant digits to which a crossover is found."""


@dataclass(frozen=True, slots=True)
class Winners:
    """The fastest at a size.

    Attributes
    ----------
    size : int
        Bytes.
    names : tuple of str
        All that take the least time, in the order in which they were compared; none where none runs.
    time : int or None
        fs.
    runner_up : int or None
        Time of the fastest that takes longer, fs.
    """

    size: int
    names: tuple[str, ...]
    time: int | None
    runner_up: int | None


@dataclass(frozen=True, slots=True)
class Crossover:
    """Where one algorithm is no longer the fastest.

    Attributes
    ----------
    before, after : str
        Who is fastest below, and who is from there on.
    size : int
        Smallest size found at which `after` is faster, bytes.
    within : int
        So many bytes less, it is not: 1, or a unit of the third significant digit.
    """

    before: str
    after: str
    size: int
    within: int


def winners_at(size: int, names: Sequence[str], time_at: TimeAt) -> Winners:
    """Find the fastest at a size.

    Examples
    --------
    >>> winners_at(8, ["a", "b", "c"], lambda name, size: {"a": 3, "b": 2, "c": 2}[name])
    Winners(size=8, names=('b', 'c'), time=2, runner_up=3)
    """
    times = {name: time for name in names if (time := time_at(name, size)) is not None}
    if not times:
        return Winners(size, (), None, None)
    least = min(times.values())
    fastest = tuple(name for name, time in times.items() if time == least)
    return Winners(size, fastest, least, min((t for t in times.values() if t > least), default=None))


def leaders(winners: Sequence[Winners]) -> tuple[str | None, ...]:
    """Name one winner for every size, with as few changes as there can be.

    Examples
    --------
    >>> leaders([Winners(1, ("a", "b"), 1, None), Winners(2, ("b",), 1, 2)])
    ('b', 'b')
    """
    named: list[str | None] = []
    for i, here in enumerate(winners):
        if named and named[-1] in here.names:
            named.append(named[-1])
        else:
            # of those that tie the one that stays ahead for longest
            named.append(max(here.names, key=lambda name: _stays(winners[i:], name), default=None))
    return tuple(named)


def _stays(winners: Sequence[Winners], name: str) -> int:
    return next((i for i, here in enumerate(winners) if name not in here.names), len(winners))


def crossovers(winners: Sequence[Winners], names: Sequence[str], time_at: TimeAt) -> tuple[Crossover, ...]:
    """Find by bisection where the winner changes between neighbouring sizes.

    Of two algorithms that change places more than once between two neighbouring sizes, one change is
    found.

    Parameters
    ----------
    winners : sequence of Winners
        By rising size.
    names : sequence of str
        Everybody.
    time_at : callable

    Examples
    --------
    >>> times = {"few steps": lambda m: 3 + 2 * m, "few bytes": lambda m: 103 + m}
    >>> time_at = lambda name, size: times[name](size)
    >>> found = [winners_at(size, list(times), time_at) for size in (1, 1000)]
    >>> crossovers(found, list(times), time_at)
    (Crossover(before='few steps', after='few bytes', size=101, within=1),)
    """

    def time(name: str, size: int) -> int:
        found = time_at(name, size)
        return NEVER if found is None else found

    changes: list[Crossover] = []
    for (low, before), (high, after) in pairwise(zip(winners, leaders(winners), strict=True)):
        if before is not None and after is not None and before != after:
            changes += _between(before, after, low.size, high.size, names, time)
    return tuple(changes)


def _between(
    before: str, after: str, low: int, high: int, names: Sequence[str], time: Callable[[str, int], int]
) -> list[Crossover]:
    """Changes from one winner to another, and by way of those that win for a while in between."""
    if time(after, high) >= time(before, high):
        # they tie at the end: nobody takes over
        return []
    bottom, top = low, high
    while top - bottom > resolution(top):
        middle = isqrt(bottom * top) if 0 < 4 * bottom < top else (bottom + top) // 2
        if time(after, middle) < time(before, middle):
            top = middle
        else:
            bottom = middle
    best = min(names, key=lambda name: time(name, top))
    if time(best, top) < time(after, top):
        return [
            *_between(before, best, low, top, names, time),
            *_between(best, after, top, high, names, time),
        ]
    return [Crossover(before, after, top, top - bottom)]


def resolution(size: int) -> int:
    """Bytes to which a crossover near a size is found.

    >>> resolution(999), resolution(123_456)
    (1, 1000)
    """
    return int(10 ** max(0, len(str(size)) - DIGITS))
