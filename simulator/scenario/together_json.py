"""A result of several collectives as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulator.engine.critical_path import parts_by_level
from simulator.scenario.result_parts import (
    bounds_object,
    counts_object,
    levels_object,
    links_object,
    number,
    parts_object,
)
from topologies.clock import to_seconds

if TYPE_CHECKING:
    from simulator.scenario.together_result import BackgroundResult, MemberResult, TogetherResult


def together_object(result: TogetherResult) -> dict[str, Any]:
    """A result's fields: times in s, sizes in bytes, None for what is not a number."""
    scenario = result.scenario
    path = result.critical_path
    use = result.link_use
    return {
        "scenario": scenario.name,
        "engine": result.timeline.engine,
        "model": scenario.network.model,
        "sync": scenario.network.sync,
        "ranks": result.topology.ranks,
        "time": result.time,
        "wire_rate": number(use.rate(result.timeline.time)),
        "verified": result.verified,
        "critical_path": parts_object(path.totals()),
        "collectives": [_member(member) for member in result.members],
        "background": [_background(stream) for stream in result.background],
        "levels": levels_object(result.topology, use, parts_by_level(path, result.timeline, result.topology)),
        "links": links_object(result.topology, use),
    }


def _member(member: MemberResult) -> dict[str, Any]:
    schedule = member.schedule
    return {
        "name": member.name,
        "kind": schedule.collective.kind,
        "algorithm": schedule.algorithm,
        "fallback": schedule.fallback,
        "ranks": list(member.ranks),
        "size": schedule.collective.size,
        **counts_object(member.counts),
        "congestion_factor": number(member.congestion_factor),
        "start": to_seconds(member.start),
        "finish": to_seconds(member.finish),
        "time": member.time,
        "alone": member.alone,
        "slowdown": number(member.slowdown),
        "analytic": number(member.analytic),
        "bounds": bounds_object(member.bounds),
        "gap": number(member.gap),
        "algbw": number(member.algbw),
        "busbw": number(member.busbw),
        "verified": member.verified,
    }


def _background(stream: BackgroundResult) -> dict[str, Any]:
    what = stream.background
    return {
        "src": what.src,
        "dst": what.dst,
        "size": what.size,
        "start": what.start,
        "every": what.every,
        "times": what.times,
        "finish": to_seconds(stream.finish),
        "time": stream.time,
        "time_max": stream.longest,
        "alone": stream.alone,
        "slowdown": number(stream.slowdown),
    }
