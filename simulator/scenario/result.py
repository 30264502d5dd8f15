"""A result as JSON, and as rows of a timeline."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from algorithms.trace import ranges_text
from simulator.engine.analysis import LinkUse, link_use
from simulator.engine.plan import LINK, REDUCER
from topologies.clock import exact_seconds, to_seconds

if TYPE_CHECKING:
    from simulator.scenario.run import Result
    from topologies.topology import Topology

BUSIEST = 10
"""Links that a result names."""


def as_json(results: Result | Sequence[Result]) -> str:
    """One object, or a list of several, with a line's end; the same bytes on every run."""
    if isinstance(results, Sequence):
        value: Any = [as_object(result) for result in results]
        value = value[0] if len(value) == 1 else value
    else:
        value = as_object(results)
    return json.dumps(value, indent=2, allow_nan=False) + "\n"


def as_object(result: Result) -> dict[str, Any]:
    """A result's fields: times in s, sizes in bytes, None for what is not a number."""
    scenario, counts, bounds = result.scenario, result.counts, result.bounds
    use = link_use(result.timeline, result.schedule)
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
        "steps": counts.steps,
        "depth": counts.depth,
        "transfers": counts.transfers,
        "bytes_sent_max": counts.bytes_sent_max,
        "bytes_sent_total": counts.bytes_sent_total,
        "bytes_reduced_max": counts.bytes_reduced_max,
        "staged": counts.staged,
        "congestion_factor": _number(result.congestion_factor),
        "time": result.time,
        "analytic": _number(result.analytic),
        "bounds": {
            "latency": bounds.latency,
            "textbook_latency": bounds.textbook_latency,
            "bandwidth": bounds.bandwidth,
            "reduction": bounds.reduction,
            "best": bounds.best,
        },
        "gap": _number(result.gap),
        "algbw": _number(result.algbw),
        "busbw": _number(result.busbw),
        "verified": result.verified,
        "levels": _levels(result.topology, use),
        "links": _links(result.topology, use),
    }


def _number(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None


def _levels(topology: Topology, use: LinkUse) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "bytes": sum(use.bytes[topology.links.level == level].tolist()),
            "busy": to_seconds(sum(use.busy[topology.links.level == level].tolist())),
        }
        for level, name in enumerate(topology.levels)
    ]


def _links(topology: Topology, use: LinkUse) -> list[dict[str, Any]]:
    """The busiest links, and of equally busy ones the first."""
    order = np.argsort(-use.busy, kind="stable")[:BUSIEST]
    return [
        {
            "src": topology.nodes[topology.links.src[link]],
            "dst": topology.nodes[topology.links.dst[link]],
            "level": topology.levels[topology.links.level[link]],
            "bytes": int(use.bytes[link]),
            "busy": to_seconds(int(use.busy[link])),
        }
        for link in order.tolist()
    ]


HEADER = ("operation", "step", "channel", "src", "dst", "chunks", "resource", "arrival", "grant", "release")


def timeline_rows(result: Result) -> Iterator[tuple[Any, ...]]:
    """A row a hop, under `HEADER`; times in s, exact to the femtosecond."""
    timeline, schedule = result.timeline, result.schedule
    plan = timeline.plan
    times = zip(timeline.arrival.tolist(), timeline.grant.tolist(), timeline.release.tolist(), strict=True)
    operations = timeline.operation().tolist()
    for operation, resource, moments in zip(operations, plan.resource.tolist(), times, strict=True):
        row = int(plan.transfer[operation])
        about: tuple[Any, ...] = ("", "", "", "", "")
        if row >= 0:
            columns = (schedule.step, schedule.channel, schedule.src, schedule.dst)
            about = (*(int(column[row]) for column in columns), ranges_text(schedule.chunks(row)))
        name = resource_name(
            result.topology, int(plan.resources.kind[resource]), int(plan.resources.which[resource])
        )
        yield (operation, *about, name, *(exact_seconds(moment) for moment in moments))


def resource_name(topology: Topology, kind: int, which: int) -> str:
    """Name of a resource: a link's own, or what a rank does."""
    if kind == LINK:
        return topology.link_name(which)
    return f"rank {which} reduces" if kind == REDUCER else f"rank {which} starts"
