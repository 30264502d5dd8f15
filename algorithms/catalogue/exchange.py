"""Exchanges with one partner after the other, or with a group of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from algorithms.algorithm import Algorithm
from algorithms.assembly import assemble
from algorithms.catalogue.halving import cube
from algorithms.catalogue.radix import strides
from algorithms.catalogue.ring import ring, ring_rounds, ring_totals
from algorithms.collective import make_collective
from algorithms.compose import is_power_of_two
from algorithms.representative import RANK_0, Representative, collective_of_rank_0, representative
from algorithms.rounds import Round, Totals, least
from algorithms.schedule import COPY, REDUCE, Schedule, Step, Transfers, check_moves

if TYPE_CHECKING:
    from numpy.typing import NDArray

Partner = Literal["shift", "xor"]


def pairwise_steps(
    kind: str, ranks: int, partner: Partner, senders: NDArray[np.int64] | None = None
) -> Iterator[Step]:
    """In step i rank r sends its block to r + i and receives from r - i, or swaps with r XOR i."""
    rank = np.arange(ranks) if senders is None else senders
    check_moves(len(rank) * (ranks - 1))
    swaps = partner == "xor" and is_power_of_two(ranks)
    for i in range(1, ranks):
        to = rank ^ i if swaps else (rank + i) % ranks
        yield (rank, to, to, REDUCE) if kind == "reduce_scatter" else (rank, to, rank * ranks + to, COPY)


def pairwise(kind: str, ranks: int, size: int, partner: Partner = "shift") -> Schedule:
    """Pairwise exchange: N - 1 steps, in each of which a rank sends one block and receives one.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`.
    partner : {'shift', 'xor'}
        To whom in step i: the rank i further on, as Open MPI does; or, where N = 2^k, the rank whose
        number differs in the bits of i, as MPICH does in an All-to-All.
    """
    steps = pairwise_steps(kind, ranks, partner)
    return assemble(make_collective(kind, ranks, size), steps, algorithm="pairwise")


def pairwise_of_rank_0(kind: str, ranks: int, size: int, partner: Partner = "shift") -> Representative:
    """Rank 0's part, under rotations or XOR."""
    swaps = partner == "xor" and is_power_of_two(ranks)
    collective, steps = collective_of_rank_0(kind, ranks, size), pairwise_steps(kind, ranks, partner, RANK_0)
    return representative(collective, steps, cube(ranks) if swaps else (ranks,), algorithm="pairwise")


def pairwise_rounds(kind: str, ranks: int, size: int) -> tuple[Round, ...]:
    """(N - 1)(alpha + M/N / beta), and M/N / gamma where blocks are summed."""
    return (Round(ranks - 1, Fraction(size, ranks), fan_in=int(kind == "reduce_scatter")),)


def pairwise_totals(kind: str, ranks: int) -> Totals:
    """N messages a step; as few bytes as can be."""
    return least(kind, ranks, ranks * (ranks - 1))


def neighbor_steps(ranks: int) -> Iterator[Step]:
    """Pairs 2v, 2v + 1 swap blocks; then ranks swap what they got last with either neighbour in turn."""
    rank = np.arange(ranks)
    side = 1 - 2 * (rank % 2)
    yield (rank, rank + side, rank, COPY)
    # the pair of blocks that a rank has got last, by the lower one
    pair = rank - rank % 2
    for _ in range(1, ranks // 2):
        side = -side
        neighbor = (rank + side) % ranks
        yield (rank, neighbor, pair[:, None] + np.arange(2), COPY)
        pair = pair[neighbor]


def neighbor_exchange(kind: str, ranks: int, size: int) -> Schedule:
    """Neighbour exchange AllGather: N/2 steps of two blocks, to the right and to the left in turn.

    Notes
    -----
    An odd number of ranks does a ring.
    """
    if ranks % 2 and ranks > 1:
        return replace(ring(kind, ranks, size), fallback="ring")
    steps = neighbor_steps(ranks) if ranks > 1 else ()
    return assemble(make_collective(kind, ranks, size), steps, algorithm="neighbor_exchange")


def neighbor_exchange_rounds(kind: str, ranks: int, size: int) -> tuple[Round, ...]:
    """A round of M/N, then N/2 - 1 of 2 M/N; a ring where N is odd."""
    if ranks % 2:
        return ring_rounds(kind, ranks, size)
    block = Fraction(size, ranks)
    return (Round(1, block), Round(ranks // 2 - 1, 2 * block))


def neighbor_exchange_totals(kind: str, ranks: int) -> Totals:
    """N messages a step; as few bytes as can be."""
    if ranks % 2:
        return ring_totals(kind, ranks)
    return least(kind, ranks, ranks * ranks // 2)


def power_below(ranks: int, radix: int) -> int:
    """k^m, the highest that is not above N.

    >>> power_below(15, 4), power_below(16, 4)
    (4, 16)
    """
    return strides(ranks + 1, radix)[-1]


def group_steps(ranks: int, radix: int) -> Iterator[Step]:
    """Ranks past P = k^m hand over to i mod P; groups of k swap all they have; those are handed the sum."""
    p = power_below(ranks, radix)
    rank, rest = np.arange(p), np.arange(p, ranks)
    if len(rest):
        yield (rest, rest % p, np.zeros_like(rest), REDUCE)
    for distance in strides(p, radix):
        digit = rank // distance % radix
        groups: list[Transfers] = []
        for i in range(1, radix):
            other = rank + ((digit + i) % radix - digit) * distance
            groups.append((rank, other, np.zeros_like(rank), REDUCE))
        yield groups
    if len(rest):
        yield (rest % p, rest, np.zeros_like(rest), COPY)


def recursive_multiplying(kind: str, ranks: int, size: int, radix: int = 4) -> Schedule:
    """Recursive multiplying AllReduce: groups of k exchange whole vectors, at distances 1, k, k^2, ...

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`.
    radix : int
        k: a rank sends k - 1 messages in a round. With 2 it is recursive doubling.

    Raises
    ------
    ScheduleError
        If k is less than 2.
    """
    collective = make_collective(kind, ranks, size, blocks=1)
    return assemble(collective, group_steps(ranks, radix), algorithm="recursive_multiplying")


def recursive_multiplying_rounds(_kind: str, ranks: int, size: int, radix: int = 4) -> tuple[Round, ...]:
    """log_k N (alpha + M/beta + (k-1) M/gamma); two rounds more for ranks past k^m."""
    p, whole = power_below(ranks, radix), Fraction(size)
    rest = ranks - p
    inner = (Round(len(strides(p, radix)), whole, fan_in=radix - 1),)
    return (Round(1, whole, fan_in=-(-rest // p)), *inner, Round(1, whole)) if rest else inner


def recursive_multiplying_totals(_kind: str, ranks: int, radix: int = 4) -> Totals:
    """P (k - 1) log_k P whole vectors, and two for each rank past P = k^m."""
    p = power_below(ranks, radix)
    rest, exchanges = ranks - p, p * (radix - 1) * len(strides(p, radix))
    return Totals(exchanges + 2 * rest, Fraction(exchanges + 2 * rest), Fraction(exchanges + rest))


EXCHANGE: Final = (
    Algorithm(
        "pairwise",
        ("all_to_all", "reduce_scatter"),
        pairwise,
        pairwise_rounds,
        pairwise_totals,
        "(N-1)(alpha + M/N/beta + M/N/gamma)",
        "full_mesh",
        "Thakur, Rabenseifner and Gropp 2005",
        representative=pairwise_of_rank_0,
    ),
    Algorithm(
        "neighbor_exchange",
        ("allgather",),
        neighbor_exchange,
        neighbor_exchange_rounds,
        neighbor_exchange_totals,
        "N/2 alpha + (N-1)/N M/beta",
        "ring",
        "Chen, Zhang, Zhang and Yuan 2005",
        constraint="N even; a ring elsewhere",
    ),
    Algorithm(
        "recursive_multiplying",
        ("allreduce",),
        recursive_multiplying,
        recursive_multiplying_rounds,
        recursive_multiplying_totals,
        "log_k(N)(alpha + M/beta + (k-1) M/gamma)",
        "full_mesh",
        "Ruefenacht, Bull and Booth 2017; MPICH 5.0.2",
        constraint="N = k^m; elsewhere ranks past k^m hand over and are handed the sum",
    ),
)
