"""Reading and running what "collsim run" reads: one collective, several, or a workload."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, overload

from simulator.scenario.kinds import WORKLOAD, kind_of
from simulator.scenario.load import opened, read_scenario
from simulator.scenario.models import Scenario
from simulator.scenario.parse import parse
from simulator.scenario.run import Report, Result, run
from topologies.errors import CollsimError

# what only several collectives need is loaded where there are several
if TYPE_CHECKING:
    from simulator.scenario.errors import ScenarioError
    from simulator.scenario.reused import Reused
    from simulator.scenario.source import Source
    from simulator.scenario.together_models import TogetherScenario
    from simulator.scenario.together_result import TogetherResult
    from simulator.scenario.workload_models import WorkloadScenario
    from simulator.scenario.workload_result import WorkloadResult


def load_scenario(path: str | os.PathLike[str]) -> Scenario | TogetherScenario:
    """Read a scenario of one collective, or of several.

    Raises
    ------
    ScenarioErrors
        With everything that is wrong in it, or why it cannot be read.
    """
    return _of_collectives(*parse(*opened(path)))


def _of_collectives(source: Source, refused: tuple[ScenarioError, ...]) -> Scenario | TogetherScenario:
    if kind_of(source) == "together":
        from simulator.scenario.together_load import read_together

        return read_together(source, refused)
    return read_scenario(source, refused)


def load_runnable(path: str | os.PathLike[str]) -> Scenario | TogetherScenario | WorkloadScenario:
    """Read a scenario of one collective, of several, or of a workload.

    Raises
    ------
    ScenarioErrors
        With everything that is wrong in it, or why it cannot be read.
    """
    source, refused = parse(*opened(path))
    if kind_of(source) == WORKLOAD:
        from simulator.scenario.workload_load import read_workload

        return read_workload(source, refused)
    return _of_collectives(source, refused)


@overload
def run_any(
    scenario: Scenario | TogetherScenario,
    *,
    verify: bool | None = None,
    report: Report | None = None,
    allow_code: bool = False,
    memory_limit: int | None = None,
    reused: Reused | None = None,
) -> Result | TogetherResult: ...


@overload
def run_any(
    scenario: Scenario | TogetherScenario | WorkloadScenario | str | Path,
    *,
    verify: bool | None = None,
    report: Report | None = None,
    allow_code: bool = False,
    memory_limit: int | None = None,
    reused: Reused | None = None,
) -> Result | TogetherResult | WorkloadResult: ...


def run_any(
    scenario: Scenario | TogetherScenario | WorkloadScenario | str | Path,
    *,
    verify: bool | None = None,
    report: Report | None = None,
    allow_code: bool = False,
    memory_limit: int | None = None,
    reused: Reused | None = None,
) -> Result | TogetherResult | WorkloadResult:
    """Run a scenario of any of these; as `run`, `run_together` and `run_workload`."""
    if isinstance(scenario, str | Path):
        scenario = load_runnable(scenario)
    if isinstance(scenario, Scenario):
        return run(
            scenario,
            verify=verify,
            report=report,
            allow_code=allow_code,
            memory_limit=memory_limit,
            reused=reused,
        )
    from simulator.scenario.together_models import TogetherScenario
    from simulator.scenario.workload_models import WorkloadScenario

    if isinstance(scenario, WorkloadScenario):
        from simulator.scenario.workload_run import run_workload

        return run_workload(scenario, report)
    from simulator.scenario.together_run import run_together

    if not isinstance(scenario, TogetherScenario):
        raise CollsimError(
            f"found {type(scenario).__name__}; expected a scenario of collectives, or its file"
        )
    return run_together(
        scenario, verify=verify, report=report, allow_code=allow_code, memory_limit=memory_limit
    )
