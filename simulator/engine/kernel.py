"""The compiled engine's inner loops: plain loops over a plan's columns, made fast by numba.

Without numba they are ordinary Python, slow but the same; the tests run them so, too.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

try:
    from numba import njit as njit
except ImportError:

    def njit(**_options: Any) -> Any:  # type: ignore[no-redef]
        """Leave a function as it is."""
        return lambda function: function


NONE: Final = -1
"""Nobody."""

APART, MEET, OVER = 0, 1, 2
"""What a pass finds: no two operations meet, some do, or the clock runs over."""

# scalars of a run that go on from call to call
GRANTED, QUEUED, NOW, LATE = 0, 1, 2, 3
STACK, READY, CHANGED, STAMP = 4, 5, 6, 7
SCALARS: Final = 8

_WITHOUT_WRAPPERS: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
# for what other loops alone call: without a way in from Python it compiles much faster
inner: Any = njit(cache=True, **_WITHOUT_WRAPPERS)


@njit(cache=True)
def pass_in_order(
    hop_offset,
    resource,
    hold,
    head,
    latency,
    gap,
    dependency_offset,
    dependency,
    arrival,
    grant,
    release,
    finish,
    longest,
):
    """One pass over the operations in the order of their ids, each granted the moment it arrives.

    Right only if no two meet: on every resource each is gone before the next comes, and they come at
    different instants (or neither holds it). Gives APART where that holds, MEET where it does not, OVER
    where the clock runs over.
    """
    operations = len(hop_offset) - 1
    resources = len(latency)
    gone = np.zeros(resources, dtype=np.int64)
    came = np.full(resources, -1, dtype=np.int64)
    held = np.zeros(resources, dtype=np.int64)
    for i in range(operations):
        front = np.int64(0)
        for e in range(dependency_offset[i], dependency_offset[i + 1]):
            front = max(front, finish[dependency[e]])
        tail = front
        for hop in range(hop_offset[i], hop_offset[i + 1]):
            r = resource[hop]
            now = front if head[hop] else tail
            if gone[r] > now or came[r] > now or (came[r] == now and (held[r] != 0 or hold[hop] != 0)):
                return MEET
            left = now + hold[hop]
            if head[hop]:
                left = max(left, tail)
            # past the last instant, or over the edge of 64 bits
            if left > longest or left < now or left + latency[r] < left or left + gap[r] < left:
                return OVER
            arrival[hop] = now
            grant[hop] = now
            release[hop] = left
            gone[r] = left + gap[r]
            came[r] = now
            held[r] = hold[hop]
            front = now + latency[r]
            tail = left + latency[r]
        finish[i] = tail
    return APART


@njit(cache=True)
def push_event(times, codes, size, time, code):
    """Put an event into the heap of those to come; its new size."""
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if times[above] < time or (times[above] == time and codes[above] <= code):
            break
        times[at] = times[above]
        codes[at] = codes[above]
        at = above
    times[at] = time
    codes[at] = code
    return size + 1


@njit(cache=True)
def pop_event(times, codes, size):
    """Take the earliest event, of equals the one of the lowest number, out of the heap; its new size."""
    size -= 1
    time, code = times[size], codes[size]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and (
            times[below + 1] < times[below]
            or (times[below + 1] == times[below] and codes[below + 1] < codes[below])
        ):
            below += 1
        if times[below] > time or (times[below] == time and codes[below] >= code):
            break
        times[at] = times[below]
        codes[at] = codes[below]
        at = below
    times[at] = time
    codes[at] = code
    return size


@njit(cache=True)
def _add_event(times, codes, size, time, code, now, memo_time, memo_code, following):
    """Put an event behind another of the same instant that is remembered, or into the heap; its new size."""
    # 30 bits times 32, so that nothing runs over in Python either
    slot = (((time ^ (time >> 17)) & 0x3FFFFFFF) * 2654435761 >> 8) & (len(memo_time) - 1)
    following[code] = NONE
    # what is due later has not been taken out since
    if time > now and memo_time[slot] == time:
        ahead = memo_code[slot]
        following[code] = following[ahead]
        following[ahead] = code
        return size
    memo_time[slot] = time
    memo_code[slot] = code
    return push_event(times, codes, size, time, code)


@njit(cache=True)
def dependents_of(dependency_offset, dependency):
    """Who waits for each operation, in columns like those of the dependencies."""
    operations = len(dependency_offset) - 1
    offset = np.zeros(operations + 1, dtype=np.int64)
    for e in range(len(dependency)):
        offset[dependency[e] + 1] += 1
    for i in range(operations):
        offset[i + 1] += offset[i]
    filled = offset[:-1].copy()
    waiting = np.empty(len(dependency), dtype=np.int32)
    for i in range(operations):
        for e in range(dependency_offset[i], dependency_offset[i + 1]):
            awaited = dependency[e]
            waiting[filled[awaited]] = i
            filled[awaited] += 1
    return offset, waiting


@njit(cache=True)
def event_loop(
    hop_offset,
    resource,
    hold,
    head,
    latency,
    gap,
    dependent_offset,
    dependent,
    arrival,
    grant,
    release,
    missing,
    position,
    came,
    times,
    codes,
    memo_time,
    memo_code,
    following,
    first,
    last,
    before,
    behind,
    next_off,
    last_off,
    free_at,
    started,
    due,
    scalars,
    limit,
    longest,
):
    """Instants in rounds, until `limit` more hops are granted or nothing is left; True where there is more.

    Of an instant, all operations move on first, and what they start; then each resource that is due
    grants its first waiter. What that brings at once is the next round.

    Operations leave a resource in the order in which it was granted to them, so that of those that
    are off, under its latency, only the next is an event to come (twice the number of the resource);
    another is that the resource is to be looked at (twice its number, and one). Where ranks go in
    step, many are due at one instant: the heap holds the first, and the others follow it.
    """
    events, memo = (times, codes), (memo_time, memo_code, following)
    size = scalars[QUEUED]
    stop = scalars[GRANTED] + limit
    if scalars[NOW] == NONE:
        stack = 0
        for i in range(len(missing) - 1, -1, -1):
            if missing[i] == 0:
                started[stack] = i
                stack += 1
        now = np.int64(0)
    else:
        stack = 0
        now = times[0] if size else np.int64(0)
    ready, next_code = 0, NONE
    while True:
        # (a) settle
        while True:
            if stack > 0:
                stack -= 1
                i = started[stack]
                hop = hop_offset[i]
            elif next_code != NONE or (size > 0 and times[0] == now):
                if next_code == NONE:
                    next_code = codes[0]
                    size = pop_event(times, codes, size)
                code = next_code
                next_code = following[code]
                r = code >> 1
                if code & 1:
                    due[ready] = r
                    ready += 1
                    continue
                i = next_off[r]
                next_off[r] = behind[i]
                if behind[i] != NONE:
                    size = _add_event(*events, size, came[behind[i]], code, now, *memo)
                hop = position[i] + 1
            else:
                break
            if hop < hop_offset[i + 1]:
                position[i] = hop
                came[i] = now
                r = resource[hop]
                if first[r] == NONE:
                    if free_at[r] > now:
                        size = _add_event(*events, size, free_at[r], 2 * r + 1, now, *memo)
                    else:
                        due[ready] = r
                        ready += 1
                # a queue is in the order (arrival, operation); nobody in it has arrived later
                ahead = last[r]
                if first[r] == NONE:
                    ahead = NONE
                after = NONE
                while ahead != NONE and ahead > i and came[ahead] == now:
                    after = ahead
                    ahead = before[ahead]
                before[i] = ahead
                behind[i] = after
                if ahead == NONE:
                    first[r] = i
                else:
                    behind[ahead] = i
                if after == NONE:
                    last[r] = i
                else:
                    before[after] = i
                continue
            # the lowest number is started first
            for e in range(dependent_offset[i + 1] - 1, dependent_offset[i] - 1, -1):
                d = dependent[e]
                missing[d] -= 1
                if missing[d] == 0:
                    started[stack] = d
                    stack += 1
        # (b) grant
        if ready == 0:
            if size == 0:
                break
            now = times[0]
            if scalars[GRANTED] >= stop:
                break
            continue
        scalars[GRANTED] += ready
        for k in range(ready):
            r = due[k]
            i = first[r]
            hop = position[i]
            left = now + hold[hop]
            if head[hop]:
                left = max(left, release[hop - 1] + latency[resource[hop - 1]])
            if left > longest or left < now or left + latency[r] < left or left + gap[r] < left:
                scalars[LATE] = 1
                break
            arrival[hop] = came[i]
            grant[hop] = now
            release[hop] = left
            free_at[r] = left + gap[r]
            first[r] = behind[i]
            if first[r] != NONE:
                before[first[r]] = NONE
                size = _add_event(*events, size, free_at[r], 2 * r + 1, now, *memo)
            leaves = now if hop + 1 < hop_offset[i + 1] and head[hop + 1] else left
            # from now on: when it is through
            came[i] = leaves + latency[r]
            behind[i] = NONE
            if next_off[r] == NONE:
                next_off[r] = i
                size = _add_event(*events, size, came[i], 2 * r, now, *memo)
            else:
                behind[last_off[r]] = i
            last_off[r] = i
        ready = 0
        if scalars[LATE]:
            break
    scalars[QUEUED] = size
    scalars[NOW] = now
    return size > 0 and scalars[LATE] == 0
