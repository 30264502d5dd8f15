"""Where a collective is not what is expected of it."""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose
from typing import TYPE_CHECKING, Final

from topologies.clock import femtoseconds, to_seconds
from topologies.text import format_time

if TYPE_CHECKING:
    from simulator.scenario.models import Expect, ExpectedTime, Limits, Tolerance
    from simulator.scenario.run import Result
    from simulator.scenario.together_result import MemberResult

COUNTS: Final = ("steps", "depth", "transfers", "bytes_sent_max", "bytes_sent_total", "bytes_reduced_max")
CLOSE: Final = 1e-9
"""Relative difference of two equal ratios."""

NONE: Final = "none"
"""What is written where a result has no fallback."""

Difference = tuple[str, str, str, "int | float | str | None"]


def differences(expect: Expect, result: Result | MemberResult, duration: int) -> Iterator[Difference]:
    """Yield what is not as expected of a collective that took so many fs; times of today are in fs."""
    for key in COUNTS:
        wanted, found = getattr(expect, key), getattr(result.counts, key)
        if wanted is not None and wanted != found:
            yield key, str(wanted), str(found), found
    wanted, found = expect.congestion_factor, result.congestion_factor
    if wanted is not None and (found is None or not isclose(found, wanted, rel_tol=CLOSE)):
        yield "congestion_factor", str(wanted), "none: M is 0" if found is None else str(found), found
    # of `sampled(64)` the word is what is expected
    verified = result.verified.partition("(")[0]
    words = (("verified", verified), ("fallback", result.schedule.fallback or NONE))
    for key, word in words:
        wanted = getattr(expect, key)
        if wanted is not None and wanted != word:
            yield key, wanted, word, word
    yield from time_differences("time", expect.time, duration)
    yield from _judgements(expect, result)


def time_differences(key: str, expected: ExpectedTime | None, found: int) -> Iterator[Difference]:
    """Yield a time that is not what was expected; found in fs."""
    if expected is not None and not _close(to_seconds(found), expected.value, expected):
        yield key, _time(expected.value), _time(to_seconds(found)), found


def _judgements(expect: Expect, result: Result | MemberResult) -> Iterator[Difference]:
    if expect.analytic is not None:
        if result.analytic is None:
            yield "analytic", "a closed form", "none: there is no one alpha, beta and gamma", None
        elif not _close(result.time, result.analytic, expect.analytic):
            yield "analytic", f"the closed form, {_time(result.analytic)}", _time(result.time), None
    if expect.gap is not None and not is_within(result.gap, expect.gap):
        found = "none: the bound is 0" if result.gap is None else f"{result.gap:.10g}"
        yield "gap", limits_text(expect.gap), found, None


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


def is_within(ratio: float | None, limits: Limits) -> bool:
    """Within the limits, to 1e-9."""
    if ratio is None:
        return False
    above = limits.at_least is None or ratio >= limits.at_least * (1 - CLOSE)
    return above and (limits.at_most is None or ratio <= limits.at_most * (1 + CLOSE))


def limits_text(limits: Limits) -> str:
    """Limits in words."""
    words = (("at least", limits.at_least), ("at most", limits.at_most))
    return " and ".join(f"{word} {limit:g}" for word, limit in words if limit is not None)
