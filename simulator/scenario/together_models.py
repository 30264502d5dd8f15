"""What a scenario of several collectives says, once read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from algorithms.proof import Verify
from simulator.engine.network import Network, Reduction
from simulator.scenario.fields import Short
from simulator.scenario.models import Expect, ExpectedTime, Limits, Scenario, TopologyChoice
from simulator.scenario.source import Source
from topologies.errors import CollsimError
from topologies.quantities import Bytes, Count, Ratio, Time, Whole
from topologies.wiring import MOST_RANKS


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Ranks `first`, `first + every`, ... up to `last`.

    Parameters
    ----------
    first, last : int
        Where they begin, and past which there are none.
    every : int
        How far it is from one to the next.
    """

    first: Whole = 0
    last: Whole
    every: Count = 1

    def __post_init__(self) -> None:
        if self.last < self.first:
            raise CollsimError(f"found {self.last}, before the first, {self.first}", ("last",))
        if self.last >= MOST_RANKS:
            raise CollsimError(f"found {self.last}; there are at most {MOST_RANKS:,} ranks", ("last",))

    def ranks(self) -> tuple[int, ...]:
        """All of them, in rising order."""
        return tuple(range(self.first, self.last + 1, self.every))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectMember(Expect):
    """What one of several collectives must be, beside what one by itself must.

    Parameters
    ----------
    start, finish : ExpectedTime, optional
        When it could begin, and when it had finished; `time` is what lies between.
    alone : ExpectedTime, optional
        The time that it takes with the network to itself.
    slowdown : float or Limits, optional
        Its time over that; a number to 1e-9 relative.
    """

    start: Annotated[ExpectedTime, Short("value")] | None = None
    finish: Annotated[ExpectedTime, Short("value")] | None = None
    alone: Annotated[ExpectedTime, Short("value")] | None = None
    slowdown: Ratio | Limits | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectTogether:
    """What all collectives together must be; None expects nothing.

    Parameters
    ----------
    time : ExpectedTime, optional
        When the last of them has finished.
    verified : {'full', 'sampled', 'no'}, optional
        How the schedules were proven.
    """

    time: Annotated[ExpectedTime, Short("value")] | None = None
    verified: Literal["full", "sampled", "no"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """What an entry of `collectives` says beside the collective itself.

    Parameters
    ----------
    name : str, optional
        By default the kind and the position in the list: `allreduce-0`.
    ranks : sequence of int or Span, optional
        The topology's ranks that play rank 0, 1, ... of the schedule; all of them by default.
    start : float
        Seconds from the beginning or, with `after`, from the end of these.
    after : str or sequence of str
        Names of collectives that must all have finished.
    expect : ExpectMember
    """

    name: str | None = None
    ranks: Sequence[Whole] | Span | None = None
    start: Time = 0.0
    after: str | Sequence[str] = ()
    expect: ExpectMember = field(default_factory=ExpectMember)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One of several collectives.

    Parameters
    ----------
    name : str
    scenario : Scenario
        The collective as if it were the only one; in its source it stands under `collective`.
    ranks : tuple of int, or None
        None for all of the topology.
    start : float
    after : tuple of str
        Names of others.
    expect : ExpectMember
    """

    name: str
    scenario: Scenario
    ranks: tuple[int, ...] | None
    start: float
    after: tuple[str, ...]
    expect: ExpectMember


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """Messages from one rank to another that belong to no collective.

    Parameters
    ----------
    src, dst : int
        The topology's ranks.
    size : int
        Bytes of each message.
    start : float
        Seconds until the first one.
    every : float, optional
        Seconds from one to the next, whether or not it has arrived.
    times : int
        How many.
    """

    src: Whole
    dst: Whole
    size: Bytes
    start: Time = 0.0
    every: Time | None = None
    times: Count = 1

    def __post_init__(self) -> None:
        if self.src == self.dst:
            raise CollsimError(f"rank {self.src} sends to itself", ("dst",))
        if self.times > 1 and self.every is None:
            raise CollsimError(f'{self.times} messages need "every", the time from one to the next')
        if self.times > MOST_RANKS // 2:
            raise CollsimError(f"found {self.times}, expected at most {MOST_RANKS // 2:,}", ("times",))


@dataclass(frozen=True, slots=True, kw_only=True)
class TogetherScenario:
    """A scenario of several collectives on one network.

    Parameters
    ----------
    name : str
        What people call it; the stem of the file's name where it says nothing.
    topology : TopologyChoice
    members : tuple of Member
        The collectives, in the order of the file.
    source : Source
        Where each of these stands in the file; not compared.
    background : sequence of Background
    reduction : Reduction, optional
        A reducer at every rank; without it reducing takes no time.
    network : Network
        How messages pass the network; without a placement.
    engine : {'auto', 'simpy', 'compiled'}
        What runs the plan, with the same result: compiled loops where they pay off, or SimPy.
    verify : {'full', 'sampled', 'no'}, optional
        Which chunks the schedules are proven for; by default all, or a sample where they are too many.
    delay : mapping of int to float
        Seconds by which a rank of the topology begins late in every collective of which it is a part.
    expect : ExpectTogether
        What all together must be, as `collsim check` holds it.
    """

    name: str
    topology: TopologyChoice
    members: tuple[Member, ...]
    source: Source = field(repr=False, compare=False)
    background: Sequence[Background] = ()
    reduction: Reduction | None = None
    network: Network = field(default_factory=Network)
    engine: Literal["auto", "simpy", "compiled"] = "auto"
    verify: Verify | None = None
    delay: Mapping[Whole, Time] = field(default_factory=dict)
    expect: ExpectTogether = field(default_factory=ExpectTogether)

    @property
    def expects_something(self) -> bool:
        """Whether there is anything to hold the result against."""
        return self.expect != ExpectTogether() or any(
            member.expect != ExpectMember() for member in self.members
        )
