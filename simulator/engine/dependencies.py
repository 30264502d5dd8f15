"""What a transfer must wait for, derived from the meaning of a step.

Each kind of synchronisation says which groups of ends a transfer's ends wait on. A transfer has
two: 2t is transfer t at its source, 2t + 1 at its destination. Ends from twice the number of
transfers on are the delays of late ranks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from algorithms.schedule import expand
from topologies.loops import fast

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.schedule import Precedence, Schedule
    from simulator.engine.network import Sync


@dataclass(frozen=True, slots=True, eq=False)
class Waits:
    """Groups of ends, and which end waits on which group.

    Attributes
    ----------
    offsets, member : ndarray of int
        Group g has the members member[offsets[g]:offsets[g + 1]].
    waiter : ndarray of int
        End waiter[k] waits for all members of group[k]; in rising order. Empty where it is end k.
    group : ndarray of int
        -1 for none.
    """

    offsets: NDArray[np.integer]
    member: NDArray[np.integer]
    waiter: NDArray[np.integer]
    group: NDArray[np.integer]


def waits(schedule: Schedule, sync: Sync, late: NDArray[np.int64]) -> Waits:
    """What every transfer waits for.

    Parameters
    ----------
    schedule : Schedule
    sync : {'step', 'dataflow', 'barrier'}
    late : ndarray of int64
        Ranks that start late; delay j is end 2 len(schedule) + j.
    """
    if schedule.precedence is not None:
        return _program_waits(schedule, schedule.precedence, late)
    return {"step": _step_waits, "dataflow": _dataflow_waits, "barrier": _barrier_waits}[sync](schedule, late)


def _program_waits(schedule: Schedule, precedence: Precedence, late: NDArray[np.int64]) -> Waits:
    """Each transfer waits, at its source, for its own group; where that is empty, for a late rank."""
    offsets, transfers = precedence.after.offsets, len(schedule)
    delay = np.full(schedule.nodes, -1, dtype=np.int64)
    delay[late] = transfers + np.arange(len(late))
    group = np.where(np.diff(offsets) > 0, np.arange(transfers), delay[schedule.src])
    some = np.flatnonzero(group >= 0)
    return _with_delays(offsets, precedence.after.index, 2 * some, group[some], transfers, len(late))


def _step_waits(schedule: Schedule, late: NDArray[np.int64]) -> Waits:
    """Each end waits for what its rank did in its last step before this one, in this channel."""
    columns = (schedule.step, schedule.channel, schedule.src, schedule.dst)
    lanes = schedule.nodes * (int(schedule.channel.max(initial=0)) + 1)
    # room is made here: numpy asks for it in larger pages than a loop would
    turns, ends = len(schedule), 2 * len(schedule)
    last, reached = (np.full(lanes, -1, dtype=np.int32) for _ in range(2))
    group, before, member = (np.empty(ends, dtype=np.int32) for _ in range(3))
    size = np.zeros(ends, dtype=np.int32)
    groups = fast(_group_ends, turns)(*columns, schedule.nodes, last, reached, group, before, size)
    before, offsets = before[:groups], _offsets(size[:groups])
    fast(_fill_groups, turns)(group, offsets[:-1].copy(), member)
    if len(late):
        # who has nothing before it waits for the delay of its rank
        delay = np.full(schedule.nodes, -1, dtype=np.int32)
        delay[late] = groups + np.arange(len(late), dtype=np.int32)
        first = np.flatnonzero(before < 0)
        end = member[offsets[first]]
        rank = np.where(end & 1, schedule.dst[end >> 1], schedule.src[end >> 1])
        before[first] = delay[rank]
    every = np.zeros(0, dtype=np.int32)
    return _with_delays(offsets, member, every, before[group], len(schedule), len(late))


def _group_ends(
    step: NDArray[np.int32],
    channel: NDArray[np.int16],
    src: NDArray[np.int32],
    dst: NDArray[np.int32],
    nodes: int,
    last: NDArray[np.int32],
    reached: NDArray[np.int32],
    group: NDArray[np.int32],
    before: NDArray[np.int32],
    size: NDArray[np.int32],
) -> int:
    """Group of each end (of one rank, channel and step), the group before each, its size; how many."""
    groups = 0
    for row in range(len(step)):
        for side in range(2):
            lane = int(channel[row]) * nodes + (dst[row] if side else src[row])
            if reached[lane] != step[row]:
                before[groups] = last[lane]
                last[lane] = groups
                reached[lane] = step[row]
                groups += 1
            group[2 * row + side] = last[lane]
            size[last[lane]] += 1
    return groups


def _fill_groups(group: NDArray[np.int32], filled: NDArray[np.int32], member: NDArray[np.int32]) -> None:
    """Put the ends of each group, in rising order, where the group begins to be filled."""
    for end in range(len(group)):
        member[filled[group[end]]] = end
        filled[group[end]] += 1


def _offsets(size: NDArray[np.integer]) -> NDArray[np.int32]:
    offsets = np.zeros(len(size) + 1, dtype=np.int32)
    np.cumsum(size, out=offsets[1:])
    return offsets


def _with_delays(
    offsets: NDArray[np.integer],
    member: NDArray[np.integer],
    waiter: NDArray[np.integer],
    group: NDArray[np.integer],
    transfers: int,
    delays: int,
) -> Waits:
    """Waits with a group more for every delay, after the others."""
    if delays:
        offsets = np.concatenate([offsets, len(member) + 1 + np.arange(delays)])
        member = np.concatenate([member, 2 * transfers + np.arange(delays)])
    return Waits(offsets, member, waiter, group)


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
    # both ends of every transfer are finished; a waiter waits before it begins, at its source
    offsets = np.concatenate([2 * starts, [2 * count, 2 * count + len(late)]])
    ends = (2 * order[:, None] + np.arange(2)).ravel()
    member = np.concatenate([ends, 2 * count + np.arange(len(late))])
    some = np.flatnonzero(waited >= 0)
    some = some[np.argsort(order[some], kind="stable")]
    return Waits(offsets, member, 2 * order[some], waited[some])


def _dataflow_waits(schedule: Schedule, late: NDArray[np.int64]) -> Waits:
    """Every earlier transfer that wrote one of the chunks at the source has finished there."""
    row, chunk = schedule.moves()
    source, target = (
        end[row].astype(np.int64) * schedule.collective.chunks + chunk for end in (schedule.src, schedule.dst)
    )
    found = waits_on_writers(row, schedule.step[row], source, target)
    delay = np.full(schedule.nodes, -1, dtype=np.int64)
    delay[late] = len(found.offsets) - 1 + np.arange(len(late))
    held_back = np.flatnonzero(delay[schedule.src] >= 0)
    waiter = np.concatenate([found.waiter, 2 * held_back])
    group = np.concatenate([found.group, delay[schedule.src[held_back]]])
    order = np.argsort(waiter, kind="stable")
    return _with_delays(found.offsets, found.member, waiter[order], group[order], len(schedule), len(late))


def waits_on_writers(
    row: NDArray[np.int64],
    step: NDArray[np.integer],
    source: NDArray[np.int64],
    target: NDArray[np.int64],
) -> Waits:
    """Whoever reads a cell waits for all that have written it in earlier steps.

    Parameters
    ----------
    row, step : ndarray of int, shape (moves,)
        Transfer of each move of a chunk, and its step.
    source, target : ndarray of int64, shape (moves,)
        Cells that it reads and writes.
    """
    span = int(step.max(initial=0)) + 2
    order = np.argsort(target * span + step, kind="stable")
    keys, writer = (target * span + step)[order], row[order]
    low, high = np.searchsorted(keys, source * span), np.searchsorted(keys, source * span + step)
    # the writers of one cell before one step are a group; those that wait on the same group share it
    bounds, group = np.unique(np.stack([low, high], axis=1), axis=0, return_inverse=True)
    some = np.flatnonzero(low < high)
    pairs = np.unique(np.stack([row[some], group.ravel()[some]], axis=1), axis=0)
    groups, member = expand(bounds[:, 0], bounds[:, 1] - bounds[:, 0])
    offsets = np.searchsorted(groups, np.arange(len(bounds) + 1))
    return Waits(offsets, 2 * writer[member] + 1, 2 * pairs[:, 0], pairs[:, 1])
