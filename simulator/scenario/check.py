"""Holding a result against what its scenario expects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isclose
from pathlib import Path
from typing import TYPE_CHECKING, Final

from algorithms.errors import ProofError
from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.plan_check import plan_differences
from simulator.scenario.plan_load import load_any
from simulator.scenario.plan_models import PlanScenario
from simulator.scenario.plan_run import PlanResult, work_out
from topologies.clock import femtoseconds
from topologies.text import format_time

if TYPE_CHECKING:
    from simulator.scenario.models import ExpectedTime, Limits, Scenario, Tolerance
    from simulator.scenario.run import Result
    from simulator.scenario.source import At

COUNTS: Final = ("steps", "depth", "transfers", "bytes_sent_max", "bytes_sent_total", "bytes_reduced_max")
CLOSE: Final = 1e-9
"""Relative difference of two equal ratios."""

NONE: Final = "none"
"""What is written where a result has no fallback."""


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
    at : tuple of str
        Path of the value that would have to be another.
    today : int, float, str or None
        That value: a time in fs. None where there is none, as of a tolerance or a limit.
    """

    key: str
    expected: str
    found: str
    line: int
    column: int
    at: At
    today: int | float | str | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of holding a scenario's file against what it expects.

    Attributes
    ----------
    file : str
        As it was given.
    result : Result, PlanResult or None
        None where there is none: the input is wrong, or the proof failed.
    mismatches : tuple of Mismatch
    wrong, unproven : str
        What is wrong with the input, or why the proof failed.
    """

    file: str
    result: Result | PlanResult | None = None
    mismatches: tuple[Mismatch, ...] = ()
    wrong: str = ""
    unproven: str = ""

    @property
    def fine(self) -> bool:
        """Whether everything is as expected."""
        return not (self.mismatches or self.wrong or self.unproven)

    @property
    def lines(self) -> list[str]:
        """What to tell a person."""
        said = self.wrong or self.unproven
        return said.splitlines() if said else diff(self.file, self.mismatches)


def hold(file: Path, run: Callable[[Scenario], Result]) -> Outcome:
    """Load a scenario, run it, or work a plan out, and hold the result against what it expects."""
    try:
        scenario = load_any(file)
        result = work_out(scenario) if isinstance(scenario, PlanScenario) else run(scenario)
    except ScenarioErrors as error:
        return Outcome(str(file), wrong=str(error))
    except ProofError as error:
        return Outcome(str(file), unproven=error.message)
    return Outcome(str(file), result, check(result))


def diff(file: str, mismatches: Sequence[Mismatch]) -> list[str]:
    """A line a mismatch with its place, expected and found side by side."""
    rows = [
        (f"{file}:{wrong.line}:{wrong.column}: {wrong.key}: ", f"expected {wrong.expected}, ", wrong.found)
        for wrong in mismatches
    ]
    place, expected = (max((len(row[column]) for row in rows), default=0) for column in (0, 1))
    return [f"{row[0]:{place}}{row[1]:{expected}}found {row[2]}" for row in rows]


def check(result: Result | PlanResult) -> tuple[Mismatch, ...]:
    """Expectations of the result's scenario that it does not meet."""
    source = result.scenario.source
    differences = plan_differences(result) if isinstance(result, PlanResult) else _differences(result)
    return tuple(
        Mismatch(
            key,
            expected,
            found,
            *source.locate(("expect", key), key=True),
            # what may be written short or as a block
            source.existing(("expect", key, "value")),
            today,
        )
        for key, expected, found, today in differences
    )


Difference = tuple[str, str, str, "int | float | str | None"]


def _differences(result: Result) -> Iterator[Difference]:
    expect = result.scenario.expect
    for key in COUNTS:
        wanted, found = getattr(expect, key), getattr(result.counts, key)
        if wanted is not None and wanted != found:
            yield key, str(wanted), str(found), found
    wanted, found = expect.congestion_factor, result.congestion_factor
    if wanted is not None and (found is None or not isclose(found, wanted, rel_tol=CLOSE)):
        yield "congestion_factor", str(wanted), "none: M is 0" if found is None else str(found), found
    words = (("verified", result.verified), ("fallback", result.schedule.fallback or NONE))
    for key, word in words:
        wanted = getattr(expect, key)
        if wanted is not None and wanted != word:
            yield key, wanted, word, word
    yield from _times(result)


def _times(result: Result) -> Iterator[Difference]:
    expect = result.scenario.expect
    if expect.time is not None and not _close(result.time, expect.time.value, expect.time):
        yield "time", _time(expect.time.value), _time(result.time), result.timeline.time
    if expect.analytic is not None:
        if result.analytic is None:
            yield "analytic", "a closed form", "none: there is no one alpha, beta and gamma", None
        elif not _close(result.time, result.analytic, expect.analytic):
            yield "analytic", f"the closed form, {_time(result.analytic)}", _time(result.time), None
    if expect.gap is not None and not _within(result.gap, expect.gap):
        found = "none: the bound is 0" if result.gap is None else str(result.gap)
        yield "gap", _limits(expect.gap), found, None


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


def _within(ratio: float | None, limits: Limits) -> bool:
    """Within the limits, to 1e-9."""
    if ratio is None:
        return False
    above = limits.at_least is None or ratio >= limits.at_least * (1 - CLOSE)
    return above and (limits.at_most is None or ratio <= limits.at_most * (1 + CLOSE))


def _limits(limits: Limits) -> str:
    words = (("at least", limits.at_least), ("at most", limits.at_most))
    return " and ".join(f"{word} {limit:g}" for word, limit in words if limit is not None)
