"""The page on the second seed document: up to date, and every cell of it derived."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

from simulator.llm.notation import parse
from simulator.llm.seed_rules import coefficients, seed_forward, seed_states, seed_stored, seed_training
from simulator.llm.strategies import SEED_ROWS, STRATEGIES
from simulator.llm.symbols import total
from simulator.seeds.page import Cell, Grid, compared, judged, tally
from simulator.seeds.seed2.claims import PRIMITIVES, RELATED, ROWS, STORED, TRAFFIC
from simulator.seeds.seed2.document import document, sections

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanation" / "seed2.md"
MAIN = ROOT / "simulator" / "seeds" / "seed2" / "__main__.py"


def test_the_page_is_what_the_code_says() -> None:
    """After a change: make seed2."""
    assert PAGE.read_text(encoding="utf-8") == document()


def test_all_tables_are_there() -> None:
    assert tuple(ROWS) == SEED_ROWS
    assert set(RELATED) == {"X", "W", "Y"}
    assert set(STORED) == {"P", "R", "C"}
    # 3 x 3 states without the diagonal
    assert len(PRIMITIVES) == 6
    assert set(TRAFFIC) == {name for name, _ in PRIMITIVES.values()}


@pytest.mark.parametrize("name", ROWS)
def test_every_cell_follows_from_the_documents_own_rules(name: str) -> None:
    row, strategy = ROWS[name], STRATEGIES[name]
    found = seed_states(strategy).values()
    letters = ["P" if str(s[0]).startswith("P") else str(s[0]) for s in found]
    assert [said[0] for said in row.states] == letters
    stored = seed_stored(strategy)
    assert [parse(said) for said in row.stored] == list(stored.values())
    assert parse(row.total) == total(stored.values())
    assert [parse(said) for said in row.coefficients] == list(coefficients(stored).values())
    assert parse(row.forward) == seed_forward(strategy)
    training = seed_training(strategy)
    assert training == (parse(row.training) if row.training else None)


def test_what_is_corrected() -> None:
    """Partial sums are no copies, nothing goes through one rank, TP row's Y is Σ, N - 1 boundaries, cards."""
    corrected = [
        cell.said
        for section in sections()
        for block in section.blocks
        if not isinstance(block, str)
        for cell in (block.cells if isinstance(block, Grid) else block)
        if cell.verdict == "corrected"
    ]
    assert len(corrected) == 5
    assert corrected[2] == "R"
    for words, said in zip(
        ("Partial sums", "Only the centralized", "PP", "different layers"),
        (corrected[0], corrected[1], corrected[3], corrected[4]),
        strict=True,
    ):
        assert words in said


def test_verdicts_are_counted() -> None:
    counts = tally(sections())
    assert f"Of {sum(counts.values())} statements {counts['holds']} hold" in document()
    assert counts["not tested"] == 0


def test_judging() -> None:
    assert judged("NLBD", parse("(N-1)LBD")).verdict == "holds if"
    assert judged("LOI", parse("LOI")).verdict == "holds"
    assert judged("0", parse("2LOI")).verdict == "corrected"
    assert str(compared("R", "Σ")) == "R **→ Σ**"
    assert str(Cell("x", "not tested")) == "x (not tested)"


def test_the_page_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "page.md"
    monkeypatch.setattr(sys, "argv", ["seed2", str(file)])
    runpy.run_path(str(MAIN), run_name="__main__")
    assert file.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")
