"""A program in the making, instruction by instruction."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from algorithms.programs.program import Program, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from algorithms.programs.program import Csr, Places
    from algorithms.programs.purpose import Purpose


@dataclass(slots=True)
class Making:
    """The instructions so far, those of a thread block side by side, in its order.

    Attributes
    ----------
    rank, block, step, count : list of int
    word : list of str
    reads, writes, after : list of list of int
        As in a `Program`; whom an instruction waits for may be added later.
    """

    rank: list[int] = field(default_factory=list)
    block: list[int] = field(default_factory=list)
    step: list[int] = field(default_factory=list)
    count: list[int] = field(default_factory=list)
    word: list[str] = field(default_factory=list)
    reads: list[list[int]] = field(default_factory=list)
    writes: list[list[int]] = field(default_factory=list)
    after: list[list[int]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.rank)

    def add(
        self,
        where: tuple[int, int, int],
        word: str,
        reads: Sequence[int] = (),
        writes: Sequence[int] = (),
        count: int = 0,
        after: Iterable[int] = (),
    ) -> int:
        """Add an instruction of a (rank, thread block, step); its number."""
        for column, value in zip((self.rank, self.block, self.step), where, strict=True):
            column.append(value)
        self.word.append(word)
        self.count.append(count)
        self.reads.append(list(reads))
        self.writes.append(list(writes))
        self.after.append(list(after))
        return len(self.rank) - 1

    def program(self, name: str, purpose: Purpose, places: Places, unsaid: Sequence[str] = ()) -> Program:
        """The program; an instruction waits for each other once."""
        rank, block, step, count = (
            np.array(column, dtype=np.int32) for column in (self.rank, self.block, self.step, self.count)
        )
        return Program(
            name=name,
            ranks=purpose.ranks,
            purpose=purpose,
            rank=rank,
            block=block,
            step=step,
            word=tuple(self.word),
            line=np.zeros(len(rank), dtype=np.int32),
            channel=np.zeros(len(rank), dtype=np.int16),
            count=count,
            reads=_lists(self.reads),
            writes=_lists(self.writes),
            after=_lists([list(dict.fromkeys(others)) for others in self.after]),
            places=places,
            unsaid=tuple(unsaid),
        )


def _lists(lists: list[list[int]]) -> Csr:
    owner = np.repeat(np.arange(len(lists)), [len(one) for one in lists])
    return listed(len(lists), (owner, np.array([one for some in lists for one in some], dtype=np.int64)))
