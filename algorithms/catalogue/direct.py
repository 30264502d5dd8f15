"""One hop from everybody to everybody."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

import numpy as np

from algorithms.algorithm import Algorithm
from algorithms.assembly import assemble, check_moves
from algorithms.collective import make_collective
from algorithms.compose import dual
from algorithms.rounds import Round, Totals, least
from algorithms.schedule import REDUCE, Ranges, Schedule, Step


def direct_steps(ranks: int, *, whole: bool) -> Iterator[Step]:
    """One step: each rank sends to every other, nearest to the right first.

    Parameters
    ----------
    ranks : int
        N.
    whole : bool
        The whole vector (AllReduce), or only the receiver's block (ReduceScatter).
    """
    check_moves(ranks * (ranks - 1) * (ranks if whole else 1))
    rank = np.arange(ranks)
    if ranks > 1:
        src = np.repeat(rank, ranks - 1)
        dst = (src + np.tile(np.arange(1, ranks), ranks)) % ranks
        everything = Ranges(np.zeros(len(src), dtype=np.int64), np.full(len(src), ranks))
        yield (src, dst, everything if whole else dst, REDUCE)


def direct(kind: str, ranks: int, size: int) -> Schedule:
    """ReduceScatter, AllGather, or one-shot AllReduce, in one step of N - 1 messages a rank."""
    if kind == "allreduce":
        steps = direct_steps(ranks, whole=True)
        return assemble(make_collective(kind, ranks, size), steps, algorithm="direct")
    scatter = make_collective("reduce_scatter", ranks, size)
    schedule = assemble(scatter, direct_steps(ranks, whole=False), algorithm="direct")
    return schedule if kind == "reduce_scatter" else dual(schedule, make_collective(kind, ranks, size))


def direct_rounds(kind: str, ranks: int, size: int) -> tuple[Round, ...]:
    """With N - 1 ports: alpha + M/N / beta (M / beta for AllReduce), and N - 1 reductions."""
    sent = Fraction(size) if kind == "allreduce" else Fraction(size, ranks)
    return (Round(min(1, ranks - 1), sent, fan_in=0 if kind == "allgather" else ranks - 1),)


def direct_totals(kind: str, ranks: int) -> Totals:
    """N (N - 1) messages: of one block each, or of the whole vector for a one-shot AllReduce."""
    messages = ranks * (ranks - 1)
    if kind == "allreduce":
        return Totals(messages, Fraction(messages), Fraction(messages))
    return Totals(messages, Fraction(0)) + least(kind, ranks)


DIRECT: Final = (
    Algorithm(
        "direct",
        ("reduce_scatter", "allgather", "allreduce"),
        direct,
        direct_rounds,
        direct_totals,
        "alpha + M/N/beta + (N-1) M/N/gamma; allreduce alpha + M/beta + (N-1) M/gamma",
        "full_mesh",
        "Chan, Heimlich, Purkayastha and van de Geijn 2007",
    ),
)
