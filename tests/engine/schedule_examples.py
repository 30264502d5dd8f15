"""Schedules of every algorithm, and pairs of them as channels side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from algorithms.collective import make_collective
from algorithms.compose import beside, on, then
from algorithms.registry import ALGORITHMS, build
from algorithms.schedule import Lists, Schedule
from topologies import Topology, crossbar, full_mesh

RANKS = (1, 3, 6)
DIMS = {
    4: [(2, 2), (1, 4)],
    6: [(3, 2), (2, 3)],
    8: [(2, 4), (2, 2, 2)],
    9: [(3, 3)],
}
"""Grids to lay hierarchical algorithms on."""


def options_of(name: str, ranks: int) -> list[dict[str, Any]]:
    """Options to build an algorithm with at N ranks."""
    if name not in ("hierarchical", "themis"):
        return [{}]
    return [{"dims": dims} for dims in DIMS.get(ranks, [])]


@cache
def schedules() -> dict[str, Schedule]:
    """By label: every algorithm, collective and some N up to 6, and pairs as two channels."""
    return dict(_schedules())


def _schedules() -> Iterator[tuple[str, Schedule]]:
    for name, algorithm in ALGORITHMS.items():
        for kind in algorithm.collectives:
            for ranks in RANKS:
                for options in options_of(name, ranks):
                    label = f"{name} {kind} {ranks} {options}"
                    size = 0 if kind == "barrier" else 1000 * ranks + 1
                    yield label, build(name, kind, ranks, size, **options)
    for ranks in RANKS:
        yield f"two shots {ranks}", two_shots(ranks)
        yield f"two channels {ranks}", two_channels(ranks)
        yield f"two channels of two shots {ranks}", two_channels(ranks, two_shots, two_shots)


def place_for(schedule: Schedule) -> Topology:
    """Ranks that are all joined; where switches take part, under one that reduces."""
    return _place(schedule.ranks, schedule.switches > 0)


@cache
def _place(ranks: int, reduces: bool) -> Topology:
    if reduces:
        return crossbar(ranks, bandwidth=1e9, switch="reduces")
    return full_mesh(ranks, bandwidth=1e9)


def two_shots(ranks: int) -> Schedule:
    """AllReduce as a direct ReduceScatter and a direct AllGather: many wait on many."""
    parts = [build("direct", kind, ranks, 1000) for kind in ("reduce_scatter", "allgather")]
    return then(parts, make_collective("allreduce", ranks, 1000))


def by_ring(ranks: int) -> Schedule:
    return build("ring", "allreduce", ranks, 1000)


def by_halving(ranks: int) -> Schedule:
    return build("rabenseifner", "allreduce", ranks, 1000)


def two_channels(
    ranks: int,
    one: Callable[[int], Schedule] = by_ring,
    other: Callable[[int], Schedule] = by_halving,
) -> Schedule:
    """AllReduce of one half of the vector, and beside it of the other half."""
    both = make_collective("allreduce", ranks, 1000 * ranks + 1, segments=2)
    parts = []
    for half, part in enumerate((one(ranks), other(ranks))):
        # chunk b of a part stands for segment `half` of block b; the last one takes the blocks left over
        offsets = np.append(np.arange(part.collective.chunks), ranks)
        chunks = Lists(offsets, 2 * np.arange(ranks) + half)
        parts.append(on(part, both, np.roll(np.arange(ranks), half), chunks))
    return beside(parts, both, algorithm="two channels")
