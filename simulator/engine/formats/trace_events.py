"""Traces in the JSON of "Trace Event Format" (Google, 2016), which Perfetto and Chrome's tracing show.

A slice is a begin and an end event, not a complete event with a `dur`: Perfetto cuts `ts` and `dur` to
whole nanoseconds one by one, so that complete events that touch could overlap there, and it drops
what overlaps. Events are written in the order of time, the ends of an instant before its beginnings
and these in the order of the slices, as a flow's event belongs to the slice that was opened last.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import islice
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

About: TypeAlias = "Callable[[int], tuple[str, str]]"
"""Name of a slice, and what else is to be said of it, both as JSON."""

NONE: Final = -1

_TOGETHER: Final = 4096
_LEVEL: Final = 4

as_text: Final = json.JSONEncoder(separators=(",", ":")).encode
"""A value as JSON."""


@dataclass(frozen=True, slots=True)
class Track:
    """A line of slices.

    Attributes
    ----------
    group : int
        Position of its group.
    name : str
    """

    group: int
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Counter:
    """A number that changes with time.

    Attributes
    ----------
    group : int
        Position of its group.
    name, unit : str
        What it counts, and in what.
    time : ndarray of int64, shape (changes,)
        fs, rising.
    value : ndarray of int64, shape (changes,)
        From then on.
    """

    group: int
    name: str
    unit: str
    time: NDArray[np.int64]
    value: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Slices:
    """What is drawn on tracks. On one track slices do not overlap, but those of no time may be inside.

    Attributes
    ----------
    track : ndarray of int64, shape (slices,)
    begin, end : ndarray of int64, shape (slices,)
        fs.
    flow : ndarray of int64, shape (slices,)
        Number of the flow that goes through a slice, or NONE; those of one stand side by side, and it
        goes from the first to the last.
    source : ndarray of int64, shape (flows,)
        An earlier slice, begun no later, that a flow comes from, or NONE.
    about : callable
    """

    track: NDArray[np.int64]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    flow: NDArray[np.int64]
    source: NDArray[np.int64]
    about: About

    def __len__(self) -> int:
        return len(self.track)


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """Slices on tracks in groups, and counters.

    Attributes
    ----------
    groups : sequence of str
        Names, in the order in which they are shown; those without tracks are not.
    tracks : sequence of Track
        In the order in which they are shown.
    slices : Slices
    counters : iterable of Counter
    """

    groups: Sequence[str]
    tracks: Sequence[Track]
    slices: Slices
    counters: Iterable[Counter] = ()


def write_trace(trace: Trace, path: Path) -> None:
    """Write a trace, compressed; the same bytes every time.

    Parameters
    ----------
    trace : Trace
    path : pathlib.Path
        By custom it ends in `.json.gz`.
    """
    with (
        path.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", compresslevel=_LEVEL, fileobj=raw, mtime=0) as packed,
        TextIOWrapper(packed, encoding="ascii", newline="\n") as stream,
    ):
        stream.write('{"traceEvents":[')
        events, before = trace_events(trace), "\n"
        while some := list(islice(events, _TOGETHER)):
            stream.write(before + ",\n".join(some))
            before = ",\n"
        stream.write("\n]}\n")


def trace_events(trace: Trace) -> Iterator[str]:
    """The events of a trace as JSON, a line each, a few at a time; times in us, exact to the femtosecond."""
    yield from _names(trace)
    yield from _slices(trace)
    for counter in trace.counters:
        yield from _counts(counter)


def lanes(begin: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.int64]:
    """Lane for each of some intervals in which it overlaps no other: the lowest that is free.

    Parameters
    ----------
    begin, end : ndarray of int64
        `begin` rises.

    >>> lanes(np.array([0, 1, 2, 5]), np.array([4, 2, 6, 7])).tolist()
    [0, 1, 1, 0]
    """
    free: list[int] = []
    found = []
    for since, until in zip(begin.tolist(), end.tolist(), strict=True):
        lane = next((lane for lane, time in enumerate(free) if time <= since), len(free))
        free[lane : lane + 1] = [until]
        found.append(lane)
    return np.array(found, dtype=np.int64)


def as_us(time: int) -> str:
    """Femtoseconds as microseconds, an exact decimal.

    >>> as_us(1_500), as_us(23_000_000_000)
    ('0.000001500', '23.000000000')
    """
    # twice as fast as to divide
    digits = f"{time:010d}"
    return f"{digits[:-9]}.{digits[-9:]}"


def _names(trace: Trace) -> Iterator[str]:
    for group in sorted({track.group for track in trace.tracks}):
        yield _name("process", trace.groups[group], group, f'"pid":{_pid(group)}')
    for number, track in enumerate(trace.tracks):
        yield _name("thread", track.name, number, _place(trace, number))


def _name(what: str, name: str, number: int, place: str) -> str:
    return (
        f'{{"name":"{what}_name","ph":"M",{place},"args":{{"name":{as_text(name)}}}}},\n'
        f'{{"name":"{what}_sort_index","ph":"M",{place},"args":{{"sort_index":{number}}}}}'
    )


def _pid(group: int) -> int:
    # 0 is the idle process
    return group + 1


def _place(trace: Trace, track: int) -> str:
    # a thread with the number of a process would be shown as its main one
    return f'"pid":{_pid(trace.tracks[track].group)},"tid":{len(trace.groups) + track + 1}'


def _slices(trace: Trace) -> Iterator[str]:
    """Begins and ends in order; a slice of no time is ended at once."""
    slices = trace.slices
    places = [_place(trace, number) for number in range(len(trace.tracks))]
    track, end = slices.track.tolist(), slices.end.tolist()
    step, starts = _flow_steps(slices), _flow_starts(slices)
    flow = slices.flow.tolist()
    for number, begins, time in _in_order(slices):
        at = f'"ts":{as_us(time)},{places[track[number]]}'
        if begins:
            name, args = slices.about(number)
            text = f'{{"name":{name},"ph":"B",{at},"args":{args}}}'
            if step[number]:
                text += _flow(step[number], flow[number], at)
            for started in starts.get(number, ()):
                text += _flow("s", started, at)
            yield text if time < end[number] else f'{text},\n{{"ph":"E",{at}}}'
        else:
            yield f'{{"ph":"E",{at}}}'


def _in_order(slices: Slices) -> Iterator[tuple[int, bool, int]]:
    """Slices as they begin and end, whether they begin, and when."""
    count, lasting = len(slices), np.flatnonzero(slices.begin < slices.end)
    time = np.concatenate([slices.begin, slices.end[lasting]])
    number = np.concatenate([np.arange(count), lasting])
    begins = np.arange(len(time)) < count
    order = np.lexsort((number, begins, time))
    return zip(*(column[order].tolist() for column in (number, begins, time)), strict=True)


def _flow_steps(slices: Slices) -> list[str]:
    """Event of its flow at each slice: it starts, steps or finishes; or nothing."""
    flow, comes = slices.flow, np.zeros(len(slices), dtype=bool)
    first = np.diff(flow, prepend=NONE) != 0
    last = np.diff(flow, append=NONE) != 0
    comes[flow != NONE] = slices.source[flow[flow != NONE]] != NONE
    starts = first & ~comes
    events = np.select([(flow == NONE) | (starts & last), starts, last], ["", "s", "f"], "t")
    kinds: list[str] = events.tolist()
    return kinds


def _flow_starts(slices: Slices) -> dict[int, list[int]]:
    """Flows that come from each slice."""
    starts: dict[int, list[int]] = {}
    # a flow that goes nowhere is none
    for flow in np.unique(slices.flow[slices.flow != NONE]).tolist():
        source = int(slices.source[flow])
        if source != NONE:
            starts.setdefault(source, []).append(flow)
    return starts


def _flow(step: str, number: int, at: str) -> str:
    """An event of a flow, after the one of its slice."""
    binds = ',"bp":"e"' if step == "f" else ""
    return f',\n{{"name":"then","cat":"flow","ph":"{step}","id":{number + 1},{at}{binds}}}'


def _counts(counter: Counter) -> Iterator[str]:
    name, unit = as_text(counter.name), as_text(counter.unit)
    for time, value in zip(counter.time.tolist(), counter.value.tolist(), strict=True):
        at = f'"ts":{as_us(time)},"pid":{_pid(counter.group)}'
        yield f'{{"name":{name},"ph":"C",{at},"args":{{{unit}:{value}}}}}'
