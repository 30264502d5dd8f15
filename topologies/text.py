"""Quantities in words: the same in every table, figure and message."""

from __future__ import annotations

import json
from fractions import Fraction

_TIMES = {unit: Fraction(10) ** power for unit, power in (("s", 0), ("ms", -3), ("us", -6), ("ns", -9))}
_TIMES |= {"ps": Fraction(10) ** -12, "fs": Fraction(10) ** -15}
_DECIMAL = {unit: Fraction(10) ** power for unit, power in (("TB", 12), ("GB", 9), ("MB", 6), ("kB", 3))}
_DECIMAL |= {"B": Fraction(1)}
_BINARY = {"TiB": 2**40, "GiB": 2**30, "MiB": 2**20, "KiB": 2**10, "B": 1}


def format_time(seconds: float, digits: int = 6) -> str:
    """Write a time for people.

    Parameters
    ----------
    seconds : float
        Finite.
    digits : int
        Most significant digits.

    Examples
    --------
    >>> format_time(7e-6), format_time(0.0146800640), format_time(0), format_time(90)
    ('7 us', '14.6801 ms', '0 s', '90 s')
    >>> format_time(0.0146800640, digits=4)
    '14.68 ms'
    """
    if seconds == 0:
        return "0 s"
    return _scaled(_rounded(seconds, digits), _TIMES, digits)


def format_bytes(count: int, digits: int = 6) -> str:
    """Write a size for people: exact in binary units where that is short, else in decimal ones.

    Parameters
    ----------
    count : int
        Bytes.
    digits : int
        Most significant digits of what is not exact.

    Examples
    --------
    >>> format_bytes(2**30), format_bytes(1001), format_bytes(1_500_000), format_bytes(123_456_789)
    ('1 GiB', '1001 B', '1.5 MB', '123.457 MB')
    """
    if count == 0:
        return "0 B"
    decimal = _scaled(Fraction(count), _DECIMAL, digits)
    unit = next(unit for unit, size in _BINARY.items() if count % size == 0)
    return min(f"{count // _BINARY[unit]} {unit}", decimal, key=len)


def format_sizes(*counts: int, digits: int = 6) -> tuple[str, ...]:
    """Write sizes of one sentence: as `format_bytes`, but all in units of one kind.

    Examples
    --------
    >>> format_sizes(2**30, 123_456_789)
    ('1.07374 GB', '123.457 MB')
    >>> format_sizes(2**30, 17 * 2**20, 5)
    ('1 GiB', '17 MiB', '5 B')
    """
    texts = tuple(format_bytes(count, digits) for count in counts)
    binary = [text.endswith("iB") for text in texts if not text.endswith(" B")]
    if len(set(binary)) < 2:
        return texts
    return tuple(_scaled(Fraction(count), _DECIMAL, digits) for count in counts)


def format_bandwidth(bytes_per_second: float, digits: int = 6) -> str:
    """Write a bandwidth for people.

    Parameters
    ----------
    bytes_per_second : float
        Finite.
    digits : int
        Most significant digits.

    Examples
    --------
    >>> format_bandwidth(64e9), format_bandwidth(26843545600.0), format_bandwidth(0.5)
    ('64 GB/s', '26.8435 GB/s', '0.5 B/s')
    """
    return _scaled(_rounded(bytes_per_second, digits), _DECIMAL, digits) + "/s"


def _rounded(value: float, digits: int) -> Fraction:
    """Value to so many digits, which keeps 999.9999999 ns from being written as 1000 ns."""
    return Fraction(f"{value:.{digits}g}")


def _scaled(value: Fraction, units: dict[str, Fraction], digits: int) -> str:
    """Value in the largest unit in which it is 1 or more, or in the last."""
    unit = next((unit for unit, size in units.items() if abs(value) >= size), next(reversed(units)))
    return f"{float(value / units[unit]):.{digits}g} {unit}"


def printable(text: object, limit: int = 60) -> str:
    r"""Make foreign text safe to print on one line: escaped, and cut where it is long.

    Examples
    --------
    >>> print(printable("two\nlines"), printable("x" * 99, limit=5))
    two\nlines xxxxx...
    """
    word = str(text)
    short = word if len(word) <= limit else f"{word[:limit]}..."
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in short)


def quoted(text: str, limit: int = 40) -> str:
    r"""Foreign text in quotes, on one line: escaped, and cut where it is long.

    >>> print(quoted("two\nlines"), quoted("x" * 99, limit=3))
    "two\nlines" "xxx"
    """
    return json.dumps(text[:limit])
