"""Distances that multiply, on any number of ranks: Bruck, dissemination, sparbit.

Rank i works with the ranks at 1, 2, 4, ... from it, counted round the ring of all ranks, so that
none has to sit out.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final, Literal

import numpy as np

from algorithms.algorithm import Algorithm
from algorithms.assembly import assemble
from algorithms.catalogue.radix import strides
from algorithms.collective import make_collective
from algorithms.duality import dual
from algorithms.errors import ScheduleError
from algorithms.rounds import Round, Totals, least
from algorithms.schedule import COPY, Schedule, Step, Transfers, check_moves


def gathered(ranks: int, radix: int) -> list[list[int]]:
    """Blocks in each message of a rank, round by round: as many as it has, or as the receiver lacks.

    >>> gathered(10, 2), gathered(10, 3)
    ([[1], [2], [4], [2]], [[1, 1], [3, 3], [1]])
    """
    return [
        [min(held, ranks - held * i) for i in range(1, radix) if held * i < ranks]
        for held in strides(ranks, radix)
    ]


def gather_steps(ranks: int, radix: int, direction: Literal[1, -1] = -1) -> Iterator[Step]:
    """Bruck's AllGather: with k^j blocks at hand, rank i sends them to i + d k^j, i + 2 d k^j, ...

    Parameters
    ----------
    ranks, radix : int
        N and k.
    direction : {-1, 1}
        d: a rank gathers the blocks that follow its own, or those before it.
    """
    check_moves(ranks * (ranks - 1))
    rank = np.arange(ranks)
    for turn, counts in enumerate(gathered(ranks, radix)):
        yield [
            (
                rank,
                (rank + direction * i * radix**turn) % ranks,
                (rank[:, None] - direction * np.arange(count)) % ranks,
                COPY,
            )
            for i, count in enumerate(counts, 1)
        ]


def digit_counts(ranks: int, radix: int) -> list[list[int]]:
    """For each digit of 0..N-1 in base k, how many have there 1, 2, ..., as far as any have.

    >>> digit_counts(6, 2), digit_counts(6, 3)
    ([[3], [2], [2]], [[2, 2], [3]])
    """
    number = np.arange(ranks)
    return [np.bincount(number // place % radix)[1:].tolist() for place in strides(ranks, radix)]


def digit_steps(ranks: int, radix: int) -> Iterator[Step]:
    """Bruck's All-to-All: every block moves to the right, digit by digit of its distance in base k.

    In round j it goes v k^j ranks on, where v is the j-th digit of how far it has to go in all.
    """
    counts = digit_counts(ranks, radix)
    check_moves(ranks * sum(map(sum, counts)))
    rank = way = np.arange(ranks)
    for turn, digits in enumerate(counts):
        place = radix**turn
        groups: list[Transfers] = []
        for v in range(1, len(digits) + 1):
            ahead = way[way // place % radix == v]
            source = (rank[:, None] - ahead % place) % ranks
            blocks = source * ranks + (source + ahead) % ranks
            groups.append((rank, (rank + v * place) % ranks, blocks, COPY))
        yield groups


def bruck(kind: str, ranks: int, size: int, radix: int = 2) -> Schedule:
    """Bruck's AllGather and All-to-All, and the AllGather's dual: ceil(log_k N) rounds on any N.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`.
    radix : int
        k: a rank sends up to k - 1 messages in a round. A ReduceScatter has k = 2.

    Raises
    ------
    ScheduleError
        If k is less than 2, or not 2 for a ReduceScatter.
    """
    _check(kind, radix)
    if kind == "all_to_all":
        return assemble(make_collective(kind, ranks, size), digit_steps(ranks, radix), algorithm="bruck")
    gather = make_collective("allgather", ranks, size)
    schedule = assemble(gather, gather_steps(ranks, radix), algorithm="bruck")
    return schedule if kind == "allgather" else dual(schedule, make_collective(kind, ranks, size))


def _check(kind: str, radix: int) -> None:
    if kind == "reduce_scatter" and radix != 2:
        raise ScheduleError(f"a reduce_scatter of bruck has radix 2, found {radix}", ("radix",))


def bruck_rounds(kind: str, ranks: int, size: int, radix: int = 2) -> tuple[Round, ...]:
    """ceil(log_k N) rounds of 1, k, k^2, ... blocks M/N, but fewer in the last one.

    All-to-All: as many blocks as 0..N-1 have a 1 as their j-th digit. ReduceScatter: backwards.
    """
    _check(kind, radix)
    counts = digit_counts(ranks, radix) if kind == "all_to_all" else gathered(ranks, radix)
    largest = [Fraction(size * turn[0], ranks) for turn in counts]
    if kind == "reduce_scatter":
        return tuple(Round(1, sent, fan_in=1) for sent in reversed(largest))
    return tuple(Round(1, sent) for sent in largest)


def bruck_totals(kind: str, ranks: int, radix: int = 2) -> Totals:
    """AllGather: as few bytes as can be. All-to-All: M for every digit of 0..N-1 that is not 0."""
    _check(kind, radix)
    counts = digit_counts(ranks, radix) if kind == "all_to_all" else gathered(ranks, radix)
    messages = ranks * sum(map(len, counts))
    if kind == "all_to_all":
        return Totals(messages, Fraction(sum(map(sum, counts))))
    return least(kind, ranks, messages)


def dissemination(kind: str, ranks: int, size: int, radix: int = 2) -> Schedule:
    """Dissemination Barrier: in round j rank i tells i + k^j, i + 2 k^j, ... of all that it has heard of.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`.
    radix : int
        k: a rank sends up to k - 1 messages in a round.

    Raises
    ------
    ScheduleError
        If k is less than 2.
    """
    steps = gather_steps(ranks, radix, 1)
    return assemble(make_collective(kind, ranks, size), steps, algorithm="dissemination")


def dissemination_rounds(_kind: str, ranks: int, size: int, radix: int = 2) -> tuple[Round, ...]:
    """ceil(log_k N) alpha."""
    return (Round(len(strides(ranks, radix)), Fraction(size)),)


def dissemination_totals(kind: str, ranks: int, radix: int = 2) -> Totals:
    """N messages for each of k - 1 distances in a round, but those of N and more."""
    return least(kind, ranks, ranks * sum(map(len, gathered(ranks, radix))))


def sparbit_steps(ranks: int) -> Iterator[Step]:
    """Sparbit AllGather: the farthest first, at a distance d that halves, each block a message.

    Rank i has the blocks i, i - 2d, i - 4d, ... and sends to i + d those that this one lacks of
    i + d, i, i - d, ...
    """
    rank = np.arange(ranks)
    for distance in _halving(ranks):
        behind = range(0, ranks - distance, 2 * distance)
        yield [(rank, (rank + distance) % ranks, (rank - way) % ranks, COPY) for way in behind]


def _halving(ranks: int) -> list[int]:
    """2^(L-1), ..., 2, 1 with L = ceil(log2 N)."""
    return [1 << j for j in reversed(range((ranks - 1).bit_length()))]


def sparbit(kind: str, ranks: int, size: int) -> Schedule:
    """Sparbit AllGather: a binomial tree of every rank's block, all side by side; ceil(log2 N) rounds."""
    return assemble(make_collective(kind, ranks, size), sparbit_steps(ranks), algorithm="sparbit")


def sparbit_rounds(_kind: str, ranks: int, size: int) -> tuple[Round, ...]:
    """Messages of M/N, one for each that the receiver lacks, follow each other over one link."""
    block = Fraction(size, ranks)
    rounds: list[Round] = []
    for distance in _halving(ranks):
        rounds.append(Round(1, block))
        more = len(range(0, ranks - distance, 2 * distance)) - 1
        rounds += [Round(more, block, pipelined=True)] * (more > 0)
    return tuple(rounds)


def sparbit_totals(kind: str, ranks: int) -> Totals:
    """N (N - 1) messages of a block; as few bytes as can be."""
    return least(kind, ranks, ranks * (ranks - 1))


BRUCK: Final = (
    Algorithm(
        "bruck",
        ("allgather", "all_to_all", "reduce_scatter"),
        bruck,
        bruck_rounds,
        bruck_totals,
        "ceil(log_k N) alpha + (N-1)/N M/beta for k = 2; all_to_all of N = 2^L: L (alpha + M/2/beta)",
        "full_mesh",
        "Bruck et al. 1997",
    ),
    Algorithm(
        "dissemination",
        ("barrier",),
        dissemination,
        dissemination_rounds,
        dissemination_totals,
        "ceil(log_k N) alpha",
        "full_mesh",
        "Hensgen, Finkel and Manber 1988",
    ),
    Algorithm(
        "sparbit",
        ("allgather",),
        sparbit,
        sparbit_rounds,
        sparbit_totals,
        "with N - 1 messages of M/N: ceil(log2 N) latencies, (N-1)(overhead + M/N/beta)",
        "full_mesh",
        "Loch and Koslovski 2021",
    ),
)
