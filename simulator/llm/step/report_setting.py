"""What a step is simulated from, so that it can be simulated again with something changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from simulator.llm.step.fabric import Fabric
from simulator.llm.step.kernels import WorkPlan
from simulator.llm.step.overlap import Overlap
from simulator.llm.step.program import training_graph
from simulator.llm.step.simulate import Step, simulate_step

if TYPE_CHECKING:
    from simulator.llm.layer_calls import Pass
    from simulator.llm.step.graph import Graph
    from simulator.llm.step.stage_units import Machine

GROUPS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "tp": ("tp",),
        "cp": ("cp",),
        "ep": ("ep",),
        "pp": ("send forward", "send backward"),
        "dp gather": ("gather",),
        "dp reduce": ("reduce",),
    }
)
"""Streams of each group of calls: what replicas gather are weights, what they reduce are gradients."""


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """What a step is simulated from.

    Attributes
    ----------
    asked : Pass
        Of training.
    machine : Machine
    fabric : Fabric
    overlap : Overlap
    work : WorkPlan
    """

    asked: Pass
    machine: Machine
    fabric: Fabric
    overlap: Overlap = field(default_factory=Overlap)
    work: WorkPlan = field(default_factory=WorkPlan)

    def graph(self) -> Graph:
        """Tasks of the step; as `training_graph`."""
        return training_graph(self.asked, self.machine, self.overlap, self.work)

    def run(self, graph: Graph | None = None, free: Collection[str] = ()) -> Step:
        """Simulate the step, or another graph of it.

        Parameters
        ----------
        graph : Graph, optional
        free : collection of str
            Groups of calls, of `GROUPS`, that take no time.

        Raises
        ------
        ModelError, PlanError
            As `simulate_step`.
        """
        streams = [stream for group in free for stream in GROUPS[group]]
        return simulate_step(
            self.graph() if graph is None else graph,
            self.fabric,
            free=streams,
            steals=self.overlap.steals,
        )


def groups_of(graph: Graph) -> tuple[str, ...]:
    """Groups that have any calls, in the order of `GROUPS`."""
    streams = {stream.name for stream in graph.streams}
    return tuple(group for group, names in GROUPS.items() if not streams.isdisjoint(names))
