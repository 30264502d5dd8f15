"""A reader of traces that refuses what Perfetto or Chrome's tracing would drop, or show wrongly."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

FEMTOSECONDS = 10**9
"""In a microsecond."""

Place = tuple[int, int]
"""Process and thread."""


@dataclass(frozen=True)
class Slice:
    group: str
    track: str
    name: str
    begin: int
    end: int
    args: dict[str, Any]


@dataclass
class ReadTrace:
    """What a trace shows: slices as they begin, flows as the slices they bind to, counters by name."""

    slices: list[Slice] = field(default_factory=list)
    flows: dict[int, list[int]] = field(default_factory=dict)
    counters: dict[tuple[str, str], list[tuple[int, int]]] = field(default_factory=dict)

    def on(self, track: str) -> list[Slice]:
        return [one for one in self.slices if one.track == track]


def read_trace(path: Path) -> ReadTrace:
    data = path.read_bytes()
    # no flags (a name among them), no time
    assert data[:3] == b"\x1f\x8b\x08"
    assert not any(data[3:8])
    whole = json.loads(gzip.decompress(data), parse_float=Decimal)
    # "displayTimeUnit" has been read as the unit of ts
    assert list(whole) == ["traceEvents"]
    return _Reader(whole["traceEvents"]).read()


class _Reader:
    def __init__(self, events: list[dict[str, Any]]) -> None:
        self.events = events
        self.found = ReadTrace()
        self.named: dict[tuple[str, int | Place], dict[str, Any]] = {}
        self.open: dict[Place, list[int]] = {}
        self.begun: list[dict[str, Any]] = []
        self.ended: dict[int, int] = {}
        self.flow_phases: dict[int, str] = {}
        self.last = 0

    def read(self) -> ReadTrace:
        readers = {"M": self.metadata, "B": self.begin, "E": self.end, "C": self.count}
        for event in self.events:
            readers.get(event["ph"], self.flow)(event)
        assert not any(self.open.values()), "a slice without an end"
        # Perfetto would show what never finishes as nothing at all
        assert all(phases[0] + phases[-1] == "sf" for phases in self.flow_phases.values())
        assert all(set(phases[1:-1]) <= {"t"} for phases in self.flow_phases.values())
        self.check_names()
        for number, event in enumerate(self.begun):
            names = self.process(event), self.name("thread", (event["pid"], event["tid"]))
            times = self.time(event), self.ended[number]
            self.found.slices.append(Slice(*names, event["name"], *times, event["args"]))
        return self.found

    def check_names(self) -> None:
        places = {(event["pid"], event["tid"]) for event in self.begun}
        threads = Counter(tid for _, tid in places)
        assert set(threads.values()) <= {1}, "two threads of one number"
        assert not {pid for pid, _ in places} & set(threads), "a thread that would be the main one"
        used = {("process", pid) for pid, _ in places} | {("thread", place) for place in places}
        assert set(self.named) == used, "all that has slices has a name, and nothing else"
        assert all(set(about) == {"name", "sort_index"} for about in self.named.values())
        for what in ("process", "thread"):
            order = [about["sort_index"] for (kind, _), about in self.named.items() if kind == what]
            assert order == sorted(set(order))
        shown = [
            (self.process(event), self.name("thread", (event["pid"], event["tid"]))) for event in self.begun
        ]
        assert len(set(shown)) == len(places), "tracks that nobody can tell apart"

    def name(self, kind: str, place: int | Place) -> str:
        name = self.named[kind, place]["name"]
        assert isinstance(name, str)
        assert name
        return name

    def process(self, event: dict[str, Any]) -> str:
        return self.name("process", event["pid"])

    def time(self, event: dict[str, Any]) -> int:
        time = event["ts"] * FEMTOSECONDS
        assert isinstance(event["ts"], Decimal)
        assert time == int(time) >= 0
        return int(time)

    def now(self, event: dict[str, Any]) -> tuple[Place, int]:
        """Place and time of an event of a slice or of a flow; none is before the one before it."""
        place, time = (event["pid"], event["tid"]), self.time(event)
        assert all(isinstance(number, int) and 0 < number < 2**32 for number in place)
        assert time >= self.last
        # as Perfetto reads it
        assert int(float(event["ts"]) * 1000.0) >= int(self.last / FEMTOSECONDS * 1000.0)
        self.last = time
        return place, time

    def metadata(self, event: dict[str, Any]) -> None:
        what, key = event["name"].split("_", 1)
        place = event["pid"] if what == "process" else (event["pid"], event["tid"])
        about = self.named.setdefault((what, place), {})
        assert key not in about
        about[key] = event["args"][key]

    def begin(self, event: dict[str, Any]) -> None:
        place, _ = self.now(event)
        open_here = self.open.setdefault(place, [])
        event["inside"] = [*open_here]
        open_here.append(len(self.begun))
        self.begun.append(event)
        assert isinstance(event["name"], str)
        assert event["name"]

    def end(self, event: dict[str, Any]) -> None:
        place, time = self.now(event)
        number = self.open[place].pop()
        self.ended[number] = time
        takes_no_time = time == self.time(self.begun[number])
        assert takes_no_time or not self.begun[number]["inside"], "slices that overlap"

    def flow(self, event: dict[str, Any]) -> None:
        place, time = self.now(event)
        number = self.open[place][-1]
        assert self.time(self.begun[number]) == time, "a flow binds to the slice that begins with it"
        assert (event["ph"] == "f") == ("bp" in event)
        self.flow_phases[event["id"]] = self.flow_phases.get(event["id"], "") + event["ph"]
        self.found.flows.setdefault(event["id"], []).append(number)

    def count(self, event: dict[str, Any]) -> None:
        ((_, value),) = event["args"].items()
        counted = self.found.counters.setdefault((self.process(event), event["name"]), [])
        time = self.time(event)
        assert not counted or (counted[-1][0] < time and counted[-1][1] != value)
        assert isinstance(value, int)
        assert value >= 0
        counted.append((time, value))
