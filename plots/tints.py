"""What the bars of a timeline are coloured by: their step or, of several schedules, their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.ticker import FixedLocator, MaxNLocator

from plots.gantt import step_colours
from plots.style import label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from algorithms.schedule import Schedule
    from plots.frame import Frame

_ROOM = 4.2
"""Inches for all names, beside the legend."""

_LETTER = 0.067
_MOST_NAMED = 16


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


def draw_tints(figure: Figure, page: Frame, tints: Tints) -> None:
    """Draw the tints at the foot, each with its name or its number unless they are many."""
    count, few = tints.count, tints.count <= _MOST_NAMED
    axes = page.scale(figure, tints.title, min(tints.width * count, 4.2 if tints.names else 3.8))
    colours = step_colours(count)
    bar = figure.colorbar(
        ScalarMappable(
            BoundaryNorm(np.arange(count + 1) - 0.5, max(count, 2)),
            ListedColormap(colours.repeat(2 if count == 1 else 1, axis=0)),
        ),
        cax=axes,
        orientation="horizontal",
        drawedges=few,
    )
    bar.set_ticks(FixedLocator(range(count)) if few else MaxNLocator(8, integer=True))
    if few and tints.names:
        bar.set_ticklabels(tints.names)
    bar.minorticks_off()
    bar.outline.set_linewidth(0.4)
    axes.tick_params(labelsize=7.5, length=0 if few else 2, pad=2)
