"""Quantities as people write them, read exactly and written shortly.

Decimal prefixes are powers of 1000 (k or K, M, G, T), binary ones of 1024 (Ki, Mi, Gi,
Ti); B is a byte and b or bit is a bit. Nothing is rounded before the last step.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from types import MappingProxyType
from typing import Literal

from simulator.scenario.errors import UnitError, did_you_mean
from topologies.text import printable

Kind = Literal["bandwidth", "compute", "time", "bytes"]

_PREFIXES = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_PREFIXES |= {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
_BYTES = {f"{prefix}B": Fraction(scale) for prefix, scale in _PREFIXES.items()}
_BITS = {f"{prefix}{bit}": Fraction(scale, 8) for bit in ("bit", "b") for prefix, scale in _PREFIXES.items()}
_OPERATIONS = {f"{prefix}FLOP/s": Fraction(scale) for prefix, scale in _PREFIXES.items() if "i" not in prefix}
_OPERATIONS |= {"PFLOP/s": Fraction(10**15), "EFLOP/s": Fraction(10**18)}
_TIMES = {"fs": -15, "ps": -12, "ns": -9, "us": -6, "µs": -6, "μs": -6, "ms": -3, "s": 0}

UNITS: Mapping[Kind, Mapping[str, Fraction]] = MappingProxyType(
    {
        "bandwidth": {f"{unit}/s": scale for unit, scale in (_BYTES | _BITS).items()},
        "compute": _OPERATIONS,
        "time": {unit: Fraction(10) ** power for unit, power in _TIMES.items()} | {"min": Fraction(60)},
        "bytes": _BYTES,
    }
)
NAMES: Mapping[str, str] = MappingProxyType(
    {"bandwidth": "a bandwidth", "compute": "a rate of computing", "time": "a time", "bytes": "a size"}
)
EXAMPLES: Mapping[Kind, str] = MappingProxyType(
    {"bandwidth": "64 GB/s", "compute": "312 TFLOP/s", "time": "8 us", "bytes": "1 GiB"}
)

MIN_BANDWIDTH, MAX_BANDWIDTH = Fraction(1, 1000), Fraction(10**18)
MIN_TIME, MAX_TIME = Fraction(1, 10**30), Fraction(10**6)
MAX_BYTES = 2**50
_RANGES: Mapping[str, str] = MappingProxyType(
    {
        "bandwidth": "0.001 B/s to 1e6 TB/s",
        "compute": "0.001 FLOP/s to 1e6 TFLOP/s",
        "time": "0 s, or 1e-30 s to 1e6 s",
        "bytes": "a whole number of bytes up to 1 PiB (2^50)",
    }
)
MAX_LENGTH = 200
_MAX_POWER = 40

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def bandwidth(text: str) -> float:
    """Read a bandwidth in bytes/s.

    Raises
    ------
    UnitError
        If it is not a bandwidth, or not between 0.001 B/s and 10^18 B/s.

    Examples
    --------
    >>> bandwidth("64 GB/s"), bandwidth("25 GiB/s"), bandwidth("400 Gbit/s"), bandwidth("400 Gb/s")
    (64000000000.0, 26843545600.0, 50000000000.0, 50000000000.0)
    """
    return _rate(text, "bandwidth")


def compute(text: str) -> float:
    """Read a rate of computing in FLOP/s.

    Raises
    ------
    UnitError
        If it is not such a rate, or not between 0.001 FLOP/s and 10^18 FLOP/s.

    Examples
    --------
    >>> compute("312 TFLOP/s")
    312000000000000.0
    """
    return _rate(text, "compute")


def _rate(text: str, kind: Kind) -> float:
    value = exact(text, kind)
    if value <= 0:
        unit = next(iter(UNITS[kind]))
        raise UnitError(f'"{printable(text)}" must be more than 0 {unit}')
    if not MIN_BANDWIDTH <= value <= MAX_BANDWIDTH:
        raise _out_of_range(text, kind)
    return float(value)


def time(text: str) -> float:
    """Read a time in seconds.

    Raises
    ------
    UnitError
        If it is not a time, is negative, is more than 10^6 s, or is neither 0 nor at least 10^-30 s.

    Examples
    --------
    >>> time("1 us"), time("2.5ms"), time("0 s")
    (1e-06, 0.0025, 0.0)
    """
    value = exact(text, "time")
    if value < 0:
        raise UnitError(f'"{printable(text)}" must be zero or more')
    if value > MAX_TIME or 0 < value < MIN_TIME:
        raise _out_of_range(text, "time")
    return float(value)


def size(text: str) -> int:
    """Read a whole number of bytes.

    Raises
    ------
    UnitError
        If it is not a size, is negative, not whole, or more than 2^50 bytes.

    Examples
    --------
    >>> size("1 GiB"), size("1.5 kB"), size("0 B")
    (1073741824, 1500, 0)
    """
    value = exact(text, "bytes")
    if value < 0:
        raise UnitError(f'"{printable(text)}" must be zero or more')
    if value.denominator != 1:
        raise UnitError(f'"{printable(text)}" is not a whole number of bytes')
    if value > MAX_BYTES:
        raise _out_of_range(text, "bytes")
    return int(value)


def kind_of(text: str) -> Kind | None:
    """Say what a number and its unit measure; None where it is neither.

    Examples
    --------
    >>> kind_of("1 GiB"), kind_of("400 Gbit/s"), kind_of("ring")
    ('bytes', 'bandwidth', None)
    """
    for kind in UNITS:
        with suppress(UnitError):
            exact(text, kind)
            return kind
    return None


def exact(text: str, kind: Kind) -> Fraction:
    """Read a number and its unit without rounding: bytes/s, s or bytes.

    Raises
    ------
    UnitError
        If the number or the unit is not one, the unit measures something else, or the number is
        so large, small or long that no quantity can be meant.

    Examples
    --------
    >>> exact("1e-3 us", "time")
    Fraction(1, 1000000000)
    """
    trimmed, shown = text.strip(" \t"), printable(text)
    match = _NUMBER.match(trimmed)
    number = match[0] if match else ""
    unit = trimmed[len(number) :].lstrip(" \t")
    if not number or not (unit.replace("/", "", 1).isalpha() or unit in ("", "/")):
        raise UnitError(
            f'"{shown}" is not {NAMES[kind]}; expected a number and a unit, e.g. "{EXAMPLES[kind]}"'
        )
    if not unit:
        raise UnitError(needs_unit(number, kind))
    if unit not in UNITS[kind]:
        raise UnitError(_wrong_unit(shown, number, unit, kind))
    if not _is_moderate(number):
        raise _out_of_range(text, kind)
    if len(text) > MAX_LENGTH:
        raise UnitError(f'"{shown}" is longer than {MAX_LENGTH} characters')
    return Fraction(number) * UNITS[kind][unit]


def _is_moderate(number: str) -> bool:
    """Say whether a number is 0 or has an ordinary power of ten, without computing it."""
    try:
        read = Decimal(number)
    except InvalidOperation:
        return False
    return not read or abs(read.adjusted()) < _MAX_POWER


def _out_of_range(text: str, kind: Kind) -> UnitError:
    return UnitError(f'"{printable(text)}" is out of range: expected {_RANGES[kind]}')


def needs_unit(number: str, kind: Kind) -> str:
    """Say that a bare number needs a unit.

    Examples
    --------
    >>> needs_unit("8", "time")
    '8 needs a unit, e.g. "8 us"'
    """
    shown = printable(number, limit=20)
    return f'{shown} needs a unit, e.g. "{shown} {EXAMPLES[kind].split()[1]}"'


def _wrong_unit(shown: str, number: str, unit: str, kind: Kind) -> str:
    for other, units in UNITS.items():
        if unit in units:
            near = f"{unit}/s" if kind == "bandwidth" else unit.removesuffix("/s")
            meant = f"{number} {near}" if near in UNITS[kind] else ""
            hint = f'; did you mean "{meant}"?' if meant else f'; expected e.g. "{EXAMPLES[kind]}"'
            return f'"{shown}" is {NAMES[other]}, not {NAMES[kind]}{hint}'
    hint = did_you_mean(unit, UNITS[kind]) or f'; expected {NAMES[kind]}, e.g. "{EXAMPLES[kind]}"'
    return f'unknown unit "{printable(unit)}" in "{shown}"{hint}'
