"""The states of a plan's variables for people and for programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from simulator.llm.plan_mesh import PlanMesh, habits_of, plan_mesh
from simulator.llm.symbols import Expression
from simulator.scenario.sheets import Column, Sheet
from simulator.scenario.state_tables import flow_sheet
from simulator.scenario.traffic_run import placed

if TYPE_CHECKING:
    from simulator.scenario.plan_models import PlanScenario


def plan_sheets(scenario: PlanScenario) -> list[Sheet]:
    """States of a plan's variables on every axis, and what moves along it.

    Raises
    ------
    ScenarioErrors
        If a variable of the plan has no state on one axis; names the place in the file.
    """
    parallel, batch, memory = scenario.parallel, scenario.batch, scenario.memory
    with placed(scenario):
        found = plan_mesh(parallel)
    training = memory.phase == "training"
    stays = training and not parallel.reshard_after_forward
    held = found.stored(prefetch=parallel.prefetch, stays=stays)
    habits = habits_of(parallel, batch, memory, scenario.traffic)
    step = "step" if training else "pass of inference"
    title = f"what moves in a {step}; elements, L layers of D x D and B tokens of all replicas"
    return [_layout_sheet(found, held), flow_sheet(found.flows(habits, training=training), title)]


def _layout_sheet(found: PlanMesh, held: Mapping[str, Expression]) -> Sheet:
    columns = [Column("variable", list(held), words=True)]
    for axis, header in found.axes.items():
        columns.append(Column(header, [found.shown(variable, axis) for variable in held], words=True))
    columns.append(Column("held by all ranks", [str(size) for size in held.values()], words=True))
    kind = "an expert layer's" if "ep" in found.tokens else "a layer's"
    return Sheet(f"states of {kind} variables", tuple(columns))
