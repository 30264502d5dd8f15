"""Schedules: what must move, step by step; a table of transfers that knows no time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from algorithms.errors import ScheduleError
from topologies.loops import WORTH_LOADING, fast, numba_is_here
from topologies.text import format_bytes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from algorithms.collective import Collective
    from algorithms.programs.program import Program

MOST_MOVES: Final = 1 << 26
"""Moves of single chunks, over all transfers, that can be looked at one by one: about 4 GB of columns."""

COPY: Final = 0
REDUCE: Final = 1


@dataclass(frozen=True, slots=True, eq=False)
class Ranges:
    """Chunks of each transfer as a range: first, first + 1, ..., first + count - 1."""

    first: NDArray[np.integer]
    count: NDArray[np.integer]


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """Chunks of each transfer as a list: transfer t moves index[offsets[t]:offsets[t + 1]]."""

    offsets: NDArray[np.integer]
    index: NDArray[np.integer]


Chunks: TypeAlias = "NDArray[np.integer] | Ranges | Lists"
Transfers: TypeAlias = "tuple[ArrayLike, ArrayLike, Chunks, int]"
Step: TypeAlias = "Transfers | list[Transfers]"
"""What an algorithm's generator yields: (src, dst, chunks, mode), or several such groups.

src and dst are rank numbers, shape (transfers,). Chunks are one chunk each (1-D), a row of
chunks each (2-D), `Ranges` or `Lists`. The mode is COPY or REDUCE. One yield is one step.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Precedence:
    """What the transfers of a program wait for, whatever their steps.

    A transfer has two ends: 2t is transfer t at its source, 2t + 1 at its destination.

    Attributes
    ----------
    after : Lists
        Transfer t begins when the ends after.index[after.offsets[t]:after.offsets[t + 1]] are done, all of
        transfers that come before it.
    depth : int
        Longest chain of transfers in which each sends what the one before it delivered.
    program : Program
        Where it comes from, and what is proven.
    work : ndarray of int64, shape (transfers,), optional
        fs for which each computes: rows from a rank to itself.
    processor : ndarray of int16, shape (transfers,), optional
        Of those that its rank has, the one on which it does; by default the first.
    """

    after: Lists
    depth: int
    program: Program
    work: NDArray[np.int64] | None = None
    processor: NDArray[np.int16] | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Schedule:
    """A collective as steps of transfers, in columns; rows in the order (step, channel, slot, src).

    The slot is a transfer's position among those of its source in that step and channel.
    Every transfer of a step reads the state that the earlier steps of its channel left.

    Attributes
    ----------
    collective : Collective
        What the transfers must compute.
    step : ndarray of int32, shape (transfers,)
        From 0.
    channel : ndarray of int16
        Lane with its own steps.
    src, dst : ndarray of int32
        Ranks.
    first, count : ndarray of int32
        The chunks moved: first, first + 1, ... or, where `index` is given,
        index[first:first + count].
    mode : ndarray of uint8
        COPY or REDUCE at the destination.
    index : ndarray of int32 or None
        Chunk lists.
    algorithm : str
        Its name.
    fallback : str or None
        What was done because N did not fit the algorithm ("fold", "hybrid"), or None.
    switches : int
        Switches that take part, numbered from N: they hold nothing at first, so that what is first
        reduced into one is only stored.
    precedence : Precedence or None
        Of a program: what transfers wait for. Its steps count the messages of the longest chain before
        each; a row from a rank to itself is what the rank adds up by itself or, copying nothing, waits for.
    """

    collective: Collective
    step: NDArray[np.int32]
    channel: NDArray[np.int16]
    src: NDArray[np.int32]
    dst: NDArray[np.int32]
    first: NDArray[np.int32]
    count: NDArray[np.int32]
    mode: NDArray[np.uint8]
    index: NDArray[np.int32] | None = None
    algorithm: str = ""
    fallback: str | None = None
    switches: int = 0
    precedence: Precedence | None = None

    def __len__(self) -> int:
        return len(self.step)

    def __repr__(self) -> str:
        what, size = self.collective.kind, format_bytes(self.collective.size)
        moves = f"{len(self):,} transfers in {self.steps:,} steps"
        return f"<Schedule {self.algorithm} {what}, N = {self.ranks:,}, M = {size}: {moves}>"

    @property
    def ranks(self) -> int:
        """Number of ranks N."""
        return self.collective.ranks

    @property
    def nodes(self) -> int:
        """Number of ranks and switches that may send and receive."""
        return self.collective.ranks + self.switches

    @property
    def steps(self) -> int:
        """Number of steps of the longest channel."""
        return int(self.step.max()) + 1 if len(self) else 0

    @property
    def processors(self) -> int:
        """On how many processors of its own each rank computes between its transfers."""
        if self.precedence is None or self.precedence.work is None:
            return 0
        return 1 if self.precedence.processor is None else int(self.precedence.processor.max(initial=0)) + 1

    def node_name(self, node: int) -> str:
        """Name of a rank, or of a switch that takes part, for people."""
        return f"rank {node}" if node < self.ranks else f"switch {node - self.ranks}"

    def step_bounds(self) -> list[tuple[int, int]]:
        """Rows [start, stop) of each step that has transfers."""
        if not len(self):
            return []
        starts = [0, *(np.flatnonzero(self.step[1:] != self.step[:-1]) + 1).tolist()]
        return list(zip(starts, [*starts[1:], len(self)], strict=True))

    def sizes(self) -> NDArray[np.int64]:
        """Bytes of each transfer."""
        sizes = self.collective.sizes if self.index is None else self.collective.sizes[self.index]
        if (self.count == 1).all():
            return sizes[self.first]
        total = np.concatenate([[0], np.cumsum(sizes)])
        return np.asarray(total[self.first + self.count] - total[self.first])

    def chunks(self, transfer: int) -> NDArray[np.int32]:
        """Chunks that one transfer moves."""
        first, stop = int(self.first[transfer]), int(self.first[transfer] + self.count[transfer])
        if self.index is None:
            return np.arange(first, stop, dtype=np.int32)
        return self.index[first:stop]

    def moves(self, start: int = 0, stop: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows start..stop taken apart into single chunks: (row, chunk) of each.

        Raises
        ------
        ScheduleError
            If there are too many.
        """
        stop = len(self) if stop is None else stop
        first, count = self.first[start:stop], self.count[start:stop]
        check_moves(int(count.sum(dtype=np.int64)))
        row, at = (np.arange(stop - start), first) if (count == 1).all() else expand(first, count)
        chunk = at if self.index is None else self.index[at]
        return row.astype(np.int64) + start, chunk.astype(np.int64)


def check_moves(moves: int) -> None:
    """Refuse so many moves of single chunks, before they are written down.

    Raises
    ------
    ScheduleError
    """
    if moves > MOST_MOVES:
        raise ScheduleError(f"the schedule would move {moves:,} chunks; at most {MOST_MOVES:,} fit")


def expand(
    first: NDArray[np.integer], count: NDArray[np.integer]
) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
    """Rows and members of many ranges, as narrow as they can be.

    >>> [column.tolist() for column in expand(np.array([5, 0]), np.array([2, 3]))]
    [[0, 0, 1, 1, 1], [5, 6, 0, 1, 2]]
    """
    if not len(count):
        return np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int32)
    highest = max(int(count.sum(dtype=np.int64)), int(first.max()) + int(count.max()))
    # half the memory, and the page faults, where numbers are small
    dtype: np.dtype[np.signedinteger[Any]] = np.dtype(np.int32 if highest < 1 << 31 else np.int64)
    if (count == count[0]).all():
        # ranges of one length: no sums needed
        row = np.repeat(np.arange(len(count), dtype=dtype), count[0])
        return row, (first.astype(dtype)[:, None] + np.arange(count[0], dtype=dtype)).ravel()
    row = np.repeat(np.arange(len(count), dtype=dtype), count)
    before = np.cumsum(count, dtype=dtype) - count.astype(dtype)
    return row, np.arange(len(row), dtype=dtype) + np.repeat(first.astype(dtype) - before, count)


def unique_inverse(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Distinct values in rising order, and the position of each value among them.

    Parameters
    ----------
    values : ndarray of int64
        Zero or more each.

    >>> [column.tolist() for column in unique_inverse(np.array([7, 5, 7]))]
    [[5, 7], [1, 0, 1]]
    """
    if len(values) < WORTH_LOADING or not numba_is_here():
        distinct, inverse = np.unique(values, return_inverse=True)
        return distinct, inverse.ravel()
    # a table of hashes is several times faster than a sort
    table = np.full(1 << (2 * len(values) - 1).bit_length(), -1, dtype=np.int64)
    found, which = np.empty(len(table), dtype=np.int64), np.empty(len(values), dtype=np.int64)
    distinct = found[: fast(_number, len(values))(values, table, np.empty_like(table), found, which)]
    order = np.argsort(distinct)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return distinct[order], place[which]


def _number(
    values: NDArray[np.int64],
    table: NDArray[np.int64],
    number: NDArray[np.int64],
    found: NDArray[np.int64],
    which: NDArray[np.int64],
) -> int:
    """Number values in the order in which they are first met; how many there are."""
    count, mask = 0, len(table) - 1
    for i in range(len(values)):
        value = values[i]
        at = ((value ^ (value >> 15)) * 2654435761 >> 7) & mask
        while table[at] != value and table[at] >= 0:
            at = (at + 1) & mask
        if table[at] < 0:
            table[at] = value
            number[at] = count
            found[count] = value
            count += 1
        which[i] = number[at]
    return count
