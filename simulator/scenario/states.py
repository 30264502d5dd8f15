"""The states of variables as an answer: those of the second seed document, or of a plan."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from simulator.scenario.answer import Answer
from simulator.scenario.plan_load import load_plan
from simulator.scenario.plan_models import PlanScenario
from simulator.scenario.plan_run import plan_topology
from simulator.scenario.plan_state_tables import plan_sheets
from simulator.scenario.state_tables import seed_sheets

if TYPE_CHECKING:
    from simulator.scenario.sheets import Sheet
    from simulator.scenario.state_tables import Values


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class States(Answer):
    """Tables of states.

    Attributes
    ----------
    of : str
        What has these states.
    sheets : tuple of Sheet
    """

    of: str
    sheets: tuple[Sheet, ...]

    @property
    def headline(self) -> str:
        """What it is of."""
        return self.of


def states(
    plan: PlanScenario | str | Path | None = None,
    *,
    ranks: int = 8,
    at: Values | None = None,
    element: int = 2,
) -> States:
    """The states of a plan's variables, or without a plan those of the second seed document.

    Parameters
    ----------
    plan : PlanScenario or path, optional
        Held against its topology.
    ranks : int
        N to count bytes on; of the tables without a plan, as are the following.
    at : mapping of str to int, optional
        Numbers for the symbols L, B, I, O, D, N and k; bytes then.
    element : int
        Bytes of an element.

    Raises
    ------
    ScenarioErrors
        If the plan is wrong.
    ModelError
        If the numbers do not fit each other.
    """
    if plan is None:
        return States("the second seed document", tuple(seed_sheets(ranks, at, element)))
    scenario = plan if isinstance(plan, PlanScenario) else load_plan(plan)
    plan_topology(scenario)
    return States(scenario.name, tuple(plan_sheets(scenario)))
