"""A schedule as the page shows it, step by step: who sends what to whom, and who holds what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from plots.palette import label
from plots.report.columns import packed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from algorithms.schedule import Schedule

MOST_CELLS: Final = 2_000_000
"""Pairs of a rank and a chunk whose state the page works out step by step."""

MOST_LISTED: Final = 2_000_000
"""Chunks of all transfers that are told one by one, where they are no ranges."""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A schedule and who plays it.

    Attributes
    ----------
    name : str
    schedule : Schedule
    place : array of int
        The topology's node of each of its ranks.
    whole : bool
        Whether it has the transfers of all ranks, and not of rank 0 alone.
    """

    name: str
    schedule: Schedule
    place: ArrayLike
    whole: bool = True


def part_chart(part: Part) -> dict[str, Any]:
    """The transfers of a schedule, and what its ranks hold at first and must hold at last."""
    schedule = part.schedule
    collective = schedule.collective
    index = schedule.index if schedule.index is not None and len(schedule.index) <= MOST_LISTED else None
    shown = index is not None or schedule.index is None
    cells = schedule.nodes * collective.chunks
    animated = part.whole and shown and cells <= MOST_CELLS
    return {
        "name": label(part.name, 40),
        "ranks": schedule.ranks,
        "nodes": schedule.nodes,
        "chunks": collective.chunks,
        "steps": schedule.steps,
        "place": packed(part.place) if part.whole else packed([]),
        "step": packed(schedule.step),
        "channel": packed(schedule.channel),
        "src": packed(schedule.src),
        "dst": packed(schedule.dst),
        "first": packed(schedule.first),
        "count": packed(schedule.count),
        "mode": packed(schedule.mode),
        "index": None if index is None else packed(index),
        "shown": shown,
        "whole": part.whole,
        "animated": animated,
        "source": packed(collective.source) if animated else None,
        "target": packed(collective.target) if animated else None,
    }
