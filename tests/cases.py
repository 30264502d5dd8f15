"""Many cases in one test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def case(*what: object) -> Iterator[None]:
    """Say in a failure which of many cases it was."""
    try:
        yield
    except Exception as error:
        error.add_note(f"case: {what}")
        raise
