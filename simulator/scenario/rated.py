"""How good a simulated time is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from algorithms.collective import bus_factor

if TYPE_CHECKING:
    from algorithms.bounds import Bounds
    from algorithms.schedule import Schedule


class Rated(ABC):
    """A collective's simulated time beside its bounds and its bytes."""

    __slots__ = ()

    schedule: Schedule
    bounds: Bounds

    @property
    @abstractmethod
    def time(self) -> float:
        """Simulated seconds."""

    @property
    def gap(self) -> float | None:
        """Simulated time over the best lower bound."""
        return self.time / self.bounds.best if self.bounds.best > 0 else None

    @property
    def algbw(self) -> float | None:
        """M over time, bytes/s, as nccl-tests define it."""
        return self.schedule.collective.size / self.time if self.time > 0 else None

    @property
    def busbw(self) -> float | None:
        """Algbw times the share of M that a link must carry, as nccl-tests define it; None at N = 1."""
        share = bus_factor(self.schedule.collective.kind, self.schedule.ranks)
        return None if share is None or self.algbw is None else float(self.algbw * share)
