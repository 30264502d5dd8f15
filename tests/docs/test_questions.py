"""The ten questions: a scenario, a page and a row of the index each."""

from __future__ import annotations

from tests.docs.page import BLOCK, DOCS, ROOT

FOLDER = DOCS / "questions"
PAGES = sorted(FOLDER.glob("[0-9]*.md"))


def test_every_question_has_a_page_and_a_scenario() -> None:
    numbers = [f"{number:02}" for number in range(1, 11)]
    scenarios = (ROOT / "scenarios" / "llm").glob("question-*.yaml")
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
