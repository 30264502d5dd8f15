"""Two runs beside each other: parts that sum to the difference, and what is said of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from simulator.scenario.diff import Difference, difference
from simulator.scenario.diff_output import difference_json, difference_object
from simulator.scenario.diff_sentence import sentence
from simulator.scenario.diff_sides import Side, read_side, result_file, settings, side_of
from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.load import loads
from simulator.scenario.result import as_json
from simulator.scenario.run import run
from simulator.scenario.together_load import loads_together
from simulator.scenario.together_run import run_together
from tests.cli.command import write
from topologies.errors import CollsimError

RING = """\
topology: {kind: ring, ranks: 8, bandwidth: 64 GB/s, latency: 1 us}
collective: {kind: reduce_scatter, algorithm: ring, size: 1 MiB}
"""
MESH = RING.replace("kind: ring, ranks", "kind: full_mesh, ranks")


def side(text: str, label: str = "here.yaml") -> Side:
    return side_of(label, run(loads(text, label)))


def differ(before: str, after: str) -> Difference:
    return difference(side(before, "a.yaml"), side(after, "b.yaml"))


def grown(found: Difference) -> dict[str, int]:
    return {part: pair.grown for part, pair in found.parts.items() if pair.grown}


def test_parts_sum_to_the_difference_and_so_do_the_levels() -> None:
    levels = (
        "topology:\n  kind: multilevel\n  levels:\n"
        "    - {name: inner, shape: full_mesh, size: 4, bandwidth: 64 GB/s, latency: 1 us}\n"
        "    - {name: outer, shape: ring, size: 2, bandwidth: 16 GB/s, latency: 5 us}\n"
        "collective: {kind: allreduce, algorithm: hierarchical, size: 1 MiB, dims: [4, 2]}\n"
        "reduction: {bandwidth: 512 GB/s}\n"
    )
    for before, after in ((RING, MESH), (RING, levels), (levels, RING)):
        found = differ(before, after)
        assert sum(pair.grown for pair in found.parts.values()) == found.time.grown
        for part, pair in found.parts.items():
            on_links = sum(level.parts[part].grown for level in found.levels)
            assert on_links + found.ranks[part].grown == pair.grown


def test_more_latency_is_named_and_nothing_else() -> None:
    # seven steps of 3 us more
    found = differ(RING, RING.replace("latency: 1 us", "latency: 4 us"))
    assert grown(found) == {"latency": 21 * 10**9}
    assert [(one.key, one.before, one.after) for one in found.settings] == [
        ("topology.latency", "1 us", "4 us")
    ]
    assert sentence(found) == "B takes 42.34 us, 1.98 times as long as A: +21 us, by latency +21 us."
    assert found.links == ()


def test_half_the_bandwidth_is_twice_the_serialization_of_as_many_bytes() -> None:
    # 7 x 2^17 bytes take 2.048 us a step more
    found = differ(RING, RING.replace("64 GB/s", "32 GB/s"))
    assert grown(found) == {"serialization": 7 * 2_048_000_000}
    assert "by serialization +14.34 us (of as many bytes)" in sentence(found)
    # every link is busy for as much longer, with the same bytes
    assert {(one.bytes.grown, one.busy.grown) for one in found.links} == {(0, 7 * 2_048_000_000)}
    assert found.every_link


def test_fewer_steps_and_more_bytes_are_told_by_their_counts() -> None:
    # on a mesh nothing queues: 3 (alpha) + 17/8 M against 7 alpha + 7/8 M
    found = differ(MESH, MESH.replace("algorithm: ring", "algorithm: recursive_doubling"))
    assert grown(found) == {"latency": -4 * 10**9, "serialization": 10 * 2_048_000_000}
    assert sentence(found) == (
        "B takes 37.82 us, 1.77 times as long as A: +16.48 us, by serialization +20.48 us (a rank "
        "sends 2176 KiB, not 896 KiB), against latency -4 us (3 steps, not 7)."
    )
    back = differ(MESH.replace("algorithm: ring", "algorithm: recursive_doubling"), MESH)
    assert "0.564 times as long as A: -16.48 us, by serialization -20.48 us" in sentence(back)


def test_more_hops_are_told_by_what_the_links_carry() -> None:
    halving = RING.replace("algorithm: ring", "algorithm: recursive_halving")
    # 8 x (4 x 1/2 + 2 x 1/4 + 1/8) M over all links against 8 x 7/8 M, and as many bytes from every rank;
    # stored at every hop they take 21/8 M/beta against 7/8 M/beta
    found = differ(RING, halving)
    assert grown(found) == {"serialization": 14 * 2_048_000_000}
    assert "by serialization +28.67 us (all links carry 21 MiB, not 7 MiB)" in sentence(found)
    # cut through, they wait for each other instead: 4 halves and 2 quarters over the busiest link
    through = "network: {model: cut_through}\n"
    found = differ(RING + through, halving + through)
    assert "queueing" in grown(found)
    assert "(1->2 carries 2560 KiB, not 896 KiB)" in sentence(found)


def test_a_reducer_and_a_late_rank_are_parts_of_their_own() -> None:
    # 7 x 2^17 bytes at 512 GB/s
    assert grown(differ(RING, RING + "reduction: {bandwidth: 512 GB/s}\n")) == {"reduction": 7 * 256_000_000}
    late = differ(RING, RING + "delay: {3: 10 us}\n")
    assert grown(late)["waiting"] == 10 * 10**9
    assert [(one.key, one.before, one.after) for one in late.settings] == [("delay[3]", None, "10 us")]


def test_equal_times_are_said_to_be_equal() -> None:
    same = differ(RING, RING)
    assert sentence(same) == "Both take 21.34 us."
    assert (same.settings, same.links, difference_object(same)["ratio"]) == ((), (), 1.0)
    other = differ(RING, RING.replace("ring, size", "bucket, size"))
    assert sentence(other) == "Both take 21.34 us, though collective.algorithm differs."


def test_links_that_only_one_run_has_are_named() -> None:
    few = [text.replace("ranks: 8", "ranks: 4") for text in (RING, MESH)]
    found = differ(few[0], few[1].replace("algorithm: ring", "algorithm: direct"))
    # the links of the ring are in both, each way; 0 -> 2 is in the mesh alone
    only = [one for one in found.links if one.bytes.before is None]
    assert {(one.bytes.after, one.level) for one in only} == {(2**18, "full_mesh")}


def test_nothing_takes_no_time() -> None:
    alone = RING.replace("ranks: 8", "ranks: 1")
    assert sentence(differ(alone, alone)) == "Both take 0 s."
    assert sentence(differ(alone, RING)).startswith("B takes 21.34 us: +21.34 us, by ")


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    written = write(tmp_path / "result.json", as_json(run(loads(RING, "ring.yaml"))))
    assert result_file(tmp_path) == result_file(written) == written
    read = read_side(written)
    found = difference(read, side(RING.replace("latency: 1 us", "latency: 4 us"), "b.yaml"))
    assert grown(found) == {"latency": 21 * 10**9}
    assert (found.settings, found.every_link) == ((), False)
    told = difference(read, side(MESH.replace("algorithm: ring", "algorithm: direct"), "b.yaml"))
    assert [(one.key, one.before, one.after) for one in told.settings] == [("algorithm", "ring", "direct")]
    assert json.loads(difference_json(found)) == difference_object(found)


def test_files_that_are_no_results_are_refused(tmp_path: Path) -> None:
    text = as_json(run(loads(RING, "ring.yaml")))
    whole = json.loads(text)
    file = tmp_path / "wrong.json"
    cases = (
        ('{"time": 1,\n  oops}', r"wrong.json:2:3: no JSON: "),
        ("[]", "holds a list"),
        ("3", "is no result"),
        ("{}", "wrong.json:1:1: is no result"),
        ('{"time": "1"}', "wrong.json:1:10: time: expected a number from 0 on"),
        ('{\n"time": NaN}', "wrong.json:2:9: time: expected a number"),
        ("[" * 100_000, "wrong.json:1:1: is no result"),
        (json.dumps({"time": 1.0}), 'has no "critical_path"'),
        (json.dumps({**whole, "critical_path": {"latency": 1}}), 'critical_path has no "overhead"'),
        (json.dumps({**whole, "levels": [3]}), r"levels\[0\]: expected an object"),
        (json.dumps({**whole, "links": {}}), "links: expected a list"),
        (json.dumps({**whole, "levels": [{"name": "x", "bytes": 1, "busy": 1}]}), "has no "),
        (json.dumps({**whole, "time": 2 * whole["time"]}), "time: is not what the parts"),
        (json.dumps({**whole, "levels": whole["levels"] * 2}), "the level is there twice"),
        (text.replace('"latency": 7e-06', '"latency": 6e-06', 1), "time: is not"),
        (text.replace('"latency": 7e-06', '"latency": 8e-06'), "time: is not"),
        (text[::-1].replace("60-e7 :", "60-e8 :", 1)[::-1], "the levels have more of it than the whole"),
        (text.replace('"steps": 7', f'"steps": {"9" * 5000}'), r"wrong.json:\d+:12: steps: expected a whole"),
        (text.replace('"steps": 7', f'"steps": 1{"0" * 400}'), r"wrong.json:\d+:12: steps: expected a whole"),
        (text.replace('"steps": 7', '"steps": true'), "steps: expected a whole number"),
        (text.replace('"scenario": "ring"', '"scenario": NaN'), "wrong.json:2:15: scenario: expected a text"),
        (text.replace('"scenario": "ring"', '"scenario": -Infinity'), "scenario: expected a text"),
        (json.dumps({**whole, "bounds": 3}), "bounds: expected an object"),
        (json.dumps({**whole, "gap": True}), "gap: expected a number"),
    )
    for wrong, message in cases:
        file.write_text(wrong, encoding="utf-8")
        with pytest.raises(ScenarioErrors, match=message):
            read_side(file)
    # counts and bounds may be missing
    file.write_text(json.dumps({**whole, "steps": None, "bounds": {}, "gap": None}), encoding="utf-8")
    found = difference(read_side(file), read_side(file))
    assert found.counts["steps"].before is None
    assert difference_object(found)["bounds"]["best"] == {"a": None, "b": None}


def test_own_code_and_steps_differ_under_the_keys_of_the_file() -> None:
    code = "algorithm: {file: my.py, function: mine, options: {first: 1}}"
    one, other = (
        RING.replace("algorithm: ring", text) for text in (code, code.replace("first: 1", "first: 2"))
    )
    whole = side(RING)
    found = settings(*(replace(whole, scenario=loads(text, "here.yaml")) for text in (one, other)))
    assert [(at.key, at.before, at.after) for at in found] == [
        ("collective.algorithm.options.first", "1", "2")
    ]
    found = settings(whole, replace(whole, scenario=loads(one, "here.yaml")))
    assert {at.key: (at.before, at.after) for at in found} == {
        "collective.algorithm": ("ring", None),
        "collective.algorithm.file": (None, "my.py"),
        "collective.algorithm.function": (None, "mine"),
        "collective.algorithm.options.first": (None, "1"),
    }
    steps = "topology: {kind: full_mesh, ranks: 2, bandwidth: 1 GB/s}\n"
    steps += "collective: {kind: allgather, size: 1 KiB, "
    steps += "steps: [{0 -> 1: copy 0, 1 -> 0: copy 1}, {1 -> 0: copy 0}]}\n"
    found = differ(steps, steps.replace("copy 0}]", "copy all}]")).settings
    assert [(at.key, at.before, at.after) for at in found] == [
        ("collective.steps[1].1 -> 0", "copy 0", "copy all")
    ]


def test_folders_mean_their_results(tmp_path: Path) -> None:
    assert result_file(tmp_path) is None
    assert result_file(tmp_path / "some.yaml") is None
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write(tmp_path / name / "result.json", "{}")
    with pytest.raises(ScenarioErrors, match=r"holds results of several scenarios; name one, e.g. one"):
        result_file(tmp_path)


def test_one_collective_and_several_are_not_compared() -> None:
    text = RING.replace("collective: {kind", "collectives:\n  - {name: only, kind")
    several = side_of("several.yaml", run_together(loads_together(text, "several.yaml")))
    with pytest.raises(CollsimError, match=r"several.yaml is of several collectives and here.yaml of one"):
        difference(side(RING), several)
    same = difference(several, several)
    assert sentence(same) == "Both take 21.34 us."
    assert difference_object(same)["counts"] == {}
    later = side_of(
        "later.yaml", run_together(loads_together(text.replace("size: 1 MiB", "size: 2 MiB"), "later.yaml"))
    )
    assert [one.key for one in settings(several, later)] == ["collectives[0].size"]
