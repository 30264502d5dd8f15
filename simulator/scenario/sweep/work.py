"""Running points: what a worker does with a batch of scenarios."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from simulator.scenario.digest import digest, version
from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.flat import flat
from simulator.scenario.folder import contents
from simulator.scenario.plan_models import PlanScenario
from simulator.scenario.result import as_object
from simulator.scenario.reused import Reused
from simulator.scenario.run_any import run_any
from simulator.scenario.sweep.outcome import Outcome
from simulator.scenario.sweep.points import is_typed
from topologies.errors import CollsimError
from topologies.loops import numba_is_here

if TYPE_CHECKING:
    from simulator.scenario.plan_load import AnyScenario


@dataclass(frozen=True, slots=True)
class Setting:
    """How all points of a sweep are run.

    Attributes
    ----------
    verify : bool or None
        Overrules what the scenarios say.
    allow_code : bool
    memory_limit : int or None
        Bytes that a point may take.
    code : str
        Stands for the code that simulates, which must be the same wherever points are run.
    origin : str
        What stands in no file goes by this name in errors.
    """

    verify: bool | None
    allow_code: bool
    memory_limit: int | None
    code: str
    origin: str


@dataclass(frozen=True, slots=True)
class Worked:
    """What came of a batch, and the seconds that it took."""

    outcomes: tuple[Outcome, ...]
    seconds: float


def run_batch(setting: Setting, scenarios: Sequence[AnyScenario], many: bool) -> Worked:
    """Run scenarios one after the other; those that are alike follow each other.

    Parameters
    ----------
    setting : Setting
    scenarios : sequence of Scenario, TogetherScenario or PlanScenario
    many : bool
        Whether so many will follow that it pays to load numba, though no single one is worth it.

    Raises
    ------
    CollsimError
        If other code simulates here than where the sweep was begun.
    """
    if setting.code != version():
        raise CollsimError("a worker has another version of collsim than this process")
    if many:
        # loops are compiled wherever it is there: the same results, sooner
        numba_is_here()
    began, reused = perf_counter(), Reused()
    outcomes = tuple(_outcome(scenario, setting, reused) for scenario in scenarios)
    return Worked(outcomes, perf_counter() - began)


def _outcome(scenario: AnyScenario, setting: Setting, reused: Reused) -> Outcome:
    """What came of a scenario, or the error that is in its place."""
    try:
        return Outcome(*_run(scenario, setting, reused))
    except CollsimError as error:
        return Outcome({}, error=one_line(error, setting.origin))
    except MemoryError:
        return Outcome({}, error="this does not fit memory")


def _run(scenario: AnyScenario, setting: Setting, reused: Reused) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Run a scenario as `collsim run` does, or a plan as far as it says enough: a row, and its warnings."""
    if isinstance(scenario, PlanScenario):
        from simulator.scenario.sweep.plan_work import plan_row

        return plan_row(scenario)
    result = run_any(
        scenario,
        verify=setting.verify,
        allow_code=setting.allow_code,
        memory_limit=setting.memory_limit,
        reused=reused,
    )
    return flat(as_object(result)), result.warnings


def one_line(error: CollsimError, origin: str) -> str:
    """What is wrong in one line, and the same in whichever folder the file is."""
    if not isinstance(error, ScenarioErrors):
        return " ".join(str(error).split())
    first, *others = error.errors
    place = origin if is_typed(first) else Path(first.file).name
    if first.line is not None and not is_typed(first):
        place = f"{place}:{first.line}:{first.column}"
    more = f" (and {len(others)} more)" if others else ""
    return f"{place}: {first.message}{more}"


def key_of(scenario: AnyScenario, setting: Setting) -> str:
    """What a point's outcome is found by: everything that it depends on, the files that it names too."""
    about = (type(scenario).__name__, scenario, contents(scenario.source))
    return digest([setting.code, setting.verify, *about])
