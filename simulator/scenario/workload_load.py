"""Reading a scenario of a workload."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from pydantic_core import CoreSchema, SchemaValidator

from simulator.llm.workload.plan import WorkloadPlan
from simulator.scenario.errors import ScenarioError, ScenarioErrors
from simulator.scenario.fields import Parameter, block_schema, parameters_of
from simulator.scenario.kinds import WORKLOAD, refuse_other
from simulator.scenario.load import default_name, known_topology, topology_schema, unplaced, validated
from simulator.scenario.parse import parse
from simulator.scenario.presets import with_preset
from simulator.scenario.source import Source
from simulator.scenario.workload_models import WorkloadChoice, WorkloadFiles, WorkloadScenario

_PLACED: Final = "a workload, whose files say what each rank does"
"""Who says which rank is which."""


def loads_workload(text: str, name: str = "scenario") -> WorkloadScenario:
    """Read a scenario of a workload from its text.

    Raises
    ------
    ScenarioErrors
        With everything that is wrong in it.

    Examples
    --------
    >>> text = '''topology: {kind: ring, ranks: 4, bandwidth: 64 GB/s}
    ... workload: {file: step.*.et, algorithms: {allreduce: two_shot}}'''
    >>> loads_workload(text).workload.files.file
    'step.*.et'
    """
    return read_workload(*parse(text, name))


def read_workload(source: Source, refused: tuple[ScenarioError, ...]) -> WorkloadScenario:
    """Read a workload from what was parsed, and what was refused of it; as `loads_workload`."""
    refuse_other(source, WORKLOAD)
    source, unfit = with_preset(source)
    values, wrong = validated(_validator(known_topology(source)), source, refused)
    errors = [*refused, *unfit, *unplaced(source, _PLACED), *wrong]
    if errors:
        raise ScenarioErrors(errors)
    return WorkloadScenario(**{"name": default_name(source), **values}, source=source)


@cache
def _validator(topology: str | None) -> SchemaValidator:
    return SchemaValidator(block_schema(workload_keys(topology)))


def workload_keys(topology: str | None) -> dict[str, Parameter | CoreSchema]:
    """Keys of a workload's file on one kind of topology."""
    known = parameters_of(WorkloadScenario)
    del known["source"]
    return {
        **known,
        "name": known["name"].taking(str, required=False),
        "topology": known["topology"].taking(topology_schema(topology)),
        WORKLOAD: known[WORKLOAD].taking(block_schema(choice_keys(), _choice)),
    }


def choice_keys() -> dict[str, Parameter]:
    """Keys of the block `workload`."""
    return {**parameters_of(WorkloadFiles), **parameters_of(WorkloadPlan)}


def _choice(file: str, groups: str | None = None, **plan: Any) -> WorkloadChoice:
    return WorkloadChoice(WorkloadFiles(file=file, groups=groups), WorkloadPlan(**plan))
