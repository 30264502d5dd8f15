"""Searching for the parallel plan of a model on a topology."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.llm.search.search import Found, Report, search
from simulator.scenario.answer import Answer
from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.plan_load import load_plan
from simulator.scenario.plan_models import PlanScenario
from simulator.scenario.run import build_topology
from simulator.scenario.search_state import search_state
from simulator.scenario.step_run import setting_on
from simulator.scenario.traffic_run import placed

if TYPE_CHECKING:
    from simulator.llm.step.report_setting import Setting
    from simulator.scenario.source import At


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SearchResult(Answer):
    """What came of a search.

    Attributes
    ----------
    scenario : PlanScenario
    ranks : int
    found : Found
    """

    scenario: PlanScenario
    ranks: int
    found: Found

    @property
    def headline(self) -> str:
        """What it is of, and what came of it."""
        return f"{self.scenario.name}: {len(self.found.rows)} plans"


def work_out_search(
    plan: PlanScenario | str | Path,
    *,
    top: int = 10,
    prune: bool = True,
    workers: int = 1,
    state: Path | None = None,
    report: Report | None = None,
) -> SearchResult:
    """Rank the parallel plans of a file by their simulated steps.

    Parameters
    ----------
    plan : PlanScenario or path
    top, prune, workers, report
        As `simulator.llm.search.search.search`.
    state : path, optional
        A file that keeps what has been simulated, and is read first.

    Raises
    ------
    ScenarioErrors
        If the file is wrong or says too little; names the place in it.
    CollsimError
        If the state cannot be read or written.
    """
    scenario = plan if isinstance(plan, PlanScenario) else load_plan(Path(plan))
    base = search_base(scenario)
    kept = nullcontext() if state is None else search_state(state, scenario)
    with kept as memo, placed(scenario):
        found = search(base, scenario.search, top=top, prune=prune, workers=workers, memo=memo, report=report)
    return SearchResult(scenario, base.fabric.topology.ranks, found)


def search_base(scenario: PlanScenario) -> Setting:
    """What all plans of a search have in common; degrees are the file's own.

    Raises
    ------
    ScenarioErrors
        If the file says too little, or what does not go with a search.
    """
    if scenario.memory.phase != "training":
        raise _wrong(scenario, 'a search is for training, found "inference"', ("memory", "phase"))
    if scenario.parallel.split is not None:
        raise _wrong(scenario, "a search shares the layers equally", ("parallel", "split"))
    if scenario.hardware is None:
        raise _wrong(scenario, 'missing key "hardware": how fast a rank computes')
    if scenario.topology is None:
        raise _wrong(scenario, 'missing key "topology": plans are laid over its ranks')
    return setting_on(scenario, scenario.hardware, build_topology(scenario), scenario.parallel)


def _wrong(scenario: PlanScenario, message: str, at: At = ()) -> ScenarioErrors:
    source = scenario.source
    where = f"{'.'.join(map(str, at))}: " if at else ""
    return ScenarioErrors([source.error(f"{where}{message}", source.existing(at))])
