"""The reference engine of plans whose links have finite buffers: SimPy's, with rooms that fill up."""

from __future__ import annotations

from heapq import heappop
from typing import TYPE_CHECKING

import numpy as np
import simpy

from simulator.engine.buffers import HELD, check_nobody_waits
from simulator.engine.errors import TOO_LATE, PlanError
from simulator.engine.simpy_engine import Progress, _Later, _Resource, _Run, check_hops
from simulator.engine.timeline import Timeline
from topologies.clock import LONGEST

if TYPE_CHECKING:
    from simulator.engine.plan import Buffers, Plan


class _BufferedRun(_Run):
    """A simulation in which a resource is granted only with room at its far end."""

    def __init__(self, plan: Plan, buffers: Buffers, progress: Progress | None) -> None:
        super().__init__(plan, progress)
        self.number = plan.resource.tolist()
        self.room = buffers.room.tolist()
        self.need = buffers.need.tolist()
        self.reach = buffers.reach.tolist()
        self.overhead = buffers.overhead.tolist()
        self.bytes_take = (plan.hold - buffers.overhead).tolist()
        self.drain = buffers.drain.tolist()
        self.arrival = [-1] * plan.hops
        self.grant = [-1] * plan.hops

    def look(self, resource: _Resource, time: int) -> None:
        """Put a resource on the arbiter's agenda, unless nobody knows when it is free."""
        if time < HELD:
            super().look(resource, time)

    def arbitrate(self, _event: simpy.Event) -> None:
        """Grant every resource that is free to its first waiter, if there is room for that one."""
        now = self.now()
        granted = 0
        # a resource may be due because it is free and because there is room, and still grants once
        for resource in dict.fromkeys(self.agenda.pop(now)):
            if not resource.waiting or resource.free_at > now:
                continue
            _, operation, hop, walked = resource.waiting[0]
            if self.need[hop] <= self.room[self.number[hop]]:
                heappop(resource.waiting)
                self.begin(operation, hop, walked)
                granted += 1
        self.count(granted)

    def begin(self, operation: int, hop: int, walked: _Later) -> None:
        """Grant a hop, let go of all that waited to know when, and send the operation on."""
        now, first = self.now(), self.hop_offset[operation]
        resource = self.resource[hop]
        self.room[self.number[hop]] -= self.need[hop]
        resource.free_at = HELD
        self.grant[hop] = now
        self.release[hop] = now + self.hold[hop]
        held, slowest = hop - 1, hop
        while held >= first and hop - held <= self.reach[held]:
            if self.drain[held] > self.drain[slowest]:
                slowest = held
            rest = self.bytes_take[slowest] - (hop - held) * self.drain[slowest]
            self.release[held] = max(self.release[held], now + self.overhead[hop] + rest)
            held -= 1
        for known in range(held + 1, hop + 1):
            if known + self.reach[known] == hop:
                self.let_go(known, first)
        last = hop + 1 == self.hop_offset[operation + 1]
        leaves = now if not last and self.head[hop + 1] else self.release[hop]
        walked.happen(leaves + resource.latency - now)

    def let_go(self, hop: int, first: int) -> None:
        """Settle when a hop is released, and what it then gives back."""
        now, resource = self.now(), self.resource[hop]
        if self.head[hop]:
            tail = self.release[hop - 1] + self.resource[hop - 1].latency
            self.release[hop] = max(self.release[hop], tail)
        # a part of a hold, rounded on its own, may seem to end a moment ago
        release = self.release[hop] = max(self.release[hop], now)
        if release > LONGEST:
            raise PlanError(TOO_LATE)
        resource.free_at = release + resource.gap
        if resource.waiting:
            self.look(resource, resource.free_at)
        if hop > first and self.need[hop - 1]:
            back = _Later(self.env)
            back.callbacks.append(lambda _event: self.give_back(hop - 1))
            back.happen(release - now)

    def give_back(self, hop: int) -> None:
        """Give back the room that a hop took."""
        resource = self.resource[hop]
        self.room[self.number[hop]] += self.need[hop]
        if resource.waiting and resource.free_at <= self.now():
            self.look(resource, self.now())


def run_simpy_buffers(plan: Plan, buffers: Buffers, progress: Progress | None = None) -> Timeline:
    """Run a plan with finite buffers on SimPy.

    Parameters
    ----------
    plan : Plan
    buffers : Buffers
        The plan's.
    progress : callable, optional
        Called now and then with (hops granted, hops in all).

    Raises
    ------
    PlanError
        If the clock runs past 2.5 hours, operations wait for each other's buffers, or the plan is
        too large.
    """
    check_hops(plan)
    run = _BufferedRun(plan, buffers, progress)
    run.env.run()
    # where messages wait for each other, a release that is too late may never come
    if run.env.now > LONGEST or max(run.release, default=0) > LONGEST:
        raise PlanError(TOO_LATE)
    arrival, grant, release = (np.array(c, dtype=np.int64) for c in (run.arrival, run.grant, run.release))
    check_nobody_waits(plan, buffers, arrival, grant)
    return Timeline(plan, arrival, grant, release, engine="simpy")
