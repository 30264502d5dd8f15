"""Working out a parallel plan: does it match its topology, and what memory does it take."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from simulator.llm.memory import Memory, memory
from simulator.scenario.answer import Answer
from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.plan_load import load_plan
from simulator.scenario.plan_models import PlanScenario
from topologies.topology import Topology


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PlanResult(Answer):
    """What came of a plan.

    Attributes
    ----------
    scenario : PlanScenario
    memory : Memory
    """

    scenario: PlanScenario
    memory: Memory

    @property
    def headline(self) -> str:
        """What it is of, and what came of it."""
        return self.scenario.name


def work_out(plan: PlanScenario | str | Path) -> PlanResult:
    """Count the memory of a plan, after it was held against its topology.

    Raises
    ------
    ScenarioErrors
        If the file is wrong, or the topology has another number of ranks.
    """
    scenario = plan if isinstance(plan, PlanScenario) else load_plan(Path(plan))
    plan_topology(scenario)
    return PlanResult(scenario, memory(scenario.model, scenario.parallel, scenario.batch, scenario.memory))


def plan_topology(scenario: PlanScenario) -> Topology | None:
    """The topology of a plan, of as many ranks as it has; None where it names none.

    Raises
    ------
    ScenarioErrors
        If it cannot be built, or does not match.
    """
    if scenario.topology is None:
        return None
    from simulator.scenario.run import build_topology

    built, parallel = build_topology(scenario), scenario.parallel
    if built.ranks == parallel.ranks:
        return built
    degrees = ("tp", "cp", "dp", "pp")
    product = " x ".join(f"{axis} {getattr(parallel, axis)}" for axis in degrees)
    message = f"{product} is {parallel.ranks} ranks, but the topology has {built.ranks}"
    at = scenario.source.existing(("parallel",))
    raise ScenarioErrors([scenario.source.error(f"parallel: {message}", at, key=True)])
