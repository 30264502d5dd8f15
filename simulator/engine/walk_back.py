"""The walk back from a finish through what it waited for: a plain loop, one step after the other.

It is the same in Python and compiled; its columns are the data of arrays, which Python reads fast, or
arrays. What it calls gets the few columns that it needs, since each costs at every call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from simulator.engine.path_parts import LATENCY, OVERHEAD, PARTS, QUEUEING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column: TypeAlias = NDArray[Any] | memoryview[Any]

FLOW: Final = len(PARTS)
"""The bytes of a flow: what they take alone, then queueing."""

NONE: Final = -1
"""Nobody."""

DONE, FULL = -1, -2
"""Why a walk stops: it is at the start, or there is no room for what it finds."""

# where a walk is: at the release of a hop of an operation, or at its grant; since when it stands in a
# queue, who stands in which; how many segments it has found
HOP, OPERATION, RELEASED, SINCE, QUEUED, QUEUE, SIZE = range(7)
STATE: Final = 7

FIELDS: Final = 5
"""Of a segment: operation, resource, part, begin and end."""

Wait: TypeAlias = tuple[int, int, int]
"""Since when the walk stands in a queue, which operation stands there, and for which resource."""


class Walk(NamedTuple):
    """A walk under way, in columns.

    Of a resource, holding it is `part`, of which the first `overhead` fs are overhead; `fixed` fs is the
    latency before a flow over it. `offset`, `order`, `rooms` and `rooms_end` are those of `Occupants`.
    `ends` are those of operations without hops, plus 1; 0 where unknown. `found` has the fields of one
    segment after the other, the last one first.
    """

    hop_offset: Column
    resource: Column
    hold: Column
    head: Column
    dependency_offset: Column
    dependency: Column
    latency: Column
    gap: Column
    part: Column
    overhead: Column
    fixed: Column
    capacity: Column
    arrival: Column
    grant: Column
    release: Column
    offset: Column
    order: Column
    rooms: Column
    rooms_end: Column
    ends: Column
    state: Column
    found: Column


def walk_back(walk: Walk, most: int) -> int:
    """Go on until at the start, or until more than `most` segments are found; why it stops.

    That is DONE, FULL, or a resource whose hops are to be sorted first.
    """
    hop_offset, resource, hold, head = walk.hop_offset, walk.resource, walk.hold, walk.head
    dependency_offset, dependency, ends = walk.dependency_offset, walk.dependency, walk.ends
    latency, gap, part, overhead = walk.latency, walk.gap, walk.part, walk.overhead
    fixed, capacity, found, state = walk.fixed, walk.capacity, walk.found, walk.state
    arrival, grant, release = walk.arrival, walk.grant, walk.release
    offset, order, rooms, rooms_end = walk.offset, walk.order, walk.rooms, walk.rooms_end
    hop, operation, released, size = state[HOP], state[OPERATION], state[RELEASED], state[SIZE]
    wait = state[SINCE], state[QUEUED], state[QUEUE]
    why = DONE
    while True:
        if size > most:
            why = FULL
            break
        r, granted, gone = resource[hop], grant[hop], release[hop]
        if released and not capacity[r]:
            held = granted + hold[hop]
            tail = release[hop - 1] + latency[resource[hop - 1]] if head[hop] else 0
            if held < gone == tail:
                hop -= 1
            else:
                # what keeps it past its hold is that there is no room further on
                held = min(held, gone)
                bytes_from = min(held, granted + overhead[r])
                size = add(found, size, wait, operation, r, QUEUEING, held, gone)
                size = add(found, size, wait, operation, r, part[r], bytes_from, held)
                size = add(found, size, wait, operation, r, OVERHEAD, granted, bytes_from)
                released = 0
                continue
        else:
            first = hop_offset[operation]
            if capacity[r]:
                # all hops of a flow are one step
                hop = first
                slow = slowest(capacity, resource, first, hop_offset[operation + 1])
                size = add(found, size, wait, operation, slow, FLOW, granted, gone)
                for other in range(hop_offset[operation + 1] - 1, first - 1, -1):
                    r = resource[other]
                    if capacity[r]:
                        begin = granted - fixed[r]
                        size = add(found, size, wait, operation, r, LATENCY, begin, granted)
                        granted = begin - overhead[r]
                        size = add(found, size, wait, operation, r, OVERHEAD, granted, begin)
            elif arrival[hop] < granted:
                if rooms_end[r] == NONE:
                    why = r
                    break
                if arrival[hop] < wait[0]:
                    wait = arrival[hop], operation, r
                places = offset[r], offset[r + 1], rooms_end[r]
                other = occupant(release, grant, order, rooms, places, granted - gap[r], granted)
                if other != NONE:
                    hop, operation, released = other, last_up_to(hop_offset, other), 1
                    size = add(found, size, wait, operation, resource[hop], OVERHEAD, release[hop], granted)
                    continue
                size = add(found, size, wait, operation, r, QUEUEING, arrival[hop], granted)
            if hop > first:
                released = 0 if head[hop] else 1
                hop -= 1
            else:
                if arrival[hop] == 0:
                    break
                times = release, latency, ends
                operation = last_awaited(
                    operation, hop_offset, resource, dependency_offset, dependency, times
                )
                hop, released = hop_offset[operation + 1] - 1, 1
        since = release[hop] if released else grant[hop]
        r = resource[hop]
        size = add(found, size, wait, operation, r, LATENCY, since, since + latency[r])
    state[HOP], state[OPERATION], state[RELEASED], state[SIZE] = hop, operation, released, size
    state[SINCE], state[QUEUED], state[QUEUE] = wait
    return why


def slowest(capacity: Column, resource: Column, first: int, after: int) -> int:
    """The slowest resource of a flow, the first of equals."""
    slow = resource[first]
    for hop in range(first + 1, after):
        if 0 < capacity[resource[hop]] < capacity[slow]:
            slow = resource[hop]
    return int(slow)


def occupant(
    release: Column,
    grant: Column,
    order: Column,
    rooms: Column,
    places: tuple[int, int, int],
    free: int,
    granted: int,
) -> int:
    """The hop whose end let another be granted; NONE where it waited for nobody that can be told.

    It had the resource before, and let it go when it was free; or it is the next hop of one that had
    room at the far end. Both are looked for in the resource's places.
    """
    first, after, rooms_after = places
    # of those that ended then, the first held it for longest, and some for no time
    place = first_from(release, order, first, after, free)
    if place < after and release[order[place]] == free and grant[order[place]] < granted:
        return int(order[place])
    place = first_from(release, rooms, first, rooms_after, granted)
    if place < rooms_after and release[rooms[place]] == granted:
        return int(rooms[place])
    return NONE


def first_from(release: Column, hops: Column, low: int, high: int, moment: int) -> int:
    """Place of the first of the hops from `low` to `high` that was released at a moment or later."""
    while low < high:
        middle = (low + high) // 2
        if release[hops[middle]] < moment:
            low = middle + 1
        else:
            high = middle
    return low


def last_up_to(column: Column, value: int) -> int:
    """Place of the last in a rising column, which begins with 0, that is no more than a value."""
    low, high = 0, len(column)
    while low + 1 < high:
        middle = (low + high) // 2
        if column[middle] <= value:
            low = middle
        else:
            high = middle
    return low


def last_awaited(
    operation: int,
    hop_offset: Column,
    resource: Column,
    dependency_offset: Column,
    dependency: Column,
    times: tuple[Column, Column, Column],
) -> int:
    """The operation with hops that one waited for last, the first of equals: through those without hops."""
    release, latency, ends = times
    asked = [operation]
    while True:
        at, before = asked[-1], len(asked)
        last, latest = at, -1
        for e in range(dependency_offset[at], dependency_offset[at + 1]):
            awaited = dependency[e]
            hop = hop_offset[awaited + 1] - 1
            if hop_offset[awaited] <= hop:
                end = release[hop] + latency[resource[hop]]
            else:
                end = ends[awaited] - 1
                if end < 0:
                    asked.append(awaited)
            if end > latest:
                last, latest = awaited, end
        if len(asked) > before:
            continue
        asked.pop()
        if len(asked) > 0:
            ends[at] = max(latest, 0) + 1
        elif hop_offset[last] < hop_offset[last + 1]:
            return int(last)
        else:
            asked.append(last)


def add(
    found: Column, size: int, wait: Wait, operation: int, resource: int, part: int, begin: int, end: int
) -> int:
    """Put a segment before those that were found; of what is within a wait, it is the waiting.

    How many there are then.
    """
    since, queued, queue = wait
    since = max(begin, since)
    if since < end:
        size = put(found, size, queued, queue, QUEUEING, since, end)
        end = since
    if begin < end:
        size = put(found, size, operation, resource, part, begin, end)
    return size


def put(found: Column, size: int, operation: int, resource: int, part: int, begin: int, end: int) -> int:
    """Put a segment before the others, or let the first of them begin earlier; how many there are then."""
    at = FIELDS * size
    if size > 0 and found[at - 5] == operation and found[at - 4] == resource and found[at - 3] == part:
        found[at - 2] = begin
        return size
    found[at] = operation
    found[at + 1] = resource
    found[at + 2] = part
    found[at + 3] = begin
    found[at + 4] = end
    return size + 1


STEPS: Final = (slowest, occupant, first_from, last_up_to, last_awaited, add, put)
"""What the walk calls."""
