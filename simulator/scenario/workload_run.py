"""Running a workload on its topology."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.llm.plan import Parallel
from simulator.llm.step.fabric import Fabric
from simulator.llm.step.simulate import simulate_step
from simulator.llm.workload.events import SEND
from simulator.llm.workload.report import WorkloadReport, workload_report
from simulator.llm.workload.trace_graph import trace_graph
from simulator.scenario.blame import placed
from simulator.scenario.errors import ScenarioError, ScenarioErrors
from simulator.scenario.judge import switch_cautions
from simulator.scenario.load import read_text
from simulator.scenario.run import Report, build_topology, silent
from simulator.scenario.workload_files import groups_of, reading, traces_of
from simulator.scenario.workload_load import loads_workload
from topologies.clock import to_seconds

if TYPE_CHECKING:
    from simulator.llm.step.graph import Graph
    from simulator.scenario.workload_models import WorkloadScenario
    from topologies.topology import Topology


@dataclass(frozen=True, slots=True, eq=False)
class WorkloadResult:
    """What came of a workload.

    Attributes
    ----------
    scenario : WorkloadScenario
    report : WorkloadReport
    warnings : tuple of str
        What a person should know about it.
    """

    scenario: WorkloadScenario
    report: WorkloadReport
    warnings: tuple[str, ...]

    @property
    def duration(self) -> int:
        """Fs until everything has ended."""
        return self.report.time

    @property
    def time(self) -> float:
        """`duration` in seconds."""
        return to_seconds(self.duration)


def run_workload(scenario: WorkloadScenario | str | Path, report: Report | None = None) -> WorkloadResult:
    """Run a workload.

    Parameters
    ----------
    scenario : WorkloadScenario or path
    report : callable, optional
        Told of the progress.

    Raises
    ------
    ScenarioErrors
        If a file is wrong, or its parts do not fit each other; names the place.
    """
    if isinstance(scenario, str | Path):
        scenario = loads_workload(read_text(scenario), str(scenario))
    tell, plan = report or silent, scenario.workload.plan
    tell("build", 0, 1)
    topology = build_topology(scenario)
    if scenario.reduction is not None:
        with placed(scenario.source):
            scenario.reduction.rates(topology.ranks)
    graph = _graph(scenario, topology)
    fabric = Fabric(Parallel(), plan, topology, scenario.network, scenario.reduction)
    # what is done once and for all must be alone on its stream
    alone = plan.one_at_a_time != "none" and all(way.kind != SEND for way, _ in graph.calls)
    tell("simulate", 0, 1)
    with placed(scenario.source, "workload"):
        step = simulate_step(graph, fabric, memoise=alone, engine=scenario.engine)
    tell("judge", 0, 1)
    return WorkloadResult(
        scenario,
        workload_report(step, fabric, alike=False),
        tuple(switch_cautions(scenario.network, topology)),
    )


def _graph(scenario: WorkloadScenario, topology: Topology) -> Graph:
    """Tasks of the workload's files."""
    plan = scenario.workload.plan
    traces = traces_of(scenario, topology)
    groups = groups_of(scenario, topology)
    with reading():
        graph = trace_graph(traces, groups, plan)
    if not len(graph):
        raise ScenarioErrors([ScenarioError("nothing in it takes time", traces[0].file)])
    return graph
