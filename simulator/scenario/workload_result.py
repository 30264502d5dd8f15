"""What came of running a workload."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulator.scenario.answer import Answer
from topologies.clock import to_seconds
from topologies.text import format_time

if TYPE_CHECKING:
    from simulator.llm.workload.report import WorkloadReport
    from simulator.scenario.workload_models import WorkloadScenario


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WorkloadResult(Answer):
    """What came of a workload.

    Attributes
    ----------
    scenario : WorkloadScenario
    report : WorkloadReport
    warnings : tuple of str
        What a person should know about it.
    """

    scenario: WorkloadScenario
    report: WorkloadReport
    warnings: tuple[str, ...]

    @property
    def headline(self) -> str:
        """What it is of, and what came of it."""
        return f"{self.scenario.name}: {format_time(self.time)}"

    @property
    def duration(self) -> int:
        """Fs until everything has ended."""
        return self.report.time

    @property
    def time(self) -> float:
        """`duration` in seconds."""
        return to_seconds(self.duration)
