"""The order of the events of a workload, and those that wait for each other for ever."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from simulator.llm.workload.events import Event


def in_order(events: Sequence[Event]) -> Iterator[int]:
    """Events, each after those that it waits for; else by the number of their node, then by rank.

    Raises
    ------
    FormatError
        If some wait for each other.
    """
    left = [len(event.after) for event in events]
    waiting: list[list[int]] = [[] for _ in events]
    for number, event in enumerate(events):
        for other in event.after:
            waiting[other].append(number)
    ready = [(event.key, number) for number, event in enumerate(events) if not left[number]]
    heapify(ready)
    done = 0
    while ready:
        number = heappop(ready)[1]
        done += 1
        yield number
        for other in waiting[number]:
            left[other] -= 1
            if not left[other]:
                heappush(ready, (events[other].key, other))
    if done < len(events):
        _refuse_circle(events, {number: None for number, count in enumerate(left) if count})


def _refuse_circle(events: Sequence[Event], stuck: Mapping[int, None]) -> NoReturn:
    """Say who waits for whom, round and round; each of those that are stuck waits for another of them."""
    path: dict[int, None] = {}
    number = next(iter(stuck))
    while number not in path:
        path[number] = None
        number = next(other for other in events[number].after if other in stuck)
    circle = list(path)[list(path).index(number) :]
    parts = [events[one].parts[0] for one in circle]
    words = [f"node {part.node.id} of rank {part.rank}" for part in parts]
    shown = [*words[:4], "..."] if len(words) > 5 else words
    calls = any(part.node.control for part in parts)
    hint = '; with "control: false" nodes wait for their data alone' if calls else ""
    raise parts[0].wrong(f"waits for itself: {', which waits for '.join([*shown, words[0]])}{hint}")
