"""Traffic of a step, against closed forms of the papers, published message sizes and counts by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pytest

from simulator.llm.calls import Group, primitive_of, rank_share, total_share
from simulator.llm.errors import ModelError
from simulator.llm.model import Model, transformer
from simulator.llm.parameters import Held, units
from simulator.llm.plan import CONVENTIONS, Batch, MemoryPlan, Parallel
from simulator.llm.traffic_plan import DEFAULTS, TrafficPlan
from tests.llm.published import LLAMA_405B, gpt
from tests.llm.sent import GIB, GPT_175B, MATRICES, PARAMETERS, H, L, M, S, group_bytes, step

# message sizes: SimAI's workloads hold 2 * micro-batch * sequence * hidden bytes a tensor parallel call


@pytest.mark.parametrize(
    ("layers", "hidden", "heads", "size"), [(40, 5120, 40, 20_971_520), (96, 12288, 96, 50_331_648)]
)
def test_message_sizes_of_simai(layers: int, hidden: int, heads: int, size: int) -> None:
    found = step(Parallel(tp=8), model=gpt(layers, hidden, heads))
    assert {row.size for row in found.rows()} == {size}


# tensor and sequence parallelism: 8 (t-1)/t m a layer and micro-batch, Korthikanti et al. 2022


@pytest.mark.parametrize("tp", [2, 4, 8])
@pytest.mark.parametrize(
    ("sp", "recompute", "regather", "times"),
    [
        (False, "none", True, 8),
        (False, "selective", True, 8),
        (False, "full", True, 12),
        (True, "none", False, 8),
        (True, "none", True, 10),
        (True, "full", False, 12),
    ],
)
def test_tensor_parallel_bytes(
    tp: int, sp: bool, recompute: Literal["none", "selective", "full"], regather: bool, times: int
) -> None:
    memory = MemoryPlan(count="matrices", recompute=recompute)
    found = step(Parallel(tp=tp, sp=sp), Batch(total=3), memory, TrafficPlan(regather=regather))
    assert group_bytes(found, "tp") == 3 * L * Fraction(times * (tp - 1), tp) * M


def test_tensor_parallel_calls() -> None:
    """Two All-Reduces forward, two backward (Shoeybi et al. 2019, figure 4)."""
    rows = step(Parallel(tp=8)).rows()
    assert [(row.phase, row.kind, row.times) for row in rows] == [
        ("forward", "allreduce", 2 * L),
        ("backward", "allreduce", 2 * L),
    ]


def test_tokens_are_shared_by_context_parallelism() -> None:
    whole, half = step(Parallel(tp=8)), step(Parallel(tp=8, cp=2))
    assert group_bytes(half, "tp") * 2 == group_bytes(whole, "tp")


# pipelines: m each way a boundary and micro-batch, Narayanan et al. 2021


@pytest.mark.parametrize(("sp", "cut"), [(False, 1), (True, 8)])
def test_pipeline_bytes(sp: bool, cut: int) -> None:
    found = step(Parallel(tp=8, sp=sp, pp=4), Batch(total=16))
    each = 16 * Fraction(M, cut)
    assert [group_bytes(found, "pp", stage) for stage in range(4)] == [each, 2 * each, 2 * each, each]


def test_interleaving_sends_more() -> None:
    """All of p v - 1 boundaries each way: the last stage hands nothing on once, the first nothing back."""
    plain, chunks = step(Parallel(pp=4), Batch(total=8)), step(Parallel(pp=4, interleave=3), Batch(total=8))
    total = {
        name: sum(group_bytes(found, "pp", stage) for stage in range(4))
        for name, found in (("plain", plain), ("chunks", chunks))
    }
    assert total == {"plain": 2 * 3 * 8 * M, "chunks": 2 * (4 * 3 - 1) * 8 * M}


def test_a_v_turns_on_one_stage() -> None:
    """Two chunks a stage: 2(p - 1) of the 2p - 1 boundaries are between stages, each way."""
    found = step(Parallel(pp=4, schedule="zbv"), Batch(total=8))
    assert [group_bytes(found, "pp", stage) for stage in range(4)] == [16 * M, 32 * M, 32 * M, 16 * M]
    everything = step(Parallel(tp=2, pp=4, schedule="zbv"), Batch(total=8), MemoryPlan())
    ends = {call.stage for call in everything.calls if call.what in ("embedding", "output layer", "loss")}
    assert ends == {0}
    # a GPT's embedding is its output layer, too; of the V one stage has both
    for parallel, times in ((Parallel(pp=4), 1), (Parallel(pp=4, schedule="zbv"), 0)):
        calls = step(parallel, Batch(total=8), MemoryPlan(), model=gpt(8, 64, 8)).calls
        assert sum(call.group.name == "embedding" for call in calls) == times


def test_dualpipe_sends_half_each_way_and_adds_up_two_copies() -> None:
    """Per stage as much as 1F1B, but gradients of both its chunks go to its mirror and back, 2(2-1)/2."""
    plain = step(Parallel(tp=2, pp=4, dp=2), Batch(total=16))
    found = step(Parallel(tp=2, pp=4, dp=2, schedule="dualpipe"), Batch(total=16))
    assert [group_bytes(found, "pp", s) for s in range(4)] == [group_bytes(plain, "pp", s) for s in range(4)]
    assert [group_bytes(found, "tp", s) for s in range(4)] == [group_bytes(plain, "tp", s) for s in range(4)]
    chunk = group_bytes(plain, "dp")
    assert [group_bytes(found, "dp", stage) for stage in range(4)] == [2 * chunk] * 4
    assert [group_bytes(found, "pp mirror", stage) for stage in range(4)] == [2 * chunk] * 4
    mirrors = [call for call in found.calls if call.group.name == "pp mirror"]
    assert [call.senders(found.parallel) for call in mirrors] == [(0, 3), (1, 2)]
    pairs = [call.group.members(found.parallel, call.stage).tolist() for call in mirrors]
    assert pairs[1] == [[4, 8], [5, 9], [6, 10], [7, 11]]
    # what is sharded is added up in shards
    sharded = step(Parallel(tp=2, pp=4, dp=2, zero=1, schedule="dualpipe"), Batch(total=16))
    assert 2 * group_bytes(sharded, "pp mirror") == group_bytes(found, "pp mirror")


def test_two_stages_send_to_each_other() -> None:
    found = step(Parallel(pp=2, interleave=2), Batch(total=2))
    pairs = {(call.stage, call.peer) for call in found.calls}
    assert pairs == {(0, 1), (1, 0)}


# replicas: 2 (d-1)/d P B_g; RS(B_g) + AG(2 B); 2 AG + RS, Rajbhandari et al. 2020


def matrices(model: Model = GPT_175B) -> Fraction:
    return sum(units(model, [range(model.layers)], Parallel(), MATRICES, 0), Held()).total


def test_parameters_that_are_counted() -> None:
    assert matrices() == PARAMETERS


@pytest.mark.parametrize("d", [2, 8, 64])
@pytest.mark.parametrize(
    ("zero", "per_parameter"),
    [(0, 2 * 4), (1, 4 + 2), (2, 4 + 2), (3, 2 + 2 + 4)],
)
def test_bytes_of_replicas(d: int, zero: Literal[0, 1, 2, 3], per_parameter: int) -> None:
    found = step(Parallel(dp=d, zero=zero), Batch(total=d))
    assert group_bytes(found, "dp") == Fraction(d - 1, d) * per_parameter * PARAMETERS


def test_zero_paper_volumes() -> None:
    """2P, 2P and 3P numbers in 16 bits, but for (N-1)/N (section 7)."""
    memory = MemoryPlan(count="matrices", convention=CONVENTIONS[16])
    volumes = [
        group_bytes(step(Parallel(dp=64, zero=zero), Batch(total=64), memory), "dp") / (2 * PARAMETERS)
        for zero in (0, 1, 2, 3)
    ]
    assert [volume * 64 / 63 for volume in volumes] == [2, 2, 2, 3]


@pytest.mark.parametrize(("zero", "once", "each"), [(0, 8, 0), (1, 6, 0), (2, 2, 4), (3, 0, 8)])
def test_gradient_accumulation(zero: Literal[0, 1, 2, 3], once: int, each: int) -> None:
    """What is kept in shards is exchanged for every micro-batch, the rest once a step."""
    found = step(Parallel(dp=8, zero=zero), Batch(total=8 * 5))
    assert group_bytes(found, "dp") == Fraction(7, 8) * (once + 5 * each) * PARAMETERS


def test_weights_that_stay_are_gathered_once() -> None:
    found = step(Parallel(dp=8, zero=3, reshard_after_forward=False), Batch(total=8))
    assert group_bytes(found, "dp") == Fraction(7, 8) * (2 + 4) * PARAMETERS


def test_replicas_share_what_tensor_and_pipeline_parallelism_cut() -> None:
    found = step(Parallel(tp=8, pp=8, dp=4), Batch(total=4))
    assert group_bytes(found, "dp", 3) == Fraction(2 * 3, 4) * 4 * PARAMETERS / 64


def test_hybrid_sharding() -> None:
    """Shards of 8 within 32: gathered and summed in a group, their eighths added up across four."""
    found = step(Parallel(dp=32, zero=3, shard=8), Batch(total=32))
    assert group_bytes(found, "dp") == Fraction(7, 8) * 8 * PARAMETERS
    assert group_bytes(found, "dp copies") == Fraction(2 * 3, 4) * 4 * PARAMETERS / 8
    assert found.groups == {"dp": 8, "dp copies": 4}


def test_a_shard_of_one_is_plain_data_parallelism() -> None:
    found = step(Parallel(dp=4, zero=2, shard=1), Batch(total=4))
    assert [row.kind for row in found.rows()] == ["allreduce"]


def test_worked_example_of_the_second_seed_in_bytes() -> None:
    """FSDP of 80 layers of one 8192 x 8192 matrix on 8 ranks in 16 bits: 210 GiB of all ranks, DP 140."""
    memory = MemoryPlan(count="matrices", convention=CONVENTIONS[16])
    # a transformer's layer is 12 such matrices: 20 of them are 240, three times as many
    model = transformer(layers=20, hidden=8192, heads=64, vocab=64, sequence=512)
    scale = Fraction(1, 3)
    for zero, gib in ((3, 210), (0, 140)):
        found = step(Parallel(dp=8, zero=zero), Batch(total=8), memory, model=model)
        assert found.total * scale / GIB == gib


# context parallelism


def test_ring_attention() -> None:
    """Keys and values forward, again backward, and their gradients: 3 x (c-1)/c of 2 x 2sbh bytes."""
    found = step(Parallel(cp=4), Batch(total=1))
    assert group_bytes(found, "cp") == 3 * L * Fraction(3, 4) * 2 * M


def test_ring_attention_of_grouped_queries() -> None:
    found = step(Parallel(cp=2, tp=8), Batch(total=1), model=LLAMA_405B)
    keys = 2 * 8 * 128 * 8192 * 2 // 8
    assert group_bytes(found, "cp") == 3 * 126 * Fraction(1, 2) * keys


def test_ulysses() -> None:
    """Four All-to-Alls each way of 1/c of the tokens: 8 (c-1)/c^2 of 2sbh bytes."""
    found = step(Parallel(cp=4, cp_kind="ulysses"), Batch(total=1))
    assert group_bytes(found, "cp") == 8 * L * Fraction(3, 16) * M


# inference


def test_a_pass_of_inference_has_no_backward() -> None:
    found = step(Parallel(tp=8, pp=2, dp=2), Batch(total=4), MemoryPlan(count="matrices", phase="inference"))
    assert {row.phase for row in found.rows()} == {"forward"}
    assert "dp" not in found.groups


def test_decoding_sends_one_token() -> None:
    memory = MemoryPlan(count="matrices", phase="inference")
    whole = step(Parallel(tp=8), Batch(total=4), memory)
    token = step(Parallel(tp=8), Batch(total=4, chunk=1), memory)
    assert group_bytes(whole, "tp") == 2048 * group_bytes(token, "tp")
    assert group_bytes(token, "tp") == 4 * L * 2 * Fraction(2 * 7, 8) * 2 * H


def test_one_token_is_not_shared_but_its_attention_is_added_up() -> None:
    memory = MemoryPlan(count="matrices", phase="inference")
    found = step(Parallel(cp=4), Batch(total=1, chunk=1), memory)
    assert [(row.kind, row.size) for row in found.rows()] == [("allreduce", 2 * H)]


def test_logits() -> None:
    found = step(Parallel(tp=8), Batch(total=1), MemoryPlan(phase="inference"))
    assert [row.size for row in found.rows() if row.what.startswith("logits")] == [2 * GPT_175B.vocab]


# the ends of a model


def test_embedding_and_output_layer() -> None:
    everything, inside = step(Parallel(tp=8, pp=2), memory=MemoryPlan()), step(Parallel(tp=8, pp=2))
    extra = [everything.rank(stage, "tp") - inside.rank(stage, "tp") for stage in (0, 1)]
    reduce = Fraction(2 * 7, 8)
    assert extra == [reduce * M, reduce * (M + 3 * 4 * S)]


def test_a_tied_embedding_is_added_up_at_both_ends() -> None:
    model = transformer(layers=4, hidden=64, heads=4, vocab=512, sequence=64, tied=True)
    found = step(Parallel(tp=2, pp=4), memory=MemoryPlan(), model=model)
    assert [found.rank(stage, "embedding") for stage in range(4)] == [
        512 * 64 // 2 * 4,
        0,
        0,
        512 * 64 // 2 * 4,
    ]
    assert not step(Parallel(tp=2), memory=MemoryPlan(), model=model).rank(0, "embedding")


def test_norms_under_sequence_parallelism() -> None:
    """Two norms a layer of h numbers, whose gradients every rank has from its own tokens."""
    model = transformer(layers=4, hidden=64, heads=4, vocab=512, sequence=64)
    rows = step(Parallel(tp=2, sp=True), memory=MemoryPlan(), model=model).rows()
    [norms] = [row for row in rows if row.what == "gradients of norms"]
    assert norms.size == 4 * 2 * 64 * 4


# groups and options


def test_members_are_those_of_the_plan() -> None:
    parallel = Parallel(tp=2, cp=2, dp=4, ep=2, pp=2, order=("cp", "tp", "dp", "pp", "ep"))
    for axes in (("tp",), ("cp", "ep", "dp"), ("ep",), ("pp",)):
        for stage in (0, 1):
            groups = Group("g", axes).members(parallel, stage)
            for ranks in groups:
                assert tuple(ranks) == parallel.group(int(ranks[0]), axes)
            if axes != ("pp",):
                assert {parallel.coordinates(int(rank))["pp"] for rank in groups.ravel()} == {stage}
            assert len(np.unique(groups)) == groups.size


def test_shares_by_kind() -> None:
    assert rank_share("allreduce", 8) == Fraction(7, 4)
    assert rank_share("all_to_all", 4) == Fraction(3, 4)
    assert rank_share("send_recv", 1) == 1
    assert total_share("allgather", 1) == 0
    assert {primitive_of(kind).kind for kind in DEFAULTS} == set(DEFAULTS)


@pytest.mark.parametrize(
    ("options", "message", "at"),
    [
        ({"nodes_limit": 4}, "needs node", ("nodes_limit",)),
        ({"algorithms": {"allreduse": "ring"}}, 'did you mean "allreduce"', ("algorithms", "allreduse")),
        ({"algorithms": {"allreduce": "rign"}}, 'did you mean "ring"', ("algorithms", "allreduce")),
        ({"algorithms": {"all_to_all": "binomial"}}, "does no all_to_all", ("algorithms", "all_to_all")),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], message: str, at: tuple[str, ...]) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        TrafficPlan(**options)
    assert caught.value.at == at


def test_one_rank_sends_nothing() -> None:
    found = step(Parallel())
    assert found.calls == ()
    assert found.total == 0
