"""Operations in their order, and who waits for whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from algorithms.schedule import expand
from topologies.loops import fast

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.schedule import Schedule
    from simulator.engine.dependencies import Waits
    from simulator.engine.operations import Operations


@dataclass(frozen=True, slots=True, eq=False)
class Numbered:
    """Numbers of operations, and their dependencies.

    Attributes
    ----------
    number : ndarray of int64, or None
        Number of each operation, each delay and each join, in this order; None where they are
        numbered so already.
    dependency_offset, dependency : ndarray of int32 or int64, and of int32
        As in a `Plan`.
    """

    number: NDArray[np.int64] | None
    dependency_offset: NDArray[np.integer]
    dependency: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.dependency_offset) - 1


def numbered(schedule: Schedule, operations: Operations, waits: Waits, delays: int) -> Numbered:
    """Number delays first, then step by step what the transfers do, joins last.

    Where many wait on many, they wait for a join, which waits for them all.
    """
    joined = _joined(waits)
    count = len(operations.transfer) + delays
    number = None
    if delays or len(joined):
        number = _numbers(schedule, operations, _last(waits, operations, joined, len(schedule)), delays)
    edges = _edges(waits, operations, number)
    if number is not None and len(joined):
        edges = _through_joins(edges, joined, number[count:])
    if operations.waiter is not None and operations.awaited is not None:
        inner = (_renumbered(end, number) for end in (operations.waiter, operations.awaited))
        edges = _with_pairs(edges, *inner)
    return Numbered(number, *_collected(edges, count + len(joined)))


def _joined(waits: Waits) -> NDArray[np.int64]:
    """Groups that are waited for through a join: that takes fewer dependencies, or as many."""
    members = np.diff(waits.offsets)
    if members.max(initial=0) <= 2:
        # what two or fewer are waited for takes no fewer dependencies through a join
        return np.zeros(0, dtype=np.int64)
    waiters = np.bincount(waits.group[waits.group >= 0], minlength=len(members))
    return np.flatnonzero(members.astype(np.int64) * waiters > 2 * (members + waiters))


@dataclass(frozen=True, slots=True, eq=False)
class _Edges:
    """Who waits for which group of operations.

    Attributes
    ----------
    waiter : ndarray of int32
        Operation that waits for group[k]; where empty, it is k >> 1.
    group : ndarray of int
        -1 for none.
    offsets, member : ndarray of int
        Members of each group; member >> shift is the operation.
    shift : int
    """

    waiter: NDArray[np.int32]
    group: NDArray[np.integer]
    offsets: NDArray[np.integer]
    member: NDArray[np.integer]
    shift: int = 0


def _edges(waits: Waits, operations: Operations, number: NDArray[np.int64] | None) -> _Edges:
    if number is None and operations.begin is None:
        # two ends of every operation: what they are is not written down
        waiter = (waits.waiter >> 1).astype(np.int32)
        return _Edges(waiter, waits.group, waits.offsets, waits.member, 1)
    ends = waits.waiter if len(waits.waiter) else np.arange(len(waits.group))
    return _Edges(
        _ids(ends, operations.begin, operations, number),
        waits.group,
        waits.offsets,
        _ids(waits.member, operations.end, operations, number),
    )


def _ids(
    end: NDArray[np.integer],
    of_end: NDArray[np.int64] | None,
    operations: Operations,
    number: NDArray[np.int64] | None,
) -> NDArray[np.int32]:
    """Number of the operation that each end begins, or is done, with; or of the delay that it is."""
    count = len(operations.transfer)
    if of_end is None:
        # what is past the ends of the transfers is a delay
        delay = np.maximum(end - 2 * count, 0)
        operation = (end - delay >> 1) + delay
    else:
        delay = np.maximum(end - len(of_end), -1)
        operation = np.where(delay < 0, np.append(of_end, 0)[np.minimum(end, len(of_end))], count + delay)
    return _renumbered(operation, number)


def _renumbered(operation: NDArray[np.integer], number: NDArray[np.int64] | None) -> NDArray[np.int32]:
    return (operation if number is None else number[operation]).astype(np.int32, copy=False)


def _through_joins(edges: _Edges, joined: NDArray[np.int64], join: NDArray[np.int64]) -> _Edges:
    """Let who waits for a joined group wait for its join, a group of one, and the join for the group."""
    groups, ids = len(edges.offsets) - 1, join.astype(np.int32)
    # the last stands for a group of -1
    instead = np.append(np.arange(groups), -1)
    instead[joined] = groups + np.arange(len(joined))
    return _Edges(
        np.concatenate([edges.waiter, ids]),
        np.concatenate([instead[edges.group], joined]),
        np.concatenate([edges.offsets, edges.offsets[-1] + 1 + np.arange(len(joined))]),
        np.concatenate([edges.member, ids]),
    )


def _with_pairs(edges: _Edges, waiter: NDArray[np.int32], awaited: NDArray[np.int32]) -> _Edges:
    """Add who waits for one alone, as a group of one."""
    one = np.arange(len(waiter))
    return _Edges(
        np.concatenate([edges.waiter, waiter]),
        np.concatenate([edges.group, len(edges.offsets) - 1 + one]),
        np.concatenate([edges.offsets, edges.offsets[-1] + 1 + one]),
        np.concatenate([edges.member, awaited]),
    )


def _collected(edges: _Edges, operations: int) -> tuple[NDArray[np.signedinteger[Any]], NDArray[np.int32]]:
    """Columns `dependency_offset` and `dependency` of a plan."""
    columns = (edges.waiter, edges.group, edges.offsets, edges.member, edges.shift)
    collect = fast(_collect, len(edges.group) + len(edges.member))
    place = np.zeros(operations, dtype=np.int32)
    seen = np.full(operations, -1, dtype=np.int32)
    collect(*columns, seen, place, np.zeros(0, dtype=np.int32))
    offsets = narrow_offsets(place)
    dependency = np.empty(int(offsets[-1]), dtype=np.int32)
    seen[:] = -1
    collect(*columns, seen, offsets[:-1].copy(), dependency)
    return offsets, dependency


def _collect(
    waiter: NDArray[np.int32],
    group: NDArray[np.integer],
    offsets: NDArray[np.integer],
    member: NDArray[np.integer],
    shift: int,
    seen: NDArray[np.int32],
    place: NDArray[np.integer],
    dependency: NDArray[np.int32],
) -> None:
    """Count each operation's dependencies in `place`; or, where there is room for them, put them there."""
    room = len(dependency) > 0
    for k in range(len(group)):
        w, g = waiter[k] if len(waiter) else k >> 1, group[k]
        if g < 0:
            continue
        for m in range(offsets[g], offsets[g + 1]):
            awaited = member[m] >> shift
            if seen[awaited] != w:
                seen[awaited] = w
                if room:
                    dependency[place[w]] = awaited
                place[w] += 1


def _last(
    waits: Waits, operations: Operations, joins: NDArray[np.int64], transfers: int
) -> NDArray[np.int64]:
    """The last operation of a transfer that each join waits for, or -1."""
    row, at = expand(waits.offsets[joins], np.diff(waits.offsets)[joins])
    awaited = waits.member[at]
    of_transfer = awaited < 2 * transfers
    ends = awaited[of_transfer]
    last = np.full(len(joins), -1, dtype=np.int64)
    done = ends >> 1 if operations.end is None else operations.end[ends]
    np.maximum.at(last, row[of_transfer], done)
    return last


def _numbers(
    schedule: Schedule, operations: Operations, join_last: NDArray[np.int64], delays: int
) -> NDArray[np.int64]:
    """Number of each operation, delay and join (in this order)."""
    count = len(operations.transfer)
    step, channel = schedule.step[operations.transfer], schedule.channel[operations.transfer]
    # a join comes after the last operation of the step and channel of what it awaits
    block = np.append(np.flatnonzero((np.diff(step) != 0) | (np.diff(channel) != 0)), count - 1)
    after = block[np.searchsorted(block, join_last)] if count else join_last
    after = np.where(join_last < 0, -1, after)
    order = np.argsort(after, kind="stable")
    join_id = np.empty(len(after), dtype=np.int64)
    join_id[order] = delays + after[order] + 1 + np.arange(len(after))
    before = np.searchsorted(after[order], np.arange(count), side="left")
    return np.concatenate([delays + np.arange(count) + before, np.arange(delays), join_id])


def narrow_offsets(counts: NDArray[np.integer]) -> NDArray[np.signedinteger[Any]]:
    """Running sum with a leading 0, as narrow as it can be."""
    total = int(counts.sum(dtype=np.int64))
    dtype: np.dtype[np.signedinteger[Any]] = np.dtype(np.int32 if total < 2**31 else np.int64)
    offsets = np.zeros(len(counts) + 1, dtype=dtype)
    np.cumsum(counts, out=offsets[1:])
    return offsets
