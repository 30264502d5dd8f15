"""Proof on data: run the steps on random 64-bit integers and look at every rank's result."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

import numpy as np

from algorithms.cells import Cells, max_moves, number_cells
from algorithms.collective import EVERY
from algorithms.errors import ProofError, ScheduleError
from algorithms.sampling import moves_of, restricted, sample_of
from algorithms.schedule import MOST_MOVES, REDUCE
from topologies.loops import fast

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.collective import Collective
    from algorithms.schedule import Schedule


def prove(schedule: Schedule, *, chunks: NDArray[np.int64] | None = None, seed: int = 20090101) -> None:
    """Run the steps on random integers and check what every rank ends with.

    Contributions are summed modulo 2^64, so a lost, doubled or foreign one goes unseen with
    probability 2^-64 a cell.

    Parameters
    ----------
    schedule : Schedule
        Any; its collective says what must come out.
    chunks : ndarray of int64, optional
        In rising order, those that are looked at; default all.
    seed : int
        Of the random integers.

    Raises
    ------
    ProofError
        Names the first read of nothing, the first contribution counted twice, or the last
        write that went wrong and the contributions missing.
    """
    if schedule.precedence is not None:
        from algorithms.programs.proof import prove_program

        # what it computes follows from its buffers, not from its steps
        prove_program(schedule.precedence.program)
        return
    looked_at = schedule if chunks is None else restricted(schedule, chunks)
    wrong = _first_wrong(looked_at, seed)
    if wrong is not None:
        raise diagnose(schedule, wrong if chunks is None else int(chunks[wrong]))


Verify = Literal["full", "sampled", "no"]


def verify(schedule: Schedule, how: Verify | None = None) -> str:
    """Prove a schedule, in full where nothing else is asked and it is not too large.

    Parameters
    ----------
    schedule : Schedule
    how : {'full', 'sampled', 'no'}, optional
        Every chunk, a sample of them, or none.

    Returns
    -------
    str
        What was done: `full`, `sampled(k)` with k chunks, or `no`.

    Raises
    ------
    ProofError
        As `prove`.
    ScheduleError
        If all are asked for and there are too many.
    """
    moves, sample = moves_of(schedule), sample_of(schedule.collective.chunks)
    if how == "full" and moves > MOST_MOVES:
        text = (
            f"the schedule moves {moves:,} chunks, too many to prove; sampled looks at {len(sample)} chunks"
        )
        raise ScheduleError(text, ("verify",))
    if how == "no":
        return "no"
    if schedule.precedence is not None:
        from algorithms.programs.purpose import Messages

        prove(schedule)
        # of messages nobody knows what they should hold
        return "no" if isinstance(schedule.precedence.program.purpose, Messages) else "full"
    if how == "sampled" or moves > MOST_MOVES:
        prove(schedule, chunks=sample)
        return f"sampled({len(sample)})"
    prove(schedule)
    return "full"


def _first_wrong(schedule: Schedule, seed: int) -> int | None:
    """A chunk that goes wrong."""
    cells = number_cells(schedule)
    value, expected = _contributions(schedule.collective, cells, seed)
    held = np.zeros(cells.count, dtype=bool)
    held[cells.number(*schedule.collective.initial())] = True
    sent = np.zeros(max_moves(schedule), dtype=np.uint64)
    for moves in cells.moves(schedule):
        reduces = schedule.mode[moves.row] == REDUCE
        move = fast(apply_steps, len(reduces))
        # contributions are summed modulo 2^64
        with np.errstate(over="ignore"):
            wrong = move(moves.source, moves.target, reduces, moves.ends, value, held, sent)
        if wrong >= 0:
            return int(moves.chunk[wrong])
    rank, chunk = schedule.collective.final()
    right = value[cells.number(rank, chunk)] == expected[chunk]
    return None if right.all() else int(chunk[np.argmin(right)])


def apply_steps(
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    reduces: NDArray[np.bool_],
    ends: NDArray[np.int64],
    value: NDArray[np.uint64],
    held: NDArray[np.bool_],
    sent: NDArray[np.uint64],
) -> int:
    """Carry out the moves of some steps; the first that reads nothing, or is copied over unequally, or -1."""
    start = 0
    for stop in ends:
        for move in range(start, stop):
            if not held[source[move]]:
                return move
            sent[move - start] = value[source[move]]
        for move in range(start, stop):
            if reduces[move]:
                value[target[move]] += sent[move - start]
            else:
                value[target[move]] = sent[move - start]
            held[target[move]] = True
        for move in range(start, stop):
            if not reduces[move] and value[target[move]] != sent[move - start]:
                return move
        start = stop
    return -1


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
    row, _ = restricted(schedule, np.array([chunk])).moves()
    steps: dict[int, list[tuple[int, int, int]]] = {}
    for r in row.tolist():
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
