"""`collsim llm step`, as a person types it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.command import collsim, write
from tests.engine.formats.trace_reader import read_trace
from tests.scenario.test_step import PLAN

FIELDS = [
    *("scenario", "model", "ranks", "mesh", "microbatches", "engine"),
    *("time", "time_without_communication", "mfu", "hfu", "model_flops", "hardware_flops"),
    *("tokens", "tokens_per_second", "tokens_per_second_rank", "training"),
    *("bubble", "bubble_share", "ideal_bubble", "ideal_bubble_share"),
    *("breakdown", "stages", "exposed", "levels", "links", "calls", "memory", "ladder", "what_if"),
]


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return write(tmp_path / "plan.yaml", PLAN)


def test_tables(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("llm", "step", plan, "--tokens", "1.5B") == 0
    out = capsys.readouterr().out
    for words in (
        "4 ranks: pp 2 (1f1b), dp 2",
        "a step takes",
        "MFU",
        "1,500,000,000 tokens take",
        "(p - 1) / m",
        "assumed efficiency: matmul ",
    ):
        assert words in out
    for title in ("time of each stage", "exposed:", "levels:", "hottest links", "memoised where"):
        assert title in out
    assert "what if" not in out


def test_files_are_there_before_tables_are_printed(
    plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A reader of the tables may leave after the first line, as `head -1` does."""
    out = tmp_path / "out"
    there: list[bool] = []
    monkeypatch.setattr(
        "simulator.commands.llm_step.print_sheets", lambda *_, **__: there.append((out / "step.csv").exists())
    )
    assert collsim("llm", "step", plan, "--out", out) == 0
    assert there == [True]
    assert capsys.readouterr().out == f"written to {out}\n"


def test_a_report_beside_the_files_is_that_of_the_folder(
    plan: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert collsim("llm", "step", plan, "--report") == 2
    assert "--report goes with --out" in capsys.readouterr().err
    assert collsim("llm", "step", plan, "--out", out, "--report") == 0
    page = (out / "report.html").read_bytes()
    assert collsim("report", out, "--force") == 0
    assert (out / "report.html").read_bytes() == page


def test_json_and_files(plan: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert (
        collsim("llm", "step", plan, "--json", "--ladder", "--what-if", "--tokens", "1024", "--out", out) == 0
    )
    text = capsys.readouterr().out
    found = json.loads(text)
    assert list(found) == FIELDS
    # 8 sequences of 128 tokens are 1024: one step
    assert found["training"] == {"tokens": 1024, "days": pytest.approx(found["time"] / 86400)}
    assert [rung["overlap"] for rung in found["ladder"]] == ["no overlap", "+ pp", "+ dp", "no communication"]
    assert found["what_if"][0] == {**found["what_if"][0], "change": "as it is", "time": found["time"]}
    names = ["scenario.yaml", "step.csv", "step.json", "step.png", "step.svg", "trace.json.gz"]
    assert sorted(path.name for path in out.iterdir()) == names
    # a slice a task, on the track of its stream
    whole = read_trace(out / "trace.json.gz").slices
    assert max(one.end for one in whole) == pytest.approx(1e15 * found["time"])
    assert {one.group for one in whole} == {"stage 0", "stage 1"}
    assert (out / "step.json").read_text("utf-8") == text
    with (out / "step.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == len(whole)
    assert {row["stream"] for row in rows} == {"compute", "send forward", "send backward", "reduce"}
    # a folder in use is refused before anything is simulated
    assert collsim("llm", "step", plan, "--out", out) == 2
    assert "is not empty" in capsys.readouterr().err


def test_csv(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("llm", "step", plan, "--format", "csv") == 0
    stages, exposed, *_ = (
        list(csv.DictReader(io.StringIO(part))) for part in capsys.readouterr().out.split("\n\n")
    )
    assert [row["stage"] for row in stages] == ["0", "1"]
    assert [row["group"] for row in exposed] == ["pp", "dp reduce"]


def test_what_is_refused(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for tokens in ("many", "0", "1.5", "-3", "1Q"):
        assert collsim("llm", "step", plan, "--tokens", tokens) == 2
        assert "expected a number of tokens" in capsys.readouterr().err
    assert collsim("llm", "step", "library:llm/llama3-405b") == 2
    assert 'missing key "topology"' in capsys.readouterr().err
