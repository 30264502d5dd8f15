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
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from algorithms.programs.order import Order
    from algorithms.programs.program import Program

_SEED = 20090101
_SHOWN = 4
"""Ranks of which is said what they lack."""

_MOST_FOLLOWED = 1 << 16
"""Chunks that instructions handle, all together, up to which the contributions to each are followed."""


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """What came of running a program's instructions, one after the other.

    Attributes
    ----------
    order : Order
    failed : int
        The instruction that reads nothing, or adds up different chunks; -1 where none does.
    refused : ProgramError or None
        What is wrong with it.
    wrong : ndarray of int64
        Places that end with something else than they must.
    found : ndarray of int32
        The chunk that each of them ends with.
    offset : ndarray of int64, shape (instructions + 1,)
        Instruction i has handled the chunks chunk[offset[i]:offset[i + 1]].
    chunk : ndarray of int32
    depth : int
        Longest chain of messages in which each sends what the one before it delivered.
    """

    order: Order
    failed: int
    refused: ProgramError | None
    wrong: NDArray[np.int64]
    found: NDArray[np.int32]
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
        raise _diagnose(program, run)


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
        stop = run(order.turn, fetches, far, *columns, value, held, chunk, chain, carry, carried)
    asked = np.flatnonzero(places.final != NOTHING)
    final = places.final[asked]
    wrong = asked[~held[asked] | (chunk[asked] != final) | (value[asked] != expected[final])]
    failed, refused = -1, None
    if stop >= 0:
        failed = int(np.searchsorted(offset, stop, side="right")) - 1
        refused = _refusal(program, failed, int(stop - offset[failed]), held, chunk)
    return Run(order, failed, refused, wrong, chunk[wrong], offset, carried, int(chain.max(initial=0)))


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
    """Run instructions; where the first stops that reads nothing or adds up different chunks, or -1."""
    for i in turn:
        start, deepest = offset[i], fetches[i]
        count, first = offset[i + 1] - start, read_offset[i]
        for r in range(first, read_offset[i + 1]):
            for c in range(count):
                place = read[r] + c
                if not held[place] or (r > first and chunk[place] != carried[start + c]):
                    return int(start + c)
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


def _diagnose(program: Program, run: Run) -> ProgramError:
    """Say what goes wrong first, by following the exact contributions at the places that are written."""
    content: dict[int, _Content] = {}
    for i, looked_at in _followed(program, run):
        results = [(c, _sum(program, i, c, content)) for c in looked_at]
        for _, result in results:
            twice = sorted(rank for rank, times in result.of.items() if times > 1)
            if twice:
                text = f"counts the contribution of {_ranks(twice)} to chunk {result.chunk} twice"
                return _error(program, i, f"{program.at(i)} {text}", result.chunk)
        for w in program.writes.of(i):
            content |= {w + c: result for c, result in results}
    return run.refused or _wrong_end(program, run.wrong, content)


def _followed(program: Program, run: Run) -> Iterator[tuple[int, list[int]]]:
    """Instructions that were run, and the places of each that are looked at.

    Of many only those of the chunks that the first wrong place must end, and ends, with.
    """
    position = np.arange(len(run.chunk))
    if len(position) > _MOST_FOLLOWED:
        chunks = [] if run.refused else [program.places.final[run.wrong[0]], run.found[0]]
        position = np.flatnonzero(np.isin(run.chunk, chunks))
    first = np.searchsorted(position, run.offset).tolist()
    for i in run.order.turn.tolist():
        if i == run.failed:
            return
        yield i, (position[first[i] : first[i + 1]] - run.offset[i]).tolist()


def _refusal(
    program: Program, i: int, c: int, held: NDArray[np.bool_], chunk: NDArray[np.int32]
) -> ProgramError:
    """Say why an instruction cannot add up what it reads for its c-th place."""
    total = NOTHING
    for place in (start + c for start in program.reads.of(i)):
        named, part = program.places.named(place), int(chunk[place])
        if not held[place]:
            return _error(program, i, f"{program.at(i)} reads {named}, which holds nothing", NOTHING)
        if total not in (NOTHING, part):
            return _error(
                program, i, f"{program.at(i)} adds chunk {part}, in {named}, to chunk {total}", part
            )
        total = part
    raise AssertionError(program.at(i))


def _held(program: Program, place: int, content: dict[int, _Content]) -> _Content | None:
    """What a place holds: what was written there, or what it holds at first."""
    initial = int(program.places.initial[place])
    if place in content or initial == NOTHING:
        return content.get(place)
    return _Content(initial, Counter([int(program.places.owner[place])]))


def _sum(program: Program, i: int, c: int, content: dict[int, _Content]) -> _Content:
    """What an instruction adds up for its c-th place."""
    parts = [_held(program, start + c, content) for start in program.reads.of(i)]
    found = [part for part in parts if part is not None]
    of = sum((part.of for part in found[1:]), found[0].of) if found else Counter[int]()
    return _Content(found[0].chunk if found else NOTHING, of, i)


def _error(program: Program, i: int, text: str, chunk: int) -> ProgramError:
    where = {"rank": int(program.rank[i]), "step": int(program.step[i])}
    return ProgramError(text, int(program.line[i]), chunk=None if chunk == NOTHING else chunk, **where)


def _wrong_end(program: Program, wrong: NDArray[np.int64], content: dict[int, _Content]) -> ProgramError:
    """Say which place ends with something wrong, and who lacks what."""
    places = program.places
    place, owner = int(wrong[0]), places.owner[wrong]
    rank, chunk, found = int(owner[0]), int(places.final[place]), _held(program, place, content)
    givers = places.owner[places.initial == chunk].tolist()
    missing = sorted(set(givers) - set(found.of if found else ()))
    lacking = np.unique(owner).tolist()
    lines = [f"rank {r}: {ranges_text(np.unique(places.final[wrong[owner == r]]))}" for r in lacking[:_SHOWN]]
    more = [f"{len(lacking) - _SHOWN} ranks more"] if len(lacking) > _SHOWN else []
    first = f"rank {rank} ends {_said(program, place, found, chunk, missing)}"
    line = int(program.line[found.written]) if found and found.written >= 0 else 0
    text = f"{first}; chunks that are wrong at the end: {'; '.join(lines + more)}"
    return ProgramError(text, line, rank=rank, chunk=chunk)


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
