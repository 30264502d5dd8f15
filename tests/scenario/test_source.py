from __future__ import annotations

from simulator.scenario.parse import parse
from simulator.scenario.source import Source


def test_paths() -> None:
    source: Source = parse("a:\n  - {b: 1}\n  - c\nd: {3: x}\n", "f.yaml")[0]
    assert source.locate(()) == (1, 1)
    assert source.locate(("a",), key=True) == (1, 1)
    assert source.locate(("a", 0, "b")) == (2, 9)
    assert source.locate(("a", 0, "b"), key=True) == (2, 6)
    assert source.locate(("a", 1), key=True) == (3, 5)
    assert source.locate(("a", 7, "b")) == (2, 3)
    assert source.locate(("a", -1)) == (2, 3)
    assert source.locate(("a", "b")) == (2, 3)
    assert source.locate(("a", 1, "c", "d")) == (3, 5)
    assert source.locate(("d", 3)) == (4, 8)
    assert source.existing(("d", 3, "x")) == ("d", 3)
    assert source.find(("d", 4)) is None
    assert source.word(("a", 1)) == "c"
    assert source.word(("a", 0)) is None


def test_error_at_a_path() -> None:
    source, _ = parse("a:\n  b: 1\n", "f.yaml")
    error = source.error("expected 2", ("a", "b"), found="1")
    assert (error.file, error.line, error.column, error.at) == ("f.yaml", 2, 6, ("a", "b"))
    assert str(error) == "f.yaml:2:6: expected 2, found 1"
    assert str(source.error("no b", ("a", "b"), key=True)) == "f.yaml:2:3: no b"
