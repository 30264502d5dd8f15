"""Several collectives: what is read, and what is refused."""

# ruff: noqa: E501 - a table reads best with a case a line

from __future__ import annotations

import pytest

from algorithms.errors import ProofError
from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.load import loads
from simulator.scenario.plan_load import loads_plan
from simulator.scenario.together_load import loads_together
from simulator.scenario.together_run import run_together
from tests.scenario.together_examples import GATHER, RING, gather, result_of, ring

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

CASES = [
    (RING, ['1:1: missing key "collective", or "collectives", in the scenario']),
    (
        RING + f"collective: {GATHER}\ncollectives: [{GATHER}]\n",
        ['3:1: found both "collective" and "collectives"'],
    ),
    (RING + f"collective: {GATHER}\nbackground: []\n", ['3:1: found both "collective" and "background"']),
    (RING + "background: []\n", ['1:1: missing key "collectives" in the scenario']),
    (RING + f"collectives: [{GATHER}]\nmodel: llama\n", ['3:1: found both "collectives" and "model"']),
    (RING + "collectives: []\n", ["2:14: collectives: found an empty list, expected a collective"]),
    (RING + "collectives: 3\n", ["2:14: collectives: found the number 3, expected a list"]),
    (RING + "collectives: [ring]\n", ['2:15: collectives[0]: found the text "ring", expected a mapping']),
    (
        RING + f"collectives: [{GATHER}]\nnetwork: {{placement: auto}}\n",
        ['3:11: network.placement: does not go with "collectives"'],
    ),
    (ring(GATHER, more="symetry: none\n"), ['4:1: unknown key "symetry" in the scenario']),
    (ring(GATHER, "{kind: allgather, algorithm: ring}"), ['4:5: missing key "size" in collectives[1]']),
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
        ring(gather("name: allgather-1"), GATHER),
        ['4:5: collectives[1].name: "allgather-1" is the name of collectives[0]'],
    ),
    (
        ring(gather("name: first"), gather("after: frist")),
        ['4:59: collectives[1].after: there is no collective "frist"; did you mean "first"?'],
    ),
    (
        ring(GATHER, gather("after: [allgather-0, x]")),
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
        ring(GATHER, more="expect: {steps: 3}\n"),
        ['4:10: unknown key "steps" in expect; expected time or verified'],
    ),
    (ring(GATHER, more="background: [{src: 0, size: 1 kB}]\n"), ['4:14: missing key "dst" in background[0]']),
    (
        ring(GATHER, more="background: [{src: 0, dst: 0, size: 1 kB}]\n"),
        ["4:28: background[0].dst: rank 0 sends to itself"],
    ),
    (
        ring(GATHER, more="background: [{src: 0, dst: 1, size: 1 kB, times: 2}]\n"),
        ['4:14: background[0]: 2 messages need "every"'],
    ),
    (
        ring(GATHER, more="background: [{src: 0, dst: 1, size: 1 kB, times: 9999999, every: 1 s}]\n"),
        ["4:50: background[0].times: found 9999999, expected at most"],
    ),
    (
        ring("{kind: allgather, steps: 3, size: 1 MB}"),
        ["3:30: collectives[0].steps: found the number 3, expected a list"],
    ),
]

WHILE_RUNNING = [
    (ring(GATHER, gather("ranks: [0, 4]")), ["4:63: there is no rank 4; ranks are 0 to 3"]),
    (ring(GATHER, gather("ranks: {last: 5}")), ["4:59: there is no rank 4; ranks are 0 to 3"]),
    (ring(GATHER, more="delay: {7: 1 us}\n"), ["4:9: there is no rank 7 to delay; ranks are 0 to 3"]),
    (ring(GATHER, more="background: [{src: 0, dst: 9, size: 1 kB}]\n"), ["4:28: background[0].dst: there is no rank 9"]),
    (ring(GATHER, more="reduction: {bandwidth: 1 GB/s, ranks: {5: 1 GB/s}}\n"), ["4:40: there is no rank 5 with a reducer"]),
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
        loads(ring(GATHER), "a.yaml")
    with pytest.raises(
        ScenarioErrors, match=r'has no "collectives": a file of a collective, .*; expected a file of several'
    ):
        loads_together(f"{RING}collective: {GATHER}\n")
    with pytest.raises(ScenarioErrors, match='has a "collectives" and no "model"'):
        loads_plan(ring(GATHER))


def test_a_failed_proof_names_the_collective() -> None:
    wrong = (
        "{name: mine, kind: broadcast, size: 1 MB, blocks: 1, ranks: [0, 1, 2], steps: [{0 -> 1: copy 0}]}"
    )
    with pytest.raises(ProofError, match=r'a\.yaml: the proof of "mine" failed: '):
        result_of(GATHER, wrong)
    assert result_of(GATHER, wrong, more='verify: "no"\n').verified == "no"
