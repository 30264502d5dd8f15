"""Swing (De Sensi, Bonato, Saam and Hoefler 2024): exchanges that swing from side to side of a torus.

An even rank exchanges in step s with the one rho(s) = 1, -1, 3, -5, 11, ... places on, an odd one with the
one so far back. In D dimensions step s goes along dimension s mod D, as its step s // D.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from algorithms.algorithm import Algorithm
from algorithms.assembly import assemble
from algorithms.catalogue.swing_peers import (
    exchange_steps,
    swing_allgather,
    swing_distance,
    swing_peers,
    swing_turns,
)
from algorithms.catalogue.torus import Copies, merged, phase_rounds, port_rounds, torus_copies, torus_dims
from algorithms.collective import Collective, make_collective
from algorithms.compose import core_ranks, fold, is_power_of_two, on, then, together
from algorithms.duality import dual
from algorithms.errors import ScheduleError
from algorithms.rounds import Round, Totals, least
from algorithms.schedule import COPY, Lists, Schedule, Step
from topologies.quantities import Count

if TYPE_CHECKING:
    from topologies.topology import Topology

Variant = Literal["bandwidth", "latency"]


def swing(
    kind: str,
    ranks: int,
    size: int,
    variant: Variant = "bandwidth",
    dims: Sequence[Count] | None = None,
    copies: Copies = "one",
) -> Schedule:
    """Swing ReduceScatter, AllGather or AllReduce (the first, then the second); log2 N steps each.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`.
    variant : {'bandwidth', 'latency'}
        AllReduce of ever smaller parts and back, or of whole vectors.
    dims : sequence of int, optional
        p_0, p_1, ... of the torus, innermost first; default (N,).
    copies : {'one', 'all'}
        One; or 2 D, each on a share of the vector, step by step together: copy k starts along dimension
        k mod D, the first D as they are and the others mirrored.

    Notes
    -----
    Along a dimension of p ranks it takes ceil(log2 p) steps; where p is no power of two, they lead to some
    ranks twice. Where N is odd, N - 1 ranks do it, and the last exchanges a block with each of them, in
    every step with half of those left. Whole vectors would count twice at N other than 2^k: there it folds.

    Raises
    ------
    ScheduleError
        If the dimensions do not multiply to N, or one of several is odd (for whole vectors, no power
        of two); or if another collective is asked to move whole vectors.
    """
    sizes = _checked(kind, ranks, variant, dims)
    ways = torus_copies(sizes, copies)
    if variant == "latency":
        return _latency(make_collective(kind, ranks, size, blocks=len(ways)), sizes, ways)
    scatter, gather, both = (
        make_collective(each, ranks, size, segments=len(ways))
        for each in ("reduce_scatter", "allgather", "allreduce")
    )
    gathered = _gather(gather, sizes, ways)
    if kind == "allgather":
        return gathered
    reduced = dual(gathered, scatter)
    return reduced if kind == "reduce_scatter" else then([reduced, gathered], both, algorithm="swing")


def _checked(kind: str, ranks: int, variant: Variant, dims: Sequence[int] | None) -> tuple[int, ...]:
    if variant == "latency" and kind != "allreduce":
        raise ScheduleError(f"only an allreduce moves whole vectors, not a {kind}", ("variant",))
    sizes = torus_dims(ranks, dims)
    for size in sizes if len(sizes) > 1 else ():
        if not _fits(size, variant):
            wanted = "powers of two" if variant == "latency" else "even"
            raise ScheduleError(f"swing needs dims that are {wanted}, found {size}", ("dims",))
    return sizes


def _fits(size: int, variant: Variant) -> bool:
    """Whether one of several dimensions may have so many ranks."""
    return is_power_of_two(size) if variant == "latency" else size % 2 == 0


def dims_that_fit(
    topology: Topology, options: Mapping[str, Any], _placement: Sequence[int] | None
) -> dict[str, Any]:
    """The dimensions of a torus if all of them fit; elsewhere all ranks are one line."""
    variant = options.get("variant", "bandwidth")
    fits = topology.kind == "torus" and all(_fits(size, variant) for size in topology.dims)
    return {"dims": topology.dims} if fits else {}


def _gather(collective: Collective, dims: Sequence[int], ways: Sequence[tuple[int, int]]) -> Schedule:
    """AllGather by all copies; chunk b * copies + k is copy k's share of block b."""
    ranks = collective.ranks
    odd = ranks % 2 and ranks > 1
    even_dims = [ranks - 1] if odd else dims
    even = prod(even_dims)
    parts = [assemble(collective, _last_rank_steps(ranks, len(ways)))] if odd else []
    for copy, (start, way) in enumerate(ways):
        steps = swing_allgather(swing_peers(even_dims, start, way))
        part = assemble(make_collective("allgather", even, 0), steps)
        shares = Lists(np.arange(even + 1), np.arange(even) * len(ways) + copy)
        parts.append(on(part, collective, np.arange(even), shares))
    return together(parts, collective, algorithm="swing")


def _last_rank_steps(ranks: int, copies: int) -> Iterator[Step]:
    """The last of an odd number of ranks swaps blocks with some of the others in every step of an AllGather.

    With the odd ones first, and with the even ones, all of them, in the last step: no two that it meets in
    a step are partners.
    """
    last = ranks - 1
    order = np.concatenate([np.arange(last - 2, -1, -2), np.arange(last - 1, 0, -2)])
    blocks = np.arange(ranks)[:, None] * copies + np.arange(copies)
    for others in reversed(np.split(order, np.cumsum(meetings(last))[:-1])):
        lasts = np.full_like(others, last)
        yield [(others, lasts, blocks[others], COPY), (lasts, others, blocks[lasts], COPY)]


def meetings(others: int) -> list[int]:
    """How many ranks the last one meets in every step of a ReduceScatter: half of those left, rounded up.

    >>> meetings(6), meetings(8)
    ([3, 2, 1], [4, 2, 2])
    """
    met: list[int] = []
    for left in range((others - 1).bit_length(), 0, -1):
        rest = others - sum(met)
        met.append(rest if left == 1 else -(-rest // 2))
    return met


def _latency(collective: Collective, dims: Sequence[int], ways: Sequence[tuple[int, int]]) -> Schedule:
    def core(p: int) -> Schedule:
        shares = make_collective("allreduce", p, 0, blocks=len(ways))
        steps = exchange_steps([swing_peers(dims if p == prod(dims) else [p], *way) for way in ways])
        return assemble(shares, steps, algorithm="swing")

    return fold(collective, core)


def swing_rounds(
    kind: str,
    ranks: int,
    size: int,
    variant: Variant = "bandwidth",
    dims: Sequence[int] | None = None,
    copies: Copies = "one",
) -> tuple[Round, ...]:
    """On a full mesh, N = 2^k: the sum over s of alpha + M/2^(s+1) (1/beta + 1/gamma).

    Whole vectors: log2 N (alpha + M/beta + M/gamma), and 2 rounds more where it folds. With all copies
    2 D messages of a 2 D-th each. Where N is odd, the blocks of the last rank hide behind the others'
    larger messages: exact but for the time that reducing them takes, which may not hide.
    """
    sizes = _checked(kind, ranks, variant, dims)
    ways = torus_copies(sizes, copies)
    if variant == "latency":
        return _latency_rounds(ranks, size, sizes, ways)
    block = Fraction(size, ranks)
    odd = ranks % 2 and ranks > 1
    every = [_messages([ranks - 1] if odd else sizes, *way, block / len(ways)) for way in ways]
    steps = list(zip(*every, strict=True))
    if odd:
        steps = [(*step, ("last", block)) if block >= step[0][1] else step for step in steps]
    return phase_rounds(kind, steps)


def _messages(
    dims: Sequence[int], start: int, way: int, block: Fraction
) -> Iterator[tuple[Hashable, Fraction]]:
    """(link, bytes) of every step of a ReduceScatter, seen from rank 0.

    What a rank reaches by the steps from s on is a product over the dimensions; what it sends in step s
    is what it does not reach without it.
    """
    reached = [_reached(size) for size in dims]
    used = [0] * len(dims)
    for dim, step in swing_turns(dims, start):
        whole = prod(reach[s] for reach, s in zip(reached, used, strict=True))
        used[dim] = step + 1
        left = prod(reach[s] for reach, s in zip(reached, used, strict=True))
        yield (dim, way * swing_distance(step) % dims[dim]), (whole - left) * block


def _reached(size: int) -> list[int]:
    """Ranks of a dimension that one of them reaches by the steps from s on, for s = 0, 1, ..., all.

    >>> _reached(6)
    [6, 4, 2, 1]
    """
    found = {0}
    counts = [1]
    for step in reversed(range((size - 1).bit_length())):
        found |= {(swing_distance(step) - far) % size for far in found}
        counts.append(len(found))
    return counts[::-1]


def _latency_rounds(
    ranks: int, size: int, dims: Sequence[int], ways: Sequence[tuple[int, int]]
) -> tuple[Round, ...]:
    p, share, whole = core_ranks(ranks), Fraction(size, len(ways)), Fraction(size)
    core = dims if p == ranks else [p]
    turns: list[Round] = []
    for step in zip(*(_messages(core, *way, Fraction(0)) for way in ways), strict=True):
        turns += port_rounds([(link, share) for link, _ in step], reduces=True)
    return merged(turns if p == ranks else [Round(1, whole, fan_in=1), *turns, Round(1, whole)])


def swing_totals(
    kind: str,
    ranks: int,
    variant: Variant = "bandwidth",
    dims: Sequence[int] | None = None,
    copies: Copies = "one",
) -> Totals:
    """A message a copy, rank and step, as few bytes as can be; or whole vectors, and those of the fold."""
    sizes = _checked(kind, ranks, variant, dims)
    count = len(torus_copies(sizes, copies))
    if variant == "latency":
        p = core_ranks(ranks)
        rest, exchanges = ranks - p, p * (p.bit_length() - 1)
        vectors = Fraction(exchanges + rest)
        return Totals(count * exchanges + 2 * rest, vectors + rest, vectors)
    odd = ranks % 2 and ranks > 1
    messages = count * (ranks - 1) * (ranks - 2).bit_length() + 2 * (ranks - 1)
    if not odd:
        messages = count * ranks * len(swing_turns(sizes))
    return least(kind, ranks, (2 if kind == "allreduce" else 1) * messages)


SWING: Final = (
    Algorithm(
        "swing",
        ("reduce_scatter", "allgather", "allreduce"),
        swing,
        swing_rounds,
        swing_totals,
        "without congestion log2(N) alpha + (N-1)/N M (1/beta + 1/gamma); allreduce twice, the second "
        "time without gamma; whole vectors log2(N)(alpha + M/beta + M/gamma)",
        "full_mesh",
        "De Sensi, Bonato, Saam and Hoefler 2024",
        constraint="any N, several dims even; whole vectors N = 2^k, fold elsewhere",
        from_topology=dims_that_fit,
    ),
)
