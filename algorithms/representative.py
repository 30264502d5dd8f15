"""Rank 0's transfers, and the group that makes everybody's of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.assembly import assemble, settled
from algorithms.collective import EVERY, Collective, make_collective, split
from algorithms.compose import then
from algorithms.schedule import COPY, REDUCE, Schedule, Step
from topologies.translations import Translations, translations

if TYPE_CHECKING:
    from numpy.typing import NDArray

RANK_0: Final = np.zeros(1, dtype=np.int64)
"""The one sender whose steps are asked of an algorithm."""


@dataclass(frozen=True, slots=True, eq=False)
class Representative:
    """One rank of a schedule that looks the same from all of them.

    A translation that takes rank 0 to rank g takes each of its transfers to one of rank g's: its
    destination is moved by g, and so are the blocks that it carries, where every rank has one. An
    All-to-All has a block for each pair of ranks, and both are moved. Segments stay.

    Attributes
    ----------
    schedule : Schedule
        Rank 0's transfers, in their order. Its collective has all chunks, but of an All-to-All only
        those that rank 0 has at the start.
    group : Translations
        As many as there are ranks.
    """

    schedule: Schedule
    group: Translations

    @property
    def ranks(self) -> int:
        """Number of ranks N."""
        return self.schedule.ranks

    @property
    def segments(self) -> int:
        """Chunks of each block that is moved; 0 where the vector is whole, and stays."""
        return self.schedule.collective.chunks // self.ranks

    @property
    def is_even(self) -> bool:
        """Whether the group moves chunks to chunks of the same size."""
        sizes = self.schedule.collective.sizes
        return not self.segments or bool((sizes.reshape(-1, self.segments) == sizes[: self.segments]).all())

    def moved(self, chunk: NDArray[np.int64], back: NDArray[np.int64]) -> NDArray[np.int64]:
        """Chunks after a translation that takes rank `back` to rank 0.

        Of an All-to-All they are numbered source * N + destination, in segments.
        """
        if not self.segments:
            return chunk
        block, segment = np.divmod(chunk, self.segments)
        moved = self.group.subtract(block, back)
        if self.schedule.collective.kind == "all_to_all":
            # the block was rank 0's own
            moved = moved + self.group.subtract(np.zeros_like(back), back) * self.ranks
        return moved * self.segments + segment


def collective_of_rank_0(kind: str, ranks: int, size: int, blocks: int | None = None) -> Collective:
    """As `make_collective`, but of an All-to-All only the chunks that rank 0 has for all."""
    if kind != "all_to_all":
        return make_collective(kind, ranks, size, blocks=blocks)
    place = np.arange(ranks, dtype=np.int32)
    return Collective(kind, ranks, split(size, ranks), np.zeros_like(place), place)


def representative(
    collective: Collective, steps: Iterable[Step], dims: tuple[int, ...], *, algorithm: str = ""
) -> Representative:
    """Representative from the steps of rank 0 alone, on a grid of so many ranks along each dimension.

    Raises
    ------
    ScheduleError
        As `assemble`.
    """
    return Representative(assemble(collective, steps, algorithm=algorithm), translations(dims))


def in_columns(
    collective: Collective,
    step: NDArray[np.int64],
    dst: NDArray[np.int64] | int,
    first: NDArray[np.int64],
    mode: int,
    dims: tuple[int, ...],
    *,
    count: NDArray[np.int64] | int = 1,
    algorithm: str = "",
) -> Representative:
    """Representative from rank 0's transfers as columns: millions of steps at once.

    Parameters
    ----------
    collective : Collective
    step, dst, first, count : ndarray of int64, shape (transfers,), or int
        As in a `Schedule`, step by step.
    mode : int
        COPY or REDUCE.
    dims, algorithm
        As `representative`.
    """

    def wide(column: NDArray[np.int64] | int) -> NDArray[np.int32]:
        return np.broadcast_to(column, step.shape).astype(np.int32)

    schedule = Schedule(
        collective,
        wide(step),
        wide(0).astype(np.int16),
        wide(0),
        wide(dst),
        wide(first),
        wide(count),
        wide(mode).astype(np.uint8),
        algorithm=algorithm,
    )
    return Representative(settled(schedule), translations(dims))


def followed(
    parts: Sequence[Representative], collective: Collective, *, algorithm: str = ""
) -> Representative:
    """One after the other, as `then` does it."""
    return replace(
        parts[0], schedule=then([part.schedule for part in parts], collective, algorithm=algorithm)
    )


def mirrored(one: Representative, collective: Collective) -> Representative:
    """The same transfers backwards in time, from receiver to sender, as `dual` does it.

    What reaches rank 0 last is what it sends first: a transfer to rank d of a chunk becomes one to the
    rank that d's translation brings to 0.
    """
    schedule = one.schedule
    row, chunk = schedule.moves()
    there = schedule.dst.astype(np.int64)
    moved = one.moved(chunk, there[row])
    backward = slice(None, None, -1)
    mode = REDUCE if (collective.source == EVERY).all() else COPY
    return replace(
        one,
        schedule=settled(
            replace(
                schedule,
                collective=collective,
                step=(schedule.steps - 1 - schedule.step)[backward],
                dst=one.group.subtract(np.zeros_like(there), there)[backward].astype(np.int32),
                first=(np.cumsum(schedule.count) - schedule.count)[backward],
                count=schedule.count[backward],
                mode=np.full(len(schedule), mode, dtype=np.uint8),
                index=moved.astype(np.int32),
            )
        ),
    )
