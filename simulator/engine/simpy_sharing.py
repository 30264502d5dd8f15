"""The reference engine of plans with flows: SimPy's, with a network that flows share.

An operation's flow takes its delay, then its bytes flow; the operation goes on with its other
hops, first come first served. Of an instant, the network shares anew after everything else, in an
event of a priority below the arbiter's.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import simpy

from simulator.engine.errors import TOO_LATE, PlanError
from simulator.engine.sharing import end_of_flow, flow_hops, left_to_send, max_min_rates
from simulator.engine.simpy_engine import LOWEST, Progress, _Later, _Run
from simulator.engine.timeline import Timeline
from topologies.clock import LONGEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.engine.plan import Flows, Plan

MOST_HOPS: Final = 1_000_000
"""Every start and end of a flow looks at all hops of all flows under way."""


@dataclass(slots=True, eq=False)
class _Flow:
    """A flow under way: what it had left `since` an instant, at which rate it goes on."""

    route: NDArray[np.integer]
    left: float
    ended: simpy.Event
    since: int
    rate: float = 0.0
    end: int = LONGEST + 1


class _Network:
    """The flows under way, and what they share."""

    def __init__(self, env: simpy.Environment, capacity: NDArray[np.float64]) -> None:
        self.env = env
        self.capacity = capacity
        self.flows: list[_Flow] = []
        self.changed = False

    def start(self, route: NDArray[np.integer], size: int) -> simpy.Event:
        """Event of the end of a flow of `size` bytes that starts now."""
        flow = _Flow(route, float(size), self.env.event(), int(self.env.now))
        self.flows.append(flow)
        self.change()
        return flow.ended

    def change(self) -> None:
        """Have the network share anew when all else of this instant is over."""
        if not self.changed:
            self.changed = True
            later = _Later(self.env)
            later.callbacks.append(self.share)
            later.happen(0, LOWEST + 1)

    def share(self, _event: simpy.Event) -> None:
        """Give every flow its rate, and look again when the first one ends."""
        self.changed = False
        if not self.flows:
            return
        now = int(self.env.now)
        routes = [flow.route for flow in self.flows]
        offset = np.cumsum([0, *(len(route) for route in routes)])
        rates = max_min_rates(offset, np.concatenate(routes), self.capacity)
        for flow, rate in zip(self.flows, rates.tolist(), strict=True):
            # a flow whose rate stays keeps its end, to the femtosecond
            if rate != flow.rate:
                flow.left = left_to_send(flow.left, flow.rate, now - flow.since)
                flow.since, flow.rate = now, rate
                flow.end = end_of_flow(now, flow.left, rate)
        first = _Later(self.env)
        first.callbacks.append(self.finish)
        first.happen(min(flow.end for flow in self.flows) - now)

    def finish(self, _event: simpy.Event) -> None:
        """End every flow that is due; none is where rates have changed since this was asked for."""
        now = int(self.env.now)
        ended = [flow for flow in self.flows if flow.end == now]
        if ended:
            self.flows = [flow for flow in self.flows if flow.end != now]
            self.change()
        for flow in ended:
            flow.ended.succeed()


class _SharedRun(_Run):
    """A simulation in which operations begin with a flow."""

    def __init__(self, plan: Plan, flows: Flows, progress: Progress | None) -> None:
        self.size = flows.bytes.tolist()
        self.delay = flows.delay.tolist()
        self.shared = flow_hops(plan).tolist()
        self.route = plan.resource
        super().__init__(plan, progress)
        self.network = _Network(self.env, flows.capacity)

    def operate(self, operation: int) -> Generator[simpy.Event, None, None]:
        """Process of an operation: flow, walk the other hops, then release what depends on it."""
        first, shared = self.hop_offset[operation], self.shared[operation]
        if shared:
            yield from self.flow(operation, slice(first, first + shared))
        for hop in range(first + shared, self.hop_offset[operation + 1]):
            walked = _Later(self.env)
            self.arrive(operation, hop, walked)
            yield walked
        self.finish(operation)

    def flow(self, operation: int, hops: slice) -> Generator[simpy.Event, None, None]:
        """Take the delay, then flow until the last byte is through."""
        begun, shared = self.now(), self.shared[operation]
        if begun + self.delay[operation] > LONGEST:
            raise PlanError(TOO_LATE)
        if self.delay[operation]:
            yield self.env.timeout(self.delay[operation])
        started = self.now()
        if self.size[operation]:
            yield self.network.start(self.route[hops], self.size[operation])
        self.arrival[hops] = [begun] * shared
        self.grant[hops] = [started] * shared
        self.release[hops] = [self.now()] * shared
        self.count(shared)


def run_simpy_sharing(plan: Plan, flows: Flows, progress: Progress | None = None) -> Timeline:
    """Run a plan with flows on SimPy.

    Parameters
    ----------
    plan : Plan
    flows : Flows
        The plan's.
    progress : callable, optional
        Called now and then with (hops granted, hops in all).

    Raises
    ------
    PlanError
        If the clock runs past 2.5 hours, or the plan is too large.
    """
    if plan.hops > MOST_HOPS:
        raise PlanError(
            f"the plan has {plan.hops:,} hops; the simpy engine takes up to {MOST_HOPS:,} of fair_share"
        )
    run = _SharedRun(plan, flows, progress)
    run.env.run()
    if max(run.release, default=0) > LONGEST:
        raise PlanError(TOO_LATE)
    arrival, grant, release = (np.array(c, dtype=np.int64) for c in (run.arrival, run.grant, run.release))
    return Timeline(plan, arrival, grant, release, engine="simpy")
