"""What a step would take on a machine that is a little different."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from simulator.llm.step.graph import COMPUTE
from simulator.llm.step.report import bottleneck
from simulator.llm.step.report_time import stage_times
from topologies.errors import TopologyError

if TYPE_CHECKING:
    from simulator.llm.step.graph import Graph
    from simulator.llm.step.report import StepReport
    from simulator.llm.step.report_setting import Setting
    from simulator.llm.step.simulate import Step
    from topologies.topology import Topology


@dataclass(frozen=True, slots=True)
class Case:
    """A step with one thing changed.

    Attributes
    ----------
    name : str
        What is changed.
    time : int or None
        fs; None where it cannot be done.
    bottleneck : str
        What takes most of it then; or why it cannot be done.
    """

    name: str
    time: int | None
    bottleneck: str


def what_if(report: StepReport) -> tuple[Case, ...]:
    """Simulate a step again, with one thing changed each time.

    Raises
    ------
    ModelError, PlanError
        As `step_report`.
    """
    return tuple(_cases(report))


def _cases(report: StepReport) -> Iterator[Case]:
    setting, graph = report.setting, report.step.graph
    yield Case("as it is", report.time, bottleneck(report.stages))
    for level in report.levels:
        if level.bytes:
            faster = _with_level(setting.fabric.topology, level.level, 2.0)
            yield _case(f"{level.level}: bandwidth x 2", _on(setting, faster).run(graph))
    if report.hottest:
        yield _without_link(report)
    slow = max(report.stages, key=lambda stage: stage.passes).stage
    yield _case(f"a rank of stage {slow}: 10 % slower", setting.run(_slower(graph, slow)))
    hardware = setting.machine.hardware
    for name, what in (("compute", "compute"), ("memory_bandwidth", "memory bandwidth")):
        twice = replace(hardware, **{name: 2 * getattr(hardware, name)})
        machine = replace(setting.machine, hardware=twice)
        yield _case(f"{what} x 2", replace(setting, machine=machine).run())


def _case(name: str, step: Step) -> Case:
    return Case(name, step.time, bottleneck(stage_times(step)))


def _on(setting: Setting, topology: Topology) -> Setting:
    return replace(setting, fabric=replace(setting.fabric, topology=topology))


def _with_level(topology: Topology, level: str, factor: float) -> Topology:
    """The topology with links of a level that are so much faster."""
    links = topology.links
    chosen = links.level == topology.levels.index(level)
    bandwidth = np.where(chosen, factor * links.bandwidth, links.bandwidth)
    return replace(topology, links=replace(links, bandwidth=bandwidth))


def _without_link(report: StepReport) -> Case:
    """The hottest cable dead: its link, and the one back."""
    setting, link = report.setting, report.hottest[0]
    name = f"{link.name} and back: dead"
    try:
        return _case(name, _on(setting, _cut(setting.fabric.topology, link.number)).run(report.step.graph))
    except TopologyError as error:
        return Case(name, None, error.message)


def _cut(topology: Topology, link: int) -> Topology:
    """The topology without a link and one that leads back at the same level, if there is any."""
    links = topology.links
    back = (
        (links.src == links.dst[link]) & (links.dst == links.src[link]) & (links.level == links.level[link])
    )
    kept = np.ones(len(links), dtype=bool)
    kept[[link, *np.flatnonzero(back)[:1]]] = False
    columns = {column.name: getattr(links, column.name)[kept] for column in fields(links)}
    return replace(topology, links=replace(links, **columns))


def _slower(graph: Graph, stage: int) -> Graph:
    """The graph with a stage that takes a tenth longer for all that it computes.

    All ranks of a stage go at the pace of the slowest: those of a replica wait for each other in
    every layer, and replicas when they add up gradients.
    """
    tasks = tuple(
        replace(task, hold=-(-11 * task.hold // 10))
        if task.stream.stage == stage and task.stream.name == COMPUTE
        else task
        for task in graph.tasks
    )
    return replace(graph, tasks=tasks)
