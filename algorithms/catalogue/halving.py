"""Recursive halving and doubling (Thakur, Rabenseifner and Gropp 2005).

Written for P = 2^f ranks and folded elsewhere: N - P ranks hand their data to a neighbour, sit
out, and are handed the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Final, Literal

import numpy as np

from algorithms.algorithm import Algorithm
from algorithms.assembly import assemble, check_moves
from algorithms.collective import make_collective
from algorithms.compose import core_ranks, dual, fold, then
from algorithms.rounds import Round, Totals
from algorithms.schedule import REDUCE, Schedule, Step

Order = Literal["far", "near"]


def _distances(ranks: int, order: Order) -> list[int]:
    near = [1 << k for k in range(ranks.bit_length() - 1)]
    return near if order == "near" else near[::-1]


def halving_steps(ranks: int, order: Order = "far") -> Iterator[Step]:
    """Recursive halving ReduceScatter on P = 2^f ranks: swap the half that the partner keeps.

    In the step of distance d rank i exchanges with i XOR d those of its live chunks that agree
    with the partner in bit d; the rest stays live. Rank i ends with chunk i.

    Parameters
    ----------
    ranks : int
        P.
    order : {'far', 'near'}
        Distance P/2 first (the first seed's order: contiguous halves), or distance 1 first.
    """
    check_moves(ranks * (ranks - 1))
    rank = np.arange(ranks)
    live = np.tile(rank, (ranks, 1))
    for distance in _distances(ranks, order):
        keep = (live & distance) == (rank & distance)[:, None]
        yield (rank, rank ^ distance, live[~keep].reshape(ranks, -1), REDUCE)
        live = live[keep].reshape(ranks, -1)


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

    collective = make_collective(kind, ranks, size)
    return replace(core(ranks), collective=collective) if _fits(ranks) else fold(collective, core)


def recursive_doubling(
    kind: str,
    ranks: int,
    size: int,
    order: Order = "near",
) -> Schedule:
    """Recursive doubling: AllGather (the dual of recursive halving), full-vector AllReduce, Barrier.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`.
    order : {'near', 'far'}
        Which distance comes first.

    Notes
    -----
    Folded, all take f + 2 steps. A Barrier gathers the tokens of all ranks, of no bytes.
    """

    def core(p: int) -> Schedule:
        if kind == "allreduce":
            return assemble(
                make_collective(kind, p, p, blocks=1),
                _exchange_steps(p, order),
                algorithm="recursive_doubling",
            )
        opposite: Order = "far" if order == "near" else "near"
        halving = assemble(
            make_collective("reduce_scatter", p, p),
            halving_steps(p, opposite),
            algorithm="recursive_doubling",
        )
        gather = dual(halving, make_collective("allgather", p, p))
        return gather if kind == "allgather" else replace(gather, collective=make_collective(kind, p, 0))

    collective = make_collective(kind, ranks, size, blocks=1 if kind == "allreduce" else None)
    return replace(core(ranks), collective=collective) if _fits(ranks) else fold(collective, core)


def _exchange_steps(ranks: int, order: Order) -> Iterator[Step]:
    """Recursive doubling AllReduce: exchange the whole vector, chunk 0, with i XOR distance."""
    rank = np.arange(ranks)
    for distance in _distances(ranks, order):
        yield (rank, rank ^ distance, np.zeros(ranks, dtype=np.int64), REDUCE)


def rabenseifner(
    kind: str,
    ranks: int,
    size: int,
    order: Order = "far",
) -> Schedule:
    """Rabenseifner's AllReduce: recursive halving, then recursive doubling; 2 log2 N steps.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`.
    order : {'far', 'near'}
        Which distance the halving begins with; the doubling mirrors it.

    Notes
    -----
    Folded with full vectors, as MPICH does, it takes 2 f + 2 steps and cuts the vector into P
    blocks.
    """

    def core(p: int) -> Schedule:
        scatter = assemble(make_collective("reduce_scatter", p, p), halving_steps(p, order))
        gather = dual(scatter, make_collective("allgather", p, p))
        return then([scatter, gather], make_collective(kind, p, p), algorithm="rabenseifner")

    collective = make_collective(kind, ranks, size, blocks=core_ranks(ranks))
    return replace(core(ranks), collective=collective) if _fits(ranks) else fold(collective, core)


def _fits(ranks: int) -> bool:
    return ranks.bit_count() == 1


def halving_rounds(
    kind: str,
    ranks: int,
    size: int,
    order: Order | None = None,
) -> tuple[Round, ...]:
    """Sum over j of alpha + M/2^j (1/beta + 1/gamma), for ReduceScatter, AllGather and AllReduce.

    Folded, with rest = N - P: in the step that leaves P/2^j of the P virtual blocks, the largest
    message holds them and the excluded ranks' blocks among them; before it comes a message of M,
    after it one of M/N (ReduceScatter), and the mirror of that for AllGather.
    """
    p = core_ranks(ranks)
    rest = ranks - p
    if kind == "allreduce":
        return _allreduce_rounds(p, rest, size)
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


def _allreduce_rounds(p: int, rest: int, size: int) -> tuple[Round, ...]:
    sent = [Fraction(size, 1 << j) for j in range(1, p.bit_length())]
    inner = (*(Round(1, s, fan_in=1) for s in sent), *(Round(1, s) for s in sent))
    whole = Fraction(size)
    return (Round(1, whole, fan_in=1), *inner, Round(1, whole)) if rest else inner


def doubling_rounds(
    kind: str,
    ranks: int,
    size: int,
    order: Order | None = None,
) -> tuple[Round, ...]:
    """AllGather as `halving_rounds`; AllReduce log2 N (alpha + M/beta + M/gamma), folded 2 rounds more."""
    if kind == "allgather":
        return halving_rounds(kind, ranks, size, order)
    if kind == "barrier":
        return (Round(ranks.bit_length() - 1 + 2 * (not _fits(ranks)), Fraction(0)),)
    whole = Fraction(size)
    exchanges = ranks.bit_length() - 1
    if _fits(ranks):
        return (Round(exchanges, whole, fan_in=1),)
    return (Round(exchanges + 1, whole, fan_in=1), Round(1, whole))


def halving_totals(kind: str, ranks: int) -> Totals:
    """P log2 P messages of P - 1 vectors in all; folded, each of N - P ranks gives and takes one more."""
    p = core_ranks(ranks)
    rest, exchanges = ranks - p, p * (p.bit_length() - 1)
    inner, folded = Fraction(p - 1), Fraction(rest, ranks)
    if kind == "allreduce":
        return Totals(2 * (exchanges + rest), 2 * (inner + rest), inner + rest)
    sent = inner + folded + (rest if kind == "reduce_scatter" else rest - folded)
    return Totals(exchanges + 2 * rest, sent, inner + rest if kind == "reduce_scatter" else Fraction(0))


def doubling_totals(kind: str, ranks: int) -> Totals:
    """AllGather as `halving_totals`; AllReduce P log2 P whole vectors; Barrier as many tokens."""
    if kind == "allgather":
        return halving_totals(kind, ranks)
    p = core_ranks(ranks)
    rest, exchanges = ranks - p, p * (p.bit_length() - 1)
    if kind == "barrier":
        return Totals(exchanges + 2 * rest, Fraction(0))
    return Totals(exchanges + 2 * rest, Fraction(exchanges + 2 * rest), Fraction(exchanges + rest))


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
    ),
    Algorithm(
        "recursive_doubling",
        ("allgather", "allreduce", "barrier"),
        recursive_doubling,
        doubling_rounds,
        doubling_totals,
        "log2(N) alpha + (N-1)/N M/beta; allreduce log2(N)(alpha + M/beta + M/gamma)",
        "hypercube",
        "Thakur, Rabenseifner and Gropp 2005",
        power_of_two=True,
        constraint="N = 2^k; folds elsewhere",
        keeps_order="any root",
    ),
    Algorithm(
        "rabenseifner",
        ("allreduce",),
        rabenseifner,
        halving_rounds,
        halving_totals,
        "2 log2(N) alpha + (N-1)/N M (2/beta + 1/gamma)",
        "hypercube",
        "Rabenseifner 2004",
        power_of_two=True,
        constraint="N = 2^k; folds elsewhere",
    ),
)
