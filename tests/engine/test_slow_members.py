"""A slow reducer or a slow link: what one member does to all."""

from __future__ import annotations

import pytest

from algorithms import build, lower_bounds
from simulator.engine.engines import simulate
from simulator.engine.lower import lower
from simulator.engine.network import Network, Reduction
from topologies import TopologyError, ring
from topologies.overrides import Override, override

PAIR = ring(2, bandwidth=1e9, latency=1e-6)


def test_a_slow_reducer_holds_its_own_messages_longer() -> None:
    # two ranks swap 1000 bytes: 1 us on the wire, 1 us of latency, then 1 ns to reduce, or 10 us at rank 1
    reduction = Reduction(1e12, ranks={1: 1e8})
    plan = lower(build("ring", "reduce_scatter", 2, 2000), PAIR, reduction=reduction)
    assert sorted(plan.hold.tolist()) == [10**6, 10**9, 10**9, 10**10]
    time = simulate(build("ring", "reduce_scatter", 2, 2000), PAIR, reduction=reduction).seconds
    assert time == pytest.approx(12e-6, abs=1e-15)


def test_a_reducer_belongs_to_the_chip_not_to_the_rank_that_plays_on_it() -> None:
    schedule = build("ring", "reduce_scatter", 4, 4000)
    ring_of_four = ring(4, bandwidth=1e9)
    turned = Network(placement=(1, 2, 3, 0))
    plan = lower(schedule, ring_of_four, turned, Reduction(1e12, ranks={3: 1e8}))
    slow = plan.resources.which[plan.resource[plan.hold == 10**10]]
    assert set(slow.tolist()) == {3}


def test_a_slow_link_paces_the_whole_ring() -> None:
    # all eight messages of a step wait, in the end, for the one link of a tenth of the rate
    slow = override(ring(8, bandwidth=10e9), [Override(src=3, dst=4, bandwidth=1e9)])
    schedule = build("ring", "reduce_scatter", 8, 80_000)
    assert simulate(schedule, ring(8, bandwidth=10e9)).seconds == pytest.approx(7 * 1e-6, abs=1e-15)
    assert simulate(schedule, slow).seconds == pytest.approx(7 * 10e-6, abs=1e-15)


def test_bounds_know_that_work_can_be_shared() -> None:
    collective = build("ring", "reduce_scatter", 4, 4000).collective
    rates = Reduction(1e9, ranks={0: 3e9}).rates(4)
    assert rates.tolist() == [3e9, 1e9, 1e9, 1e9]
    bounds = lower_bounds(collective, ring(4, 1e12), model="store_and_forward", reduction=float(rates.mean()))
    # 3 * 4000 bytes are reduced in all, at 6e9 bytes/s in all
    assert bounds.reduction == pytest.approx(2e-6)


def test_a_reducer_that_is_not_there_is_refused() -> None:
    with pytest.raises(TopologyError, match="no rank 7 with a reducer") as caught:
        lower(build("ring", "reduce_scatter", 2, 2000), PAIR, reduction=Reduction(1e9, ranks={7: 1e9}))
    assert caught.value.at == ("reduction", "ranks", 7)
    with pytest.raises(TopologyError, match="must be positive"):
        Reduction(1e9, ranks={0: 0.0})
