"""An order in which a program's instructions may run, or the circle in which they wait for each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.programs.errors import ProgramError
from algorithms.programs.program import listed, members
from topologies.loops import fast

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.programs.program import Program

_SHOWN: Final = 6
"""Instructions of a circle that are named."""


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """Instructions in an order that each may follow.

    Attributes
    ----------
    turn : ndarray of int64, shape (instructions,)
        The instruction of each turn, by level.
    level : ndarray of int32, shape (instructions,)
        Longest chain of instructions before each.
    """

    turn: NDArray[np.int64]
    level: NDArray[np.int32]

    def levels(self) -> list[tuple[int, int]]:
        """Turns [start, stop) of each level."""
        starts = np.flatnonzero(np.diff(self.level[self.turn], prepend=-1)).tolist()
        return list(zip(starts, [*starts[1:], len(self.turn)], strict=True)) if starts else []


def order_of(program: Program) -> Order:
    """Order of a program's instructions.

    Raises
    ------
    ProgramError
        If some wait for each other in a circle; names it.
    """
    count, after = len(program), program.after
    before = listed(count, (after.index, members(after)))
    waits = np.diff(after.offsets)
    level = np.zeros(count, dtype=np.int32)
    queue = np.empty(count, dtype=np.int64)
    settle = fast(_settle, count)
    done = settle(before.offsets, before.index, waits.copy(), level, queue)
    if done < count:
        raise _deadlock(program, queue[:done])
    return Order(np.argsort(level, kind="stable"), level)


def _settle(
    offsets: NDArray[np.int64],
    follower: NDArray[np.int64],
    waits: NDArray[np.int64],
    level: NDArray[np.int32],
    queue: NDArray[np.int64],
) -> int:
    """Put into the queue whoever waits for nobody any more; how many there are in the end."""
    tail = 0
    for i in range(len(waits)):
        if waits[i] == 0:
            queue[tail] = i
            tail += 1
    head = 0
    while head < tail:
        i = queue[head]
        head += 1
        for k in range(offsets[i], offsets[i + 1]):
            j = follower[k]
            level[j] = max(level[j], level[i] + 1)
            waits[j] -= 1
            if waits[j] == 0:
                queue[tail] = j
                tail += 1
    return tail


def _deadlock(program: Program, done: NDArray[np.int64]) -> ProgramError:
    """Name the circle that is found first from the first instruction that never runs."""
    stuck = np.ones(len(program), dtype=bool)
    stuck[done] = False
    offsets, index = program.after.offsets, program.after.index
    at, seen = int(np.argmax(stuck)), dict[int, int]()
    while at not in seen:
        seen[at] = len(seen)
        waited = index[offsets[at] : offsets[at + 1]]
        at = int(waited[stuck[waited]][0])
    circle = list(seen)[seen[at] :]
    names = [f"{program.at(i)}" for i in circle[:_SHOWN]] + ["..."] * (len(circle) > _SHOWN)
    text = f"deadlock: {' waits for '.join(names)}, which waits for the first of them"
    if len(circle) == 1:
        text = f"deadlock: {names[0]} waits for itself"
    first = circle[0]
    return ProgramError(
        text, int(program.line[first]), rank=int(program.rank[first]), step=int(program.step[first])
    )
