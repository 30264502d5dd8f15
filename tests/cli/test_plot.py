"""`collsim plot` as a person runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.scenario.library import library_names
from simulator.scenario.picture_kinds import PICTURES
from tests.cli.command import collsim, write

RING = """\
name: Four in a ring
topology: {kind: ring, ranks: 4, bandwidth: 64 GB/s, latency: 1 us}
collective: {kind: reduce_scatter, algorithm: ring, size: 1 MiB}
"""
HEADS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF-", "gif": b"GIF89a"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a run has written, beside its scenario."""
    home = tmp_path_factory.mktemp("plot")
    assert collsim("run", write(home / "ring.yaml", RING), "--out", home / "out") == 0
    return home / "out"


def test_a_folder_is_drawn_into_and_its_pictures_are_the_same_as_of_its_file(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert collsim("plot", folder, "levels") == 0
    assert capsys.readouterr().out.endswith(f"written to {folder / 'levels.png'}\n")
    own = tmp_path / "own.png"
    assert collsim("plot", folder.parent / "ring.yaml", "levels", "--out", own) == 0
    assert own.read_bytes() == (folder / "levels.png").read_bytes()
    # the run's own timeline
    again = tmp_path / "again.svg"
    assert collsim("plot", folder, "timeline", "--out", again) == 0
    assert again.read_bytes() == (folder / "timeline.svg").read_bytes()


@pytest.mark.parametrize(("kind", "form"), [("attribution", "pdf"), ("topology", "svg"), ("gif", "gif")])
def test_forms_of_files(kind: str, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "ring.v2.yaml", RING)
    assert collsim("plot", "ring.v2.yaml", kind, "--format", form) == 0
    # a name may have a point
    assert (tmp_path / f"ring.v2-{kind}.{form}").read_bytes().startswith(HEADS[form])
    assert collsim("plot", "ring.v2.yaml", kind, "--format", form) == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("timelin",), 'there is no picture "timelin"; did you mean "timeline"?'),
        (("memory",), 'there is no picture "memory" of one collective; there are timeline, heatmap'),
        (("timeline",), "timeline.png exists; --force overwrites it"),
        (("timeline", "--colour", "busy"), '"timeline" takes no colour; topology does'),
        (("levels", "--format", "bmp"), 'there is no format "bmp"'),
        (("gif", "--format", "png"), 'there is no format "png"; expected gif'),
        (("levels", "--out", "a.svg", "--format", "pdf"), "found both --format pdf and --out a.svg"),
        (("levels", "--out", "a.gif"), "must end in .png, .svg or .pdf"),
        (("sizes", "--sizes", "1KiB..x"), 'sizes: "x" is not a size'),
    ],
)
def test_what_is_wrong_is_said_in_a_line(
    arguments: tuple[str, ...], said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    before = sorted(folder.iterdir())
    assert collsim("plot", folder, *arguments) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.err.count("\n") == 1
    assert sorted(folder.iterdir()) == before


def test_what_cannot_be_read_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("plot", tmp_path, "timeline") == 2
    assert 'holds no "scenario.yaml"' in capsys.readouterr().err
    assert collsim("plot", tmp_path / "nothing", "timeline") == 2
    assert "there is no such file" in capsys.readouterr().err
    assert collsim("plot", "library:llm", "timeline") == 2
    assert "holds several scenarios; name one" in capsys.readouterr().err


def test_the_help_names_every_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("plot", "--help") == 0
    told = capsys.readouterr().out.partition("Kinds:")[2]
    assert [line.split()[0] for line in told.splitlines() if line[2:3].strip()] == list(PICTURES)


def test_the_page_has_a_picture_of_every_kind_and_the_command_that_draws_it() -> None:
    root = Path(__file__).parents[2]
    page = (root / "docs" / "reference" / "pictures.md").read_text(encoding="utf-8")
    drawn = {}
    for words in (line.split() for line in page.splitlines() if line.startswith("collsim plot library:")):
        drawn[words[words.index("--out") + 1]] = words[3]
        assert words[2].removeprefix("library:") in library_names()
    assert set(drawn.values()) == set(PICTURES)
    for path in drawn:
        assert f"](../{path.removeprefix('docs/')})" in page
        assert (root / path).is_file()
