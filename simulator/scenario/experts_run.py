"""Simulating a layer with experts under several degrees of expert parallelism."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.llm.errors import ModelError
from simulator.llm.step.expert_sweep import ExpertLayer, expert_layer, with_experts
from simulator.scenario.answer import Answer
from simulator.scenario.plan_load import load_plan
from simulator.scenario.plan_models import PlanScenario
from simulator.scenario.step_run import pass_setting, simulating

if TYPE_CHECKING:
    from simulator.llm.step.report_setting import Setting


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExpertsResult(Answer):
    """What came of a sweep.

    Attributes
    ----------
    scenario : PlanScenario
    levels : tuple of str
        Of the topology.
    layers : tuple of ExpertLayer
    refused : mapping of str to str
        Why some do not go, by what was asked.
    """

    scenario: PlanScenario
    levels: tuple[str, ...]
    layers: tuple[ExpertLayer, ...]
    refused: dict[str, str]

    @property
    def headline(self) -> str:
        """What it is of, and what came of it."""
        return self.scenario.name


def work_out_experts(
    plan: PlanScenario | str | Path,
    eps: Sequence[int] = (),
    limits: Sequence[int] = (),
    skews: Sequence[float] = (),
    report: Callable[[int, int], None] | None = None,
) -> ExpertsResult:
    """Simulate the last layer of a plan's model, forward, under several degrees of expert parallelism.

    Parameters
    ----------
    plan : PlanScenario or path
    eps : sequence of int
        Degrees; where there are none, all above 1 that divide replicas and experts.
    limits : sequence of int
        To how many machines a token goes at most; where there are none, the plan's own.
    skews : sequence of float
        Tokens of the busiest experts over the mean; where there are none, the plan's own.
    report : callable, optional
        Called with the layers that are done, and with all there are.

    Raises
    ------
    ScenarioErrors
        If the file is wrong, says too little, or its parts do not fit each other; if no degree goes,
        with the reason for the first.
    """
    scenario = plan if isinstance(plan, PlanScenario) else load_plan(Path(plan))
    setting = pass_setting(scenario)
    own = (scenario.traffic.nodes_limit,)
    cases = list(product(eps or _degrees(setting), limits or own, skews or (scenario.work.skew,)))
    layers: list[ExpertLayer] = []
    refused: dict[str, str] = {}
    with simulating(scenario):
        first: ModelError | None = None
        for done, (ep, limit, skew) in enumerate(cases):
            if report is not None:
                report(done, len(cases))
            try:
                layers.append(expert_layer(with_experts(setting, ep, limit, skew)))
            except ModelError as error:
                first = first or error
                at_most = "" if limit is None else f", {limit} machines"
                refused[f"ep {ep}{at_most}"] = error.message
        if first is not None and not layers:
            raise first
    return ExpertsResult(scenario, setting.fabric.topology.levels, tuple(layers), refused)


def _degrees(setting: Setting) -> list[int]:
    """Degrees above 1 that divide replicas and experts; the plan's own where there is none."""
    parallel, experts = setting.asked.parallel, setting.asked.model.experts
    count = 1 if experts is None else experts.count
    found = [ep for ep in range(2, parallel.dp + 1) if parallel.dp % ep == count % ep == 0]
    return found or [parallel.ep]
