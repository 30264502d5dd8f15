"""`collsim explain` as a person runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import RING, collsim, write


def test_the_tables_and_the_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "ring.yaml", RING)
    assert collsim("explain", file) == 0
    out = capsys.readouterr().out
    assert out.startswith("Eight in a ring\n16.52 ms is 89% serialization; doubling beta")
    for words in (
        "where the time goes",
        "the hottest of 8 links",
        "what no algorithm can beat",
        "twice as good",
    ):
        assert words in out
    assert collsim("explain", file, "--json") == 0
    first = capsys.readouterr().out
    assert collsim("explain", file, "--json") == 0
    assert capsys.readouterr().out == first
    value = json.loads(first)
    assert (value["scenario"], value["time"]) == ("Eight in a ring", 0.016522072)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (RING.replace("ring, ranks: 8", "ring, ranks: 0"), ":2:31: "),
        (RING.replace("algorithm: ring", "algorithm: rong"), 'did you mean "ring"?'),
    ],
)
def test_what_is_wrong_is_said(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert collsim("explain", write(tmp_path / "wrong.yaml", text)) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.err.count("\n") == 1
    assert not captured.out


def test_one_file_at_a_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        write(tmp_path / f"{name}.yaml", RING)
    assert collsim("explain", tmp_path) == 2
    assert "holds several scenarios; name one" in capsys.readouterr().err
    assert collsim("explain", tmp_path / "c.yaml") == 2
