"""`collsim sweep` as a person runs it: what it prints, what it refuses, and what a kill leaves behind."""

from __future__ import annotations

import csv
import json
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from time import sleep

import pytest

from tests.cli.command import RING, collsim, write

SWEEP = f"""\
{RING}sweep:
  vary:
    collective.size: 1KiB..4KiB
    topology.ranks: [4, 8]
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return write(tmp_path / "small.yaml", SWEEP)


def test_prints_a_table_and_writes_a_folder_once(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert collsim("sweep", small, "--workers", 1, "--out", out) == 0
    printed = capsys.readouterr()
    rows = [line.split() for line in printed.out.splitlines()]
    # 3 (1 us + 1 KiB / 64 GB/s + 1 KiB / 512 GB/s) of messages of 1 KiB
    assert ["4", "KiB", "4", "3.054", "us"] in [row[:5] for row in rows]
    assert f"written to {out}" in printed.out
    assert printed.err == ""
    before = (out / "sweep.csv").read_bytes()
    assert collsim("sweep", small, "--workers", 1, "--out", out) == 0
    assert (out / "sweep.csv").read_bytes() == before
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "a.txt").touch()
    assert collsim("sweep", small, "--out", tmp_path / "taken") == 2
    assert "is not empty; --force" in capsys.readouterr().err


def test_json_csv_and_what_is_varied_beside_the_file(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vary = ("--vary", "topology.ranks=2..8", "--vary", "collective.size=[1 KiB, 2 KiB, 3 KiB]")
    vary += ("--vary", "reduction={bandwidth: 1 GB/s}", "--workers", 1)
    assert collsim("sweep", small, *vary, "--zip", "--json") == 2
    assert "zip takes the first values together" in capsys.readouterr().err
    assert collsim("sweep", small, *vary, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["varied"] == ["collective.size", "topology.ranks", "reduction"]
    assert [row["collective.size"] for row in found["rows"]] == [1024] * 3 + [2048] * 3 + [3072] * 3
    assert [row["ranks"] for row in found["rows"]] == [2, 4, 8] * 3
    assert collsim("sweep", small, *vary, "--csv") == 0
    assert len(list(csv.reader(capsys.readouterr().out.splitlines()))) == 10
    assert collsim("sweep", small, "--vary", "collective.size=1KiB..1GiB", "--points", 2, "--csv") == 0
    sizes = {row[0] for row in csv.reader(capsys.readouterr().out.splitlines()[1:])}
    assert sizes == {"1024", "1073741824"}


def test_points_that_fail_are_one_and_the_rest_goes_on(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert collsim("sweep", small, "--vary", "topology.ranks=4,0", "--workers", 1) == 1
    printed = capsys.readouterr()
    assert len([line for line in printed.out.splitlines() if "KiB" in line]) == 3
    first, *_, last = printed.err.splitlines()
    assert first == "size 1 KiB, ranks 0: --vary: topology.ranks: found the number 0, expected 1 or more"
    assert last == "3 of 6 points failed"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--vary", "topology.rank=8"), '--vary: unknown key "rank" in topology; did you mean "ranks"?'),
        (("--vary", "topology.ranks"), 'found "topology.ranks", expected FIELD=VALUES'),
        (("--vary", "topology.ranks=[8"), "topology.ranks: not YAML"),
        (("--vary", "topology.ranks=1", "--vary", "topology.ranks=2"), 'found "topology.ranks" twice'),
        (("--vary", "topology.ranks=8..4"), "--vary: topology.ranks: a range goes from"),
        (("--seeds", "3"), "seeds: nothing in this scenario is random; a network.routing of ecmp, spray or"),
        (("--seeds", "x"), 'found "x", expected how many, as 5, or which, as 1,7,9'),
        (("--json", "--csv"), "are two forms"),
        (("--dask", "a", "--scheduler-file", "b"), "are two names of a scheduler"),
        (("--dask", "a", "--workers", "2"), "a Dask cluster has its own"),
    ],
)
def test_what_is_wrong(
    options: tuple[str, ...], message: str, small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert collsim("sweep", small, *options) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.out == ""


def test_other_commands_say_who_runs_a_sweep(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = f'{small}:5:1: has a "sweep", which "collsim sweep" runs\n'
    for command in (("run",), ("explain",), ("compare",), ("llm", "memory")):
        assert collsim(*command, small) == 2
        assert capsys.readouterr().err == said
    assert collsim("check", small) == 2
    assert said in capsys.readouterr().err
    write(small.with_name("ring.yaml"), RING + "expect: {steps: 7}\n")
    assert collsim("check", small.parent) == 0
    printed = capsys.readouterr()
    assert printed.err == 'left out 1 sweep, which "collsim sweep" reads\n'
    assert "1 passed, 0 failed" in printed.out
    assert collsim("run", small.parent) == 0
    assert 'left out 1 sweep, which "collsim sweep" reads' in capsys.readouterr().err


def rows_in(file: Path) -> int:
    """Rows that are kept; none while there is no file or no table yet."""
    if not file.is_file():
        return 0
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
        try:
            return int(connection.execute("SELECT COUNT(*) FROM rows").fetchone()[0])
        except sqlite3.OperationalError:
            return 0


def test_killed_and_begun_again_every_row_is_there_once(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    # so many that it is not over before it is killed
    vary = (
        "--vary",
        "topology.ranks=32",
        "--vary",
        f"collective.size={','.join(f'{i} kB' for i in range(40))}",
    )
    command = ("sweep", str(small), *vary, "--workers", "2", "--out", str(out))
    process = subprocess.Popen([sys.executable, "-m", "simulator", *command], stdout=subprocess.DEVNULL)
    while rows_in(out / "sweep.sqlite") < 5 and process.poll() is None:
        sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    kept = rows_in(out / "sweep.sqlite")
    assert 5 <= kept < 40
    assert not (out / "sweep.csv").exists()
    assert collsim(*command) == 0
    assert rows_in(out / "sweep.sqlite") == 40
    rows = json.loads((out / "sweep.json").read_text("utf-8"))["rows"]
    assert [row["size"] for row in rows] == [1000 * i for i in range(40)]
    assert all(row["error"] is None and row["verified"] == "full" for row in rows)


def test_interrupted_it_says_what_is_kept(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("simulator.scenario.sweep.run.run_batch", stop)
    assert collsim("sweep", small, "--workers", 1, "--out", tmp_path / "out") == 130
    said = f"what was found is kept in {tmp_path / 'out'}; the same command goes on from there"
    lines = capsys.readouterr().err.splitlines()
    assert (lines[0], lines[-1]) == (said, "interrupted")
