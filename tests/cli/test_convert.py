"""`collsim convert`: from scenarios and files to files, what is lost, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.algorithms.formats.format_files import HERE, text
from tests.cli.test_commands import collsim, write

SCENARIO = """\
topology: {kind: ring, ranks: 4, bandwidth: 1 GB/s, latency: 1 us}
collective: {kind: allreduce, size: 4000 B, algorithm: ring}
"""

PAIR = HERE / "pair-allreduce.xml"


def test_a_scenario_becomes_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario, xml, goal = (tmp_path / name for name in ("ring.yaml", "ring.xml", "ring.goal"))
    write(scenario, SCENARIO)
    assert collsim("convert", scenario, xml) == 0
    assert capsys.readouterr().out.splitlines() == [
        "lost: the topology, and what it takes to send and to reduce",
        "lost: steps: a rank goes on when it has what it sends",
        f"written to {xml}",
    ]
    assert collsim("check", xml) == 0
    said = "correct: allreduce in 4 chunks, 4 ranks, 24 messages of 24 chunks, 12 reduced, 6 deep"
    assert capsys.readouterr().out.splitlines()[0] == f"ok     {xml} ({said})"
    # the sizes are the scenario's, or said beside the file
    assert collsim("convert", scenario, goal) == 0
    other = tmp_path / "other.goal"
    assert collsim("convert", xml, other, "--size", "4000 B") == 0
    assert goal.read_text().count("send 1000b") == other.read_text().count("send 1000b") == 24


def test_a_scenario_becomes_traces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = write(tmp_path / "ring.yaml", SCENARIO)
    assert collsim("convert", scenario, tmp_path / "ring.et") == 0
    assert "lost: that it does allreduce, and which chunks each message holds" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.glob("*.et")) == [f"ring.{rank}.et" for rank in range(4)]
    # reductions are given no time: the topology and the traces take as long as the scenario
    again = write(
        tmp_path / "again.yaml",
        SCENARIO.splitlines()[0] + '\nworkload: {file: "ring.*.et", messages: rendezvous}\n',
    )
    assert collsim("run", scenario, again, "--json") == 0
    one, other = json.loads(capsys.readouterr().out)
    assert one["time"] == other["time"] == pytest.approx(12e-6)
    assert collsim("convert", scenario, tmp_path / "ring.*.et") == 2
    assert collsim("convert", PAIR, tmp_path / "pair.et") == 2
    assert "execution traces are written of scenarios" in capsys.readouterr().err
    barrier = write(tmp_path / "barrier.yaml", SCENARIO + "network: {sync: barrier}\n")
    assert collsim("convert", barrier, tmp_path / "barrier.et") == 2
    assert "waits at barriers" in capsys.readouterr().err


def test_what_a_file_says_beside_is_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = (
        text("pair-allreduce.xml")
        .replace('proto="Simple"', 'proto="LL"')
        .replace('maxBytes="0"', 'maxBytes="1024"')
    )
    file = write(tmp_path / "ll.xml", said)
    assert collsim("convert", file, tmp_path / "again.xml") == 0
    assert [line for line in capsys.readouterr().out.splitlines() if line.startswith("lost")] == [
        'lost: proto="LL"',
        'lost: maxBytes="1024"',
    ]


def test_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = write(tmp_path / "out.xml", "mine")
    assert collsim("convert", PAIR, out) == 2
    assert out.read_text() == "mine"
    assert "exists; --force overwrites it" in capsys.readouterr().err
    assert collsim("convert", PAIR, out, "--force") == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["out"], "cannot tell the format of out by its name; say --to "),
        (["out.xml", "--to", "mscl"], 'no format "mscl" is written; expected '),
        (["out.xml", "--from", "goal"], f'{PAIR}:1:1: found "<", which no GOAL file has'),
        (["out.goal"], "GOAL says how many bytes each message has; it needs a size"),
    ],
)
def test_what_cannot_be_done_is_refused(
    arguments: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert collsim("convert", PAIR, *arguments) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_schedule_that_is_wrong_is_not_converted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = text("pair-allreduce.xml").replace('depid="0" deps="0"', 'depid="-1" deps="-1"', 1)
    file, out = write(tmp_path / "wrong.xml", wrong), tmp_path / "out.goal"
    assert collsim("convert", file, out, "--size", "1 kB") == 1
    assert f"{file}:10: data race on i[0]" in capsys.readouterr().err
    assert not out.exists()


def test_a_scenario_of_several_has_no_one_schedule(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert collsim("convert", "library:together/two-rings-one-uplink", tmp_path / "out.xml") == 2
    assert "several collectives" in capsys.readouterr().err


def test_topologies_are_converted_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario, yml, graph = (tmp_path / name for name in ("ring.yaml", "net.yml", "net.graphml"))
    write(scenario, SCENARIO)
    assert collsim("convert", scenario, yml) == 0
    assert "npus_count: [ 4 ]" in yml.read_text().replace("[4]", "[ 4 ]")
    capsys.readouterr()
    # what is read was converted: ASTRA-sim's GB are GiB
    assert collsim("convert", yml, graph) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-1] == f"written to {graph}"
    assert all(line.startswith("lost: ") for line in said[:-1])
    assert collsim("topology", graph) == 0
    assert "multilevel, dims 4" in capsys.readouterr().out
    # a topology is no schedule
    assert collsim("convert", graph, tmp_path / "out.xml") == 2
    assert collsim("convert", PAIR, tmp_path / "out.dot") == 2
    assert collsim("convert", PAIR, tmp_path / "out", "--from", "msccl", "--to", "dot") == 2
    assert "msccl is not converted into dot" in capsys.readouterr().err
