"""Simulating what a parallel plan serves."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.llm.errors import ModelError
from simulator.llm.serve import Served, limits, serve, with_tensor_parallelism
from simulator.llm.server import Server
from simulator.scenario import blame
from simulator.scenario.answer import Answer
from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.plan_load import load_plan
from simulator.scenario.plan_models import PlanScenario
from simulator.scenario.plan_run import plan_topology
from simulator.scenario.step_run import setting_on
from simulator.scenario.traffic_run import placed

if TYPE_CHECKING:
    from simulator.llm.serve_plan import ServePlan


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ServeResult(Answer):
    """What a plan serves.

    Attributes
    ----------
    scenario : PlanScenario
    plan : ServePlan
    served : tuple of Served
        Of each tensor parallelism that goes.
    refused : mapping of int to str
        Why the others do not go.
    """

    scenario: PlanScenario
    plan: ServePlan
    served: tuple[Served, ...]
    refused: dict[int, str]

    @property
    def headline(self) -> str:
        """What it is of, and what came of it."""
        return self.scenario.name


def work_out_serve(plan: PlanScenario | str | Path, tps: Sequence[int] = ()) -> ServeResult:
    """Simulate what a plan serves, with its own tensor parallelism or with others on as many ranks.

    Raises
    ------
    ScenarioErrors
        If the file is wrong, says too little, or its parts do not fit each other; if no tensor
        parallelism goes, with the reason for the first.
    """
    scenario = plan if isinstance(plan, PlanScenario) else load_plan(Path(plan))
    wanted = serve_plan(scenario)
    served: list[Served] = []
    refused: dict[int, str] = {}
    with blame.placed(scenario.source), placed(scenario):
        first: ModelError | None = None
        for tp in tps or (scenario.parallel.tp,):
            try:
                served.append(serve(server(scenario, tp), (scenario.batch.total,)))
            except ModelError as error:
                first = first or error
                refused[tp] = error.message
        if first is not None and not served:
            raise first
    return ServeResult(scenario, wanted, tuple(served), refused)


def serve_plan(scenario: PlanScenario) -> ServePlan:
    """What a plan is asked to serve.

    Raises
    ------
    ScenarioErrors
        If it does not say.
    """
    if scenario.serve is None:
        message = 'missing key "serve": what is served, e.g. {prompt: 4096, output: 512}'
        raise ScenarioErrors([scenario.source.error(message)])
    return scenario.serve


def server(scenario: PlanScenario, tp: int) -> Server:
    """A plan that serves, with some tensor parallelism.

    Raises
    ------
    ScenarioErrors
        If it says too little, or its topology cannot be built or does not match.
    ModelError
        If it cannot be laid out so.
    """
    source, topology = scenario.source, plan_topology(scenario)
    if topology is None:
        raise ScenarioErrors(
            [source.error('missing key "topology": calls are simulated on the links of one')]
        )
    if scenario.hardware is None:
        raise ScenarioErrors([source.error('missing key "hardware": how fast a rank computes')])
    parallel = (
        scenario.parallel if tp == scenario.parallel.tp else with_tensor_parallelism(scenario.parallel, tp)
    )
    setting = setting_on(scenario, scenario.hardware, topology, parallel)
    return Server(
        setting.asked,
        serve_plan(scenario),
        setting.machine,
        setting.fabric,
        setting.overlap,
        setting.work,
    )


def expected_of_serving(scenario: PlanScenario, keys: Collection[str]) -> dict[str, int]:
    """What is expected of serving, by its key: times of `batch.global` requests in fs, and batches.

    Parameters
    ----------
    scenario : PlanScenario
    keys : collection of {'ttft', 'tpot', 'largest_batch', 'batch_in_memory'}

    Raises
    ------
    ScenarioErrors
        As `work_out_serve`.
    """
    found: dict[str, int] = {}
    with blame.placed(scenario.source), placed(scenario):
        serving, dp = server(scenario, scenario.parallel.tp), scenario.parallel.dp
        if "ttft" in keys:
            found["ttft"] = serving.ttft(scenario.batch.total // dp)
        if "tpot" in keys:
            found["tpot"] = serving.tpot(scenario.batch.total // dp)
        if not {"largest_batch", "batch_in_memory"}.isdisjoint(keys):
            in_memory, largest = limits(serving)
            found |= {"largest_batch": largest * dp, "batch_in_memory": in_memory * dp}
    return found
