"""Rings on tori: one dimension after the other (bucket), or along two Hamiltonian cycles.

Rank r of p_0 x p_1 x ... has the coordinates (r mod p_0, r // p_0 mod p_1, ...).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import gcd, prod
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.algorithm import Algorithm
from algorithms.assembly import assemble
from algorithms.catalogue.ring import (
    bidirectional_ring,
    bidirectional_ring_rounds,
    bidirectional_ring_totals,
)
from algorithms.catalogue.torus import Copies, dims_of_torus, phase_rounds, torus_copies, torus_dims
from algorithms.collective import make_collective
from algorithms.compose import then
from algorithms.duality import dual
from algorithms.representative import RANK_0, Representative, followed, mirrored, representative
from algorithms.rounds import Round, Totals, least
from algorithms.schedule import REDUCE, Schedule, Step, check_moves
from topologies.quantities import Count

if TYPE_CHECKING:
    from numpy.typing import NDArray


def bucket(
    kind: str,
    ranks: int,
    size: int,
    dims: Sequence[Count] | None = None,
    copies: Copies = "one",
) -> Schedule:
    """Bucket: a ring along one dimension of a torus after the other.

    ReduceScatter along p_0 leaves every rank M / p_0, which goes on along p_1, and so on; AllGather
    comes back the same way.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`.
    dims : sequence of int, optional
        p_0, p_1, ..., innermost first; default (N,). Those of one rank take no steps.
    copies : {'one', 'all'}
        One that leaves most links idle; or as many as a rank has links, 2 D, each on a share of the
        vector, step by step together. Copy k starts along dimension k mod D, the first D to the right and
        the others to the left.

    Raises
    ------
    ScheduleError
        If the dimensions do not multiply to N.
    """
    sizes = torus_dims(ranks, dims)
    walks = torus_copies(sizes, copies)
    scatter = make_collective("reduce_scatter", ranks, size, segments=len(walks))
    reduced = assemble(scatter, bucket_steps(sizes, walks), algorithm="bucket")
    if kind == "reduce_scatter":
        return reduced
    # a leftward ReduceScatter, played backwards, is an AllGather to the right
    mirror = assemble(scatter, bucket_steps(sizes, [(start, -way) for start, way in walks]))
    gather = dual(mirror, make_collective("allgather", ranks, size, segments=len(walks)))
    if kind == "allgather":
        return gather
    both = make_collective(kind, ranks, size, segments=len(walks))
    return then([reduced, gather], both, algorithm="bucket")


def bucket_of_rank_0(
    kind: str,
    ranks: int,
    size: int,
    dims: Sequence[int] | None = None,
    copies: Copies = "one",
) -> Representative:
    """Rank 0's part, under the translations of the torus."""
    sizes = torus_dims(ranks, dims)
    walks = torus_copies(sizes, copies)
    scatter = make_collective("reduce_scatter", ranks, size, segments=len(walks))
    reduced, mirror = (
        representative(scatter, bucket_steps(sizes, some, RANK_0), sizes, algorithm="bucket")
        for some in (walks, [(start, -way) for start, way in walks])
    )
    if kind == "reduce_scatter":
        return reduced
    gather = mirrored(mirror, make_collective("allgather", ranks, size, segments=len(walks)))
    if kind == "allgather":
        return gather
    both = make_collective(kind, ranks, size, segments=len(walks))
    return followed([reduced, gather], both, algorithm="bucket")


def bucket_steps(
    dims: Sequence[int], walks: Sequence[tuple[int, int]], senders: NDArray[np.int64] | None = None
) -> Iterator[Step]:
    """Bucket ReduceScatter; copy k takes chunk b * copies + k of each block b through the dimensions."""
    rank = np.arange(prod(dims)) if senders is None else senders
    check_moves(len(walks) * len(rank) * (prod(dims) - 1))
    for together in zip(*(_bucket(dims, start, way, rank) for start, way in walks), strict=True):
        yield [
            (src, dst, blocks * len(walks) + copy, REDUCE) for copy, (src, dst, blocks) in enumerate(together)
        ]


def _bucket(
    dims: Sequence[int], start: int, way: int, rank: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
    """(src, dst, blocks) of every step of one copy, of some ranks.

    Along a dimension it is a ring of blocks that agree with their rank in the dimensions before, and
    take all values in those after.
    """
    order = [*range(start, len(dims)), *range(start)]
    done = np.zeros_like(rank)
    for turn, dim in enumerate(order):
        stride, size = prod(dims[:dim]), dims[dim]
        place = rank // stride % size
        after = np.zeros(1, dtype=np.int64)
        for later in order[turn + 1 :]:
            after = (after[:, None] + prod(dims[:later]) * np.arange(dims[later])).ravel()
        neighbour = rank + stride * ((place + way) % size - place)
        for step in range(size - 1):
            block = done + stride * ((place - way * (step + 1)) % size)
            yield rank, neighbour, block[:, None] + after
        done = done + stride * place


def bucket_rounds(
    kind: str,
    ranks: int,
    size: int,
    dims: Sequence[int] | None = None,
    copies: Copies = "one",
) -> tuple[Round, ...]:
    """Sum over i of (p_i - 1)(alpha + M / P_i (1/beta + 1/gamma)) with P_i = p_0 ... p_i.

    With all copies each step carries 2 D messages of a 2 D-th, one a link where all p_i are equal and
    more than 2; elsewhere some links carry several at a time, and the form is exact where they are equal.
    """
    sizes = torus_dims(ranks, dims)
    walks = torus_copies(sizes, copies)
    share = Fraction(size, len(walks))
    steps = list(zip(*(_messages(sizes, start, way, share) for start, way in walks), strict=True))
    return phase_rounds(kind, steps)


def _messages(
    dims: Sequence[int], start: int, way: int, share: Fraction
) -> Iterator[tuple[tuple[int, int], Fraction]]:
    """(link, bytes) of every step of one copy; in a dimension of two ranks both ways are one link."""
    for dim in (*range(start, len(dims)), *range(start)):
        share /= dims[dim]
        for _ in range(dims[dim] - 1):
            yield (dim, way if dims[dim] > 2 else 0), share


def bucket_totals(kind: str, ranks: int, dims: Sequence[int] | None = None, copies: Copies = "one") -> Totals:
    """A message a copy, rank and step; as few bytes as can be."""
    sizes = torus_dims(ranks, dims)
    steps = (2 if kind == "allreduce" else 1) * sum(p - 1 for p in sizes)
    return least(kind, ranks, len(torus_copies(sizes, copies)) * ranks * steps)


def hamiltonian_cycles(dims: Sequence[int]) -> NDArray[np.int64] | None:
    """Two cycles through all ranks of a torus r x c that share no link, as orders of the ranks.

    They exist for any r, c > 2; these ones where r = c k and gcd(r, c - 1) = 1 (De Sensi,
    Bonato, Saam and Hoefler 2024, 2.3.1). The first takes c - 1 steps along a row, then one down; the
    second c - 1 steps down, then one along the row, which are the links that the first leaves.

    Returns
    -------
    ndarray of int64, shape (2, N), or None
        None where the dimensions do not allow it.

    Examples
    --------
    >>> hamiltonian_cycles([3, 3]).tolist()
    [[0, 1, 2, 5, 3, 4, 7, 8, 6], [0, 3, 6, 7, 1, 4, 5, 8, 2]]
    >>> hamiltonian_cycles([4, 3]) is None
    True
    """
    if len(dims) != 2:
        return None
    for columns, down, along in ((dims[0], dims[0], 1), (dims[1], 1, dims[0])):
        rows = prod(dims) // columns
        if columns > 2 and rows % columns == 0 and gcd(rows, columns - 1) == 1:
            run, place = np.divmod(np.arange(prod(dims)), columns)
            first = down * run + along * ((place - run) % columns)
            second = down * ((run * (columns - 1) + place) % rows) + along * (run % columns)
            return np.stack([first, second])
    return None


def hamiltonian_steps(orders: NDArray[np.int64]) -> Iterator[Step]:
    """Ring ReduceScatter along several orders of the ranks at once.

    Ring k moves chunk b * rings + k of each block b. The rank in place p sends, in step s, what the rank
    in place p - 1 - s is to have.
    """
    rings, ranks = orders.shape
    check_moves(rings * ranks * (ranks - 1))
    for step in range(ranks - 1):
        yield [
            (order, np.roll(order, -1), rings * np.roll(order, step + 1) + ring, REDUCE)
            for ring, order in enumerate(orders)
        ]


def hamiltonian_rings(kind: str, ranks: int, size: int, dims: Sequence[Count] | None = None) -> Schedule:
    """Two edge-disjoint Hamiltonian cycles on a 2-D torus, both ways round: four rings on quarters.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`.
    dims : sequence of int, optional
        Two dimensions c and c k, in any order, with gcd(c k, c - 1) = 1 and c > 2. With others, or with
        none, it is the bidirectional ring.

    Raises
    ------
    ScheduleError
        If the dimensions do not multiply to N.
    """
    cycles = hamiltonian_cycles(torus_dims(ranks, dims))
    if cycles is None:
        instead = bidirectional_ring(kind, ranks, size)
        fallback = "bidirectional_ring" if ranks > 1 else None
        return replace(instead, fallback=fallback)
    orders = np.concatenate([cycles, cycles[:, ::-1]])
    scatter = make_collective("reduce_scatter", ranks, size, segments=4)
    reduced = assemble(scatter, hamiltonian_steps(orders), algorithm="hamiltonian_rings")
    if kind == "reduce_scatter":
        return reduced
    backwards = assemble(scatter, hamiltonian_steps(orders[:, ::-1]))
    gather = dual(backwards, make_collective("allgather", ranks, size, segments=4))
    if kind == "allgather":
        return gather
    both = make_collective(kind, ranks, size, segments=4)
    return then([reduced, gather], both, algorithm="hamiltonian_rings")


def hamiltonian_rounds(
    kind: str, ranks: int, size: int, dims: Sequence[int] | None = None
) -> tuple[Round, ...]:
    """(N - 1)(alpha + M/4N / beta + M/N / gamma); the AllGather without gamma; the AllReduce both."""
    if hamiltonian_cycles(torus_dims(ranks, dims)) is None:
        return bidirectional_ring_rounds(kind, ranks, size)
    quarter = Fraction(size, 4 * ranks)
    reduce, gather = Round(ranks - 1, quarter, fan_in=4), Round(ranks - 1, quarter)
    return {"reduce_scatter": (reduce,), "allgather": (gather,), "allreduce": (reduce, gather)}[kind]


def hamiltonian_totals(kind: str, ranks: int, dims: Sequence[int] | None = None) -> Totals:
    """Four messages a rank and step; as few bytes as can be."""
    if hamiltonian_cycles(torus_dims(ranks, dims)) is None:
        return bidirectional_ring_totals(kind, ranks)
    steps = (2 if kind == "allreduce" else 1) * (ranks - 1)
    return least(kind, ranks, 4 * ranks * steps)


TORUS_RINGS: Final = (
    Algorithm(
        "bucket",
        ("reduce_scatter", "allgather", "allreduce"),
        bucket,
        bucket_rounds,
        bucket_totals,
        "sum over i of (p_i - 1)(alpha + M/P_i (1/beta + 1/gamma)); all copies: 1/2D of 1/beta",
        "torus",
        "Sack and Gropp 2012; Jain and Sabharwal 2010",
        constraint="N = p_0 p_1 ...; default one dimension, the ring",
        from_topology=dims_of_torus,
        representative=bucket_of_rank_0,
    ),
    Algorithm(
        "hamiltonian_rings",
        ("reduce_scatter", "allgather", "allreduce"),
        hamiltonian_rings,
        hamiltonian_rounds,
        hamiltonian_totals,
        "(N-1)(alpha + M/4N/beta + M/N/gamma); allreduce twice, the second time without gamma",
        "torus",
        "De Sensi, Bonato, Saam and Hoefler 2024 (2.3.1)",
        constraint="dims c and c k with gcd(c k, c-1) = 1, c > 2; else the bidirectional ring",
        from_topology=dims_of_torus,
    ),
)
