"""A result as JSON, and as rows of a timeline."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from algorithms.trace import ranges_text
from simulator.engine.critical_path import parts_by_level
from simulator.engine.plan import resource_name
from simulator.scenario.result_parts import (
    BUSIEST,
    bounds_object,
    counts_object,
    levels_object,
    links_object,
    number,
    parts_object,
)
from simulator.scenario.rows import Kind, Rows
from simulator.scenario.run import Result
from topologies.clock import exact_seconds

if TYPE_CHECKING:
    from algorithms.schedule import Schedule
    from simulator.engine.plan import Plan
    from simulator.engine.timeline import Timeline
    from simulator.scenario.together_result import TogetherResult
    from simulator.scenario.workload_result import WorkloadResult
    from topologies.topology import Topology

    AnyResult: TypeAlias = Result | TogetherResult | WorkloadResult


def as_json(results: AnyResult | Sequence[AnyResult]) -> str:
    """One object, or a list of several, with a line's end; the same bytes on every run."""
    if isinstance(results, Sequence):
        value: Any = [as_object(result) for result in results]
        value = value[0] if len(value) == 1 else value
    else:
        value = as_object(results)
    return json.dumps(value, indent=2, allow_nan=False) + "\n"


def as_object(result: AnyResult) -> dict[str, Any]:
    """A result's fields: times in s, sizes in bytes, None for what is not a number."""
    if not isinstance(result, Result):
        from simulator.scenario.together_json import together_object
        from simulator.scenario.together_result import TogetherResult

        if isinstance(result, TogetherResult):
            return together_object(result)
        from simulator.scenario.workload_json import workload_object

        return workload_object(result)
    scenario = result.scenario
    use = result.link_use
    symmetry = result.symmetry
    path = result.critical_path
    copies, named = (1, None) if symmetry is None else (symmetry.one.ranks, symmetry.busiest(use, BUSIEST))
    return {
        "scenario": scenario.name,
        "engine": result.timeline.engine,
        "model": scenario.network.model,
        "sync": scenario.network.sync,
        "ranks": result.schedule.ranks,
        "collective": result.schedule.collective.kind,
        "algorithm": result.schedule.algorithm,
        "fallback": result.schedule.fallback,
        "size": result.schedule.collective.size,
        **counts_object(result.counts),
        "congestion_factor": number(result.congestion_factor),
        "time": result.time,
        "analytic": number(result.analytic),
        "bounds": bounds_object(result.bounds),
        "gap": number(result.gap),
        "algbw": number(result.algbw),
        "busbw": number(result.busbw),
        "wire_rate": number(use.rate(result.duration)),
        "verified": result.verified,
        "critical_path": parts_object(path.totals()),
        "levels": levels_object(
            result.topology, use, parts_by_level(path, result.timeline, result.topology), copies
        ),
        "links": links_object(result.topology, use, named),
    }


HOP: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        "operation": int,
        "step": int,
        "channel": int,
        "src": int,
        "dst": int,
        "chunks": str,
        "resource": str,
        "arrival": float,
        "grant": float,
        "release": float,
    }
)
"""What is said of a hop."""


def timeline_rows(result: Result) -> Rows:
    """A row a hop; times in s, exact to the femtosecond."""
    return Rows(HOP, partial(_hops, result))


def _hops(result: Result) -> Iterator[tuple[Any, ...]]:
    plan, schedule = result.timeline.plan, result.schedule

    def about(operation: int) -> tuple[Any, ...]:
        return operation, *transfer_columns(schedule, int(plan.transfer[operation]))

    names = None if result.symmetry is None else result.symmetry.hop_names(plan)
    return hop_rows(result.timeline, result.topology, about, names)


def hop_rows(
    timeline: Timeline,
    topology: Topology,
    about: Callable[[int], tuple[Any, ...]],
    names: Iterable[str] | None = None,
) -> Iterator[tuple[Any, ...]]:
    """Of every hop what is said about its operation, its resource, and when it came, got it and let it go.

    Resources go by their own names where no others are given, one a hop.
    """
    if names is None:
        names = _resource_names(timeline.plan, topology)
    times = zip(timeline.arrival.tolist(), timeline.grant.tolist(), timeline.release.tolist(), strict=True)
    for operation, name, moments in zip(timeline.operation().tolist(), names, times, strict=True):
        yield (*about(operation), name, *(exact_seconds(moment) for moment in moments))


def _resource_names(plan: Plan, topology: Topology) -> Iterator[str]:
    resources = plan.resources
    for resource in plan.resource.tolist():
        yield resource_name(topology, int(resources.kind[resource]), int(resources.which[resource]))


def transfer_columns(schedule: Schedule, row: int) -> tuple[Any, ...]:
    """Step, channel, source, destination and chunks of a transfer; blanks where there is none."""
    if row < 0:
        return ("",) * 5
    columns = (schedule.step, schedule.channel, schedule.src, schedule.dst)
    return (*(int(column[row]) for column in columns), ranges_text(schedule.chunks(row)))
