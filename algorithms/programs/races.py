"""Data races: two accesses to one place, one of them a write, that no chain of waits puts in an order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.cells import distinct
from algorithms.programs.errors import ProgramError
from algorithms.programs.program import members
from algorithms.schedule import expand

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.programs.order import Order
    from algorithms.programs.program import Program

_LANES_AT_ONCE: Final = 256
"""Thread blocks whose clocks are kept at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class _Accesses:
    """Accesses to places of buffers, by place and then in one possible order; a read before its own write.

    Attributes
    ----------
    place, instruction : ndarray of int64, shape (accesses,)
    writes : ndarray of bool
    """

    place: NDArray[np.int64]
    instruction: NDArray[np.int64]
    writes: NDArray[np.bool_]


def check_races(program: Program, order: Order) -> None:
    """Refuse a program in which what an access finds depends on luck.

    It is enough to look at each write and at what touches its place next to it in one possible order:
    were all of these ordered, so would be all others. Whether one comes before the other is asked of
    vector clocks (Mattern 1989): what each instruction knows of every thread block.

    Raises
    ------
    ProgramError
        Names the place and both accesses.
    """
    accesses = _accesses(program, order)
    first, second = _neighbours(accesses)
    found = _first_unordered(program, order, accesses.instruction[first], accesses.instruction[second])
    if found >= 0:
        raise _race(program, accesses, int(first[found]), int(second[found]))


def _accesses(program: Program, order: Order) -> _Accesses:
    """Every access to a place of a buffer; what lies on a wire is written and read once, in this order."""
    position = np.empty(len(program), dtype=np.int64)
    position[order.turn] = np.arange(len(program))
    wire = program.places.on_wire()
    places, instructions, kinds = [], [], []
    for writes, lists in ((False, program.reads), (True, program.writes)):
        owner = members(lists)
        row, place = expand(lists.index, program.count[owner])
        kept = ~wire[place]
        places.append(place[kept].astype(np.int64))
        instructions.append(owner[row[kept]])
        kinds.append(np.full(len(places[-1]), writes))
    place, instruction, kind = (np.concatenate(column) for column in (places, instructions, kinds))
    by_place = np.lexsort((kind, position[instruction], place))
    return _Accesses(place[by_place].astype(np.int64), instruction[by_place], kind[by_place])


def _neighbours(accesses: _Accesses) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of accesses that must be ordered: a write and what follows it, a read and the next write."""
    at = np.arange(len(accesses.place))
    last = np.maximum.accumulate(np.where(accesses.writes, at, -1))
    before = np.concatenate([[-1], last])[: len(at)]
    following = np.minimum.accumulate(np.where(accesses.writes, at, len(at))[::-1])[::-1]
    after = np.where(accesses.writes, -1, following)
    pairs = [(before, at), (at, np.where(after == len(at), -1, after))]
    first, second = (np.concatenate(column) for column in zip(*pairs, strict=True))
    there = (first >= 0) & (second >= 0)
    first, second = first[there], second[there]
    same = accesses.place[first] == accesses.place[second]
    return first[same], second[same]


def _first_unordered(
    program: Program, order: Order, first: NDArray[np.int64], second: NDArray[np.int64]
) -> int:
    """The pair of instructions that is not ordered and whose second one comes first, or -1."""
    lane, count = program.lanes(), len(program)
    edges = distinct(program.after.index * count + members(program.after))
    pair = first * count + second
    at = np.minimum(np.searchsorted(edges, pair), max(len(edges) - 1, 0))
    waits = edges[at] == pair if len(edges) else np.zeros(len(pair), dtype=bool)
    left = np.flatnonzero((lane[first] != lane[second]) & ~waits)
    asked = distinct(lane[first[left]])
    for start in range(0, len(asked), _LANES_AT_ONCE):
        lanes = asked[start : start + _LANES_AT_ONCE]
        some = left[np.isin(lane[first[left]], lanes)]
        ordered = some[_known(program, order, lanes, first[some], second[some])]
        left = np.setdiff1d(left, ordered)
    return int(left[np.lexsort((left, order.level[second[left]]))[0]]) if len(left) else -1


def _known(
    program: Program,
    order: Order,
    lanes: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Whether each second instruction comes after the first, which is in one of these thread blocks."""
    lane = program.lanes()
    number = np.arange(len(program))
    column = np.searchsorted(lanes, lane)
    column = np.where(lanes[np.minimum(column, len(lanes) - 1)] == lane, column, -1)
    clock = np.full((len(program), len(lanes)), -1, dtype=np.int32)
    waits = np.diff(program.after.offsets)
    for start, stop in order.levels():
        now = order.turn[start:stop]
        if start:
            # all but those of the first level wait for somebody
            row, at = expand(program.after.offsets[now], waits[now])
            begin = np.flatnonzero(np.diff(row, prepend=-1))
            clock[now] = np.maximum.reduceat(clock[program.after.index[at]], begin)
        own = now[column[now] >= 0]
        clock[own, column[own]] = number[own]
    return np.asarray(clock[second, column[first]] >= first)


def _race(program: Program, accesses: _Accesses, first: int, second: int) -> ProgramError:
    """Name a race."""
    place = int(accesses.place[first])
    ends = [int(accesses.instruction[which]) for which in (first, second)]
    does = ["writes" if accesses.writes[which] else "reads" for which in (first, second)]
    owner, named = int(program.places.owner[place]), program.places.named(place)
    lines = f" of line {program.line[ends[0]]}" if program.line[ends[0]] else ""
    text = (
        f"data race on {named} of rank {owner}: {program.at(ends[1])} {does[1]} it, "
        f"{program.at(ends[0])}{lines} {does[0]} it, and neither waits for the other"
    )
    line, step = int(program.line[ends[1]]), int(program.step[ends[1]])
    return ProgramError(text, line, rank=int(program.rank[ends[1]]), step=step)
