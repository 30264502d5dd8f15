"""Running a scenario: topology, schedule, proof, plan, timeline, and what they amount to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from algorithms import proof
from algorithms.bounds import Bounds
from algorithms.congestion import congestion_factor
from algorithms.counts import Counts, count
from algorithms.proof import Verify
from algorithms.registry import build, dimensions, totals
from algorithms.symmetric_costs import symmetric_congestion
from algorithms.symmetry import count_by_symmetry
from simulator.engine.analysis import link_use
from simulator.engine.critical_path import critical_path
from simulator.engine.engines import run_plan
from simulator.engine.lower import lower, placement
from simulator.engine.memory import Memory
from simulator.engine.one_rank import lower_one
from simulator.scenario.answer import Answer
from simulator.scenario.blame import placed, proving, proving_own
from simulator.scenario.defaults import options_on
from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.judge import analytic, bounds_on, cautions
from simulator.scenario.load import load
from simulator.scenario.models import FROM_FILE
from simulator.scenario.own import own_schedule
from simulator.scenario.rated import Rated
from simulator.scenario.reused import Reused
from simulator.scenario.symmetric import Symmetry, find_symmetry
from topologies.overrides import override
from topologies.registry import TOPOLOGIES
from topologies.text import format_time

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from algorithms.schedule import Schedule
    from simulator.engine.analysis import LinkUse
    from simulator.engine.critical_path import CriticalPath
    from simulator.engine.plan import Plan
    from simulator.engine.timeline import Timeline
    from simulator.scenario.models import Scenario
    from simulator.scenario.plan_load import AnyScenario
    from simulator.scenario.together_models import TogetherScenario
    from topologies.topology import Topology

Report = Callable[[str, int, int], None]
"""Told (stage, done, of how many) while a scenario runs."""


@dataclass(frozen=True, eq=False, repr=False)
class Result(Rated, Answer):
    """What came of a scenario.

    Attributes
    ----------
    scenario : Scenario
    topology : Topology
    schedule : Schedule
    placement : sequence of int
        The topology's rank that played each rank.
    timeline : Timeline
    counts : Counts
    bounds : Bounds
        Seconds.
    congestion_factor : float or None
        None where M is 0.
    analytic : float or None
        Seconds of the algorithm's closed form with this topology's alpha, beta and gamma; None
        where the topology has no one alpha and beta.
    verified : str
        `full`, `symmetry`, `sampled(k)` with k chunks, or `no`.
    warnings : tuple of str
        What a person should know about the scenario.
    symmetry : Symmetry or None
        Where rank 0 stood for all: then the timeline and the schedule are its part, and the topology
        is what is around it.
    """

    scenario: Scenario
    topology: Topology
    schedule: Schedule
    placement: Sequence[int]
    timeline: Timeline
    counts: Counts
    bounds: Bounds
    congestion_factor: float | None
    analytic: float | None
    verified: str
    warnings: tuple[str, ...]
    symmetry: Symmetry | None = None

    @property
    def headline(self) -> str:
        """What it is of, and what came of it."""
        return f"{self.scenario.name}: {format_time(self.time)}"

    @property
    def duration(self) -> int:
        """Simulated fs."""
        return self.timeline.time

    @property
    def time(self) -> float:
        """Simulated seconds."""
        return self.timeline.seconds

    @cached_property
    def critical_path(self) -> CriticalPath:
        """What made the time; found when it is first asked for."""
        return critical_path(self.timeline, self.topology)

    @property
    def link_use(self) -> LinkUse:
        """Use of the links; counted anew at every call."""
        return link_use(self.timeline, self.schedule)

    @property
    def wire_rate(self) -> float | None:
        """Bytes/s over the link with the most bytes, on average over the whole time."""
        return self.link_use.rate(self.duration)

    @property
    def dims(self) -> tuple[int, ...]:
        """p_0 x p_1 x ... along which the algorithm works."""
        if self.scenario.collective.own is not None:
            return (self.schedule.ranks,)
        options = options_on(self.scenario, self.topology)
        return dimensions(self.scenario.collective.algorithm, self.schedule.ranks, options)


def run(
    scenario: Scenario | str | Path,
    *,
    verify: bool | None = None,
    report: Report | None = None,
    allow_code: bool = False,
    memory_limit: int | None = None,
    reused: Reused | None = None,
) -> Result:
    """Build, prove, simulate and judge a scenario.

    Parameters
    ----------
    scenario : Scenario, or str or pathlib.Path
        As `load` gives it, or the file to load.
    verify : bool, optional
        Overrules the scenario's own `verify`.
    report : callable, optional
        Told of the progress.
    allow_code : bool
        Whether the code of a Python file that the scenario names may be run.
    memory_limit : int, optional
        Bytes that the run may take; default 80 % of what is free.
    reused : Reused, optional
        What runs before were made of: what is alike is used again, with the same result.

    Raises
    ------
    ScenarioErrors
        If the parts do not fit each other, or would take too much memory; names the place in the file.
    ProofError
        If the schedule does not compute the collective.
    """
    if isinstance(scenario, str | Path):
        scenario = load(Path(scenario))
    tell, memory, reused = report or silent, Memory(memory_limit), reused or Reused()
    tell("build", 0, 1)
    how = how_to_verify(scenario, verify)
    with placed(scenario.source, "collective"):
        symmetry = find_symmetry(scenario)
    if symmetry is not None:
        return _run_one_rank(scenario, symmetry, how, tell, memory)
    topology = reused.topology(scenario.topology, partial(build_topology, scenario))
    make = partial(schedule_of, scenario, topology, topology.ranks, memory, allow_code=allow_code)
    schedule = reused.schedule(scenario.collective, make)
    if scenario.reduction is not None:
        with placed(scenario.source):
            scenario.reduction.rates(topology.ranks)
    tell("prove", 0, 1)
    verified = reused.proof(how, partial(prove_of, scenario, schedule, how))
    tell("plan", 0, 1)
    with placed(scenario.source):
        place, plan = placed_plan(scenario, schedule, topology, memory)
        timeline = run_plan(plan, scenario.engine, lambda done, total: tell("simulate", done, total))
    tell("judge", 0, 1)
    return _judge(scenario, topology, schedule, place, timeline, verified)


def _run_one_rank(
    scenario: Scenario, symmetry: Symmetry, how: Verify | None, tell: Report, memory: Memory
) -> Result:
    """Run rank 0's part, which stands for everybody's."""
    one, seen = symmetry.one, symmetry.seen
    tell("prove", 0, 1)
    if how != "no":
        symmetry.prove(scenario)
    tell("plan", 0, 1)
    with placed(scenario.source):
        plan = lower_one(one, seen, scenario.network, scenario.reduction, memory)
        timeline = run_plan(plan, scenario.engine, lambda done, total: tell("simulate", done, total))
    tell("judge", 0, 1)
    around = seen.around_rank_0()
    return Result(
        scenario=scenario,
        topology=around,
        schedule=one.schedule,
        placement=range(one.ranks),
        timeline=timeline,
        counts=count_by_symmetry(one),
        bounds=symmetry.bounds(scenario),
        congestion_factor=symmetric_congestion(one, seen),
        analytic=symmetry.analytic(scenario),
        verified="no" if how == "no" else "symmetry",
        warnings=(*cautions(scenario, around, timeline), symmetry.caution()),
        symmetry=symmetry,
    )


def build_topology(scenario: AnyScenario) -> Topology:
    """Topology of a scenario, or of a plan that has one.

    Raises
    ------
    ScenarioErrors
        If it cannot be built; names the place in the file.
    """
    choice = scenario.topology
    if choice is None:
        raise ScenarioErrors([scenario.source.error('missing key "topology"')])
    with placed(scenario.source, "topology"):
        if choice.kind == FROM_FILE:
            from simulator.scenario.topology_file import topology_beside

            built = topology_beside(scenario.source.file, **choice.parameters)
        else:
            built = TOPOLOGIES[choice.kind](**choice.parameters)
        return override(built, choice.overrides)


def schedule_of(
    scenario: Scenario, topology: Topology, ranks: int, memory: Memory, *, allow_code: bool
) -> Schedule:
    """Schedule of a scenario's collective among `ranks` of the topology's ranks.

    Raises
    ------
    ScenarioErrors
        If it cannot be built, or would take too much memory; names the place in the file.
    """
    choice = scenario.collective
    with placed(scenario.source, "collective"):
        if choice.own is not None:
            return own_schedule(scenario, ranks, allow_code=allow_code)
        options = options_on(scenario, topology)
        whole = totals(choice.algorithm, choice.kind, ranks, **options)
        if whole is not None:
            memory.check(int(whole.messages), int(whole.messages))
        return build(choice.algorithm, choice.kind, ranks, choice.size, **options)


def placed_plan(
    scenario: Scenario, schedule: Schedule, topology: Topology, memory: Memory
) -> tuple[NDArray[np.int64], Plan]:
    """The topology's rank of each rank, and the plan of the schedule there."""
    place = placement(schedule, topology, scenario.network)
    network = replace(scenario.network, placement=tuple(place.tolist()))
    return place, lower(schedule, topology, network, scenario.reduction, scenario.delay, memory)


def how_to_verify(scenario: Scenario | TogetherScenario, overruled: bool | None) -> Verify | None:
    """How a scenario is to be proven, where a caller may overrule what it says itself."""
    if overruled is None:
        return scenario.verify
    return None if overruled else "no"


def prove_of(scenario: Scenario, schedule: Schedule, how: Verify | None, what: str = "the proof") -> str:
    """Prove a scenario's schedule; how it was proven.

    Raises
    ------
    ScenarioErrors
        If a full proof is asked for and there is too much to prove.
    ProofError
        If it does not compute the collective; names the file, and that of a schedule of its own.
    """
    with proving(scenario.source, what), proving_own(scenario):
        return proof.verify(schedule, how)


def silent(_stage: str, _done: int, _total: int) -> None:
    """Report nothing."""


def _judge(
    scenario: Scenario,
    topology: Topology,
    schedule: Schedule,
    place: NDArray[np.int64],
    timeline: Timeline,
    verified: str,
) -> Result:
    counts = count(schedule)
    return Result(
        scenario=scenario,
        topology=topology,
        schedule=schedule,
        placement=tuple(place.tolist()),
        timeline=timeline,
        counts=counts,
        bounds=bounds_on(scenario, topology, schedule, place),
        congestion_factor=congestion_factor(schedule, topology, place),
        analytic=analytic(scenario, topology, place),
        verified=verified,
        warnings=tuple(cautions(scenario, topology, timeline)),
    )
