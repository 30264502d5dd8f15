"""A step in a few numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from simulator.llm.step.flops import StepFlops, step_flops
from simulator.llm.step.report_time import Bubble, bubble
from topologies.clock import FEMTOSECONDS

if TYPE_CHECKING:
    from collections.abc import Collection

    from simulator.llm.hardware import Hardware
    from simulator.llm.step.graph import Graph
    from simulator.llm.step.report_setting import Setting
    from simulator.llm.step.simulate import Step

DAY: Final = 86400
"""Seconds."""


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """A step in a few numbers.

    Attributes
    ----------
    step : Step
    flops : StepFlops
    hardware : Hardware
    passes : Bubble
    """

    step: Step
    flops: StepFlops
    hardware: Hardware
    passes: Bubble

    @property
    def time(self) -> int:
        """Fs of the step."""
        return self.step.time

    @property
    def mfu(self) -> float:
        """Model FLOPs utilisation."""
        return self.flops.mfu(self.time, self.hardware)

    @property
    def hfu(self) -> float:
        """Hardware FLOPs utilisation."""
        return self.flops.hfu(self.time, self.hardware)

    @property
    def tokens_per_second(self) -> float:
        """Of all ranks together."""
        return float(Fraction(self.flops.tokens * FEMTOSECONDS, self.time))

    @property
    def bubble(self) -> float:
        """Idle over ideal compute time of the passes."""
        return self.passes.over_compute

    @property
    def bubble_share(self) -> float:
        """Idle over the whole time of the passes."""
        return self.passes.over_total

    def days(self, tokens: int) -> float:
        """Days that so many tokens take, step after step."""
        return float(Fraction(tokens * self.time, self.flops.tokens * FEMTOSECONDS * DAY))


def step_summary(setting: Setting, graph: Graph, free: Collection[str] = ()) -> Summary:
    """Simulate a step once.

    Parameters
    ----------
    setting : Setting
    graph : Graph
        Its tasks.
    free : collection of str
        Groups of calls that take no time.

    Raises
    ------
    ModelError, PlanError
        If the hardware does not say how fast it is, or a call cannot be done.
    """
    step = setting.run(graph, free)
    return Summary(step, step_flops(setting.asked, setting.work), setting.machine.hardware, bubble(step))
