"""What a transfer must wait for, derived from the meaning of a step.

Each kind of synchronisation says which groups of operations a transfer waits on. One function
then turns groups into dependencies; where many wait on many, through a join.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from algorithms.schedule import expand

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.schedule import Schedule
    from simulator.engine.network import Sync


@dataclass(frozen=True, slots=True, eq=False)
class Waits:
    """Groups of operations, and who waits on which group.

    Operations are numbered here with the transfers first (their rows in the schedule), and the
    delays of late ranks after them.

    Attributes
    ----------
    offsets, member : ndarray of int
        Group g has the members member[offsets[g]:offsets[g + 1]].
    row, group : ndarray of int
        Transfer `row` waits for all members of `group`.
    """

    offsets: NDArray[np.integer]
    member: NDArray[np.integer]
    row: NDArray[np.integer]
    group: NDArray[np.integer]


@dataclass(frozen=True, slots=True, eq=False)
class Dependencies:
    """Who waits for whom, with joins.

    Attributes
    ----------
    waiter, awaited : ndarray of int
        An edge each, ordered by waiter. Joins are numbered after transfers and delays.
    join_last : ndarray of int64, shape (joins,)
        The last transfer that each join waits for, or -1 where it waits for delays only.
    """

    waiter: NDArray[np.integer]
    awaited: NDArray[np.integer]
    join_last: NDArray[np.int64]


def dependencies(schedule: Schedule, sync: Sync, late: NDArray[np.int64]) -> Dependencies:
    """Dependencies of every transfer.

    Parameters
    ----------
    schedule : Schedule
    sync : {'step', 'dataflow', 'barrier'}
    late : ndarray of int64
        Ranks that start late; delay j is operation len(schedule) + j.
    """
    waits = {"step": _step_waits, "dataflow": _dataflow_waits, "barrier": _barrier_waits}[sync]
    return _resolve(waits(schedule, late), len(schedule), len(schedule) + len(late))


def _step_waits(schedule: Schedule, late: NDArray[np.int64]) -> Waits:
    """Source and destination have finished their last step before this one, in this channel."""
    count = len(schedule)
    lane = np.stack([schedule.src, schedule.dst], axis=1)
    if schedule.channel.any():
        lane = lane + (schedule.channel.astype(np.int64) * schedule.nodes)[:, None]
    flat = lane.ravel()
    # numpy sorts 16-bit keys by radix, in one pass
    order = np.argsort(flat.astype(np.uint16) if count and flat.max() < 1 << 16 else flat, kind="stable")
    row, flat = order.astype(np.int32) >> 1, flat[order]
    step = schedule.step[row]
    first_of_lane = np.ones(len(flat), dtype=bool)
    np.not_equal(flat[1:], flat[:-1], out=first_of_lane[1:])
    first_of_group = first_of_lane.copy()
    first_of_group[1:] |= step[1:] != step[:-1]
    starts = np.flatnonzero(first_of_group)
    group = np.cumsum(first_of_group, dtype=np.int32) - 1
    # the group before its own, in the same lane
    before = np.where(first_of_lane[starts], np.int32(-1), np.arange(-1, len(starts) - 1, dtype=np.int32))
    waited = np.empty((count, 2), dtype=np.int32)
    waited.ravel()[order] = before[group]
    offsets = np.append(starts, len(flat)).astype(np.int32)
    member: NDArray[np.integer] = row
    if len(late):
        delay_group = np.full(schedule.nodes, -1, dtype=np.int32)
        delay_group[late] = len(starts) + np.arange(len(late))
        waited = np.where(waited < 0, delay_group[lane % schedule.nodes], waited)
        offsets = np.concatenate([offsets, len(flat) + 1 + np.arange(len(late))])
        member = np.concatenate([row, count + np.arange(len(late))])
    some = np.flatnonzero(waited.ravel() >= 0)
    return Waits(offsets, member, some.astype(np.int32) >> 1, waited.ravel()[some])


def _barrier_waits(schedule: Schedule, late: NDArray[np.int64]) -> Waits:
    """Everybody has finished the step before, in this channel; nobody starts before the latest."""
    count = len(schedule)
    order = np.lexsort((schedule.step, schedule.channel))
    channel, step = schedule.channel[order], schedule.step[order]
    new_channel = np.diff(channel, prepend=-1) != 0
    starts = np.flatnonzero(new_channel | (np.diff(step, prepend=-1) != 0))
    sizes = np.diff(np.append(starts, count))
    previous = np.where(new_channel[starts], len(starts) if len(late) else -1, np.arange(len(starts)) - 1)
    waited = np.repeat(previous, sizes)
    offsets = np.concatenate([starts, [count, count + len(late)]])
    member = np.concatenate([order, count + np.arange(len(late))])
    some = np.flatnonzero(waited >= 0)
    some = some[np.argsort(order[some], kind="stable")]
    return Waits(offsets, member, order[some], waited[some])


def _dataflow_waits(schedule: Schedule, late: NDArray[np.int64]) -> Waits:
    """Every earlier transfer that wrote one of the chunks at the source has finished."""
    row, chunk = schedule.moves()
    span = schedule.steps + 1
    written = (schedule.dst[row].astype(np.int64) * schedule.collective.chunks + chunk) * span
    order = np.argsort(written + schedule.step[row], kind="stable")
    keys, writer = (written + schedule.step[row])[order], row[order]
    read = (schedule.src[row].astype(np.int64) * schedule.collective.chunks + chunk) * span
    low, high = np.searchsorted(keys, read), np.searchsorted(keys, read + schedule.step[row])
    # the writers of one cell before one step are a group; those that wait on the same group share it
    bounds, group = np.unique(np.stack([low, high], axis=1), axis=0, return_inverse=True)
    some = np.flatnonzero(low < high)
    pairs = np.unique(np.stack([row[some], group.ravel()[some]], axis=1), axis=0)
    groups, member = expand(bounds[:, 0], bounds[:, 1] - bounds[:, 0])
    offsets = np.searchsorted(groups, np.arange(len(bounds) + 1))
    delay_group = np.full(schedule.nodes, -1, dtype=np.int64)
    delay_group[late] = len(bounds) + np.arange(len(late))
    held_back = np.flatnonzero(delay_group[schedule.src] >= 0)
    rows = np.concatenate([pairs[:, 0], held_back])
    by_row = np.argsort(rows, kind="stable")
    return Waits(
        np.concatenate([offsets, len(member) + 1 + np.arange(len(late))]),
        np.concatenate([writer[member], len(schedule) + np.arange(len(late))]),
        rows[by_row],
        np.concatenate([pairs[:, 1], delay_group[schedule.src[held_back]]])[by_row],
    )


def _resolve(waits: Waits, transfers: int, operations: int) -> Dependencies:
    """Edges from groups: each waiter to each member, or both through a join where that is fewer."""
    members = np.diff(waits.offsets)
    waiters = np.bincount(waits.group, minlength=len(members))
    joined = members * waiters > 2 * (members + waiters)
    join = np.full(len(members), -1, dtype=np.int64)
    join[joined] = operations + np.arange(np.count_nonzero(joined))
    direct = _direct_edges(waits, members, joined)
    through = np.flatnonzero(joined[waits.group]) if joined.any() else np.zeros(0, dtype=np.int64)
    into_row, into = expand(waits.offsets[:-1][joined], members[joined])
    edges = [
        direct,
        (waits.row[through], join[waits.group[through]]),
        (operations + into_row, waits.member[into]),
    ]
    waiter, awaited = (np.concatenate(ends, dtype=np.int32) for ends in zip(*edges, strict=True))
    if joined.any():
        order = np.argsort(waiter, kind="stable")
        waiter, awaited = waiter[order], awaited[order]
    last = np.full(np.count_nonzero(joined), -1, dtype=np.int64)
    of_transfer = waits.member[into] < transfers
    np.maximum.at(last, into_row[of_transfer], waits.member[into][of_transfer])
    return Dependencies(waiter, awaited, last)


def _direct_edges(
    waits: Waits, members: NDArray[np.integer], joined: NDArray[np.bool_]
) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
    """(waiter, member) of the waits that go through no join, each once."""
    row, group = waits.row, waits.group
    if joined.any():
        straight = ~joined[group]
        row, group = row[straight], group[straight]
    first, width = (column.astype(np.int32, copy=False) for column in (waits.offsets[:-1], members))
    # block by block: what is in work at a time stays in the processor's cache
    block = 1 << 16
    edges = []
    cuts = np.searchsorted(row, np.arange(0, int(row.max(initial=0)) + 1 + block, block))
    for start, stop in pairwise(cuts.tolist()):
        rows, groups = row[start:stop], group[start:stop]
        which, at = expand(first[groups], width[groups])
        edges.append(_distinct(rows[which], waits.member[at]))
    if not edges:
        return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32)
    return np.concatenate([e[0] for e in edges]), np.concatenate([e[1] for e in edges])


def _distinct(
    row: NDArray[np.integer], member: NDArray[np.integer]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Edges of rising rows, each once and each row's in rising order."""
    waiter, awaited = row.astype(np.int32, copy=False), member.astype(np.int32, copy=False)
    count = np.bincount(row - row[0]) if len(row) else np.zeros(0, dtype=np.int64)
    if len(row) and (count == count[0]).all():
        # rows of equal length, as symmetric algorithms have them: sort the short rows side by side
        table = np.sort(awaited.reshape(-1, count[0]), axis=1)
        differs = np.ones(table.shape, dtype=bool)
        np.not_equal(table[:, 1:], table[:, :-1], out=differs[:, 1:])
        return waiter[differs.ravel()], table[differs]
    key = np.sort(waiter.astype(np.int64) << 32 | awaited)
    new = np.ones(len(key), dtype=bool)
    np.not_equal(key[1:], key[:-1], out=new[1:])
    key = key[new]
    return (key >> 32).astype(np.int32), (key & 0xFFFFFFFF).astype(np.int32)
