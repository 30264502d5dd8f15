"""PAT, parallel aggregated trees: NCCL's AllGather and ReduceScatter (Jeaugey 2025; NCCL 2.23 and later)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Final

import numpy as np

from algorithms.algorithm import Algorithm
from algorithms.assembly import assemble
from algorithms.collective import make_collective
from algorithms.compose import is_power_of_two
from algorithms.duality import dual
from algorithms.errors import ScheduleError
from algorithms.rounds import Round, Totals, least
from algorithms.schedule import COPY, Schedule, Step, check_moves


def pat_messages(ranks: int, aggregation: int | None = None) -> list[list[int]]:
    """Offsets of the blocks in every message that a rank receives in an AllGather, in order of time.

    Offset s is the block of rank r + s. It comes over dimension d, the lowest set bit of s, from rank
    r + 2^d, which had it as its offset s - 2^d: every block goes down a binomial tree. A message
    holds up to A blocks, one of each A-th part of the ranks. First one block spreads over the parts, in
    log2 A messages that double; then the tree within a part is walked depth first, far children first,
    so that little need be kept, in all parts at once.

    Parameters
    ----------
    ranks : int
        N.
    aggregation : int, optional
        A, a power of two; at most the lowest power of two that is not below floor(N / 2), the default.

    Raises
    ------
    ScheduleError
        If A is no power of two.

    Examples
    --------
    >>> pat_messages(8)
    [[4], [2, 6], [1, 3, 5, 7]]
    >>> pat_messages(8, 1)
    [[4], [6], [7], [5], [2], [3], [1]]
    """
    if aggregation is not None and not is_power_of_two(aggregation):
        raise ScheduleError(f"aggregation must be a power of two, found {aggregation!r}", ("aggregation",))
    widest = 1 << max(0, ranks // 2 - 1).bit_length()
    parts = widest if aggregation is None else min(aggregation, widest)
    part = (1 << (ranks - 1).bit_length()) // parts
    spread = [range(part << k, ranks, part << (k + 1)) for k in reversed(range(parts.bit_length() - 1))]
    inside = [range(offset, ranks, part) for offset in _depth_first(part)]
    return [list(message) for message in (*spread, *inside) if message]


def _depth_first(size: int) -> list[int]:
    """Nodes of a binomial tree of 2^k, but for its root 0, far children first.

    >>> _depth_first(8)
    [4, 6, 7, 5, 2, 3, 1]
    """
    walk: list[int] = []
    far = 1
    while far < size:
        walk = [far, *(far + node for node in walk), *walk]
        far *= 2
    return walk


def pat_steps(ranks: int, aggregation: int | None = None) -> Iterator[Step]:
    """PAT AllGather: one message a rank and step, along one dimension."""
    check_moves(ranks * (ranks - 1))
    rank = np.arange(ranks)
    for offsets in pat_messages(ranks, aggregation):
        hop = offsets[0] & -offsets[0]
        yield ((rank + hop) % ranks, rank, (rank[:, None] + np.array(offsets)) % ranks, COPY)


def pat(kind: str, ranks: int, size: int, aggregation: int | None = None) -> Schedule:
    """Parallel aggregated trees: AllGather, or ReduceScatter as its mirror; log2 N to N - 1 steps.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`.
    aggregation : int, optional
        Blocks that a message holds at most, a power of two: 1 for N - 1 messages a rank; default as
        many as NCCL takes for small vectors, ceil(log2 N) messages, and one more at N = 2^k + 1 > 3.

    Raises
    ------
    ScheduleError
        If the aggregation is no power of two.
    """
    gather = assemble(
        make_collective("allgather", ranks, size), pat_steps(ranks, aggregation), algorithm="pat"
    )
    return gather if kind == "allgather" else dual(gather, make_collective(kind, ranks, size))


def pat_rounds(kind: str, ranks: int, size: int, aggregation: int | None = None) -> tuple[Round, ...]:
    """Sum over the messages of alpha + blocks M/N (1/beta + 1/gamma), N - 1 blocks in all."""
    block = Fraction(size, ranks)
    every = Round(1, block, fan_in=int(kind == "reduce_scatter"))
    return tuple(replace(every, sent=len(message) * block) for message in pat_messages(ranks, aggregation))


def pat_totals(kind: str, ranks: int, aggregation: int | None = None) -> Totals:
    """As many messages a rank as steps; as few bytes as can be."""
    return least(kind, ranks, ranks * len(pat_messages(ranks, aggregation)))


PAT: Final = (
    Algorithm(
        "pat",
        ("allgather", "reduce_scatter"),
        pat,
        pat_rounds,
        pat_totals,
        "ceil(log2 N) alpha + (N-1)/N M/beta, one alpha more at N = 2^k + 1; unaggregated (N-1) alpha; "
        "reduce_scatter as much and (N-1)/N M/gamma",
        "full_mesh",
        "Jeaugey 2025; NCCL 2.23",
    ),
)
