"""The engine against a slow interpreter that is the contract's own words, one after the other."""

from __future__ import annotations

from itertools import pairwise, product

from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.engine.plan import Plan
from simulator.engine.simpy_engine import run_simpy
from tests.engine.plan_builder import Hop, Operation, Stamp, plan_of, stamps


class Interpreter:
    """Instants, and rounds within them, with nothing clever about it."""

    def __init__(self, plan: Plan) -> None:
        first = plan.hop_offset.tolist()
        awaited = plan.dependency_offset.tolist()
        self.walk = [range(a, b) for a, b in pairwise(first)]
        self.awaits = [plan.dependency[a:b].tolist() for a, b in pairwise(awaited)]
        self.resource = plan.resource.tolist()
        self.hold = plan.hold.tolist()
        self.head = plan.head.tolist()
        self.latency = [plan.resources.latency.tolist()[r] for r in self.resource]
        self.started: set[int] = set()
        self.finished: set[int] = set()
        self.finish_due: dict[int, int] = {}
        self.arrival_due: dict[tuple[int, int], int] = {}
        self.waiting: set[tuple[int, int, int]] = set()
        self.free_from = dict.fromkeys(range(len(plan.resources)), 0)
        self.arrival: dict[int, int] = {}
        self.grant: dict[int, int] = {}
        self.release: dict[int, int] = {}

    def run(self) -> list[Stamp]:
        now = 0
        while True:
            self.settle(now)
            while self.grant_once(now):
                self.settle(now)
            later = self.later(now)
            if not later:
                break
            now = min(later)
        assert len(self.finished) == len(self.walk)
        return [(self.arrival[h], self.grant[h], self.release[h]) for h in range(len(self.resource))]

    def settle(self, now: int) -> None:
        """(a) Every finish, every dependent's release, every arrival due now, until nothing is left."""
        while self.finishes(now) or self.starts(now) or self.arrivals(now):
            pass

    def finishes(self, now: int) -> bool:
        due = [operation for operation, time in self.finish_due.items() if time == now]
        for operation in due:
            del self.finish_due[operation]
            self.finished.add(operation)
        return bool(due)

    def starts(self, now: int) -> bool:
        ready = [
            operation
            for operation, awaited in enumerate(self.awaits)
            if operation not in self.started and self.finished.issuperset(awaited)
        ]
        for operation in ready:
            self.started.add(operation)
            if self.walk[operation]:
                self.arrival_due[operation, self.walk[operation][0]] = now
            else:
                self.finish_due[operation] = now
        return bool(ready)

    def arrivals(self, now: int) -> bool:
        due = [which for which, time in self.arrival_due.items() if time == now]
        for operation, hop in due:
            del self.arrival_due[operation, hop]
            self.arrival[hop] = now
            self.waiting.add((now, operation, hop))
        return bool(due)

    def grant_once(self, now: int) -> bool:
        """(b) Each free resource grants at most one waiter, the lowest (arrival, operation, hop)."""
        chosen = []
        for resource, free_from in self.free_from.items():
            waiters = [waiter for waiter in self.waiting if self.resource[waiter[2]] == resource]
            if free_from <= now and waiters:
                chosen.append(min(waiters))
        for waiter in chosen:
            self.waiting.remove(waiter)
            self.hold_it(waiter[1], waiter[2], now)
        return bool(chosen)

    def hold_it(self, operation: int, hop: int, now: int) -> None:
        release = now + self.hold[hop]
        if self.head[hop]:
            tail = self.release[hop - 1] + self.latency[hop - 1]
            release = max(release, tail)
        self.grant[hop], self.release[hop] = now, release
        self.free_from[self.resource[hop]] = release
        if hop == self.walk[operation][-1]:
            self.finish_due[operation] = release + self.latency[hop]
        elif self.head[hop + 1]:
            self.arrival_due[operation, hop + 1] = now + self.latency[hop]
        else:
            self.arrival_due[operation, hop + 1] = release + self.latency[hop]

    def later(self, now: int) -> list[int]:
        """Instants still to come at which something may happen."""
        times = [*self.finish_due.values(), *self.arrival_due.values(), *self.free_from.values()]
        return [time for time in times if time > now]


# few distinct values, zero among them, so that ties and zero delays are the rule
TIMES = (0, 0, 0, 1, 1, 2, 3)
HOPS = [Hop(*hop) for hop in product(range(6), TIMES, (False, True))]


@st.composite
def plans(draw: st.DrawFn, most: int = 24) -> Plan:
    """A random graph of 1 to `most` operations on 1 to 6 resources, each over 0 to 6 hops."""
    resources = draw(st.integers(1, 6))
    # one draw a hop, not three
    every = st.sampled_from([hop for hop in HOPS if hop.resource < resources])
    operations = []
    for number in range(draw(st.integers(1, most))):
        hops = draw(st.lists(every, max_size=6))
        if hops:
            hops[0] = Hop(hops[0].resource, hops[0].hold)
        earlier = st.integers(0, max(number - 1, 0))
        after = draw(st.lists(earlier, max_size=3 if number else 0, unique=True))
        operations.append(Operation(hops, after))
    return plan_of(operations, draw(st.lists(st.sampled_from(TIMES), min_size=resources, max_size=resources)))


@settings(max_examples=200, derandomize=True, deadline=None, database=None)
@given(plans())
def test_every_arrival_grant_and_release_is_the_contract_s(plan: Plan) -> None:
    timeline = run_simpy(plan)
    assert stamps(timeline) == Interpreter(plan).run()


@settings(max_examples=100, derandomize=True, deadline=None, database=None)
@given(plans(most=6))
def test_small_plans_too(plan: Plan) -> None:
    assert stamps(run_simpy(plan)) == Interpreter(plan).run()
