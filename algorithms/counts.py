"""Counts of a schedule: steps, depth, transfers, bytes sent and reduced, staged arrivals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from algorithms.proof import Cells, distinct, number_cells
from algorithms.schedule import REDUCE

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
        Longest chain of transfers in which each sends what the one before it delivered.
    transfers : int
        Messages.
    bytes_sent_max, bytes_sent_total : int
        By the busiest rank; by all, and by switches that take part.
    bytes_reduced_max, bytes_reduced_total : int
        Bytes that arrive to be reduced, at the busiest rank; at all, and at switches.
    messages_max : int
        Most messages that a rank, or a switch, sends or receives.
    staged : int
        Cells (rank, chunk) written in a step in which their rank also sends that chunk.
    """

    steps: int
    depth: int
    transfers: int
    bytes_sent_max: int
    bytes_sent_total: int
    bytes_reduced_max: int
    bytes_reduced_total: int
    messages_max: int
    staged: int


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
    sent = _per_node(schedule.src, sizes, schedule.nodes)
    summed = _per_node(schedule.dst[reduced], sizes[reduced], schedule.nodes)
    depth, staged = _depth_and_staged(schedule, number_cells(schedule))
    return Counts(
        steps=schedule.steps,
        depth=depth,
        transfers=len(schedule),
        bytes_sent_max=max(sent[: schedule.ranks]),
        bytes_sent_total=sum(sent),
        bytes_reduced_max=max(summed[: schedule.ranks]),
        bytes_reduced_total=sum(summed),
        messages_max=max(int(np.bincount(end).max(initial=0)) for end in (schedule.src, schedule.dst)),
        staged=staged,
    )


def _per_node(node: NDArray[np.int32], sizes: NDArray[np.int64], nodes: int) -> list[int]:
    total = np.zeros(nodes, dtype=np.int64)
    np.add.at(total, node, sizes)
    return list(map(int, total))


def _depth_and_staged(schedule: Schedule, cells: Cells) -> tuple[int, int]:
    chain = np.zeros(cells.count, dtype=np.int32)
    sends = np.full(cells.count, -1, dtype=np.int32)
    staged = 0
    for step, (start, stop) in enumerate(schedule.step_bounds()):
        row, chunk = schedule.moves(start, stop)
        source, target = cells.number(schedule.src[row], chunk), cells.number(schedule.dst[row], chunk)
        deepest = np.zeros(stop - start, dtype=np.int32)
        np.maximum.at(deepest, row - start, chain[source] + 1)
        np.maximum.at(chain, target, deepest[row - start])
        sends[source] = step
        written = target[sends[target] == step]
        staged += len(distinct(written))
    return int(chain.max(initial=0)), staged
