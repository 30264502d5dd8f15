"""What a plan serves, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import ceil
from typing import TYPE_CHECKING, Any

from simulator.scenario.memory_tables import assumed, degrees, gib
from simulator.scenario.sheets import Column, Sheet
from topologies.clock import to_seconds
from topologies.text import format_time

if TYPE_CHECKING:
    from simulator.llm.serve import Point, Served
    from simulator.scenario.serve_run import ServeResult


def serve_lines(result: ServeResult) -> Iterator[str]:
    """What was asked: the model, its requests, the targets."""
    plan, first = result.plan, result.served[0].server
    yield f"{result.scenario.model.name} on {first.parallel.ranks} x {first.machine.hardware.name}"
    chunks = "" if plan.chunk is None else f", {plan.chunk} at once"
    yield f"prompts of {plan.prompt} tokens{chunks}, answers of {plan.output}"
    targets = {"TTFT": plan.ttft, "TPOT": plan.tpot}
    said = [f"{name} {_time(target)}" for name, target in targets.items() if target is not None]
    yield f"targets: {', '.join(said) or 'none'}"
    size = first.cache_per_token
    yield assumed(result.scenario.efficiency)
    yield f"KV cache: {ceil(size)} B a token, {gib(size * plan.sequence)} a request at its end"


def serve_sheet(result: ServeResult) -> Sheet:
    """A row for each number of requests of each plan."""
    points = [point for served in result.served for point in served.points]
    ranks = result.served[0].server.parallel.ranks
    several = len(result.served) > 1
    return Sheet(
        "requests served at once; KV cache and memory of the rank that needs most",
        (
            Column("tp", [point.server.parallel.tp for point in points], shown=several),
            Column("requests", [point.requests for point in points]),
            Column("first TTFT", [to_seconds(point.first) for point in points], _time, unit="s"),
            Column("TTFT", [to_seconds(point.ttft) for point in points], _time, unit="s"),
            Column("TPOT", [to_seconds(point.tpot) for point in points], _time, unit="s"),
            Column("tokens/s", [float(point.rate) for point in points], _rate),
            Column("a rank", [float(point.rate / ranks) for point in points], _rate, unit="tokens/s"),
            Column("with prompts", [float(point.whole_rate) for point in points], _rate, unit="tokens/s"),
            Column("KV GiB", [float(point.memory.parts["cache"] / 2**30) for point in points], _gib),
            Column("GiB", [float(point.memory.total / 2**30) for point in points], _gib),
            Column("% calls", [100 * point.exposed / point.tpot for point in points], "{:.1f}".format),
            Column("misses", [", ".join(point.missed) or None for point in points], words=True),
        ),
    )


def serve_verdict(result: ServeResult) -> Iterator[str]:
    """The most that each plan serves, what binds, and which plan makes most tokens."""
    for served in result.served:
        yield f"{degrees(served.server.parallel)}: {_most(served)}"
    for tp, reason in result.refused.items():
        yield f"tp {tp} does not go: {reason}"
    best = [served.best for served in result.served if served.best is not None]
    if len(result.served) > 1 and best:
        most = max(best, key=lambda point: point.rate)
        parallel, rate = most.server.parallel, float(most.rate / most.server.parallel.ranks)
        yield f"tp {parallel.tp} makes most tokens: {_rate(rate)} a second and rank at {most.requests}"


def _most(served: Served) -> str:
    limits = " and ".join(served.binds)
    best = served.best
    if best is None:
        return f"not even one request a replica, for {limits}"
    shares = [f"{group} {100 * size / best.tpot:.1f} %" for group, size in served.exposed().items()]
    calls = f"; calls of a token: {', '.join(shares)}" if shares else ""
    why = f"bound by {limits}" if limits else "bound by nothing"
    return f"at most {best.requests} requests, {why} (memory has room for {served.in_memory}){calls}"


def serve_json(result: ServeResult) -> str:
    """One object, as `serve_object` makes it."""
    return json.dumps(serve_object(result), indent=2) + "\n"


def serve_object(result: ServeResult) -> dict[str, Any]:
    """What is served: times in s, sizes in bytes, shares from 0 to 1."""
    plan = result.plan
    return {
        "scenario": result.scenario.name,
        "model": result.scenario.model.name,
        "ranks": result.scenario.parallel.ranks,
        "prompt": plan.prompt,
        "output": plan.output,
        "chunk": plan.chunk,
        "targets": {"ttft": plan.ttft, "tpot": plan.tpot},
        "cache_per_token": ceil(result.served[0].server.cache_per_token),
        "plans": [_plan(served) for served in result.served],
        "refused": [{"tp": tp, "reason": reason} for tp, reason in result.refused.items()],
    }


def _plan(served: Served) -> dict[str, Any]:
    best = served.best
    shares = served.exposed()
    return {
        "mesh": served.server.parallel.mesh,
        "largest_batch": served.largest,
        "bound_by": served.binds,
        "batch_in_memory": served.in_memory,
        "calls": {group: size / best.tpot for group, size in shares.items()} if best else {},
        "points": [_point(point) for point in served.points],
    }


def _point(point: Point) -> dict[str, Any]:
    ranks = point.server.parallel.ranks
    return {
        "requests": point.requests,
        "ttft_first": to_seconds(point.first),
        "ttft": to_seconds(point.ttft),
        "tpot": to_seconds(point.tpot),
        "tokens_per_second": float(point.rate),
        "tokens_per_second_per_rank": float(point.rate / ranks),
        "tokens_per_second_with_prompts": float(point.whole_rate),
        "cache": ceil(point.memory.parts["cache"]),
        "memory": ceil(point.memory.total),
        "calls": point.exposed / point.tpot,
        "misses": point.missed,
    }


def _time(seconds: float) -> str:
    return format_time(seconds, 4)


def _rate(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.1f}"


def _gib(size: float) -> str:
    return f"{size:.2f}"
