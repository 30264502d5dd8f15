"""Traces, event by event."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from simulator.engine.formats.trace_events import NONE, Counter, Slices, Trace, Track, as_text, write_trace
from tests.engine.formats.trace_reader import Slice, read_trace

NAMES = ('say "hi"', "Rängen", "ends", "zero")


def column(*numbers: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(numbers, dtype=np.int64)


def small() -> Trace:
    # two slices that touch, one of no time where they do, and one elsewhere that they lead to
    slices = Slices(
        track=column(0, 1, 0, 0),
        begin=column(0, 1_009_000_001, 1_009_000_000, 1_009_000_000),
        end=column(1_009_000_000, 1_009_000_003, 3 * 10**18, 1_009_000_000),
        flow=column(0, 0, NONE, NONE),
        source=column(NONE),
        about=lambda number: (as_text(NAMES[number]), as_text({"number": number})),
    )
    counter = Counter(2, "queue", "waiting", column(5, 10**9), column(2, 0))
    return Trace(["one", "unused", "other"], [Track(0, "a"), Track(2, "b")], slices, [counter])


def with_source() -> Trace:
    # slice 0 leads to flow 1, which is slice 1 alone, and to flow 2, which goes on from 2 to 3
    slices = Slices(
        track=column(0, 0, 0, 1),
        begin=column(0, 10, 20, 30),
        end=column(10, 20, 30, 40),
        flow=column(0, 1, 2, 2),
        source=column(NONE, 0, 0),
        about=lambda number: (as_text(f"slice {number}"), "{}"),
    )
    return Trace(["all"], [Track(0, "a"), Track(0, "b")], slices)


def test_slices_flows_and_counters_come_back(tmp_path: Path) -> None:
    write_trace(small(), tmp_path / "trace.json.gz")
    found = read_trace(tmp_path / "trace.json.gz")
    assert found.slices == [
        Slice("one", "a", NAMES[0], 0, 1_009_000_000, {"number": 0}),
        Slice("one", "a", NAMES[2], 1_009_000_000, 3 * 10**18, {"number": 2}),
        Slice("one", "a", NAMES[3], 1_009_000_000, 1_009_000_000, {"number": 3}),
        Slice("other", "b", NAMES[1], 1_009_000_001, 1_009_000_003, {"number": 1}),
    ]
    assert found.flows == {1: [0, 3]}
    assert found.counters == {("other", "queue"): [(5, 2), (10**9, 0)]}


def test_a_slice_may_lead_to_several_flows(tmp_path: Path) -> None:
    write_trace(with_source(), tmp_path / "trace.json.gz")
    assert read_trace(tmp_path / "trace.json.gz").flows == {2: [0, 1], 3: [0, 2, 3]}


def test_the_same_bytes_wherever_they_are_written(tmp_path: Path) -> None:
    for name in ("one.gz", "other.gz"):
        write_trace(with_source(), tmp_path / name)
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "other.gz").read_bytes()


def test_nothing_at_all(tmp_path: Path) -> None:
    nothing = column()
    slices = Slices(nothing, nothing, nothing, nothing, nothing, lambda _: ("", ""))
    write_trace(Trace([], [], slices), tmp_path / "trace.json.gz")
    found = read_trace(tmp_path / "trace.json.gz")
    assert (found.slices, found.flows, found.counters) == ([], {}, {})
