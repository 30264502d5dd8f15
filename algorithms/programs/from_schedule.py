"""From a schedule to a program: which thread block sends or receives what, and what it must wait for."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from algorithms.programs.layout import layout_of
from algorithms.programs.program import Program, listed
from algorithms.schedule import REDUCE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.programs.layout import Layout
    from algorithms.programs.program import Csr, Pairs
    from algorithms.schedule import Schedule

Block: TypeAlias = "tuple[int, int, int, int]"
"""Rank, channel, peer that is sent to, and peer that is received from, of a thread block."""

_NOBODY: Final = -1


def program_of(schedule: Schedule) -> Program:
    """Program of a schedule, in place where the collective allows it.

    Every rank has a thread block for each peer that it sends to, and for each that it receives from, by each
    channel. What a step sends is read before what it receives is written. A transfer of chunks that
    do not lie side by side is several messages; one of no chunks is none.

    Raises
    ------
    ScheduleError
        If thread blocks cannot do it; says why.
    """
    if schedule.precedence is not None:
        return schedule.precedence.program
    layout, maker = layout_of(schedule), _Maker()
    wire = layout.buffers.places + np.cumsum(layout.moved.count) - layout.moved.count
    for rank, source, target in layout.kept:
        maker.add((rank, 0, _NOBODY, _NOBODY), "cpy", [source], target, 1)
    row = layout.moved.row
    names = ("step", "channel", "src", "dst", "mode")
    columns = [getattr(schedule, name)[row].tolist() for name in names]
    columns += [
        column.tolist() for column in (layout.moved.source, layout.moved.target, layout.moved.count, wire)
    ]
    for _, step in groupby(zip(*columns, strict=True), key=lambda piece: piece[0]):
        pieces = list(step)
        for _, channel, src, dst, _, source, _, count, on in pieces:
            maker.add((src, channel, dst, _NOBODY), "s", [source], on, count)
        for _, channel, src, dst, mode, _, target, count, on in pieces:
            reads, word = ([on, target], "rrc") if mode == REDUCE else ([on], "r")
            maker.add((dst, channel, _NOBODY, src), word, reads, target, count)
    return maker.program(schedule, layout)


@dataclass(slots=True)
class _Maker:
    """A program in the making: its instructions in an order in which they could run, one after the other.

    Attributes
    ----------
    block : list of tuple of int
        Thread block of each instruction.
    word, count, reads, write, after : list
        As in a `Program`.
    """

    block: list[Block] = field(default_factory=list)
    word: list[str] = field(default_factory=list)
    count: list[int] = field(default_factory=list)
    reads: list[list[int]] = field(default_factory=list)
    write: list[int] = field(default_factory=list)
    after: list[list[int]] = field(default_factory=list)
    _last: dict[Block, int] = field(default_factory=dict)
    _writer: dict[int, int] = field(default_factory=dict)
    _readers: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    _heard: dict[tuple[Block, Block], int] = field(default_factory=dict)

    def add(self, block: Block, word: str, reads: list[int], write: int, count: int) -> None:
        """Add an instruction after whoever wrote what it reads, or touched what it writes."""
        number, needed = len(self.block), set[int]()
        for start in reads:
            for place in range(start, start + count):
                if place in self._writer:
                    needed.add(self._writer[place])
                self._readers[place].append(number)
        for place in range(write, write + count):
            needed.update(self._readers.pop(place, ()))
            if place in self._writer:
                needed.add(self._writer[place])
            self._writer[place] = number
        needed.discard(number)
        self.after.append(self._new(block, needed))
        if block in self._last:
            self.after[-1].append(self._last[block])
        self._last[block] = number
        self.block.append(block)
        self.word.append(word)
        self.count.append(count)
        self.reads.append(reads)
        self.write.append(write)

    def _new(self, block: Block, needed: set[int]) -> list[int]:
        """Of what an instruction needs, the last of each thread block that its own has not waited for yet."""
        latest: dict[Block, int] = {}
        for other in sorted(needed):
            latest[self.block[other]] = other
        latest.pop(block, None)
        new = [
            number for other, number in latest.items() if self._heard.get((block, other), _NOBODY) < number
        ]
        self._heard |= {(block, self.block[number]): number for number in new}
        return new

    def program(self, schedule: Schedule, layout: Layout) -> Program:
        """The program: the instructions of each thread block side by side."""
        blocks = sorted(self._last, key=lambda one: (one[0], one[1], one[3] != _NOBODY, one[2:]))
        lane = {block: number for number, block in enumerate(blocks)}
        lanes = np.array([lane[block] for block in self.block], dtype=np.int64)
        order = np.argsort(lanes, kind="stable")
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        rank = np.array([block[0] for block in blocks], dtype=np.int64)
        number = np.arange(len(blocks)) - np.searchsorted(rank, rank)
        lanes = lanes[order]
        moved = layout.moved
        return Program(
            name=schedule.algorithm,
            ranks=schedule.ranks,
            purpose=layout.buffers.purpose,
            rank=rank[lanes].astype(np.int32),
            block=number[lanes].astype(np.int32),
            step=(np.arange(len(lanes)) - np.searchsorted(lanes, lanes)).astype(np.int32),
            word=tuple(self.word[i] for i in order.tolist()),
            line=np.zeros(len(lanes), dtype=np.int32),
            channel=np.array([block[1] for block in blocks], dtype=np.int16)[lanes],
            count=np.array(self.count, dtype=np.int32)[order],
            reads=listed(len(lanes), _pairs(self.reads, place)),
            writes=listed(len(lanes), (place, np.array(self.write, dtype=np.int64))),
            after=_after(self.after, place),
            places=layout.buffers.with_wires(schedule.dst[moved.row], moved.count),
        )


def _after(after: list[list[int]], place: NDArray[np.int64]) -> Csr:
    owner, other = _pairs(after, place)
    return listed(len(place), (owner, place[other]))


def _pairs(lists: list[list[int]], place: NDArray[np.int64]) -> Pairs:
    """(place of the owner, member) of every entry of some lists."""
    owner = np.repeat(place, [len(members) for members in lists])
    return owner, np.array([member for members in lists for member in members], dtype=np.int64)
