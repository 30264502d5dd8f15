"""Who is combined with whom: the association of every sum, and whether it keeps the order of the ranks.

Arrivals of a step are combined one after the other, in the order of the schedule's rows, with what
their rank holds. Of two operands the one with the lower first rank stands left, as MPI demands of an
operator that need not commute.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from algorithms.cells import number_cells
from algorithms.collective import EVERY
from algorithms.errors import ScheduleError
from algorithms.proof import diagnose
from algorithms.schedule import COPY, REDUCE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.schedule import Schedule

Tree: TypeAlias = "int | tuple[Tree, Tree]"
"""A sum: a rank's own contribution, or the (left, right) operands."""

_BROKEN = 1 << 30
"""First and last rank of a sum that is out of order: no run is its neighbour."""


class _Sums:
    """Sums of some ranks' contributions; equal ones are one object. Each goes with its first rank."""

    def __init__(self, ranks: int) -> None:
        self.own: list[tuple[int, Tree]] = [(rank, rank) for rank in range(ranks)]
        self.joined: dict[tuple[int, int], tuple[int, Tree]] = {}

    def join(self, one: tuple[int, Tree], other: tuple[int, Tree]) -> tuple[int, Tree]:
        (first, left), (_, right) = (one, other) if one[0] <= other[0] else (other, one)
        return self.joined.setdefault((id(left), id(right)), (first, (left, right)))


def association(schedule: Schedule, chunk: int, rank: int) -> Tree:
    """How the sum of a chunk is made that a rank ends with.

    Raises
    ------
    ScheduleError
        If the chunk is not one that the rank must end with.
    ProofError
        If a rank sends what it does not hold.

    Examples
    --------
    >>> from algorithms import build
    >>> association(build("recursive_doubling", "allreduce", 4), chunk=0, rank=0)
    ((0, 1), (2, 3))
    """
    target = schedule.collective.target
    if not (0 <= chunk < len(target) and 0 <= rank < schedule.ranks and target[chunk] in (rank, EVERY)):
        raise ScheduleError(f"no chunk {chunk} must end at rank {rank}", rank=rank, chunk=chunk)
    row, moved = schedule.moves()
    return _follow(schedule, chunk, row[moved == chunk], _Sums(schedule.ranks))[rank]


def associations(schedule: Schedule) -> Iterator[dict[int, Tree]]:
    """The sums of every chunk, by the ranks that must end with it; equal ones are one object.

    Raises
    ------
    ProofError
        If a rank sends what it does not hold.
    """
    row, moved = schedule.moves()
    by_chunk = np.argsort(moved, kind="stable")
    ends = np.searchsorted(moved[by_chunk], np.arange(schedule.collective.chunks + 1))
    sums = _Sums(schedule.ranks)
    for chunk in range(schedule.collective.chunks):
        yield _follow(schedule, chunk, row[by_chunk[ends[chunk] : ends[chunk + 1]]], sums)


def _follow(schedule: Schedule, chunk: int, rows: NDArray[np.int64], sums: _Sums) -> dict[int, Tree]:
    """Sums of one chunk, moved by these rows, at its targets."""
    collective = schedule.collective
    source, target = int(collective.source[chunk]), int(collective.target[chunk])
    held = {rank: sums.own[rank] for rank in (range(schedule.ranks) if source == EVERY else [source])}
    columns = (schedule.step[rows], schedule.src[rows], schedule.dst[rows], schedule.mode[rows])
    transfers = zip(*(column.tolist() for column in columns), strict=True)
    for _, step in groupby(transfers, key=lambda transfer: transfer[0]):
        arrivals = [(dst, mode, held.get(src)) for _, src, dst, mode in step]
        for dst, mode, arriving in arrivals:
            if arriving is None:
                raise diagnose(schedule, chunk)
            replaces = mode == COPY or dst not in held
            held[dst] = arriving if replaces else sums.join(held[dst], arriving)
    targets = range(schedule.ranks) if target == EVERY else [target]
    if any(rank not in held for rank in targets):
        raise diagnose(schedule, chunk)
    return {rank: held[rank][1] for rank in targets}


def text(tree: Tree) -> str:
    """A sum for people.

    >>> text(((0, 1), (2, 3)))
    '((0 1) (2 3))'
    """
    parts: list[str] = []
    # a ring's sum is nested as deep as there are ranks: deeper than Python calls itself
    left: list[Tree | str] = [tree]
    while left:
        part = left.pop()
        if isinstance(part, tuple):
            left += (")", part[1], " ", part[0], "(")
        else:
            parts.append(str(part))
    return "".join(parts)


def keeps_order(schedule: Schedule) -> bool:
    """Whether every sum that a rank ends with joins runs of neighbouring ranks, to all ranks in their order.

    Then an operator that is associative, but does not commute, gives the right result. True where
    nothing is summed.

    Examples
    --------
    >>> from algorithms import build
    >>> keeps_order(build("recursive_doubling", "allreduce", 6)), keeps_order(build("ring", "allreduce", 6))
    (True, False)
    """
    collective = schedule.collective
    if (collective.source != EVERY).all():
        return True
    cells = number_cells(schedule)
    # the run of ranks low..high in a cell; nothing where high < 0
    low, high = np.zeros(cells.count, dtype=np.int32), np.full(cells.count, -1, dtype=np.int32)
    start_rank, chunk = collective.initial()
    start = cells.number(start_rank, chunk)
    low[start] = high[start] = start_rank
    for begin, stop in schedule.step_bounds():
        row, chunk = schedule.moves(begin, stop)
        source, target = cells.number(schedule.src[row], chunk), cells.number(schedule.dst[row], chunk)
        sent = low[source], high[source]
        reduced = schedule.mode[row] == REDUCE
        low[target[~reduced]], high[target[~reduced]] = sent[0][~reduced], sent[1][~reduced]
        for turn in _turns(target, np.flatnonzero(reduced)):
            into, first, last = target[turn], sent[0][turn], sent[1][turn]
            empty = high[into] < 0
            follows, precedes = first == high[into] + 1, last + 1 == low[into]
            joins = empty | follows | precedes
            low[into] = np.where(joins, np.where(empty, first, np.minimum(low[into], first)), _BROKEN)
            high[into] = np.where(joins, np.maximum(high[into], last), _BROKEN)
    end = cells.number(*collective.final())
    return bool((low[end] == 0).all() and (high[end] == collective.ranks - 1).all())


def _turns(target: NDArray[np.int64], moves: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Moves in turns: the first into each cell, then the second, and so on."""
    order = moves[np.argsort(target[moves], kind="stable")]
    place = np.arange(len(order))
    new = np.ones(len(order), dtype=bool)
    new[1:] = np.diff(target[order]) != 0
    turn = place - np.maximum.accumulate(np.where(new, place, 0))
    by_turn = order[np.argsort(turn, kind="stable")]
    return iter(np.split(by_turn, np.cumsum(np.bincount(turn))[:-1]) if len(order) else ())
