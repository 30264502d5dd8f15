"""What the summary of a report says of a result, line by line."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import TYPE_CHECKING

from plots.report.values import Fact
from simulator.scenario.memory_tables import verdict
from simulator.scenario.run import Result
from simulator.scenario.tables import NOTHING, number_text, rate_text
from simulator.scenario.together_result import TogetherResult
from simulator.scenario.workload_result import WorkloadResult
from topologies.clock import to_seconds
from topologies.text import format_bytes, format_time

if TYPE_CHECKING:
    from simulator.engine.network import Network
    from simulator.scenario.report import Reported
    from simulator.scenario.step_run import StepResult
    from topologies.topology import Topology


def facts_of(result: Reported) -> tuple[Fact, ...]:
    """Every line of a result's summary; those of two results of a kind have the same labels.

    Which engine ran is left out: it may differ between machines, and nothing else does.
    """
    if isinstance(result, Result):
        return tuple(_one(result))
    if isinstance(result, TogetherResult):
        return tuple(_several(result))
    if isinstance(result, WorkloadResult):
        return tuple(_workload(result))
    return tuple(_step(result))


def _one(result: Result) -> Iterator[Fact]:
    counts, bounds, schedule = result.counts, result.bounds, result.schedule
    fallback = f" ({schedule.fallback})" if schedule.fallback else ""
    yield Fact("time", format_time(result.time), headline=True)
    yield Fact("time / best bound", number_text(result.gap, "{:.4g}"), headline=True)
    yield Fact("busbw", rate_text(result.busbw), headline=True)
    yield Fact("steps", f"{counts.steps:,}", headline=True)
    yield Fact("proof", result.verified, headline=True)
    yield Fact("collective", schedule.collective.kind)
    yield Fact("algorithm", schedule.algorithm + fallback)
    yield Fact("ranks N", f"{schedule.ranks:,}")
    yield Fact("size M", format_bytes(schedule.collective.size))
    yield Fact("topology", _topology(result))
    yield from _network(result.scenario.network)
    yield Fact("closed form", _seconds(result.analytic))
    yield Fact("bound on latency", format_time(bounds.latency))
    yield Fact("bound on bandwidth", f"{format_time(bounds.bandwidth)}: {bounds.moved}")
    yield Fact("bound on reduction", format_time(bounds.reduction))
    yield Fact("best bound", f"{format_time(bounds.best)}, of {bounds.binds}")
    yield Fact("algbw", rate_text(result.algbw))
    yield Fact("over the busiest link", rate_text(result.wire_rate))
    yield Fact("depth", f"{counts.depth:,}" if counts.depth is not None else NOTHING)
    yield Fact("transfers", f"{counts.transfers:,}")
    yield Fact("sent by a rank, at most", format_bytes(counts.bytes_sent_max))
    yield Fact("sent by all", format_bytes(counts.bytes_sent_total))
    yield Fact("reduced by a rank, at most", format_bytes(counts.bytes_reduced_max))
    yield Fact("staged arrivals", f"{counts.staged:,}" if counts.staged is not None else NOTHING)
    yield Fact("congestion factor", number_text(result.congestion_factor, "{:.4g} M"))


def _several(result: TogetherResult) -> Iterator[Fact]:
    members = result.members
    slowest = max((member.slowdown or 1.0 for member in members), default=1.0)
    yield Fact("time", format_time(result.time), headline=True)
    yield Fact("collectives", f"{len(members):,}", headline=True)
    yield Fact("most slowed down", f"{slowest:.4g} times", headline=True)
    yield Fact("proof", result.verified, headline=True)
    yield Fact("background streams", f"{len(result.background):,}")
    yield Fact("ranks", f"{result.topology.ranks:,}")
    yield Fact("topology", topology_text(result.topology))
    yield from _network(result.scenario.network)
    yield Fact("until everything has ended", format_time(result.timeline.seconds))
    yield Fact("over the busiest link", rate_text(result.wire_rate))
    yield Fact("transfers", f"{sum(member.counts.transfers for member in members):,}")


def _step(result: StepResult) -> Iterator[Fact]:
    report = result.report
    now, ideal, fabric = report.now, report.ideal, report.setting.fabric
    yield Fact("time", format_time(to_seconds(now.time)), headline=True)
    yield Fact("MFU", f"{now.mfu:.2%}", headline=True)
    yield Fact("bubble", f"{now.bubble:.2%}", headline=True)
    yield Fact("tokens/s", f"{now.tokens_per_second:,.0f}", headline=True)
    yield Fact("model", report.memory.model.name)
    yield Fact("ranks", f"{now.flops.ranks:,}")
    mesh = report.memory.parallel.mesh
    yield Fact("mesh", " x ".join(f"{name} {size}" for name, size in mesh.items()))
    yield Fact("micro-batches", f"{report.memory.microbatches:,}")
    yield Fact("topology", topology_text(fabric.topology))
    yield from _network(fabric.network)
    yield Fact("without communication", format_time(to_seconds(ideal.time)))
    yield Fact("HFU", f"{now.hfu:.2%}")
    yield Fact("tokens/s a rank", f"{now.tokens_per_second / now.flops.ranks:,.1f}")
    yield Fact("memory", verdict(report.memory))


def _workload(result: WorkloadResult) -> Iterator[Fact]:
    report = result.report
    fabric, ranks = report.fabric, report.ranks
    yield Fact("time", format_time(result.time), headline=True)
    yield Fact("tasks", f"{len(report.step.graph):,}", headline=True)
    yield Fact("compute, mean", _share(sum(rank.compute for rank in ranks), result), headline=True)
    yield Fact("exposed, mean", _share(sum(rank.exposed for rank in ranks), result), headline=True)
    yield Fact("ranks", f"{fabric.topology.ranks:,}")
    yield Fact("collectives and messages", f"{sum(row.calls for row in report.calls):,}")
    yield Fact("topology", topology_text(fabric.topology))
    yield from _network(fabric.network)


def _share(total: int, result: WorkloadResult) -> str:
    """A share of the time of all ranks."""
    return f"{total / max(result.duration * len(result.report.ranks), 1):.1%}"


def _network(network: Network) -> Iterator[Fact]:
    yield Fact("network model", network.model)
    yield Fact("sync", network.sync)


def _topology(result: Result) -> str:
    if result.symmetry is None:
        return topology_text(result.topology)
    seen = result.symmetry.seen
    return _words(seen.kind, seen.ranks, seen.dims)


def topology_text(topology: Topology) -> str:
    """A topology in a few words.

    Examples
    --------
    >>> from topologies import torus
    >>> topology_text(torus([4, 2], bandwidth=1e9))
    'torus 4 x 2: 8 ranks, 24 links'
    """
    return f"{_words(topology.kind, topology.ranks, topology.dims)}, {len(topology.links):,} links"


def _words(kind: str, ranks: int, dims: tuple[int, ...]) -> str:
    shape = f" {' x '.join(map(str, dims))}" if len(dims) > 1 else ""
    return f"{kind}{shape}: {ranks:,} rank{'' if ranks == 1 else 's'}"


def _seconds(value: float | None) -> str:
    return NOTHING if value is None or not isfinite(value) else format_time(value)
