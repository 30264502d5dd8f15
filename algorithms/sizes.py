"""Blocks of other sizes: one for each rank, or for each pair of ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from algorithms.collective import KINDS, LARGEST, Collective
from algorithms.errors import ScheduleError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def resized(collective: Collective, sizes: Sequence[int | Sequence[int]]) -> Collective:
    """The same chunks with blocks of other sizes.

    Parameters
    ----------
    collective : Collective
        Of a kind in which each rank has a block of its own.
    sizes : sequence of int, shape (ranks,), or of sequences, shape (ranks, ranks)
        Bytes of every rank's block; of an All-to-All, of the block from rank s to rank d.

    Raises
    ------
    ScheduleError
        If there are too few or too many, or one is out of range.
    """
    shape = KINDS[collective.kind]
    if not shape.by_rank or collective.kind == "barrier":
        raise ScheduleError(f"{collective.kind} has no sizes by rank", ("sizes",))
    table = _size_table(collective, sizes)
    owner = collective.source if shape.source == "each" else collective.target
    block = owner.astype(np.int64)
    if collective.kind == "all_to_all":
        block = block * collective.ranks + collective.target
    parts = np.bincount(block, minlength=len(table))
    order = np.argsort(block, kind="stable")
    part = np.empty(len(block), dtype=np.int64)
    part[order] = np.arange(len(block)) - (np.cumsum(parts) - parts)[block[order]]
    small, larger = np.divmod(table[block], parts[block])
    return replace(collective, sizes=small + (part < larger))


def _size_table(collective: Collective, sizes: Sequence[int | Sequence[int]]) -> NDArray[np.int64]:
    """Bytes of each block, flat."""
    ranks, several = collective.ranks, collective.kind == "all_to_all"
    if len(sizes) != ranks:
        raise ScheduleError(f"sizes of {ranks} ranks are needed, found {len(sizes)}", ("sizes",))
    flat: list[int] = []
    for i, entry in enumerate(sizes):
        for size in [entry] if not isinstance(entry, Sequence) else entry:
            if type(size) is not int:
                raise ScheduleError(f"a size is a whole number, found {size!r}", ("sizes", i))
        row: list[int] = [entry] if isinstance(entry, int) else list(entry)
        if isinstance(entry, int) == several:
            wanted = "a row of sizes for each rank" if several else "one size for each rank"
            raise ScheduleError(f"{collective.kind} takes {wanted}", ("sizes", i))
        if several and len(row) != ranks:
            raise ScheduleError(f"rank {i} needs {ranks} sizes, found {len(row)}", ("sizes", i))
        flat += row
    for i, size in enumerate(flat):
        if not 0 <= size <= LARGEST // ranks:
            at = ("sizes", i // ranks, i % ranks) if several else ("sizes", i)
            raise ScheduleError(f"a block is 0 to {LARGEST // ranks} bytes, found {size}", at)
    return np.array(flat, dtype=np.int64)
