"""Plans: ranks, groups, and what cannot be laid out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.llm.errors import ModelError
from simulator.llm.fit import check_fit, chunks_of, layers_held, misfits
from simulator.llm.hardware import Hardware
from simulator.llm.memory import memory
from simulator.llm.model import Model, transformer
from simulator.llm.plan import AXES, Batch, MemoryPlan, Parallel
from simulator.llm.traffic_plan import TrafficPlan
from tests.llm.published import DEEPSEEK_V3, LLAMA_405B, gpt

SMALL = gpt(4, 64, 4)


@given(st.permutations(AXES), st.lists(st.integers(1, 3), min_size=5, max_size=5), st.data())
def test_ranks_of_a_group(order: list[Any], sizes: list[int], data: st.DataObject) -> None:
    tp, cp, ep, rest, pp = sizes
    plan = Parallel(tp=tp, cp=cp, ep=ep, dp=ep * rest, pp=pp, order=order)
    assert list(plan.mesh) == order
    rank = data.draw(st.integers(0, plan.ranks - 1))
    axes = data.draw(st.lists(st.sampled_from(AXES), unique=True))
    here = plan.coordinates(rank)
    group = plan.group(rank, axes)
    wanted = [
        other
        for other in range(plan.ranks)
        if all(place == here[axis] for axis, place in plan.coordinates(other).items() if axis not in axes)
    ]
    assert sorted(group) == wanted
    assert len(set(group)) == len(group)


def test_order_of_ranks_is_megatrons() -> None:
    plan = Parallel(tp=2, cp=2, dp=4, ep=2, pp=2)
    assert plan.group(0, ("tp",)) == (0, 1)
    assert plan.group(0, ("cp",)) == (0, 2)
    assert plan.group(0, ("ep",)) == (0, 4)
    assert plan.group(0, ("ep", "dp")) == (0, 4, 8, 12)
    assert plan.group(0, ("pp",)) == (0, 16)


@pytest.mark.parametrize(
    ("parallel", "at", "message"),
    [
        ({"dp": 4, "ep": 3}, "ep", "ep of 3 does not divide dp of 4"),
        ({"dp": 4, "cp": 2, "shard": 3}, "shard", "3 does not divide the 8 replicas"),
        ({"order": ("tp", "dp")}, "order", "expected each of tp, cp, ep, dp, pp once"),
        ({"interleave": 2}, "interleave", "found 2 chunks a stage with one stage"),
        ({"interleave": 2, "pp": 2, "schedule": "gpipe"}, "interleave", "with the schedule gpipe"),
        ({"interleave": 2, "pp": 2, "schedule": "zbv"}, "interleave", "with the schedule zbv"),
        ({"pp": 3, "schedule": "dualpipe"}, "schedule", "dualpipe needs an even number of stages, found 3"),
        ({"schedule": "zb1p"}, "schedule", "expected one of 1f1b, gpipe, zb-h1, zb-h2, zbv, dualpipe, found"),
        ({"dp": 4, "shard": 2}, "shard", "nothing is sharded: zero is 0"),
        ({"tp": 0}, "tp", "expected a whole number, 1 or more, found 0"),
        ({"dp": -1}, "dp", "found -1"),
        ({"tp": 2.5}, "tp", "found 2.5"),
        ({"tp": True}, "tp", "found True"),
        ({"zero": 4}, "zero", "expected one of 0, 1, 2, 3, found 4"),
        ({"zero": True}, "zero", "found True"),
        ({"cp_kind": "x"}, "cp_kind", "expected one of ring, ulysses, found 'x'"),
        ({"sp": 1}, "sp", "expected True or False"),
        ({"split": (1, -1)}, "split", "0 or more"),
        ({"order": "dp"}, "order", "expected a list"),
        ({"prefetch": -1}, "prefetch", "0 or more"),
    ],
)
def test_degrees_that_make_no_sense_by_themselves(parallel: dict[str, Any], at: str, message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        Parallel(**parallel)
    assert caught.value.at == (at,)


@pytest.mark.parametrize(
    ("make", "written", "at"),
    [
        (Batch, {"total": -8}, "total"),
        (Batch, {"total": 8, "micro": 0}, "micro"),
        (Batch, {"total": 8, "chunk": 1.0}, "chunk"),
        (MemoryPlan, {"phase": "train"}, "phase"),
        (MemoryPlan, {"convention": 18}, "convention"),
        (MemoryPlan, {"offload": ("optimiser",)}, "offload"),
        (MemoryPlan, {"capacity": -1}, "capacity"),
        (MemoryPlan, {"cache_bytes": 0}, "cache_bytes"),
        (TrafficPlan, {"activation": float("inf")}, "activation"),
        (TrafficPlan, {"node": 0}, "node"),
        (Hardware, {"capacity": 1, "compute": -1.0, "memory_bandwidth": 1.0}, "compute"),
    ],
)
def test_what_a_file_cannot_say_a_program_cannot_either(make: Any, written: dict[str, Any], at: str) -> None:
    with pytest.raises(ModelError, match="expected") as caught:
        make(**written)
    assert caught.value.at == (at,)


@pytest.mark.parametrize(
    ("written", "at"),
    [
        ({"phase": "inference", "recompute": "full"}, "recompute"),
        ({"offload": ("optimizer", "optimizer")}, "offload"),
    ],
)
def test_what_would_be_ignored_is_refused(written: dict[str, Any], at: str) -> None:
    with pytest.raises(ModelError) as caught:
        MemoryPlan(**written)
    assert caught.value.at == (at,)


def test_whole_numbers_of_other_libraries_are_numbers() -> None:
    assert Parallel(tp=np.int64(2)).ranks == 2


@pytest.mark.parametrize(
    ("model", "parallel", "batch", "at", "message"),
    [
        (LLAMA_405B, {"tp": 3}, {}, "parallel.tp", "tp of 3 does not divide 128 heads"),
        (LLAMA_405B, {"tp": 3}, {}, "parallel.tp", "tp of 3 does not divide 53248 columns of the MLP"),
        (LLAMA_405B, {"tp": 3}, {}, "parallel.tp", "neither divides nor is a multiple of 8 heads"),
        (LLAMA_405B, {"tp": 1 << 10}, {}, "parallel.tp", "tp of 1024 does not divide 128 heads"),
        (DEEPSEEK_V3, {"tp": 3}, {}, "parallel.tp", "tp of 3 does not divide 2048 columns of an expert"),
        (gpt(4, 36, 3), {"tp": 3}, {}, "parallel.tp", "51200 tokens of the vocabulary; pad vocab"),
        (SMALL, {"pp": 3}, {}, "parallel.pp", "4 layers do not divide into 3 stages"),
        (SMALL, {"pp": 2, "interleave": 4}, {}, "parallel.pp", "2 stages x 4 chunks"),
        (SMALL, {"pp": 2, "split": (4,)}, {}, "parallel.split", "expected 2 numbers of layers"),
        (SMALL, {"pp": 2, "split": (4, 1)}, {}, "parallel.split", "sums to 5 layers, but the model has 4"),
        (SMALL, {"dp": 2, "ep": 2}, {}, "parallel.ep", "GPT has no experts to share among 2 ranks"),
        (DEEPSEEK_V3, {"dp": 3, "ep": 3}, {}, "parallel.ep", "ep of 3 does not divide 256 experts"),
        (
            DEEPSEEK_V3,
            {"dp": 8, "ep": 8, "zero": 1, "shard": 4},
            {},
            "parallel.shard",
            "ep of 8 does not divide the 4 ranks that ZeRO shards over",
        ),
        (SMALL, {}, {"sequence": 4096}, "batch.sequence", "4096 tokens are more than the model's 2048"),
        (SMALL, {"cp": 3}, {}, "parallel.cp", "cp of 3 does not divide 2048 tokens"),
        (SMALL, {"tp": 4, "sp": True}, {"sequence": 6}, "parallel.sp", "does not divide the 6 tokens"),
        (SMALL, {"tp": 2, "cp": 4, "cp_kind": "ulysses"}, {}, "parallel.cp", "tp x cp of 8 does not divide"),
        (
            transformer(layers=4, hidden=96, heads=12, kv_heads=4, vocab=512, sequence=1536),
            {"cp": 6, "cp_kind": "ulysses"},
            {},
            "parallel.cp",
            "tp x cp of 6 neither divides nor is a multiple of 4 heads of keys and values",
        ),
        (
            SMALL,
            {"tp": 4, "sp": True},
            {"chunk": 1},
            "batch.chunk",
            "tp of 4 does not divide 1 token at once",
        ),
        (SMALL, {"cp": 4}, {"chunk": 6}, "batch.chunk", "cp of 4 does not divide 6 tokens at once"),
        (
            SMALL,
            {"cp": 4, "cp_kind": "ulysses"},
            {"chunk": 1},
            "batch.chunk",
            "cp of 4 does not divide 1 token",
        ),
        (SMALL, {}, {"chunk": 4096}, "batch.chunk", "4096 tokens at once are more than the 2048"),
        (SMALL, {"dp": 5}, {}, "batch.global", "8 sequences are not a multiple of 5, dp 5 x micro 1"),
        (SMALL, {"dp": 2}, {"micro": 3}, "batch.global", "multiple of 6, dp 2 x micro 3"),
        (
            SMALL,
            {"pp": 2, "interleave": 2, "dp": 8},
            {},
            "parallel.interleave",
            "1 micro-batches are not a multiple of 2 stages",
        ),
        (SMALL, {"pp": 4, "schedule": "zbv"}, {}, "parallel.pp", "divide into 4 stages x 2 chunks"),
        (
            SMALL,
            {"pp": 4, "schedule": "dualpipe", "dp": 2},
            {},
            "parallel.schedule",
            "dualpipe on 4 stages needs an even number of micro-batches, at least 8, found 4",
        ),
        (SMALL, {"pp": 2, "schedule": "dualpipe"}, {"total": 5}, "parallel.schedule", "at least 4, found 5"),
    ],
)
def test_plans_that_a_model_or_a_batch_cannot_be_cut_by(
    model: Model, parallel: dict[str, Any], batch: dict[str, Any], at: str, message: str
) -> None:
    way, step = Parallel(**parallel), Batch(**{"total": 8, **batch})
    found = {(".".join(map(str, error.at)), error.message) for error in misfits(model, way, step)}
    assert any(place == at and message in said for place, said in found), found
    with pytest.raises(ModelError):
        check_fit(model, way, step)
    with pytest.raises(ModelError):
        memory(model, way, step, MemoryPlan())


def test_layers_of_chunks() -> None:
    assert chunks_of(SMALL, Parallel(pp=2, split=(1, 3))) == (range(0, 1), range(1, 4))
    assert chunks_of(SMALL, Parallel(pp=2, interleave=2)) == tuple(range(i, i + 1) for i in range(4))
    assert chunks_of(SMALL, Parallel(pp=2, schedule="zbv", split=(0, 1, 1, 2)))[3] == range(2, 4)
    assert layers_held(SMALL, Parallel(pp=2, schedule="zbv"), 0) == (range(0, 1), range(3, 4))
    assert layers_held(SMALL, Parallel(pp=2, schedule="dualpipe"), 1) == (range(0, 2), range(2, 4))
    # a stage without layers is what embeddings alone are
    assert chunks_of(SMALL, Parallel(pp=2, split=(0, 4)))[0] == range(0)


def test_training_has_no_chunks() -> None:
    with pytest.raises(ModelError, match="chunk is for inference") as caught:
        check_fit(SMALL, Parallel(), Batch(total=1, chunk=1), MemoryPlan())
    assert caught.value.at == ("batch", "chunk")
    check_fit(SMALL, Parallel(), Batch(total=1, chunk=1), MemoryPlan(phase="inference"))


@pytest.mark.parametrize(
    ("parallel", "machines", "at", "message"),
    [
        ({"dp": 8}, {"node": 3}, "node", "machines of 3 ranks do not divide 8 ranks"),
        ({"dp": 6, "ep": 6}, {"node": 4}, "node", "do not divide 6 ranks"),
        ({"tp": 2, "dp": 6, "ep": 3}, {"node": 4}, "node", "cut the 3 ranks of ep unequally"),
        ({"dp": 8}, {"node": 4, "nodes_limit": 3}, "nodes_limit", "3 are more than the 2 machines there are"),
    ],
)
def test_machines_that_ranks_do_not_fill(
    parallel: dict[str, Any], machines: dict[str, Any], at: str, message: str
) -> None:
    found = misfits(SMALL, Parallel(**parallel), Batch(total=48), MemoryPlan(), TrafficPlan(**machines))
    assert (("traffic", at), True) in [(error.at, message in error.message) for error in found]


def test_a_machine_that_is_not_full() -> None:
    check_fit(SMALL, Parallel(dp=4), Batch(total=4), MemoryPlan(), TrafficPlan(node=8))
