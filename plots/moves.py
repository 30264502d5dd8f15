"""What a storyboard shows: the transfers of some steps, and what ranks hold after each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.collective import EVERY
from algorithms.schedule import REDUCE
from algorithms.trace import ranges_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from algorithms.schedule import Schedule

_ENDS: Final = 6
"""Steps that are shown of many: so many of the first, and of the last."""

_MIDDLE: Final = 4
"""And of those between."""


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """Transfers of a step.

    Attributes
    ----------
    step : int
        From 0.
    src, dst : ndarray of int64, shape (transfers,)
        Ranks, or switches numbered from N.
    reduces : ndarray of bool
        REDUCE at the destination, or COPY.
    bytes : ndarray of int64
    names : sequence of str
        Of the chunks of each; empty where they are not told.
    """

    step: int
    src: NDArray[np.int64]
    dst: NDArray[np.int64]
    reduces: NDArray[np.bool_]
    bytes: NDArray[np.int64]
    names: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.src)


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """What nodes hold.

    Attributes
    ----------
    share : ndarray of float64, shape (nodes, chunks)
        Part of the contributions to each chunk that a node has summed; 0 where it holds none.
    done : ndarray of float64, shape (nodes,)
        Part of the chunks that a node must end with that it holds complete; 0 where it need end with none.
    """

    share: NDArray[np.float64]
    done: NDArray[np.float64]


def some_steps(steps: int) -> list[int]:
    """Steps that are shown: all of a few, else the first, some in the middle, and the last.

    Examples
    --------
    >>> some_steps(3), some_steps(100)
    ([0, 1, 2], [0, 1, 2, 3, 4, 5, 48, 49, 50, 51, 94, 95, 96, 97, 98, 99])
    """
    if steps <= 2 * _ENDS + _MIDDLE:
        return list(range(steps))
    middle = steps // 2 - _MIDDLE // 2
    return [*range(_ENDS), *range(middle, middle + _MIDDLE), *range(steps - _ENDS, steps)]


def moves_of(schedule: Schedule, steps: Sequence[int], *, named: bool) -> list[Moves]:
    """Transfers of some steps of a schedule, over all channels.

    Parameters
    ----------
    schedule : Schedule
    steps : sequence of int
    named : bool
        Whether the chunks are told.
    """
    sizes = schedule.sizes()
    found = []
    for step in steps:
        start, stop = np.searchsorted(schedule.step, [step, step + 1]).tolist()
        own = slice(start, stop)
        names = [ranges_text(schedule.chunks(row), ",") for row in range(start, stop)] if named else ()
        ends = (schedule.src[own].astype(np.int64), schedule.dst[own].astype(np.int64))
        found.append(Moves(step, *ends, schedule.mode[own] == REDUCE, sizes[own], names))
    return found


def held(schedule: Schedule) -> Iterator[tuple[int, Held]]:
    """What every node holds at the start, as step -1, and after each step that has transfers.

    Contributions are counted, which tells parts of a sum from the whole where none is summed twice: of a
    schedule that was proven. What is sent away to be reduced elsewhere is no longer held.

    Examples
    --------
    >>> from algorithms import build
    >>> states = dict(held(build("recursive_halving", "reduce_scatter", 2, 2)))
    >>> states[-1].share.tolist(), states[0].share.tolist()
    ([[0.5, 0.5], [0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]])
    """
    collective = schedule.collective
    counts = np.zeros((schedule.nodes, collective.chunks), dtype=np.int64)
    counts[collective.initial()] = 1
    live, wanted = counts > 0, np.zeros(counts.shape, dtype=bool)
    wanted[collective.final()] = True
    whole = np.where(collective.source == EVERY, collective.ranks, 1)
    yield -1, _held(counts, live, whole, wanted)
    for start, stop in schedule.step_bounds():
        row, chunk = schedule.moves(start, stop)
        src, dst = schedule.src[row], schedule.dst[row]
        sent, reduces = counts[src, chunk], schedule.mode[row] == REDUCE
        live[src[reduces], chunk[reduces]] = False
        live[dst, chunk] = True
        counts[dst[~reduces], chunk[~reduces]] = sent[~reduces]
        np.add.at(counts, (dst[reduces], chunk[reduces]), sent[reduces])
        yield int(schedule.step[start]), _held(counts, live, whole, wanted)


def _held(
    counts: NDArray[np.int64], live: NDArray[np.bool_], whole: NDArray[np.int64], wanted: NDArray[np.bool_]
) -> Held:
    complete = live & wanted & (counts >= whole)
    done = complete.sum(axis=1) / np.maximum(wanted.sum(axis=1), 1)
    return Held(np.where(live, np.minimum(counts / whole, 1.0), 0.0), done)
