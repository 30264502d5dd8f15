"""Ranges as people write them, 1KiB..1GiB, and lists of sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Final

from simulator.scenario.errors import UnitError
from simulator.scenario.units import Kind, exact, kind_of, size
from topologies.text import format_bytes, printable

MOST_SIZES: Final = 200
"""Values of a range, and sizes of a comparison; a picture shows no more."""

DOTS: Final = ".."
"""Between the ends of a range."""

_WHOLE: Final = re.compile(r"[0-9]{1,18}")
_DIGITS: Final = 6
"""Of what comes between, where it has no short form."""

_EXACT: Final = 15


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
    low, dots, high = text.partition(DOTS)
    if not dots:
        if points is not None:
            raise UnitError('points are of a range, as "1KiB..1GiB"')
        found = tuple(sorted({size(part) for part in text.split(",")}))
    else:
        found = tuple(_whole(Fraction(size(low)), Fraction(size(high)), points))
    if len(found) > MOST_SIZES:
        raise UnitError(f"at most {MOST_SIZES} sizes are compared, found {len(found)}")
    return found


def parse_range(text: str, points: int | None = None) -> tuple[str, ...]:
    """Read a range of sizes, times, bandwidths, rates of computing or whole numbers.

    Parameters
    ----------
    text : str
    points : int, optional
        As of `parse_sizes`; what comes between is rounded to whole numbers and bytes, or six digits.

    Returns
    -------
    tuple of str
        What a scenario may say in its place, rising; the first and the last as they are written, but for
        sizes.

    Raises
    ------
    UnitError
        If its ends are no such quantities, do not rise, or there are more than `MOST_SIZES` values.

    Examples
    --------
    >>> parse_range("8..50"), parse_range("1 us..3 us"), parse_range("1KiB..3MB", points=3)
    (('8', '16', '32', '50'), ('1 us', '2 us', '3 us'), ('1 KiB', '55426 B', '3 MB'))
    >>> parse_range("10 GB/s..1 TB/s", points=3)
    ('10 GB/s', '100 GB/s', '1 TB/s')
    """
    first, _, last = (part.strip(" \t") for part in text.partition(DOTS))
    kind = kind_of(first)
    if kind is None and not (_WHOLE.fullmatch(first) and _WHOLE.fullmatch(last)):
        what = "whole numbers, sizes, times or bandwidths"
        raise UnitError(f'"{printable(text)}" is no range of {what}, as "8..64" or "1KiB..1GiB"')
    found = _numbers(first, last, points) if kind is None else _quantities(first, last, kind, points)
    if len(found) > MOST_SIZES:
        raise UnitError(f"a range holds at most {MOST_SIZES} values, found {len(found)}")
    return tuple(found)


def _numbers(first: str, last: str, points: int | None) -> list[str]:
    return [str(number) for number in _whole(Fraction(first), Fraction(last), points)]


def _quantities(first: str, last: str, kind: Kind, points: int | None) -> list[str]:
    """Sizes in whole bytes, and others in the unit of the first."""
    if kind == "bytes":
        whole = _whole(Fraction(size(first)), Fraction(size(last)), points)
        return [_size(number) for number in whole]
    low, high = exact(first, kind), exact(last, kind)
    unit = first.lstrip("+-.0123456789eE").strip(" \t")
    scale, digits = exact(f"1 {unit}", kind), _DIGITS if points else _EXACT
    between = [f"{float(value / scale):.{digits}g} {unit}" for value in _rising(low, high, points)][1:-1]
    return [first, *between, last]


def _size(count: int) -> str:
    """A size that reads back as so many bytes.

    >>> _size(2**20), _size(123_456_789)
    ('1 MiB', '123456789 B')
    """
    short = format_bytes(count)
    return short if size(short) == count else f"{count} B"


def _whole(low: Fraction, high: Fraction, points: int | None) -> Iterator[int]:
    """Whole numbers from one to another; close ones may be the same, and are one."""
    found = [round(value) for value in _rising(low, high, points)]
    yield found[0]
    yield from (after for before, after in pairwise(found) if after > before)


def _rising(low: Fraction, high: Fraction, points: int | None) -> Iterator[Fraction]:
    """Every doubling of the first and the last, or so many in equal ratios."""
    if low <= 0 or high <= low:
        raise UnitError(f"a range goes from more than nothing to what is more, found {low} to {high}")
    if points is None:
        reached = low
        while reached < high:
            yield reached
            reached *= 2
        yield high
        return
    if not isinstance(points, int) or not 2 <= points <= MOST_SIZES:
        raise UnitError(f"a range holds 2 to {MOST_SIZES} values, found {points!r}")
    yield low
    yield from (Fraction(low * (high / low) ** (i / (points - 1))) for i in range(1, points - 1))
    yield high
