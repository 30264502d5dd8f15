"""The dual of a schedule: the same transfers backwards in time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from algorithms.assembly import settled
from algorithms.cells import number_cells
from algorithms.collective import EVERY, KINDS, Collective
from algorithms.errors import ScheduleError
from algorithms.sampling import sampled
from algorithms.schedule import COPY, REDUCE, Schedule
from topologies.loops import fast

if TYPE_CHECKING:
    from numpy.typing import NDArray


def dual(schedule: Schedule, collective: Collective) -> Schedule:
    """The same transfers backwards in time, from receiver to sender.

    The dual of an AllGather is a ReduceScatter, and the other way round: source and target
    of every chunk change places. The modes are those of the target collective. In an All-to-All
    the chunk from s to d becomes the one from d to s.

    Parameters
    ----------
    schedule : Schedule
        One in which each chunk's transfers form a tree: seen forward in time from a chunk's
        only source, every rank is written once and the source never; seen backward from its
        only target, likewise.
    collective : Collective
        The collective that the result computes.

    Raises
    ------
    ScheduleError
        If the collectives do not mirror each other, or a chunk's transfers are not a tree.
    """
    if KINDS[schedule.collective.kind].dual is None:
        raise ScheduleError(f"{schedule.collective.kind} has no dual: nothing is the mirror of it")
    if collective.kind == "all_to_all" == schedule.collective.kind:
        schedule = _transposed(schedule)
    _check_mirror(schedule.collective, collective)
    _check_tree(schedule)
    mode = REDUCE if (collective.source == EVERY).all() else COPY
    backward = slice(None, None, -1)
    return settled(
        replace(
            schedule,
            collective=collective,
            step=(schedule.steps - 1 - schedule.step)[backward],
            channel=schedule.channel[backward],
            src=schedule.dst[backward],
            dst=schedule.src[backward],
            first=schedule.first[backward],
            count=schedule.count[backward],
            mode=np.full(len(schedule), mode, dtype=np.uint8),
        )
    )


def _transposed(schedule: Schedule) -> Schedule:
    """An All-to-All in which the chunks from s to d go by the names of those from d to s."""
    collective = schedule.collective
    segments = collective.chunks // collective.ranks**2
    block, segment = np.divmod(np.arange(collective.chunks), segments)
    source, target = np.divmod(block, collective.ranks)
    named = (target * collective.ranks + source) * segments + segment
    swapped = replace(
        collective,
        sizes=collective.sizes[named],
        source=collective.source[named],
        target=collective.target[named],
    )
    index = named[schedule.moves()[1]].astype(np.int32)
    return settled(
        replace(
            schedule,
            collective=swapped,
            first=np.cumsum(schedule.count, dtype=np.int32) - schedule.count,
            index=index,
        )
    )


def _check_mirror(one: Collective, other: Collective) -> None:
    mirrored = (
        one.ranks == other.ranks
        and one.chunks == other.chunks
        and (one.source == other.target).all()
        and (one.target == other.source).all()
    )
    if not mirrored:
        raise ScheduleError(
            f"{one.kind} has no dual that is this {other.kind}: source and target must change places"
        )


def _check_tree(schedule: Schedule) -> None:
    schedule = sampled(schedule)
    collective = schedule.collective
    cells = number_cells(schedule)
    gathers = (collective.source != EVERY).all()
    root = collective.source if gathers else collective.target
    verb = "is written to" if gathers else "leaves"
    seen = np.zeros(cells.count, dtype=bool)
    seen[cells.number(root, np.arange(collective.chunks))] = True
    for moves in cells.moves(schedule):
        leaf = moves.target if gathers else moves.source
        at = fast(_first_repeated, len(leaf))(leaf, seen)
        if at >= 0:
            rank = int((schedule.dst if gathers else schedule.src)[moves.row[at]])
            chunk = int(moves.chunk[at])
            how = "its own" if rank == root[chunk] else "more than once"
            comma = "," if rank == root[chunk] else ""
            text = f"no dual: chunk {chunk} {verb} rank {rank}{comma} {how}"
            raise ScheduleError(text, rank=rank, chunk=chunk)


def _first_repeated(values: NDArray[np.int64], seen: NDArray[np.bool_]) -> int:
    """Mark values as seen, up to the first that is so already: its place, or -1."""
    for at in range(len(values)):
        if seen[values[at]]:
            return at
        seen[values[at]] = True
    return -1
