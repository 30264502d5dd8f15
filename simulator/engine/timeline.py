"""Timelines: what an engine gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from topologies.clock import to_seconds
from topologies.text import format_time

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.engine.plan import Plan


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Timeline:
    """When each hop of a plan arrived at its resource, was granted it, and released it.

    Attributes
    ----------
    plan : Plan
        What was run.
    arrival, grant, release : ndarray of int64, shape (hops,)
        fs from the start.
    engine : str
        Who ran it.
    """

    plan: Plan
    arrival: NDArray[np.int64]
    grant: NDArray[np.int64]
    release: NDArray[np.int64]
    engine: str

    def __repr__(self) -> str:
        return f"<Timeline of {self.plan.hops:,} hops: {format_time(self.seconds)}>"

    def operation(self) -> NDArray[np.int64]:
        """Operation of each hop."""
        return self.plan.operation()

    def hop(self) -> NDArray[np.int64]:
        """Position of each hop in its operation's walk."""
        first = self.plan.hop_offset[:-1].astype(np.int64)
        return np.arange(self.plan.hops) - np.repeat(first, np.diff(self.plan.hop_offset))

    @property
    def time(self) -> int:
        """Fs until the last operation has finished; 0 for an empty plan."""
        latency = self.plan.resources.latency[self.plan.resource]
        return int((self.release + latency).max(initial=0))

    @property
    def seconds(self) -> float:
        """`time` in seconds."""
        return to_seconds(self.time)
