"""Schedules of every algorithm, and pairs of them as channels side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from algorithms.collective import make_collective
from algorithms.compose import beside, on
from algorithms.registry import ALGORITHMS, build
from algorithms.schedule import Lists, Schedule

RANKS = range(1, 10)
DIMS = {
    4: [(2, 2), (1, 4)],
    6: [(3, 2), (2, 3)],
    8: [(2, 4), (2, 2, 2)],
    9: [(3, 3)],
}
"""Grids to lay hierarchical algorithms on."""


def options_of(name: str, ranks: int) -> list[dict[str, Any]]:
    """Options to build an algorithm with at N ranks."""
    if name != "hierarchical":
        return [{}]
    return [{"dims": dims} for dims in DIMS.get(ranks, [])]


def every_schedule() -> Iterator[tuple[str, Schedule]]:
    """(label, schedule) of every algorithm, collective and N in 1..9, and of pairs as two channels."""
    for name, algorithm in ALGORITHMS.items():
        for kind in algorithm.collectives:
            for ranks in RANKS:
                for options in options_of(name, ranks):
                    label = f"{name} {kind} {ranks} {options}"
                    yield label, build(name, kind, ranks, 1000 * ranks + 1, **options)
    for ranks in RANKS:
        yield f"two channels {ranks}", two_channels(ranks)


def two_channels(ranks: int) -> Schedule:
    """AllReduce of one half by ring, and beside it of the other half by the fold of halving."""
    both = make_collective("allreduce", ranks, 1000 * ranks + 1, segments=2)
    parts = []
    for half, name in enumerate(("ring", "rabenseifner")):
        part = build(name, "allreduce", ranks, 1000)
        count = part.collective.chunks
        # chunk b of a part stands for segment `half` of block b; the last takes what blocks are left
        blocks = np.arange(ranks)
        offsets = np.append(np.arange(count), ranks)
        parts.append(on(part, both, np.roll(np.arange(ranks), half), Lists(offsets, 2 * blocks + half)))
    return beside(parts, both, algorithm="two channels")
