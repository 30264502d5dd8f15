"""Several schedules on one network: their plan is that of each, side by side, and their times by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from algorithms.errors import ScheduleError
from algorithms.messages import messages
from algorithms.proof import prove
from algorithms.registry import build
from algorithms.schedule import Schedule
from simulator.engine.engines import run_plan
from simulator.engine.errors import PlanError
from simulator.engine.jobs import Job, alone
from simulator.engine.lower import lower, lower_together
from simulator.engine.network import Endpoint, Network, Reduction
from simulator.engine.plan import NO_TRANSFER, START, Plan
from topologies import Topology, crossbar, full_mesh, line, ring
from topologies.errors import TopologyError

COLUMNS = ("transfer", "hop_offset", "resource", "hold", "head", "dependency_offset", "dependency")
NETWORKS = (
    Network(),
    Network(sync="dataflow"),
    Network(sync="barrier"),
    Network(model="cut_through"),
    Network(model="cut_through", buffers=64),
    Network(model="packet", mtu=100),
    Network(model="fair_share"),
    Network(endpoint=Endpoint(overhead=3e-15, gap=2e-15, protocol="rendezvous")),
)


def place(*ranks: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array(ranks, dtype=np.int64)


def everywhere(schedule: Schedule, **options: Any) -> Job:
    return Job(schedule, np.arange(schedule.ranks), **options)


def spans(
    jobs: list[Job], topology: Topology, network: Network | None = None, reduction: Reduction | None = None
) -> list[tuple[int, int]]:
    """Start and finish of each job, by both engines."""
    both = lower_together(jobs, topology, network, reduction)
    found = [both.spans(run_plan(both.plan, engine)) for engine in ("simpy", "compiled")]
    assert found[0] == found[1]
    return found[0]


def same(one: Plan, other: Plan) -> bool:
    resources = ("kind", "which", "latency", "gap")
    pairs = [(getattr(one, name), getattr(other, name)) for name in COLUMNS]
    pairs += [(getattr(one.resources, name), getattr(other.resources, name)) for name in resources]
    return all(a.dtype == b.dtype and a.tolist() == b.tolist() for a, b in pairs)


# One job


def test_of_one_job_the_plan_is_its_own() -> None:
    delay = {0: 5e-15, 2: 0.0}
    for network in NETWORKS:
        for name, kind, ranks in (("ring", "allreduce", 4), ("direct", "all_to_all", 5)):
            schedule, topology = build(name, kind, ranks, 1000), ring(ranks, bandwidth=1e15, latency=7e-15)
            own = lower(schedule, topology, network, Reduction(1e15), delay)
            job = everywhere(schedule, delay=delay)
            assert same(own, lower_together([job], topology, network, Reduction(1e15)).plan), network


def test_alone_a_job_takes_what_lower_says() -> None:
    schedule, topology = build("ring", "allreduce", 4, 1000), ring(4, bandwidth=1e15, latency=7e-15)
    time = run_plan(lower(schedule, topology)).time
    job = everywhere(schedule, start=11e-15, after=(0,))
    ((start, finish),) = spans([alone(job, 5_000_000_000_000_000_001)], topology)
    # to the femtosecond, past what a float of seconds can tell
    assert (start, finish - start) == (5_000_000_000_000_000_001, time)


# By hand


def test_two_equal_rings_take_turns() -> None:
    """h fs a message, K = 2 (N - 1) steps, no latency: on every link they alternate, the first one first."""
    for ranks, held in ((2, 50), (4, 25), (5, 20)):
        schedule = build("ring", "allreduce", ranks, 100)
        topology = ring(ranks, bandwidth=1e15, direction="one" if ranks > 2 else "both")
        steps = 2 * (ranks - 1)
        jobs = [everywhere(schedule), everywhere(schedule)]
        assert spans(jobs, topology) == [(0, (2 * steps - 1) * held), (0, 2 * steps * held)]


def test_what_shares_no_link_does_not_slow_down_under_any_model() -> None:
    """Whatever the model: pairs of a full mesh have nothing in common."""
    topology = full_mesh(4, bandwidth=1e15, latency=7e-15)
    schedule = build("ring", "allreduce", 2, 1000)
    for network in NETWORKS:
        for reduction in (None, Reduction(2e15), Reduction(2e15, "streamed")):
            (one,) = spans([Job(schedule, place(0, 1))], topology, network, reduction)
            jobs = [Job(schedule, place(0, 1)), Job(schedule, place(3, 2))]
            assert spans(jobs, topology, network, reduction) == [one, one]


def test_jobs_that_come_after_others_add_up() -> None:
    topology = ring(4, bandwidth=1e15, latency=5e-15)
    gather = build("ring", "allgather", 4, 400)  # 3 x (100 + 5) fs
    pair = build("direct", "send_recv", 2, 40)  # 40 + 5
    for network in NETWORKS[:4]:
        jobs = [
            everywhere(gather),
            Job(pair, place(0, 1), start=1e-15),
            everywhere(gather, after=(0,)),
            Job(pair, place(2, 3), start=10e-15, after=(0, 1, 2)),
            Job(pair, place(3, 2), after=(3,)),
        ]
        found = spans(jobs, topology, network)
        # the pair's message takes 0->1 from 100 to 140; rank 0's second one is there at 245, not at 210,
        # and what comes after it on the way is 35 late, too
        assert found == [(0, 350), (1, 145), (350, 665), (675, 720), (720, 765)]


def test_a_start_holds_every_rank_and_a_delay_is_added() -> None:
    topology = full_mesh(3, bandwidth=1e15)
    schedule = build("direct", "allgather", 3, 300)
    (span,) = spans([everywhere(schedule, start=50e-15, delay={1: 7e-15})], topology)
    # under `step` nobody's only step begins before its peers are there
    assert span == (50, 157)
    plan = lower_together([everywhere(schedule, start=50e-15, delay={1: 7e-15})], topology).plan
    starts = np.flatnonzero(plan.resources.kind[plan.resource] == START)
    assert plan.hold[starts].tolist() == [50, 57, 50]
    # it counts from the end of what the job comes after
    jobs = [everywhere(schedule), everywhere(schedule, delay={1: 7e-15}, after=(0,))]
    assert spans(jobs, topology) == [(0, 100), (100, 207)]


def test_late_by_nothing_is_not_late() -> None:
    schedule, star = build("direct", "all_to_all", 3, 60_000), crossbar(3, 1e9, 1e-6)
    prompt = lower(schedule, star, Network("cut_through"))
    late = lower(schedule, star, Network("cut_through"), delay={0: 0.0})
    assert len(late) == len(prompt)
    assert run_plan(late, "simpy").time == run_plan(prompt, "simpy").time == 42 * 10**9


def test_of_two_at_one_instant_the_earlier_job_goes_first() -> None:
    topology, one = line(2, bandwidth=1e15), build("direct", "send_recv", 2, 10)
    jobs = [Job(one, place(0, 1)) for _ in range(3)]
    assert spans(jobs, topology) == [(0, 10), (0, 20), (0, 30)]


def test_jobs_without_transfers_begin_and_end_at_once() -> None:
    topology = ring(4, bandwidth=1e15)
    nobody, gather = build("ring", "allgather", 1, 100), build("ring", "allgather", 4, 400)
    jobs = [Job(nobody, place(2)), Job(nobody, place(2), after=(0,)), everywhere(gather, after=(0, 1))]
    assert spans(jobs, topology) == [(0, 0), (0, 0), (0, 300)]
    jobs = [Job(nobody, place(1), start=5e-15), everywhere(gather, after=(0,))]
    assert spans(jobs, topology) == [(5, 5), (5, 305)]


# Structure


def test_operations_come_job_by_job_and_a_join_before_what_waits() -> None:
    topology, pair = line(2, bandwidth=1e15), build("direct", "send_recv", 2, 10)
    both = lower_together([Job(pair, place(0, 1)), Job(pair, place(1, 0), after=(0,))], topology)
    assert both.first.tolist() == [0, 1, 5]
    assert both.row.tolist() == [0, 1, 2]
    # the message, the join, two starts, the other message
    assert both.plan.transfer.tolist() == [0, NO_TRANSFER, NO_TRANSFER, NO_TRANSFER, 1]
    assert np.diff(both.plan.hop_offset).tolist() == [1, 0, 1, 1, 1]
    waits = np.split(both.plan.dependency, both.plan.dependency_offset[1:-1])
    assert [sorted(one.tolist()) for one in waits] == [[], [0], [1], [1], [2, 3]]
    assert both.carried.tolist() == [10, 0, 0, 0, 10]
    assert both.plan.resources.which[-2:].tolist() == [1, 0]


def test_both_engines_agree_on_random_jobs() -> None:
    """Ties and all, every arrival, grant and release."""
    draw = np.random.default_rng(6)
    kinds = (("ring", "allreduce"), ("direct", "all_to_all"), ("recursive_halving", "reduce_scatter"))
    for _ in range(25):
        topology = (ring, full_mesh, crossbar)[draw.integers(3)](6, bandwidth=1e15, latency=5e-15)
        jobs: list[Job] = []
        for i in range(draw.integers(1, 5)):
            ranks = draw.permutation(6)[: draw.integers(1, 7)]
            name, kind = kinds[draw.integers(3)]
            after = tuple(j for j in range(i) if draw.random() < 0.3)
            schedule = build(name, kind, len(ranks), int(draw.integers(0, 100)))
            delay = {0: Fraction(int(draw.integers(0, 20)), 10**15)}
            start = Fraction(int(draw.integers(0, 30)), 10**15)
            jobs.append(Job(schedule, ranks, start=start, after=after, delay=delay))
        network = NETWORKS[draw.integers(4)]
        plan = lower_together(jobs, topology, network, Reduction(3e15)).plan
        one, other = (run_plan(plan, engine) for engine in ("simpy", "compiled"))
        for column in ("arrival", "grant", "release"):
            assert (getattr(one, column) == getattr(other, column)).all()


# Messages that belong to no collective


def test_messages_are_proven_and_leave_when_they_are_sent() -> None:
    """100 fs each, every 30 fs, over one link: the k-th waits for those before it."""
    four, topology = messages(100, 4), line(2, bandwidth=1e15, latency=5e-15)
    prove(four)
    sent = {2 * k: Fraction(30 * k, 10**15) for k in range(4)}
    for network in NETWORKS[:4]:
        job = Job(four, place(*[0, 1] * 4), delay=sent, sync="step")
        both = lower_together([job], topology, network)
        assert both.messages(run_plan(both.plan), 0).tolist() == [105, 205, 305, 405]
    with pytest.raises(ScheduleError, match="found 0"):
        messages(1, 0)


# What is refused


def test_jobs_that_do_not_fit_are_refused() -> None:
    topology, four = crossbar(8, bandwidth=1e15, switch="reduces"), build("ring", "allgather", 4, 4)
    summed = build("in_network", "allreduce", 4, 4)
    assert spans([everywhere(build("in_network", "allreduce", 8, 8))], topology) == [(0, 16)]
    cases: list[tuple[list[Job], str, tuple[str | int, ...]]] = [
        ([Job(four, place(0, 1))], "the schedule has 4 ranks, its group 2", ("ranks",)),
        ([Job(four, place(0, 1, 8, 2))], "there is no rank 8; ranks are 0 to 7", ("ranks", 2)),
        ([Job(four, place(0, -1, 8, 2))], "there is no rank -1", ("ranks", 1)),
        ([Job(summed, place(0, 1, 2, 3))], "all of its 8 ranks must take part, found 4", ("ranks",)),
        ([Job(four, place(0, 1, 2, 3), start=-1.0)], "a start is zero or more", ("start",)),
        ([Job(four, place(0, 1, 2, 3), delay={4: 1.0})], "no rank 4 to delay", ("delay", 4)),
        ([Job(four, place(0, 1, 2, 3), after=(0,))], "not before it", ("after",)),
        ([Job(four, place(0, 1, 2, 3), start=9000.0)], "2.5 hours", ()),
    ]
    for jobs, message, at in cases:
        with pytest.raises((TopologyError, PlanError), match=message) as caught:
            lower_together(jobs, topology)
        assert caught.value.at == at
