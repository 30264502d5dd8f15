"""Counts of a schedule: steps, depth, transfers, bytes sent and reduced, staged arrivals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from algorithms.cells import Cells, number_cells
from algorithms.sampling import sampled
from algorithms.schedule import REDUCE
from topologies.loops import fast

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.schedule import Schedule


@dataclass(frozen=True, slots=True)
class Counts:
    """What a schedule costs, whatever the network.

    Attributes
    ----------
    steps : int
        Steps of the longest channel.
    depth : int
        Longest chain of transfers in which each sends what the one before it delivered; of a
        schedule that moves too many chunks to follow them all, for a sample of them.
    transfers : int
        Messages.
    bytes_sent_max, bytes_sent_total : int
        By the busiest rank; by all, and by switches that take part.
    bytes_reduced_max, bytes_reduced_total : int
        Bytes that arrive to be reduced, at the busiest rank; at all, and at switches.
    staged : int or None
        Cells (rank, chunk) written in a step in which their rank also sends that chunk; None
        where there are too many to look at.
    """

    steps: int
    depth: int
    transfers: int
    bytes_sent_max: int
    bytes_sent_total: int
    bytes_reduced_max: int
    bytes_reduced_total: int
    staged: int | None


def count(schedule: Schedule) -> Counts:
    """Counts of a schedule.

    Examples
    --------
    >>> from algorithms import build
    >>> count(build("ring", "allreduce", 4, 400)).bytes_sent_max
    600
    """
    sizes = schedule.sizes()
    reduced = schedule.mode == REDUCE
    # what a rank does by itself is no message
    moved = schedule.src != schedule.dst
    sent = _per_node(schedule.src[moved], sizes[moved], schedule.nodes)
    summed = _per_node(schedule.dst[reduced], sizes[reduced], schedule.nodes)
    looked_at = sampled(schedule)
    if schedule.precedence is not None:
        depth, staged = schedule.precedence.depth, 0
    else:
        depth, staged = _depth_and_staged(looked_at, number_cells(looked_at))
    return Counts(
        steps=schedule.steps,
        depth=depth,
        transfers=int(moved.sum()),
        bytes_sent_max=max(sent[: schedule.ranks]),
        bytes_sent_total=sum(sent),
        bytes_reduced_max=max(summed[: schedule.ranks]),
        bytes_reduced_total=sum(summed),
        staged=staged if looked_at is schedule else None,
    )


def _per_node(node: NDArray[np.int32], sizes: NDArray[np.int64], nodes: int) -> list[int]:
    total = np.zeros(nodes, dtype=np.int64)
    np.add.at(total, node, sizes)
    return list(map(int, total))


def _depth_and_staged(schedule: Schedule, cells: Cells) -> tuple[int, int]:
    chain = np.zeros(cells.count, dtype=np.int32)
    sends = np.full(cells.count, -1, dtype=np.int32)
    deepest = np.zeros(len(schedule), dtype=np.int32)
    staged = 0
    for moves in cells.moves(schedule):
        step = fast(follow_steps, len(moves.row))
        columns = (moves.row, moves.source, moves.target, moves.ends)
        staged += int(step(*columns, moves.first, chain, sends, deepest))
    return int(chain.max(initial=0)), staged


def follow_steps(
    row: NDArray[np.int64],
    source: NDArray[np.int64],
    target: NDArray[np.int64],
    ends: NDArray[np.int64],
    step: int,
    chain: NDArray[np.int32],
    sends: NDArray[np.int32],
    deepest: NDArray[np.int32],
) -> int:
    """Longest chains up to every cell after some steps, from `step` on; how many arrivals were staged."""
    start = staged = 0
    for stop in ends:
        for move in range(start, stop):
            deepest[row[move]] = max(deepest[row[move]], chain[source[move]] + 1)
            sends[source[move]] = step
        for move in range(start, stop):
            cell = target[move]
            chain[cell] = max(chain[cell], deepest[row[move]])
            if sends[cell] == step:
                staged += 1
                # a cell counts once a step
                sends[cell] = -1
        start = stop
        step += 1
    return staged
