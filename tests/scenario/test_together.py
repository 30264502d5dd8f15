"""Scenarios of several collectives: what is read, refused, run, printed, written and held."""

# ruff: noqa: E501 - a table reads best with a case a line

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from algorithms.errors import ProofError
from simulator.scenario.check import check, hold
from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.load import load, loads
from simulator.scenario.output import write_results
from simulator.scenario.plan_load import loads_plan
from simulator.scenario.result import as_json
from simulator.scenario.run import run
from simulator.scenario.run_any import load_scenario, run_any
from simulator.scenario.together_load import load_together, loads_together
from simulator.scenario.together_result import TogetherResult
from simulator.scenario.together_run import run_together
from simulator.scenario.update import update
from tests.cli.test_commands import collsim
from tests.engine.formats.trace_reader import read_trace

RING = "topology: {kind: ring, ranks: 4, bandwidth: 1 GB/s, latency: 1 us}\n"
GATHER = "{kind: allgather, algorithm: ring, size: 4 MB}"
"""Three steps of 1 us + 1 MB at 1 GB/s, 1 ms."""


def ring(*entries: str, more: str = "") -> str:
    """A ring of four with a collective a line, the first in line 3."""
    return RING + "collectives:\n" + "".join(f"  - {entry}\n" for entry in entries) + more


def gather(more: str) -> str:
    return GATHER.replace("}", f", {more}}}")


def result_of(*entries: str, more: str = "") -> TogetherResult:
    return run_together(loads_together(ring(*entries, more=more), "a.yaml"))


# What is read


def test_names_groups_starts_and_what_comes_after() -> None:
    scenario = loads_together(
        ring(
            gather("name: one, start: 10 us"),
            gather("ranks: [3, 1, 0], after: [one, allgather-2]"),
            gather("ranks: {first: 1, last: 3, every: 2}, after: one"),
            more="background:\n  - {src: 0, dst: 1, size: 1 kB}\n",
        ),
        "several.yaml",
    )
    assert scenario.name == "several"
    members = [(one.name, one.ranks, one.start, one.after) for one in scenario.members]
    assert members == [
        ("one", None, 10e-6, ()),
        ("allgather-1", (3, 1, 0), 0.0, ("one", "allgather-2")),
        ("allgather-2", (1, 3), 0.0, ("one",)),
    ]
    (stream,) = scenario.background
    assert (stream.src, stream.dst, stream.size, stream.times, stream.every) == (0, 1, 1000, 1, None)
    assert not scenario.expects_something


def test_own_steps_and_options_are_read_in_every_entry() -> None:
    steps = "{kind: broadcast, size: 1 MB, blocks: 1, ranks: [2, 0], steps: [{0 -> 1: copy 0}]}"
    result = result_of(steps, "{kind: allgather, algorithm: ring, sizes: [1 MB, 2 MB, 3 MB, 4 MB]}")
    assert [member.schedule.algorithm for member in result.members] == ["inline", "ring"]
    assert [member.schedule.collective.size for member in result.members] == [1_000_000, 10_000_000]
    # from rank 2 to rank 0 are two links, first in the positive direction
    assert result.members[0].duration_alone == 2 * (10**12 + 10**9)


# What is refused

ONE = GATHER
CASES = [
    (RING, ['1:1: missing key "collective", or "collectives", in the scenario']),
    (RING + f"collective: {ONE}\ncollectives: [{ONE}]\n", ['3:1: found both "collective" and "collectives"']),
    (RING + f"collective: {ONE}\nbackground: []\n", ['3:1: found both "collective" and "background"']),
    (RING + "background: []\n", ['1:1: missing key "collectives" in the scenario']),
    (RING + f"collectives: [{ONE}]\nmodel: llama\n", ['3:1: found both "collectives" and "model"']),
    (RING + "collectives: []\n", ["2:14: collectives: found an empty list, expected a collective"]),
    (RING + "collectives: 3\n", ["2:14: collectives: found the number 3, expected a list"]),
    (RING + "collectives: [ring]\n", ['2:15: collectives[0]: found the text "ring", expected a mapping']),
    (
        RING + f"collectives: [{ONE}]\nnetwork: {{placement: auto}}\n",
        ['3:11: network.placement: does not go with "collectives"'],
    ),
    (ring(ONE, more="symetry: none\n"), ['4:1: unknown key "symetry" in the scenario']),
    (ring(ONE, "{kind: allgather, algorithm: ring}"), ['4:5: missing key "size" in collectives[1]']),
    (ring("{kind: allgather, size: 1 MB}"), ['3:5: missing key "algorithm", or "steps", in collectives[0]']),
    (ring(gather("strat: 1 us")), ['3:52: unknown key "strat" in collectives[0]; did you mean "start"?']),
    (ring(gather("start: 1")), ["3:59: collectives[0].start: 1 needs a unit"]),
    (ring(gather("fanout: 2")), ['3:52: the algorithm "ring" does not take the option "fanout"']),
    (ring(gather("ranks: []")), ["3:59: collectives[0].ranks: found an empty list, expected a rank"]),
    (ring(gather("ranks: [1, 2, 1]")), ["3:66: collectives[0].ranks[2]: rank 1 is in the group already"]),
    (ring(gather("ranks: [-1]")), ["3:60: collectives[0].ranks[0]: found the number -1, expected 0 or more"]),
    (ring(gather("ranks: all")), ['3:59: collectives[0].ranks: found the text "all", expected a list or']),
    (
        ring(gather("ranks: {first: 3, last: 1}")),
        ["3:76: collectives[0].ranks.last: found 1, before the first, 3"],
    ),
    (
        ring(gather("ranks: {last: 4000000000}")),
        ["3:66: collectives[0].ranks.last: found 4000000000; there are at most"],
    ),
    (
        ring(gather("name: a"), gather("name: a")),
        ['4:58: collectives[1].name: "a" is the name of collectives[0], too'],
    ),
    (
        ring(gather("name: allgather-1"), ONE),
        ['4:5: collectives[1].name: "allgather-1" is the name of collectives[0]'],
    ),
    (
        ring(gather("name: first"), gather("after: frist")),
        ['4:59: collectives[1].after: there is no collective "frist"; did you mean "first"?'],
    ),
    (
        ring(ONE, gather("after: [allgather-0, x]")),
        ['4:73: collectives[1].after: there is no collective "x"; expected allgather-0 or allgather-1'],
    ),
    (ring(gather("name: a, after: a")), ['3:68: collectives[0].after: it comes after itself, by way of "a"']),
    (
        ring(
            gather("name: a, after: c"),
            gather("name: b, after: a"),
            gather("name: c, after: b"),
            gather("after: c"),
        ),
        ['3:68: collectives[0].after: it comes after itself, by way of "a", "c", "b"'],
    ),
    (
        ring(gather("expect: {slowdown: {}}")),
        ['3:71: collectives[0].expect.slowdown: expected "at_most: 1.2"'],
    ),
    (
        ring(gather("expect: {slowness: 1}")),
        ['3:61: unknown key "slowness" in collectives[0].expect; did you mean "slowdown"?'],
    ),
    (
        ring(ONE, more="expect: {steps: 3}\n"),
        ['4:10: unknown key "steps" in expect; expected time or verified'],
    ),
    (ring(ONE, more="background: [{src: 0, size: 1 kB}]\n"), ['4:14: missing key "dst" in background[0]']),
    (
        ring(ONE, more="background: [{src: 0, dst: 0, size: 1 kB}]\n"),
        ["4:28: background[0].dst: rank 0 sends to itself"],
    ),
    (
        ring(ONE, more="background: [{src: 0, dst: 1, size: 1 kB, times: 2}]\n"),
        ['4:14: background[0]: 2 messages need "every"'],
    ),
    (
        ring(ONE, more="background: [{src: 0, dst: 1, size: 1 kB, times: 9999999, every: 1 s}]\n"),
        ["4:50: background[0].times: found 9999999, expected at most"],
    ),
    (
        ring("{kind: allgather, steps: 3, size: 1 MB}"),
        ["3:30: collectives[0].steps: found the number 3, expected a list"],
    ),
]

WHILE_RUNNING = [
    (ring(ONE, gather("ranks: [0, 4]")), ["4:63: there is no rank 4; ranks are 0 to 3"]),
    (ring(ONE, gather("ranks: {last: 5}")), ["4:59: there is no rank 4; ranks are 0 to 3"]),
    (ring(ONE, more="delay: {7: 1 us}\n"), ["4:9: there is no rank 7 to delay; ranks are 0 to 3"]),
    (ring(ONE, more="background: [{src: 0, dst: 9, size: 1 kB}]\n"), ["4:28: background[0].dst: there is no rank 9"]),
    (ring(ONE, more="reduction: {bandwidth: 1 GB/s, ranks: {5: 1 GB/s}}\n"), ["4:40: there is no rank 5 with a reducer"]),
    (ring("{kind: broadcast, algorithm: binomial, size: 1 MB, root: 2, ranks: [0, 1]}"), ["3:62: there is no rank 2 to be the root among 2"]),
    (ring("{kind: broadcast, size: 1 MB, ranks: [0, 1], steps: [{0 -> 2: copy all}]}"), ["3:59: collectives[0].steps: there is no rank 2 among 2"]),
    (ring("{kind: broadcast, size: 1 MB, algorithm: {file: a.py, function: f}}"), ['3:46: collectives[0].algorithm: the code of "a.py" is run only with']),
    (ring(gather("ranks: [0, 2]"), more="network: {direct_links_only: true}\n"), ["4:30: collectives[0]: step 0: rank 0 sends to rank 1, 2 hops away"]),
    ("topology: {kind: crossbar, ranks: 4, bandwidth: 1 GB/s, switch: reduces}\ncollectives:\n  - {kind: allreduce, algorithm: in_network, size: 1 MB, ranks: [0, 1]}\n", ['3:65: "in_network" works in the topology\'s switches, so that all of its 4 ranks must take part, found 2']),
]  # fmt: skip


def test_wrong_input_is_named_with_its_place() -> None:
    for cases, read in (
        (CASES, lambda text: loads_together(text, "a.yaml")),
        (WHILE_RUNNING, lambda text: run_together(loads_together(text, "a.yaml"))),
    ):
        for text, expected in cases:
            reader = loads if text == RING or "\ncollective:" in text else read
            with pytest.raises(ScenarioErrors) as caught:
                reader(text, *(["a.yaml"] if reader is loads else []))
            lines = str(caught.value).split("\n")
            for fragment in expected:
                assert any(line.startswith(f"a.yaml:{fragment}") for line in lines), (
                    f"{fragment}\nnot in\n{lines}"
                )


def test_everything_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(ScenarioErrors) as caught:
        loads_together(
            ring(gather("ranks: []"), "{kind: algather, algorithm: ring, size: 1}", more="engine: none\n"),
            "a.yaml",
        )
    assert [error.at[:2] for error in caught.value.errors] == [
        ("collectives", 0),
        ("collectives", 1),
        ("collectives", 1),
        ("engine",),
    ]


def test_a_file_of_another_kind_is_for_another_reader() -> None:
    with pytest.raises(
        ScenarioErrors,
        match=r'a\.yaml:2:1: has a "collectives" and no "collective": a file of several collectives',
    ):
        loads(ring(ONE), "a.yaml")
    with pytest.raises(
        ScenarioErrors, match=r'has no "collectives": a file of a collective, .*; expected a file of several'
    ):
        loads_together(f"{RING}collective: {ONE}\n")
    with pytest.raises(ScenarioErrors, match='has a "collectives" and no "model"'):
        loads_plan(ring(ONE))


def test_a_failed_proof_names_the_collective() -> None:
    wrong = (
        "{name: mine, kind: broadcast, size: 1 MB, blocks: 1, ranks: [0, 1, 2], steps: [{0 -> 1: copy 0}]}"
    )
    with pytest.raises(ProofError, match=r'a\.yaml: the proof of "mine" failed: '):
        result_of(ONE, wrong)
    assert result_of(ONE, wrong, more='verify: "no"\n').verified == "no"


# What comes back


def test_two_equal_collectives_on_the_same_links() -> None:
    """They take turns on every link: 3 steps of two messages a link, 1 ms each, and the latencies that remain."""
    first, second = result_of(ONE, ONE).members
    assert (first.alone, second.alone) == (3.003e-3, 3.003e-3)
    # the first one's messages end at 1, 3 and 5 ms, the second one's at 2, 4 and 6, and land 1 us later
    assert (first.time, second.time) == (5.001e-3, 6.001e-3)
    assert second.slowdown == pytest.approx(6.001 / 3.003, rel=1e-15)
    assert first.algbw == pytest.approx(4e6 / 5.001e-3)
    assert first.busbw == pytest.approx(3 / 4 * 4e6 / 5.001e-3)
    assert first.analytic == pytest.approx(3.003e-3, rel=1e-12)
    assert first.gap == pytest.approx(5.001e-3 / first.bounds.best)


def test_opposite_directions_of_a_ring_do_not_meet() -> None:
    result = result_of(ONE, gather("ranks: [3, 2, 1, 0]"))
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
    result = result_of(ONE, more="background: [{src: 0, dst: 1, size: 2 MB, start: 0.5 ms}]\ndelay: {}\n")
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
        ONE, more="background: [{src: 0, dst: 1, size: 0 B, start: 1 s, every: 1 s, times: 3}]\n"
    )
    assert (result.time, result.timeline.seconds) == (3.003e-3, 3.000001)
    assert result.background[0].durations == (10**9,) * 3


def test_a_rank_is_late_in_every_collective_of_which_it_is_a_part() -> None:
    result = result_of(
        ONE,
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
        ONE,
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
    text = as_json(result_of(ONE, gather("name: pair, ranks: [2, 0]"), more=more))
    assert text == as_json([result_of(ONE, gather("name: pair, ranks: [2, 0]"), more=more)])
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
        ONE,
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
    several.write_text(ring(ONE, ONE, more=more), "utf-8")
    one.write_text(f"{RING}collective: {ONE}\nexpect: {{time: 3.003 ms}}\n", "utf-8")
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
    assert check(result_of(gather(good), ONE, more="expect: {time: 6.001 ms, verified: full}\n")) == ()
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
        ONE,
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
    several.write_text(ring(ONE), "utf-8")
    one.write_text(f"{RING}collective: {ONE}\n", "utf-8")
    assert load_scenario(several) == load_together(several)
    assert load_scenario(one) == load(one)
    assert run_any(several).time == run_together(several).time == run_any(one).time == run(one).time
