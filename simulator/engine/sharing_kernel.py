"""The compiled engine's inner loops for plans with flows."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from simulator.engine import sharing
from simulator.engine.kernel import CHANGED, GRANTED, LATE, NONE, NOW, READY, STACK, STAMP, inner, njit
from simulator.engine.row_kernel import line_up, start_dependents, start_first, take_first
from topologies.clock import LONGEST

DELAYED: Final = -1
FLOWING: Final = -2
"""Where an operation stands that is not at a hop: before its flow, and in it."""

NEVER: Final = np.iinfo(np.int64).max

left_to_send = inner(sharing.left_to_send)
end_of_flow = inner(sharing.end_of_flow)


class Motion(NamedTuple):
    """A plan with flows under way; `compiled_sharing` says what its rows hold.

    `due` is a tournament of what comes next: its leaves are the instants of all operations, then of
    all resources, and above each two stands the earlier one. `started`, `ready`, `moved`, `found`
    and `touched` are lists to fill.
    """

    operations: Any
    resources: Any
    flows: Any
    hops: Any
    times: Any
    dependents: Any
    due: Any
    started: Any
    ready: Any
    moved: Any
    found: Any
    touched: Any
    scalars: Any


@inner
def _set_due(due, leaf, time):
    """Set the instant of a leaf, and what stands above it."""
    at = leaf + (len(due) >> 1)
    due[at] = time
    at >>= 1
    while at > 0:
        earlier = min(due[2 * at], due[2 * at + 1])
        if due[at] == earlier:
            break
        due[at] = earlier
        at >>= 1


@inner
def _take_due(due):
    """Take the earliest instant out, of equals the one of the lowest leaf; that leaf."""
    half = len(due) >> 1
    at = 1
    while at < half:
        at *= 2
        if due[at] != due[1]:
            at += 1
    _set_due(due, at - half, NEVER)
    return at - half


@inner
def _mark_changed(run, r):
    """Remember that a flow over a resource has started or ended."""
    if run.resources[r].marked != run.scalars[STAMP]:
        run.resources[r].marked = run.scalars[STAMP]
        run.found[run.scalars[CHANGED]] = r
        run.scalars[CHANGED] += 1


@inner
def _begin(run, i, now):
    """Begin an operation: with its flow's delay, or with its first hop."""
    operation, flow = run.operations[i], run.flows[i]
    if flow.first == flow.end:
        _walk_on(run, i, flow.end, now)
    elif operation.delay > LONGEST - now:
        run.scalars[LATE] = 1
    else:
        for h in range(flow.first, flow.end):
            run.times[h].arrival = now
            run.times[h].grant = now + operation.delay
        operation.position = DELAYED
        _set_due(run.due, i, now + operation.delay)


@inner
def _start_flow(run, i, now):
    """Put a flow on its resources; without bytes it ends at once."""
    operation = run.operations[i]
    operation.position = FLOWING
    operation.since = now
    if operation.left == 0:
        _set_due(run.due, i, now)
        return
    for h in range(run.flows[i].first, run.flows[i].end):
        hop = run.hops[h]
        resource = run.resources[hop.resource]
        hop.before = NONE
        hop.behind = resource.crossing
        if hop.behind != NONE:
            run.hops[hop.behind].before = h
        resource.crossing = h
        resource.crossings += 1
        _mark_changed(run, hop.resource)


@inner
def _end_flow(run, i, now):
    """Take a flow off its resources, and let its operation go on."""
    flow, rate = run.flows[i], run.operations[i].rate
    for h in range(flow.first, flow.end):
        hop = run.hops[h]
        run.times[h].release = now
        # what had no bytes was never there
        if rate > 0:
            resource = run.resources[hop.resource]
            if hop.before == NONE:
                resource.crossing = hop.behind
            else:
                run.hops[hop.before].behind = hop.behind
            if hop.behind != NONE:
                run.hops[hop.behind].before = hop.before
            resource.crossings -= 1
            _mark_changed(run, hop.resource)
    run.scalars[GRANTED] += flow.end - flow.first
    _walk_on(run, i, flow.end, now)


@inner
def _walk_on(run, i, h, now):
    """Queue an operation for its next hop; after the last one, start what waited for it alone."""
    operation = run.operations[i]
    if h < operation.end:
        operation.position = h
        operation.came = now
        run.times[h].arrival = now
        r = run.hops[h].resource
        resource = run.resources[r]
        if resource.first == NONE:
            _look_at(run, r, max(resource.free_at, now), now)
        line_up(run, i, resource)
        return
    start_dependents(run, i)


@inner
def _look_at(run, r, time, now):
    """Have a resource grant its first waiter: in this instant's next round, or at a later instant."""
    if time > now:
        _set_due(run.due, len(run.operations) + r, time)
    else:
        run.ready[run.scalars[READY]] = r
        run.scalars[READY] += 1


@inner
def _settle(run, now):
    """Move on all that is due now, and what that starts, until nothing is left."""
    operations = len(run.operations)
    while run.scalars[LATE] == 0:
        if run.scalars[STACK] > 0:
            run.scalars[STACK] -= 1
            _begin(run, run.started[run.scalars[STACK]], now)
        elif run.due[1] == now:
            leaf = _take_due(run.due)
            if leaf >= operations:
                _look_at(run, leaf - operations, now, now)
            elif run.operations[leaf].position == DELAYED:
                _start_flow(run, leaf, now)
            elif run.operations[leaf].position == FLOWING:
                _end_flow(run, leaf, now)
            else:
                _walk_on(run, leaf, run.operations[leaf].position + 1, now)
        else:
            break


@inner
def _grant_ready(run, now):
    """Let each resource that is free grant its first waiter."""
    ready = run.scalars[READY]
    run.scalars[READY] = 0
    run.scalars[GRANTED] += ready
    for k in range(ready):
        r = run.ready[k]
        resource = run.resources[r]
        i = take_first(run, resource)
        hop = run.times[run.operations[i].position]
        if hop.hold > LONGEST - now - resource.after:
            run.scalars[LATE] = 1
            return
        hop.grant = now
        hop.release = now + hop.hold
        resource.free_at = hop.release + resource.gap
        _set_due(run.due, i, hop.release + resource.latency)
        if resource.first != NONE:
            _set_due(run.due, len(run.operations) + r, resource.free_at)


@inner
def _spread_change(run):
    """Find all resources and flows that a change can reach; how many."""
    stamp = run.scalars[STAMP]
    resources, flows, k = run.scalars[CHANGED], 0, 0
    while k < resources:
        h = run.resources[run.found[k]].crossing
        k += 1
        while h != NONE:
            i = run.hops[h].operation
            flow = run.flows[i]
            if flow.marked != stamp:
                flow.marked = stamp
                flow.target = 0.0
                run.moved[flows] = i
                flows += 1
                for other in range(flow.first, flow.end):
                    r = run.hops[other].resource
                    if run.resources[r].marked != stamp:
                        run.resources[r].marked = stamp
                        run.found[resources] = r
                        resources += 1
            h = run.hops[h].behind
    return resources, flows


@inner
def _fill(run, found):
    """Rates of the flows over the resources found, as `sharing.max_min_rates` has them, to the bit."""
    for k in range(found):
        resource = run.resources[run.found[k]]
        resource.rising = resource.crossings
        resource.used = 0.0
    while True:
        level, kept = np.inf, 0
        for k in range(found):
            resource = run.resources[run.found[k]]
            if resource.rising > 0:
                resource.share = (resource.capacity - resource.used) / resource.rising
                level = min(level, resource.share)
                run.found[kept] = run.found[k]
                kept += 1
        found = kept
        if found == 0:
            return
        _freeze(run, found, level)


@inner
def _freeze(run, found, level):
    """Freeze the flows over the resources that have nothing left at this level."""
    touched = 0
    for k in range(found):
        if run.resources[run.found[k]].share != level:
            continue
        h = run.resources[run.found[k]].crossing
        while h != NONE:
            flow = run.flows[run.hops[h].operation]
            if flow.target == 0.0:
                flow.target = level
                for other in range(flow.first, flow.end):
                    r = run.hops[other].resource
                    if run.resources[r].frozen == 0:
                        run.touched[touched] = r
                        touched += 1
                    run.resources[r].frozen += 1
            h = run.hops[h].behind
    for k in range(touched):
        resource = run.resources[run.touched[k]]
        resource.used += resource.frozen * level
        resource.rising -= resource.frozen
        resource.frozen = 0


@inner
def _share_anew(run, now):
    """Give its rate and its end to every flow that the changes of this instant can reach."""
    found, flows = _spread_change(run)
    _fill(run, found)
    for k in range(flows):
        i = run.moved[k]
        operation, target = run.operations[i], run.flows[i].target
        # a flow whose rate stays keeps its end, to the femtosecond
        if target != operation.rate:
            operation.left = left_to_send(operation.left, operation.rate, now - operation.since)
            operation.rate = target
            operation.since = now
            _set_due(run.due, i, end_of_flow(now, operation.left, operation.rate))
    run.scalars[CHANGED] = 0
    run.scalars[STAMP] += 1


@njit(cache=True)
def flow_loop(run, limit):
    """Instants of a plan with flows, until `limit` more hops are granted or nothing is left; True where more.

    Of an instant, all that is due moves on, then resources grant, in rounds as in `event_loop`; when
    nothing of that is left, the flows share anew.
    """
    stop = run.scalars[GRANTED] + limit
    now = run.due[1]
    if run.scalars[NOW] == NONE:
        now = np.int64(0)
        start_first(run)
    while run.scalars[LATE] == 0:
        run.scalars[NOW] = now
        _settle(run, now)
        if run.scalars[READY] > 0:
            _grant_ready(run, now)
        elif run.scalars[CHANGED] > 0:
            _share_anew(run, now)
        elif run.due[1] == NEVER:
            return False
        elif run.due[1] > LONGEST:
            run.scalars[LATE] = 1
        elif run.scalars[GRANTED] >= stop:
            return True
        else:
            now = run.due[1]
    return False
