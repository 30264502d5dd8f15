"""Schedules out of schedules: dual, then, together, beside, on a sub-group, rooted, segmented, fold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.assembly import assemble, check_moves, settled
from algorithms.collective import EVERY, KINDS, Collective
from algorithms.errors import ScheduleError
from algorithms.schedule import COPY, REDUCE, Lists, Ranges, Schedule, Step, expand

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_CHANNELS: Final = 1 << 15
"""Channels that a schedule may have."""


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
    chunk = np.arange(collective.chunks)
    block, segment = np.divmod(chunk, collective.chunks // collective.ranks**2)
    source, target = np.divmod(block, collective.ranks)
    named = (target * collective.ranks + source) * (collective.chunks // collective.ranks**2) + segment
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


def then(parts: Sequence[Schedule], collective: Collective, *, algorithm: str = "") -> Schedule:
    """Schedules one after the other: the steps of each follow those of the one before it.

    Channels stay as they are, so parts with several may not touch the same chunks at a rank.

    Raises
    ------
    ScheduleError
        If they do not move the same chunks, or two channels touch one chunk at one rank.
    """
    for part in parts:
        if part.collective.chunks != collective.chunks:
            raise ScheduleError(
                f"cannot follow on: {part.collective.chunks} chunks after {collective.chunks}"
            )
    offset = np.cumsum([0, *(part.steps for part in parts[:-1])])
    steps = [part.step + before for part, before in zip(parts, offset, strict=True)]
    channels = [part.channel for part in parts]
    return _concatenate(parts, steps, channels, collective, algorithm)


def together(parts: Sequence[Schedule], collective: Collective, *, algorithm: str = "") -> Schedule:
    """Schedules of ranks or chunks that do not meet, step by step in the same channel."""
    return _concatenate(
        parts, [part.step for part in parts], [part.channel for part in parts], collective, algorithm
    )


def beside(parts: Sequence[Schedule], collective: Collective, *, algorithm: str = "") -> Schedule:
    """Schedules as independent channels, each with its own steps.

    Raises
    ------
    ScheduleError
        If two of them touch the same chunk at the same rank.
    """
    before = np.cumsum([0, *(int(part.channel.max(initial=-1)) + 1 for part in parts[:-1])])
    channels = [part.channel + shift for part, shift in zip(parts, before, strict=True)]
    return _concatenate(parts, [part.step for part in parts], channels, collective, algorithm)


def _concatenate(
    parts: Sequence[Schedule],
    steps: Sequence[NDArray[np.integer]],
    channels: Sequence[NDArray[np.integer]],
    collective: Collective,
    algorithm: str,
) -> Schedule:
    firsts, index = _common_chunks(parts)
    return settled(
        Schedule(
            collective,
            np.concatenate(steps).astype(np.int32, copy=False),
            np.concatenate(channels).astype(np.int16, copy=False),
            np.concatenate([part.src for part in parts]),
            np.concatenate([part.dst for part in parts]),
            np.concatenate(firsts).astype(np.int32, copy=False),
            np.concatenate([part.count for part in parts]),
            np.concatenate([part.mode for part in parts]),
            index,
            algorithm,
            next((part.fallback for part in parts if part.fallback), None),
        )
    )


def _common_chunks(
    parts: Sequence[Schedule],
) -> tuple[list[NDArray[np.integer]], NDArray[np.int32] | None]:
    """The `first` columns of the parts against one common index, which is None where all are ranges."""
    firsts: list[NDArray[np.integer]] = [part.first for part in parts]
    if all(part.index is None for part in parts):
        return firsts, None
    indices, before = [], 0
    for i, part in enumerate(parts):
        index = part.moves()[1] if part.index is None else part.index
        first = np.cumsum(part.count) - part.count if part.index is None else part.first
        firsts[i] = first + before
        indices.append(index)
        before += len(index)
    return firsts, np.concatenate(indices).astype(np.int32, copy=False)


def on(schedule: Schedule, collective: Collective, ranks: NDArray[np.integer], chunks: Lists) -> Schedule:
    """The schedule played by some ranks of a larger collective.

    Parameters
    ----------
    schedule : Schedule
        Over its own ranks 0..p-1 and chunks 0..c-1.
    collective : Collective
        The larger collective.
    ranks : ndarray of int, shape (p,)
        The rank that plays each of the schedule's ranks.
    chunks : Lists
        The chunks of the larger collective that stand for each of the schedule's, (c lists).
    """
    row, chunk = schedule.moves()
    width = np.diff(chunks.offsets)
    _, at = expand(chunks.offsets[:-1][chunk], width[chunk])
    count = np.bincount(row, weights=width[chunk], minlength=len(schedule)).astype(np.int32)
    players = np.asarray(ranks, dtype=np.int32)
    return settled(
        replace(
            schedule,
            collective=collective,
            src=players[schedule.src],
            dst=players[schedule.dst],
            first=np.cumsum(count, dtype=np.int32) - count,
            count=count,
            index=chunks.index[at].astype(np.int32, copy=False),
        )
    )


def rooted(schedule: Schedule, root: int) -> Schedule:
    """The schedule of a rooted collective, made for root 0, with every rank moved on by `root`.

    The block of rank v of a Scatter or Gather becomes that of the rank in its place.
    """
    collective, ranks = schedule.collective, schedule.ranks
    players = (np.arange(ranks) + root) % ranks
    chunk = np.arange(collective.chunks)
    if KINDS[collective.kind].by_rank:
        segments = collective.chunks // ranks
        chunk = players[chunk // segments] * segments + chunk % segments
    places = []
    for place in (collective.source, collective.target):
        moved = np.where(place == EVERY, EVERY, players[place]).astype(np.int32)
        named = np.empty_like(moved)
        named[chunk] = moved
        places.append(named)
    # what is cut unevenly stays so: a block's size goes with its name, not with its old owner
    moved_on = replace(collective, source=places[0], target=places[1])
    return on(schedule, moved_on, players, Lists(np.arange(len(chunk) + 1), chunk))


def segmented(schedule: Schedule, segments: int) -> Schedule:
    """Each chunk cut into segments that go their ways one after the other: a pipeline.

    Segment s of every chunk travels in a channel of its own, so that it waits for nothing but
    itself and the links. Its steps are numbered as a machine with one port would take them: s times as
    many later as the busiest rank has steps in which it sends (or receives). T steps become
    T + (segments - 1) times that: N - 2 + S for a chain.

    Raises
    ------
    ScheduleError
        If there are fewer than 1 segment, or more channels than fit.
    """
    if segments < 1:
        raise ScheduleError(f"there is at least 1 segment, found {segments}", ("segments",))
    if segments == 1:
        return schedule
    channels = int(schedule.channel.max(initial=0)) + 1
    if channels * segments > MOST_CHANNELS:
        raise ScheduleError(
            f"{segments} segments of {channels} channels; at most {MOST_CHANNELS} channels fit", ("segments",)
        )
    moved = schedule.moves()[1]
    check_moves(len(moved) * segments)
    collective = schedule.collective
    small, larger = np.divmod(np.repeat(collective.sizes, segments), segments)
    part = np.tile(np.arange(segments), collective.chunks)
    cut = Collective(
        collective.kind,
        collective.ranks,
        small + (part < larger),
        np.repeat(collective.source, segments),
        np.repeat(collective.target, segments),
    )
    segment = np.arange(segments, dtype=np.int32)[:, None]
    first = np.cumsum(schedule.count) - schedule.count
    period = _busy_steps(schedule)
    return settled(
        replace(
            schedule,
            collective=cut,
            step=(schedule.step + segment * period).ravel(),
            channel=(schedule.channel * np.int32(segments) + segment).ravel().astype(np.int16),
            src=np.tile(schedule.src, segments),
            dst=np.tile(schedule.dst, segments),
            first=(first + segment * len(moved)).ravel(),
            count=np.tile(schedule.count, segments),
            mode=np.tile(schedule.mode, segments),
            index=(moved * segments + segment).ravel().astype(np.int32),
        )
    )


def _busy_steps(schedule: Schedule) -> int:
    """Steps in which the busiest rank sends, or receives."""
    steps, most = schedule.steps, 0
    for end in (schedule.src, schedule.dst):
        active = np.unique(end.astype(np.int64) * steps + schedule.step)
        most = max(most, int(np.bincount(active // steps).max(initial=0)) if steps else 0)
    return most


def core_ranks(ranks: int) -> int:
    """P = 2^floor(log2 N): the ranks that a fold leaves.

    >>> core_ranks(6), core_ranks(8)
    (4, 8)
    """
    return 1 << (ranks.bit_length() - 1)


def fold(collective: Collective, core: Callable[[int], Schedule]) -> Schedule:
    """A schedule for P = 2^f ranks made to serve any N: the first 2 (N - P) ranks work in pairs.

    Even rank 2v hands what it has to rank 2v + 1, sits out, and is handed its result in the
    end, as MPICH does it. ReduceScatter and AllGather take f + 2 steps, AllReduce what its
    core takes and 2 more.

    Parameters
    ----------
    collective : Collective
        The collective over N ranks; chunk b is block b of ReduceScatter and AllGather, and the
        core's own chunk b of AllReduce.
    core : callable
        P -> the schedule for P ranks.
    """
    n = collective.ranks
    p = core_ranks(n)
    rest = n - p
    virtual = np.arange(p)
    players = np.where(virtual < rest, 2 * virtual + 1, virtual + rest)
    idle, partner = 2 * np.arange(rest), 2 * np.arange(rest) + 1
    everything = np.arange(collective.chunks)
    inner = core(p)
    owned = np.ones(collective.chunks, dtype=np.int64)
    if collective.kind != "allreduce":
        owned = np.where(virtual < rest, 2, 1)
    chunks = Lists(np.concatenate([[0], np.cumsum(owned)]), everything)
    whole = Ranges(np.zeros(rest, dtype=np.int64), np.full(rest, collective.chunks))
    before: Step = (idle, partner, whole, REDUCE)
    after: Step = (partner, idle, whole, COPY)
    if collective.kind == "reduce_scatter":
        after = (partner, idle, idle, COPY)
    elif collective.kind in ("allgather", "barrier"):
        before = (idle, partner, idle, COPY)
        others = np.array([np.delete(everything, rank) for rank in idle])
        after = (partner, idle, others, COPY)
    parts = [
        assemble(collective, [before]),
        on(inner, collective, players, chunks),
        assemble(collective, [after]),
    ]
    return replace(then(parts, collective, algorithm=inner.algorithm), fallback="fold")
