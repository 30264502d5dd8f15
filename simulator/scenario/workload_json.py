"""A workload's result as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulator.scenario.step_json import levels_list, link_object
from topologies.clock import to_seconds

if TYPE_CHECKING:
    from simulator.scenario.workload_result import WorkloadResult


def workload_object(result: WorkloadResult) -> dict[str, Any]:
    """A result's fields: times in s, sizes in bytes, None for what is not a number."""
    report, scenario = result.report, result.scenario
    return {
        "scenario": scenario.name,
        "engine": report.step.timeline.engine,
        "model": scenario.network.model,
        "ranks": report.fabric.topology.ranks,
        "alike": report.alike,
        "tasks": len(report.step.graph),
        "time": result.time,
        "rank_times": [
            {
                "rank": None if report.alike else rank.rank,
                "compute": to_seconds(rank.compute),
                "exposed": to_seconds(rank.exposed),
                "else": to_seconds(rank.other),
            }
            for rank in report.ranks
        ],
        "calls": [
            {
                "kind": row.kind,
                "group": row.group,
                "calls": row.calls,
                "memoised": row.memoised,
                "size": row.bytes,
                "time": to_seconds(row.time),
                "busbw": row.bus,
            }
            for row in report.calls
        ],
        "levels": levels_list(report.levels),
        "links": [link_object(link) for link in report.hottest],
    }
