"""Plans written by hand: operation by operation, in whole femtoseconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from simulator.engine.plan import LINK, NO_TRANSFER, Plan, Resources
from simulator.engine.simpy_engine import run_simpy
from simulator.engine.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Hop:
    """One hop: what it holds, for how long, and whether it is entered by the head."""

    resource: int
    hold: int
    head: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """A walk, and the operations (by number) that it waits for."""

    hops: Sequence[Hop] = ()
    after: Sequence[int] = ()


def plan_of(operations: Sequence[Operation], latencies: Sequence[int], gaps: Sequence[int] = ()) -> Plan:
    """Plan over one resource for each of `latencies`, with gaps after its releases where they are given."""
    hops = [hop for operation in operations for hop in operation.hops]
    resources = Resources(
        np.full(len(latencies), LINK, dtype=np.uint8),
        np.arange(len(latencies), dtype=np.int32),
        np.array(latencies, dtype=np.int64),
        np.array(gaps or [0] * len(latencies), dtype=np.int64),
    )
    return Plan(
        np.full(len(operations), NO_TRANSFER, dtype=np.int32),
        _offsets([len(operation.hops) for operation in operations]),
        np.array([hop.resource for hop in hops], dtype=np.int32),
        np.array([hop.hold for hop in hops], dtype=np.int64),
        np.array([hop.head for hop in hops], dtype=bool),
        _offsets([len(operation.after) for operation in operations]),
        np.array([a for operation in operations for a in operation.after], dtype=np.int32),
        resources,
    )


def _offsets(counts: Sequence[int]) -> np.ndarray:
    return np.array([0, *accumulate(counts)], dtype=np.int32)


Stamp = tuple[int, int, int]
"""Arrival, grant and release of a hop."""


def stamps(timeline: Timeline) -> list[Stamp]:
    """(arrival, grant, release) of every hop."""
    columns = (timeline.arrival, timeline.grant, timeline.release)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def run(operations: Sequence[Operation], latencies: Sequence[int]) -> list[Stamp]:
    """(arrival, grant, release) of every hop of a plan."""
    return stamps(run_simpy(plan_of(operations, latencies)))
