"""Exchanges that swing from side to side, of which Swing and Bine trees are made.

In step s rank r exchanges with r + rho(s) where r is even, and with r - rho(s) where it is odd;
rho(s) = (1 - (-2)^(s + 1)) / 3 = 1, -1, 3, -5, 11, ... (De Sensi, Bonato, Saam and Hoefler 2024).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from algorithms.schedule import COPY, REDUCE, Lists, Step, check_moves

if TYPE_CHECKING:
    from numpy.typing import NDArray


def swing_distance(step: int) -> int:
    """Signed rho(s): how far an even rank goes in a step.

    >>> [swing_distance(step) for step in range(6)]
    [1, -1, 3, -5, 11, -21]
    """
    return (1 - int((-2) ** (step + 1))) // 3


def swing_turns(dims: Sequence[int], start: int = 0) -> list[tuple[int, int]]:
    """(dimension, step along it) of every step: the dimensions in turn, those that are through left out.

    >>> swing_turns([8, 2])
    [(0, 0), (1, 0), (0, 1), (0, 2)]
    """
    steps = [(size - 1).bit_length() for size in dims]
    order = [*range(start, len(dims)), *range(start)]
    return [(dim, step) for step in range(max(steps, default=0)) for dim in order if step < steps[dim]]


def swing_peers(dims: Sequence[int], start: int = 0, way: int = 1) -> list[NDArray[np.int64]]:
    """Partner of every rank in every step.

    Parameters
    ----------
    dims : sequence of int
        Even each.
    start : int
        The dimension of the first step.
    way : {1, -1}
        -1 for the mirror image: even ranks go the other way.

    Examples
    --------
    >>> [peer.tolist() for peer in swing_peers([4])]
    [[1, 0, 3, 2], [3, 2, 1, 0]]
    """
    rank = np.arange(prod(dims))
    peers = []
    for dim, step in swing_turns(dims, start):
        stride = prod(dims[:dim])
        place = rank // stride % dims[dim]
        jump = np.where(place % 2 == 0, 1, -1) * way * swing_distance(step)
        peers.append(rank + stride * ((place + jump) % dims[dim] - place))
    return peers


def swing_allgather(peers: Sequence[NDArray[np.int64]]) -> Iterator[Step]:
    """AllGather along exchanges, the last of them first: each sends what its partner has not yet.

    The mirror of a ReduceScatter in which a block that could leave a rank in several steps leaves in the
    last of them, as the authors' library has it.
    """
    rank = np.arange(len(peers[0]) if peers else 1)
    check_moves(len(rank) * (len(rank) - 1))
    held = np.eye(len(rank), dtype=bool)
    for partner in reversed(peers):
        sent = held & ~held[partner]
        offsets = np.concatenate([[0], np.cumsum(sent.sum(axis=1))])
        yield (rank, partner, Lists(offsets, np.nonzero(sent)[1]), COPY)
        held |= held[partner]


def exchange_steps(copies: Sequence[Sequence[NDArray[np.int64]]]) -> Iterator[Step]:
    """AllReduce of 2^k ranks by exchanges of all that there is: chunk k along the peers of copy k."""
    for partners in zip(*copies, strict=True):
        yield [
            (np.arange(len(partner)), partner, np.full(len(partner), copy), REDUCE)
            for copy, partner in enumerate(partners)
        ]
