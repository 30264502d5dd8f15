"""A scenario at another size: its time and its bounds, and nothing that a comparison does not ask for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from simulator.engine.engines import WORTH_COMPILING, run_plan
from simulator.engine.one_rank import lower_one
from simulator.engine.plan import LINK
from simulator.scenario.blame import placed
from simulator.scenario.judge import bounds_on
from simulator.scenario.resize import evenly_resized
from simulator.scenario.run import placed_plan, prove_of, schedule_of
from simulator.scenario.symmetric import Symmetry, find_symmetry

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from algorithms.bounds import Bounds
    from algorithms.cuts import Cut
    from algorithms.proof import Verify
    from algorithms.schedule import Schedule
    from simulator.engine.memory import Memory
    from simulator.engine.timeline import Timeline
    from simulator.scenario.models import Scenario
    from topologies.topology import Topology

Engine = Literal["auto", "simpy", "compiled"]


@dataclass(frozen=True, slots=True, eq=False)
class Timed:
    """A scenario that was timed, but not proven.

    Attributes
    ----------
    scenario : Scenario
    topology : Topology
        What is around rank 0, where that stands for all.
    schedule : Schedule
    place : ndarray of int64, shape (ranks,)
        The topology's rank of each rank.
    timeline : Timeline
    symmetry : Symmetry or None
        Where rank 0 stood for all.
    """

    scenario: Scenario
    topology: Topology
    schedule: Schedule
    place: NDArray[np.int64]
    timeline: Timeline
    symmetry: Symmetry | None = None

    def prove(self, how: Verify | None) -> str:
        """Prove the schedule; how it was proven.

        Raises
        ------
        ScenarioErrors, ProofError
            As `prove_of`.
        """
        if self.symmetry is None:
            return prove_of(self.scenario, self.schedule, how)
        if how == "no":
            return "no"
        self.symmetry.prove(self.scenario)
        return "symmetry"

    def bounds(self, cut: Cut | None = None) -> Bounds:
        """Lower bounds; none is looked for where a cut is known from another size."""
        if self.symmetry is not None:
            return self.symmetry.bounds(self.scenario)
        return bounds_on(self.scenario, self.topology, self.schedule, self.place, cut=cut)

    @property
    def peers(self) -> int:
        """Most ranks that a rank sends to."""
        pairs = np.unique(np.stack([self.schedule.src, self.schedule.dst]), axis=1)
        return int(np.bincount(pairs[0]).max(initial=0))

    @property
    def hops(self) -> int:
        """Most links that a message takes on the topology."""
        plan = self.timeline.plan
        crossed = np.append(0, np.cumsum(plan.resources.kind[plan.resource] == LINK))
        return int(np.diff(crossed[plan.hop_offset]).max(initial=0))


def engine_for(scenario: Scenario, work: int) -> Engine:
    """The engine for that many hops in many runs, which are worth compiling together."""
    return "compiled" if scenario.engine == "auto" and work >= WORTH_COMPILING else scenario.engine


def run_at(
    scenario: Scenario,
    size: int,
    *,
    topology: Callable[[], Topology],
    memory: Memory,
    allow_code: bool = False,
    engine: Engine | None = None,
    like: Schedule | None = None,
) -> Timed:
    """Time a scenario at another size.

    Parameters
    ----------
    scenario : Scenario
    size : int
        Bytes.
    topology : callable
        Builds the scenario's; not asked where rank 0 stands for all.
    memory : Memory
    allow_code : bool
    engine : {'auto', 'simpy', 'compiled'}, optional
        Other than the scenario's.
    like : Schedule, optional
        The scenario's at another size, which saves building one where it can be resized.

    Raises
    ------
    ScenarioErrors
        If it cannot run at that size.
    """
    scenario = replace(scenario, collective=replace(scenario.collective, size=size))
    with placed(scenario.source, "collective"):
        symmetry = find_symmetry(scenario)
    if symmetry is not None:
        one, seen = symmetry.one, symmetry.seen
        with placed(scenario.source):
            plan = lower_one(one, seen, scenario.network, scenario.reduction, memory)
            timeline = run_plan(plan, engine or scenario.engine)
        return Timed(scenario, seen.around_rank_0(), one.schedule, np.arange(one.ranks), timeline, symmetry)
    built = topology()
    schedule = None if like is None else evenly_resized(like, size)
    if schedule is None:
        schedule = schedule_of(scenario, built, built.ranks, memory, allow_code=allow_code)
    with placed(scenario.source):
        place, plan = placed_plan(scenario, schedule, built, memory)
        return Timed(scenario, built, schedule, place, run_plan(plan, engine or scenario.engine))
