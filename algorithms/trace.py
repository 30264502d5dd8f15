"""A schedule as a table, step by step, like the ones that papers print."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from algorithms.schedule import REDUCE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.schedule import Schedule


@dataclass(frozen=True, slots=True)
class Move:
    """One transfer of a step."""

    src: int
    dst: int
    chunks: tuple[int, ...]
    reduces: bool


@dataclass(frozen=True, slots=True)
class TracedStep:
    """One step of a schedule.

    Attributes
    ----------
    step, channel : int
        From 0.
    moves : tuple of Move
        In order of source.
    sent : tuple of int
        Fewest and most bytes of a message.
    live : tuple of int
        Fewest and most bytes that a rank still has to do with afterwards: what it holds, less
        what it has sent away to be reduced elsewhere.
    """

    step: int
    channel: int
    moves: tuple[Move, ...]
    sent: tuple[int, int]
    live: tuple[int, int]

    def pairs(self) -> tuple[tuple[int, int], ...] | None:
        """The exchanging pairs, lower rank first, where every transfer of the step is answered."""
        ends = [(move.src, move.dst) for move in self.moves]
        if len(set(ends)) != len(ends) or any((dst, src) not in set(ends) for src, dst in ends):
            return None
        return tuple(sorted(pair for pair in ends if pair[0] < pair[1]))


def trace(schedule: Schedule) -> Iterator[TracedStep]:
    """Steps of a schedule, in order.

    Examples
    --------
    The first seed's table of recursive halving, N = 8:

    >>> from algorithms import build
    >>> for step in trace(build("recursive_halving", "reduce_scatter", 8, 8)):
    ...     print(step.pairs(), step.sent[1], step.live[1])
    ((0, 4), (1, 5), (2, 6), (3, 7)) 4 4
    ((0, 2), (1, 3), (4, 6), (5, 7)) 2 2
    ((0, 1), (2, 3), (4, 5), (6, 7)) 1 1
    """
    sizes, bytes_of = schedule.sizes(), schedule.collective.sizes
    live = np.zeros((schedule.nodes, schedule.collective.chunks), dtype=bool)
    live[schedule.collective.initial()] = True
    for start, stop in schedule.step_bounds():
        row, chunk = schedule.moves(start, stop)
        away = schedule.mode[row] == REDUCE
        live[schedule.src[row[away]], chunk[away]] = False
        live[schedule.dst[row], chunk] = True
        held = live[: schedule.ranks] @ bytes_of
        for channel in np.unique(schedule.channel[start:stop]):
            rows = start + np.flatnonzero(schedule.channel[start:stop] == channel)
            yield TracedStep(
                int(schedule.step[start]),
                int(channel),
                tuple(sorted((_move(schedule, r) for r in rows.tolist()), key=lambda m: (m.src, m.dst))),
                (int(sizes[rows].min()), int(sizes[rows].max())),
                (int(held.min()), int(held.max())),
            )


def _move(schedule: Schedule, row: int) -> Move:
    return Move(
        int(schedule.src[row]),
        int(schedule.dst[row]),
        tuple(schedule.chunks(row).tolist()),
        bool(schedule.mode[row] == REDUCE),
    )


def ranges_text(chunks: NDArray[np.integer] | tuple[int, ...], separator: str = " ") -> str:
    """Chunk numbers for people: runs as first-last.

    >>> ranges_text((0, 1, 2, 5))
    '0-2 5'
    """
    members = np.asarray(chunks, dtype=np.int64)
    begins = np.flatnonzero(np.diff(members, prepend=members[:1] - 2) != 1)
    firsts, lasts = members[begins], members[np.append(begins, len(members))[1:] - 1]
    pairs = zip(firsts.tolist(), lasts.tolist(), strict=True)
    parts = [str(first) if first == last else f"{first}-{last}" for first, last in pairs]
    return separator.join(parts)
