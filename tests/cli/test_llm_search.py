"""`collsim llm search` as a person types it; killed and begun again, too."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from simulator.llm.search import search as searching
from simulator.llm.search.rating import Rating, rate
from tests.cli.command import collsim, write

SMALL = """\
model: {layers: 4, hidden: 64, heads: 4, vocab: 512, sequence: 128}
hardware: {capacity: 12 MiB, compute: 1 TFLOP/s, memory_bandwidth: 100 GB/s}
topology: {kind: crossbar, ranks: 4, bandwidth: 1 GB/s, overhead: 1 us}
network: {model: cut_through}
batch: {global: 4}
search:
  {tp: [1, 2], pp: [1, 2], recompute: [none], interleave: [1], schedule: [1f1b],
  micro: [1, 3], zero: [0, 3]}
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return write(tmp_path / "small.yaml", SMALL)


def test_tables(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("llm", "search", small, "--workers", "1", "--top", "2") == 0
    out = capsys.readouterr().out
    assert "model on 4 ranks, 4 sequences of 128 tokens a step\n" in out
    assert "\nbest: parallel: {" in out
    assert "fastest plans" in out
    # 3 sequences of a micro-batch do not make 4
    assert "4 sequences are not a multiple of" in out
    assert "Pareto" in out


def test_forms_agree(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("llm", "search", small, "--workers", "1", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    dropped = sum(reason["plans"] for reason in found["dropped"])
    assert (
        dropped + found["simulated"] + found["pruned"] + found["left_out"] + found["failed"] == found["tried"]
    )
    assert [plan["rank"] for plan in found["plans"]] == list(range(1, found["simulated"] + 1))
    times = [plan["time"] for plan in found["plans"]]
    assert times == sorted(times)
    assert collsim("llm", "search", small, "--workers", "1", "--format", "csv") == 0
    out = capsys.readouterr().out.partition("why,")[0]
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [float(row["time"]) for row in rows] == times
    assert [row["Pareto"] == "*" for row in rows] == [plan["pareto"] for plan in found["plans"]]


def test_the_best_is_what_the_step_takes(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Written into a file of its own, the best plan takes the same time."""
    assert collsim("llm", "search", small, "--workers", "1", "--json") == 0
    best = json.loads(capsys.readouterr().out)["plans"][0]
    keys = ("tp", "sp", "pp", "dp", "zero", "schedule")
    parallel = ", ".join(f"{key}: {str(best[key]).lower()}" for key in keys)
    text = SMALL.replace("global: 4", f"global: 4, micro: {best['micro']}")
    one = write(small.parent / "one.yaml", f"{text}parallel: {{{parallel}}}\n")
    assert collsim("llm", "step", one, "--json") == 0
    step = json.loads(capsys.readouterr().out)
    assert step["time"] == best["time"]
    assert step["mfu"] == pytest.approx(best["mfu"], rel=1e-12)


def test_killed_and_begun_again(
    small: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    state = small.parent / "state.db"
    command = [sys.executable, "-m", "simulator", "llm", "search", small, "--workers", "2", "--state", state]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and not stored(state):
            time.sleep(0.01)
        process.kill()
    before = stored(state)
    assert before
    again: list[Rating] = []

    def counted(*asked: object) -> Rating:
        again.append(rate(*asked))  # type: ignore[arg-type]
        return again[-1]

    monkeypatch.setattr(searching, "rate", counted)
    assert collsim("llm", "search", small, "--workers", "1", "--state", state, "--json") == 0
    resumed = capsys.readouterr().out
    assert len(again) == json.loads(resumed)["simulated"] - before
    assert collsim("llm", "search", small, "--workers", "1", "--state", state, "--json") == 0
    assert (capsys.readouterr().out, len(again)) == (resumed, json.loads(resumed)["simulated"] - before)


def stored(state: Path) -> int:
    """Plans in a file, which may not be there yet."""
    if not state.exists():
        return 0
    connection = sqlite3.connect(state, timeout=60)
    try:
        [count] = connection.execute("SELECT COUNT(*) FROM ratings").fetchone()
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()
    return int(count)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("micro: [1, 3]", "micro: [0]", "8:11: search.micro[0]: found the number 0, expected 1 or more"),
        ("zero: [0, 3]", "zero: [0, 0]", "search.zero[1]: found 0 twice"),
        ("schedule: [1f1b]", "schedule: [1f1c]", 'did you mean "1f1b"?'),
        ("micro: [1, 3]", "micr: [1]", 'did you mean "micro"?'),
        ("tp: [1, 2]", "tp: [3]", "7:3: search: no plan of these has 4 ranks"),
        (", compute: 1 TFLOP/s", "", "compute"),
        ("hardware: {capacity: 12 MiB, compute: 1 TFLOP/s, memory_bandwidth: 100 GB/s}\n", "", '"hardware"'),
        ("topology: {kind: crossbar, ranks: 4, bandwidth: 1 GB/s, overhead: 1 us}\n", "", '"topology"'),
        ("batch:", "memory: {phase: inference}\nbatch:", "memory.phase: a search is for training"),
        ("batch:", "parallel: {pp: 2, split: [1, 3]}\nbatch:", "parallel.split: a search shares the layers"),
    ],
)
def test_wrong_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, message: str
) -> None:
    file = write(tmp_path / "wrong.yaml", SMALL.replace(old, new))
    assert collsim("llm", "search", file, "--workers", "1") == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error


def test_a_state_that_is_none(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("llm", "search", small, "--workers", "1", "--state", small) == 2
    assert "small.yaml: cannot keep what a search finds: file is not a database" in capsys.readouterr().err
    assert collsim("llm", "search", small, "--workers", "1", "--state", small.parent / "no" / "where") == 2
    assert "cannot keep what a search finds: unable to open database file" in capsys.readouterr().err
