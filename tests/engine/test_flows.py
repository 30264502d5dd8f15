"""Schedules under `fair_share`, by hand and by formula; both engines, the same bits."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from algorithms import build
from algorithms.schedule import Schedule
from simulator.engine.analysis import link_use
from simulator.engine.engines import run_plan
from simulator.engine.errors import PlanError
from simulator.engine.lower import lower
from simulator.engine.network import Endpoint, Network, Reduction, Sync
from tests.engine.plan_builder import stamps
from tests.engine.test_sharing import both
from topologies import Topology, TopologyError, crossbar, full_mesh, ring
from topologies.clock import FEMTOSECONDS

FAIR = Network(model="fair_share")
BANDWIDTH, LATENCY = 50e9, 1e-6
MICROSECOND = 10**9


def time_of(schedule: Schedule, topology: Topology, reduction: Reduction | None = None) -> int:
    """Fs that a schedule takes, on either engine."""
    return both(lower(schedule, topology, FAIR, reduction)).time


def test_halving_on_a_ring() -> None:
    """A step over a distance of d puts d messages of M / 2d on some link of each: M / 2b, and d latencies."""
    for ranks, power in ((2, 1), (8, 3), (64, 6)):
        schedule = build("recursive_halving", "reduce_scatter", ranks, 2**30, order="near")
        expected = (ranks - 1) * MICROSECOND + power * 2**29 * FEMTOSECONDS // 50_000_000_000
        assert time_of(schedule, ring(ranks, BANDWIDTH, LATENCY)) == pytest.approx(expected, rel=1e-13)
    # the figure of the comparison
    assert expected == 64_487_509_440_000


def test_all_to_all_on_a_ring() -> None:
    """Links of the positive direction, which takes the ties, are full from the first message to the last."""
    for ranks in (4, 8, 64):
        crossing = sum(range(1, ranks // 2 + 1))
        expected = MICROSECOND + 2**30 // ranks * crossing * FEMTOSECONDS // 50_000_000_000
        schedule = build("direct", "all_to_all", ranks, 2**30)
        assert time_of(schedule, ring(ranks, BANDWIDTH, LATENCY)) == pytest.approx(expected, rel=1e-13)
    assert expected == 177_168_400_960_000


def test_where_nobody_meets_it_is_a_cut_through() -> None:
    place = ring(8, BANDWIDTH, LATENCY)
    for sync in get_args(Sync):
        schedule = build("ring", "allreduce", 8, 1001)
        alone = run_plan(lower(schedule, place, Network(model="cut_through", sync=sync)))
        fair = both(lower(schedule, place, replace(FAIR, sync=sync)))
        assert fair.time == alone.time


def test_a_message_takes_its_latencies_and_overheads_first() -> None:
    # up and down a crossbar: 2 us of overheads, 2 us of latencies, then 5000 bytes at 50 GB/s: 0.1 us
    place = crossbar(2, BANDWIDTH, LATENCY, overhead=1e-6)
    plan = lower(build("direct", "allgather", 2, 10_000), place, FAIR)
    assert plan.resources.latency.tolist() == [0] * 4
    assert set(stamps(both(plan))) == {(0, 4 * MICROSECOND, 4_100_000_000)}


def test_reducers() -> None:
    # every rank gets two messages of 5000 bytes over two links; each takes 0.1 us here and there
    schedule, place = build("direct", "reduce_scatter", 3, 15_000), full_mesh(3, BANDWIDTH, LATENCY)
    assert time_of(schedule, place) == 1_100_000_000
    # one is reduced after the other; or they share the reducer, half of the rate each
    assert time_of(schedule, place, Reduction(50e9)) == 1_300_000_000
    assert time_of(schedule, place, Reduction(50e9, "streamed")) == 1_200_000_000
    assert time_of(schedule, place, Reduction(100e9, "streamed")) == 1_100_000_000
    assert time_of(schedule, place, Reduction(50e9, "streamed", {1: 25e9})) == 1_400_000_000


def test_one_rank_has_nothing_to_share() -> None:
    assert time_of(build("direct", "all_to_all", 1, 100), ring(1, BANDWIDTH)) == 0


def test_a_shared_link_is_busy_for_its_bytes() -> None:
    # 2000 bytes to each of two others up the one link: 0.08 us at 50 GB/s, though both take so long
    schedule = build("direct", "all_to_all", 3, 6000)
    use = link_use(both(lower(schedule, crossbar(3, BANDWIDTH), FAIR)), schedule)
    assert use.bytes.tolist() == [4000] * 6
    assert use.busy.tolist() == [80_000_000] * 6


def test_what_does_not_go_with_it() -> None:
    for other in ({"endpoint": Endpoint()}, {"buffers": 1000}):
        with pytest.raises(TopologyError, match="fair_share knows no") as caught:
            Network(model="fair_share", **other)  # type: ignore[arg-type]
        assert caught.value.at == tuple(other)
    with pytest.raises(PlanError, match=r"longer than 2\.5 hours"):
        lower(build("direct", "all_to_all", 4, 100), ring(4, BANDWIDTH, 5000.0), FAIR)
