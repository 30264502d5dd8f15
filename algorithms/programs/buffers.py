"""The buffers of ranks, and the wires between them, as runs of places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.collective import MOST_CHUNKS
from algorithms.errors import ScheduleError
from algorithms.programs.program import NOTHING, Places
from algorithms.programs.purpose import chunks_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.programs.purpose import Purpose

BUFFERS: Final = ("i", "o", "s")
"""Input, output and scratch, as MSCCL calls them."""


@dataclass(frozen=True, slots=True, eq=False)
class Buffers:
    """Where the buffers of every rank lie, and what they hold.

    Attributes
    ----------
    purpose : Purpose
    first, room : ndarray of int64, shape (3, ranks)
        First place, and number of places, of each of `BUFFERS`. In place, the smaller of input and
        output lies in the larger.
    """

    purpose: Purpose
    first: NDArray[np.int64]
    room: NDArray[np.int64]

    @property
    def places(self) -> int:
        """How many there are before the wires."""
        return int((self.first + self.room).max(initial=0))

    def bounds(self) -> NDArray[np.int64]:
        """Where runs of places begin, in rising order: a buffer inside another begins none."""
        inside = [
            [buffer < 2 and self._lies_in(buffer, rank) for rank in range(self.purpose.ranks)]
            for buffer in range(len(BUFFERS))
        ]
        return np.unique(self.first[~np.array(inside)])

    def with_wires(self, receiver: NDArray[np.integer], count: NDArray[np.integer]) -> Places:
        """Places of the buffers, and after them those of messages, in this order.

        Parameters
        ----------
        receiver, count : ndarray of int, shape (messages,)
            Rank that each goes to, and its chunks.

        Raises
        ------
        ScheduleError
            If there are too many.
        """
        before, wires = self.places, int(count.sum(dtype=np.int64))
        check_places(before + wires)
        ranks = self.purpose.ranks
        owner = np.empty(before + wires, dtype=np.int32)
        named: dict[int, str] = {before: ""} if wires else {}
        for rank in range(ranks):
            # the larger of two that lie in each other gives the name; of equal ones, the input
            for buffer in sorted(range(len(BUFFERS)), key=lambda b: (int(self.room[b, rank]), -b)):
                first, room = int(self.first[buffer, rank]), int(self.room[buffer, rank])
                owner[first : first + room] = rank
                if room:
                    named[first] = BUFFERS[buffer]
            inner = [int(self.first[buffer, rank]) for buffer in (0, 1) if self._lies_in(buffer, rank)]
            for first in inner:
                named.pop(first, None)
        owner[before:] = np.repeat(receiver, count)
        initial, final = self._contents(before + wires)
        runs = sorted(named)
        first_places = np.array(runs, dtype=np.int64)
        return Places(owner, initial, final, first_places, tuple(named[run] for run in runs))

    def _lies_in(self, buffer: int, rank: int) -> bool:
        """Whether the input, or output, lies inside the other, and does not begin it."""
        start, other = int(self.first[buffer, rank]), int(self.first[1 - buffer, rank])
        return other < start < other + int(self.room[1 - buffer, rank])

    def _contents(self, places: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The chunk that each place holds at first, and must end with."""
        collective = self.purpose.collective(0)
        initial, final = (np.full(places, NOTHING, dtype=np.int32) for _ in range(2))
        for rank in range(self.purpose.ranks):
            given, asked = (chunks_at(collective, rank, side) for side in ("source", "target"))
            initial[self.first[0, rank] : self.first[0, rank] + len(given)] = given
            final[self.first[1, rank] : self.first[1, rank] + len(asked)] = asked
        return initial, final


def buffers_of(purpose: Purpose, scratch: NDArray[np.integer], *, in_place: bool) -> Buffers:
    """Buffers of every rank, one rank after the other.

    Parameters
    ----------
    purpose : Purpose
    scratch : ndarray of int, shape (ranks,)
        Places of every rank's scratch buffer.
    in_place : bool
        Whether input and output share their memory.

    Raises
    ------
    ScheduleError
        If there are too many places.
    """
    ranks = np.arange(purpose.ranks, dtype=np.int64)
    inputs, outputs = purpose.room("source"), purpose.room("target")
    shared = max(inputs, outputs) if in_place else inputs + outputs
    check_places(shared * purpose.ranks + int(scratch.sum(dtype=np.int64)))
    room = np.stack([np.full_like(ranks, inputs), np.full_like(ranks, outputs), scratch.astype(np.int64)])
    before = ranks * shared + np.cumsum(room[2]) - room[2]
    inside = np.array([purpose.inner(rank) for rank in range(purpose.ranks)], dtype=np.int64)
    first = np.stack([before, before + inputs, before + shared])
    if in_place:
        first[0] = before + (inside if inputs < outputs else 0)
        first[1] = before + (inside if outputs < inputs else 0)
    return Buffers(purpose, first, room)


def check_places(places: int) -> None:
    """Refuse so many, before there is an array of them.

    Raises
    ------
    ScheduleError
    """
    if places > MOST_CHUNKS:
        raise ScheduleError(f"the buffers would hold {places:,} chunks; at most {MOST_CHUNKS:,} fit")
