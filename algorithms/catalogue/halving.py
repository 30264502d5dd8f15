"""Recursive halving and doubling (Thakur, Rabenseifner and Gropp 2005).

Written for P = 2^f ranks and folded elsewhere: N - P ranks hand their data to a neighbour, sit
out, and are handed the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from algorithms.algorithm import Algorithm
from algorithms.assembly import assemble
from algorithms.collective import make_collective
from algorithms.compose import core_ranks, fold, is_power_of_two
from algorithms.duality import dual
from algorithms.representative import RANK_0, Representative, mirrored, representative
from algorithms.rounds import Round, Totals
from algorithms.schedule import REDUCE, Ranges, Schedule, Step, check_moves

if TYPE_CHECKING:
    from numpy.typing import NDArray

Order = Literal["far", "near"]


def _distances(ranks: int, order: Order) -> list[int]:
    near = [1 << k for k in range(ranks.bit_length() - 1)]
    return near if order == "near" else near[::-1]


def halving_steps(
    ranks: int, order: Order = "far", senders: NDArray[np.int64] | None = None
) -> Iterator[Step]:
    """Recursive halving ReduceScatter on P = 2^f ranks: swap the half that the partner keeps.

    In the step of distance d rank i exchanges with i XOR d those of its live chunks that agree
    with the partner in bit d; the rest stays live. Rank i ends with chunk i.

    Parameters
    ----------
    ranks : int
        P.
    order : {'far', 'near'}
        Distance P/2 first (the first seed's order: contiguous halves), or distance 1 first.
    senders : ndarray of int64, optional
        The ranks whose part is asked for; default all.
    """
    rank = np.arange(ranks) if senders is None else senders
    if order == "far":
        yield from _contiguous_halves(rank, ranks)
        return
    check_moves(len(rank) * (ranks - 1))
    live = np.tile(np.arange(ranks), (len(rank), 1))
    for distance in _distances(ranks, order):
        keep = (live & distance) == (rank & distance)[:, None]
        yield (rank, rank ^ distance, live[~keep].reshape(len(rank), -1), REDUCE)
        live = live[keep].reshape(len(rank), -1)


def _contiguous_halves(rank: NDArray[np.int64], ranks: int) -> Iterator[Step]:
    """Halving, the farthest distance first: what is live starts at a multiple of its length."""
    for distance in _distances(ranks, "far"):
        other = (rank & -2 * distance) + (~rank & distance)
        yield (rank, rank ^ distance, Ranges(other, np.full(len(rank), distance)), REDUCE)


def recursive_halving(
    kind: str,
    ranks: int,
    size: int,
    order: Order = "far",
) -> Schedule:
    """Recursive halving ReduceScatter: log2 N steps of M/2, M/4, ..., M/N.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`.
    order : {'far', 'near'}
        Which distance comes first.

    Notes
    -----
    Folded it takes f + 2 steps.
    """

    def core(p: int) -> Schedule:
        scatter = make_collective("reduce_scatter", p, p)
        return assemble(scatter, halving_steps(p, order), algorithm="recursive_halving")

    return fold(make_collective(kind, ranks, size), core)


def doubling_steps(
    ranks: int, order: Order = "near", senders: NDArray[np.int64] | None = None
) -> Iterator[Step]:
    """Recursive doubling ReduceScatter on P = 2^f ranks: swap all blocks but those of one's own group.

    A rank's group are the 1, 2, 4, ... ranks that it has exchanged with so far, directly or by way of
    others. In the step of distance d rank i sends rank i XOR d what its group has summed of the blocks of
    all ranks outside. Rank i ends with chunk i.
    """
    rank, inside = np.arange(ranks) if senders is None else senders, 0
    check_moves(len(rank) * (ranks - 1) * (ranks.bit_length() - 1))
    for distance in _distances(ranks, order):
        outside = ((rank[:, None] ^ np.arange(ranks)) & ~inside) != 0
        yield (rank, rank ^ distance, np.nonzero(outside)[1].reshape(len(rank), -1), REDUCE)
        inside |= distance


def exchange_steps(
    ranks: int, order: Order = "near", senders: NDArray[np.int64] | None = None
) -> Iterator[Step]:
    """Recursive doubling AllReduce on P = 2^f ranks: swap the whole vector, chunk 0, with i XOR distance."""
    rank = np.arange(ranks) if senders is None else senders
    for distance in _distances(ranks, order):
        yield (rank, rank ^ distance, np.zeros_like(rank), REDUCE)


def recursive_doubling(
    kind: str,
    ranks: int,
    size: int,
    order: Order = "near",
) -> Schedule:
    """Recursive doubling: AllGather (halving's dual), ReduceScatter, full-vector AllReduce, Barrier.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`.
    order : {'near', 'far'}
        Which distance comes first.

    Notes
    -----
    Folded, all take f + 2 steps. The ReduceScatter sends more than halving does, and keeps the order of
    the ranks. A Barrier gathers the tokens of all ranks, of no bytes.
    """
    blocks = 1 if kind == "allreduce" else None

    def core(p: int) -> Schedule:
        collective = make_collective(kind, p, 0, blocks=blocks)
        if kind in ("allreduce", "reduce_scatter"):
            steps = exchange_steps if kind == "allreduce" else doubling_steps
            return assemble(collective, steps(p, order), algorithm="recursive_doubling")
        opposite: Order = "far" if order == "near" else "near"
        scatter = make_collective("reduce_scatter", p, 0)
        halving = assemble(scatter, halving_steps(p, opposite), algorithm="recursive_doubling")
        gather = dual(halving, make_collective("allgather", p, 0))
        return replace(gather, collective=collective)

    return fold(make_collective(kind, ranks, size, blocks=blocks), core)


def halving_of_rank_0(kind: str, ranks: int, size: int, order: Order = "far") -> Representative | None:
    """Rank 0's part among 2^k ranks, under XOR."""
    if not is_power_of_two(ranks):
        return None
    collective, steps = make_collective(kind, ranks, size), halving_steps(ranks, order, RANK_0)
    return representative(collective, steps, cube(ranks), algorithm="recursive_halving")


def doubling_of_rank_0(kind: str, ranks: int, size: int, order: Order = "near") -> Representative | None:
    """Rank 0's part among 2^k ranks, under XOR."""
    if not is_power_of_two(ranks):
        return None
    collective = make_collective(kind, ranks, size, blocks=1 if kind == "allreduce" else None)
    if kind in ("allreduce", "reduce_scatter"):
        steps = exchange_steps if kind == "allreduce" else doubling_steps
        rank_0 = steps(ranks, order, RANK_0)
        return representative(collective, rank_0, cube(ranks), algorithm="recursive_doubling")
    opposite: Order = "far" if order == "near" else "near"
    scatter = make_collective("reduce_scatter", ranks, size)
    halving = halving_steps(ranks, opposite, RANK_0)
    return mirrored(representative(scatter, halving, cube(ranks), algorithm="recursive_doubling"), collective)


def cube(ranks: int) -> tuple[int, ...]:
    """Dimensions of a hypercube of 2^k ranks.

    >>> cube(8), cube(1)
    ((2, 2, 2), ())
    """
    return (2,) * (ranks.bit_length() - 1)


def halving_rounds(
    kind: str,
    ranks: int,
    size: int,
    order: Order | None = None,
) -> tuple[Round, ...]:
    """Sum over j of alpha + M/2^j (1/beta + 1/gamma), for ReduceScatter and AllGather.

    Folded, with rest = N - P: in the step that leaves P/2^j of the P virtual blocks, the largest
    message holds them and the excluded ranks' blocks among them; before it comes a message of M,
    after it one of M/N (ReduceScatter), and the mirror of that for AllGather.
    """
    p = core_ranks(ranks)
    rest = ranks - p
    scatters = kind == "reduce_scatter"
    far = (order or ("far" if scatters else "near")) == ("far" if scatters else "near")
    sent = []
    for j in range(1, p.bit_length()):
        excluded = min(rest, p >> j) if far else -(-rest // (1 << j))
        sent.append(Fraction(size * ((p >> j) + excluded), ranks))
    inner = tuple(Round(1, s, fan_in=int(scatters)) for s in sent)
    if not rest:
        return inner
    block = Fraction(size, ranks)
    if scatters:
        return (Round(1, Fraction(size), fan_in=1), *inner, Round(1, block))
    return (Round(1, block), *inner, Round(1, size - block))


def doubling_rounds(
    kind: str,
    ranks: int,
    size: int,
    order: Order | None = None,
) -> tuple[Round, ...]:
    """AllGather as `halving_rounds`; AllReduce log2 N (alpha + M/beta + M/gamma), folded 2 rounds more.

    ReduceScatter: sum over j of alpha + (1 - 2^j/N) M (1/beta + 1/gamma).
    """
    if kind == "allgather":
        return halving_rounds(kind, ranks, size, order)
    whole, exchanges = Fraction(size), ranks.bit_length() - 1
    if kind == "barrier":
        return (Round(exchanges + 2 * (not is_power_of_two(ranks)), whole),)
    inner: tuple[Round, ...] = (Round(exchanges, whole, fan_in=1),)
    after = whole
    if kind == "reduce_scatter":
        inner = tuple(
            Round(1, Fraction(size * (ranks - left_out), ranks), fan_in=1)
            for left_out in _left_out(ranks, order or "near")
        )
        after = whole / ranks
    return inner if is_power_of_two(ranks) else (Round(1, whole, fan_in=1), *inner, Round(1, after))


def _left_out(ranks: int, order: Order) -> list[int]:
    """Blocks that the largest message of each step leaves out: those of its sender's group.

    A group has 1, 2, 4, ... of the P ranks. Folded, the first N - P of these stand for two, and the fewer
    of them a group has, the larger its messages. With near distances first, the last of them is waited
    for most: in each step it, or the partner that sends to it, is of the upper group of the two, which
    has fewer. With far distances first, groups are spread evenly over the ranks.
    """
    p = core_ranks(ranks)
    rest, groups = ranks - p, [1 << j for j in range(p.bit_length() - 1)]
    if order == "far":
        return [group + rest * group // p for group in groups]
    last = rest - 1
    return [group + (rest % group or group if rest and last & group else 0) for group in groups]


def halving_totals(kind: str, ranks: int) -> Totals:
    """P log2 P messages of P - 1 vectors in all; folded, each of N - P ranks gives and takes one more."""
    p = core_ranks(ranks)
    rest, exchanges = ranks - p, p * (p.bit_length() - 1)
    inner, folded = Fraction(p - 1), Fraction(rest, ranks)
    sent = inner + folded + (rest if kind == "reduce_scatter" else rest - folded)
    return Totals(exchanges + 2 * rest, sent, inner + rest if kind == "reduce_scatter" else Fraction(0))


def doubling_totals(kind: str, ranks: int) -> Totals:
    """AllGather as `halving_totals`; AllReduce P log2 P whole vectors; ReduceScatter P - 1 fewer."""
    if kind == "allgather":
        return halving_totals(kind, ranks)
    p = core_ranks(ranks)
    rest, exchanges = ranks - p, p * (p.bit_length() - 1)
    messages = exchanges + 2 * rest
    if kind == "barrier":
        return Totals(messages, Fraction(0))
    if kind == "allreduce":
        return Totals(messages, Fraction(messages), Fraction(exchanges + rest))
    inner = Fraction(exchanges - (p - 1) + rest)
    return Totals(messages, inner + Fraction(rest, ranks), inner)


HALVING: Final = (
    Algorithm(
        "recursive_halving",
        ("reduce_scatter",),
        recursive_halving,
        halving_rounds,
        halving_totals,
        "log2(N) alpha + (N-1)/N M (1/beta + 1/gamma)",
        "hypercube",
        "Thakur, Rabenseifner and Gropp 2005",
        power_of_two=True,
        constraint="N = 2^k; folds elsewhere",
        representative=halving_of_rank_0,
    ),
    Algorithm(
        "recursive_doubling",
        ("allgather", "reduce_scatter", "allreduce", "barrier"),
        recursive_doubling,
        doubling_rounds,
        doubling_totals,
        "log2(N) alpha + (N-1)/N M/beta; allreduce log2(N)(alpha + M/beta + M/gamma); "
        "reduce_scatter log2(N) alpha + (log2(N) - (N-1)/N) M (1/beta + 1/gamma)",
        "hypercube",
        "Thakur, Rabenseifner and Gropp 2005",
        power_of_two=True,
        constraint="N = 2^k; folds elsewhere",
        keeps_order="any root",
        representative=doubling_of_rank_0,
    ),
)
