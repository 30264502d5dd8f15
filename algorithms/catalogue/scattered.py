"""Broadcast and Reduce of long vectors by way of their blocks.

Van de Geijn's Broadcast scatters the vector and gathers it everywhere; Rabenseifner's Reduce
reduces and scatters it, and gathers it at the root.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import lcm
from typing import Final

import numpy as np

from algorithms.algorithm import Algorithm
from algorithms.assembly import assemble, settled
from algorithms.catalogue.flat import FLAT
from algorithms.catalogue.halving import halving_steps
from algorithms.catalogue.rabenseifner import Fold, swap_steps
from algorithms.collective import KINDS, Collective, make_collective
from algorithms.compose import core_ranks, fold_players, is_power_of_two, on, then
from algorithms.errors import ScheduleError
from algorithms.rounds import Round, Totals, least
from algorithms.schedule import COPY, REDUCE, Lists, Ranges, Schedule, Step, check_moves


def in_turn(parts: Sequence[Schedule], kind: str, ranks: int, size: int) -> Schedule:
    """Schedules that move one vector one after the other, each cut as finely as all of them need."""
    chunks = lcm(*(part.collective.chunks for part in parts))
    if KINDS[kind].by_rank:
        collective = make_collective(kind, ranks, size, segments=chunks // ranks)
    else:
        collective = make_collective(kind, ranks, size, blocks=chunks)
    return then([_cut(part, collective) for part in parts], collective)


def _cut(part: Schedule, collective: Collective) -> Schedule:
    """The same transfers of finer chunks, in one channel: the next part waits for all of them."""
    width = collective.chunks // part.collective.chunks
    check_moves(int(part.count.sum(dtype=np.int64)) * width)
    chunks = Lists(np.arange(0, collective.chunks + 1, width), np.arange(collective.chunks))
    single = settled(replace(part, channel=np.zeros_like(part.channel)))
    return on(single, collective, np.arange(collective.ranks), chunks)


def doubling_steps(ranks: int) -> Iterator[Step]:
    """Recursive doubling AllGather for any N, as MPICH and Open MPI do it in a Broadcast.

    At distance d the ranks of a group of d hold the group's blocks, and exchange them with those
    d away. Where the last group is short, some of its neighbours have no partner; those that have
    one hand on what they were sent, each to ranks half as far away as in the step before.
    """
    rank = np.arange(ranks)
    distance = 1
    while distance < ranks:
        group, paired = rank & -distance, (rank ^ distance) < ranks
        held = Ranges(group[paired], np.minimum(distance, ranks - group[paired]))
        yield (rank[paired], (rank ^ distance)[paired], held, COPY)
        last = (ranks - 1) & -distance
        if last & distance and ranks - last < distance:
            yield from _handed_on(last - distance, distance, ranks - last)
        distance *= 2


def _handed_on(first: int, distance: int, held: int) -> Iterator[Step]:
    """The first `held` ranks of a group hand on the blocks of the group after it, which has no more ranks."""
    member = np.arange(distance)
    half = distance // 2
    while half:
        inner = member & (2 * half - 1)
        sender = member[(inner < held) & (inner + half >= held) & (inner < half)]
        if len(sender):
            blocks = Ranges(np.full_like(sender, first + distance), np.full_like(sender, held))
            yield (first + sender, first + sender + half, blocks, COPY)
        half //= 2


def scatter_allgather(kind: str, ranks: int, size: int, allgather: str = "ring") -> Schedule:
    """Van de Geijn's Broadcast: a binomial Scatter, then an AllGather of all blocks.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`.
    allgather : str
        An algorithm that does it; `ring` for long vectors. With `recursive_doubling` ranks hand
        blocks on where N is not a power of two.

    Raises
    ------
    ScheduleError
        If there is no such AllGather.
    """
    scatter = FLAT["binomial"].build("scatter", ranks, size)
    collective = make_collective("allgather", ranks, size)
    if allgather == "recursive_doubling":
        gather = assemble(collective, doubling_steps(ranks))
    else:
        gather = _gathering(allgather).build("allgather", ranks, size)
    return in_turn([scatter, gather], kind, ranks, size)


def _gathering(name: str) -> Algorithm:
    if name not in FLAT or "allgather" not in FLAT[name].collectives:
        raise ScheduleError(f'"{name}" does no allgather', ("allgather",))
    return FLAT[name]


def scatter_allgather_rounds(
    _kind: str, ranks: int, size: int, allgather: str = "ring"
) -> tuple[Round, ...] | None:
    """Of both parts; None for recursive doubling among N other than 2^k, where no path is always longest."""
    if allgather == "recursive_doubling" and not is_power_of_two(ranks):
        return None
    gather = _gathering(allgather).rounds("allgather", ranks, size)
    scatter = FLAT["binomial"].rounds("scatter", ranks, size)
    return None if gather is None or scatter is None else (*scatter, *gather)


def scatter_allgather_totals(_kind: str, ranks: int, allgather: str = "ring") -> Totals:
    """Of both parts; in recursive doubling a rank is sent one message at every distance that has somebody."""
    scatter = FLAT["binomial"].totals("scatter", ranks)
    if allgather != "recursive_doubling":
        return scatter + _gathering(allgather).totals("allgather", ranks)
    messages, distance = 0, 1
    while distance < ranks:
        alone = ranks % (2 * distance)
        messages += ranks - (alone if alone <= distance else 0)
        distance *= 2
    return scatter + least("allgather", ranks, messages)


def reduce_scatter_gather(kind: str, ranks: int, size: int, fold: Fold = "mpich") -> Schedule:
    """Rabenseifner's Reduce: recursive halving, then a binomial Gather of the P = 2^f blocks.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`.
    fold : {'mpich', 'openmpi'}
        How the ranks past P take part, where there are any: an odd rank hands its whole vector to the
        even one before it (2 f + 1 steps), or the two swap halves, and the even one goes on with both
        (2 f + 2 steps).
    """
    p = core_ranks(ranks)
    collective = make_collective(kind, ranks, size, blocks=p)
    blocks, players = Lists(np.arange(p + 1), np.arange(p)), fold_players(ranks, keeps="even")
    parts = [
        assemble(collective, _handed_over(p, ranks - p, fold)),
        on(assemble(make_collective("reduce_scatter", p, p), halving_steps(p)), collective, players, blocks),
        on(FLAT["binomial"].build("gather", p, p), collective, players, blocks),
    ]
    schedule = then(parts, collective, algorithm="reduce_scatter_gather")
    return replace(schedule, fallback=None if is_power_of_two(ranks) else "fold")


def _handed_over(p: int, rest: int, how: Fold) -> Iterator[Step]:
    """Rank 2v gets what rank 2v + 1 has."""
    if rest and how == "openmpi":
        yield from swap_steps(p, rest)
    elif rest:
        even = 2 * np.arange(rest)
        yield (even + 1, even, Ranges(np.zeros_like(even), np.full_like(even, p)), REDUCE)


def reduce_scatter_gather_rounds(
    _kind: str, ranks: int, size: int, fold: Fold = "mpich"
) -> tuple[Round, ...]:
    """Sum over j of 2 alpha + M/2^j (2/beta + 1/gamma); folded a round of M more, or two of M/2."""
    p, whole = core_ranks(ranks), Fraction(size)
    halves = [Round(1, whole / (1 << j), fan_in=1) for j in range(1, p.bit_length())]
    inner = (*halves, *(replace(turn, fan_in=0) for turn in reversed(halves)))
    if ranks == p:
        return inner
    if fold == "mpich":
        return (Round(1, whole, fan_in=1), *inner)
    return (Round(1, whole / 2, fan_in=1), Round(1, whole / 2), *inner)


def reduce_scatter_gather_totals(_kind: str, ranks: int, fold: Fold = "mpich") -> Totals:
    """Halving among P, then every block travels as many hops as its rank has bits; and what is folded."""
    p = core_ranks(ranks)
    rest, exchanges = ranks - p, p.bit_length() - 1
    messages, sent = (1, Fraction(1)) if fold == "mpich" else (3, Fraction(3, 2))
    folded = Totals(messages * rest, sent * rest, Fraction(rest))
    halving = Totals(p * exchanges, Fraction(p - 1), Fraction(p - 1))
    return folded + halving + Totals(p - 1, Fraction(exchanges, 2))


SCATTERED: Final = (
    Algorithm(
        "scatter_allgather",
        ("broadcast",),
        scatter_allgather,
        scatter_allgather_rounds,
        scatter_allgather_totals,
        "L = ceil(log2 N): (L + N - 1) alpha + 2 (N-1)/N M/beta; with recursive doubling (L + log2 N) alpha",
        "full_mesh",
        "Barnett et al. 1994",
    ),
    Algorithm(
        "reduce_scatter_gather",
        ("reduce",),
        reduce_scatter_gather,
        reduce_scatter_gather_rounds,
        reduce_scatter_gather_totals,
        "2 log2(N) alpha + (N-1)/N M (2/beta + 1/gamma)",
        "full_mesh",
        "Rabenseifner 2004",
        power_of_two=True,
        constraint="N = 2^k; folds elsewhere",
    ),
)
