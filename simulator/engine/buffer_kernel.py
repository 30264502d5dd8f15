"""The compiled engine's inner loops for plans whose links have finite buffers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simulator.engine.buffers import HELD
from simulator.engine.kernel import (
    GRANTED,
    LATE,
    NONE,
    NOW,
    QUEUED,
    READY,
    STACK,
    inner,
    njit,
    pop_event,
    push_event,
)
from simulator.engine.row_kernel import line_up, start_dependents, start_first, take_first
from topologies.clock import LONGEST


class Crowd(NamedTuple):
    """A plan with buffers under way; `compiled_buffers` says what its rows hold.

    `times` and `codes` are a heap of what comes: an operation that has walked its hop (its number),
    a resource to look at (-1 - its number), or room that a hop gives back (operations + its
    number). `started` and `ready` are lists to fill.
    """

    operations: Any
    resources: Any
    hops: Any
    dependents: Any
    times: Any
    codes: Any
    started: Any
    ready: Any
    scalars: Any


@inner
def _come(run, time, code):
    run.scalars[QUEUED] = push_event(run.times, run.codes, run.scalars[QUEUED], time, code)


@inner
def _look_at(run, r):
    """Have a resource grant in this round, if it is free."""
    if run.resources[r].asked == 0:
        run.resources[r].asked = 1
        run.ready[run.scalars[READY]] = r
        run.scalars[READY] += 1


@inner
def _walk_on(run, i, h, now):
    """Queue an operation at its next hop; after the last one, start what waited for it alone."""
    operation = run.operations[i]
    if h < operation.end:
        operation.position = h
        operation.came = now
        run.hops[h].arrival = now
        r = run.hops[h].resource
        resource = run.resources[r]
        if resource.first == NONE:
            if resource.free_at <= now:
                _look_at(run, r)
            elif resource.free_at != HELD:
                _come(run, resource.free_at, -1 - r)
        line_up(run, i, resource)
        return
    start_dependents(run, i)


@inner
def _settle(run, now):
    """Move on all that is due now, and what that starts, until nothing is left."""
    operations = len(run.operations)
    while True:
        if run.scalars[STACK] > 0:
            run.scalars[STACK] -= 1
            i = run.started[run.scalars[STACK]]
            _walk_on(run, i, run.operations[i].begin, now)
        elif run.scalars[QUEUED] > 0 and run.times[0] == now:
            code = run.codes[0]
            run.scalars[QUEUED] = pop_event(run.times, run.codes, run.scalars[QUEUED])
            if code < 0:
                _look_at(run, -1 - code)
            elif code < operations:
                _walk_on(run, code, run.operations[code].position + 1, now)
            else:
                hop = run.hops[code - operations]
                resource = run.resources[hop.resource]
                resource.room += hop.need
                if resource.first != NONE and resource.free_at <= now:
                    _look_at(run, hop.resource)
        else:
            return


@inner
def _let_go(run, i, h, now):
    """Settle when a hop is released, and what it then gives back."""
    hop = run.hops[h]
    resource = run.resources[hop.resource]
    # a part of a hold, rounded on its own, may seem to end a moment ago
    left = max(hop.release, now)
    if hop.head != 0:
        left = max(left, run.hops[h - 1].release + run.resources[run.hops[h - 1].resource].latency)
    if left > LONGEST or left + resource.latency < left or left + resource.gap < left:
        run.scalars[LATE] = 1
        return
    hop.release = left
    resource.free_at = left + resource.gap
    if resource.first != NONE:
        _come(run, resource.free_at, -1 - hop.resource)
    if h > run.operations[i].begin and run.hops[h - 1].need > 0:
        _come(run, left, len(run.operations) + h - 1)


@inner
def _begin(run, r, now):
    """Grant a resource to its first waiter; let go of all that waited to know when, and send it on."""
    resource = run.resources[r]
    i = take_first(run, resource)
    operation = run.operations[i]
    h = operation.position
    hop = run.hops[h]
    if hop.hold > LONGEST - now:
        run.scalars[LATE] = 1
        return
    resource.room -= hop.need
    resource.free_at = HELD
    hop.grant = now
    hop.release = now + hop.hold
    held, slowest = h - 1, h
    while held >= operation.begin and h - held <= run.hops[held].reach:
        if run.hops[held].drain > run.hops[slowest].drain:
            slowest = held
        rest = run.hops[slowest].hold - run.hops[slowest].overhead - (h - held) * run.hops[slowest].drain
        run.hops[held].release = max(run.hops[held].release, now + hop.overhead + rest)
        held -= 1
    for known in range(held + 1, h + 1):
        if known + run.hops[known].reach == h and run.scalars[LATE] == 0:
            _let_go(run, i, known, now)
    leaves = hop.release
    if h + 1 < operation.end and run.hops[h + 1].head != 0:
        leaves = now
    _come(run, leaves + resource.latency, i)


@inner
def _grant_ready(run, now):
    """Let each resource that is free grant its first waiter, if there is room for that one."""
    ready = run.scalars[READY]
    run.scalars[READY] = 0
    for k in range(ready):
        r = run.ready[k]
        resource = run.resources[r]
        resource.asked = 0
        if resource.first == NONE or resource.free_at > now or run.scalars[LATE] != 0:
            continue
        if run.hops[run.operations[resource.first].position].need <= resource.room:
            run.scalars[GRANTED] += 1
            _begin(run, r, now)


@njit(cache=True)
def buffer_loop(run, limit):
    """Instants in rounds, until `limit` more hops are granted or nothing is left; True where more."""
    stop = run.scalars[GRANTED] + limit
    now = run.times[0] if run.scalars[QUEUED] > 0 else np.int64(0)
    if run.scalars[NOW] == NONE:
        now = np.int64(0)
        start_first(run)
    while run.scalars[LATE] == 0:
        run.scalars[NOW] = now
        _settle(run, now)
        if run.scalars[READY] > 0:
            _grant_ready(run, now)
        elif run.scalars[QUEUED] == 0:
            return False
        elif run.scalars[GRANTED] >= stop:
            return True
        else:
            now = run.times[0]
    return False
