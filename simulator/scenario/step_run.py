"""Simulating a training step of a parallel plan on its topology."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from simulator.llm.layer_calls import Pass
from simulator.llm.step.fabric import Fabric
from simulator.llm.step.report import StepReport, step_report
from simulator.llm.step.report_setting import Setting, groups_of
from simulator.llm.step.report_summary import step_summary
from simulator.llm.step.stage_units import Machine
from simulator.scenario import blame
from simulator.scenario.answer import Answer
from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.judge import network_cautions
from simulator.scenario.plan_load import load_plan
from simulator.scenario.plan_models import PlanScenario
from simulator.scenario.plan_run import plan_topology
from simulator.scenario.traffic_run import placed
from topologies.clock import to_seconds
from topologies.text import format_time

if TYPE_CHECKING:
    from simulator.llm.hardware import Hardware
    from simulator.llm.plan import Parallel
    from simulator.scenario.run import Report
    from topologies.topology import Topology


IDEAL: Final = "ideal_"
"""Begins what is of a step in which no communication takes time."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StepResult(Answer):
    """What came of a step.

    Attributes
    ----------
    scenario : PlanScenario
    report : StepReport
    """

    scenario: PlanScenario
    report: StepReport

    @property
    def headline(self) -> str:
        """What it is of, and what came of it."""
        return f"{self.scenario.name}: {format_time(to_seconds(self.report.step.time))}"

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know."""
        fabric = self.report.setting.fabric
        return tuple(network_cautions(fabric.network, fabric.topology))


def work_out_step(plan: PlanScenario | str | Path, report: Report | None = None) -> StepResult:
    """Simulate a training step of a plan.

    Parameters
    ----------
    plan : PlanScenario or path
    report : callable, optional
        Called with (stage, done, total) before each simulation and after the last.

    Raises
    ------
    ScenarioErrors
        If the file is wrong, says too little for a step, or its parts do not fit each other; names the
        place in the file.
    """
    scenario = plan if isinstance(plan, PlanScenario) else load_plan(Path(plan))
    setting = step_setting(scenario)
    with simulating(scenario):
        return StepResult(scenario, step_report(setting, report and partial(report, "step")))


def expected_of_step(scenario: PlanScenario, keys: Collection[str]) -> dict[str, float]:
    """What a plan may expect of its step, as it is today; `step_time` in fs.

    Raises
    ------
    ScenarioErrors
        As `work_out_step`.
    """
    setting = step_setting(scenario)
    with simulating(scenario):
        graph = setting.graph()
        now = ideal = step_summary(setting, graph)
        if any(key.startswith(IDEAL) for key in keys):
            ideal = step_summary(setting, graph, groups_of(graph))

    def of_summary(key: str) -> float:
        if key == "step_time":
            return now.time
        return float(getattr(ideal if key.startswith(IDEAL) else now, key.removeprefix(IDEAL)))

    return {key: of_summary(key) for key in keys}


def step_setting(scenario: PlanScenario) -> Setting:
    """What a step of a plan is simulated from.

    Raises
    ------
    ScenarioErrors
        If it says too little, or its topology cannot be built or does not match.
    """
    source = scenario.source
    if scenario.memory.phase != "training":
        message = 'memory.phase: a step is one of training, found "inference"'
        raise ScenarioErrors([source.error(message, source.existing(("memory", "phase")))])
    return pass_setting(scenario)


def pass_setting(scenario: PlanScenario) -> Setting:
    """What passes of a plan are simulated from, be it training or inference.

    Raises
    ------
    ScenarioErrors
        If it says too little, or its topology cannot be built or does not match.
    """
    hardware, topology = scenario.hardware, _needed(scenario)
    if hardware is None:
        message = 'missing key "hardware": how fast a rank computes'
        raise ScenarioErrors([scenario.source.error(message)])
    return setting_on(scenario, hardware, topology, scenario.parallel)


def setting_on(scenario: PlanScenario, hardware: Hardware, topology: Topology, parallel: Parallel) -> Setting:
    """What passes of a plan are simulated from, on what was found to be there."""
    return Setting(
        Pass(scenario.model, parallel, scenario.batch, scenario.memory, scenario.traffic),
        Machine(hardware, scenario.efficiency),
        Fabric(
            parallel, scenario.traffic, topology, scenario.network, scenario.reduction, scenario.work.skew
        ),
        scenario.overlap,
        scenario.work,
    )


def _needed(scenario: PlanScenario) -> Topology:
    topology = plan_topology(scenario)
    if topology is None:
        message = 'missing key "topology": a step is simulated on the links of one'
        raise ScenarioErrors([scenario.source.error(message)])
    return topology


@contextmanager
def simulating(scenario: PlanScenario) -> Iterator[None]:
    """Give an error of a simulation its place in the plan's file.

    Raises
    ------
    ScenarioErrors
    """
    with blame.placed(scenario.source), placed(scenario):
        yield
