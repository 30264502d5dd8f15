"""Themis (Rashidi et al. 2022): each chunk of the vector goes through the dimensions in its own order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm, prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from algorithms.algorithm import Algorithm
from algorithms.catalogue.grid import grid_dims, names_by_dim
from algorithms.catalogue.hierarchical import hierarchical, hierarchical_rounds, hierarchical_totals
from algorithms.collective import make_collective
from algorithms.compose import beside, on, then
from algorithms.errors import ScheduleError
from algorithms.rounds import Round, Totals, steps_of
from algorithms.schedule import Lists, Schedule
from algorithms.variation import MOST_CHANNELS
from topologies.quantities import Count, Ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topologies.topology import Topology

CHUNKS: Final = 4
"""Chunks into which the vector is cut unless something else is asked for."""


def dimension_orders(
    kind: str, dims: Sequence[int], chunks: int, weights: Sequence[float]
) -> list[tuple[int, ...]]:
    """Order of the dimensions in the ReduceScatter of every chunk; its AllGather goes the other way.

    A chunk goes first through the dimension that has the least to do so far. In its
    ReduceScatter a dimension of d ranks with bandwidth w is busy for c (d-1)/d / w with a chunk of
    size c, which leaves c/d; in its AllGather for c (d-1) / w, which leaves c d.

    Parameters
    ----------
    kind : {'reduce_scatter', 'allgather', 'allreduce'}
    dims : sequence of int
        Ranks along each dimension.
    chunks : int
        Number of chunks.
    weights : sequence of float
        Bandwidth of a rank along each dimension, in any unit.

    Examples
    --------
    >>> dimension_orders("allreduce", [4, 4], 3, [2.0, 1.0])
    [(0, 1), (1, 0), (0, 1)]
    """
    rates = [Fraction(weight) for weight in weights]
    loads = [Fraction(0)] * len(dims)
    orders = []
    for _ in range(chunks):
        order = sorted(range(len(dims)), key=lambda i: (loads[i], i))
        orders.append(tuple(order))
        size = Fraction(1)
        for i in order:
            if kind != "allgather":
                loads[i] += size * (dims[i] - 1) / dims[i] / rates[i]
            size /= dims[i]
            if kind != "reduce_scatter":
                loads[i] += size * (dims[i] - 1) / rates[i]
    return orders


def themis(
    kind: str,
    ranks: int,
    size: int,
    dims: Sequence[Count] | None = None,
    algorithms: Sequence[str] | None = None,
    chunks: Count = CHUNKS,
    weights: Sequence[Ratio] | None = None,
) -> Schedule:
    """Hierarchical collective in which every chunk takes the dimensions in its own, balanced order.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`.
    dims, algorithms
        As `hierarchical`; an algorithm serves its dimension's ReduceScatter and AllGather.
    chunks : int
        Chunks of the vector, each in a channel of its own.
    weights : sequence of float, optional
        Bandwidth of a rank along each dimension, in any unit; default all alike. A scenario gives
        those of its topology's levels.

    Raises
    ------
    ScheduleError
        If the dimensions do not multiply to N, or an option does not fit them.
    """
    lanes = _lanes(kind, ranks, dims, algorithms, chunks, weights)
    parts = [
        [hierarchical(phase, ranks, ranks, lane.dims, lane.algorithms) for phase in phases(kind)]
        for lane in lanes
    ]
    pieces = lcm(*(part.collective.chunks // ranks for halves in parts for part in halves))
    collective = make_collective(kind, ranks, size, segments=chunks * pieces)
    played, sizes = [], grid_dims(ranks, dims)
    for number, (halves, lane) in enumerate(zip(parts, lanes, strict=True)):
        players = _players(sizes, lane.order)
        sets = [_chunk_sets(part, players, number, pieces, chunks * pieces) for part in halves]
        on_ranks = [on(part, collective, players, own) for part, own in zip(halves, sets, strict=True)]
        played.append(then(on_ranks, collective))
    return beside(played, collective, algorithm="themis")


def phases(kind: str) -> tuple[str, ...]:
    """The collectives that a collective consists of."""
    return ("reduce_scatter", "allgather") if kind == "allreduce" else (kind,)


@dataclass(frozen=True, slots=True)
class _Lane:
    """Of one chunk the order of the dimensions, and their sizes and algorithms in that order."""

    order: tuple[int, ...]
    dims: tuple[int, ...]
    algorithms: tuple[str, ...]


def _lanes(
    kind: str,
    ranks: int,
    dims: Sequence[int] | None,
    algorithms: Sequence[str] | None,
    chunks: int,
    weights: Sequence[float] | None,
) -> list[_Lane]:
    sizes = grid_dims(ranks, dims)
    if chunks < 1:
        raise ScheduleError(f"there is at least 1 chunk, found {chunks}", ("chunks",))
    if chunks > MOST_CHANNELS:
        raise ScheduleError(f"{chunks:,} chunks; at most {MOST_CHANNELS:,} fit", ("chunks",))
    weights = [1.0] * len(sizes) if weights is None else weights
    if len(weights) != len(sizes):
        raise ScheduleError(
            f"{len(sizes)} dims need {len(sizes)} weights, found {len(weights)}", ("weights",)
        )
    for i, weight in enumerate(weights):
        if not 0 < weight < float("inf"):
            raise ScheduleError(f"a weight is positive and finite, found {weight}", ("weights", i))
    names = names_by_dim(sizes, algorithms, "ring")
    return [
        _Lane(order, tuple(sizes[i] for i in order), tuple(names[i] for i in order))
        for order in dimension_orders(kind, sizes, chunks, weights)
    ]


def _players(dims: tuple[int, ...], order: tuple[int, ...]) -> NDArray[np.int64]:
    """The rank of each number in a grid whose dimensions are counted in another order."""
    grid = np.arange(prod(dims)).reshape(dims[::-1])
    axes = [len(dims) - 1 - i for i in order]
    return grid.transpose(axes[::-1]).ravel()


def _chunk_sets(part: Schedule, players: NDArray[np.int64], number: int, pieces: int, segments: int) -> Lists:
    """Chunks that stand for each one of a part: the pieces that lane `number` has of its rank's block."""
    own = part.collective.chunks // part.ranks
    width = pieces // own
    first = players[:, None] * segments + number * pieces + np.arange(own) * width
    chunks = first.ravel()[:, None] + np.arange(width)
    return Lists(np.arange(len(chunks) + 1) * width, chunks.ravel())


def themis_rounds(
    kind: str,
    ranks: int,
    size: int,
    dims: Sequence[Count] | None = None,
    algorithms: Sequence[str] | None = None,
    chunks: Count = CHUNKS,
    weights: Sequence[Ratio] | None = None,
) -> tuple[Round, ...] | None:
    """Rounds of the chunk that takes the most steps; the chunks meet on the links, so they tell no time."""
    every = []
    for lane in _lanes(kind, ranks, dims, algorithms, chunks, weights):
        forms = [hierarchical_rounds(p, ranks, size, lane.dims, lane.algorithms) for p in phases(kind)]
        if any(form is None for form in forms):
            return None
        every.append([turn for form in forms if form for turn in form])
    return tuple(replace(turn, sent=turn.sent / chunks) for turn in max(every, key=steps_of))


def themis_totals(
    kind: str,
    ranks: int,
    dims: Sequence[Count] | None = None,
    algorithms: Sequence[str] | None = None,
    chunks: Count = CHUNKS,
    weights: Sequence[Ratio] | None = None,
) -> Totals:
    """Of each chunk what a hierarchical collective in its order sends."""
    total = Totals(0, Fraction(0))
    for lane in _lanes(kind, ranks, dims, algorithms, chunks, weights):
        for phase in phases(kind):
            part = hierarchical_totals(phase, ranks, lane.dims, lane.algorithms)
            total += part.scaled(bytes=Fraction(1, chunks))
    return total


def dims_and_weights(
    topology: Topology, options: Mapping[str, Any], _placement: Sequence[int] | None
) -> dict[str, Any]:
    """The topology's own dimensions, and the bandwidth of a rank on each level where they are its levels."""
    dims = options.get("dims", topology.dims)
    if len(dims) != len(topology.levels):
        return {"dims": dims}
    links = topology.links
    total = np.bincount(links.level, weights=links.bandwidth, minlength=len(topology.levels))
    # a dimension of one rank has no links, and nothing to do
    shares = np.where(total > 0, total / topology.ranks, 1.0)
    return {"dims": dims, "weights": tuple(shares.tolist())}


THEMIS: Final = (
    Algorithm(
        "themis",
        ("reduce_scatter", "allgather", "allreduce"),
        themis,
        themis_rounds,
        themis_totals,
        "per chunk the sum over its dimensions; chunks overlap where their dimensions differ",
        "",
        "Rashidi et al. 2022 (Themis)",
        constraint="N = p_0 p_1 ...",
        from_topology=dims_and_weights,
    ),
)
