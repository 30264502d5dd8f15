"""Proof of a program on data: run its instructions on random integers, and look at every rank's result."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from algorithms.programs.errors import ProgramError
from algorithms.programs.order import order_of
from algorithms.programs.program import NOTHING, members
from algorithms.programs.races import check_races
from algorithms.trace import ranges_text
from topologies.loops import fast

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.programs.order import Order
    from algorithms.programs.program import Program

_SEED = 20090101
_SHOWN = 4
"""Ranks of which is said what they lack."""


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """What came of running a program's instructions, one after the other.

    Attributes
    ----------
    order : Order
    failed : int
        The instruction that reads nothing, or adds up different chunks; -1 where none does.
    wrong : ndarray of int64
        Places that end with something else than they must.
    offset : ndarray of int64, shape (instructions + 1,)
        Instruction i has handled the chunks chunk[offset[i]:offset[i + 1]].
    chunk : ndarray of int32
    depth : int
        Longest chain of messages in which each sends what the one before it delivered.
    """

    order: Order
    failed: int
    wrong: NDArray[np.int64]
    offset: NDArray[np.int64]
    chunk: NDArray[np.int32]
    depth: int


def prove_program(program: Program) -> None:
    """Check that a program comes to an end, does not race, and computes its collective.

    Where no two accesses race, any order of the instructions that their waits allow gives the same data:
    one is run on random 64-bit integers, so that a lost, doubled or foreign contribution goes unseen
    with probability 2^-64 a place.

    Raises
    ------
    ProgramError
        Names the deadlock, the race, or the first instruction or place that is wrong.
    """
    run = run_program(program)
    check_races(program, run.order)
    if run.failed >= 0 or len(run.wrong):
        raise _diagnose(program, run.order)


@lru_cache(maxsize=1)
def run_program(program: Program) -> Run:
    """Run a program's instructions on random integers, in an order that their waits allow.

    The run of the last program is kept: it is proven, counted and timed by it.

    Raises
    ------
    ProgramError
        If they wait for each other in a circle.
    """
    order, places = order_of(program), program.places
    value = np.zeros(len(places), dtype=np.uint64)
    inputs = np.flatnonzero(places.initial != NOTHING)
    value[inputs] = np.random.default_rng(_SEED).integers(0, 2**64, size=len(inputs), dtype=np.uint64)
    expected = np.zeros(int(max(places.initial.max(initial=-1), places.final.max(initial=-1))) + 1, np.uint64)
    np.add.at(expected, places.initial[inputs], value[inputs])
    held, chunk = places.initial != NOTHING, places.initial.copy()
    offset = np.concatenate([[0], np.cumsum(program.count, dtype=np.int64)])
    carried = np.full(int(offset[-1]), NOTHING, dtype=np.int32)
    chain = np.zeros(len(places), dtype=np.int32)
    carry = np.zeros(int(program.count.max(initial=0)), dtype=np.uint64)
    reads, writes = program.reads, program.writes
    fetches, far = np.zeros(len(program), dtype=np.int32), np.zeros(len(writes.index), dtype=np.int32)
    fetches[program.fetchers()[0]] = 1
    far[places.owner[writes.index] != program.rank[members(writes)]] = 1
    columns = (reads.offsets, reads.index, writes.offsets, writes.index, offset)
    # contributions are summed modulo 2^64
    with np.errstate(over="ignore"):
        run = fast(_run, int(offset[-1]) + len(program))
        failed = run(order.turn, fetches, far, *columns, value, held, chunk, chain, carry, carried)
    asked = np.flatnonzero(places.final != NOTHING)
    final = places.final[asked]
    wrong = asked[~held[asked] | (chunk[asked] != final) | (value[asked] != expected[final])]
    return Run(order, int(failed), wrong, offset, carried, int(chain.max(initial=0)))


def _run(
    turn: NDArray[np.int64],
    fetches: NDArray[np.int32],
    far: NDArray[np.int32],
    read_offset: NDArray[np.int64],
    read: NDArray[np.int64],
    write_offset: NDArray[np.int64],
    write: NDArray[np.int64],
    offset: NDArray[np.int64],
    value: NDArray[np.uint64],
    held: NDArray[np.bool_],
    chunk: NDArray[np.int32],
    chain: NDArray[np.int32],
    carry: NDArray[np.uint64],
    carried: NDArray[np.int32],
) -> int:
    """Run instructions; the first that reads nothing or adds up different chunks, or -1."""
    for i in turn:
        start, deepest = offset[i], fetches[i]
        count, first = offset[i + 1] - start, read_offset[i]
        for r in range(first, read_offset[i + 1]):
            for c in range(count):
                place = read[r] + c
                if not held[place] or (r > first and chunk[place] != carried[start + c]):
                    return int(i)
                if r == first:
                    carry[c] = value[place]
                    carried[start + c] = chunk[place]
                else:
                    carry[c] += value[place]
                deepest = max(deepest, chain[place] + fetches[i])
        for w in range(write_offset[i], write_offset[i + 1]):
            for c in range(count):
                place = write[w] + c
                value[place] = carry[c]
                held[place] = True
                chunk[place] = carried[start + c]
                chain[place] = deepest + far[w]
    return -1


@dataclass(slots=True, eq=False)
class _Content:
    """What a place holds: a chunk, from whom, and which instruction put it there."""

    chunk: int
    of: Counter[int]
    written: int = -1


def _diagnose(program: Program, order: Order) -> ProgramError:
    """Say what goes wrong first, by following the exact contributions at every place."""
    places = program.places
    content: dict[int, _Content] = {}
    for place in np.flatnonzero(places.initial != NOTHING).tolist():
        content[place] = _Content(int(places.initial[place]), Counter([int(places.owner[place])]))
    twice: ProgramError | None = None
    for i in order.turn.tolist():
        results = []
        for c in range(int(program.count[i])):
            found = _sum(program, i, c, content)
            if isinstance(found, ProgramError):
                return twice or found
            results.append(found)
            twice = twice or _doubled(program, i, found)
        for w in program.writes.of(i):
            for c, result in enumerate(results):
                content[w + c] = result
    return twice or _wrong_end(program, content)


def _sum(program: Program, i: int, c: int, content: dict[int, _Content]) -> _Content | ProgramError:
    """What an instruction adds up for its c-th place."""
    total: _Content | None = None
    for place in (start + c for start in program.reads.of(i)):
        part = content.get(place)
        if part is None:
            text = f"{program.at(i)} reads {program.places.named(place)}, which holds nothing"
            return _error(program, i, text, NOTHING)
        if total is None:
            total = _Content(part.chunk, part.of, i)
        elif part.chunk != total.chunk:
            text = (
                f"{program.at(i)} adds chunk {part.chunk}, in {program.places.named(place)}, "
                f"to chunk {total.chunk}"
            )
            return _error(program, i, text, part.chunk)
        else:
            total = _Content(total.chunk, total.of + part.of, i)
    return total or _Content(NOTHING, Counter(), i)


def _doubled(program: Program, i: int, found: _Content) -> ProgramError | None:
    ranks = sorted(rank for rank, times in found.of.items() if times > 1)
    if not ranks:
        return None
    text = f"{program.at(i)} counts the contribution of {_ranks(ranks)} to chunk {found.chunk} twice"
    return _error(program, i, text, found.chunk)


def _error(program: Program, i: int, text: str, chunk: int) -> ProgramError:
    where = {"rank": int(program.rank[i]), "step": int(program.step[i])}
    return ProgramError(text, int(program.line[i]), chunk=None if chunk == NOTHING else chunk, **where)


def _wrong_end(program: Program, content: dict[int, _Content]) -> ProgramError:
    """Say which place ends with something wrong, and who lacks what."""
    places = program.places
    givers: dict[int, set[int]] = {}
    for place in np.flatnonzero(places.initial != NOTHING).tolist():
        givers.setdefault(int(places.initial[place]), set()).add(int(places.owner[place]))
    first, lacking = "", dict[int, list[int]]()
    where: tuple[int, int, int] = (0, 0, 0)
    for place in np.flatnonzero(places.final != NOTHING).tolist():
        rank, chunk = int(places.owner[place]), int(places.final[place])
        found = content.get(place)
        missing = sorted(givers.get(chunk, set()) - set(found.of if found else ()))
        if found is not None and found.chunk == chunk and not missing:
            continue
        lacking.setdefault(rank, []).append(chunk)
        if not first:
            first = f"rank {rank} ends " + _said(program, place, found, chunk, missing)
            where = (int(program.line[found.written]) if found and found.written >= 0 else 0, rank, chunk)
    lines = [f"rank {r}: {ranges_text(np.array(sorted(c)))}" for r, c in list(lacking.items())[:_SHOWN]]
    more = [f"{len(lacking) - _SHOWN} ranks more"] if len(lacking) > _SHOWN else []
    text = f"{first}; chunks that are wrong at the end: {'; '.join(lines + more)}"
    return ProgramError(text, where[0], rank=where[1], chunk=where[2])


def _said(program: Program, place: int, found: _Content | None, chunk: int, missing: list[int]) -> str:
    named = program.places.named(place)
    if found is None:
        return f"without chunk {chunk} in {named}: nothing was ever written there"
    if found.chunk != chunk:
        text = f"with chunk {found.chunk} in {named} instead of chunk {chunk}"
    else:
        text = f"without the contribution of {_ranks(missing)} to chunk {chunk} in {named}"
    if found.written < 0:
        return f"{text}; nothing was ever written there"
    return f"{text}; the last write there was by {program.at(found.written)}"


def _ranks(ranks: list[int]) -> str:
    shown = ", ".join(map(str, ranks[:8])) + (", ..." if len(ranks) > 8 else "")
    return f"rank {shown}" if len(ranks) == 1 else f"ranks {shown}"
