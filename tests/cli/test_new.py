"""`collsim new`, `library` and `schema`: files to begin with, and what an editor needs."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from simulator.cli import cli
from simulator.commands import new as new_command
from simulator.commands.sections import SECTIONS
from simulator.scenario.library import library_folder, library_names
from simulator.scenario.schema import NAME, schema_text
from tests.cli.command import collsim


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_new_prints_without_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("new", "--topology", "torus", "--collective", "allgather", "--ranks", 6) == 0
    text, _ = capsys.readouterr()
    assert "\n  dims: [3, 2] " in text
    assert "yaml-language-server" not in text
    assert collsim("new", "--topology", "torus", "--collective", "allgather", "--ranks", 6) == 0
    assert capsys.readouterr().out == text


def test_new_writes_what_check_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("new", "mine.yaml", "--yes") == 0
    assert collsim("check", "mine.yaml") == 0
    assert capsys.readouterr().out.startswith("written to mine.yaml\nok     mine.yaml\n")
    before = (tmp_path / "mine.yaml").read_bytes()
    assert collsim("new", "mine.yaml", "--ranks", 4) == 2
    assert "mine.yaml exists; --force overwrites it" in capsys.readouterr().err
    assert (tmp_path / "mine.yaml").read_bytes() == before
    assert collsim("new", "mine.yaml", "--ranks", 4, "--force") == 0
    assert b"  ranks: 4 " in (tmp_path / "mine.yaml").read_bytes()


def test_new_brings_the_schema(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    assert collsim("new", "mine.yaml", "--schema") == 0
    assert (tmp_path / NAME).read_text("utf-8") == schema_text()
    # what lies above is good for all below, and is not written again
    assert collsim("new", "deep/other.yaml", "--schema") == 0
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["other.yaml"]
    for file, path in (("mine.yaml", NAME), ("deep/other.yaml", f"../{NAME}")):
        first, *_ = (tmp_path / file).read_text("utf-8").split("\n")
        assert first == f"# yaml-language-server: $schema={path}"


def test_new_asks_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    asked = {
        "kind": "collective",
        "topology": "hypercube",
        "algorithm": "binomial",
        "ranks": 16,
        "size": "2 MiB",
    }
    questions = []

    def answer(name: str, **kept: object) -> object:
        questions.append((name, kept["default"]))
        return asked[name]

    monkeypatch.setattr(new_command, "_is_asked", lambda: True)
    monkeypatch.setattr(click, "prompt", answer)
    assert collsim("new", "--collective", "broadcast") == 0
    assert questions == [
        *(("kind", "collective"), ("topology", "ring"), ("algorithm", "binomial")),
        *(("ranks", 8), ("size", "1 MiB")),
    ]
    text = capsys.readouterr().out
    assert "  dimension: 4 " in text
    assert "  size: 2 MiB " in text


@pytest.mark.parametrize("path", ["first-walk/late-rank", "library:first-walk/late-rank"])
def test_new_copies_the_library(path: str, tmp_path: Path) -> None:
    assert collsim("new", "late.yaml", "--from", path) == 0
    original = (library_folder() / "first-walk/late-rank.yaml").read_text("utf-8")
    assert (tmp_path / "late.yaml").read_text("utf-8") == original.partition("\n")[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--topology", "tours"), 'there is no topology or preset "tours"; did you mean "torus"?'),
        (("--collective", "scater"), 'there is no collective "scater"; did you mean "scatter"?'),
        (("--algorithm", "sparbit"), 'there is no algorithm of allreduce "sparbit"; expected ring'),
        (("--kind", "plan", "--model", "llama3"), 'there is no model "llama3"; did you mean "llama3-405b"?'),
        (("--size", "8"), 'Invalid value for --size: 8 needs a unit, e.g. "8 GiB"'),
        (("--ranks", "0"), "Invalid value for '--ranks'"),
        (("--topology", "hypercube", "--ranks", "6"), "there is no hypercube of 6 ranks"),
        (("--kind", "together", "--ranks", "1"), "several collectives need 2 ranks or more"),
        (("--from", "seed1"), "library:seed1 is a theme; name one of its scenarios"),
        (("--from", "seed1/none"), 'the library has no scenario "seed1/none"'),
        (("--from", "seed1/ring-full-cost", "--size", "1 B"), "found both --from and --size"),
        (("--schema",), "--schema needs FILE"),
        (("none/there.yaml",), "cannot write"),
    ],
)
def test_wrong_wishes(
    arguments: tuple[str, ...], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert collsim("new", *arguments) == 2
    out, error = capsys.readouterr()
    assert message in error
    assert len(error.splitlines()) == 1
    assert out == ""
    assert list(tmp_path.iterdir()) == []


def test_library_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("library") == 0
    table, _ = capsys.readouterr()
    assert "  library:first-walk/late-rank " in table
    assert sum(f"library:{name} " in table for name in library_names()) == len(library_names())
    assert collsim("new", "--list") == 0
    assert capsys.readouterr().out == table
    assert collsim("library", "library:together", "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == 5
    assert rows[0].keys() == {"library", "name", "shows"}
    assert all(row["library"].startswith("library:together/") and row["shows"] for row in rows)
    assert collsim("library", "togehter") == 2
    assert 'there is no theme "togehter"; did you mean "together"?' in capsys.readouterr().err


def test_schema_is_printed_or_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("schema") == 0
    assert capsys.readouterr().out == schema_text()
    assert collsim("schema", "--kind", "preset", "--out", "preset.json") == 0
    assert (tmp_path / "preset.json").read_text("utf-8") == schema_text("preset")
    assert collsim("schema", "--out", "preset.json") == 2
    assert "preset.json exists; --force overwrites it" in capsys.readouterr().err
    assert collsim("schema", "--out", "preset.json", "--force") == 0


@pytest.mark.parametrize("words", [(), ("llm",)])
def test_without_a_command_the_help_is_shown_as_it_is(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    # newer versions of click call it a usage error
    assert collsim(*words) in (0, 2)
    text = "".join(capsys.readouterr())
    assert text.startswith("Usage: collsim")
    assert "\n\nOptions:\n" in text


def test_every_command_stands_under_one_heading(capsys: pytest.CaptureFixture[str]) -> None:
    named = [name for names in SECTIONS.values() for name in names]
    assert sorted(named) == sorted(cli.commands)
    assert collsim("--help") == 0
    text, _ = capsys.readouterr()
    lines = text.splitlines()
    # a line each, whole
    for name, command in cli.commands.items():
        (line,) = (line for line in lines if line.startswith(f"  {name} "))
        assert line.endswith(command.get_short_help_str(200))
        assert not line.endswith("...")
