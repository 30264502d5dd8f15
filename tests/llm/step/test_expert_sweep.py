"""A layer with experts by itself: what All-to-Alls and experts take, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.llm.errors import ModelError
from simulator.llm.hardware import Hardware
from simulator.llm.plan import Parallel
from simulator.llm.step.expert_sweep import ExpertLayer, expert_layer, with_experts
from simulator.llm.step.overlap import Overlap
from simulator.llm.step.report_setting import Setting
from simulator.llm.step.stage_units import Machine
from simulator.llm.traffic_plan import TrafficPlan
from tests.llm.step.step_examples import apart, asked, fabric, mixture, model
from topologies import crossbar

FAST = Machine(Hardware(capacity=2**36, compute=100e12, memory_bandwidth=1e18))
COPY = 256 * 512 * 2
"""Bytes of a rank's tokens."""


def layer(
    ep: int = 4,
    limit: int | None = None,
    skew: float = 1.0,
    overlap: Overlap | None = None,
    *,
    machines: bool = False,
) -> ExpertLayer:
    """Of the mixture's last layer on four ranks, a crossbar or two machines of two."""
    parallel = Parallel(dp=4)
    traffic = TrafficPlan(node=2) if machines else TrafficPlan()
    where = apart(parallel, 2) if machines else crossbar(4, bandwidth=1e9)
    setting = Setting(
        asked(parallel, 1, mixture(), traffic=traffic),
        FAST,
        fabric(parallel, where, traffic=traffic),
        overlap or Overlap(),
    )
    return expert_layer(with_experts(setting, ep, limit, skew))


def test_hand_count_on_a_crossbar() -> None:
    found = layer()
    # two copies of every token, of which a quarter stays; 1 GB/s is a byte a ns
    assert found.dispatch == found.combine == COPY * 2 * 3 // 4 * 10**6
    assert found.carried == (2 * COPY * 2 * 3 // 4,)
    # two copies of 256 tokens, 2 flops a weight, up and down of 512 x 256
    flops = 2 * 256 * 2 * 512 * 256 * 2
    assert found.experts == pytest.approx(flops / 100e12 * 1e15, rel=1e-3)
    assert found.exposed == found.dispatch + found.combine
    assert not found.under
    assert layer(ep=1).carried == (0,)
    assert layer(ep=1).under


def test_the_shared_expert_hides_dispatch() -> None:
    found, hidden = layer(), layer(overlap=Overlap(ep=True))
    # the shared expert works on every token once, the routed ones on every token twice
    assert hidden.exposed == pytest.approx(found.exposed - found.experts / 2, rel=1e-3)
    assert hidden.compute == found.compute


def test_the_busiest_experts() -> None:
    even, skewed = layer(), layer(skew=2)
    # the first rank is sent two quarters of what each of the three others has
    assert skewed.dispatch == 2 * even.dispatch
    assert skewed.experts == pytest.approx(2 * even.experts, rel=1e-3)


def test_fewer_machines_for_each_token() -> None:
    one, two = (layer(limit=limit, machines=True) for limit in (1, 2))
    # half of a copy, or of two, leaves the machine: to there and back
    assert [found.carried[1] for found in (one, two)] == [COPY, 2 * COPY]
    # inside, both of a token's copies go to either rank
    assert one.carried[0] == two.carried[0] == 2 * COPY
    assert one.dispatch < two.dispatch


def test_what_is_refused() -> None:
    with pytest.raises(ModelError, match="ep of 3 does not divide dp of 4"):
        layer(ep=3)
    parallel = Parallel(dp=4)
    without = Setting(asked(parallel, 1, model()), FAST, fabric(parallel))
    with pytest.raises(ModelError, match="the last layer of the model has no experts"):
        expert_layer(without)
    unknown = Machine(replace(FAST.hardware, compute=None))
    with pytest.raises(ModelError, match="needs the FLOP/s"):
        expert_layer(replace(without, asked=asked(parallel, 1, mixture()), machine=unknown))
