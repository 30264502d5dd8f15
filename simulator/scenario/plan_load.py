"""Reading a file of a parallel plan, or of any kind."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from typing import Any, Final, TypeAlias

from pydantic_core import CoreSchema, SchemaValidator

from simulator.llm.fit import misfits
from simulator.llm.model import transformer
from simulator.llm.plan import Batch
from simulator.scenario.errors import ScenarioError, ScenarioErrors
from simulator.scenario.fields import Parameter, block_schema, parameters_of
from simulator.scenario.kinds import WORKLOAD, kind_of, refuse_other
from simulator.scenario.load import (
    default_name,
    known_topology,
    opened,
    read_scenario,
    topology_schema,
    unplaced,
    validated,
)
from simulator.scenario.models import Scenario
from simulator.scenario.parse import parse
from simulator.scenario.parts import with_parts
from simulator.scenario.plan_models import PlanScenario, memory_plan
from simulator.scenario.presets import with_preset
from simulator.scenario.source import Block, Source, dotted
from simulator.scenario.together_load import read_together
from simulator.scenario.together_models import TogetherScenario
from simulator.scenario.workload_models import WorkloadScenario

AnyScenario: TypeAlias = Scenario | TogetherScenario | WorkloadScenario | PlanScenario

_PLACED: Final = 'a plan, whose "parallel.order" says which rank is which'
"""Who says which rank is which."""


def load_any(path: str | os.PathLike[str]) -> AnyScenario:
    """Read a file of a collective, of several, of a workload, or of a plan.

    Raises
    ------
    ScenarioErrors
        With everything that is wrong in it, or why it cannot be read.
    """
    return loads_any(*opened(path))


def loads_any(text: str, name: str = "scenario") -> AnyScenario:
    """Read the text of a file of any kind."""
    return read_any(*parse(text, name))


def read_any(source: Source, refused: tuple[ScenarioError, ...]) -> AnyScenario:
    """Read a file of any kind from what was parsed, and what was refused of it; as `loads_any`."""
    kind = kind_of(source)
    if kind == "together":
        return read_together(source, refused)
    if kind == WORKLOAD:
        from simulator.scenario.workload_load import read_workload

        return read_workload(source, refused)
    return (read_plan if kind == "plan" else read_scenario)(source, refused)


def load_plan(path: str | os.PathLike[str]) -> PlanScenario:
    """Read a parallel plan from a file.

    Raises
    ------
    ScenarioErrors
        With everything that is wrong in it, or why it cannot be read.
    """
    return loads_plan(*opened(path))


def loads_plan(text: str, name: str = "scenario") -> PlanScenario:
    """Read a parallel plan from its text.

    Raises
    ------
    ScenarioErrors
        With everything that is wrong in it, a plan that cannot be laid out among them.

    Examples
    --------
    >>> text = '''model: {preset: llama3-70b, sequence: 4096}
    ... parallel: {tp: 8, sp: true, dp: 4}
    ... batch: {global: 16}'''
    >>> plan = loads_plan(text, "small.yaml")
    >>> plan.model.layers, plan.parallel.ranks, plan.batch.total
    (80, 32, 16)
    >>> loads_plan(text.replace("tp: 8", "tp: 7"), "small.yaml")
    Traceback (most recent call last):
        ...
    simulator.scenario.errors.ScenarioErrors: small.yaml:2:16: parallel.tp: tp of 7 does not divide 64 heads
    ...
    """
    return read_plan(*parse(text, name))


def read_plan(source: Source, refused: tuple[ScenarioError, ...]) -> PlanScenario:
    """Read a plan from what was parsed, and what was refused of it; as `loads_plan`."""
    refuse_other(source, "plan")
    source, unfit = with_preset(source)
    source, unknown = with_parts(source)
    validator = _validator(known_topology(source), _known(source, "model"), _known(source, "hardware"))
    values, wrong = validated(validator, source, refused)
    errors = [*refused, *unfit, *unknown, *unplaced(source, _PLACED), *wrong]
    if errors:
        raise ScenarioErrors(errors)
    scenario = _with_capacity(PlanScenario(**{"name": default_name(source), **values}, source=source))
    _refuse_misfits(scenario)
    return scenario


def _with_capacity(scenario: PlanScenario) -> PlanScenario:
    """The hardware's capacity where the plan says none."""
    if scenario.hardware is None or scenario.memory.capacity is not None:
        return scenario
    return replace(scenario, memory=replace(scenario.memory, capacity=scenario.hardware.capacity))


def _refuse_misfits(scenario: PlanScenario) -> None:
    """Say of every degree that does not divide what it should, at its place."""
    source = scenario.source
    errors = []
    parts = (scenario.model, scenario.parallel, scenario.batch, scenario.memory, scenario.traffic)
    for misfit in misfits(*parts):
        at = source.existing(misfit.at)
        errors.append(source.error(f"{dotted(misfit.at)}: {misfit.message}", at))
    if errors:
        raise ScenarioErrors(errors)


def _known(source: Source, part: str) -> bool:
    """Whether a block is spelled out: its preset, if it names one, is known."""
    block = source.find((part,))
    return not (isinstance(block, Block) and "preset" in block.entries)


@cache
def _validator(topology: str | None, model: bool, hardware: bool) -> SchemaValidator:
    """Build the validator of a whole plan on one kind of topology, with known presets or not."""
    return SchemaValidator(block_schema(plan_keys(topology, model=model, hardware=hardware)))


def plan_keys(
    topology: str | None, *, model: bool = True, hardware: bool = True
) -> dict[str, Parameter | CoreSchema]:
    """Keys of a plan on one kind of topology, its model and hardware spelled out or, False, unknown."""
    known = parameters_of(PlanScenario)
    del known["source"]
    return {
        **known,
        "name": known["name"].taking(str, required=False),
        "model": known["model"].taking(block_schema(parameters_of(transformer), transformer))
        if model
        else known["model"].taking(Any, required=False),
        "batch": known["batch"].taking(block_schema(batch_keys(), _batch)),
        "memory": known["memory"].taking(block_schema(parameters_of(memory_plan), memory_plan)),
        "hardware": known["hardware"] if hardware else known["hardware"].taking(Any),
        "topology": known["topology"].taking(topology_schema(topology)),
    }


def batch_keys() -> dict[str, Parameter | CoreSchema]:
    """Keys of the block `batch`: `global` is no name in Python."""
    known = parameters_of(Batch)
    return {"global": known.pop("total"), **known}


def _batch(**written: Any) -> Batch:
    return Batch(total=written.pop("global"), **written)
