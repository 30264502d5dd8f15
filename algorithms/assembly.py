"""From an algorithm's generator of steps to a schedule: columns, their order, and their checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from algorithms.errors import ScheduleError
from algorithms.sampling import sampled
from algorithms.schedule import (
    MOST_MOVES,
    REDUCE,
    Chunks,
    Lists,
    Ranges,
    Schedule,
    Step,
    check_moves,
    expand,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.collective import Collective


def assemble(
    collective: Collective,
    steps: Iterable[Step],
    *,
    algorithm: str = "",
    fallback: str | None = None,
    switches: int = 0,
) -> Schedule:
    """Schedule of one channel from an algorithm's generator of steps.

    Raises
    ------
    ScheduleError
        If a transfer goes from a rank to itself or outside the ranks or chunks, or if COPY
        and REDUCE meet in one cell in one step.
    """
    groups = list(_collected(steps))
    if groups:
        number, src, dst, mode = (
            np.concatenate(column) for column in zip(*(g[:4] for g in groups), strict=True)
        )
    else:
        number = src = dst = mode = np.zeros(0, dtype=np.int32)
    first, count, index = _joined_chunks([group[4] for group in groups])
    return settled(
        Schedule(
            collective,
            number,
            np.zeros(len(number), dtype=np.int16),
            src,
            dst,
            first,
            count,
            mode.astype(np.uint8),
            index,
            algorithm,
            fallback,
            switches,
        )
    )


_Column: TypeAlias = "NDArray[np.int32]"
_Moved: TypeAlias = "Ranges | tuple[_Column, _Column]"
"""Chunks of each transfer as ranges; or how many each moves, and all of them in a row."""

_Group: TypeAlias = "tuple[_Column, _Column, _Column, _Column, _Moved]"
"""Step, source, destination and mode of some transfers, and the chunks that they move."""


def _collected(steps: Iterable[Step]) -> Iterator[_Group]:
    """Columns of every group of transfers, as long as there are not too many to keep."""
    total = 0
    for number, step in enumerate(steps):
        for group in _columns(number, step):
            chunks = group[4]
            total += len(chunks.first if isinstance(chunks, Ranges) else chunks[1])
            if total > MOST_MOVES:
                raise ScheduleError(
                    f"the schedule moves more than {MOST_MOVES:,} chunks; step {number} is too many"
                )
            yield group


def _columns(number: int, step: Step) -> Iterator[_Group]:
    for src, dst, chunks, mode in step if isinstance(step, list) else [step]:
        origin, target = (np.atleast_1d(np.asarray(end, dtype=np.int32)) for end in (src, dst))
        moved = _moved(chunks)
        movers = len(moved.count if isinstance(moved, Ranges) else moved[0])
        if len(origin) != movers:
            raise ScheduleError(
                f"step {number}: {len(origin)} sources but chunks for {movers} transfers", step=number
            )
        if len(origin) != len(target):
            raise ScheduleError(
                f"step {number}: {len(origin)} sources but {len(target)} destinations", step=number
            )
        numbers, modes = (np.full(len(origin), value, dtype=np.int32) for value in (number, mode))
        yield numbers, origin, target, modes, moved


def _moved(chunks: Chunks) -> _Moved:
    if isinstance(chunks, Ranges):
        return Ranges(np.asarray(chunks.first, dtype=np.int32), np.asarray(chunks.count, dtype=np.int32))
    if isinstance(chunks, Lists):
        return np.diff(chunks.offsets).astype(np.int32), np.asarray(chunks.index, dtype=np.int32)
    table = np.atleast_1d(np.asarray(chunks, dtype=np.int32))
    if table.ndim == 1:
        return Ranges(table, np.ones(len(table), dtype=np.int32))
    return np.full(len(table), table.shape[1], dtype=np.int32), table.ravel()


def _joined_chunks(groups: Sequence[_Moved]) -> tuple[_Column, _Column, _Column | None]:
    """Columns `first`, `count` and `index` of all groups: as ranges if all are, else as lists."""
    none = np.zeros(0, dtype=np.int32)
    ranges = [group for group in groups if isinstance(group, Ranges)]
    count = np.concatenate([none, *(g.count if isinstance(g, Ranges) else g[0] for g in groups)])
    if len(ranges) == len(groups):
        first = np.concatenate([none, *(group.first for group in ranges)])
        return np.where(count > 0, first, 0).astype(np.int32), count.astype(np.int32), None
    check_moves(int(count.sum(dtype=np.int64)))
    index = [expand(g.first, g.count)[1] if isinstance(g, Ranges) else g[1] for g in groups]
    offsets = (np.cumsum(count) - count).astype(np.int32)
    return offsets, count.astype(np.int32), np.concatenate(index).astype(np.int32)


def settled(raw: Schedule) -> Schedule:
    """Schedule in the canonical order of rows, its chunk lists as ranges where they are, and checked.

    Parameters
    ----------
    raw : Schedule
        Rows in any order of step and channel; a source's order within a step is kept. The
        integer columns may be of any width.

    Raises
    ------
    ScheduleError
        As `assemble`; and if two channels touch one chunk at one rank.
    """
    columns = (raw.step, raw.channel, raw.src, raw.dst, raw.first, raw.count, raw.mode)
    order = _canonical_order(raw.step, raw.channel, raw.src)
    if order is not None:
        columns = tuple(column[order] for column in columns)  # type: ignore[assignment]
    step, channel, src, dst, first, count, mode = columns
    starts, index = (first, None) if raw.index is None else as_ranges(first, count, raw.index)
    schedule = replace(
        raw,
        step=step.astype(np.int32, copy=False),
        channel=channel.astype(np.int16, copy=False),
        src=src.astype(np.int32, copy=False),
        dst=dst.astype(np.int32, copy=False),
        first=starts.astype(np.int32, copy=False),
        count=count.astype(np.int32, copy=False),
        mode=mode.astype(np.uint8, copy=False),
        index=None if index is None else index.astype(np.int32, copy=False),
    )
    _check_ends(schedule)
    _check_modes(schedule)
    if channel.any():
        _check_channels(schedule)
    return schedule


def _canonical_order(
    step: NDArray[np.integer], channel: NDArray[np.integer], src: NDArray[np.integer]
) -> NDArray[np.int64] | None:
    """Order of the rows by (step, channel, slot, src), or None where they stand so already."""
    if not channel.any():
        rises = (src[1:] > src[:-1]) & (step[1:] == step[:-1])
        if (rises | (step[1:] > step[:-1])).all():
            return None
    # one key sorts faster than three columns: what is sorted consists of few rising runs
    lane = (step.astype(np.int64) * (int(channel.max()) + 1) + channel) * (int(src.max()) + 1)
    by_source = np.argsort(lane + src, kind="stable")
    new = np.ones(len(step), dtype=bool)
    sources = (lane + src)[by_source]
    np.not_equal(sources[1:], sources[:-1], out=new[1:])
    if new.all():
        return by_source
    place = np.arange(len(step))
    slot = np.empty(len(step), dtype=np.int64)
    slot[by_source] = place - np.maximum.accumulate(np.where(new, place, 0))
    return np.lexsort((src, slot, lane))


def as_ranges(
    first: NDArray[np.integer], count: NDArray[np.integer], index: NDArray[np.integer]
) -> tuple[NDArray[np.integer], NDArray[np.integer] | None]:
    """Chunk lists as plain ranges where every list is one."""
    row, at = expand(first, count)
    inside = np.diff(row) == 0
    if not (np.diff(index[at])[inside] == 1).all():
        return first, index
    start = np.zeros(len(first), dtype=np.int64)
    filled = count > 0
    start[filled] = index[first[filled]]
    return start, None


def _check_ends(schedule: Schedule) -> None:
    checks = (
        (schedule.src == schedule.dst, "rank {src} sends to itself"),
        ((schedule.src < 0) | (schedule.src >= schedule.nodes), "there is no rank {src} to send"),
        ((schedule.dst < 0) | (schedule.dst >= schedule.nodes), "there is no rank {dst} to receive"),
    )
    for wrong, text in checks:
        if wrong.any():
            row = int(np.argmax(wrong))
            step, src, dst = int(schedule.step[row]), int(schedule.src[row]), int(schedule.dst[row])
            raise ScheduleError(f"step {step}: " + text.format(src=src, dst=dst), step=step, rank=src)
    _check_chunks(schedule)


def _check_chunks(schedule: Schedule) -> None:
    """Refuse chunks that the collective does not have."""
    chunks = schedule.collective.chunks
    if schedule.index is None:
        wrong = (schedule.first < 0) | (schedule.first.astype(np.int64) + schedule.count > chunks)
        wrong &= schedule.count > 0
    else:
        bad = (schedule.index < 0) | (schedule.index >= chunks)
        if not bad.any():
            return
        rows, moved = schedule.moves()
        wrong = np.zeros(len(schedule), dtype=bool)
        wrong[rows[(moved < 0) | (moved >= chunks)]] = True
    if wrong.any():
        row = int(np.argmax(wrong))
        step = int(schedule.step[row])
        chunk = _first_foreign(schedule, row)
        raise ScheduleError(f"step {step}: there is no chunk {chunk}", step=step, chunk=chunk)


def _first_foreign(schedule: Schedule, row: int) -> int:
    """The first chunk of a transfer that the collective does not have."""
    first, chunks = int(schedule.first[row]), schedule.collective.chunks
    if schedule.index is None:
        return first if first < 0 else max(first, chunks)
    return next(int(chunk) for chunk in schedule.chunks(row) if not 0 <= chunk < chunks)


def _check_modes(schedule: Schedule) -> None:
    """Refuse COPY and REDUCE into one cell in one step."""
    steps, mode = schedule.step, schedule.mode
    mixed = np.unique(steps[1:][(mode[1:] != mode[:-1]) & (steps[1:] == steps[:-1])])
    bounds = (np.searchsorted(steps, mixed, side) for side in ("left", "right"))
    for start, stop in zip(*bounds, strict=True):
        row, chunk = schedule.moves(start, stop)
        cell = schedule.dst[row].astype(np.int64) * schedule.collective.chunks + chunk
        reduced = schedule.mode[row] == REDUCE
        both = np.intersect1d(cell[reduced], cell[~reduced])
        if len(both):
            rank, at = divmod(int(both[0]), schedule.collective.chunks)
            step = int(schedule.step[start])
            raise ScheduleError(
                f"step {step}: chunk {at} at {schedule.node_name(rank)} is both copied and reduced into",
                step=step,
                rank=rank,
                chunk=at,
            )


def _check_channels(schedule: Schedule) -> None:
    """Refuse two channels that touch one cell: each would go its own way, and none wait for the other."""
    schedule = sampled(schedule)
    row, chunk = schedule.moves()
    chunks = schedule.collective.chunks
    ends = (
        schedule.src[row].astype(np.int64) * chunks + chunk,
        schedule.dst[row].astype(np.int64) * chunks + chunk,
    )
    lanes = int(schedule.channel.max()) + 1
    touched = np.unique(np.concatenate(ends) * lanes + np.tile(schedule.channel[row], 2)) // lanes
    shared = touched[1:][touched[1:] == touched[:-1]]
    if len(shared):
        rank, at = divmod(int(shared[0]), chunks)
        raise ScheduleError(f"two channels touch chunk {at} at rank {rank}", rank=rank, chunk=at)
