"""All-to-All over a grid of ranks: one dimension after the other, in messages of many blocks."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from algorithms.collective import Collective
from algorithms.compose import on, then, together
from algorithms.schedule import Lists, Schedule


def grid_all_to_all(collective: Collective, dims: Sequence[int], parts: Sequence[Schedule]) -> Schedule:
    """All-to-All along dimension 0, then 1, ...: a block goes where its coordinate of that dimension leads.

    With dims (G, K) the ranks of a node first gather what their node has for one local number,
    then exchange it with the ranks of that number in other nodes: G times fewer and larger
    messages between nodes (the two-step all-to-all of MSCCL).

    Parameters
    ----------
    collective : Collective
        An All-to-All over prod(dims) ranks, a chunk from each to each.
    dims : sequence of int
        p_0, p_1, ..., innermost first.
    parts : sequence of Schedule
        An All-to-All over p_i ranks for every dimension.
    """
    stages = [_stage(collective, dims, level, part) for level, part in enumerate(parts)]
    return then(stages, collective, algorithm="hierarchical")


def _stage(collective: Collective, dims: Sequence[int], level: int, part: Schedule) -> Schedule:
    """The dimension's schedule, played by every group of ranks that differ only in that coordinate."""
    inner, p, outer = prod(dims[:level]), dims[level], prod(dims[level + 1 :])
    groups = []
    for low in range(inner):
        for high in range(outer):
            members = low + inner * (np.arange(p) + p * high)
            groups.append(on(part, collective, members, _chunk_sets(low, high, inner, p, outer)))
    return together(groups, collective, algorithm="hierarchical")


def _chunk_sets(low: int, high: int, inner: int, p: int, outer: int) -> Lists:
    """Chunks that stand for the one from member s to member t of a group, s first.

    Inner coordinates have arrived: they read `low` at the destination, anything at the source.
    Outer ones are still to go: they read `high` at the source, anything at the destination.
    """
    ranks = inner * p * outer
    s, t, from_low, to_high = np.ix_(np.arange(p), np.arange(p), np.arange(inner), np.arange(outer))
    source = from_low + inner * (s + p * high)
    target = low + inner * (t + p * to_high)
    chunks = (source * ranks + target).reshape(p * p, -1)
    chunks.sort(axis=1)
    return Lists(np.arange(len(chunks) + 1) * chunks.shape[1], chunks.ravel())
