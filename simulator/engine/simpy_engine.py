"""The reference engine: one SimPy process per operation, and one arbiter per instant.

An instant runs in rounds. First everything that is due now settles: finishes, the releases of
dependents, arrivals at resources. SimPy's ordinary events do that. Then the arbiter, an event of
the lowest priority, lets each free resource grant at most one waiter: the lowest (arrival,
operation, hop). What that causes at the same instant belongs to the next round.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Final, cast

import numpy as np
import simpy

from simulator.engine.errors import TOO_LATE, PlanError
from simulator.engine.timeline import Timeline
from topologies.clock import LONGEST

if TYPE_CHECKING:
    from simulator.engine.plan import Plan

Progress = Callable[[int, int], None]
"""Told (hops granted, hops in all)."""

MOST_HOPS: Final = 10_000_000
"""About ten gigabytes of SimPy's objects, and minutes."""

REPORT_EVERY: Final = 1024

LOWEST: Final = 9
"""Priority after every ordinary event of an instant (SimPy's own are 0 and 1)."""


class _Later(simpy.Event):
    """An event that is triggered now and happens after a delay, at a priority of its own."""

    def happen(self, delay: int, priority: int = 1) -> None:
        self._ok = True
        self._value = None
        self.env.schedule(self, priority, delay)  # type: ignore[arg-type]


class _Resource:
    """A first-come first-served resource: when it is free again, and who waits for it."""

    __slots__ = ("free_at", "gap", "latency", "waiting")

    def __init__(self, latency: int, gap: int) -> None:
        self.latency = latency
        self.gap = gap
        self.free_at = 0
        self.waiting: list[tuple[int, int, int, _Later]] = []


class _Run:
    """The state of one simulation."""

    def __init__(self, plan: Plan, progress: Progress | None) -> None:
        self.progress = progress
        self.granted = 0
        self.next_report = 0
        self.env = simpy.Environment()
        self.hop_offset = plan.hop_offset.tolist()
        self.hold = plan.hold.tolist()
        self.head = plan.head.tolist()
        resources = [
            _Resource(latency, gap)
            for latency, gap in zip(plan.resources.latency.tolist(), plan.resources.gap.tolist(), strict=True)
        ]
        self.resource = [resources[r] for r in plan.resource.tolist()]
        self.missing = np.diff(plan.dependency_offset).tolist()
        self.dependents = _dependents(plan)
        self.agenda: dict[int, list[_Resource]] = {}
        self.arrival = [0] * plan.hops
        self.grant = [0] * plan.hops
        self.release = [0] * plan.hops
        for operation, missing in enumerate(self.missing):
            if not missing:
                self.env.process(self.operate(operation))

    def now(self) -> int:
        """The instant, fs; all delays are whole, so SimPy's clock is too."""
        return cast("int", self.env.now)

    def operate(self, operation: int) -> Generator[simpy.Event, None, None]:
        """Process of an operation: walk the hops, then release what depends on it."""
        for hop in range(self.hop_offset[operation], self.hop_offset[operation + 1]):
            walked = _Later(self.env)
            self.arrive(operation, hop, walked)
            yield walked
        self.finish(operation)

    def finish(self, operation: int) -> None:
        """Start what has waited for the operation alone."""
        for dependent in self.dependents[operation]:
            self.missing[dependent] -= 1
            if not self.missing[dependent]:
                self.env.process(self.operate(dependent))

    def arrive(self, operation: int, hop: int, walked: _Later) -> None:
        """Queue at the hop's resource and have the arbiter look at it when it is free."""
        now = self.now()
        resource = self.resource[hop]
        self.arrival[hop] = now
        heappush(resource.waiting, (now, operation, hop, walked))
        if len(resource.waiting) == 1:
            self.look(resource, max(now, resource.free_at))

    def look(self, resource: _Resource, time: int) -> None:
        """Put a resource on the arbiter's agenda of an instant."""
        due = self.agenda.get(time)
        if due is None:
            self.agenda[time] = due = []
            arbiter = _Later(self.env)
            arbiter.callbacks.append(self.arbitrate)
            arbiter.happen(time - self.now(), LOWEST)
        due.append(resource)

    def arbitrate(self, _event: simpy.Event) -> None:
        """Grant every resource that is due now to its first waiter, and send that one on."""
        now = self.now()
        due = self.agenda.pop(now)
        if now > LONGEST:
            raise PlanError(TOO_LATE)
        self.count(len(due))
        for resource in due:
            _, operation, hop, walked = heappop(resource.waiting)
            release = now + self.hold[hop]
            if self.head[hop]:
                release = max(release, self.release[hop - 1] + self.resource[hop - 1].latency)
            self.grant[hop] = now
            self.release[hop] = release
            resource.free_at = release + resource.gap
            last = hop + 1 == self.hop_offset[operation + 1]
            leaves = now if not last and self.head[hop + 1] else release
            walked.happen(leaves + resource.latency - now)
            if resource.waiting:
                self.look(resource, resource.free_at)

    def count(self, granted: int) -> None:
        """Add to the hops granted, and tell now and then."""
        self.granted += granted
        if self.progress is not None and (self.granted >= self.next_report or self.granted == len(self.hold)):
            self.next_report = self.granted + REPORT_EVERY
            self.progress(self.granted, len(self.hold))


def _dependents(plan: Plan) -> list[list[int]]:
    dependents: list[list[int]] = [[] for _ in range(len(plan))]
    offset, dependency = plan.dependency_offset.tolist(), plan.dependency.tolist()
    for operation in range(len(plan)):
        for awaited in dependency[offset[operation] : offset[operation + 1]]:
            dependents[awaited].append(operation)
    return dependents


def check_hops(plan: Plan) -> None:
    """Refuse a plan that is too large for SimPy.

    Raises
    ------
    PlanError
    """
    if plan.hops > MOST_HOPS:
        raise PlanError(f"the plan has {plan.hops:,} hops; the simpy engine takes up to {MOST_HOPS:,}")


def run_simpy(plan: Plan, progress: Progress | None = None) -> Timeline:
    """Run a plan on SimPy.

    Parameters
    ----------
    plan : Plan
    progress : callable, optional
        Called now and then with (hops granted, hops in all).

    Raises
    ------
    PlanError
        If the clock runs past 2.5 hours, or the plan is too large.
    """
    check_hops(plan)
    run = _Run(plan, progress)
    run.env.run()
    if run.env.now > LONGEST:
        raise PlanError(TOO_LATE)
    arrival, grant, release = (np.array(c, dtype=np.int64) for c in (run.arrival, run.grant, run.release))
    return Timeline(plan, arrival, grant, release, engine="simpy")
