"""Holding a result against what its scenario expects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isclose
from typing import TYPE_CHECKING

from topologies.clock import femtoseconds
from topologies.text import format_time

if TYPE_CHECKING:
    from simulator.scenario.models import ExpectedTime, Tolerance
    from simulator.scenario.run import Result

PLAIN = ("steps", "depth", "transfers", "bytes_sent_max", "bytes_sent_total")


@dataclass(frozen=True, slots=True)
class Mismatch:
    """An expectation that failed.

    Attributes
    ----------
    key : str
        Under `expect`.
    expected, found : str
        In words.
    line, column : int
        Where the expectation stands.
    """

    key: str
    expected: str
    found: str
    line: int
    column: int


def check(result: Result) -> tuple[Mismatch, ...]:
    """Expectations of the result's scenario that it does not meet."""
    source = result.scenario.source
    return tuple(
        Mismatch(key, expected, found, *source.locate(("expect", key), key=True))
        for key, expected, found in _differences(result)
    )


def _differences(result: Result) -> Iterator[tuple[str, str, str]]:
    expect = result.scenario.expect
    for key in PLAIN:
        wanted, found = getattr(expect, key), getattr(result.counts, key)
        if wanted is not None and wanted != found:
            yield key, str(wanted), str(found)
    if expect.congestion_factor is not None:
        found = result.congestion_factor
        if found is None or not isclose(found, expect.congestion_factor, rel_tol=1e-9):
            yield "congestion_factor", str(expect.congestion_factor), str(found)
    if expect.verified is not None and expect.verified != result.verified:
        yield "verified", expect.verified, result.verified
    if expect.time is not None and not _close(result.time, expect.time.value, expect.time):
        yield "time", _time(expect.time.value), _time(result.time)
    if expect.analytic is not None:
        if result.analytic is None:
            yield "analytic", "a closed form", "none: there is no one alpha, beta and gamma"
        elif not _close(result.time, result.analytic, expect.analytic):
            yield "analytic", f"the closed form, {_time(result.analytic)}", _time(result.time)


def _close(found: float, wanted: float, tolerance: Tolerance | ExpectedTime) -> bool:
    """Within the tolerance; without one, equal to the femtosecond."""
    difference = abs(found - wanted)
    if tolerance.rel is not None:
        return difference <= tolerance.rel * abs(wanted)
    if tolerance.abs is not None:
        return difference <= tolerance.abs
    return femtoseconds(found) == femtoseconds(wanted)


def _time(seconds: float) -> str:
    return f"{format_time(seconds)} ({seconds!r} s)"
