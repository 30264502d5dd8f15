"""Powers of a radix: the distances at which trees and exchanges work."""

from __future__ import annotations

from algorithms.errors import ScheduleError


def strides(ranks: int, radix: int) -> list[int]:
    """1, k, k^2, ... below N.

    Raises
    ------
    ScheduleError
        If the radix k is less than 2.

    Examples
    --------
    >>> strides(9, 2), strides(9, 3), strides(1, 2)
    ([1, 2, 4, 8], [1, 3], [])
    """
    if radix < 2:
        raise ScheduleError(f"a radix is 2 or more, found {radix}", ("radix",))
    powers = []
    power = 1
    while power < ranks:
        powers.append(power)
        power *= radix
    return powers
