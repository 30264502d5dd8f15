"""Running a workload on its topology."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.llm.plan import Parallel
from simulator.llm.step.fabric import Fabric
from simulator.llm.step.simulate import simulate_step
from simulator.llm.workload.events import SEND
from simulator.llm.workload.groups import Groups
from simulator.llm.workload.layer_graph import layer_graph
from simulator.llm.workload.report import workload_report
from simulator.llm.workload.trace_graph import trace_graph
from simulator.scenario.blame import placed
from simulator.scenario.errors import ScenarioErrors, reading
from simulator.scenario.judge import network_cautions
from simulator.scenario.kinds import WORKLOAD
from simulator.scenario.load import opened
from simulator.scenario.run import Report, build_topology, silent
from simulator.scenario.workload_files import groups_of, is_table, table_of, traces_of
from simulator.scenario.workload_load import loads_workload
from simulator.scenario.workload_result import WorkloadResult

if TYPE_CHECKING:
    from simulator.llm.step.graph import Graph
    from simulator.llm.workload.layers import LayerTable
    from simulator.scenario.workload_models import WorkloadScenario
    from topologies.topology import Topology


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
        scenario = loads_workload(*opened(scenario))
    tell, plan = report or silent, scenario.workload.plan
    tell("build", 0, 1)
    topology = build_topology(scenario)
    if scenario.reduction is not None:
        with placed(scenario.source):
            scenario.reduction.rates(topology.ranks)
    work = _table_work(scenario, topology) if is_table(scenario) else _traces_work(scenario, topology)
    if not len(work.graph):
        raise _misfit(scenario, "file", "nothing in it takes time")
    fabric = Fabric(Parallel(), plan, topology, scenario.network, scenario.reduction)
    tell("simulate", 0, 1)
    with placed(scenario.source, "workload"):
        step = simulate_step(work.graph, fabric, memoise=work.in_turn, engine=scenario.engine)
    tell("judge", 0, 1)
    return WorkloadResult(
        scenario,
        workload_report(step, fabric, alike=work.alike),
        (*work.notes, *network_cautions(scenario.network, topology)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    """What is to be run.

    Attributes
    ----------
    graph : Graph
    alike : bool
        Whether one rank stands for all.
    in_turn : bool
        Whether calls of one stream follow each other, so that one that meets no other can be run once.
    notes : tuple of str
        What a person should know.
    """

    graph: Graph
    alike: bool
    in_turn: bool
    notes: tuple[str, ...] = ()


def _traces_work(scenario: WorkloadScenario, topology: Topology) -> _Work:
    plan = scenario.workload.plan
    if scenario.source.find(("workload", "passes")) is not None:
        raise _misfit(scenario, "passes", "goes with a table of layers; traces say how often each is done")
    traces = traces_of(scenario, topology)
    groups = groups_of(scenario, topology, traces)
    with reading():
        graph = trace_graph(traces, groups, plan)
    in_turn = plan.one_at_a_time != "none" and all(way.kind != SEND for way, _ in graph.calls)
    return _Work(graph, alike=False, in_turn=in_turn)


def _table_work(scenario: WorkloadScenario, topology: Topology) -> _Work:
    for key in ("groups", "one_at_a_time", "messages", "control", "compute", "bandwidth", "remote"):
        if scenario.source.find(("workload", key)) is not None:
            raise _misfit(scenario, key, "goes with Chakra traces; a table of layers says it by itself")
    table = table_of(scenario)
    with reading(), placed(scenario.source, "workload"):
        graph = layer_graph(table, Groups(topology), scenario.workload.plan)
    return _Work(graph, alike=True, in_turn=True, notes=tuple(_notes(table, topology.ranks)))


def _notes(table: LayerTable, ranks: int) -> Iterator[str]:
    """What of a table is not run, or not on as many ranks as it is for."""
    whole, pp = table.numbers.get("all_gpus", ranks), table.number("pp")
    if ranks not in (whole, whole // pp):
        stage = f" ({whole // pp:,} a pipeline stage)" if pp > 1 else ""
        yield f"the table is for {whole:,} ranks{stage}, the topology has {ranks:,}"
    if pp > 1:
        yield f"what its {pp} pipeline stages send to each other is not in the table's rows, and not run"


def _misfit(scenario: WorkloadScenario, key: str, why: str) -> ScenarioErrors:
    return ScenarioErrors([scenario.source.error(f"workload.{key}: {why}", (WORKLOAD, key), key=True)])
