"""Collectives: what every rank holds before, and must hold after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.errors import ScheduleError
from topologies.wiring import MOST_RANKS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topologies.topology import Topology

EVERY: Final = -1
"""In `Collective.source` and `Collective.target`: not one rank, but every rank."""

LARGEST: Final = 1 << 50
"""Bytes that a vector may have, so that sums over thousands of messages fit 64 bits."""

COLLECTIVES: Final = ("reduce_scatter", "allgather", "allreduce")


@dataclass(frozen=True, slots=True, eq=False)
class Collective:
    """A collective on N ranks, as the initial and the final place of each chunk.

    A chunk is named by what it is, not by where it lies.

    Attributes
    ----------
    kind : str
        One of `COLLECTIVES`.
    ranks : int
        N.
    sizes : ndarray of int64, shape (chunks,)
        Bytes of each chunk; they sum to the full vector M.
    source : ndarray of int32, shape (chunks,)
        The rank that contributes a chunk, or `EVERY` where all do and their values are summed.
    target : ndarray of int32, shape (chunks,)
        The rank that must end with a chunk, or `EVERY`.
    """

    kind: str
    ranks: int
    sizes: NDArray[np.int64]
    source: NDArray[np.int32]
    target: NDArray[np.int32]

    @property
    def chunks(self) -> int:
        """Number of chunks."""
        return len(self.sizes)

    @property
    def size(self) -> int:
        """Bytes of the full vector M."""
        return int(self.sizes.sum())

    def initial(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Cells (rank, chunk) that hold a contribution at the start."""
        return _cells(self.source, self.ranks)

    def final(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Cells (rank, chunk) that must hold the sum of all contributions at the end."""
        return _cells(self.target, self.ranks)


def _cells(place: NDArray[np.int32], ranks: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    chunk = np.arange(len(place), dtype=np.int64)
    everywhere = chunk[place == EVERY]
    one = chunk[place != EVERY]
    rank = np.concatenate([np.repeat(np.arange(ranks), len(everywhere)), place[one].astype(np.int64)])
    return rank, np.concatenate([np.tile(everywhere, ranks), one])


def split(size: int, parts: int) -> NDArray[np.int64]:
    """Sizes of `parts` near-equal parts of `size` bytes; the first size mod parts are one byte larger.

    >>> split(10, 4).tolist()
    [3, 3, 2, 2]
    """
    if parts < 1:
        raise ScheduleError(f"cannot split {size} bytes into {parts} parts")
    small, larger = divmod(size, parts)
    return small + (np.arange(parts, dtype=np.int64) < larger)


def make_collective(
    kind: str, ranks: int, size: int, *, blocks: int | None = None, segments: int = 1, shift: int = 0
) -> Collective:
    """Collective of a kind over `ranks` ranks and a full vector of `size` bytes.

    The vector is split into blocks first, and each block into segments after; chunk
    b * segments + s is segment s of block b.

    Parameters
    ----------
    kind : {'reduce_scatter', 'allgather', 'allreduce'}
        ReduceScatter: every rank starts with M, rank i ends with block i. AllGather: rank i
        starts with block i, every rank ends with M. AllReduce: every rank starts and ends
        with M.
    ranks, size : int
        N and M.
    blocks : int, optional
        N, except for an AllReduce that cuts the vector otherwise.
    segments : int
        Parts of each block.
    shift : int
        ReduceScatter and AllGather: rank i owns block (i + shift) mod N.

    Raises
    ------
    ScheduleError
        If the collective is not known, or N or M is out of range.
    """
    if kind not in COLLECTIVES:
        raise ScheduleError(f'there is no collective "{kind}"', ("kind",))
    check_ranks(ranks)
    if not 0 <= size <= LARGEST:
        raise ScheduleError(f"a size is 0 to 2^50 bytes, found {size}", ("size",))
    blocks = ranks if blocks is None else blocks
    sizes = np.concatenate([split(int(block), segments) for block in split(size, blocks)])
    everyone = np.full(len(sizes), EVERY, dtype=np.int32)
    owner = np.repeat((np.arange(blocks) - shift) % ranks, segments).astype(np.int32)
    source = owner if kind == "allgather" else everyone
    target = owner if kind == "reduce_scatter" else everyone
    return Collective(kind, ranks, sizes, source, target)


def check_ranks(ranks: int) -> None:
    """Refuse a number of ranks that no topology has.

    Raises
    ------
    ScheduleError
    """
    if not 1 <= ranks <= MOST_RANKS:
        raise ScheduleError(f"a collective has 1 to {MOST_RANKS:,} ranks, found {ranks:,}", ("ranks",))


def check_same_ranks(collective: Collective, topology: Topology) -> None:
    """Refuse a topology with another number of ranks.

    Raises
    ------
    ScheduleError
    """
    if collective.ranks != topology.ranks:
        raise ScheduleError(f"the schedule has {collective.ranks} ranks, the topology {topology.ranks}")
