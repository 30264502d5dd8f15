"""How much memory a run takes, told before it is taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from simulator.engine.errors import PlanError
from topologies.text import format_bytes

PER_TRANSFER: Final = 80
PER_HOP: Final = 60
"""Bytes at the peak of a run, measured: the columns of schedule, plan and timeline, and what is in work."""

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

    def check(self, transfers: int, hops: int) -> None:
        """Refuse a run that would take more.

        Parameters
        ----------
        transfers, hops : int
            Messages of the schedule, or packets of it; links and reducers that they walk over.

        Raises
        ------
        PlanError
            With the numbers.
        """
        needed = PER_TRANSFER * transfers + PER_HOP * hops
        if self.limit is None and needed <= SMALL:
            return
        limit = self.limit if self.limit is not None else int(SHARE * free_memory())
        if needed > limit:
            raise PlanError(
                f"{transfers:,} transfers over {hops:,} hops take about {format_bytes(needed)} of memory; "
                f"the limit is {format_bytes(limit)}"
            )


def free_memory() -> int:
    """Bytes that programs can still take on this machine."""
    import psutil

    return int(psutil.virtual_memory().available)
