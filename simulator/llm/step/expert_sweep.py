"""A layer with experts, forward: what its All-to-Alls take beside its compute, for several plans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from simulator.engine.plan import LINK
from simulator.llm.errors import ModelError
from simulator.llm.fit import check_fit, sequence_of
from simulator.llm.memory import memory
from simulator.llm.step.graph import COMPUTE, Builder
from simulator.llm.step.kernels import Part
from simulator.llm.step.lines import Line
from simulator.llm.step.report_setting import Setting
from simulator.llm.step.roofline import duration
from simulator.llm.step.simulate import Step, simulate_step
from simulator.llm.step.unit_passes import unit_passes
from simulator.llm.step.weave import layer_items

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.llm.step.graph import Graph, Task
    from simulator.llm.step.weave import Item

EXPERTS = "ep"
"""Stream of the calls that bring tokens to their experts and back."""


@dataclass(frozen=True, slots=True)
class ExpertLayer:
    """A layer with experts, forward, for one micro-batch of every replica.

    Attributes
    ----------
    ep : int
    limit : int or None
        To how many machines a token goes at most; None where nothing is limited.
    skew : float
        Tokens of the busiest experts over the mean.
    carried : tuple of int
        Bytes of the All-to-Alls over the busiest link of each level.
    dispatch, combine : int
        fs that tokens take to their experts, and back.
    experts, compute : int
        fs that a rank computes in its busiest experts, and in the whole layer.
    exposed : int
        fs that the layer would be shorter if the All-to-Alls took no time.
    held : Fraction
        Bytes of the rank that holds most, in the whole model.
    """

    ep: int
    limit: int | None
    skew: float
    carried: tuple[int, ...]
    dispatch: int
    combine: int
    experts: int
    compute: int
    exposed: int
    held: Fraction

    @property
    def under(self) -> bool:
        """Whether what the layer computes covers its All-to-Alls: of another micro-batch, then."""
        return self.dispatch + self.combine <= self.compute


def expert_layer(setting: Setting) -> ExpertLayer:
    """Simulate the last layer of a model, forward, by itself.

    Parameters
    ----------
    setting : Setting
        Of training or inference.

    Raises
    ------
    ModelError, PlanError
        If it has no experts, the hardware does not say how fast it is, or a call cannot be done.
    """
    asked, machine = setting.asked, setting.machine
    if asked.model.experts is None or not asked.model.is_sparse(asked.model.layers - 1):
        raise ModelError("the last layer of the model has no experts", ("model", "experts"))
    stage = asked.parallel.pp - 1
    past = 0 if asked.training else sequence_of(asked.model, asked.batch) - asked.length
    items = layer_items(asked, stage, asked.model.layers - 1, setting.work, past)
    graph = _graph(setting, stage, items)
    steals = setting.overlap.steals
    step = simulate_step(graph, setting.fabric, steals=steals)
    without = simulate_step(graph, setting.fabric, free=(EXPERTS,), steals=steals)
    return ExpertLayer(
        asked.parallel.ep,
        asked.plan.nodes_limit,
        setting.work.skew,
        _carried(setting, [task for task in graph.tasks if task.stream.name == EXPERTS]),
        _under_way(step, "dispatch"),
        _under_way(step, "combine"),
        sum(
            duration(item.forward, machine.hardware, machine.efficiency)
            for item in items
            if isinstance(item, Part) and item.place == "experts"
        ),
        sum(task.hold for task in graph.tasks if task.stream.name == COMPUTE),
        step.time - without.time,
        memory(asked.model, asked.parallel, asked.batch, asked.memory).peak.total,
    )


def with_experts(setting: Setting, ep: int, limit: int | None, skew: float) -> Setting:
    """The setting with another degree of expert parallelism, limit of machines, and skew.

    Raises
    ------
    ModelError
        If the model cannot be laid out so.
    """
    asked = setting.asked
    parallel, plan = replace(asked.parallel, ep=ep), replace(asked.plan, nodes_limit=limit)
    check_fit(asked.model, parallel, asked.batch, asked.memory, plan)
    return replace(
        setting,
        asked=replace(asked, parallel=parallel, plan=plan),
        fabric=replace(setting.fabric, parallel=parallel, traffic=plan, skew=skew),
        work=replace(setting.work, skew=skew),
    )


def _graph(setting: Setting, stage: int, items: tuple[Item, ...]) -> Graph:
    passes = unit_passes(items, setting.machine.hardware, setting.machine.efficiency)
    builder = Builder()
    line = Line(builder, setting.asked.parallel, setting.overlap, stage, "F", 0, [])
    for _ in line.add(passes.forward):
        pass
    return builder.graph()


def _under_way(step: Step, what: str) -> int:
    """Fs that the calls of that name take, which follow each other."""
    lasts = (step.end - step.begin).tolist()
    of_experts = zip(step.graph.tasks, lasts, strict=True)
    return sum(
        time for task, time in of_experts if task.stream.name == EXPERTS and task.name.startswith(what)
    )


def _carried(setting: Setting, calls: Sequence[Task]) -> tuple[int, ...]:
    """Bytes over the busiest link of each level."""
    links, levels = setting.fabric.topology.links, setting.fabric.topology.levels
    moved: NDArray[np.int64] = np.zeros(len(links), dtype=np.int64)
    for task in calls:
        assert task.way is not None
        plan = setting.fabric.plan(task.way, task.size)
        if plan.bytes is not None:
            over = np.repeat(plan.bytes, np.diff(plan.hop_offset))
            on_link = plan.resources.kind[plan.resource] == LINK
            np.add.at(moved, plan.resource[on_link], over[on_link])
    return tuple(int(moved[links.level == number].max(initial=0)) for number in range(len(levels)))
