"""Running a scenario: topology, schedule, proof, plan, timeline, and what they amount to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from algorithms.bounds import Bounds, lower_bounds
from algorithms.collective import bus_factor
from algorithms.congestion import congestion_factor
from algorithms.counts import Counts, count
from algorithms.errors import ProofError
from algorithms.platform import link_platforms, platforms
from algorithms.proof import prove
from algorithms.registry import ALGORITHMS, build, dimensions, rounds
from algorithms.rounds import closed_form
from simulator.engine.engines import run_plan, wants_compiled
from simulator.engine.lower import lower, placement
from simulator.scenario.defaults import options_on
from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.load import load
from simulator.scenario.own import own_schedule
from topologies.errors import CollsimError, TopologyError
from topologies.overrides import override
from topologies.registry import TOPOLOGIES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from algorithms.schedule import Schedule
    from simulator.engine.timeline import Timeline
    from simulator.scenario.models import Scenario
    from simulator.scenario.plan_models import PlanScenario
    from topologies.topology import Topology

Report = Callable[[str, int, int], None]
"""Told (stage, done, of how many) while a scenario runs."""


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """What came of a scenario.

    Attributes
    ----------
    scenario : Scenario
    topology : Topology
    schedule : Schedule
    placement : tuple of int
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
        `full`, or `no`.
    warnings : tuple of str
        What a person should know about the scenario.
    """

    scenario: Scenario
    topology: Topology
    schedule: Schedule
    placement: tuple[int, ...]
    timeline: Timeline
    counts: Counts
    bounds: Bounds
    congestion_factor: float | None
    analytic: float | None
    verified: str
    warnings: tuple[str, ...]

    @property
    def time(self) -> float:
        """Simulated seconds."""
        return self.timeline.seconds

    @property
    def dims(self) -> tuple[int, ...]:
        """p_0 x p_1 x ... along which the algorithm works."""
        if self.scenario.collective.own is not None:
            return (self.schedule.ranks,)
        options = options_on(self.scenario, self.topology)
        return dimensions(self.scenario.collective.algorithm, self.schedule.ranks, options)

    @property
    def gap(self) -> float | None:
        """Simulated time over the best lower bound."""
        return self.time / self.bounds.best if self.bounds.best > 0 else None

    @property
    def algbw(self) -> float | None:
        """M over time, bytes/s, as nccl-tests define it."""
        return self.schedule.collective.size / self.time if self.time > 0 else None

    @property
    def busbw(self) -> float | None:
        """Algbw times the share of M that a link must carry, as nccl-tests define it; None at N = 1."""
        share = bus_factor(self.schedule.collective.kind, self.schedule.ranks)
        return None if share is None or self.algbw is None else float(self.algbw * share)


def run(
    scenario: Scenario | str | Path,
    *,
    verify: bool | None = None,
    report: Report | None = None,
    allow_code: bool = False,
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

    Raises
    ------
    ScenarioErrors
        If the parts do not fit each other; names the place in the file.
    ProofError
        If the schedule does not compute the collective.
    """
    if isinstance(scenario, str | Path):
        scenario = load(Path(scenario))
    tell = report or _silent
    tell("build", 0, 1)
    topology = build_topology(scenario)
    schedule = _schedule(scenario, topology, allow_code=allow_code)
    if scenario.reduction is not None:
        with _placed(scenario):
            scenario.reduction.rates(topology.ranks)
    proven = scenario.verify == "full" if verify is None else verify
    if proven:
        tell("prove", 0, 1)
        _prove(scenario, schedule)
    tell("plan", 0, 1)
    with _placed(scenario):
        place = placement(schedule, topology, scenario.network)
        network = replace(scenario.network, placement=tuple(place.tolist()))
        plan = lower(schedule, topology, network, scenario.reduction, scenario.delay)
        timeline = run_plan(plan, scenario.engine, lambda done, total: tell("simulate", done, total))
    tell("judge", 0, 1)
    return _judge(scenario, topology, schedule, place, timeline, "full" if proven else "no")


def build_topology(scenario: Scenario | PlanScenario) -> Topology:
    """Topology of a scenario, or of a plan that has one.

    Raises
    ------
    ScenarioErrors
        If it cannot be built; names the place in the file.
    """
    choice = scenario.topology
    if choice is None:
        raise ScenarioErrors([scenario.source.error('missing key "topology"')])
    with _placed(scenario, "topology"):
        return override(TOPOLOGIES[choice.kind](**choice.parameters), choice.overrides)


def _schedule(scenario: Scenario, topology: Topology, *, allow_code: bool) -> Schedule:
    choice = scenario.collective
    with _placed(scenario, "collective"):
        if choice.own is not None:
            return own_schedule(scenario, topology.ranks, allow_code=allow_code)
        options = options_on(scenario, topology)
        return build(choice.algorithm, choice.kind, topology.ranks, choice.size, **options)


def _prove(scenario: Scenario, schedule: Schedule) -> None:
    try:
        prove(schedule)
    except ProofError as error:
        message = f"{scenario.source.file}: the proof failed: {error.message}"
        raise ProofError(message, step=error.step, rank=error.rank, chunk=error.chunk) from None


def _silent(_stage: str, _done: int, _total: int) -> None:
    """Report nothing."""


@contextmanager
def _placed(scenario: Scenario | PlanScenario, *block: str) -> Iterator[None]:
    """Give an error its place in the scenario's file."""
    try:
        yield
    except CollsimError as error:
        if isinstance(error, ScenarioErrors):
            raise
        at = (*block, *error.at) if block else _blame(error)
        # a rank that is not there is wrong as a key, not for its delay or its reducer
        as_key = at[:1] == ("delay",) or at[:2] == ("reduction", "ranks")
        raise ScenarioErrors([scenario.source.error(error.message, at, key=as_key)]) from None


def _blame(error: CollsimError) -> tuple[str | int, ...]:
    """Path in the file of what made the parts not fit each other."""
    if error.at and error.at[0] in ("placement", "direct_links_only"):
        return ("network", *error.at)
    return error.at or ("topology" if isinstance(error, TopologyError) else "collective",)


def _judge(
    scenario: Scenario,
    topology: Topology,
    schedule: Schedule,
    place: NDArray[np.int64],
    timeline: Timeline,
    verified: str,
) -> Result:
    counts = count(schedule)
    reduction = scenario.reduction
    bounds = lower_bounds(
        schedule.collective,
        topology,
        model=scenario.network.model,
        # work can be shared, so what bounds it is the sum of all reducers
        reduction=float(reduction.rates(topology.ranks).mean()) if reduction else None,
        placement=place,
        messages=counts.messages_max,
    )
    return Result(
        scenario=scenario,
        topology=topology,
        schedule=schedule,
        placement=tuple(place.tolist()),
        timeline=timeline,
        counts=counts,
        bounds=bounds,
        congestion_factor=congestion_factor(schedule, topology, place),
        analytic=_analytic(scenario, topology, place),
        verified=verified,
        warnings=tuple(_warnings(scenario, topology, timeline)),
    )


def _analytic(scenario: Scenario, topology: Topology, place: NDArray[np.int64]) -> float | None:
    """The closed form, priced with the topology's alpha and beta along each dimension."""
    choice, reduction = scenario.collective, scenario.reduction
    if choice.own is not None:
        return None
    network = scenario.network
    if network.model == "packet" or network.endpoint is not None:
        return None
    options = options_on(scenario, topology)
    if reduction is not None and len(set(reduction.rates(topology.ranks).tolist())) > 1:
        return None
    reducer = (reduction.bandwidth if reduction else None, reduction.mode if reduction else "after")
    if not ALGORITHMS[choice.algorithm].ideal:
        return None
    if ALGORITHMS[choice.algorithm].ideal == "switch":
        priced = link_platforms(topology, *reducer)
    else:
        dims = dimensions(choice.algorithm, topology.ranks, options)
        priced = platforms(topology, dims, network.model, *reducer, place)
    if priced is None:
        return None
    turns = rounds(choice.algorithm, choice.kind, topology.ranks, choice.size, **options)
    return None if turns is None else float(closed_form(turns, priced))


def _warnings(scenario: Scenario, topology: Topology, timeline: Timeline) -> Iterator[str]:
    if timeline.engine == "simpy" and wants_compiled(timeline.plan, scenario.engine):
        yield "numba is not installed, so that the plan ran on SimPy: the same times, but slower"
    if scenario.network.model == "store_and_forward" and len(topology.nodes) > topology.ranks:
        yield (
            "under store_and_forward every switch on the way stores the whole message before it sends it on, "
            "so that a crossbar costs double; switches as they are built work under cut_through"
        )
