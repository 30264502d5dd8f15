"""Rabenseifner's AllReduce (2004): recursive halving, then recursive doubling."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Final, Literal

import numpy as np

from algorithms.algorithm import Algorithm
from algorithms.assembly import assemble
from algorithms.catalogue.halving import Order, halving_of_rank_0, halving_steps
from algorithms.collective import Collective, make_collective
from algorithms.compose import core_ranks, fold, fold_players, is_power_of_two, on, then
from algorithms.duality import dual
from algorithms.representative import Representative, followed, mirrored
from algorithms.rounds import Round, Totals
from algorithms.schedule import COPY, REDUCE, Lists, Ranges, Schedule, Step

Fold = Literal["mpich", "openmpi"]


def rabenseifner(
    kind: str,
    ranks: int,
    size: int,
    order: Order = "far",
    fold: Fold = "mpich",
) -> Schedule:
    """Rabenseifner's AllReduce: recursive halving, then recursive doubling; 2 log2 N steps.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`.
    order : {'far', 'near'}
        Which distance the halving begins with; the doubling mirrors it.
    fold : {'mpich', 'openmpi'}
        How the ranks past P = 2^f take part, where there are any: an even rank hands its whole vector to
        the odd one after it (2 f + 2 steps), or the two swap halves, and the even one goes on with both
        (2 f + 3 steps). The vector is cut into P blocks.
    """
    return _folded(make_collective(kind, ranks, size, blocks=core_ranks(ranks)), order, fold)


def _core(p: int, order: Order) -> Schedule:
    scatter = assemble(make_collective("reduce_scatter", p, p), halving_steps(p, order))
    gather = dual(scatter, make_collective("allgather", p, p))
    return then([scatter, gather], make_collective("allreduce", p, p), algorithm="rabenseifner")


def rabenseifner_of_rank_0(
    kind: str, ranks: int, size: int, order: Order = "far", **_fold: Fold
) -> Representative | None:
    """Rank 0's part among 2^k ranks, where nobody folds, under XOR."""
    scatter = halving_of_rank_0("reduce_scatter", ranks, size, order)
    if scatter is None:
        return None
    gather = mirrored(scatter, make_collective("allgather", ranks, size))
    return followed([scatter, gather], make_collective(kind, ranks, size), algorithm="rabenseifner")


def _folded(collective: Collective, order: Order, how: Fold) -> Schedule:
    if how == "mpich" or is_power_of_two(collective.ranks):
        return fold(collective, lambda p: _core(p, order))
    p = core_ranks(collective.ranks)
    rest, players = collective.ranks - p, fold_players(collective.ranks, keeps="even")
    parts = [
        assemble(collective, swap_steps(p, rest)),
        on(_core(p, order), collective, players, Lists(np.arange(p + 1), np.arange(p))),
        assemble(collective, [(players[:rest], players[:rest] + 1, _range(0, p, rest), COPY)]),
    ]
    return replace(then(parts, collective, algorithm="rabenseifner"), fallback="fold")


def swap_steps(p: int, rest: int) -> Iterator[Step]:
    """Ranks 2v and 2v + 1 reduce half the vector each, and 2v is handed the other half."""
    even = 2 * np.arange(rest)
    lower, upper = _range(0, p // 2, rest), _range(p // 2, p // 2, rest)
    yield [(even, even + 1, upper, REDUCE), (even + 1, even, lower, REDUCE)]
    yield (even + 1, even, upper, COPY)


def _range(first: int, count: int, times: int) -> Ranges:
    return Ranges(np.full(times, first), np.full(times, count))


def rabenseifner_rounds(_kind: str, ranks: int, size: int, fold: Fold = "mpich") -> tuple[Round, ...]:
    """Sum over j of 2 alpha + M/2^j (2/beta + 1/gamma).

    Folded, two rounds of M more, the first reduced; or two of M/2, the first reduced, and one of M.
    """
    p = core_ranks(ranks)
    whole = Fraction(size)
    sent = [whole / (1 << j) for j in range(1, p.bit_length())]
    inner = (*(Round(1, s, fan_in=1) for s in sent), *(Round(1, s) for s in sent))
    if ranks == p:
        return inner
    if fold == "mpich":
        return (Round(1, whole, fan_in=1), *inner, Round(1, whole))
    return (Round(1, whole / 2, fan_in=1), Round(1, whole / 2), *inner, Round(1, whole))


def rabenseifner_totals(_kind: str, ranks: int, fold: Fold = "mpich") -> Totals:
    """2 P log2 P messages of 2 (P - 1) vectors; a rank past P adds two vectors, or three halves and one."""
    p = core_ranks(ranks)
    rest, inner = ranks - p, Fraction(p - 1)
    messages, sent = (2, Fraction(2)) if fold == "mpich" else (4, Fraction(5, 2))
    exchanges = 2 * p * (p.bit_length() - 1)
    return Totals(exchanges + messages * rest, 2 * inner + sent * rest, inner + rest)


RABENSEIFNER: Final = (
    Algorithm(
        "rabenseifner",
        ("allreduce",),
        rabenseifner,
        rabenseifner_rounds,
        rabenseifner_totals,
        "2 log2(N) alpha + (N-1)/N M (2/beta + 1/gamma)",
        "hypercube",
        "Rabenseifner 2004",
        power_of_two=True,
        constraint="N = 2^k; folds elsewhere",
        representative=rabenseifner_of_rank_0,
    ),
)
