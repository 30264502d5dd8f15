"""Holding a result against what its scenario expects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from algorithms.errors import ProofError
from algorithms.formats.registry import is_schedule
from simulator.scenario.differences import Difference, differences, time_differences
from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.kinds import OtherKindError
from simulator.scenario.plan_check import plan_differences
from simulator.scenario.plan_load import load_any
from simulator.scenario.plan_models import PlanScenario
from simulator.scenario.plan_run import PlanResult, work_out
from simulator.scenario.together_check import together_differences
from simulator.scenario.together_result import TogetherResult
from simulator.scenario.workload_result import WorkloadResult

if TYPE_CHECKING:
    from simulator.scenario.models import Scenario
    from simulator.scenario.result import AnyResult
    from simulator.scenario.source import At
    from simulator.scenario.together_models import TogetherScenario
    from simulator.scenario.workload_models import WorkloadScenario

    Runnable: TypeAlias = Scenario | TogetherScenario | WorkloadScenario
    Held: TypeAlias = AnyResult | PlanResult


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
    result : Result, TogetherResult, WorkloadResult, PlanResult or None
        None where there is none: the input is wrong, or the proof failed.
    mismatches : tuple of Mismatch
    wrong, unproven : str
        What is wrong with the input, or why the proof failed.
    proven : str
        Of a schedule without a scenario: what was proven.
    other : OtherKindError or None
        Where it is wrong only for being of a kind that another command reads.
    """

    file: str
    result: Held | None = None
    mismatches: tuple[Mismatch, ...] = ()
    wrong: str = ""
    unproven: str = ""
    proven: str = ""
    other: OtherKindError | None = None

    @property
    def fine(self) -> bool:
        """Whether everything is as expected."""
        return not (self.mismatches or self.wrong or self.unproven)

    @property
    def lines(self) -> list[str]:
        """What to tell a person."""
        said = self.wrong or self.unproven
        return said.splitlines() if said else diff(self.file, self.mismatches)


def hold(file: Path, run: Callable[[Runnable], AnyResult], name: str | None = None) -> Outcome:
    """Load a scenario, run it, or work a plan out, and hold the result against what it expects.

    A schedule in a file of another tool is proven.

    Parameters
    ----------
    file : pathlib.Path
    run : callable
    name : str, optional
        What the file goes by, if not by its path.
    """
    name = name or str(file)
    try:
        if is_schedule(file.name):
            return Outcome(name, proven=_proven(file))
        scenario = load_any(file)
        result = work_out(scenario) if isinstance(scenario, PlanScenario) else run(scenario)
    except ScenarioErrors as error:
        other = error if isinstance(error, OtherKindError) else None
        return Outcome(name, wrong=str(error), other=other)
    except ProofError as error:
        return Outcome(name, unproven=error.message)
    return Outcome(name, result, check(result))


def _proven(file: Path) -> str:
    """What a schedule is that is right."""
    from algorithms.programs.summary import summary
    from simulator.scenario.schedule_file import proven_program

    return summary(proven_program(file))


def diff(file: str, mismatches: Sequence[Mismatch]) -> list[str]:
    """A line a mismatch with its place, expected and found side by side."""
    rows = [
        (f"{file}:{wrong.line}:{wrong.column}: {wrong.key}: ", f"expected {wrong.expected}, ", wrong.found)
        for wrong in mismatches
    ]
    place, expected = (max((len(row[column]) for row in rows), default=0) for column in (0, 1))
    return [f"{row[0]:{place}}{row[1]:{expected}}found {row[2]}" for row in rows]


def check(result: Held) -> tuple[Mismatch, ...]:
    """Expectations of the result's scenario that it does not meet."""
    source = result.scenario.source
    return tuple(
        Mismatch(
            f"{who}: {key}" if who else key,
            expected,
            found,
            *source.locate((*block, key), key=True),
            # what may be written short or as a block
            source.existing((*block, key, "value")),
            today,
        )
        for who, block, (key, expected, found, today) in _differences(result)
    )


def _differences(result: Held) -> Iterator[tuple[str, At, Difference]]:
    """Of whom (where there are several), under which block, and what."""
    if isinstance(result, TogetherResult):
        yield from together_differences(result)
        return
    if isinstance(result, WorkloadResult):
        found = time_differences("time", result.scenario.expect.time, result.duration)
    elif isinstance(result, PlanResult):
        found = plan_differences(result)
    else:
        found = differences(result.scenario.expect, result, result.timeline.time)
    for difference in found:
        yield "", ("expect",), difference
