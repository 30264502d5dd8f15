"""How long a plan's step takes, and how much of that is communication."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulator.llm.search.sift import setting_at
from simulator.llm.step.report_setting import groups_of
from topologies.errors import CollsimError

if TYPE_CHECKING:
    from simulator.llm.search.sift import Kept
    from simulator.llm.step.report_setting import Setting


@dataclass(frozen=True, slots=True)
class Rating:
    """What came of a plan.

    Attributes
    ----------
    time : int
        fs of its step; 0 where it could not be simulated.
    free : int
        fs of the step where no communication takes time.
    error : str
        Why it could not be simulated; empty where it could.
    """

    time: int
    free: int
    error: str = ""


def rate(base: Setting, kept: Kept) -> Rating:
    """Simulate the step of a plan; what goes wrong is its error."""
    try:
        setting = setting_at(base, kept.degrees)
        graph = setting.graph()
        time = setting.run(graph).time
        exact = kept.least.exact
        free = kept.least.compute if exact else setting.run(graph, free=groups_of(graph)).time
        return Rating(time, free)
    except CollsimError as error:
        return Rating(0, 0, error.message)
