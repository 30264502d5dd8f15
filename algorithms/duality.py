"""The dual of a schedule: the same transfers backwards in time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from algorithms.assembly import settled
from algorithms.collective import EVERY, KINDS, Collective
from algorithms.errors import ScheduleError
from algorithms.schedule import COPY, REDUCE, Schedule


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
    collective = schedule.collective
    row, chunk = schedule.moves()
    gathers = (collective.source != EVERY).all()
    leaf = schedule.dst[row] if gathers else schedule.src[row]
    root = collective.source if gathers else collective.target
    verb = "is written to" if gathers else "leaves"
    cell = leaf.astype(np.int64) * collective.chunks + chunk
    _, position, times = np.unique(cell, return_index=True, return_counts=True)
    if (times > 1).any():
        at = position[np.argmax(times > 1)]
        raise ScheduleError(
            f"no dual: chunk {chunk[at]} {verb} rank {leaf[at]} more than once",
            rank=int(leaf[at]),
            chunk=int(chunk[at]),
        )
    at_root = leaf == root[chunk]
    if at_root.any():
        at = int(np.argmax(at_root))
        raise ScheduleError(
            f"no dual: chunk {chunk[at]} {verb} rank {leaf[at]}, its own",
            rank=int(leaf[at]),
            chunk=int(chunk[at]),
        )
