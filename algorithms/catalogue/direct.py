"""One hop from everybody to everybody, or between the root and everybody."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.algorithm import Algorithm
from algorithms.assembly import assemble
from algorithms.collective import KINDS, make_collective
from algorithms.compose import then
from algorithms.duality import dual
from algorithms.representative import (
    RANK_0,
    Representative,
    collective_of_rank_0,
    followed,
    mirrored,
    representative,
)
from algorithms.rounds import Round, Totals, least
from algorithms.schedule import COPY, REDUCE, Schedule, Step, check_moves

if TYPE_CHECKING:
    from numpy.typing import NDArray

WHOLE: Final = ("broadcast", "reduce", "allreduce", "send_recv")
"""Collectives of which every message is the whole vector; of the others it is a block."""


def direct_steps(kind: str, ranks: int, senders: NDArray[np.int64] | None = None) -> Iterator[Step]:
    """One step: each rank sends to every other, nearest to the right first.

    Parameters
    ----------
    kind : {'reduce_scatter', 'all_to_all', 'allreduce'}
        Whether it sends the receiver's block, its own block for the receiver, or the whole vector.
    ranks : int
        N.
    senders : ndarray of int64, optional
        The ranks whose part is asked for; default all.
    """
    rank = np.arange(ranks) if senders is None else senders
    check_moves(len(rank) * (ranks - 1))
    if ranks > 1:
        src = np.repeat(rank, ranks - 1)
        dst = (src + np.tile(np.arange(1, ranks), len(rank))) % ranks
        chunk = {"reduce_scatter": dst, "all_to_all": src * ranks + dst, "allreduce": np.zeros_like(src)}
        yield (src, dst, chunk[kind], COPY if kind == "all_to_all" else REDUCE)


def spread_steps(kind: str, ranks: int, root: int, peer: int | None) -> Iterator[Step]:
    """One step: the root sends to every other rank, nearest to the left first; or only to its peer."""
    receivers = (root - np.arange(1, ranks)) % ranks
    if kind == "send_recv":
        receivers = receivers[-1:] if peer is None else np.full(min(1, ranks - 1), peer)
    if ranks > 1:
        chunk = receivers if kind == "scatter" else np.zeros_like(receivers)
        yield (np.full_like(receivers, root), receivers, chunk, COPY)


def direct(kind: str, ranks: int, size: int, root: int = 0, peer: int | None = None) -> Schedule:
    """Everything in one hop: in a single step every rank sends to all that need what it has.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`. An AllReduce is one-shot: everybody sends everybody the whole vector.
    root, peer : int
        Of the collectives that have them.
    """
    collective = make_collective(kind, ranks, size, blocks=1 if kind in WHOLE else None, root=root, peer=peer)
    forward = {"allgather": "reduce_scatter", "gather": "scatter", "reduce": "broadcast"}.get(kind, kind)
    if forward != kind:
        return dual(direct(forward, ranks, size, root), collective)
    if KINDS[kind].rooted:
        return assemble(collective, spread_steps(kind, ranks, root, peer), algorithm="direct")
    return assemble(collective, direct_steps(kind, ranks), algorithm="direct")


def direct_of_rank_0(kind: str, ranks: int, size: int, **_rooted: int) -> Representative | None:
    """Rank 0's part of what has no root, under rotations."""
    if kind == "allgather":
        scatter = direct_of_rank_0("reduce_scatter", ranks, size)
        return scatter and mirrored(scatter, make_collective(kind, ranks, size))
    if KINDS[kind].rooted:
        return None
    collective = collective_of_rank_0(kind, ranks, size, 1 if kind in WHOLE else None)
    return representative(collective, direct_steps(kind, ranks, RANK_0), (ranks,), algorithm="direct")


def direct_rounds(kind: str, ranks: int, size: int) -> tuple[Round, ...]:
    """With N - 1 ports alpha + M/N / beta, or M / beta; N - 1 reductions where messages are summed."""
    sent = Fraction(size) if kind in WHOLE else Fraction(size, ranks)
    return (Round(min(1, ranks - 1), sent, fan_in=ranks - 1 if KINDS[kind].source == "every" else 0),)


def direct_totals(kind: str, ranks: int) -> Totals:
    """N (N - 1) messages, or N - 1 to or from a root; as few bytes as can be but for a one-shot AllReduce."""
    messages = ranks * (ranks - 1)
    if kind == "allreduce":
        return Totals(messages, Fraction(messages), Fraction(messages))
    if kind == "send_recv":
        messages = min(1, ranks - 1)
    elif KINDS[kind].rooted:
        messages = ranks - 1
    return least(kind, ranks, messages)


def two_shot(kind: str, ranks: int, size: int) -> Schedule:
    """AllReduce in two hops: a direct ReduceScatter, then a direct AllGather."""
    parts = [direct(half, ranks, size) for half in ("reduce_scatter", "allgather")]
    return then(parts, make_collective(kind, ranks, size), algorithm="two_shot")


def two_shot_of_rank_0(kind: str, ranks: int, size: int) -> Representative:
    """Rank 0's part, under rotations."""
    parts = [direct_of_rank_0(half, ranks, size) for half in ("reduce_scatter", "allgather")]
    collective = make_collective(kind, ranks, size)
    return followed([part for part in parts if part], collective, algorithm="two_shot")


def two_shot_rounds(_kind: str, ranks: int, size: int) -> tuple[Round, ...]:
    """2 (alpha + M/N / beta), and N - 1 reductions in the first step."""
    halves = [direct_rounds(half, ranks, size) for half in ("reduce_scatter", "allgather")]
    return (*halves[0], *halves[1])


def two_shot_totals(kind: str, ranks: int) -> Totals:
    """2 N (N - 1) messages; as few bytes as can be."""
    return least(kind, ranks, 2 * ranks * (ranks - 1))


DIRECT: Final = (
    Algorithm(
        "direct",
        (
            "reduce_scatter",
            "allgather",
            "allreduce",
            "all_to_all",
            "scatter",
            "gather",
            "broadcast",
            "reduce",
            "send_recv",
        ),
        direct,
        direct_rounds,
        direct_totals,
        "alpha + M/N/beta + (N-1) M/N/gamma; allreduce, broadcast, reduce alpha + M/beta + (N-1) M/gamma",
        "full_mesh",
        "Chan, Heimlich, Purkayastha and van de Geijn 2007",
        representative=direct_of_rank_0,
    ),
    Algorithm(
        "two_shot",
        ("allreduce",),
        two_shot,
        two_shot_rounds,
        two_shot_totals,
        "2 (alpha + M/N/beta) + (N-1) M/N/gamma",
        "full_mesh",
        "Cowan et al. 2023 (MSCCLang, all pairs)",
        representative=two_shot_of_rank_0,
    ),
)
