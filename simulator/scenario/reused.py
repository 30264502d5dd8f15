"""What runs one after the other have in common: made once, and used again where the next is alike."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from simulator.scenario.resize import evenly_resized

if TYPE_CHECKING:
    from collections.abc import Callable

    from algorithms.proof import Verify
    from algorithms.schedule import Schedule
    from simulator.scenario.models import CollectiveChoice, TopologyChoice
    from topologies.topology import Topology


@dataclass(slots=True, eq=False)
class Reused:
    """The topology and the schedule of the run before, and how that was proven.

    A new one has nothing, so that a run by itself makes everything.
    """

    _shape: TopologyChoice | None = None
    _topology: Topology | None = None
    _choice: CollectiveChoice | None = None
    _schedule: Schedule | None = None
    _proofs: dict[Verify | None, str] = field(default_factory=dict)

    def topology(self, choice: TopologyChoice, make: Callable[[], Topology]) -> Topology:
        """A topology, made anew unless the last one was the same."""
        if self._topology is None or choice != self._shape:
            self._schedule = None
            self._topology = make()
            self._shape = choice
        return self._topology

    def schedule(self, choice: CollectiveChoice, make: Callable[[], Schedule]) -> Schedule:
        """A schedule on the last topology, made anew unless the last one can be resized to it."""
        schedule = self._resized(choice)
        if schedule is None:
            self._schedule = None
            self._proofs = {}
            schedule = make()
        self._schedule, self._choice = schedule, choice
        return schedule

    def proof(self, how: Verify | None, make: Callable[[], str]) -> str:
        """How the last schedule is proven: which chunks move does not depend on their sizes."""
        if how not in self._proofs:
            self._proofs[how] = make()
        return self._proofs[how]

    def _resized(self, choice: CollectiveChoice) -> Schedule | None:
        """The last schedule at another size; None where it is of something else, or somebody's own."""
        if self._schedule is None or self._choice is None or choice.own is not None:
            return None
        if choice == self._choice:
            return self._schedule
        alike = replace(self._choice, size=choice.size) == choice
        return evenly_resized(self._schedule, choice.size) if alike else None
