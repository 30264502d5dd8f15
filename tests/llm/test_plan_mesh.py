"""Two counts of one plan: from the states of its variables, and call by call as implementations do it."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from simulator.llm.errors import ModelError
from simulator.llm.fit import check_fit
from simulator.llm.model import Experts, Model, transformer
from simulator.llm.parameters import units
from simulator.llm.plan import CONVENTIONS, Batch, MemoryPlan, Parallel
from simulator.llm.plan_mesh import habits_of, plan_mesh
from simulator.llm.traffic import Traffic, traffic
from simulator.llm.traffic_plan import TrafficPlan
from tests.llm.published import gpt

DENSE = gpt(8, 64, 8)
SPARSE = transformer(
    layers=8, hidden=64, heads=8, vocab=512, sequence=128, experts=Experts(count=8, active=2, ffn=256)
)
ELEMENT = 2
"""Bytes of weights, gradients and activations alike."""

Sent = dict[tuple[str, str, str], list[Fraction]]
"""Bytes of the rank that sends most and of all ranks, by axis, pass and collective."""

degrees = st.sampled_from([1, 2, 4])
plans = st.fixed_dictionaries(
    {
        "tp": degrees,
        "sp": st.booleans(),
        "cp": degrees,
        "cp_kind": st.sampled_from(["ring", "ulysses"]),
        "pp": degrees,
        "interleave": st.sampled_from([1, 1, 2]),
        "schedule": st.sampled_from(["1f1b", "1f1b", "zb-h1", "zbv"]),
        "dp": degrees,
        "zero": st.sampled_from([0, 1, 2, 3, 3]),
        "shard": st.sampled_from([None, None, 2, 4]),
        "reshard_after_forward": st.booleans(),
    }
)
memories = st.builds(
    MemoryPlan,
    recompute=st.sampled_from(["none", "full"]),
    count=st.just("matrices"),
    convention=st.just(CONVENTIONS[16]),
) | st.just(MemoryPlan(phase="inference", count="matrices", convention=CONVENTIONS[16]))
MATRICES = MemoryPlan(count="matrices", convention=CONVENTIONS[16])
habits = st.builds(TrafficPlan, regather=st.booleans())


def laid_out(
    model: Model, written: dict[str, Any], batch: Batch, memory: MemoryPlan, plan: TrafficPlan
) -> Parallel:
    """The plan, if it is one."""
    chunks = written.get("interleave", 1) if written.get("pp", 1) > 1 else 1
    shard = written.get("shard") if written["zero"] else None
    try:
        parallel = Parallel(**{**written, "interleave": chunks, "shard": shard})
        check_fit(model, parallel, batch, memory, plan)
    except ModelError:
        assume(False)
    return parallel


def by_states(
    model: Model, parallel: Parallel, batch: Batch, memory: MemoryPlan, plan: TrafficPlan, weights: Fraction
) -> Sent:
    """Attention, experts and boundaries are one of a layer, products of matrices four."""
    found: Sent = defaultdict(lambda: [Fraction(0), Fraction(0)])
    tokens = batch.total * (batch.sequence or model.sequence)
    numbers: dict[str, Any] = {"B": tokens, "D": model.hidden, "I": 1, "k": 2}
    training = memory.phase == "training"
    way = habits_of(parallel, batch, memory, plan)
    for moved in plan_mesh(parallel).flows(way, training=training):
        axis, phase = moved.move.axis, "forward" if moved.flow.phase == "forward" else "later"
        layers = 4 * model.layers if axis == "tp" else model.layers
        numbers |= {"L": layers, "O": weights}
        entry = found[axis.replace("dp x cp", "dp"), phase, moved.flow.change.kind or ""]
        entry[0] += moved.rank.at(**numbers) * ELEMENT
        entry[1] += moved.total.at(**numbers) * ELEMENT
    return dict(found)


def by_calls(found: Traffic, replicas: str) -> Sent:
    """Those calls that have a state: gradients of norms have none."""
    names = {replicas: "dp", f"{replicas} copies": "copies", "tp": "tp", "cp": "cp", "ep": "ep", "pp": "pp"}
    rank: dict[tuple[str, str, str], dict[int, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    sent: Sent = defaultdict(lambda: [Fraction(0), Fraction(0)])
    for call in found.calls:
        if call.group.name not in names:
            continue
        phase = "forward" if call.phase == "forward" else "later"
        key = names[call.group.name], phase, call.kind
        rank[key][call.stage] += call.rank_bytes(found.parallel)
        sent[key][1] += call.total_bytes(found.parallel)
    for key, stages in rank.items():
        sent[key][0] = max(stages.values())
    return dict(sent)


@example({"dp": 8, "zero": 3, "reshard_after_forward": False}, MATRICES, TrafficPlan(), 8)
@example({"pp": 4, "interleave": 2, "zero": 0}, MATRICES, TrafficPlan(), 8)
@example({"pp": 4, "schedule": "zbv", "zero": 0}, MATRICES, TrafficPlan(), 8)
@example({"pp": 2, "schedule": "zbv", "zero": 1}, MATRICES, TrafficPlan(), 8)
@example({"tp": 8, "sp": True, "zero": 0}, MATRICES, TrafficPlan(), 8)
@example({"cp": 4, "dp": 2, "zero": 3}, MATRICES, TrafficPlan(), 8)
@example({"cp": 4, "dp": 2, "zero": 3, "shard": 4}, MATRICES, TrafficPlan(), 8)
@given(plans, memories, habits, st.sampled_from([16, 32]))
def test_states_and_traffic_agree(
    written: dict[str, Any], memory: MemoryPlan, plan: TrafficPlan, total: int
) -> None:
    """Every byte of every axis, in each pass, by each collective."""
    batch = Batch(total=total)
    parallel = laid_out(DENSE, written, batch, memory, plan)
    weights = Fraction(12 * 64**2)
    stated = by_states(DENSE, parallel, batch, memory, plan, weights)
    assert stated == by_calls(traffic(DENSE, parallel, batch, memory, plan), "dp")


@settings(max_examples=40)
@given(plans, st.sampled_from([2, 4]), memories, habits)
def test_states_and_traffic_agree_about_experts(
    written: dict[str, Any], ep: int, memory: MemoryPlan, plan: TrafficPlan
) -> None:
    """Of experts too, whose weights fewer ranks have in common."""
    batch = Batch(total=32)
    parallel = laid_out(SPARSE, {**written, "ep": ep}, batch, memory, plan)
    one = units(SPARSE, [range(1)], Parallel(), memory, 0)[0].experts
    stated = by_states(SPARSE, parallel, batch, memory, plan, one)
    counted = by_calls(traffic(SPARSE, parallel, batch, memory, plan), "expert dp")
    if parallel.sp:
        # the ranks of an expert gather tokens that are routed: no state of a layer by itself
        stated, counted = ({k: v for k, v in sent.items() if k[0] != "tp"} for sent in (stated, counted))
    assert stated == counted


def test_weights_that_stay_are_held() -> None:
    """8 shards that are the whole, and the whole on each of 8 ranks."""
    found = plan_mesh(Parallel(dp=8, zero=3, reshard_after_forward=False))
    assert str(found.stored(stays=True)["W"]) == "9LOI"
    assert str(found.stored(prefetch=1)["W"]) == "(L+16)OI"


def test_zero_shards_over_data_and_context_parallel_ranks() -> None:
    found = plan_mesh(Parallel(cp=4, dp=2, zero=3))
    assert found.weight_mesh == {"dp x cp": 8}
    assert found.shown("W", "cp") is None
    assert found.shown("W", "dp x cp") == "P(O) → R → P(O)"
    assert found.shown("X", "cp") == "P(S)"
    part = plan_mesh(Parallel(cp=4, dp=2, zero=3, shard=4))
    assert part.weight_mesh == {"dp x cp": 4, "copies": 2}


@pytest.mark.parametrize(
    ("parallel", "axes"),
    [
        (Parallel(tp=2, sp=True, dp=16, ep=4, zero=1, pp=2), "tp 2: sp|ep 4: ep|dp 4: zero-1|pp 2: pp"),
        (Parallel(tp=2, cp=2, dp=2), "tp 2: tp|cp 2: cp-ring|dp 2: dp|dp x cp 4: dp"),
        (Parallel(dp=16, zero=3, shard=8), "dp 8: fsdp|copies 2: dp"),
        (Parallel(dp=16, ep=4, zero=3, shard=8), "ep 4: ep|dp 2: fsdp|copies 2: dp"),
        (Parallel(dp=8, ep=8, zero=3), "ep 8: ep"),
        (Parallel(dp=8, zero=3, shard=1), "dp 8: dp"),
    ],
)
def test_axes_of_a_plan(parallel: Parallel, axes: str) -> None:
    assert "|".join(plan_mesh(parallel).axes.values()) == axes


def test_two_copies_of_a_layer_are_no_state_of_one_axis() -> None:
    with pytest.raises(ModelError, match="dualpipe has two copies of each layer") as caught:
        plan_mesh(Parallel(pp=2, schedule="dualpipe"))
    assert caught.value.at == ("parallel", "schedule")
