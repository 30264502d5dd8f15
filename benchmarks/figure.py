"""A row of the table, and the time that something takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import le
from pathlib import Path
from time import process_time
from typing import TypeVar

ROOT = Path(__file__).parents[1]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of the table."""

    name: str
    value: float
    unit: str
    better: Callable[[float, float], bool] | None = None
    target: float = 0.0

    def __str__(self) -> str:
        goal = verdict = ""
        if self.better is not None:
            goal = f"{'<=' if self.better is le else '>='} {self.target:g}"
            verdict = "ok" if self.better(self.value, self.target) else "over"
        return f"{self.name:58} {self.value:12,.2f} {self.unit:12} {goal:>8} {verdict}"


def timed(task: Callable[[], T]) -> tuple[float, T]:
    """CPU seconds of this process, and what came out."""
    before = process_time()
    result = task()
    return process_time() - before, result
