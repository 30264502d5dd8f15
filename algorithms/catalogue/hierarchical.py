"""Collectives on p_0 x p_1 x ... ranks, one dimension after the other.

The first seed's multi-level ReduceScatter, its AllGather and AllReduce, and an All-to-All.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm, prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from algorithms.algorithm import Algorithm
from algorithms.assembly import settled
from algorithms.catalogue.flat import FLAT
from algorithms.catalogue.grid import grid_dims, names_by_dim
from algorithms.catalogue.grid_all_to_all import grid_all_to_all
from algorithms.collective import Collective, make_collective
from algorithms.compose import on, then, together
from algorithms.errors import ScheduleError
from algorithms.rounds import Round, Totals
from algorithms.schedule import Lists, Schedule
from topologies.quantities import Count

if TYPE_CHECKING:
    from topologies.topology import Topology

DUAL_NAMES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "reduce_scatter": MappingProxyType({"recursive_doubling": "recursive_halving"}),
        "allgather": MappingProxyType({"recursive_halving": "recursive_doubling"}),
    }
)


def hierarchical(
    kind: str,
    ranks: int,
    size: int,
    dims: Sequence[Count] | None = None,
    algorithms: Sequence[str] | None = None,
) -> Schedule:
    """One collective after the other along each dimension of a grid of ranks.

    Rank r has the coordinates (r mod p_0, r // p_0 mod p_1, ...). ReduceScatter goes from the
    innermost dimension outwards: level i takes M / P_{i-1} in and leaves M / P_i, with
    P_i = p_0 ... p_i. AllGather goes inwards. AllReduce is ReduceScatter up to the outermost
    dimension, AllReduce there, and AllGather back (BlueConnect, Cho et al. 2019). All-to-All goes
    through all dimensions with the whole vector.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`.
    dims : sequence of int, optional
        p_0, p_1, ..., innermost first; their product is N. Default (N,).
    algorithms : sequence of str, optional
        One name for each dimension; default `ring` for all, `direct` for an All-to-All. A name
        that serves only the dual collective stands for its own dual: recursive_halving for
        recursive_doubling.

    Raises
    ------
    ScheduleError
        If the dimensions do not multiply to N, or a name does not fit.
    """
    return composed(kind, ranks, size, dims, algorithms, {})


def composed(
    kind: str,
    ranks: int,
    size: int,
    dims: Sequence[int] | None,
    algorithms: Sequence[str] | None,
    outermost: Mapping[str, Any],
) -> Schedule:
    """As `hierarchical`, with options for the algorithm of the outermost dimension."""
    sizes, names = _resolve(kind, ranks, dims, algorithms)
    stages = _stages(kind, sizes, names, outermost)
    if kind == "all_to_all":
        return grid_all_to_all(make_collective(kind, ranks, size), sizes, [part for _, part in stages])
    blocks, segments = _granularity(sizes, stages)
    collective = make_collective(kind, ranks, size, blocks=blocks, segments=segments)
    parts = [_stage(collective, sizes, level, part, segments) for level, part in stages]
    schedule = then(parts, collective, algorithm="hierarchical")
    return replace(schedule, fallback=next((part.fallback for _, part in stages if part.fallback), None))


def _resolve(
    kind: str, ranks: int, dims: Sequence[int] | None, names: Sequence[str] | None
) -> tuple[tuple[int, ...], list[str]]:
    sizes = grid_dims(ranks, dims)
    names = names_by_dim(sizes, names, "direct" if kind == "all_to_all" else "ring")
    for level, phase, name in _phases(kind, names):
        _serving(name, phase, level)
    return sizes, names


def _serving(name: str, kind: str, position: int) -> str:
    """The name itself, or that of its dual, where this does the collective's mirror."""
    serving = DUAL_NAMES[kind].get(name, name) if kind in DUAL_NAMES else name
    if serving in FLAT and kind in FLAT[serving].collectives:
        return serving
    raise ScheduleError(f'"{name}" does no {kind} along a dimension', ("algorithms", position))


def _stages(
    kind: str, dims: Sequence[int], names: Sequence[str], outermost: Mapping[str, Any]
) -> list[tuple[int, Schedule]]:
    """(level, schedule of that level's p ranks) in order of time."""
    stages = []
    for level, phase, name in _phases(kind, names):
        options = outermost if level == len(dims) - 1 else {}
        algorithm = FLAT[_serving(name, phase, level)]
        part = algorithm.build(phase, dims[level], dims[level], **options)
        # the lanes of one phase wait for those of another: they become one
        stages.append((level, settled(replace(part, channel=np.zeros_like(part.channel)))))
    return stages


def _phases(kind: str, names: Sequence[str]) -> list[tuple[int, str, str]]:
    """(level, collective, algorithm) in order of time."""
    levels = range(len(names))
    up = [(i, "reduce_scatter", names[i]) for i in levels]
    down = [(i, "allgather", names[i]) for i in reversed(levels)]
    if kind == "reduce_scatter":
        return up
    if kind == "allgather":
        return down
    if kind == "all_to_all":
        return [(i, kind, names[i]) for i in levels]
    if names[-1] in FLAT and "allreduce" in FLAT[names[-1]].collectives:
        return [*up[:-1], (len(names) - 1, "allreduce", names[-1]), *down[1:]]
    return [*up, *down]


def _granularity(dims: Sequence[int], stages: Sequence[tuple[int, Schedule]]) -> tuple[int, int]:
    """Blocks of the vector, and segments of a block, so that every level can cut it its own way."""
    segments = lcm(
        *(
            part.collective.chunks // dims[level]
            for level, part in stages
            if part.collective.kind != "allreduce"
        )
    )
    blocks = prod(dims)
    for level, part in stages:
        if part.collective.kind == "allreduce":
            blocks = prod(dims[:level]) * part.collective.chunks
    return blocks, segments


def _stage(
    collective: Collective, dims: Sequence[int], level: int, part: Schedule, segments: int
) -> Schedule:
    """The level's schedule, played by every group of ranks that differ only in coordinate `level`."""
    stride, p = prod(dims[:level]), dims[level]
    blocks = collective.chunks // segments
    groups = []
    for inner in range(stride):
        chunks = _chunk_sets(inner, stride, part, p, blocks, segments)
        for outer in range(prod(dims[level + 1 :])):
            members = inner + stride * (np.arange(p) + p * outer)
            groups.append(on(part, collective, members, chunks))
    return together(groups, collective, algorithm="hierarchical")


def _chunk_sets(inner: int, stride: int, part: Schedule, p: int, blocks: int, segments: int) -> Lists:
    """Chunks that stand for each chunk of a level's schedule, at ranks whose inner coordinates read `inner`.

    They hold the blocks inner + stride * v, inner + stride * (v + count), ...: what the levels
    inside have left them, cut `count` ways.
    """
    allreduce = part.collective.kind == "allreduce"
    count = part.collective.chunks if allreduce else p
    pieces = 1 if allreduce else part.collective.chunks // p
    width = segments // pieces
    block = (
        inner + stride * np.arange(count)[:, None] + stride * count * np.arange(blocks // (stride * count))
    )
    chunk = block[:, None, :, None] * segments + (np.arange(pieces)[:, None, None] * width + np.arange(width))
    lists = chunk.reshape(count * pieces, -1)
    lists.sort(axis=1)
    return Lists(np.arange(len(lists) + 1) * lists.shape[1], lists.ravel())


def hierarchical_rounds(
    kind: str,
    ranks: int,
    size: int,
    dims: Sequence[int] | None = None,
    algorithms: Sequence[str] | None = None,
) -> tuple[Round, ...] | None:
    """Sum over the levels of each one's closed form on M / P_{i-1}, with that level's alpha and beta."""
    sizes, names = _resolve(kind, ranks, dims, algorithms)
    rounds: list[Round] = []
    for level, phase, name in _phases(kind, names):
        algorithm = FLAT[_serving(name, phase, level)]
        share = 1 if kind == "all_to_all" else prod(sizes[:level])
        turns = algorithm.rounds(phase, sizes[level], size)
        if turns is None:
            return None
        rounds += [replace(turn, sent=turn.sent / share, level=level) for turn in turns]
    return tuple(rounds)


def hierarchical_totals(
    kind: str, ranks: int, dims: Sequence[int] | None = None, algorithms: Sequence[str] | None = None
) -> Totals:
    """Sum over the levels: N / p_i groups, each doing its level's collective on M / P_{i-1}."""
    sizes, names = _resolve(kind, ranks, dims, algorithms)
    totals = Totals(0, Fraction(0))
    for level, phase, name in _phases(kind, names):
        groups = ranks // sizes[level]
        part = FLAT[_serving(name, phase, level)].totals(phase, sizes[level])
        share = 1 if kind == "all_to_all" else prod(sizes[:level])
        totals += part.scaled(messages=groups, bytes=Fraction(groups, share))
    return totals


@dataclass(frozen=True, slots=True)
class LevelFlow:
    """What a rank takes into a phase of a hierarchical collective and gives out, in units of M."""

    level: int
    phase: str
    ranks: int
    taken: Fraction
    given: Fraction


def level_flow(dims: Sequence[int], kind: str = "reduce_scatter") -> tuple[LevelFlow, ...]:
    """Data volumes by level, in order of time, as the first seed tabulates them.

    ReduceScatter takes M / P_{i-1} into level i and gives M / P_i out; AllGather goes back the
    other way; AllReduce goes up, keeps its volume in the outermost level, and comes back.

    >>> [(str(flow.taken), str(flow.given)) for flow in level_flow([4, 2])]
    [('1', '1/4'), ('1/4', '1/8')]
    """
    shares = [Fraction(1, prod(dims[:i])) for i in range(len(dims) + 1)]
    levels = range(len(dims))
    up = [LevelFlow(i, "reduce_scatter", dims[i], shares[i], shares[i + 1]) for i in levels]
    down = [LevelFlow(i, "allgather", dims[i], shares[i + 1], shares[i]) for i in reversed(levels)]
    if kind == "all_to_all":
        whole = Fraction(1)
        return tuple(LevelFlow(i, kind, dims[i], whole, whole) for i in levels)
    if kind == "allreduce":
        top = len(dims) - 1
        return (*up[:-1], LevelFlow(top, kind, dims[top], shares[top], shares[top]), *down[1:])
    return tuple(up if kind == "reduce_scatter" else down)


def dims_of(
    topology: Topology, _options: Mapping[str, Any], _placement: Sequence[int] | None
) -> dict[str, Any]:
    """The topology's own dimensions."""
    return {"dims": topology.dims}


HIERARCHICAL: Final = (
    Algorithm(
        "hierarchical",
        ("reduce_scatter", "allgather", "allreduce", "all_to_all"),
        hierarchical,
        hierarchical_rounds,
        hierarchical_totals,
        "sum over levels i of the level's closed form on M/P_{i-1} with alpha_i, beta_i",
        "multilevel",
        "Cho et al. 2019 (BlueConnect)",
        constraint="N = p_0 p_1 ...",
        from_topology=dims_of,
    ),
)
