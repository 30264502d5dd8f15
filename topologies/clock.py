"""Time: whole femtoseconds in 64-bit integers."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

FEMTOSECONDS: Final = 10**15
"""In a second."""

LONGEST: Final = 9_000_000_000_000_000_000
"""2.5 hours: past this a plan is refused, since 64 bits end soon after."""


def femtoseconds(seconds: float | Fraction) -> int:
    """Nearest whole number of femtoseconds, half to even.

    >>> femtoseconds(1e-6), femtoseconds(Fraction(5, 2 * 10**15))
    (1000000000, 2)
    """
    return round(Fraction(seconds) * FEMTOSECONDS)


def to_seconds(time: int) -> float:
    """Seconds as the nearest float.

    >>> to_seconds(1_000_000_000)
    1e-06
    """
    return time / FEMTOSECONDS


def exact_seconds(time: int) -> str:
    """Seconds as an exact decimal.

    >>> exact_seconds(1_500_000_000)
    '0.000001500000000'
    """
    whole, rest = divmod(time, FEMTOSECONDS)
    return f"{whole}.{rest:015d}"
