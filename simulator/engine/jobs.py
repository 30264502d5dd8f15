"""Schedules on ranks of a network: who plays them, and when they start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from simulator.engine.hops import clipped
from topologies.clock import FEMTOSECONDS, femtoseconds
from topologies.errors import TopologyError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.schedule import Schedule
    from simulator.engine.network import Sync
    from topologies.topology import Topology


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A schedule on ranks of a topology, from a moment on.

    Attributes
    ----------
    schedule : Schedule
    place : ndarray of int64, shape (ranks,)
        The topology's rank that plays each of the schedule's.
    start : float or Fraction
        Seconds from the beginning or, where it comes after others, from their end.
    delay : mapping of int to float or Fraction
        Seconds by which a rank of the schedule begins later than the others.
    after : tuple of int
        Jobs, by their position, that must all have finished.
    sync : {'step', 'dataflow', 'barrier'}, optional
        The network's by default.
    """

    schedule: Schedule
    place: NDArray[np.int64]
    start: float | Fraction = 0.0
    delay: Mapping[int, float | Fraction] = field(default_factory=dict)
    after: tuple[int, ...] = ()
    sync: Sync | None = None

    def holds(self) -> dict[int, int]:
        """Femtoseconds for which each rank that does not begin at once is held back.

        Raises
        ------
        TopologyError
            If a rank is not there, or a time is less than nothing.
        """
        for rank in self.delay:
            if not 0 <= rank < self.schedule.ranks:
                raise TopologyError(f"there is no rank {rank} to delay", ("delay", rank))
            _check_time("a delay", self.delay[rank], ("delay", rank))
        _check_time("a start", self.start, ("start",))
        start = femtoseconds(self.start)
        late = range(self.schedule.ranks) if self.start or self.after else sorted(self.delay)
        held = {rank: start + femtoseconds(self.delay.get(rank, 0)) for rank in late}
        # who is late by nothing begins at once, in the first round of its instant
        return {rank: clipped(time) for rank, time in held.items() if time or self.after}

    def node(self, node: int) -> int:
        """The topology's number of a rank, or of a switch, which has that of the topology already."""
        return int(self.place[node]) if node < len(self.place) else node

    def check_place(self, topology: Topology) -> None:
        """Refuse ranks that the topology does not have, and some of them where its switches take part.

        Raises
        ------
        TopologyError
        """
        if len(self.place) != self.schedule.ranks:
            message = f"the schedule has {self.schedule.ranks} ranks, its group {len(self.place)}"
            raise TopologyError(message, ("ranks",))
        absent = (self.place < 0) | (self.place >= topology.ranks)
        if absent.any():
            which = int(np.argmax(absent))
            message = f"there is no rank {self.place[which]}; ranks are 0 to {topology.ranks - 1}"
            raise TopologyError(message, ("ranks", which))
        if self.schedule.switches and len(self.place) != topology.ranks:
            message = (
                f'"{self.schedule.algorithm}" works in the topology\'s switches, so that all of its '
                f"{topology.ranks} ranks must take part, found {len(self.place)}"
            )
            raise TopologyError(message, ("ranks",))


def _check_time(what: str, time: float | Fraction, at: tuple[str | int, ...]) -> None:
    if not 0 <= time < float("inf"):
        raise TopologyError(f"{what} is zero or more and finite, found {time}", at)


def alone(job: Job, start: int) -> Job:
    """The same job after no other, from `start` fs on."""
    return replace(job, start=Fraction(start, FEMTOSECONDS), after=())
