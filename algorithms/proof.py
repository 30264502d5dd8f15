"""Proof on data: run the steps on random 64-bit integers and look at every rank's result."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from algorithms.collective import EVERY
from algorithms.errors import ProofError
from algorithms.schedule import REDUCE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.collective import Collective
    from algorithms.schedule import Schedule

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


def prove(schedule: Schedule, *, seed: int = 20090101) -> None:
    """Run the steps on random integers and check what every rank ends with.

    Contributions are summed modulo 2^64, so a lost, doubled or foreign one goes unseen with
    probability 2^-64 a cell.

    Parameters
    ----------
    schedule : Schedule
        Any; its collective says what must come out.
    seed : int
        Of the random integers.

    Raises
    ------
    ProofError
        Names the first read of nothing, the first contribution counted twice, or the last
        write that went wrong and the contributions missing.
    """
    cells = number_cells(schedule)
    value, expected = _contributions(schedule.collective, cells, seed)
    held = np.zeros(cells.count, dtype=bool)
    held[cells.number(*schedule.collective.initial())] = True
    for start, stop in schedule.step_bounds():
        row, chunk = schedule.moves(start, stop)
        source, target = cells.number(schedule.src[row], chunk), cells.number(schedule.dst[row], chunk)
        if not held[source].all():
            raise diagnose(schedule, int(chunk[np.argmin(held[source])]))
        sent = value[source]
        reduced = schedule.mode[row] == REDUCE
        copied = ~reduced
        np.add.at(value, target[reduced], sent[reduced])
        value[target[copied]] = sent[copied]
        if (value[target[copied]] != sent[copied]).any():
            raise diagnose(schedule, int(chunk[copied][np.argmax(value[target[copied]] != sent[copied])]))
        held[target] = True
    rank, chunk = schedule.collective.final()
    right = value[cells.number(rank, chunk)] == expected[chunk]
    if not right.all():
        raise diagnose(schedule, int(chunk[np.argmin(right)]))


def _contributions(
    collective: Collective, cells: Cells, seed: int
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Random value of every cell at the start, and the sum of each chunk's contributions."""
    rank, chunk = collective.initial()
    drawn = np.random.default_rng(seed).integers(0, 2**64, size=len(rank), dtype=np.uint64)
    value = np.zeros(cells.count, dtype=np.uint64)
    value[cells.number(rank, chunk)] = drawn
    expected = np.zeros(collective.chunks, dtype=np.uint64)
    np.add.at(expected, chunk, drawn)
    return value, expected


def diagnose(schedule: Schedule, chunk: int) -> ProofError:
    """Say what is wrong with a chunk, by following the exact set of contributors at every rank."""
    source = int(schedule.collective.source[chunk])
    ranks = range(schedule.ranks) if source == EVERY else [source]
    state: dict[int, Counter[int]] = {rank: Counter([rank]) for rank in ranks}
    last_write: dict[int, tuple[int, int]] = {}
    for step, transfers in _steps_of(schedule, chunk):
        arrivals = []
        for src, dst, mode in transfers:
            if src not in state:
                ends = [schedule.node_name(end) for end in (src, dst)]
                text = f"step {step}: {ends[0]} sends chunk {chunk} to {ends[1]} but holds nothing of it"
                return ProofError(text, step=step, rank=src, chunk=chunk)
            arrivals.append((src, dst, mode, state[src]))
            last_write[dst] = (step, src)
        error = _apply(schedule, state, step, chunk, arrivals)
        if error is not None:
            return error
    return _wrong_end(schedule, chunk, state, last_write)


def _steps_of(schedule: Schedule, chunk: int) -> list[tuple[int, list[tuple[int, int, int]]]]:
    """Transfers (src, dst, mode) that carry a chunk, step by step."""
    row, moved = schedule.moves()
    steps: dict[int, list[tuple[int, int, int]]] = {}
    for r in row[moved == chunk].tolist():
        transfer = (int(schedule.src[r]), int(schedule.dst[r]), int(schedule.mode[r]))
        steps.setdefault(int(schedule.step[r]), []).append(transfer)
    return sorted(steps.items())


def _apply(
    schedule: Schedule,
    state: dict[int, Counter[int]],
    step: int,
    chunk: int,
    arrivals: list[tuple[int, int, int, Counter[int]]],
) -> ProofError | None:
    copied: dict[int, Counter[int]] = {}
    for src, dst, mode, content in arrivals:
        if mode == REDUCE:
            merged = state.get(dst, Counter()) + content
            twice = sorted(rank for rank, times in merged.items() if times > 1)
            if twice:
                ends = [schedule.node_name(end) for end in (dst, src)]
                text = (
                    f"step {step}: {ends[0]} adds chunk {chunk} from {ends[1]} and counts "
                    f"the contribution of {_names(twice)} twice"
                )
                return ProofError(text, step=step, rank=dst, chunk=chunk)
            state[dst] = merged
        elif copied.setdefault(dst, content) != content:
            text = f"step {step}: {schedule.node_name(dst)} is sent two different copies of chunk {chunk}"
            return ProofError(text, step=step, rank=dst, chunk=chunk)
        else:
            state[dst] = content
    return None


def _wrong_end(
    schedule: Schedule,
    chunk: int,
    state: dict[int, Counter[int]],
    last_write: dict[int, tuple[int, int]],
) -> ProofError:
    collective = schedule.collective
    source, target = int(collective.source[chunk]), int(collective.target[chunk])
    wanted = set(range(collective.ranks)) if source == EVERY else {source}
    for rank in range(collective.ranks) if target == EVERY else [target]:
        missing = sorted(wanted - set(state.get(rank, Counter())))
        if missing:
            break
    text = f"rank {rank} ends without the contribution of {_names(missing)} to chunk {chunk}"
    step = None
    if rank in last_write:
        step, src = last_write[rank]
        text += f"; the last write there was in step {step}, from {schedule.node_name(src)}"
    else:
        text += "; nothing was ever written there"
    return ProofError(text, step=step, rank=rank, chunk=chunk)


def _names(ranks: list[int]) -> str:
    shown = ", ".join(map(str, ranks[:8])) + (", ..." if len(ranks) > 8 else "")
    return f"rank {shown}" if len(ranks) == 1 else f"ranks {shown}"
