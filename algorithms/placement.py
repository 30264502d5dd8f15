"""Where to put the ranks of a schedule: the search behind `placement: auto`."""

from __future__ import annotations

from itertools import permutations
from math import factorial
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.collective import check_same_ranks
from algorithms.congestion import path_shares
from algorithms.errors import ScheduleError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from algorithms.schedule import Schedule
    from topologies.topology import Topology

EXHAUSTIVE: Final = 8
"""Ranks up to which every placement is tried."""

MOST_RANKS: Final = 64
"""Ranks up to which a placement is searched."""

_BATCH: Final = 2048


def find_placement(schedule: Schedule, topology: Topology) -> NDArray[np.int64]:
    """Placement with a small static congestion factor; of equally good ones, with the fewest link-bytes.

    Up to 8 ranks all placements are tried and the result is the best there is; up to 64 it is the
    best that swapping two ranks at a time finds from the natural order.

    Parameters
    ----------
    schedule : Schedule
    topology : Topology
        With as many ranks.

    Returns
    -------
    ndarray of int64, shape (ranks,)
        The topology's rank that plays each rank; the natural order where nothing is better.

    Raises
    ------
    ScheduleError
        If the topology has another number of ranks, or more than 64, or if switches take part.
    """
    check_same_ranks(schedule.collective, topology)
    if schedule.switches:
        raise ScheduleError("placement: auto cannot move ranks away from their switches", ("placement",))
    if topology.ranks > MOST_RANKS:
        raise ScheduleError(
            f"placement: auto searches up to {MOST_RANKS} ranks, found {topology.ranks}", ("placement",)
        )
    judge = _Judge(schedule, topology)
    natural = np.arange(topology.ranks)
    if topology.ranks <= EXHAUSTIVE:
        return _best_of_all(judge, topology.ranks)
    return _by_swapping(judge, natural)


class _Judge:
    """Judges placements by the loads that they put on links."""

    def __init__(self, schedule: Schedule, topology: Topology) -> None:
        ranks = topology.ranks
        src, dst = (end.ravel() for end in np.meshgrid(np.arange(ranks), np.arange(ranks), indexing="ij"))
        apart = src != dst
        shares = path_shares(topology, src[apart], dst[apart])
        self.share = np.zeros((ranks * ranks, len(topology.links)))
        np.add.at(self.share, (np.flatnonzero(apart)[shares.pair], shares.link), shares.share)
        self.ranks = ranks
        self.src, self.dst = schedule.src, schedule.dst
        self.bytes = schedule.sizes().astype(np.float64)
        self.bounds = schedule.step_bounds()

    def score(self, placements: NDArray[np.int64]) -> NDArray[np.float64]:
        """(congestion, link-bytes) of each placement, rounded so that ties are ties; (placements, 2)."""
        pair = placements[:, self.src] * self.ranks + placements[:, self.dst]
        worst = np.zeros(len(placements))
        total = np.zeros(len(placements))
        for start, stop in self.bounds:
            load = np.einsum("pte,t->pe", self.share[pair[:, start:stop]], self.bytes[start:stop])
            worst += load.max(axis=1, initial=0.0)
            total += load.sum(axis=1)
        scale = max(1.0, float(self.bytes.sum()))
        return np.round(np.stack([worst, total], axis=1) / scale, 9)


def _best_of_all(judge: _Judge, ranks: int) -> NDArray[np.int64]:
    best, found = np.array([np.inf, np.inf]), np.arange(ranks)
    for batch in _batches(ranks):
        scores = judge.score(batch)
        first = int(np.lexsort((np.arange(len(batch)), scores[:, 1], scores[:, 0]))[0])
        if tuple(scores[first]) < tuple(best):
            best, found = scores[first], batch[first]
    return found


def _batches(ranks: int) -> Iterator[NDArray[np.int64]]:
    """All placements, in lexicographic order, some at a time."""
    every = permutations(range(ranks))
    for start in range(0, factorial(ranks), _BATCH):
        count = min(_BATCH, factorial(ranks) - start)
        yield np.array([next(every) for _ in range(count)], dtype=np.int64)


def _by_swapping(judge: _Judge, placement: NDArray[np.int64]) -> NDArray[np.int64]:
    """Take the best swap of two ranks as long as one helps."""
    best = tuple(judge.score(placement[None])[0])
    first, second = np.triu_indices(len(placement), k=1)
    while True:
        swapped = np.repeat(placement[None], len(first), axis=0)
        row = np.arange(len(first))
        swapped[row, first], swapped[row, second] = placement[second], placement[first]
        scores = np.concatenate(
            [judge.score(part) for part in np.array_split(swapped, -(-len(swapped) // 64))]
        )
        winner = int(np.lexsort((row, scores[:, 1], scores[:, 0]))[0])
        if tuple(scores[winner]) >= best:
            return placement
        best, placement = tuple(scores[winner]), swapped[winner]
