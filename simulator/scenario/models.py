"""What a scenario says, once read: frozen values whose annotations are the YAML schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Annotated, Any, Final, Literal

from algorithms.formats.registry import FORMATS
from algorithms.proof import Verify
from simulator.engine.network import Network, Reduction
from simulator.scenario.fields import Short, Words
from simulator.scenario.inline import InlineSteps
from simulator.scenario.source import Source
from topologies.errors import CollsimError
from topologies.overrides import Override
from topologies.quantities import Bytes, Ratio, Time, Whole

FROM_FILE: Final = "file"
"""In the place of a kind: the topology is in a file of another program."""


@dataclass(frozen=True, slots=True)
class TopologyChoice:
    """Which topology, and what of it was given.

    Parameters
    ----------
    kind : str
        Its shape, by the name of the builder.
    parameters : mapping
        The arguments of the builder, a preset's among them; of `read_topology` where it is from a file.
    overrides : sequence of Override
        Links that differ from what the builder makes of them, the later ones winning.
    preset : str, optional
        A known machine, whose preset it is read from.
    """

    kind: str
    parameters: Mapping[str, Any]
    overrides: Sequence[Override] = ()
    preset: str | None = None


@dataclass(frozen=True, slots=True)
class Code:
    """A person's own algorithm.

    Parameters
    ----------
    file : str
        A Python file, from the scenario's folder on.
    function : str
        Its generator function, (ranks, **options) -> steps.
    options : mapping
        What it is given beside the ranks.
    """

    file: str
    function: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScheduleFile:
    """A schedule in a file of another tool.

    Parameters
    ----------
    schedule : str
        The file, from the scenario's folder on.
    format : str, optional
        By default what the name and the content tell.
    """

    schedule: str
    format: Annotated[str, Words(tuple(FORMATS))] | None = None

    @property
    def file(self) -> str:
        """The file."""
        return self.schedule


@dataclass(frozen=True, slots=True)
class CollectiveChoice:
    """What to compute and how.

    Parameters
    ----------
    kind : str
        What is computed.
    algorithm : str
        How: an algorithm of the catalogue; with `own`, what that goes by in results.
    size : int
        M, the full vector; 0 where `sizes` among the options tell it.
    options : mapping
        The options that were given, of the algorithm and of every algorithm, lists as tuples.
    own : Code, ScheduleFile or tuple of steps, optional
        An algorithm, a file, or steps, that are the scenario's own.
    blocks : int, optional
        Into how many the vector is cut for them, where it is not one a rank.
    """

    kind: str
    algorithm: str
    size: Bytes
    options: Mapping[str, Any] = field(default_factory=dict)
    own: Code | ScheduleFile | InlineSteps | None = None
    blocks: int | None = None


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far two times may be apart: relative, or absolute; exactly one is given.

    Parameters
    ----------
    rel : float, optional
        As a share of the expected one.
    abs : float, optional
        As a time: s.
    """

    rel: float | None = None
    abs: Time | None = None

    def __post_init__(self) -> None:
        check_tolerance(self.rel, self.abs)
        if self.rel is None and self.abs is None:
            raise CollsimError('expected "rel: 1e-9" or "abs: 1 ns", found neither')


@dataclass(frozen=True, slots=True)
class ExpectedTime:
    """A time and how far from it is still right; exact where neither is given.

    Parameters
    ----------
    value : float
        The time: s.
    rel : float, optional
        How far from it, as a share of it.
    abs : float, optional
        How far from it, as a time: s.
    """

    value: Time
    rel: float | None = None
    abs: Time | None = None

    def __post_init__(self) -> None:
        check_tolerance(self.rel, self.abs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Between which values a ratio must be; one of them at least is given.

    Parameters
    ----------
    at_most, at_least : float, optional
        The limit itself is within it.
    """

    at_most: Ratio | None = None
    at_least: Ratio | None = None

    def __post_init__(self) -> None:
        if self.at_most is None and self.at_least is None:
            raise CollsimError('expected "at_most: 1.2" or "at_least: 1.1", found neither')
        if self.at_most is not None and self.at_least is not None and self.at_least > self.at_most:
            raise CollsimError(f"nothing is at least {self.at_least:g} and at most {self.at_most:g}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expect:
    """What the result must be; None expects nothing.

    Parameters
    ----------
    steps, depth, transfers, bytes_sent_max, bytes_sent_total, bytes_reduced_max : int, optional
        Counts of the schedule.
    congestion_factor : float, optional
        To 1e-9 relative.
    time : ExpectedTime, optional
        The simulated time.
    analytic : Tolerance, optional
        How far the simulated time may be from the algorithm's closed form.
    gap : Limits, optional
        The simulated time over the best lower bound.
    verified : {'full', 'symmetry', 'sampled', 'no'}, optional
        How the schedule was proven.
    fallback : str, optional
        What was done because N did not fit the algorithm; `none` where it did.
    """

    steps: Whole | None = None
    depth: Whole | None = None
    transfers: Whole | None = None
    bytes_sent_max: Whole | None = None
    bytes_sent_total: Whole | None = None
    bytes_reduced_max: Whole | None = None
    congestion_factor: float | None = None
    time: Annotated[ExpectedTime, Short("value")] | None = None
    analytic: Tolerance | None = None
    gap: Limits | None = None
    verified: Literal["full", "symmetry", "sampled", "no"] | None = None
    fallback: str | None = None

    def __post_init__(self) -> None:
        if self.congestion_factor is not None and self.congestion_factor < 0:
            message = f"must be zero or more, found {self.congestion_factor:g}"
            raise CollsimError(message, ("congestion_factor",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A whole scenario.

    Parameters
    ----------
    name : str
        What people call it; the stem of the file's name where it says nothing.
    topology : TopologyChoice
    collective : CollectiveChoice
    source : Source
        Where each of these stands in the file; not compared.
    reduction : Reduction, optional
        A reducer at every rank; without it reducing takes no time.
    network : Network
        How messages pass the network.
    engine : {'auto', 'simpy', 'compiled'}
        What runs the plan, with the same result: compiled loops where they pay off, or SimPy.
    symmetry : {'auto', 'none'}
        Whether rank 0 may stand for all where a large scenario looks the same from every rank.
    verify : {'full', 'sampled', 'no'}, optional
        Which chunks the schedule is proven for; by default all, or a sample where they are too many.
    delay : mapping of int to float
        Seconds by which a rank starts late.
    expect : Expect
        What the result must be, as `collsim check` holds it.
    """

    name: str
    topology: TopologyChoice
    collective: CollectiveChoice
    source: Source = field(repr=False, compare=False)
    reduction: Reduction | None = None
    network: Network = field(default_factory=Network)
    engine: Literal["auto", "simpy", "compiled"] = "auto"
    symmetry: Literal["auto", "none"] = "auto"
    verify: Verify | None = None
    delay: Mapping[Whole, Time] = field(default_factory=dict)
    expect: Expect = field(default_factory=Expect)

    @property
    def expects_something(self) -> bool:
        """Whether there is anything to hold the result against."""
        return self.expect != Expect()


def check_tolerance(rel: float | None, within: float | None) -> None:
    """Refuse a tolerance that is both relative and absolute, or less than nothing.

    Raises
    ------
    CollsimError
    """
    if rel is not None and within is not None:
        raise CollsimError('expected "rel" or "abs", found both', ("abs",))
    if rel is not None and not (isfinite(rel) and rel >= 0):
        raise CollsimError(f"must be zero or more, found {rel:g}", ("rel",))
