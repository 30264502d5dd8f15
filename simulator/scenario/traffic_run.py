"""Working out what a parallel plan sends, and over which levels of its topology."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.llm.errors import ModelError
from simulator.llm.traffic import Traffic, traffic
from simulator.scenario.answer import Answer
from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.plan_load import load_plan
from simulator.scenario.plan_models import PlanScenario
from simulator.scenario.plan_run import plan_topology
from simulator.scenario.source import dotted

if TYPE_CHECKING:
    from simulator.llm.levels import Levels
    from topologies.topology import Topology


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TrafficResult(Answer):
    """What a plan sends.

    Attributes
    ----------
    scenario : PlanScenario
    traffic : Traffic
    topology : Topology or None
    levels : Levels or None
        None where the plan names no topology.
    """

    scenario: PlanScenario
    traffic: Traffic
    topology: Topology | None
    levels: Levels | None

    @property
    def headline(self) -> str:
        """What it is of, and what came of it."""
        return self.scenario.name


def work_out_traffic(plan: PlanScenario | str | Path) -> TrafficResult:
    """Count what a plan sends, and lay it over its topology.

    Raises
    ------
    ScenarioErrors
        If the file is wrong, or the parts do not fit each other; names the place in the file.
    """
    scenario = plan if isinstance(plan, PlanScenario) else load_plan(Path(plan))
    topology = plan_topology(scenario)
    with placed(scenario):
        counted = traffic(
            scenario.model, scenario.parallel, scenario.batch, scenario.memory, scenario.traffic
        )
        carried = None if topology is None else _laid_over(counted, topology)
    return TrafficResult(scenario, counted, topology, carried)


def _laid_over(counted: Traffic, topology: Topology) -> Levels:
    from simulator.llm.levels import levels

    return levels(counted, topology)


@contextmanager
def placed(scenario: PlanScenario) -> Iterator[None]:
    """Give an error its place in the plan's file."""
    try:
        yield
    except ModelError as error:
        at = scenario.source.existing(error.at)
        message = f"{dotted(error.at)}: {error.message}" if error.at else error.message
        raise ScenarioErrors([scenario.source.error(message, at)]) from None
