"""The small files of the tests, and the larger ones that a checkout may have beside it."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent / "files"
FILES = sorted(HERE.iterdir())
SHARED = Path(__file__).parents[4] / "shared" / "data"


def text(name: str) -> str:
    """Text of a small file."""
    return (HERE / name).read_text(encoding="utf-8")
