"""`collsim report`, and `collsim run --report`, as a person runs them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import RING, collsim, write
from tests.plots.page_reader import data_of


def names_in(path: Path) -> list[str]:
    return [run["name"] for run in data_of(path.read_text("utf-8"))]


def test_a_run_with_its_report_and_the_report_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = write(tmp_path / "ring.yaml", RING), tmp_path / "out"
    assert collsim("run", file, "--out", out, "--report") == 0
    page = (out / "report.html").read_bytes()
    assert names_in(out / "report.html") == ["Eight in a ring"]
    assert collsim("report", out) == 2
    assert "report.html exists; --force overwrites it" in capsys.readouterr().err
    assert collsim("report", out, "--force") == 0
    assert (out / "report.html").read_bytes() == page
    assert collsim("report", file, "--out", tmp_path / "file.html") == 0
    assert (tmp_path / "file.html").read_bytes() == page
    assert capsys.readouterr().out.endswith(f"written to {tmp_path / 'file.html'}\n")


def test_several_runs_in_one_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.yaml", RING)
    write(tmp_path / "b.yaml", RING.replace("Eight in", "Eight on"))
    assert collsim("run", "a.yaml", "b.yaml", "--out", "both", "--report") == 0
    assert names_in(tmp_path / "both" / "report.html") == ["Eight in a ring", "Eight on a ring"]
    assert collsim("report", "both/Eight-on-a-ring", "a.yaml") == 0
    assert names_in(tmp_path / "report.html") == ["Eight on a ring", "Eight in a ring"]
    assert collsim("report", "both", "--out", "all.html") == 0
    assert (tmp_path / "all.html").read_bytes() == (tmp_path / "both" / "report.html").read_bytes()


def test_another_time_than_the_folder_tells_is_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert collsim("run", write(tmp_path / "ring.yaml", RING), "--out", out) == 0
    kept = out / "scenario.yaml"
    kept.write_text(kept.read_text("utf-8").replace("64 GB/s", "32 GB/s"), encoding="utf-8")
    assert collsim("report", out) == 0
    said = capsys.readouterr().err
    assert f"{out}: warning: {out / 'result.json'} tells 0.016522072 s, but its scenario takes" in said
    assert "when it is run now" in data_of((out / "report.html").read_text("utf-8"))[0]["warnings"][0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "ring.yaml", "--report"), "--report goes with --out"),
        (("report",), "Missing argument 'DIR...'"),
        (("report", "wrong.yaml"), 'did you mean "ring"?'),
        (("report", "nowhere"), "nowhere"),
        (("report", "ring.yaml", "--out", "."), "is a folder; a file should go there"),
        (("report", "empty"), "empty"),
        (("report", "ring.yaml", "--out", "ring.yaml", "--force"), "ring.yaml must end in .html"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(
    arguments: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "ring.yaml", RING)
    write(tmp_path / "wrong.yaml", RING.replace("algorithm: ring", "algorithm: rong"))
    (tmp_path / "empty").mkdir()
    before = sorted(tmp_path.rglob("*"))
    assert collsim(*arguments) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.err.count("\n") == 1
    assert not captured.out
    assert sorted(tmp_path.rglob("*")) == before
