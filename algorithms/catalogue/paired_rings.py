"""AllReduce over two rings whose ranks are paired: what SOPHGO's closed form for SG2260 counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.algorithm import Algorithm
from algorithms.assembly import assemble
from algorithms.catalogue.ring import (
    bidirectional_ring,
    bidirectional_ring_rounds,
    bidirectional_ring_totals,
    both_ways,
)
from algorithms.catalogue.torus import merged, port_rounds
from algorithms.collective import make_collective
from algorithms.rounds import Round, Totals, least
from algorithms.schedule import COPY, REDUCE, Ranges, Schedule, Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

WAYS: Final = (1, -1)
"""Lane 0 goes to the right, lane 1 to the left; each has half of the vector."""


def paired_rings(kind: str, ranks: int, size: int) -> Schedule:
    """Rings of N/2 both ways, each lane on half the vector; pairs of ranks across the rings sum between.

    Ranks 0 to N/2 - 1 are one ring, the others the second; r and r + N/2 are a pair. Both rings
    reduce and scatter, M/N each way a step. Of the two sums of M/N that a rank then has, one a
    lane, its pair and it sum half each and hand the halves back; then both rings gather. Of two
    ranks each sends the other all it has. Where N is odd it is the bidirectional ring.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`.
    """
    if ranks % 2:
        fallback = "bidirectional_ring" if ranks > 1 else None
        return replace(bidirectional_ring(kind, ranks, size), fallback=fallback)
    halves = make_collective(kind, ranks, size, segments=2)
    return assemble(halves, paired_steps(ranks), algorithm="paired_rings")


def paired_steps(ranks: int) -> Iterator[Step]:
    """Steps of N ranks, N even: rank r is in place p = r mod N/2 of its ring.

    A ring's block p in lane l is the vector's block 2p + l, of which the first half is the lower
    ring's to sum, and the second half the upper ring's.
    """
    ring, rank = ranks // 2, np.arange(ranks)
    pair = (rank + ring) % ranks
    if ring == 1:
        yield [(rank, pair, _lane(rank * 0, lane), REDUCE) for lane in range(2)]
        return
    yield from _round_the_rings(ranks, REDUCE)
    place, upper = rank % ring, rank // ring
    yield [(rank, pair, _half(place, lane, 1 - upper), REDUCE) for lane in range(2)]
    yield [(rank, pair, _half(place, lane, upper), COPY) for lane in range(2)]
    yield from _round_the_rings(ranks, COPY)


def _round_the_rings(ranks: int, mode: int) -> Iterator[Step]:
    """ReduceScatter after which place p has the rings' block p, or AllGather from there, in both rings."""
    ring, rank = ranks // 2, np.arange(ranks)
    place, first = rank % ring, rank // ring * ring
    for step in range(ring - 1):
        blocks = both_ways(place, step + (mode == REDUCE), ring)
        yield [
            (rank, first + (place + way) % ring, _lane(block, lane), mode)
            for lane, (way, block) in enumerate(zip(WAYS, blocks, strict=True))
        ]


def _lane(place: NDArray[np.int64], lane: int) -> Ranges:
    """Both halves of the rings' blocks in a lane."""
    return Ranges(4 * place + 2 * lane, np.full(len(place), 2))


def _half(place: NDArray[np.int64], lane: int, half: NDArray[np.int64]) -> Ranges:
    """One half of each."""
    return Ranges(4 * place + 2 * lane + half, np.ones(len(place), dtype=np.int64))


def paired_rings_rounds(kind: str, ranks: int, size: int) -> tuple[Round, ...]:
    """A link each way between neighbours and between pairs; what both lanes send over it queues."""
    if ranks % 2:
        return bidirectional_ring_rounds(kind, ranks, size)
    ring, block = ranks // 2, Fraction(size, ranks)
    if ring == 1:
        return merged(port_rounds([("pair", block)] * 2, reduces=True))
    links = WAYS if ring > 2 else ("next", "next")
    around, across = [(link, block) for link in links], [("pair", block / 2)] * 2
    reducing = [around] * (ring - 1) + [across]
    turns = [turn for step in reducing for turn in port_rounds(step, reduces=True)]
    turns += [turn for step in reversed(reducing) for turn in port_rounds(step, reduces=False)]
    return merged(turns)


def paired_rings_totals(kind: str, ranks: int) -> Totals:
    """Two messages a rank and step, one a lane; as few bytes as can be."""
    if ranks % 2:
        return bidirectional_ring_totals(kind, ranks)
    if ranks == 2:
        # each sums all that there is
        return Totals(4, Fraction(2), Fraction(2))
    return least(kind, ranks, 2 * ranks * ranks)


PAIRED_RINGS: Final = (
    Algorithm(
        "paired_rings",
        ("allreduce",),
        paired_rings,
        paired_rings_rounds,
        paired_rings_totals,
        "N > 4: N alpha + M/beta + (N - 3/2) M/N/gamma; with two links between a pair (N-1) M/N/beta",
        "torus",
        "SOPHGO torch-tpu, tools/superParSel.py (its AllReduce time; the steps are inferred)",
        constraint="N even, on a torus of N/2 x 2; elsewhere the bidirectional ring",
    ),
)
