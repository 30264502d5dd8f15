"""Pictures of an algorithm beside its bounds and its like: times against sizes, steps against ranks."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from algorithms.registry import able, rounds
from algorithms.rounds import steps_of
from simulator.engine.memory import Memory
from simulator.scenario.compare import compare
from simulator.scenario.compare_output import comparison_figure
from simulator.scenario.compare_runs import run_at
from simulator.scenario.compare_variants import check_sizes, own_name
from simulator.scenario.defaults import options_on
from simulator.scenario.errors import ScenarioError, ScenarioErrors
from simulator.scenario.load import read_text
from simulator.scenario.ranges import parse_sizes
from simulator.scenario.run import Report, Result, build_topology, schedule_of, silent
from simulator.scenario.terms import closed_form_at

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from algorithms.bounds import Bounds
    from simulator.scenario.compare import Comparison
    from simulator.scenario.models import Scenario

COMPARED: Final = "compare.json"
"""What a folder holds that a comparison was written into."""

SIZES: Final = "1KiB..1GiB"
_POINTS: Final = 11
_RANKS: Final = (*range(2, 17), 32, 64)
"""Ranks of which steps are told, and doublings of these up to the scenario's own."""


@dataclass(frozen=True, slots=True, eq=False)
class Sized:
    """A scenario's own algorithm at some sizes.

    Attributes
    ----------
    scenario : Scenario
    ranks : int
    sizes : tuple of int
        Bytes, rising.
    times : tuple of float
        Seconds.
    closed : tuple of (float or None)
        Seconds of the closed form.
    bounds : tuple of Bounds
    """

    scenario: Scenario
    ranks: int
    sizes: tuple[int, ...]
    times: tuple[float, ...]
    closed: tuple[float | None, ...]
    bounds: tuple[Bounds, ...]


def sized(
    scenario: Scenario,
    sizes: str | None = None,
    *,
    report: Report | None = None,
    allow_code: bool = False,
    memory_limit: int | None = None,
) -> Sized:
    """Time a scenario's own algorithm at some sizes.

    Parameters
    ----------
    scenario : Scenario
    sizes : str, optional
        As `parse_sizes`; by default eleven from 1 KiB to 1 GiB.
    report, allow_code, memory_limit
        As `run`.

    Raises
    ------
    UnitError
        If the sizes are none.
    ScenarioErrors
        If the scenario cannot run, or its size cannot vary.
    """
    wanted = parse_sizes(SIZES, _POINTS) if sizes is None else parse_sizes(sizes)
    check_sizes(scenario, wanted, scenario.collective.size)
    topology = cache(partial(build_topology, scenario))
    at = partial(run_at, scenario, topology=topology, memory=Memory(memory_limit), allow_code=allow_code)
    times, closed, bounds = [], [], []
    like, cut, ranks = None, None, 0
    for done, size in enumerate(wanted):
        (report or silent)("simulate", done, len(wanted))
        timed = at(size, like=like)
        bounds.append(timed.bounds(cut))
        times.append(timed.timeline.seconds)
        closed.append(closed_form_at(timed, size))
        cut, ranks = bounds[-1].cut, timed.schedule.ranks
        like = timed.schedule if scenario.collective.own is None and timed.symmetry is None else None
    return Sized(scenario, ranks, wanted, tuple(times), tuple(closed), tuple(bounds))


def compared(
    folder: Path,
    scenario: Scenario,
    *,
    report: Report | None = None,
    allow_code: bool = False,
    memory_limit: int | None = None,
) -> Comparison:
    """Compare again what a folder holds.

    Parameters
    ----------
    folder : Path
    scenario : Scenario
        That the folder keeps.
    report, allow_code, memory_limit
        As `run`.

    Raises
    ------
    ScenarioErrors
        If its compare.json tells of no comparison.
    """
    path = folder / COMPARED
    try:
        found = json.loads(read_text(path))
        sizes, names = found["sizes"], list(found["times"])
        if not all(type(size) is int and size >= 0 for size in sizes) or sizes != sorted(sizes):
            raise ValueError
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        message = 'tells of no comparison; expected what "collsim compare --out" writes'
        raise ScenarioErrors([ScenarioError(message, str(path))]) from None
    return compare(
        scenario, sizes, algorithms=names, report=report, allow_code=allow_code, memory_limit=memory_limit
    )


def sizes_picture(found: Sized | Comparison) -> Figure:
    """Time against size: of all that were compared, or of one beside its closed form and its bounds."""
    if not isinstance(found, Sized):
        return comparison_figure(found)
    from plots.lines import Curve, Floor
    from plots.sizes import sizes_figure

    choice = found.scenario.collective
    terms = {
        "closed form": found.closed,
        "bandwidth bound": [known.bandwidth for known in found.bounds],
        "latency bound": [known.latency for known in found.bounds],
        "reduction bound": [known.reduction for known in found.bounds],
    }
    return sizes_figure(
        found.sizes,
        [
            Curve(own_name(found.scenario) or choice.algorithm, found.times),
            *(Curve(name, values, formula=True) for name, values in terms.items() if any(values)),
        ],
        [Floor(known.latency, max(known.bandwidth, known.reduction)) for known in found.bounds],
        (),
        title=f"{choice.kind} on {found.ranks} ranks, {found.scenario.topology.kind}",
        subtitle=found.scenario.name,
    )


def steps_picture(of: Scenario | Result) -> Figure:
    """Steps against ranks, of every algorithm of the collective; the scenario's own is marked."""
    from plots.counts import counts_figure

    scenario = of.scenario if isinstance(of, Result) else of
    kind = scenario.collective.kind
    ranks, steps = (of.schedule.ranks, of.schedule.steps) if isinstance(of, Result) else _own_steps(scenario)
    across = _across(ranks)
    counts = {name: [steps_of(rounds(name, kind, n, 0) or ()) for n in across] for name in able(kind)}
    name = own_name(scenario) or scenario.collective.algorithm
    title = f"steps of {kind}, by the number of ranks"
    return counts_figure(across, counts, (name, ranks, steps), title=title, subtitle=scenario.name)


def _across(ranks: int) -> Sequence[int]:
    """Numbers of ranks that are shown.

    >>> _across(1000)[-3:], _across(3)[-1]
    ([256, 512, 1000], 64)
    """
    more = [1 << power for power in range(7, ranks.bit_length())]
    return sorted({*_RANKS, *more, *([ranks] if ranks > 1 else [])})


def _own_steps(scenario: Scenario) -> tuple[int, int]:
    """Ranks and steps of a scenario's own algorithm, of which nothing is run."""
    topology = build_topology(scenario)
    choice, ranks = scenario.collective, topology.ranks
    if choice.own is None:
        turns = rounds(choice.algorithm, choice.kind, ranks, choice.size, **options_on(scenario, topology))
        if turns is not None:
            return ranks, steps_of(turns)
    return ranks, schedule_of(scenario, topology, ranks, Memory(), allow_code=False).steps
