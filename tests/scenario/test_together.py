"""Scenarios of several collectives: what is read, refused, run, printed, written and held."""

# ruff: noqa: E501 - what a file says reads best on a line

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from simulator.scenario.check import check, hold
from simulator.scenario.load import load, loads
from simulator.scenario.output import write_results
from simulator.scenario.result import as_json
from simulator.scenario.run import run
from simulator.scenario.run_any import load_scenario, run_any
from simulator.scenario.together_load import load_together, loads_together
from simulator.scenario.together_run import run_together
from simulator.scenario.update import update
from tests.cli.command import collsim
from tests.engine.formats.trace_reader import read_trace
from tests.scenario.together_examples import GATHER, RING, gather, result_of, ring

# What comes back


def test_two_equal_collectives_on_the_same_links() -> None:
    """They take turns on every link: 3 steps of two messages a link, 1 ms each, and the latencies that remain."""
    first, second = result_of(GATHER, GATHER).members
    assert (first.alone, second.alone) == (3.003e-3, 3.003e-3)
    # the first one's messages end at 1, 3 and 5 ms, the second one's at 2, 4 and 6, and land 1 us later
    assert (first.time, second.time) == (5.001e-3, 6.001e-3)
    assert second.slowdown == pytest.approx(6.001 / 3.003, rel=1e-15)
    assert first.algbw == pytest.approx(4e6 / 5.001e-3)
    assert first.busbw == pytest.approx(3 / 4 * 4e6 / 5.001e-3)
    assert first.analytic == pytest.approx(3.003e-3, rel=1e-12)
    assert first.gap == pytest.approx(5.001e-3 / first.bounds.best)


def test_the_critical_path_is_walked_once() -> None:
    for result in (result_of(GATHER), run(loads(f"{RING}collective: {GATHER}\n", "ring.yaml"))):
        assert result.critical_path is result.critical_path


def test_opposite_directions_of_a_ring_do_not_meet() -> None:
    result = result_of(GATHER, gather("ranks: [3, 2, 1, 0]"))
    assert [member.slowdown for member in result.members] == [1.0, 1.0]
    assert result.time == 3.003e-3


def test_a_chain_adds_up_in_any_order_of_the_file() -> None:
    entries = [gather("name: c, after: [a, b], start: 1 ms"), gather("name: a"), gather("name: b, after: a")]
    result = result_of(*entries)
    assert [(one.name, one.start, one.finish) for one in result.members] == [
        ("c", 7_006 * 10**9, 10_009 * 10**9),
        ("a", 0, 3_003 * 10**9),
        ("b", 3_003 * 10**9, 6_006 * 10**9),
    ]
    assert (result.time, result.order, result.names) == (10.009e-3, (1, 2, 0), ("a", "b", "c"))
    assert [one.slowdown for one in result.members] == [1.0] * 3


def test_groups_of_one_and_sizes_of_nothing() -> None:
    result = result_of(gather("ranks: [2], start: 5 us"), gather("after: allgather-0").replace("4 MB", "0 B"))
    alone, nothing = result.members
    assert (alone.start, alone.finish, alone.time, alone.slowdown, alone.algbw, alone.busbw) == (
        5 * 10**9,
        5 * 10**9,
        0.0,
        None,
        None,
        None,
    )
    # three latencies
    assert (nothing.start, nothing.time, nothing.algbw, nothing.congestion_factor) == (
        5 * 10**9,
        3e-6,
        0.0,
        None,
    )


def test_background_holds_links_and_has_no_bandwidth() -> None:
    """2 MB, 2 ms, in front of the ring's second message: it is there a step later; no group, no delay of its own."""
    result = result_of(GATHER, more="background: [{src: 0, dst: 1, size: 2 MB, start: 0.5 ms}]\ndelay: {}\n")
    (member,), (stream,) = result.members, result.background
    # 0->1 is free at 1 ms; rank 0's second message comes at 1.001 ms and leaves from 3 to 4 ms, its third one, and rank 1's,
    # at 4.001 ms
    assert member.time == 5.002e-3
    assert (stream.durations, stream.duration_alone) == ((2_501 * 10**9,), 2_001 * 10**9)
    assert stream.finish == 3_001 * 10**9
    assert (stream.time, stream.longest, stream.alone) == (2.501e-3, 2.501e-3, 2.001e-3)
    assert stream.slowdown == 2501 / 2001


def test_background_does_not_count_for_the_time_of_all() -> None:
    result = result_of(
        GATHER, more="background: [{src: 0, dst: 1, size: 0 B, start: 1 s, every: 1 s, times: 3}]\n"
    )
    assert (result.time, result.timeline.seconds) == (3.003e-3, 3.000001)
    assert result.background[0].durations == (10**9,) * 3


def test_a_rank_is_late_in_every_collective_of_which_it_is_a_part() -> None:
    result = result_of(
        GATHER,
        gather("ranks: [0, 1], after: allgather-0"),
        gather("ranks: [2, 3], after: allgather-0"),
        more="delay: {2: 1 ms}\n",
    )
    first, without, late = result.members
    # what rank 2 does, and what waits for it, is 1 ms late; pairs of a ring exchange 2 MB in one step
    assert first.time == first.alone == 4.003e-3
    assert (without.time, late.time) == (2.001e-3, 3.001e-3)


def test_algorithms_take_from_the_topology_only_where_all_of_it_takes_part() -> None:
    text = "topology: {kind: torus, dims: [4, 4], bandwidth: 1 GB/s}\ncollectives:\n"
    bucket = "{kind: allgather, algorithm: bucket, size: 16 MB%s}"
    entries = ["", ", ranks: {last: 3}, dims: [2, 2]", ", ranks: {last: 3}"]
    text += "".join(f"  - {bucket % entry}\n" for entry in entries)
    members = run_together(loads_together(text)).members
    # by dimensions 3 + 3 steps, 1 + 1, and without any one ring of 3
    assert [member.counts.steps for member in members] == [6, 2, 3]


def test_bounds_of_a_group_hold_under_every_model() -> None:
    """What is late for others, or for messages in its way, cannot be early."""
    entries = [
        GATHER,
        gather("ranks: [3, 0]"),
        "{kind: all_to_all, algorithm: pairwise, size: 3 MB, ranks: [1, 3, 2]}",
        "{kind: broadcast, algorithm: binomial, size: 1 MB, root: 1, ranks: [2, 0], after: allgather-0}",
    ]
    networks = [
        f"model: {model}"
        for model in ("store_and_forward", "cut_through", "packet, mtu: 500 kB", "fair_share")
    ]
    networks += [f"sync: {sync}" for sync in ("dataflow", "barrier")]
    for network in networks:
        more = f"engine: simpy\nnetwork: {{{network}}}\nbackground: [{{src: 0, dst: 2, size: 1 MB, every: 1 ms, times: 3}}]\n"
        for member in result_of(*entries, more=more).members:
            assert member.time >= member.bounds.best > 0, (network, member.name)
            assert member.duration >= member.duration_alone, (network, member.name)


# What is printed and written


def test_json_has_every_collective_and_the_same_bytes_on_every_run() -> None:
    more = "background: [{src: 0, dst: 1, size: 1 kB}]\n"
    text = as_json(result_of(GATHER, gather("name: pair, ranks: [2, 0]"), more=more))
    assert text == as_json([result_of(GATHER, gather("name: pair, ranks: [2, 0]"), more=more)])
    value = json.loads(text)
    assert list(value) == [
        "scenario",
        "engine",
        "model",
        "sync",
        "ranks",
        "time",
        "wire_rate",
        "verified",
        "critical_path",
        "collectives",
        "background",
        "levels",
        "links",
    ]
    assert [(one["name"], one["kind"], one["ranks"]) for one in value["collectives"]] == [
        ("allgather-0", "allgather", [0, 1, 2, 3]),
        ("pair", "allgather", [2, 0]),
    ]
    assert set(value["collectives"][0]) >= {
        "algorithm",
        "size",
        "start",
        "finish",
        "time",
        "alone",
        "slowdown",
        "algbw",
        "busbw",
        "steps",
        "transfers",
        "bytes_sent_max",
        "analytic",
        "bounds",
        "gap",
        "verified",
        "fallback",
    }
    assert value["background"][0] == {
        "src": 0,
        "dst": 1,
        "size": 1000,
        "start": 0.0,
        "every": None,
        "times": 1,
        "finish": 3.002e-3,
        "time": 3.002e-3,
        "time_max": 3.002e-3,
        "alone": 2e-6,
        "slowdown": 1501.0,
    }
    # over 0->1 go the ring's first message, the pair's and then this one
    # three steps of 1 MB over four links, 2 x 2 MB over two links each, and the background
    assert value["levels"][0]["bytes"] == 12_000_000 + 8_000_000 + 1000


def test_rows_and_picture_say_whose_they_are(tmp_path: Path) -> None:
    result = result_of(
        GATHER,
        gather("name: pair, ranks: [2, 1], after: allgather-0"),
        more="background: [{src: 3, dst: 0, size: 1 kB}]\n",
    )
    write_results([result], tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "result.json",
        "scenario.yaml",
        "timeline.csv",
        "timeline.png",
        "timeline.svg",
        "trace.json.gz",
    ]
    shown = read_trace(tmp_path / "out" / "trace.json.gz")
    with (tmp_path / "out" / "timeline.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["collective"] for row in rows] == ["allgather-0"] * 12 + ["pair"] * 4 + ["background 0"]
    moves = [one for one in shown.slices if one.track != "critical path"]
    # all but the starts, which take no time
    assert Counter(one.args["collective"] for one in moves) == {
        "allgather-0": 12,
        "pair": 2,
        "background 0": 1,
    }
    # the topology's ranks, whatever they are in the group; starts have none
    assert [(row["src"], row["dst"], row["resource"]) for row in rows[12:16]] == [
        ("", "", "rank 2 starts"),
        ("", "", "rank 1 starts"),
        ("2", "1", "2->1"),
        ("1", "2", "1->2"),
    ]
    assert [(row["src"], row["dst"], row["chunks"]) for row in rows[-1:]] == [("3", "0", "0")]
    # the join before the pair's starts has a number, but no row
    assert [int(row["operation"]) for row in rows] == [*range(12), *range(13, 18)]
    svg = (tmp_path / "out" / "timeline.svg").read_text("utf-8")
    assert all(f">{word}<" in svg for word in ("allgather-0", "pair", "background 0", "collective"))
    assert "starts" not in svg


def test_commands_take_files_of_both_kinds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def printed(*arguments: object) -> str:
        assert collsim(*arguments) == 0
        return capsys.readouterr().out

    several, one = tmp_path / "several.yaml", tmp_path / "one.yaml"
    more = "background: [{src: 3, dst: 0, size: 1 kB}]\nexpect: {time: 6.002 ms}\n"
    several.write_text(ring(GATHER, GATHER, more=more), "utf-8")
    one.write_text(f"{RING}collective: {GATHER}\nexpect: {{time: 3.003 ms}}\n", "utf-8")
    out = printed("run", several)
    for word in ("several: 6.002 ms, proof full", "allgather-1", "slowdown", "1.999", "background", "3->0"):
        assert word in out
    both = json.loads(printed("run", tmp_path, "--json"))
    assert [value["time"] for value in both] == [3.003e-3, 6.002e-3]
    out = printed("run", tmp_path)
    assert "allgather-0" in out
    assert "3.003 ms" in out
    assert printed("check", tmp_path).splitlines()[-1] == "2 passed, 0 failed"
    assert printed("run", several, "--no-verify", "--json").count('"verified": "no"') == 3
    assert "ranks" in printed("topology", several)


# What is expected


def test_expectations_of_each_and_of_all() -> None:
    good = "expect: {steps: 3, time: 5.001 ms, alone: 3.003 ms, start: 0 s, finish: {value: 5 ms, rel: 0.001}, slowdown: {at_least: 1.6, at_most: 1.7}, analytic: {rel: 1}, verified: full, fallback: none}"
    assert check(result_of(gather(good), GATHER, more="expect: {time: 6.001 ms, verified: full}\n")) == ()
    bad = "expect: {steps: 4, start: 1 us, finish: 5 ms, alone: 3 ms, slowdown: 1.5}"
    found = check(
        result_of(
            gather(bad),
            gather("name: pair, expect: {slowdown: {at_most: 1.5}}"),
            more='expect: {time: 6 ms, verified: "no"}\n',
        )
    )
    assert [(wrong.key, wrong.line, wrong.expected, wrong.found) for wrong in found] == [
        ("time", 5, "6 ms (0.006 s)", "6.001 ms (0.006001 s)"),
        ("verified", 5, "no", "full"),
        ("allgather-0: steps", 3, "4", "3"),
        ("allgather-0: start", 3, "1 us (1e-06 s)", "0 s (0.0 s)"),
        ("allgather-0: finish", 3, "5 ms (0.005 s)", "5.001 ms (0.005001 s)"),
        ("allgather-0: alone", 3, "3 ms (0.003 s)", "3.003 ms (0.003003 s)"),
        ("allgather-0: slowdown", 3, "1.5", str(5001 / 3003)),
        ("pair: slowdown", 4, "at most 1.5", str(6001 / 3003)),
    ]


def test_todays_values_are_written_into_the_entries(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    text = ring(
        gather("expect: {steps: 9, finish: 1000 us, alone: {value: 3 ms, abs: 1 ns}, slowdown: 1}"),
        GATHER,
        more="expect: {time: 1 s}\n",
    )
    file.write_text(text, "utf-8")
    outcome = hold(file, run_any)
    assert outcome.result is not None
    assert update(outcome.result, outcome.mismatches) == 5
    replaced = (
        ("steps: 9", "steps: 3"),
        ("1000 us", "5001 us"),
        ("3 ms", "3.003 ms"),
        ("slowdown: 1", f"slowdown: {5001 / 3003}"),
        ("1 s", "0.006001 s"),
    )
    for old, new in replaced:
        text = text.replace(old, new)
    assert file.read_text("utf-8") == text
    assert hold(file, run_any).fine


def test_files_are_loaded_and_run_by_what_they_are(tmp_path: Path) -> None:
    several, one = tmp_path / "several.yaml", tmp_path / "one.yaml"
    several.write_text(ring(GATHER), "utf-8")
    one.write_text(f"{RING}collective: {GATHER}\n", "utf-8")
    assert load_scenario(several) == load_together(several)
    assert load_scenario(one) == load(one)
    assert run_any(several).time == run_together(several).time == run_any(one).time == run(one).time
