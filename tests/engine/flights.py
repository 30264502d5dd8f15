"""Messages chosen one by one, on links of a byte a nanosecond, to time by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from algorithms.assembly import assemble
from algorithms.collective import make_collective
from algorithms.schedule import COPY, REDUCE, Ranges, Schedule
from simulator.engine.engines import run_plan
from simulator.engine.lower import lower
from simulator.engine.network import Network, Reduction
from simulator.engine.plan import Plan
from simulator.engine.timeline import Timeline
from topologies import CustomLink, CustomNodes, Topology, custom

BANDWIDTH = 1e9
"""Bytes/s: a byte takes a nanosecond."""

NANOSECOND = 10**6
"""fs."""

Flight = tuple[int, int, int]
"""From, to, bytes."""


def flights(ranks: int, *steps: Sequence[Flight], mode: int = COPY) -> Schedule:
    """Schedule of messages in steps; those of a rank in a step leave in the order given."""
    largest = max(1, *(size for step in steps for _, _, size in step))
    # chunks of one byte, of which a message takes the first ones
    segments = -(-largest // ranks)
    collective = make_collective("allreduce", ranks, ranks * segments, segments=segments)
    return assemble(
        collective,
        (
            [([src], [dst], Ranges(np.array([0]), np.array([size])), mode) for src, dst, size in step]
            for step in steps
        ),
    )


def reduction_flight(size: int) -> Schedule:
    """One message from rank 0 to rank 1, which reduces it."""
    return flights(2, [(0, 1, size)], mode=REDUCE)


def chain(
    nodes: int, latency: float = 0.0, overhead: float = 0.0, bandwidths: Sequence[float] = ()
) -> Topology:
    """Links 0 -> 1 -> 2 ...; times in nanoseconds, bandwidths in bytes a nanosecond."""
    links = [
        CustomLink(i, i + 1, rate * BANDWIDTH, latency * 1e-9, overhead * 1e-9)
        for i, rate in enumerate(bandwidths or [1] * (nodes - 1))
    ]
    return custom(CustomNodes(nodes), links)


def both(plan: Plan) -> Timeline:
    """Timeline of a plan, in which both engines agree to the bit."""
    reference, other = run_plan(plan, "simpy"), run_plan(plan, "compiled")
    for column in ("arrival", "grant", "release"):
        np.testing.assert_array_equal(getattr(reference, column), getattr(other, column), column)
    return reference


def fly(
    schedule: Schedule,
    topology: Topology,
    network: Network,
    reduction: Reduction | None = None,
    delay: dict[int, float] | None = None,
) -> Timeline:
    """Timeline of a schedule in both engines."""
    return both(lower(schedule, topology, network, reduction, delay))


def nanoseconds(timeline: Timeline) -> float:
    """How long it took."""
    return timeline.time / NANOSECOND
