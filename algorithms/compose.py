"""Schedules out of schedules: one after the other, side by side, on a sub-group, folded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from algorithms.assembly import assemble, settled
from algorithms.collective import Collective
from algorithms.errors import ScheduleError
from algorithms.schedule import COPY, REDUCE, Lists, Ranges, Schedule, Step, expand

if TYPE_CHECKING:
    from numpy.typing import NDArray


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


def side_by_side(schedule: Schedule, times: int) -> Schedule:
    """The schedule played at once by so many groups, which have nothing to do with each other.

    Rank r of group g is g N + r. The groups share the names of chunks: it is made to be timed, not to be
    proven.

    Parameters
    ----------
    schedule : Schedule
        Without switches.
    times : int
        1 or more.

    Examples
    --------
    >>> from algorithms.registry import build
    >>> two = side_by_side(build("ring", "allgather", 3, 3), 2)
    >>> two.ranks, two.src[:6].tolist(), two.dst[:6].tolist()
    (6, [0, 1, 2, 3, 4, 5], [1, 2, 0, 4, 5, 3])
    """
    first = schedule.ranks * np.repeat(np.arange(times, dtype=np.int32), len(schedule))
    return settled(
        replace(
            schedule,
            collective=replace(schedule.collective, ranks=schedule.ranks * times),
            step=np.tile(schedule.step, times),
            channel=np.tile(schedule.channel, times),
            src=np.tile(schedule.src, times) + first,
            dst=np.tile(schedule.dst, times) + first,
            first=np.tile(schedule.first, times),
            count=np.tile(schedule.count, times),
            mode=np.tile(schedule.mode, times),
        )
    )


def core_ranks(ranks: int) -> int:
    """P = 2^floor(log2 N): the ranks that a fold leaves.

    >>> core_ranks(6), core_ranks(8)
    (4, 8)
    """
    return 1 << (ranks.bit_length() - 1)


def is_power_of_two(number: int) -> bool:
    """Whether a number is 2^k.

    >>> [is_power_of_two(number) for number in (-4, 0, 1, 6, 8)]
    [False, False, True, False, True]
    """
    return number > 0 and number.bit_count() == 1


def fold_players(ranks: int, keeps: Literal["odd", "even"]) -> NDArray[np.int64]:
    """The ranks that go on as the P after a fold: of each of the first N - P pairs the odd or the even one.

    >>> fold_players(6, "odd").tolist(), fold_players(6, "even").tolist()
    ([1, 3, 4, 5], [0, 2, 4, 5])
    """
    virtual = np.arange(core_ranks(ranks))
    rest = ranks - len(virtual)
    return np.where(virtual < rest, 2 * virtual + (keeps == "odd"), virtual + rest)


def fold(collective: Collective, core: Callable[[int], Schedule]) -> Schedule:
    """A schedule for P = 2^f ranks made to serve any N: the first 2 (N - P) ranks, if any, work in pairs.

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
    p = core_ranks(collective.ranks)
    rest, inner = collective.ranks - p, core(p)
    if not rest:
        return replace(inner, collective=collective)
    players = fold_players(collective.ranks, keeps="odd")
    idle, partner = players[:rest] - 1, players[:rest]
    everything = np.arange(collective.chunks)
    owned = np.ones(collective.chunks, dtype=np.int64)
    if collective.kind != "allreduce":
        owned = np.where(np.arange(p) < rest, 2, 1)
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
