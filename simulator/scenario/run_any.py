"""Reading and running what "collsim run" reads: a scenario of one collective, or of several."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.scenario.kinds import kind_of
from simulator.scenario.load import opened, read_scenario
from simulator.scenario.models import Scenario
from simulator.scenario.parse import parse
from simulator.scenario.run import Report, Result, run
from topologies.errors import CollsimError

# what only several collectives need is loaded where there are several
if TYPE_CHECKING:
    from simulator.scenario.reused import Reused
    from simulator.scenario.together_models import TogetherScenario
    from simulator.scenario.together_result import TogetherResult


def load_scenario(path: str | os.PathLike[str]) -> Scenario | TogetherScenario:
    """Read a scenario of one collective, or of several.

    Raises
    ------
    ScenarioErrors
        With everything that is wrong in it, or why it cannot be read.
    """
    source, refused = parse(*opened(path))
    if kind_of(source) == "together":
        from simulator.scenario.together_load import read_together

        return read_together(source, refused)
    return read_scenario(source, refused)


def run_any(
    scenario: Scenario | TogetherScenario | str | Path,
    *,
    verify: bool | None = None,
    report: Report | None = None,
    allow_code: bool = False,
    memory_limit: int | None = None,
    reused: Reused | None = None,
) -> Result | TogetherResult:
    """Run a scenario of one collective, or of several; as `run` and `run_together`."""
    if isinstance(scenario, str | Path):
        scenario = load_scenario(scenario)
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
    from simulator.scenario.together_run import run_together

    if not isinstance(scenario, TogetherScenario):
        raise CollsimError(
            f"found {type(scenario).__name__}; expected a scenario of collectives, or its file"
        )
    return run_together(
        scenario, verify=verify, report=report, allow_code=allow_code, memory_limit=memory_limit
    )
