"""Where the chunks of a schedule lie in the buffers of its ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.cells import distinct
from algorithms.collective import EVERY, KINDS
from algorithms.errors import ScheduleError
from algorithms.programs.buffers import buffers_of
from algorithms.programs.purpose import Purpose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.collective import Collective
    from algorithms.programs.buffers import Buffers
    from algorithms.programs.purpose import Side
    from algorithms.schedule import Schedule

_FULL: Final = ("allreduce", "allgather", "reduce_scatter", "broadcast", "reduce")
"""Collectives in which every rank has a buffer of the full vector."""

_LONE: Final = ("barrier", "send_recv")


@dataclass(frozen=True, slots=True, eq=False)
class Moved:
    """Runs of chunks that transfers move from places that lie side by side to places that do.

    Attributes
    ----------
    row, source, target, count : ndarray of int64, shape (runs,)
        Row of the schedule, first places, and how many; in the order of the rows.
    """

    row: NDArray[np.int64]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    count: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The buffers of a schedule's ranks, what its transfers move in them, and what each rank keeps.

    Attributes
    ----------
    buffers : Buffers
    moved : Moved
    kept : list of tuple of int
        (rank, input place, output place) of chunks that stay where they are, but for the buffer.
    """

    buffers: Buffers
    moved: Moved
    kept: list[tuple[int, int, int]]


def layout_of(schedule: Schedule) -> Layout:
    """Lay out a schedule: in place, but for an All-to-All; in scratch what is neither input nor output.

    Raises
    ------
    ScheduleError
        If no buffers can hold it; says why.
    """
    collective, name = schedule.collective, _names(schedule)
    purpose = _purpose(schedule)
    row, chunk = schedule.moves()
    chunk = name[chunk]
    standard = purpose.collective(0)
    ends = [end[row].astype(np.int64) for end in (schedule.src, schedule.dst)]
    loose = distinct(
        np.concatenate([_key(standard, rank, chunk)[~_in_buffers(standard, rank, chunk)] for rank in ends])
    )
    scratch = np.bincount(loose // collective.chunks, minlength=purpose.ranks)
    buffers = buffers_of(purpose, scratch, in_place=purpose.kind != "all_to_all")
    source, target = (_places(buffers, standard, rank, chunk, loose) for rank in ends)
    return Layout(buffers, _runs(row, source, target, buffers.bounds()), _kept(buffers, standard))


def _purpose(schedule: Schedule) -> Purpose:
    collective = schedule.collective
    if schedule.switches:
        raise ScheduleError("switches reduce in it, and a switch has no thread blocks")
    if collective.kind in _LONE:
        raise ScheduleError(f"thread blocks know no {collective.kind}")
    kind, root = KINDS[collective.kind], 0
    if kind.rooted:
        root = int((collective.source if kind.source == "root" else collective.target)[0])
    parts = collective.chunks // (collective.ranks if collective.kind == "all_to_all" else 1)
    return Purpose(collective.kind, collective.ranks, parts, root)


def _names(schedule: Schedule) -> NDArray[np.int64]:
    """The number of each chunk where those of rank 0 come first, then those of rank 1, and so on."""
    collective = schedule.collective
    name = np.arange(collective.chunks)
    if not KINDS[collective.kind].by_rank:
        return name
    source, target = (np.maximum(end, 0).astype(np.int64) for end in (collective.source, collective.target))
    owner = source * collective.ranks + target
    if KINDS[collective.kind].rooted:
        owner = target if KINDS[collective.kind].source == "root" else source
    owners, each = np.unique(owner, return_counts=True)
    wanted = collective.ranks ** (2 if collective.kind == "all_to_all" else 1)
    if len(owners) < wanted or (each != each[0]).any():
        raise ScheduleError("its ranks have blocks of different numbers of chunks")
    name[np.argsort(owner, kind="stable")] = np.arange(collective.chunks)
    return name


def _key(collective: Collective, rank: NDArray[np.int64], chunk: NDArray[np.int64]) -> NDArray[np.int64]:
    return rank * collective.chunks + chunk


def _is_end(
    collective: Collective, side: Side, rank: NDArray[np.int64], chunk: NDArray[np.int64]
) -> NDArray[np.bool_]:
    ends = (collective.source if side == "source" else collective.target)[chunk]
    return np.asarray((ends == rank) | (ends == EVERY))


def _in_buffers(
    collective: Collective, rank: NDArray[np.int64], chunk: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether a rank's input or output buffer has room for a chunk."""
    if collective.kind in _FULL:
        return np.ones(len(rank), dtype=bool)
    return _is_end(collective, "source", rank, chunk) | _is_end(collective, "target", rank, chunk)


def _places(
    buffers: Buffers,
    collective: Collective,
    rank: NDArray[np.int64],
    chunk: NDArray[np.int64],
    loose: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Place of each (rank, chunk): in a buffer of the full vector, as input, as output, or in scratch."""
    if collective.kind in _FULL:
        larger = 0 if buffers.purpose.room("source") >= buffers.purpose.room("target") else 1
        return np.asarray(buffers.first[larger, rank] + chunk)
    key = _key(collective, rank, chunk)
    slot = np.searchsorted(loose, key) - np.searchsorted(loose, rank * collective.chunks)
    place = buffers.first[2, rank] + slot
    sides: tuple[tuple[int, Side], ...] = ((1, "target"), (0, "source"))
    for buffer, side in sides:
        mine = _is_end(collective, side, rank, chunk)
        place = np.where(mine, buffers.first[buffer, rank] + _position(collective, side)[chunk], place)
    return np.asarray(place)


def _position(collective: Collective, side: Side) -> NDArray[np.int64]:
    """Where each chunk stands among those of its rank."""
    ends = collective.source if side == "source" else collective.target
    order = np.argsort(ends, kind="stable")
    position = np.empty(len(ends), dtype=np.int64)
    position[order] = np.arange(len(ends)) - np.searchsorted(ends[order], ends[order])
    return position


def _runs(
    row: NDArray[np.int64], source: NDArray[np.int64], target: NDArray[np.int64], bounds: NDArray[np.int64]
) -> Moved:
    """Runs within buffers, whose bounds are given."""
    order = np.lexsort((source, row))
    row, source, target = row[order], source[order], target[order]
    new = np.ones(len(row), dtype=bool)
    new[1:] = (np.diff(row) != 0) | (np.diff(source) != 1) | (np.diff(target) != 1)
    for end in (source, target):
        new[1:] |= np.diff(np.searchsorted(bounds, end, side="right")) != 0
    first = np.flatnonzero(new)
    return Moved(row[first], source[first], target[first], np.diff(np.append(first, len(row))))


def _kept(buffers: Buffers, collective: Collective) -> list[tuple[int, int, int]]:
    """Chunks that go from a rank to itself, where input and output are two buffers."""
    if collective.kind != "all_to_all":
        return []
    own = np.flatnonzero(collective.source == collective.target)
    rank = collective.source[own].astype(np.int64)
    places = [
        buffers.first[0, rank] + _position(collective, "source")[own],
        buffers.first[1, rank] + _position(collective, "target")[own],
    ]
    return list(zip(rank.tolist(), *(column.tolist() for column in places), strict=True))
