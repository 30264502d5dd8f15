"""One collective on one topology, by every algorithm that does it, over sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Final

from algorithms.registry import ALGORITHMS
from simulator.engine.memory import Memory
from simulator.scenario.answer import Answer
from simulator.scenario.compare_runs import Timed, engine_for, run_at
from simulator.scenario.compare_variants import check_sizes, reason_of, unfit, variants
from simulator.scenario.crossings import Crossover, Winners, crossovers, winners_at
from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.judge import cautions
from simulator.scenario.run import Report, build_topology, how_to_verify, silent
from simulator.scenario.terms import Terms, meeting, terms_of
from topologies.text import format_bytes

if TYPE_CHECKING:
    from algorithms.bounds import Bounds
    from algorithms.cuts import Cut
    from algorithms.schedule import Schedule
    from simulator.scenario.compare_measured import Measured
    from simulator.scenario.models import Scenario

KEPT: Final = 1 << 16
"""Transfers of a schedule up to which it is kept for other sizes."""


@dataclass(frozen=True, slots=True, eq=False)
class Contender:
    """An algorithm at the scenario's own size.

    Attributes
    ----------
    name : str
    scenario : Scenario
        The scenario with this algorithm.
    ranks : int
    size : int
        M in bytes.
    fallback : str or None
        What was done because N did not fit it.
    steps : int
    time : int
        fs.
    bounds : Bounds
    verified : str
        How it was proven.
    terms : Terms or None
        Its closed form, where it has one.
    ideal : str
        The topology on which that is exact; empty where there is none.
    peers : int
        Most ranks that a rank sends to.
    hops : int
        Most links that one of its messages takes on this topology.
    work : int
        Hops of its plan.
    warnings : tuple of str
    schedule : Schedule or None
        Where it is worth keeping for other sizes.
    """

    name: str
    scenario: Scenario
    ranks: int
    size: int
    fallback: str | None
    steps: int
    time: int
    bounds: Bounds
    verified: str
    terms: Terms | None
    ideal: str
    peers: int
    hops: int
    work: int
    warnings: tuple[str, ...]
    schedule: Schedule | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison(Answer):
    """Algorithms beside each other.

    Attributes
    ----------
    scenario : Scenario
    ranks : int
    size : int
        The scenario's own, bytes.
    contenders : tuple of Contender
        In the order of the catalogue, the scenario's own code first.
    refused : mapping of str to str
        Why the others do not do it here, or the scenario's own does not.
    sizes : tuple of int
        Bytes, rising.
    times : mapping of str to tuple of (int or None)
        fs at every size; None where an algorithm cannot run.
    stopped : mapping of str to str
        Why those that cannot run at some size do not, at the first of these.
    bounds : tuple of (Bounds or None)
        Lower bounds at every size; None where nothing can run.
    winners : tuple of Winners
        At every size.
    crossovers : tuple of (Crossover, float or None)
        Each with the size at which the closed forms meet, where both have one that is a straight line.
    crossing : mapping of str to tuple of (int or None)
        fs at the size of every crossover.
    measured : Measured, optional
        What was measured, to be set beside it.
    """

    scenario: Scenario
    ranks: int
    size: int
    contenders: tuple[Contender, ...]
    refused: Mapping[str, str]
    sizes: tuple[int, ...]
    times: Mapping[str, tuple[int | None, ...]]
    stopped: Mapping[str, str]
    bounds: tuple[Bounds | None, ...]
    winners: tuple[Winners, ...]
    crossovers: tuple[tuple[Crossover, float | None], ...]
    crossing: Mapping[str, tuple[int | None, ...]]
    measured: Measured | None = None

    @property
    def headline(self) -> str:
        """What it is of, and what came of it."""
        return f"{self.scenario.name}: {len(self.contenders)} algorithms"

    @property
    def floor(self) -> tuple[float | None, ...]:
        """The best lower bound at every size, s."""
        return tuple(None if bounds is None else bounds.best for bounds in self.bounds)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know, each once."""
        return tuple(dict.fromkeys(warning for one in self.contenders for warning in one.warnings))


def compare(
    scenario: Scenario,
    sizes: Sequence[int],
    *,
    algorithms: Sequence[str] | None = None,
    verify: bool | None = None,
    report: Report | None = None,
    allow_code: bool = False,
    memory_limit: int | None = None,
) -> Comparison:
    """Run a scenario's collective by other algorithms, at its own size and at others.

    Every schedule is proven at the scenario's own size.

    Parameters
    ----------
    scenario : Scenario
    sizes : sequence of int
        Bytes, rising; () compares at the scenario's own size alone.
    algorithms : sequence of str, optional
        Names in the catalogue, or that of the scenario's own code; by default all.
    verify, report, allow_code, memory_limit
        As `run`.

    Raises
    ------
    ScenarioErrors
        If the topology does not fit, or nothing of what was named, or the scenario's own code is wrong.
    ProofError
        If a schedule does not compute the collective.
    """
    chosen = variants(scenario, algorithms)
    count = _counter(report or silent, len(chosen) * (1 + max(1, len(sizes))))
    topology = cache(partial(build_topology, scenario))
    at = partial(run_at, topology=topology, memory=Memory(memory_limit), allow_code=allow_code)
    how = how_to_verify(scenario, verify)
    refused = {} if algorithms is not None else unfit(scenario)
    contenders: list[Contender] = []
    wrong: ScenarioErrors | None = None
    for name, variant in chosen.items():
        count(name)
        try:
            timed = at(variant, scenario.collective.size)
            contenders.append(_contender(name, timed, timed.prove(how), _cut(contenders)))
        except ScenarioErrors as error:
            if variant.collective.own is not None:
                raise
            # where it is the topology that is wrong, that is the error
            topology()
            refused[name] = reason_of(error, variant)
            wrong = error if variant is scenario else wrong
    if not contenders and wrong is not None:
        # what keeps all of them from running is said of the file
        raise wrong
    if not contenders:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in refused.items())
        raise ScenarioErrors([scenario.source.error(f"no algorithm fits: {reasons}", ("collective",))])
    own = contenders[0].size
    check_sizes(scenario, sizes, own)
    sizes = tuple(sizes) or (own,)
    at = partial(at, engine=engine_for(scenario, sum(one.work for one in contenders) * len(sizes)))
    return _swept(scenario, contenders, refused, sizes, at, count)


def _counter(tell: Report, work: int) -> Callable[[str], None]:
    """Tell of one run after another, of so many."""
    at = iter(range(work))

    def count(name: str) -> None:
        tell(name, next(at), work)

    return count


def _cut(contenders: Sequence[Contender]) -> Cut | None:
    """A cut that is known from others: the collective and the topology are the same."""
    return contenders[0].bounds.cut if contenders else None


def _contender(name: str, timed: Timed, verified: str, cut: Cut | None) -> Contender:
    choice = timed.scenario.collective
    return Contender(
        name,
        timed.scenario,
        timed.schedule.ranks,
        timed.schedule.collective.size,
        timed.schedule.fallback,
        timed.schedule.steps,
        timed.timeline.time,
        timed.bounds(cut),
        verified,
        terms_of(timed),
        "" if choice.own is not None else ALGORITHMS[choice.algorithm].ideal,
        timed.peers,
        timed.hops,
        timed.timeline.plan.hops,
        tuple(cautions(timed.scenario, timed.topology, timed.timeline)),
        timed.schedule if choice.own is None and len(timed.schedule) <= KEPT else None,
    )


def _swept(
    scenario: Scenario,
    contenders: Sequence[Contender],
    refused: Mapping[str, str],
    sizes: tuple[int, ...],
    at: Callable[..., Timed],
    count: Callable[[str], None],
) -> Comparison:
    """Time every contender at every size, and look for who takes over where."""
    by_name = {one.name: one for one in contenders}
    own = contenders[0].size
    bounds = {own: contenders[0].bounds}
    stopped: dict[str, str] = {}
    known: dict[tuple[str, int], int | None] = {(one.name, own): one.time for one in contenders}

    def time_at(name: str, size: int) -> int | None:
        if (name, size) not in known:
            try:
                timed = at(by_name[name].scenario, size, like=by_name[name].schedule)
            except ScenarioErrors as error:
                # too long for the clock, too much for the memory
                stopped.setdefault(
                    name, f"at {format_bytes(size)}: {reason_of(error, by_name[name].scenario)}"
                )
                known[name, size] = None
                return None
            known[name, size] = timed.timeline.time
            if size not in bounds and size in sizes:
                bounds[size] = timed.bounds(_cut(contenders))
        return known[name, size]

    for one in contenders:
        for size in sizes:
            count(one.name)
            time_at(one.name, size)
    winners = tuple(winners_at(size, list(by_name), time_at) for size in sizes)
    changes = crossovers(winners, list(by_name), time_at)
    return Comparison(
        scenario,
        contenders[0].ranks,
        own,
        tuple(contenders),
        refused,
        sizes,
        {name: tuple(time_at(name, size) for size in sizes) for name in by_name},
        stopped,
        tuple(bounds.get(size) for size in sizes),
        winners,
        tuple((one, meeting(by_name[one.before].terms, by_name[one.after].terms)) for one in changes),
        {name: tuple(time_at(name, one.size) for one in changes) for name in by_name},
    )


def unexpected(comparison: Comparison, expected: Mapping[int, str]) -> Iterator[str]:
    """Say where another algorithm is the fastest than the one that was expected at that size."""
    for here in comparison.winners:
        name = expected.get(here.size)
        if name is not None and name not in here.names:
            found = " and ".join(here.names) or "none that can run"
            yield f"fastest at {format_bytes(here.size)}: expected {name}, found {found}"
