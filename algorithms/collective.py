"""Collectives: what every rank holds before, and must hold after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

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

MOST_CHUNKS: Final = 1 << 24
"""Chunks into which a collective's vectors may be cut: an All-to-All of 4,096 ranks."""

Place = Literal["root", "peer", "each", "every"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of collective: where its chunks come from, and where they must end.

    Attributes
    ----------
    source, target : {'root', 'peer', 'each', 'every'}
        One rank; one rank for each chunk; or all of them. A chunk that comes from every rank is
        the sum of what they contribute.
    dual : str or None
        The kind in which sources and targets have changed places, where there is one.
    """

    source: Place
    target: Place
    dual: str | None = None

    @property
    def rooted(self) -> bool:
        """Whether one rank is the root."""
        return "root" in (self.source, self.target)

    @property
    def by_rank(self) -> bool:
        """Whether each rank has blocks of its own, whose sizes may differ."""
        return "each" in (self.source, self.target)


KINDS: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        "broadcast": Kind("root", "every", "reduce"),
        "reduce": Kind("every", "root", "broadcast"),
        "scatter": Kind("root", "each", "gather"),
        "gather": Kind("each", "root", "scatter"),
        "reduce_scatter": Kind("every", "each", "allgather"),
        "allgather": Kind("each", "every", "reduce_scatter"),
        "allreduce": Kind("every", "every"),
        "all_to_all": Kind("each", "each", "all_to_all"),
        "barrier": Kind("each", "every"),
        "send_recv": Kind("root", "peer", "send_recv"),
    }
)

COLLECTIVES: Final = tuple(KINDS)


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
        Bytes of each chunk.
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
        """Bytes of the full vector M; of an All-to-All, what the fullest rank has for all."""
        if self.kind != "all_to_all":
            return int(self.sizes.sum())
        held = np.zeros(self.ranks, dtype=np.int64)
        np.add.at(held, self.source, self.sizes)
        return int(held.max())

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
    kind: str,
    ranks: int,
    size: int,
    *,
    blocks: int | None = None,
    segments: int = 1,
    shift: int = 0,
    root: int = 0,
    peer: int | None = None,
) -> Collective:
    """Collective of a kind over `ranks` ranks and a full vector of `size` bytes.

    The vector is split into blocks first, and each block into segments after; chunk
    b * segments + s is segment s of block b.

    Parameters
    ----------
    kind : str
        One of `COLLECTIVES`. Where each rank has a block of its own, it is block i of rank i.
        All-to-All: block s * N + d goes from rank s to rank d. Barrier: block i is the token of
        rank i, of no bytes. Send and receive: one block.
    ranks, size : int
        N and M. M is what the root, or every rank, has before or after; what one rank has for all in
        an All-to-All.
    blocks : int, optional
        N, except for a Broadcast, Reduce or AllReduce that cuts the vector otherwise.
    segments : int
        Parts of each block.
    shift : int
        Where each rank has a block of its own: rank i owns block (i + shift) mod N.
    root, peer : int
        Of the kinds that have them; the default peer is the rank after the root.

    Raises
    ------
    ScheduleError
        If the collective is not known, or N, M, the root or the peer is out of range.
    """
    check_kind(kind)
    check_ranks(ranks)
    _check_sizes(kind, size)
    check_rank(root, ranks, "root")
    peer = (root + 1) % ranks if peer is None else peer
    check_rank(peer, ranks, "peer")
    if kind == "send_recv" and peer == root and ranks > 1:
        raise ScheduleError(f"rank {root} cannot send to itself", ("peer",))
    given = blocks is not None
    blocks = (1 if kind == "send_recv" else ranks) if blocks is None else blocks
    chunks = segments * (ranks**2 if kind == "all_to_all" else blocks)
    if chunks > MOST_CHUNKS:
        text = f"the vectors would be cut into {chunks:,} chunks; at most {MOST_CHUNKS:,} fit"
        raise ScheduleError(text, ("blocks",) if given and blocks > MOST_CHUNKS else ())
    if kind == "all_to_all":
        return _all_to_all(ranks, size, segments)
    sizes = _cut(split(size, blocks), segments)
    places: dict[Place, NDArray[np.int32]] = {
        "root": np.full(len(sizes), root, dtype=np.int32),
        "peer": np.full(len(sizes), peer, dtype=np.int32),
        "every": np.full(len(sizes), EVERY, dtype=np.int32),
        "each": np.repeat((np.arange(blocks) - shift) % ranks, segments).astype(np.int32),
    }
    return Collective(kind, ranks, sizes, places[KINDS[kind].source], places[KINDS[kind].target])


def _all_to_all(ranks: int, size: int, segments: int) -> Collective:
    rank = np.arange(ranks, dtype=np.int32)
    blocks = _cut(split(size, ranks), segments)
    return Collective(
        "all_to_all",
        ranks,
        np.tile(blocks, ranks),
        np.repeat(rank, ranks * segments),
        np.tile(np.repeat(rank, segments), ranks),
    )


def _cut(blocks: NDArray[np.int64], segments: int) -> NDArray[np.int64]:
    """Sizes of the segments of all blocks, each cut as `split` does it."""
    if segments < 1:
        raise ScheduleError(f"cannot split a block into {segments} parts")
    if segments == 1:
        return blocks
    small, larger = np.divmod(blocks, segments)
    return np.asarray(small[:, None] + (np.arange(segments) < larger[:, None])).ravel()


def bus_factor(kind: str, ranks: int) -> Fraction | None:
    """Share of M that the busiest link must carry: busbw / algbw as nccl-tests define it.

    None where there is none: one rank, or a barrier.
    """
    if ranks == 1 or kind == "barrier":
        return None
    if kind in ("broadcast", "reduce", "send_recv"):
        return Fraction(1)
    return Fraction((2 if kind == "allreduce" else 1) * (ranks - 1), ranks)


def check_kind(kind: str) -> None:
    """Refuse a collective that is not known.

    Raises
    ------
    ScheduleError
    """
    if kind not in KINDS:
        raise ScheduleError(f'there is no collective "{kind}"', ("kind",))


def check_ranks(ranks: int) -> None:
    """Refuse a number of ranks that no topology has.

    Raises
    ------
    ScheduleError
    """
    if not 1 <= ranks <= MOST_RANKS:
        raise ScheduleError(f"a collective has 1 to {MOST_RANKS:,} ranks, found {ranks:,}", ("ranks",))


def check_rank(rank: int, ranks: int, role: str) -> None:
    """Refuse a root or a peer that is not there.

    Raises
    ------
    ScheduleError
    """
    if not 0 <= rank < ranks:
        raise ScheduleError(f"there is no rank {rank} to be the {role} among {ranks}", (role,))


def _check_sizes(kind: str, size: int) -> None:
    if not 0 <= size <= LARGEST:
        raise ScheduleError(f"a size is 0 to 2^50 bytes, found {size}", ("size",))
    if kind == "barrier" and size:
        raise ScheduleError(f"a barrier moves no bytes, found a size of {size}", ("size",))


def check_same_ranks(collective: Collective, topology: Topology) -> None:
    """Refuse a topology with another number of ranks.

    Raises
    ------
    ScheduleError
    """
    if collective.ranks != topology.ranks:
        raise ScheduleError(f"the schedule has {collective.ranks} ranks, the topology {topology.ranks}")
