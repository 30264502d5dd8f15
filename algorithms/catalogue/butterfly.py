"""Traeff's butterfly ReduceScatter (2005), which sums in the order of the ranks."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from algorithms.algorithm import Algorithm
from algorithms.assembly import assemble
from algorithms.catalogue.halving import halving_steps
from algorithms.collective import make_collective
from algorithms.compose import core_ranks, fold_players, is_power_of_two
from algorithms.rounds import Round, Totals
from algorithms.schedule import COPY, REDUCE, Ranges, Schedule, Step, check_moves

if TYPE_CHECKING:
    from numpy.typing import NDArray

Permute = Literal["after", "before"]


def butterfly_steps(ranks: int) -> Iterator[Step]:
    """Traeff's butterfly: halve the vector at distances 1, 2, 4, ..., then pass the blocks to their ranks.

    Of 2 (N - P) ranks the even ones hand over to the next and are passed their blocks in the end.
    Of the P that go on, the one whose number reads backwards as b ends with block b.
    """
    check_moves(ranks * ranks)
    p = core_ranks(ranks)
    rest, virtual = ranks - p, np.arange(p)
    player = fold_players(ranks, keeps="odd")
    if rest:
        even = 2 * np.arange(rest)
        yield (even, even + 1, _blocks(np.zeros_like(even), ranks, 0), REDUCE)
    low = np.zeros_like(virtual)
    for distance in (1 << j for j in range(p.bit_length() - 1)):
        half = p // (2 * distance)
        upper = (virtual & distance) > 0
        yield (player, player[virtual ^ distance], _blocks(low + half * ~upper, half, rest), REDUCE)
        low += half * upper
    shared, swapped = low < rest, low != virtual
    spare = (player[shared], 2 * low[shared], 2 * low[shared], COPY)
    own = (player[swapped], player[low[swapped]], player[low[swapped]], COPY)
    if rest > 1:
        # some rank has two blocks to pass on, and one port
        yield spare
        yield own
    elif rest or p > 2:
        yield [spare, own]


def _blocks(low: NDArray[np.int64], blocks: int, rest: int) -> Ranges:
    """Chunks of the P blocks low, low + 1, ...: of each of the first N - P there are two."""
    high = low + blocks
    first = low + np.minimum(low, rest)
    return Ranges(first, high + np.minimum(high, rest) - first)


def butterfly(kind: str, ranks: int, size: int, permute: Permute = "after") -> Schedule:
    """Butterfly ReduceScatter: distances 1, 2, 4, ..., and a swap of the blocks that are not at home.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`.
    permute : {'after', 'before'}
        Whether blocks are swapped at the end; or, where N = 2^k, put into such an order in memory before
        the first step that there is no need to (Open MPI's reduce_scatter and reduce_scatter_block).
    """
    at_home = permute == "before" and is_power_of_two(ranks)
    steps = halving_steps(ranks, "near") if at_home else butterfly_steps(ranks)
    return assemble(make_collective(kind, ranks, size), steps, algorithm="butterfly")


def butterfly_rounds(_kind: str, ranks: int, size: int, permute: Permute = "after") -> tuple[Round, ...]:
    """Sum over j of alpha + M/2^j (1/beta + 1/gamma), and the swap, alpha + M/N / beta.

    Elsewhere than at N = 2^k, before it a message of M that is reduced; in the step that leaves P/2^j
    of the P blocks, those that hold two ranks'; and two swaps where more than one rank has two to pass on.
    """
    p = core_ranks(ranks)
    rest, block = ranks - p, Fraction(size, ranks)
    halves = [p >> j for j in range(1, p.bit_length())]
    inner = tuple(Round(1, block * (half + min(half, rest)), fan_in=1) for half in halves)
    if not rest:
        return (*inner, Round(1, block)) if p > 2 and permute == "after" else inner
    return (Round(1, Fraction(size), fan_in=1), *inner, Round(1 + (rest > 1), block))


def butterfly_totals(_kind: str, ranks: int, permute: Permute = "after") -> Totals:
    """P log2 P messages of P - 1 vectors; N - P vectors handed over, their blocks, and those swapped."""
    p = core_ranks(ranks)
    rest, exponent = ranks - p, p.bit_length() - 1
    # as many numbers of f bits read the same backwards as there are of ceil(f / 2)
    swapped = 0 if permute == "before" and not rest else p - (1 << -(-exponent // 2))
    passed = rest + swapped
    sent = p - 1 + rest + Fraction(passed, ranks)
    return Totals(p * exponent + rest + passed, sent, Fraction(p - 1 + rest))


BUTTERFLY: Final = (
    Algorithm(
        "butterfly",
        ("reduce_scatter",),
        butterfly,
        butterfly_rounds,
        butterfly_totals,
        "(log2(N) + 1) alpha + M/beta + (N-1)/N M/gamma",
        "full_mesh",
        "Traeff 2005",
        keeps_order="any root",
    ),
)
