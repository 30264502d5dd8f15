"""Measured times beside simulated ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from simulator.scenario.measurements.read import read_log
from simulator.scenario.measurements.series import Told
from simulator.scenario.run import build_topology
from simulator.scenario.tables import NOTHING, new_table
from topologies.clock import to_seconds
from topologies.errors import CollsimError
from topologies.text import format_bytes, format_time

if TYPE_CHECKING:
    from pathlib import Path

    from rich.table import Table

    from simulator.scenario.compare import Comparison
    from simulator.scenario.models import Scenario


@dataclass(frozen=True, slots=True)
class Measured:
    """Times of a log.

    Attributes
    ----------
    file : str
    times : mapping of int to float
        Seconds by size in bytes, rising; of several at one size the median.
    notes : tuple of str
        What a person should know of how it was read.
    """

    file: str
    times: Mapping[int, float]
    notes: tuple[str, ...] = ()

    @property
    def sizes(self) -> tuple[int, ...]:
        """Bytes, rising."""
        return tuple(self.times)

    def as_object(self) -> dict[str, Any]:
        """For JSON."""
        points = [{"size": size, "time": time} for size, time in self.times.items()]
        return {"file": self.file, "points": points}


def measured_beside(path: Path, scenario: Scenario) -> Measured:
    """The times of a log that are of a scenario's collective: those out of place, where it has any.

    Raises
    ------
    ScenarioErrors
        With the place in the log that is wrong, or in the scenario.
    CollsimError
        If it has none, or they are of another number of ranks than the topology has.
    """
    ranks, kind = build_topology(scenario).ranks, scenario.collective.kind
    log = read_log(path, Told(ranks=ranks), trust_log=True)
    of_kind = (one for one in log.series if one.kind == kind)
    fitting = sorted(of_kind, key=lambda one: (one.ranks != ranks, one.in_place))
    if not fitting:
        found = ", ".join(dict.fromkeys(one.kind for one in log.series))
        raise CollsimError(f"{path}: times {found}, not {kind}")
    series = fitting[0]
    if series.ranks != ranks:
        raise CollsimError(f"{path}: times {kind} of {series.ranks} ranks, but the topology has {ranks}")
    by_size: dict[int, list[float]] = {}
    for point in series.points:
        by_size.setdefault(point.size, []).append(point.time)
    times = {size: median(times) for size, times in sorted(by_size.items())}
    return Measured(str(path), times, tuple(f"{path}: {note}" for note in log.notes))


def measured_table(comparison: Comparison, measured: Measured) -> Table:
    """Sizes that were measured and simulated: the fastest, and what is nearest to the measured."""
    headers = ("size", "measured", "fastest", "its time", "nearest", "error")
    table = new_table(*headers, title=f"beside {measured.file}")
    for index, here in enumerate(comparison.winners):
        time = measured.times.get(here.size)
        if time is None:
            continue
        simulated = {
            name: to_seconds(found)
            for name, times in comparison.times.items()
            if (found := times[index]) is not None
        }
        name = min(simulated, key=lambda one: abs(simulated[one] / time - 1), default=None)
        nearest = (NOTHING, NOTHING) if name is None else (name, f"{simulated[name] / time - 1:+.1%}")
        least = NOTHING if here.time is None else format_time(to_seconds(here.time), 4)
        fastest = here.names[0] if here.names else NOTHING
        table.add_row(format_bytes(here.size), format_time(time, 4), fastest, least, *nearest)
    return table
