"""What came of several collectives on one network."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from simulator.engine.analysis import use_of
from simulator.engine.critical_path import critical_path
from simulator.scenario.answer import Answer
from simulator.scenario.rated import Rated
from topologies.clock import to_seconds
from topologies.text import format_time

if TYPE_CHECKING:
    from algorithms.bounds import Bounds
    from algorithms.counts import Counts
    from algorithms.schedule import Schedule
    from simulator.engine.analysis import LinkUse
    from simulator.engine.critical_path import CriticalPath
    from simulator.engine.timeline import Timeline
    from simulator.engine.together import Together
    from simulator.scenario.together_models import Background, Member, TogetherScenario
    from topologies.topology import Topology


@dataclass(frozen=True, slots=True, eq=False)
class MemberResult(Rated):
    """What came of one of several collectives.

    Attributes
    ----------
    position : int
        In the list of the file.
    member : Member
    schedule : Schedule
    ranks : tuple of int
        The topology's ranks that played rank 0, 1, ...
    counts : Counts
    bounds : Bounds
        Seconds; of its ranks with the network to themselves.
    congestion_factor : float or None
        By itself; None where M is 0.
    analytic : float or None
        Seconds of the closed form; None where there is none.
    verified : str
        How it was proven.
    start, finish : int
        When it could begin, and when it had finished, fs.
    duration_alone : int
        What it takes from the same start with the network to itself, fs.
    """

    position: int
    member: Member
    schedule: Schedule
    ranks: tuple[int, ...]
    counts: Counts
    bounds: Bounds
    congestion_factor: float | None
    analytic: float | None
    verified: str
    start: int
    finish: int
    duration_alone: int

    @property
    def name(self) -> str:
        """What it goes by in the scenario."""
        return self.member.name

    @property
    def duration(self) -> int:
        """Fs from its start to its finish."""
        return self.finish - self.start

    @property
    def time(self) -> float:
        """`duration` in seconds."""
        return to_seconds(self.duration)

    @property
    def alone(self) -> float:
        """`duration_alone` in seconds."""
        return to_seconds(self.duration_alone)

    @property
    def slowdown(self) -> float | None:
        """Its time over that alone; None where it takes none."""
        return self.duration / self.duration_alone if self.duration_alone else None


@dataclass(frozen=True, slots=True, eq=False)
class BackgroundResult:
    """What came of background messages.

    Attributes
    ----------
    background : Background
    durations : tuple of int
        What each message took from the moment when it was sent, fs.
    finish : int
        When the last had arrived, fs.
    duration_alone : int
        What a message takes with the network to itself, fs.
    """

    background: Background
    durations: tuple[int, ...]
    finish: int
    duration_alone: int

    @property
    def time(self) -> float:
        """Seconds that a message takes on average."""
        return to_seconds(sum(self.durations)) / len(self.durations)

    @property
    def longest(self) -> float:
        """Seconds that the slowest message takes."""
        return to_seconds(max(self.durations))

    @property
    def alone(self) -> float:
        """`duration_alone` in seconds."""
        return to_seconds(self.duration_alone)

    @property
    def slowdown(self) -> float | None:
        """The average time over that alone; None where a message takes none."""
        whole = self.duration_alone * len(self.durations)
        return sum(self.durations) / whole if whole else None


@dataclass(frozen=True, eq=False, repr=False)
class TogetherResult(Answer):
    """What came of a scenario of several collectives.

    Attributes
    ----------
    scenario : TogetherScenario
    topology : Topology
    members : tuple of MemberResult
        In the order of the file.
    background : tuple of BackgroundResult
    together : Together
        What ran: the collectives in an order in which each comes after those that it waits for,
        then the background.
    order : tuple of int
        Which of the members each of its jobs is.
    timeline : Timeline
    warnings : tuple of str
        What a person should know about the scenario.
    """

    scenario: TogetherScenario
    topology: Topology
    members: tuple[MemberResult, ...]
    background: tuple[BackgroundResult, ...]
    together: Together
    order: tuple[int, ...]
    timeline: Timeline
    warnings: tuple[str, ...]

    @property
    def headline(self) -> str:
        """What it is of, and what came of it."""
        return f"{self.scenario.name}: {format_time(self.time)}"

    @property
    def duration(self) -> int:
        """Fs until the last of the collectives has finished."""
        return max(member.finish for member in self.members)

    @property
    def time(self) -> float:
        """`duration` in seconds."""
        return to_seconds(self.duration)

    @cached_property
    def critical_path(self) -> CriticalPath:
        """What made the time until the last of the collectives has finished; found when first asked for."""
        operations = int(self.together.first[len(self.members)])
        return critical_path(self.timeline, self.topology, operations)

    @property
    def link_use(self) -> LinkUse:
        """Use of the links; counted anew at every call."""
        return use_of(self.timeline, self.together.carried)

    @property
    def wire_rate(self) -> float | None:
        """Bytes/s over the link with the most bytes, on average until everything has ended."""
        return self.link_use.rate(self.timeline.time)

    @property
    def verified(self) -> str:
        """How the schedules were proven: where not all alike, the least of it."""
        found = {member.verified for member in self.members}
        return next((how for how in ("no", *sorted(found - {"full"})) if how in found), "full")

    @property
    def names(self) -> tuple[str, ...]:
        """Name of each of the jobs that ran."""
        streams = tuple(f"background {i}" for i in range(len(self.background)))
        return (*(self.members[i].name for i in self.order), *streams)
