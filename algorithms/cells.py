"""The (rank, chunk) cells that a schedule touches, and its moves from cell to cell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.schedule import Schedule

_AT_ONCE = 1 << 18
"""Moves that are taken apart at a time; they stay in the processor's cache."""

_DENSE_CELLS = 1 << 24
"""Up to so many (rank, chunk) cells the state is a plain table; past it, only touched cells are kept."""


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Numbering of the (rank, chunk) cells that a schedule can touch.

    Attributes
    ----------
    count : int
        How many there are.
    known : ndarray of int64 or None
        Sorted rank * chunks + chunk of each; None where every cell is its own number.
    chunks : int
        Number of chunks.
    """

    count: int
    known: NDArray[np.int64] | None
    chunks: int

    def number(self, rank: NDArray[np.integer], chunk: NDArray[np.integer]) -> NDArray[np.int64]:
        """Number of each cell."""
        key = rank.astype(np.int64) * self.chunks + chunk
        return key if self.known is None else np.searchsorted(self.known, key)

    def moves(self, schedule: Schedule) -> Iterator[Moves]:
        """All moves of a schedule, as many whole steps at a time as are worth it."""
        bounds = schedule.step_bounds()
        ends = np.cumsum(schedule.count, dtype=np.int64)
        for steps in _batches([int(ends[stop - 1]) for _, stop in bounds]):
            start, stop = bounds[steps.start][0], bounds[steps.stop - 1][1]
            row, chunk = schedule.moves(start, stop)
            before = int(ends[start - 1]) if start else 0
            stops = np.array([ends[last - 1] - before for _, last in bounds[steps]], dtype=np.int64)
            source, target = self.number(schedule.src[row], chunk), self.number(schedule.dst[row], chunk)
            yield Moves(int(schedule.step[start]), row, chunk, source, target, stops)


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """Moves of single chunks in some steps, step by step.

    Attributes
    ----------
    first : int
        Number of the first of the steps.
    row, chunk : ndarray of int64, shape (moves,)
        Row of the schedule, and chunk.
    source, target : ndarray of int64
        Cells.
    ends : ndarray of int64, shape (steps,)
        Where each step's moves end.
    """

    first: int
    row: NDArray[np.int64]
    chunk: NDArray[np.int64]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    ends: NDArray[np.int64]


def _batches(ends: list[int]) -> Iterator[slice]:
    """Steps to take at a time, from where the moves of each end."""
    start = before = 0
    for step, end in enumerate(ends):
        if end - before >= _AT_ONCE or step + 1 == len(ends):
            yield slice(start, step + 1)
            start, before = step + 1, end


def max_moves(schedule: Schedule) -> int:
    """Moves of the step that has most."""
    ends = np.concatenate([[0], np.cumsum(schedule.count, dtype=np.int64)])
    return max((int(ends[stop] - ends[start]) for start, stop in schedule.step_bounds()), default=0)


def number_cells(schedule: Schedule) -> Cells:
    """Cells of a schedule: all of them, or only those that are held, moved or demanded."""
    collective = schedule.collective
    if schedule.nodes * collective.chunks <= _DENSE_CELLS:
        return Cells(schedule.nodes * collective.chunks, None, collective.chunks)
    row, chunk = schedule.moves()
    places = [
        collective.initial(),
        collective.final(),
        (schedule.src[row].astype(np.int64), chunk),
        (schedule.dst[row].astype(np.int64), chunk),
    ]
    known = distinct(np.concatenate([rank * collective.chunks + c for rank, c in places]))
    return Cells(len(known), known, collective.chunks)


def distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Different values in rising order; for millions of them far faster than `np.unique`, which hashes."""
    ordered: NDArray[np.int64] = np.sort(values)
    new = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return ordered[new]
