"""Every key that a file may have is on the pages that tell of files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from typing import Any, get_args

import pytest

from simulator.llm.model import transformer
from simulator.llm.plan import MemoryPlan
from simulator.scenario.fields import parameters_of
from simulator.scenario.models import Scenario
from simulator.scenario.plan_models import PlanScenario, memory_plan
from simulator.scenario.source import Source
from simulator.scenario.sweep.models import SweepPlan
from simulator.scenario.together_models import TogetherScenario
from simulator.scenario.topology_file import topology_from
from simulator.scenario.workload_models import WorkloadScenario
from tests.docs.page import DOCS
from topologies import TOPOLOGIES

# what stands in a file under other names
INSIDE = {"members", "own", "files", "plan"}
PAGES = ("scenario", "topology-files", "workload-files", "llm", "step", "serve", "search", "sweep")


def keys(target: Callable[..., Any], seen: set[Any]) -> Iterator[str]:
    """Keys of a block, and of the blocks in it."""
    for name, parameter in parameters_of(target).items():
        yield name
        yield from _inside(parameter.annotation, seen)


def _inside(annotation: Any, seen: set[Any]) -> Iterator[str]:
    if is_dataclass(annotation) and isinstance(annotation, type) and annotation not in seen:
        seen.add(annotation)
        yield from keys(annotation, seen)
    for part in get_args(annotation):
        yield from _inside(part, seen)


@pytest.mark.parametrize(
    "target",
    [
        *(Scenario, TogetherScenario, WorkloadScenario, PlanScenario, SweepPlan),
        *(transformer, memory_plan, topology_from, *TOPOLOGIES.values()),
    ],
    ids=lambda target: target.__name__,
)
def test_every_key_is_told(target: Callable[..., Any]) -> None:
    text = "\n".join((DOCS / "reference" / f"{page}.md").read_text("utf-8") for page in PAGES)
    code = " ".join(text.split("`")[1::2]) + " ".join(re.findall(r"```yaml\n(.*?)```", text, re.DOTALL))
    told = set(re.findall(r"\w+", code))
    assert [key for key in keys(target, {Source, MemoryPlan}) if key not in told | INSIDE] == []
