"""Schedules in files of other tools: `collsim check` proves them, a scenario times them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.algorithms.formats.format_files import HERE, text
from tests.cli.test_commands import collsim, write

SCENARIO = """\
topology: {kind: full_mesh, ranks: 2, bandwidth: 1 GB/s, latency: 1 us}
collective: {kind: allreduce, size: 10000 B, algorithm: {schedule: pair-allreduce.xml}}
reduction: {bandwidth: 10 GB/s}
expect: {time: 12 us, transfers: 2, depth: 1, steps: 1, bytes_reduced_max: 10000, verified: full}
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    write(tmp_path / "pair-allreduce.xml", text("pair-allreduce.xml"))
    return write(tmp_path / "pair.yaml", SCENARIO)


def test_check_proves_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    file = HERE / "pair-allreduce.xml"
    assert collsim("check", file) == 0
    said = "correct: allreduce in 2 chunks, 2 ranks, 2 messages of 4 chunks, 4 reduced, 1 deep"
    assert capsys.readouterr().out.splitlines() == [f"ok     {file} ({said})", "1 passed, 0 failed"]


def test_check_says_where_a_proof_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = text("pair-allreduce.xml").replace('depid="0" deps="0"', 'depid="-1" deps="-1"', 1)
    file = write(tmp_path / "wrong.xml", wrong)
    assert collsim("check", file) == 1
    assert capsys.readouterr().out.startswith(f"{file}:10: data race on i[0] of rank 0: ")


def test_check_refuses_what_is_no_schedule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "wrong.xml", "<algo>\n<gpu/></algo>")
    assert collsim("check", file) == 2
    assert capsys.readouterr().err == f'{file}:2:1: missing attribute "id" in <gpu>\n'


def test_a_scenario_times_a_file(scenario: Path) -> None:
    assert collsim("check", scenario) == 0


def test_results_keep_the_file(scenario: Path, tmp_path: Path) -> None:
    assert collsim("run", scenario, "--out", tmp_path / "out") == 0
    again = tmp_path / "out" / "scenario.yaml"
    assert (tmp_path / "out" / "pair-allreduce.xml").is_file()
    assert collsim("check", again) == 0
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert (result["algorithm"], result["time"], result["analytic"]) == ("pair-allreduce", 12e-6, None)


@pytest.mark.parametrize("command", ["explain", "compare", "report"])
def test_other_commands_take_it(command: str, scenario: Path, tmp_path: Path) -> None:
    more = [tmp_path / "report.html"] if command == "report" else []
    assert collsim(command, scenario, *(["--out", *more] if more else [])) == 0


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('depid="0" deps="0"', 'depid="-1" deps="-1"', "pair-allreduce.xml:10: data race on i[0] of rank 0"),
        ('type="re" srcbuf="s"', 'type="re" srcbuf="o"', "pair-allreduce.xml:10: rank 0, thread block 1, "),
        ('"-1" deps="-1" hasdep="1"', '"1" deps="2" hasdep="1"', "pair-allreduce.xml:5: deadlock: rank 0, "),
        ('type="s" srcbuf="i"', 'type="s" srcbuf="s"', "pair-allreduce.xml:8: data race on s[0] of rank 0"),
    ],
)
def test_a_wrong_file_of_a_scenario_is_told_by_its_line(
    old: str, new: str, said: str, scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(scenario.with_name("pair-allreduce.xml"), text("pair-allreduce.xml").replace(old, new, 1))
    assert collsim("run", scenario) == 1
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "pair-allreduce.xml",
            "none.xml",
            '2:68: collective.algorithm.schedule: there is no file "none.xml"',
        ),
        ("kind: allreduce", "kind: broadcast", "the file does allreduce, not broadcast"),
        ("ranks: 2", "ranks: 3", "the file is for 2 ranks, the topology has 3"),
        ("size: 10000 B", "size: 10000 B, segments: 2", 'unknown key "segments" in collective'),
        ("pair-allreduce.xml}", "pair-allreduce.xml, x: 1}", 'unknown key "x" in collective.algorithm'),
    ],
)
def test_a_file_that_does_not_fit_is_refused(
    old: str, new: str, said: str, scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(scenario, SCENARIO.replace(old, new))
    assert collsim("run", scenario) == 2
    assert said in capsys.readouterr().err


def test_goal_says_its_own_sizes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "relay.goal", text("relay.goal"))
    assert collsim("check", tmp_path / "relay.goal") == 0
    assert "(comes to an end: 3 ranks, 3 messages of unknown content)" in capsys.readouterr().out
    timed = """\
topology: {kind: full_mesh, ranks: 3, bandwidth: 1 GB/s, latency: 2.5 us}
collective: {kind: all_to_all, algorithm: {schedule: relay.goal}}
expect: {time: 11.1 us, transfers: 3, verified: no}
"""
    file = write(tmp_path / "relay.yaml", timed)
    assert collsim("check", file) == 0
    write(file, timed.replace("all_to_all,", "all_to_all, size: 1 kB,"))
    assert collsim("check", file) == 2
    assert "2:32: collective.size: the file says how many bytes it moves" in capsys.readouterr().err


def test_a_scenario_may_say_the_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "graph.xml", text("three-gpus.nccl-graph.xml"))
    timed = """\
topology: {kind: full_mesh, ranks: 3, bandwidth: 1 GB/s, latency: 1 us}
collective: {kind: allreduce, size: 6000 B, algorithm: {schedule: graph.xml, format: nccl-tree}}
expect: {depth: 4, transfers: 4, time: 28 us}
"""
    file = write(tmp_path / "tree.yaml", timed)
    assert collsim("check", file) == 0
    write(file, timed.replace("nccl-tree", "nccl-tee"))
    assert collsim("check", file) == 2
    assert "2:86: collective.algorithm.format: found the" in capsys.readouterr().err


def test_several_take_files_that_compute(tmp_path: Path) -> None:
    write(tmp_path / "relay.goal", text("relay.goal"))
    several = """\
topology: {kind: full_mesh, ranks: 6, bandwidth: 1 GB/s, latency: 2.5 us}
collectives:
  - {name: a, kind: all_to_all, algorithm: {schedule: relay.goal}, ranks: [0, 1, 2]}
  - {name: b, kind: all_to_all, algorithm: {schedule: relay.goal}, ranks: [3, 4, 5]}
expect: {time: 11.1 us}
"""
    assert collsim("check", write(tmp_path / "several.yaml", several)) == 0
