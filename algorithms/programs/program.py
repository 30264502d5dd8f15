"""Programs: instructions of thread blocks over the places of every rank's buffers, in columns.

One value for whatever format it is written in. An instruction reads places, adds up what they hold, and
writes the sum; a message that is sent lies on a wire, whose places belong to the rank that receives it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from algorithms.programs.purpose import Messages

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.programs.purpose import Purpose

NOTHING = -1
"""Instead of a chunk: a place that holds none at first, or of which none is asked for at the end."""


Pairs: TypeAlias = "tuple[NDArray[np.integer], NDArray[np.integer]]"
"""(owner, member) of each entry of some lists."""


@dataclass(frozen=True, slots=True, eq=False)
class Csr:
    """Numbers of each owner: owner i has index[offsets[i]:offsets[i + 1]]; both int64."""

    offsets: NDArray[np.int64]
    index: NDArray[np.int64]

    def of(self, owner: int) -> list[int]:
        """Numbers of one owner."""
        return list(map(int, self.index[self.offsets[owner] : self.offsets[owner + 1]]))


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Room for a chunk each, numbered over all ranks; buffers and wires are runs of them.

    Attributes
    ----------
    owner : ndarray of int32, shape (places,)
        The rank that has it.
    initial, final : ndarray of int32, shape (places,)
        The chunk that a place holds at first, and the one that it must end with, or `NOTHING`.
    first : ndarray of int64, shape (runs,)
        First place of each run, in rising order.
    name : tuple of str
        Name of each run at its rank, as "o"; a wire has none.
    """

    owner: NDArray[np.int32]
    initial: NDArray[np.int32]
    final: NDArray[np.int32]
    first: NDArray[np.int64]
    name: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.owner)

    def located(self, place: int) -> tuple[str, int]:
        """Name of the run that a place is in, and where it is there."""
        run = int(np.searchsorted(self.first, place, side="right")) - 1
        return self.name[run], place - int(self.first[run])

    def named(self, place: int) -> str:
        """A place as people write it: o[3]."""
        name, at = self.located(place)
        return f"{name}[{at}]" if name else "a message"

    def on_wire(self) -> NDArray[np.bool_]:
        """Which of them are on wires."""
        wires = np.array([not name for name in self.name], dtype=bool)
        return np.repeat(wires, np.diff(np.append(self.first, len(self))))


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """What every rank does, in columns; the instructions of a thread block stand side by side, in its order.

    Attributes
    ----------
    name : str
    ranks : int
        N.
    purpose : Purpose or Messages
        What it must compute, or only deliver.
    rank, block, step : ndarray of int32, shape (instructions,)
        Whose instruction it is: the rank, its thread block, and the number there.
    word : tuple of str
        What the file calls each.
    line : ndarray of int32
        Of the file; 0 where it is unknown.
    channel : ndarray of int16
        Lane between two ranks, for what is sent; the tag of messages.
    count : ndarray of int32
        Places that each of its reads and writes goes over.
    reads, writes : Csr
        First place of each.
    after : Csr
        Instructions that must have finished before it begins, those of its own thread block and the
        senders of what it receives among them.
    places : Places
    work : ndarray of int64, or None
        fs for which each computes.
    processor : ndarray of int16, or None
        Of those that its rank has, the one on which it does.
    unsaid : tuple of str
        What of where it comes from is not in it; a line each.
    """

    name: str
    ranks: int
    purpose: Purpose | Messages
    rank: NDArray[np.int32]
    block: NDArray[np.int32]
    step: NDArray[np.int32]
    word: tuple[str, ...]
    line: NDArray[np.int32]
    channel: NDArray[np.int16]
    count: NDArray[np.int32]
    reads: Csr
    writes: Csr
    after: Csr
    places: Places
    work: NDArray[np.int64] | None = None
    processor: NDArray[np.int16] | None = None
    unsaid: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.rank)

    def at(self, instruction: int) -> str:
        """Whose instruction it is, for people."""
        i = instruction
        if isinstance(self.purpose, Messages):
            return f"rank {self.rank[i]}, operation {self.step[i]} ({self.word[i]})"
        return f"rank {self.rank[i]}, thread block {self.block[i]}, step {self.step[i]} ({self.word[i]})"

    def lanes(self) -> NDArray[np.int64]:
        """Thread block of each instruction, numbered over all ranks."""
        new = (np.diff(self.rank, prepend=-1) != 0) | (np.diff(self.block, prepend=-1) != 0)
        return np.cumsum(new) - 1

    def senders(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(instruction, destination) of every write into what belongs to another rank."""
        instruction = members(self.writes)
        owner = self.places.owner[self.writes.index]
        far = np.flatnonzero((owner != self.rank[instruction]) & (self.count[instruction] > 0))
        return instruction[far], owner[far].astype(np.int64)

    def fetchers(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(instruction, source) of every read of what belongs to another rank."""
        instruction = members(self.reads)
        owner = self.places.owner[self.reads.index]
        far = np.flatnonzero((owner != self.rank[instruction]) & (self.count[instruction] > 0))
        return instruction[far], owner[far].astype(np.int64)


def members(lists: Csr) -> NDArray[np.int64]:
    """The list that each entry of some lists is in.

    >>> members(Csr(np.array([0, 2, 2, 3]), np.array([7, 8, 9]))).tolist()
    [0, 0, 2]
    """
    return np.repeat(np.arange(len(lists.offsets) - 1), np.diff(lists.offsets))


def listed(count: int, *pairs: Pairs) -> Csr:
    """Lists of `count` owners from pairs in any order; each keeps the order of its members."""
    owner, member = (np.concatenate(column) for column in zip(*pairs, strict=True))
    order = np.argsort(owner, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=count))])
    return Csr(offsets.astype(np.int64), member[order].astype(np.int64))
