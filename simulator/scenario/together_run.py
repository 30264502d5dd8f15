"""Running several collectives on one network, and each of them by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from algorithms.congestion import congestion_factor
from algorithms.counts import count
from algorithms.messages import messages
from simulator.engine.engines import run_plan
from simulator.engine.jobs import Job, alone
from simulator.engine.lower import lower_job
from simulator.engine.machine import Machine
from simulator.engine.memory import Memory
from simulator.engine.plan import Plan
from simulator.engine.together import together
from simulator.scenario.blame import placed
from simulator.scenario.entries import of_entry
from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.judge import analytic, bounds_on, cautions
from simulator.scenario.order import in_order
from simulator.scenario.run import Report, build_topology, how_to_verify, prove_of, schedule_of, silent
from simulator.scenario.together_load import load_together
from simulator.scenario.together_result import BackgroundResult, MemberResult, TogetherResult
from topologies.clock import femtoseconds
from topologies.text import printable

if TYPE_CHECKING:
    from algorithms.proof import Verify
    from algorithms.schedule import Schedule
    from simulator.engine.timeline import Timeline
    from simulator.scenario.models import Scenario
    from simulator.scenario.together_models import Background, Member, TogetherScenario
    from topologies.topology import Topology

Simulate = Callable[[Plan], "Timeline"]


def run_together(
    scenario: TogetherScenario | str | Path,
    *,
    verify: bool | None = None,
    report: Report | None = None,
    allow_code: bool = False,
    memory_limit: int | None = None,
) -> TogetherResult:
    """Build, prove, simulate and judge several collectives, together and each by itself.

    Parameters
    ----------
    scenario : TogetherScenario, or str or pathlib.Path
        As `load_together` gives it, or the file to load.
    verify : bool, optional
        Overrules the scenario's own `verify`.
    report : callable, optional
        Told of the progress.
    allow_code : bool
        Whether the code of Python files that the scenario names may be run.
    memory_limit : int, optional
        Bytes that the run may take; default 80 % of what is free.

    Raises
    ------
    ScenarioErrors
        If the parts do not fit each other, or would take too much memory; names the place in the file.
    ProofError
        If a schedule does not compute its collective.
    """
    if isinstance(scenario, str | Path):
        scenario = load_together(Path(scenario))
    tell = report or silent
    tell("build", 0, 1)
    topology = build_topology(scenario)
    _check_ranks(scenario, topology)
    memory, how = Memory(memory_limit), how_to_verify(scenario, verify)
    order = in_order(scenario.members)
    proven = [_proven(scenario, i, topology, memory, how, allow_code=allow_code) for i in order]
    processors = max((schedule.processors for schedule, _ in proven), default=0)
    machine = Machine(topology, scenario.network, scenario.reduction, memory, processors)
    players = [_player(scenario, i, order, machine, *made) for i, made in zip(order, proven, strict=True)]
    streams = [_stream(scenario, i, machine) for i in range(len(scenario.background))]

    def simulate(plan: Plan) -> Timeline:
        with placed(scenario.source):
            return run_plan(plan, scenario.engine, lambda done, total: tell("simulate", done, total))

    plans = [*(player.plan for player in players), *(stream.plan for stream in streams)]
    with placed(scenario.source, "collectives"):
        machine.memory.check(sum(map(len, plans)), sum(plan.hops for plan in plans))
    everything = together(
        [*(player.job for player in players), *(stream.job for stream in streams)],
        plans,
    )
    timeline = simulate(everything.plan)
    tell("judge", 0, 1)
    spans = everything.spans(timeline)[: len(players)]
    members = [_judged(*played, machine, simulate) for played in zip(players, spans, strict=True)]
    arrivals = [everything.messages(timeline, len(players) + k) for k in range(len(streams))]
    return TogetherResult(
        scenario=scenario,
        topology=topology,
        members=tuple(sorted(members, key=lambda member: member.position)),
        background=tuple(
            _judged_stream(*sent, machine, simulate)
            for sent in zip(scenario.background, streams, arrivals, strict=True)
        ),
        together=everything,
        order=tuple(order),
        timeline=timeline,
        warnings=tuple(cautions(scenario, topology, timeline)),
    )


def _check_ranks(scenario: TogetherScenario, topology: Topology) -> None:
    """Refuse ranks that are not there: of delays, of reducers and of the background."""
    source, known = scenario.source, f"; ranks are 0 to {topology.ranks - 1}"
    errors = [
        source.error(f"there is no rank {rank} to delay{known}", ("delay", rank), key=True)
        for rank in scenario.delay
        if rank >= topology.ranks
    ]
    for i, stream in enumerate(scenario.background):
        errors += [
            source.error(f"background[{i}].{end}: there is no rank {rank}{known}", ("background", i, end))
            for end, rank in (("src", stream.src), ("dst", stream.dst))
            if rank >= topology.ranks
        ]
    if errors:
        raise ScenarioErrors(errors)
    if scenario.reduction is not None:
        with placed(source):
            scenario.reduction.rates(topology.ranks)


@dataclass(frozen=True, slots=True, eq=False)
class _Stream:
    """A job, and its plan as if it came after no other."""

    job: Job
    plan: Plan


@dataclass(frozen=True, slots=True, eq=False)
class _Player:
    """The job of a collective.

    Attributes
    ----------
    job : Job
    plan : Plan
        As if it came after no other.
    position : int
        In the list of the file.
    member : Member
    scenario : Scenario
        The member's own, on its ranks.
    verified : str
    """

    job: Job
    plan: Plan
    position: int
    member: Member
    scenario: Scenario
    verified: str


def _own(scenario: TogetherScenario, i: int, ranks: Sequence[int]) -> Scenario:
    """A member as a scenario of its own, on its ranks."""
    network = replace(scenario.network, placement=tuple(ranks))
    return replace(scenario.members[i].scenario, network=network)


def _proven(
    scenario: TogetherScenario,
    i: int,
    topology: Topology,
    memory: Memory,
    how: Verify | None,
    *,
    allow_code: bool,
) -> tuple[Schedule, str]:
    """Schedule of a member, and how it was proven."""
    member = scenario.members[i]
    ranks = member.ranks or range(topology.ranks)
    own = _own(scenario, i, ranks)
    with of_entry(i):
        schedule = schedule_of(own, topology, len(ranks), memory, allow_code=allow_code)
        return schedule, prove_of(own, schedule, how, f'the proof of "{printable(member.name)}"')


def _player(
    scenario: TogetherScenario, i: int, order: list[int], machine: Machine, schedule: Schedule, verified: str
) -> _Player:
    member = scenario.members[i]
    ranks = member.ranks or range(machine.topology.ranks)
    own = _own(scenario, i, ranks)
    with of_entry(i):
        job = Job(
            schedule,
            np.array(ranks, dtype=np.int64),
            start=member.start,
            delay={k: scenario.delay[rank] for k, rank in enumerate(ranks) if rank in scenario.delay},
            after=tuple(k for k, other in enumerate(order) if scenario.members[other].name in member.after),
        )
        with placed(own.source):
            return _Player(job, lower_job(job, machine), i, member, own, verified)


def _stream(scenario: TogetherScenario, i: int, machine: Machine) -> _Stream:
    """The job of background messages: one after the other is sent, whatever became of those before."""
    background = scenario.background[i]
    with placed(scenario.source, "background", i):
        schedule = messages(background.size, background.times)
    first, step = Fraction(background.start), Fraction(background.every or 0)
    job = Job(
        schedule,
        np.tile(np.array([background.src, background.dst], dtype=np.int64), background.times),
        delay={2 * k: first + k * step for k in range(background.times)},
        # no message waits for another
        sync="step",
    )
    with placed(scenario.source):
        return _Stream(job, lower_job(job, machine))


def _judged(player: _Player, span: tuple[int, int], machine: Machine, simulate: Simulate) -> MemberResult:
    job, topology = player.job, machine.topology
    start, finish = span
    with placed(player.scenario.source):
        plan = lower_job(alone(job, start), machine) if job.after else player.plan
    counts = count(job.schedule)
    return MemberResult(
        position=player.position,
        member=player.member,
        schedule=job.schedule,
        ranks=tuple(job.place.tolist()),
        counts=counts,
        bounds=bounds_on(player.scenario, topology, job.schedule, job.place),
        congestion_factor=congestion_factor(job.schedule, topology, job.place),
        analytic=analytic(player.scenario, topology, job.place),
        verified=player.verified,
        start=start,
        finish=finish,
        duration_alone=simulate(plan).time - start,
    )


def _judged_stream(
    background: Background, stream: _Stream, arrivals: np.ndarray, machine: Machine, simulate: Simulate
) -> BackgroundResult:
    sent = [femtoseconds(time) for time in stream.job.delay.values()]
    one = Job(messages(background.size, 1), stream.job.place[:2])
    return BackgroundResult(
        background=background,
        durations=tuple(came - went for came, went in zip(arrivals.tolist(), sent, strict=True)),
        finish=int(arrivals.max()),
        duration_alone=simulate(lower_job(one, machine)).time,
    )
