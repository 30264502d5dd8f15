"""`collsim diff` as a person runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import collsim, write

RING = """\
name: Eight in a ring
topology: {kind: ring, ranks: 8, bandwidth: 64 GB/s, latency: 1 us}
collective: {kind: reduce_scatter, algorithm: ring, size: 1 MiB}
"""


def test_a_sentence_and_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = write(tmp_path / "a.yaml", RING), write(tmp_path / "b.yaml", RING.replace("64 GB/s", "32 GB/s"))
    assert collsim("diff", a, b) == 0
    printed = capsys.readouterr().out
    # seven steps of 2^17 bytes, each 2.048 us longer
    assert "B takes 35.67 us, 1.67 times as long as A: +14.34 us, by serialization +14.34 us" in printed
    rows = [line.split() for line in printed.splitlines()]
    assert ["topology.bandwidth", "64", "GB/s", "32", "GB/s"] in rows
    assert ["serialization", "14.336", "us", "28.672", "us", "+14.34", "us", "100.0%"] in rows
    assert [
        "0->1",
        "ring",
        "896",
        "KiB",
        "896",
        "KiB",
        "14.336",
        "us",
        "28.672",
        "us",
        "+14.34",
        "us",
    ] in rows


def test_json_and_what_run_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = write(tmp_path / "a.yaml", RING)
    assert collsim("run", a, "--json") == 0
    result = write(tmp_path / "result.json", capsys.readouterr().out)
    assert collsim("diff", result, "library:first-walk/ring-reduce-scatter-8", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == [
        "a", "b", "time", "difference", "ratio", "sentence", "settings", "critical_path", "levels",
        "at_ranks", "links", "every_link", "counts", "bounds",
    ]  # fmt: skip
    assert found["time"] == {"a": 2.1336e-05, "b": 0.016522072}
    assert found["settings"] == [{"key": "size", "a": str(2**20), "b": str(2**30)}]
    # 7 (M/8 / 64 GB/s): all but 1/1024 of it
    assert found["critical_path"]["serialization"] == {"a": 1.4336e-05, "b": 0.014680064}
    assert (found["every_link"], found["counts"]["steps"]) == (False, {"a": 7, "b": 7})
    assert collsim("diff", tmp_path, result) == 0
    assert "Both take 21.34 us." in capsys.readouterr().out


def test_what_cannot_be_compared_is_told_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = write(tmp_path / "a.yaml", RING)
    several = write(tmp_path / "s.yaml", RING.replace("collective: {", "collectives:\n  - {"))
    wrong = write(tmp_path / "wrong.json", '{"time": 1,\n oops}')
    plan = "library:llm/llama3-405b"
    for arguments, message in (
        ((a, several), "is of several collectives and"),
        ((a, wrong), "wrong.json:2:2: no JSON: "),
        ((a, tmp_path / "none.json"), "there is no such file"),
        ((a, plan), "a parallel plan"),
        ((a, "library:first-walk"), "holds several scenarios; name one"),
    ):
        assert collsim("diff", *arguments) == 2
        error = capsys.readouterr().err
        assert message in error
        assert error.count("\n") == 1
