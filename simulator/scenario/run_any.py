"""Reading and running what "collsim run" reads: a scenario of one collective, or of several."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.scenario.kinds import kind_of
from simulator.scenario.load import loads, read_text
from simulator.scenario.parse import parse
from simulator.scenario.run import Report, Result, run
from simulator.scenario.together_load import loads_together
from simulator.scenario.together_models import TogetherScenario
from simulator.scenario.together_result import TogetherResult
from simulator.scenario.together_run import run_together

if TYPE_CHECKING:
    from simulator.scenario.models import Scenario


def load_scenario(path: str | os.PathLike[str]) -> Scenario | TogetherScenario:
    """Read a scenario of one collective, or of several.

    Raises
    ------
    ScenarioErrors
        With everything that is wrong in it, or why it cannot be read.
    """
    text, name = read_text(path), os.fspath(path)
    source, _ = parse(text, name)
    return loads_together(text, name) if kind_of(source) == "together" else loads(text, name)


def run_any(
    scenario: Scenario | TogetherScenario | str | Path,
    *,
    verify: bool | None = None,
    report: Report | None = None,
    allow_code: bool = False,
    memory_limit: int | None = None,
) -> Result | TogetherResult:
    """Run a scenario of one collective, or of several; as `run` and `run_together`."""
    if isinstance(scenario, str | Path):
        scenario = load_scenario(scenario)
    if isinstance(scenario, TogetherScenario):
        return run_together(
            scenario, verify=verify, report=report, allow_code=allow_code, memory_limit=memory_limit
        )
    return run(scenario, verify=verify, report=report, allow_code=allow_code, memory_limit=memory_limit)
