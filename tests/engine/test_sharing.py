"""Flows that share what they cross, by hand; one byte a femtosecond is a rate of 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.engine import compiled_sharing, engines, kernel, sharing_kernel, simpy_sharing
from simulator.engine.compiled_sharing import run_compiled_sharing
from simulator.engine.engines import run_plan
from simulator.engine.errors import PlanError
from simulator.engine.plan import Flows, Plan
from simulator.engine.sharing import max_min_rates
from simulator.engine.simpy_sharing import run_simpy_sharing
from simulator.engine.timeline import Timeline
from tests.engine.plan_builder import Hop, Operation, Stamp, plan_of, stamps
from topologies.clock import FEMTOSECONDS, LONGEST


@dataclass(frozen=True, slots=True)
class Message:
    """A flow over a route, and the hops that its operation walks afterwards."""

    route: Sequence[int] = ()
    size: int = 0
    delay: int = 0
    after: Sequence[int] = ()
    then: Sequence[Hop] = ()


def shared_plan(messages: Sequence[Message], rates: Sequence[float]) -> Plan:
    """Plan over shared resources of so many bytes a femtosecond; 0 for one that is held."""
    operations = [Operation([*(Hop(r, 0) for r in m.route), *m.then], m.after) for m in messages]
    flows = Flows(
        np.array([message.size for message in messages], dtype=np.int64),
        np.array([message.delay for message in messages], dtype=np.int64),
        np.array(rates, dtype=np.float64) * FEMTOSECONDS,
    )
    return replace(plan_of(operations, [0] * len(rates)), flows=flows)


def both(plan: Plan) -> Timeline:
    """Timeline of both engines, which give the same bits."""
    assert plan.flows is not None
    reference = run_simpy_sharing(plan, plan.flows)
    other = run_compiled_sharing(plan, plan.flows)
    assert (reference.engine, other.engine) == ("simpy", "compiled")
    assert stamps(reference) == stamps(other)
    return reference


def run(messages: Sequence[Message], rates: Sequence[float]) -> list[Stamp]:
    """(arrival, grant, release) of every hop."""
    return stamps(both(shared_plan(messages, rates)))


def ends(messages: Sequence[Message], rates: Sequence[float]) -> list[int]:
    """When the first hop of each message is released."""
    timeline = both(shared_plan(messages, rates))
    return timeline.release[timeline.plan.hop_offset[:-1]].tolist()


def test_two_flows_on_one_link() -> None:
    # half each until 200, when the first has its 100 bytes; then the other's 200 alone
    assert ends([Message([0], 100), Message([0], 300)], [1]) == [200, 400]


def test_the_parking_lot() -> None:
    # one flow over both links, one over each: a half for all, until the short ones end at 200
    lot = [Message([0, 1], 100), Message([0], 100), Message([1], 200)]
    assert ends(lot, [1, 1]) == [200, 200, 300]
    # with 3 on the second link its own flow gets 2.5, and sends 500 by 200; 500 more at 3 take 166.67
    assert ends([*lot[:2], Message([1], 1000)], [1, 3]) == [200, 200, 367]


def test_who_comes_late() -> None:
    # alone until 60; then 40 bytes are left at a half, until 140; by then the other has sent 40 of 100
    late = [Message([0], 100), Message([0], 100, delay=60)]
    assert run(late, [1]) == [(0, 0, 140), (0, 60, 200)]
    assert ends(late[::-1], [1]) == [200, 140]


def test_what_ends_frees_bandwidth_for_what_begins() -> None:
    # the third begins at the very end of the first, and takes its half
    three = [Message([0], 50), Message([0], 100), Message([0], 50, after=[0])]
    assert run(three, [1]) == [(0, 0, 100), (0, 0, 200), (100, 100, 200)]


def test_without_bytes() -> None:
    # ends at its grant, and takes nothing from the other
    assert run([Message([0], 0, delay=30), Message([0], 100)], [1]) == [(0, 30, 30), (0, 0, 100)]
    assert run([Message([0], 0), Message([0], 5, after=[0])], [1]) == [(0, 0, 0), (0, 0, 5)]


def test_all_hops_of_a_flow_have_the_same_times() -> None:
    assert run([Message([0, 1, 2], 90, delay=7)], [3, 1, 2]) == [(0, 7, 97)] * 3


def test_crossing_a_link_twice_uses_it_twice() -> None:
    # the first takes 2/3 of the link for a rate of 1/3; so does the other alone, in 300
    assert ends([Message([0, 1, 0], 100), Message([0], 100)], [1, 9]) == [300, 300]


def test_an_end_is_the_nearest_femtosecond() -> None:
    # 100 / 3 = 33.3 and 101 / 3 = 33.7; 25 / 10 and 35 / 10 go to the even one
    assert ends([Message([0], 100), Message([1], 101)], [3, 3]) == [33, 34]
    assert ends([Message([0], 25), Message([1], 35)], [10, 10]) == [2, 4]
    # too short to take any time, it still lets what waits begin
    assert run([Message([0], 1), Message([0], 4, after=[0])], [4]) == [(0, 0, 0), (0, 0, 1)]


def test_a_reducer_after_the_flow_is_held_by_one_at_a_time() -> None:
    # both arrive at 200, the lower number is reduced first
    two = [Message([0], 100, then=[Hop(1, 30)]), Message([0], 100, then=[Hop(1, 30)])]
    assert run(two, [1, 0]) == [(0, 0, 200), (200, 200, 230), (0, 0, 200), (200, 230, 260)]


def test_a_streamed_reducer_is_shared() -> None:
    # two links of 1 into a reducer of 1: a half each; then 200 bytes alone at 1
    assert ends([Message([0, 2], 100), Message([1, 2], 300)], [1, 1, 1]) == [200, 400]


def test_starts_and_joins() -> None:
    # a start of 40, a join of it, and two flows that wait for the join or for the start
    plan = [
        Message(then=[Hop(1, 40)]),
        Message(after=[0]),
        Message([0], 10, after=[1], delay=5),
        Message([0], 10, after=[0], delay=5),
    ]
    assert run(plan, [1, 0]) == [(0, 0, 40), (40, 45, 65), (40, 45, 65)]


def test_a_gap_after_a_hop() -> None:
    two = [Message([0], 100, then=[Hop(1, 30)]), Message([0], 100, then=[Hop(1, 30)])]
    plan = shared_plan(two, [1, 0])
    plan = replace(plan, resources=replace(plan.resources, gap=np.array([0, 7])))
    assert stamps(both(plan))[3] == (200, 237, 267)


def test_an_empty_plan() -> None:
    assert both(shared_plan([], [1])).time == 0


@pytest.mark.parametrize("run_one", [run_simpy_sharing, run_compiled_sharing])
def test_the_clock_does_not_run_over(run_one: object) -> None:
    slow = 1 / FEMTOSECONDS
    for message in (
        Message([0], 9001),
        Message([0], 10, delay=LONGEST),
        Message([0], 0, delay=2**63 - 1, after=[]),
        Message([0], 5, then=[Hop(1, LONGEST)]),
    ):
        plan = shared_plan([message, Message(then=[Hop(1, 1)], after=[0])], [slow, 0])
        with pytest.raises(PlanError, match=r"ran past 2\.5 hours"):
            run_one(plan, plan.flows)  # type: ignore[operator]


def test_what_would_run_over_may_still_speed_up() -> None:
    # at a half 8000 bytes would take 16,000 s; from 1800 s on the 7100 that are left go alone
    second = 10**15
    assert ends([Message([0], 8000), Message([0], 900)], [1 / second]) == [8900 * second, 1800 * second]


def test_progress_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_sharing, "REPORT_EVERY", 5)
    monkeypatch.setattr("simulator.engine.simpy_engine.REPORT_EVERY", 5)
    plan = shared_plan([Message([0, 1], i + 1, then=[Hop(2, 1)]) for i in range(20)], [1, 1, 0])
    for engine in ("simpy", "compiled"):
        told: list[tuple[int, int]] = []
        run_plan(plan, engine, lambda done, total, told=told: told.append((done, total)))  # type: ignore[misc]
        assert len(told) > 5
        assert [done for done, _ in told] == sorted(done for done, _ in told)
        assert told[-1] == (60, 60)


def test_the_engine_is_picked_by_size(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = shared_plan([Message([0], 10)], [1])
    assert run_plan(plan).engine == "simpy"
    monkeypatch.setattr(engines, "WORTH_COMPILING", 1)
    assert run_plan(plan).engine == "compiled"
    monkeypatch.setattr(engines, "numba_is_here", lambda: False)
    assert run_plan(plan, "compiled").engine == "simpy"
    monkeypatch.setattr(simpy_sharing, "MOST_HOPS", 0)
    with pytest.raises(PlanError, match="1 hops; the simpy engine takes up to 0 of fair_share"):
        run_plan(plan)


RATES = st.sampled_from([1.0, 1.0, 2.0, 3.0, 0.7])


@st.composite
def shared_plans(draw: st.DrawFn) -> Plan:
    """Flows over shared resources 0 to 4, and hops over 5 and 6 that are held."""
    messages = []
    for number in range(draw(st.integers(1, 14))):
        route = draw(st.lists(st.integers(0, 4), max_size=4))
        messages.append(
            Message(
                route,
                draw(st.sampled_from([0, 1, 60, 60, 1000, 12345])) if route else 0,
                draw(st.sampled_from([0, 0, 10, 37])) if route else 0,
                draw(st.lists(st.integers(0, number - 1), max_size=3, unique=True)) if number else [],
                [
                    Hop(5 + r, draw(st.sampled_from([0, 5, 20])))
                    for r in draw(st.lists(st.integers(0, 1)))[:2]
                ],
            )
        )
    return shared_plan(messages, [*draw(st.lists(RATES, min_size=5, max_size=5)), 0, 0])


@settings(max_examples=100, derandomize=True, deadline=None, database=None)
@given(shared_plans())
def test_random_plans(plan: Plan) -> None:
    timeline = both(plan)
    assert (timeline.arrival <= timeline.grant).all()
    assert (timeline.grant <= timeline.release).all()
    check_capacity(timeline)


def check_capacity(timeline: Timeline) -> None:
    """No resource carries more bytes, from the first start on it to the last end, than it can."""
    plan = timeline.plan
    assert plan.flows is not None
    for r in np.flatnonzero(plan.flows.capacity):
        crossing = np.flatnonzero(plan.resource == r)
        size = plan.flows.bytes[timeline.operation()[crossing]]
        if size.any():
            span = timeline.release[crossing].max() - timeline.grant[crossing].min()
            # each end is rounded by half a femtosecond at most
            assert size.sum() <= plan.flows.capacity[r] * (span + len(crossing)) / FEMTOSECONDS * (1 + 1e-9)


@settings(max_examples=100, derandomize=True, deadline=None, database=None)
@given(st.data())
def test_rates_are_max_min_fair(data: st.DataObject) -> None:
    """Every flow crosses a full resource on which no other has more (Bertsekas and Gallager, 6.5.2)."""
    capacity = np.array(data.draw(st.lists(st.floats(0.1, 10), min_size=5, max_size=5)))
    routes = data.draw(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=4), min_size=1, max_size=12))
    crossings = np.array([np.bincount(route, minlength=5) for route in routes])
    offset = np.cumsum([0, *(len(route) for route in routes)])
    rates = max_min_rates(offset, np.concatenate(routes), capacity)
    load = rates @ crossings
    assert (load <= capacity * (1 + 1e-12)).all()
    full = load >= capacity * (1 - 1e-12)
    for rate, crossed in zip(rates, crossings > 0, strict=True):
        highest = np.array([rates[crossings[:, r] > 0].max(initial=0) for r in range(5)])
        assert (full & crossed & (highest <= rate * (1 + 1e-12))).any()


def test_the_loops_are_the_same_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (kernel, sharing_kernel):
        for name in dir(module):
            loop = getattr(module, name)
            if hasattr(loop, "py_func"):
                monkeypatch.setattr(module, name, loop.py_func)
    sizes = [60, 1000, 60, 0, 12345]
    two = [Message([i % 2, 2], size, then=[Hop(3, 5)]) for i, size in enumerate(sizes)]
    both(shared_plan([*two, Message([0], 7, after=[0, 1])], [1, 2, 2.5, 0]))
