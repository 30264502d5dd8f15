"""The pages of docs/questions print what collsim prints. Run as a script, this writes their output anew."""

from __future__ import annotations

import io
import re
import shlex
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from simulator.cli import cli

FOLDER = Path(__file__).parents[2] / "docs" / "questions"
PAGES = sorted(FOLDER.glob("[0-9]*.md"))
BLOCK = re.compile(
    r"(?:<!-- leaves out: (?P<without>.*?) -->\n)?```console\n(?P<text>\$ .*?)```\n", re.DOTALL
)


def rewritten(page: str) -> str:
    """A page with what its commands print today."""
    return BLOCK.sub(_block, page)


def _block(found: re.Match[str]) -> str:
    without = found["without"]
    titles = without.split("; ") if without else []
    lines = [line for line in found["text"].splitlines() if line.startswith("$ ")]
    shown = [f"{line}\n{_shortened(_printed(line), titles)}" for line in lines]
    comment = f"<!-- leaves out: {without} -->\n" if without else ""
    return f"{comment}```console\n{chr(10).join(shown)}\n```\n"


def _printed(line: str) -> str:
    out = io.StringIO()
    with redirect_stdout(out):
        cli.main(shlex.split(line.removeprefix("$ collsim ")), prog_name="collsim", standalone_mode=False)
    return out.getvalue()


def _shortened(text: str, without: list[str]) -> str:
    """Output without tables of some titles: an ellipsis is there instead."""
    text = "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")
    # a table is set off from its title, and from what follows
    parts = text.split("\n\n")
    kept: list[str] = []
    left_out = False
    for part in parts:
        left_out = part.startswith(tuple(without)) or (left_out and part.startswith("  "))
        if not left_out:
            kept.append(part)
        elif kept[-1] != "...":
            kept.append("...")
    return "\n\n".join(kept)


def test_every_question_has_a_page_and_a_scenario() -> None:
    numbers = [f"{number:02}" for number in range(1, 11)]
    scenarios = (FOLDER.parents[1] / "scenarios" / "llm").glob("question-*.yaml")
    assert [page.name[:2] for page in PAGES] == numbers
    assert sorted(path.name.removeprefix("question-")[:2] for path in scenarios) == numbers
    index = (FOLDER / "README.md").read_text("utf-8")
    for page in PAGES:
        first = BLOCK.search(page.read_text("utf-8"))
        assert first is not None
        command = first["text"].splitlines()[0].removeprefix("$ ")
        assert f"library:llm/question-{page.name[:2]}" in command
        assert f"`{command}`" in index
        assert f"]({page.name})" in index


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_prints_what_collsim_prints(page: Path) -> None:
    text = page.read_text("utf-8")
    assert rewritten(text) == text, "`make questions` writes the pages anew"


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(rewritten(page.read_text("utf-8")), encoding="utf-8")
