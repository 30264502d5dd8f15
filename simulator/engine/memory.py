"""How much memory a run takes, told before it is taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from simulator.engine.errors import PlanError
from topologies.text import format_bytes

PER_TRANSFER: Final = 80
PER_HOP: Final = 60
PER_PART: Final = 200
PER_ROOM: Final = 100
"""Bytes at the peak of a run, measured: the columns of schedule, plan and timeline, and what is in work.

A part is an operation of a transfer that has several, a room what a hop takes of a finite buffer.
"""

SMALL: Final = 1 << 28
"""Bytes that every machine has: so much is not looked into."""

SHARE: Final = 0.8
"""Of the memory that is free, what a run may take where nothing else is said."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What a run may take.

    Attributes
    ----------
    limit : int, optional
        Bytes; None for 80 % of what is free.
    """

    limit: int | None = None

    def check(self, transfers: int, hops: int, parts: int = 0, rooms: int = 0) -> None:
        """Refuse a run that would take more.

        Parameters
        ----------
        transfers, hops : int
            Messages of the schedule, and what they walk over.
        parts, rooms : int
            Operations of transfers that have several; hops that take room in finite buffers.

        Raises
        ------
        PlanError
            With the numbers.
        """
        needed = PER_TRANSFER * transfers + PER_HOP * hops + PER_PART * parts + PER_ROOM * rooms
        if self.limit is None and needed <= SMALL:
            return
        limit = self.limit if self.limit is not None else int(SHARE * free_memory())
        if needed > limit:
            what = f" of {parts:,} operations" if parts else ""
            raise PlanError(
                f"{transfers:,} transfers{what} over {hops:,} hops take about {format_bytes(needed)} "
                f"of memory; the limit is {format_bytes(limit)}"
            )


def free_memory() -> int:
    """Bytes that programs can still take on this machine."""
    import psutil

    return int(psutil.virtual_memory().available)
