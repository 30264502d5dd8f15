"""Ring algorithms (Patarasuk and Yuan 2009; the first seed's Ring ReduceScatter)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.algorithm import Algorithm
from algorithms.assembly import assemble
from algorithms.collective import Collective, make_collective
from algorithms.compose import then
from algorithms.duality import dual
from algorithms.errors import ScheduleError
from algorithms.representative import Representative, followed, in_columns, mirrored
from algorithms.rounds import Round, Totals, least
from algorithms.schedule import COPY, REDUCE, Ranges, Schedule, Step, check_moves

if TYPE_CHECKING:
    from numpy.typing import NDArray


def ring_steps(ranks: int, direction: int = 1, first_chunk: int = -1) -> Iterator[Step]:
    """Ring ReduceScatter: in step s rank i sends chunk i + d (a - s) to rank i + d.

    With a = -1 rank i ends with chunk i; in general with chunk i + d (a + 1).

    Parameters
    ----------
    ranks : int
        N.
    direction : {1, -1}
        d: to the right or to the left.
    first_chunk : int
        a: where the first chunk stands from its sender, in the direction of travel.
    """
    rank = np.arange(ranks)
    for step in range(ranks - 1):
        yield (
            rank,
            (rank + direction) % ranks,
            ring_chunk(rank, step, ranks, direction, first_chunk),
            REDUCE,
        )


def ring_chunk(
    rank: NDArray[np.int64], step: int | NDArray[np.int64], ranks: int, direction: int, first_chunk: int
) -> NDArray[np.int64]:
    """Chunk that a rank of `ring_steps` sends in a step."""
    return (rank + direction * (first_chunk - step)) % ranks


def relay_steps(ranks: int) -> Iterator[Step]:
    """Ring All-to-All: every block goes on to the right until it is home.

    In step s rank i sends what rank i - s had for those that are still ahead of it.
    """
    check_moves(ranks * ranks * (ranks - 1) // 2)
    rank = np.arange(ranks)
    for step in range(ranks - 1):
        origin = (rank - step)[:, None] % ranks
        home = (rank[:, None] + np.arange(1, ranks - step)) % ranks
        yield (rank, (rank + 1) % ranks, origin * ranks + home, COPY)


def token_steps(ranks: int) -> Iterator[Step]:
    """Double ring Barrier: a message goes round twice; first it collects the tokens, then it brings them."""
    for lap in range(2 * (ranks > 1)):
        for rank in range(ranks):
            tokens = Ranges(np.zeros(1, dtype=np.int64), np.array([ranks if lap else rank + 1]))
            yield ([rank], [(rank + 1) % ranks], tokens, COPY)


def ring(kind: str, ranks: int, size: int, first_chunk: int = -1) -> Schedule:
    """Ring ReduceScatter, AllGather and AllReduce (the first, then the second), All-to-All and Barrier.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`.
    first_chunk : int
        ReduceScatter and AllReduce: rank i starts with chunk i + a and ends the ReduceScatter
        with chunk i + a + 1. The default -1 is the one with which rank i ends with chunk i, as
        the collective demands; the first seed's trace has a = 1, Open MPI's AllReduce a = 0.

    Raises
    ------
    ScheduleError
        If another collective is asked to start with another chunk than its own.
    """
    if kind in ("reduce_scatter", "allreduce"):
        return _reducing_ring(kind, ranks, size, first_chunk)
    if first_chunk != -1:
        raise ScheduleError(f"the {kind} of a ring starts with each rank's own chunk", ("first_chunk",))
    if kind == "allgather":
        return _gathering_ring(ranks, size, 0)
    steps = relay_steps(ranks) if kind == "all_to_all" else token_steps(ranks)
    return assemble(make_collective(kind, ranks, size), steps, algorithm="ring")


def _reducing_ring(kind: str, ranks: int, size: int, first_chunk: int) -> Schedule:
    first_chunk %= ranks
    shift = first_chunk + 1
    scatter = make_collective("reduce_scatter", ranks, size, shift=shift)
    reduce = assemble(scatter, ring_steps(ranks, 1, first_chunk), algorithm="ring")
    if kind == "reduce_scatter":
        return reduce
    halves = [reduce, _gathering_ring(ranks, size, shift)]
    return then(halves, make_collective(kind, ranks, size), algorithm="ring")


def _gathering_ring(ranks: int, size: int, shift: int) -> Schedule:
    """A leftward ReduceScatter, played backwards: an AllGather to the right of block i + shift at rank i."""
    scatter = make_collective("reduce_scatter", ranks, size, shift=shift)
    mirror = assemble(scatter, ring_steps(ranks, -1, -shift - 1), algorithm="ring")
    return dual(mirror, make_collective("allgather", ranks, size, shift=shift))


def ring_of_rank_0(kind: str, ranks: int, size: int, first_chunk: int = -1) -> Representative | None:
    """Rank 0's part of a ReduceScatter, AllGather or AllReduce, under the rotations of the ring."""
    if kind not in ("reduce_scatter", "allgather", "allreduce") or (
        kind == "allgather" and first_chunk != -1
    ):
        return None
    shift = first_chunk % ranks + 1 if kind != "allgather" else 0
    step = np.arange(ranks - 1)

    def scatter(direction: int, first: int) -> Representative:
        """`ring_steps` of rank 0, all steps at once."""
        chunk = ring_chunk(np.zeros_like(step), step, ranks, direction, first)
        collective = make_collective("reduce_scatter", ranks, size, shift=shift)
        return in_columns(collective, step, direction % ranks, chunk, REDUCE, (ranks,), algorithm="ring")

    if kind == "reduce_scatter":
        return scatter(1, shift - 1)
    gather = mirrored(scatter(-1, -shift - 1), make_collective("allgather", ranks, size, shift=shift))
    if kind == "allgather":
        return gather
    return followed([scatter(1, shift - 1), gather], make_collective(kind, ranks, size), algorithm="ring")


def ring_rounds(kind: str, ranks: int, size: int) -> tuple[Round, ...]:
    """(N - 1)(alpha + M/N / beta + M/N / gamma); the AllGather without gamma; the AllReduce both.

    All-to-All: (N - 1) alpha + (N - 1)/2 M / beta. Barrier: 2 N alpha.
    """
    block = Fraction(size, ranks)
    if kind == "all_to_all":
        return tuple(Round(1, block * blocks) for blocks in range(ranks - 1, 0, -1))
    if kind == "barrier":
        return (Round(2 * ranks * (ranks > 1), block),)
    reduce, gather = Round(ranks - 1, block, fan_in=1), Round(ranks - 1, block)
    return {"reduce_scatter": (reduce,), "allgather": (gather,), "allreduce": (reduce, gather)}[kind]


def ring_totals(kind: str, ranks: int) -> Totals:
    """N messages a step, but one of a Barrier; as few bytes as can be, but for the relayed All-to-All."""
    if kind == "all_to_all":
        return Totals(ranks * (ranks - 1), Fraction(ranks * (ranks - 1), 2))
    if kind == "barrier":
        return Totals(2 * ranks * (ranks > 1), Fraction(0))
    steps = (2 if kind == "allreduce" else 1) * (ranks - 1)
    return least(kind, ranks, ranks * steps)


def half_way_steps(ranks: int) -> Iterator[Step]:
    """Bidirectional ring AllGather: every block travels half-way round, both ways at once.

    Chunks are half blocks: 2b and 2b + 1. With N even the block opposite is reached from both
    sides in the last step, half of it each way.
    """
    rank = np.arange(ranks)
    halves = 1 + (ranks % 2 == 0)
    right, left = (rank + 1) % ranks, (rank - 1) % ranks
    for step in range(ranks // 2):
        blocks = both_ways(rank, step, ranks)
        if 2 * step + 2 == ranks:
            yield [(rank, right, 2 * blocks[0], COPY), (rank, left, 2 * blocks[1] + 1, COPY)]
            continue
        chunks = [block[:, None] * halves + np.arange(halves) for block in blocks]
        yield [(rank, right, chunks[0], COPY), (rank, left, chunks[1], COPY)]


def both_ways(
    rank: NDArray[np.int64], back: int | NDArray[np.int64], ranks: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Blocks that a rank sends right and left, those of the ranks that far back on either side."""
    return (rank - back) % ranks, (rank + back) % ranks


def both_ways_steps(ranks: int, mode: int) -> Iterator[Step]:
    """Two rings of half vectors side by side, one to the right and one to the left.

    Chunk 2b is the half of block b that goes right, 2b + 1 the one that goes left. With REDUCE
    rank i ends with block i, with COPY it starts with it.
    """
    rank = np.arange(ranks)
    for step in range(ranks - 1):
        right, left = both_ways(rank, step + (mode == REDUCE), ranks)
        yield [
            (rank, (rank + 1) % ranks, 2 * right, mode),
            (rank, (rank - 1) % ranks, 2 * left + 1, mode),
        ]


def bidirectional_ring(kind: str, ranks: int, size: int) -> Schedule:
    """Ring that uses the links of both directions at once.

    ReduceScatter and AllGather send every block the shorter way round: ceil((N - 1) / 2) steps.
    AllReduce runs two rings in opposite directions on half the vector each: 2 (N - 1) steps.
    Two ranks are each other's left and right neighbour: there it is the plain ring.
    """
    if ranks <= 2:
        return ring(kind, ranks, size)
    if kind == "allreduce":
        halves = make_collective(kind, ranks, size, segments=2)
        steps = [*both_ways_steps(ranks, REDUCE), *both_ways_steps(ranks, COPY)]
        return assemble(halves, steps, algorithm="bidirectional_ring")
    segments = 1 + (ranks % 2 == 0)
    gather = make_collective("allgather", ranks, size, segments=segments)
    schedule = assemble(gather, half_way_steps(ranks), algorithm="bidirectional_ring")
    if kind == "allgather":
        return schedule
    return dual(schedule, make_collective("reduce_scatter", ranks, size, segments=segments))


def bidirectional_ring_of_rank_0(kind: str, ranks: int, size: int) -> Representative | None:
    """Rank 0's part, under the rotations of the ring."""
    if ranks <= 2:
        return ring_of_rank_0(kind, ranks, size)
    if kind == "allreduce":
        halves = make_collective(kind, ranks, size, segments=2)
        return followed([_both_ways_of_rank_0(halves, mode) for mode in (REDUCE, COPY)], halves)
    segments = 1 + (ranks % 2 == 0)
    gather = _half_way_of_rank_0(make_collective("allgather", ranks, size, segments=segments))
    if kind == "allgather":
        return gather
    return mirrored(gather, make_collective("reduce_scatter", ranks, size, segments=segments))


def _both_ways_of_rank_0(halves: Collective, mode: int) -> Representative:
    """`both_ways_steps` of rank 0, all steps at once."""
    ranks = halves.ranks
    step = np.arange(ranks - 1)
    right, left = both_ways(np.zeros_like(step), step + (mode == REDUCE), ranks)
    chunk = np.stack([2 * right, 2 * left + 1], axis=1).ravel()
    dst = np.tile([1, ranks - 1], len(step))
    return in_columns(halves, np.repeat(step, 2), dst, chunk, mode, (ranks,))


def _half_way_of_rank_0(gather: Collective) -> Representative:
    """`half_way_steps` of rank 0, all steps at once."""
    ranks, halves = gather.ranks, gather.chunks // gather.ranks
    step = np.repeat(np.arange(ranks // 2), 2)
    left = np.arange(len(step)) % 2
    block = np.where(left, *both_ways(np.zeros_like(step), step, ranks)[::-1])
    half = 2 * step + 2 == ranks
    first, dst = block * halves + half * left, np.where(left, ranks - 1, 1)
    return in_columns(gather, step, dst, first, COPY, (ranks,), count=np.where(half, 1, halves))


def bidirectional_ring_rounds(kind: str, ranks: int, size: int) -> tuple[Round, ...]:
    """ReduceScatter, AllGather: floor((N-1)/2) rounds of M/N each way; where N is even, one of M/(2N)."""
    if ranks <= 2:
        return ring_rounds(kind, ranks, size)
    block = Fraction(size, ranks)
    if kind == "allreduce":
        return (Round(ranks - 1, block / 2, fan_in=2), Round(ranks - 1, block / 2))
    fan_in = 2 if kind == "reduce_scatter" else 0
    whole = Round((ranks - 1) // 2, block, fan_in)
    return (whole, Round(1, block / 2, fan_in)) if ranks % 2 == 0 else (whole,)


def bidirectional_ring_totals(kind: str, ranks: int) -> Totals:
    """Two messages a rank and step; in the middle step of an odd ring's half way, none is left over."""
    if ranks <= 2:
        return ring_totals(kind, ranks)
    sent = 4 * (ranks - 1) if kind == "allreduce" else 2 * (ranks // 2)
    return least(kind, ranks, ranks * sent)


RINGS: Final = (
    Algorithm(
        "ring",
        ("reduce_scatter", "allgather", "allreduce", "all_to_all", "barrier"),
        ring,
        ring_rounds,
        ring_totals,
        "(N-1)(alpha + M/N/beta + M/N/gamma); allreduce twice, the second time without gamma; "
        "all_to_all (N-1)(alpha + M/2/beta); barrier 2 N alpha",
        "ring",
        "Patarasuk and Yuan 2009",
        representative=ring_of_rank_0,
    ),
    Algorithm(
        "bidirectional_ring",
        ("reduce_scatter", "allgather", "allreduce"),
        bidirectional_ring,
        bidirectional_ring_rounds,
        bidirectional_ring_totals,
        "ceil((N-1)/2) alpha + (N-1)/2 M/N (1/beta + 2/gamma); "
        "allreduce 2(N-1)(alpha + M/2N/beta) + (N-1) M/N/gamma",
        "ring",
        "Jain and Sabharwal 2010",
        representative=bidirectional_ring_of_rank_0,
    ),
)
