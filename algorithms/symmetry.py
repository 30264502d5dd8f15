"""Proof and counts of a schedule from one rank's transfers.

A cell (rank, chunk) is moved to rank 0, so that a cell of rank 0 stands for all of its images: what
rank 0 has of a chunk, every rank has of the chunk's image. Rank 0's transfers read cells of rank 0, and
write to cells of their destinations, which are images of cells of rank 0, too. So they are a small
schedule by themselves, of N times fewer moves. At the same time these are the moves of just one chunk
of each orbit, whose cells at all N ranks have N different images at rank 0: random integers run along
them prove the chunk, and by symmetry all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from algorithms.cells import distinct
from algorithms.collective import EVERY
from algorithms.counts import Counts, follow_steps
from algorithms.errors import ProofError
from algorithms.proof import apply_steps
from algorithms.schedule import REDUCE
from topologies.loops import fast

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.representative import Representative


@dataclass(frozen=True, slots=True, eq=False)
class CellMoves:
    """Rank 0's transfers, taken apart into single chunks, and the images at rank 0 of the cells involved.

    Attributes
    ----------
    row : ndarray of int64, shape (moves,)
    source, target : ndarray of int64
        Numbers of cells that are read and written.
    reduces : ndarray of bool
    ends : ndarray of int64, shape (steps,)
        Where each step's moves end.
    known : ndarray of int64 or None
        Sorted keys of the cells; None where a cell's key is its number.
    cells : int
        How many there are.
    """

    row: NDArray[np.int64]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    reduces: NDArray[np.bool_]
    ends: NDArray[np.int64]
    known: NDArray[np.int64] | None
    cells: int

    @property
    def most(self) -> int:
        """Moves of the step that has most."""
        return int(np.diff(self.ends, prepend=0).max(initial=0))

    def number(self, key: NDArray[np.int64]) -> NDArray[np.int64]:
        """Number of each cell."""
        return key if self.known is None else np.searchsorted(self.known, key)


def cell_moves(one: Representative) -> CellMoves:
    """Moves of rank 0 between cells of rank 0, each of which stands for its images."""
    schedule = one.schedule
    row, chunk = schedule.moves()
    target = one.moved(chunk, schedule.dst[row].astype(np.int64))
    known, cells = None, schedule.collective.chunks
    if schedule.collective.kind == "all_to_all":
        # a block has a cell for each pair of ranks, of which few are touched
        known = distinct(np.concatenate([chunk, target, *_ends(one)]))
        cells = len(known)
        chunk, target = np.searchsorted(known, chunk), np.searchsorted(known, target)
    ends = np.append(np.flatnonzero(np.diff(schedule.step[row])) + 1, len(row))[: len(row)]
    return CellMoves(row, chunk, target, schedule.mode[row] == REDUCE, ends, known, cells)


def _ends(one: Representative) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cells of rank 0 that stand for those of all chunks at their sources and at their targets."""
    collective = one.schedule.collective
    chunk = np.arange(collective.chunks, dtype=np.int64)
    source, target = (
        chunk if (place == EVERY).all() else one.moved(chunk, place.astype(np.int64))
        for place in (collective.source, collective.target)
    )
    return source, target


def prove_by_symmetry(one: Representative, *, seed: int = 20090101) -> None:
    """Run one chunk of each orbit on random integers and check what every rank ends with.

    Raises
    ------
    ProofError
        If the schedule does not compute its collective.
    """
    if not one.segments:
        return _prove_whole(one)
    moves, random = cell_moves(one), np.random.default_rng(seed)
    start, end = (moves.number(cells) for cells in _ends(one))
    value = np.zeros(moves.cells, dtype=np.uint64)
    held = np.zeros(moves.cells, dtype=np.bool_)
    value[start] = random.integers(0, 2**64, size=len(start), dtype=np.uint64)
    held[start] = True
    drawn = value[start] if one.schedule.collective.kind == "all_to_all" else _sums(one, start, value)
    move, sent = fast(apply_steps, len(moves.row)), np.zeros(moves.most, dtype=np.uint64)
    # contributions are summed modulo 2^64
    with np.errstate(over="ignore"):
        wrong = move(moves.source, moves.target, moves.reduces, moves.ends, value, held, sent)
    if wrong >= 0:
        row = int(moves.row[wrong])
        step = int(one.schedule.step[row])
        dst, chunk = int(one.schedule.dst[row]), int(one.schedule.chunks(row)[0])
        text = f"step {step}: rank 0 sends rank {dst} what it has not, or not the only copy, of chunk {chunk}"
        raise ProofError(text, step=step, rank=0, chunk=chunk)
    right = value[end] == drawn
    if not right.all():
        chunk = int(np.argmin(right))
        raise ProofError(f"chunk {chunk}, and all that are like it, end with a wrong sum", chunk=chunk)
    return None


def _sums(one: Representative, start: NDArray[np.int64], value: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """What each chunk must come to: the contributions of its orbit, each once."""
    cells = distinct(start)
    total = np.zeros(one.segments, dtype=np.uint64)
    np.add.at(total, cells % one.segments, value[cells])
    return np.tile(total, one.ranks)


def _prove_whole(one: Representative) -> None:
    """Follow the set of ranks whose contributions rank 0 has: those of rank d are the same, moved by d."""
    schedule, group = one.schedule, one.group
    held = np.zeros(1, dtype=np.int64)
    for step, (start, stop) in enumerate(schedule.step_bounds()):
        came = schedule.dst[start:stop].astype(np.int64)
        if (schedule.mode[start:stop] != REDUCE).any():
            raise ProofError(f"step {step}: a vector that all add to is copied", step=step, rank=0)
        if len(held) * len(came) >= one.ranks:
            raise ProofError(f"step {step}: rank 0 adds more contributions than there are", step=step, rank=0)
        arrived = group.subtract(np.repeat(held, len(came)), np.tile(came, len(held)))
        both = np.concatenate([held, arrived])
        held = distinct(both)
        if len(held) < len(both):
            raise ProofError(f"step {step}: rank 0 adds a contribution twice", step=step, rank=0)
    if len(held) < one.ranks:
        missing = one.ranks - len(held)
        raise ProofError(f"rank 0 ends without the contributions of {missing} ranks", rank=0)


def count_by_symmetry(one: Representative) -> Counts:
    """Counts of the whole schedule, as `count` gives them."""
    schedule, moves = one.schedule, cell_moves(one)
    chain = np.zeros(moves.cells, dtype=np.int32)
    sends = np.full(moves.cells, -1, dtype=np.int32)
    deepest = np.zeros(len(schedule), dtype=np.int32)
    follow = fast(follow_steps, len(moves.row))
    staged = follow(moves.row, moves.source, moves.target, moves.ends, 0, chain, sends, deepest)
    sizes = schedule.sizes()
    sent, reduced = _exact_sum(sizes), _exact_sum(sizes[schedule.mode == REDUCE])
    return Counts(
        steps=schedule.steps,
        depth=int(chain.max(initial=0)),
        transfers=one.ranks * len(schedule),
        bytes_sent_max=sent,
        bytes_sent_total=one.ranks * sent,
        bytes_reduced_max=reduced,
        bytes_reduced_total=one.ranks * reduced,
        staged=one.ranks * int(staged),
    )


def _exact_sum(sizes: NDArray[np.int64]) -> int:
    """Sum of many sizes, of which few differ, past 64 bits if need be."""
    values, times = np.unique(sizes, return_counts=True)
    return sum(size * often for size, often in zip(values.tolist(), times.tolist(), strict=True))
