"""What the bars of a timeline are coloured by: their step or, of several schedules, their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plots.palette import label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from algorithms.schedule import Schedule

_ROOM = 4.2
"""Inches for all names, beside the legend."""

_LETTER = 0.067


@dataclass(frozen=True, slots=True, eq=False)
class Tints:
    """Tints of transfers.

    Attributes
    ----------
    of_transfer : ndarray of int64, shape (transfers,)
        From 0.
    count : int
        How many there are.
    title : str
        What they stand for.
    facts : str
        What the figure says below its title.
    names : tuple of str
        Of each; empty where its number is its name.
    """

    of_transfer: NDArray[np.integer]
    count: int
    title: str
    facts: str
    names: tuple[str, ...] = ()

    @property
    def width(self) -> float:
        """Inches of a tint in the scale."""
        longest = max(map(len, self.names), default=0)
        return max(0.24, 0.12 + _LETTER * longest)


def by_step(schedule: Schedule) -> Tints:
    """A tint a step."""
    counts = [(schedule.ranks, "rank"), (schedule.steps, "step"), (len(schedule), "transfer")]
    return Tints(schedule.step, schedule.steps, "step", _facts(counts))


def by_schedule(schedules: Sequence[Schedule], names: Sequence[str], ranks: int) -> Tints:
    """A tint for each of several schedules, whose transfers come one after the other."""
    each = [len(schedule) for schedule in schedules]
    counts = [(ranks, "rank"), (sum(each), "transfer")]
    most = max(1, int((_ROOM / len(names) - 0.12) / _LETTER))
    tints = np.repeat(np.arange(len(each)), each)
    return Tints(tints, len(each), "collective", _facts(counts), tuple(label(name, most) for name in names))


def _facts(counts: Sequence[tuple[int, str]]) -> str:
    return ", ".join(f"{count:,} {what}{'' if count == 1 else 's'}" for count, what in counts)
