"""Communication that takes a part of a stage's speed: its copies and sums run where it computes."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.llm.step.graph import Graph


def slowed(
    graph: Graph, begin: NDArray[np.int64], end: NDArray[np.int64], steals: float
) -> NDArray[np.int64]:
    """What every task of compute takes from its beginning, if the calls are where they were found to be.

    Parameters
    ----------
    graph : Graph
    begin, end : ndarray of int64, shape (tasks,)
        fs.
    steals : float
        Part of its speed that a stage loses while a call of its own, or to it, is under way; below 1.

    Returns
    -------
    ndarray of int64, shape (tasks,)
        fs; 0 for a call.
    """
    hold = np.zeros(len(graph), dtype=np.int64)
    computes: dict[int, list[int]] = {}
    calls: dict[int, list[int]] = {}
    for number, task in enumerate(graph.tasks):
        if task.way is None:
            computes.setdefault(task.stream.stage, []).append(number)
        else:
            for stage in (task.way.stage, task.way.peer):
                if stage is not None:
                    calls.setdefault(stage, []).append(number)
    for stage, tasks in computes.items():
        first, last = merged(begin[calls.get(stage, [])], end[calls.get(stage, [])])
        for number in tasks:
            hold[number] = _time(graph.tasks[number].hold, int(begin[number]), first, last, Fraction(steals))
    return hold


def _time(work: int, begin: int, first: NDArray[np.int64], last: NDArray[np.int64], steals: Fraction) -> int:
    """How long work takes that goes on more slowly in some intervals that lie apart."""
    now, left = Fraction(begin), Fraction(work)
    for call in range(int(last.searchsorted(begin, side="right")), len(first)):
        alone = max(Fraction(0), int(first[call]) - now)
        if left <= alone:
            break
        left, now = left - alone, now + alone
        shared = (int(last[call]) - now) * (1 - steals)
        if left <= shared:
            return round(now + left / (1 - steals) - begin)
        left, now = left - shared, Fraction(int(last[call]))
    return round(now + left - begin)


def merged(begin: NDArray[np.int64], end: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The union of intervals, as intervals that lie apart, in order.

    >>> [part.tolist() for part in merged(np.array([5, 0, 1]), np.array([6, 2, 4]))]
    [[0, 5], [4, 6]]
    """
    order = np.argsort(begin, kind="stable")
    begin, reached = begin[order], np.maximum.accumulate(end[order])
    new = np.ones(len(begin), dtype=bool)
    new[1:] = begin[1:] > reached[:-1]
    last = np.append(new[1:], True) if len(new) else new
    return begin[new], reached[last]
