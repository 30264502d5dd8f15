"""Memory of a rank against published tables and counts by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final, Literal, get_args

import pytest

from simulator.llm.memory import PARTS, Memory, memory
from simulator.llm.model import Model
from simulator.llm.parameters import Held, gathered, state_bytes
from simulator.llm.plan import CONVENTIONS, Batch, Convention, MemoryPlan, Parallel, Schedule
from tests.llm.published import DEEPSEEK_V3, LLAMA_405B, gpt

GIB = 2**30

# Korthikanti et al. 2022, table 3 and figure 1: layers, hidden, heads; tp, pp, chunks; b, batch;
# GiB of parameters and optimizer, of activations with nothing recomputed, and with sequence
# parallelism and selective recomputation
KORTHIKANTI = {
    "22B": ((48, 6144, 64), (8, 1, 1), (4, 4), 45.5625, 59.25, 9.5625),
    "175B": ((96, 12288, 96), (8, 8, 3), (1, 64), 45.5625, 66.84375, 12.3515625),
    "530B": ((105, 20480, 128), (8, 35, 3), (1, 280), 31.640625, 114.0234375, 23.076171875),
    "1T": ((128, 25600, 160), (8, 64, 1), (1, 512), 32.958984375, 131.25, 26.5625),
}


def korthikanti(name: str, *, sp: bool = False, **plan: Any) -> Memory:
    shape, (tp, pp, chunks), (micro, total), *_ = KORTHIKANTI[name]
    parallel = Parallel(tp=tp, pp=pp, interleave=chunks, sp=sp)
    way = MemoryPlan(attention="scores", count="matrices", **plan)
    return memory(gpt(*shape), parallel, Batch(total=total, micro=micro), way)


@pytest.mark.parametrize("name", KORTHIKANTI)
def test_figure_1_of_korthikanti_2022_to_the_last_digit(name: str) -> None:
    states, none, both = KORTHIKANTI[name][3:]
    plain = korthikanti(name).stages[0]
    assert plain.states / GIB == states
    assert plain.parts["activations"] / GIB == none
    saved = korthikanti(name, sp=True, recompute="selective").stages[0]
    assert saved.states / GIB == states
    assert saved.parts["activations"] / GIB == both


# figure 7: per cent of the activations with nothing recomputed, under sequence parallelism,
# selective recomputation, both, and full recomputation
FIGURE_7 = {
    "22B": (66.84, 49.42, 16.18, 7.64),
    "175B": (62.04, 56.53, 18.49, 8.71),
    "530B": (58.31, 62.04, 20.27, 9.42),
    "1T": (58.31, 62.04, 20.27, 9.42),
}


@pytest.mark.parametrize("name", FIGURE_7)
def test_figure_7_of_korthikanti_2022(name: str) -> None:
    def activations(*, sp: bool, recompute: str) -> Fraction:
        return korthikanti(name, sp=sp, recompute=recompute).stages[0].parts["activations"]

    base = activations(sp=False, recompute="none")
    ways = ((True, "none"), (False, "selective"), (True, "selective"), (False, "full"))
    found = [float(100 * activations(sp=sp, recompute=way) / base) for sp, way in ways]
    assert found == pytest.approx(FIGURE_7[name], abs=0.15)


SCHEDULES: Final[tuple[Schedule, ...]] = get_args(Schedule)


def test_later_stages_have_fewer_micro_batches_under_way() -> None:
    stages = korthikanti("1T").stages
    assert [stage.in_flight for stage in stages] == list(range(64, 0, -1))
    first, last = stages[0].parts["activations"], stages[-1].parts["activations"]
    assert first == 64 * last
    assert korthikanti("530B").stages[0].in_flight * 3 == 105 + 34


def test_schedules_keep_what_their_papers_say() -> None:
    """Of 8 stages: ZB-H1 and ZB-V as much as 1F1B's first stage, ZB-H2 2p - 1 (Qi et al. 2023); DualPipe
    p + 1, with two copies of the parameters (DeepSeek-V3 report, table 2)."""
    way = MemoryPlan(attention="scores", count="matrices")
    found = {
        schedule: memory(gpt(96, 12288, 96), Parallel(tp=8, pp=8, schedule=schedule), Batch(total=64), way)
        for schedule in SCHEDULES
    }
    plain = found["1f1b"].stages[0]
    for schedule, kept, parameters in (
        ("gpipe", 64, 1), ("zb-h1", 8, 1), ("zb-h2", 15, 1), ("zbv", 8, 1), ("dualpipe", 9, 2),
    ):  # fmt: skip
        for stage in (found[schedule].stages[0], found[schedule].peak):
            assert stage.in_flight == kept
            assert stage.parts["activations"] == plain.parts["activations"] * kept / 8
            assert stage.states == parameters * plain.states
            assert stage.layers == parameters * 12


def test_a_stage_with_both_ends_has_both_ends() -> None:
    """The first of a V has the embedding and the output layer, once where they are one; the last none."""
    batch, way = Batch(total=8), MemoryPlan()
    model = gpt(8, 64, 4)
    plain = memory(model, Parallel(pp=4), batch, way).stages
    folded = memory(model, Parallel(pp=4, schedule="zbv"), batch, way).stages
    inside, first, last = plain[1].parameters, plain[0].parameters, plain[3].parameters
    tokens = model.embedding_weights()[0].size
    assert [stage.parameters for stage in folded] == [first + last - tokens - inside, *[inside] * 3]
    ends = memory(model, Parallel(pp=4, schedule="dualpipe"), batch, way).stages
    assert [s.parameters for s in ends] == [first + last - tokens, 2 * inside, 2 * inside, ends[0].parameters]
    # seven passes down have masks of the embedding's dropout under way when one up has its logits
    chunk, masks, loss = folded[1].parts["activations"] / 8, 2048 * 64, 2048 * (4 * 64 + 4 * 51200)
    assert folded[0].parts["activations"] == 8 * chunk + 7 * masks + loss


# Rajbhandari et al. 2020, table 1 and figure 1: GB a device under Pos, Pos+g, Pos+g+p
ZERO = {
    (7.5, 1): ("120", "120", "120"),
    (7.5, 4): ("52.5", "41.3", "30"),
    (7.5, 16): ("35.6", "21.6", "7.5"),
    (7.5, 64): ("31.4", "16.6", "1.88"),
    (7.5, 256): ("30.4", "15.4", "0.47"),
    (7.5, 1024): ("30.1", "15.1", "0.12"),
    (128, 1): ("2048", "2048", "2048"),
    (128, 64): ("536", "284", "32"),
    (1000, 1): ("16000", "16000", "16000"),
    (1000, 64): ("4187", "2218", "250"),
    (1000, 1024): ("4011", "2013", "15.6"),
}


@pytest.mark.parametrize(("billions", "ranks"), ZERO)
def test_table_1_of_zero(billions: float, ranks: int) -> None:
    for level, printed in enumerate(ZERO[billions, ranks], start=1):
        owned = Held(Fraction(billions) * 10**9)
        found = state_bytes(owned, CONVENTIONS[16], Parallel(dp=ranks, zero=level)).total
        # the table rounds most figures, 41.25 to 41.3, and cuts those of 1 T, 2218.75 to 2218
        digits = len(printed.partition(".")[2])
        scaled = found / 10**9 * 10**digits
        wanted = Fraction(printed) * 10**digits
        assert wanted in (int(scaled), int(scaled + Fraction(1, 2)))


@pytest.mark.parametrize(
    ("name", "zero_0", "zero_1"), [(18, 18, 6 + 12 / 16), (20, 20, 4 + 16 / 16), ("fp32", 16, 8 + 8 / 16)]
)
def test_bytes_a_parameter_of_megatron(name: int | str, zero_0: float, zero_1: float) -> None:
    """Megatron-LM's table of its distributed optimizer, at d = 16."""
    one = Held(Fraction(1))
    assert state_bytes(one, CONVENTIONS[name], Parallel(dp=16)).total == zero_0 == CONVENTIONS[name].total
    assert state_bytes(one, CONVENTIONS[name], Parallel(dp=16, zero=1)).total == zero_1


def test_example_of_deepspeed() -> None:
    """Its documentation, memory requirements: 2851 M parameters, the largest layer 32 M, 8 GPUs."""
    model, largest = Held(Fraction(2_851_000_000)), Held(Fraction(32_000_000))
    two = state_bytes(model, CONVENTIONS["deepspeed"], Parallel(dp=8, zero=2)).total
    assert round(float(two / GIB), 2) == 15.93
    plan = Parallel(dp=8, zero=3, prefetch=0)
    three = state_bytes(model, CONVENTIONS["deepspeed"], plan).total
    three += gathered([largest], CONVENTIONS["deepspeed"], plan, training=True)
    assert round(float(three / GIB), 2) == 6.09


SMALL = gpt(4, 64, 4)
LAYER = 12 * 64**2 + 13 * 64
EMBEDDING = (51200 + 2048) * 64


def test_zero_3_gathers_what_computes_and_what_comes_next() -> None:
    def buffers(parallel: Parallel, **plan: Any) -> Fraction:
        way = MemoryPlan(convention=CONVENTIONS[16], **plan)
        return memory(SMALL, parallel, Batch(total=8), way).stages[0].parts["gathered"]

    # the embedding is the largest unit; its gradient is whole for a moment, too
    assert buffers(Parallel(dp=8, zero=3)) == 2 * (EMBEDDING + LAYER) + 2 * EMBEDDING
    assert buffers(Parallel(dp=8, zero=3, prefetch=0)) == 2 * EMBEDDING + 2 * EMBEDDING
    assert buffers(Parallel(dp=8, zero=3, prefetch=2)) == 2 * (EMBEDDING + 2 * LAYER) + 2 * EMBEDDING
    everything = EMBEDDING + 4 * LAYER + 2 * 64
    kept = Parallel(dp=8, zero=3, reshard_after_forward=False)
    assert buffers(kept) == 2 * everything + 2 * EMBEDDING
    assert buffers(Parallel(dp=8, zero=2)) == 2 * EMBEDDING
    assert buffers(Parallel(dp=8, zero=1)) == 0
    assert buffers(Parallel(zero=3)) == 0
    assert buffers(Parallel(dp=8, zero=3), count="matrices") == 2 * 2 * 12 * 64**2 + 2 * 12 * 64**2
    assert buffers(Parallel(dp=8, zero=3), phase="inference") == 2 * (EMBEDDING + LAYER)


def test_what_shards_over_what() -> None:
    def weights(**parallel: Any) -> Fraction:
        found = memory(SMALL, Parallel(zero=3, **parallel), Batch(total=8), MemoryPlan())
        return found.stages[0].parts["weights"]

    whole = 2 * SMALL.parameters()
    assert weights(dp=8) == Fraction(whole, 8)
    assert weights(dp=8, shard=4) == Fraction(whole, 4)
    assert weights(dp=4, cp=2) == Fraction(whole, 8)


def test_first_and_last_stage_have_embedding_and_output() -> None:
    found = memory(SMALL, Parallel(pp=2), Batch(total=8), MemoryPlan())
    first, last = (stage.parameters for stage in found.stages)
    assert first == 2 * LAYER + EMBEDDING
    # tied: the last stage has a copy of the token embedding
    assert last == 2 * LAYER + 2 * 64 + 51200 * 64
    whole = memory(SMALL, Parallel(), Batch(total=8), MemoryPlan()).stages[0].parameters
    assert whole == SMALL.parameters()


def test_tensor_parallelism_cuts_what_it_can() -> None:
    """Norms, and biases after rows, are whole on every rank; so is a head that is alone."""
    found = memory(SMALL, Parallel(tp=4), Batch(total=8), MemoryPlan()).stages[0].parameters
    cut = 4 * (12 * 64**2 + 3 * 64 + 4 * 64) + 51200 * 64
    whole = 4 * (2 * 64 + 4 * 64) + 2048 * 64 + 2 * 64
    assert found == Fraction(cut, 4) + whole
    sixteen = memory(LLAMA_405B, Parallel(tp=16), Batch(total=1), MemoryPlan()).stages[0].parameters
    keys = 126 * 2 * 16384 * 1024
    norms = (2 * 126 + 1) * 16384
    assert sixteen == Fraction(LLAMA_405B.parameters() - keys - norms, 16) + Fraction(keys, 8) + norms


def test_experts_are_shared_and_sharded_by_their_own_groups() -> None:
    """DeepSeek-V3 as its report trains it: 16 stages, 64 ranks an expert group, ZeRO-1, 128 replicas."""
    split = (4,) * 15 + (1,)
    parallel = Parallel(pp=16, dp=128, ep=64, zero=1, split=split)
    found = memory(DEEPSEEK_V3, parallel, Batch(total=1920 * 8), MemoryPlan()).stages[1]
    experts = 4 * 4 * 3 * 7168 * 2048
    dense = 4 * DEEPSEEK_V3.layer_parameters(60) - 64 * experts
    assert found.parameters == dense + experts
    assert found.parts["weights"] == 2 * (dense + experts)
    assert found.parts["optimizer"] == 12 * (Fraction(dense, 128) + Fraction(experts, 2))


def test_llama_405b_as_its_paper_trains_it() -> None:
    """8192 GPUs, TP 8, PP 16, DP 64, one layer less in the first and last stage (table 4, section 3.3)."""
    split = (7, *(8,) * 14, 7)
    parallel = Parallel(tp=8, sp=True, pp=16, dp=64, zero=1, split=split)
    assert parallel.ranks == 8192
    found = memory(LLAMA_405B, parallel, Batch(total=2048), MemoryPlan(capacity=80 * GIB))
    assert [stage.layers for stage in found.stages] == list(split)
    assert sum(stage.layers for stage in found.stages) == 126


def test_key_value_cache() -> None:
    plan = MemoryPlan(phase="inference")
    found = memory(LLAMA_405B, Parallel(tp=8, pp=2), Batch(total=4, sequence=1000), plan)
    assert found.cache_per_token == 516_096
    assert [stage.parts["cache"] for stage in found.stages] == [4000 * Fraction(516_096, 16)] * 2
    assert found.stages[0].parts["optimizer"] == found.stages[0].parts["activations"] == 0
    half = memory(LLAMA_405B, Parallel(tp=16), Batch(total=4, sequence=1000), plan).stages[0]
    assert half.parts["cache"] == 4000 * Fraction(516_096, 8)
    ring = memory(LLAMA_405B, Parallel(cp=4, dp=2), Batch(total=4, sequence=1000), plan).stages[0]
    assert ring.parts["cache"] == 4000 * Fraction(516_096, 8)
    heads = Parallel(cp=16, cp_kind="ulysses")
    ulysses = memory(LLAMA_405B, heads, Batch(total=4, sequence=1600), plan).stages[0]
    assert ulysses.parts["cache"] == 6400 * Fraction(516_096, 8)


def test_latent_cache_is_whole_on_every_tensor_parallel_rank() -> None:
    plan = MemoryPlan(phase="inference")
    found = memory(DEEPSEEK_V3, Parallel(tp=8), Batch(total=1, sequence=1000), plan)
    assert found.cache_per_token == 70_272
    assert found.stages[0].parts["cache"] == 70_272_000
    small = MemoryPlan(phase="inference", cache_bytes=1)
    eight = memory(DEEPSEEK_V3, Parallel(tp=8), Batch(total=1, sequence=1000), small)
    assert eight.cache_per_token * 2 == 70_272


def test_first_thing_that_overflows() -> None:
    def overflow(capacity: int, **plan: Any) -> tuple[int, str] | None:
        found = memory(SMALL, Parallel(pp=2), Batch(total=8), MemoryPlan(capacity=capacity, **plan)).overflow
        return None if found is None else (found.stage, found.part)

    free = memory(SMALL, Parallel(pp=2), Batch(total=8), MemoryPlan())
    assert free.fits is None
    assert free.overflow is None
    peak = int(free.peak.total)
    assert overflow(peak) is None
    assert overflow(peak - 1) == (free.peak.stage, "activations")
    weights = int(free.stages[0].parts["weights"])
    assert overflow(weights - 1) == (0, "weights")
    assert overflow(weights) == (0, "gradients")
    assert overflow(weights, reserved=weights + 1) == (0, "reserved")
    assert overflow(peak, recompute="full") is None


def test_offload_moves_bytes_to_the_host() -> None:
    here = memory(SMALL, Parallel(), Batch(total=8), MemoryPlan()).stages[0]
    there = memory(SMALL, Parallel(), Batch(total=8), MemoryPlan(offload=("optimizer", "weights"))).stages[0]
    assert there.host == {part: here.parts[part] for part in ("weights", "optimizer")}
    assert there.total == here.total - here.parts["weights"] - here.parts["optimizer"]


def test_a_layer_is_recomputed_beside_what_is_stored() -> None:
    def parts(recompute: str) -> tuple[Fraction, Fraction]:
        way = MemoryPlan(recompute=recompute, attention="scores", count="matrices")
        found = memory(SMALL, Parallel(), Batch(total=1), way).stages[0].parts
        return found["activations"], found["working"]

    sbh = 2048 * 64
    scores = 5 * 4 * 2048**2
    assert parts("none") == (4 * (34 * sbh + scores), 0)
    assert parts("selective") == (4 * 34 * sbh, scores)
    assert parts("full") == (4 * 2 * sbh, 32 * sbh + scores)


def test_embedding_and_loss_of_korthikanti_2022() -> None:
    """Section 4.3: sbhp/t for the embedding's dropout, 4sbh/t (1 + v/h) after the last layer."""
    way = MemoryPlan(attention="scores", recompute="selective")
    sbh = 2048 * 64
    for parallel in (Parallel(tp=4, sp=True), Parallel(tp=4, sp=True, pp=2)):
        found = memory(SMALL, parallel, Batch(total=8), way)
        pp = parallel.pp
        first, last = found.stages[0].parts["activations"], found.stages[-1].parts["activations"]
        layers = Fraction(4 * 34 * sbh, 4)
        loss = sbh * (1 + Fraction(51200, 64))
        assert first == layers + Fraction(sbh * pp, 4) + (loss if pp == 1 else 0)
        assert last == (first if pp == 1 else layers / 2 + loss)


def test_activations_of_a_model_without_dropout() -> None:
    """Llama by hand, a token and layer: inputs of norms and matrices 8h; queries 2h, keys and values
    2 x 2 x 1024, attention's result 2h, gate and up and their product 6 x 53248; flash 4 a head."""
    way = MemoryPlan(count="matrices")
    found = memory(LLAMA_405B, Parallel(), Batch(total=1, sequence=8192), way).stages[0]
    token = 8 * 16384 + 4 * 16384 + 4 * 1024 + 6 * 53248 + 4 * 128
    assert found.parts["activations"] == 126 * 8192 * token
    cut = memory(LLAMA_405B, Parallel(tp=8, sp=True, cp=2), Batch(total=1, sequence=8192), way).stages[0]
    assert cut.parts["activations"] == Fraction(126 * 8192 * token, 16)


def test_activations_of_experts() -> None:
    """DeepSeek-V3's last layer by hand, a token, on two tensor parallel ranks."""
    way = MemoryPlan(count="matrices", recompute="selective")
    parallel = Parallel(pp=61, tp=2)
    found = memory(DEEPSEEK_V3, parallel, Batch(total=1, sequence=4096), way).stages[-1]
    latent = 2 * (2 * 1536 + 2 * 512 + 64)
    attention = (2 * 128 * 192 + 2 * 128 * 192 + 2 * 128 * 128 + 2 * 128 * 128) // 2
    experts = 4 * 256 + 8 * (4 * 7168 + 3 * 2048) + 3 * 2048
    assert found.parts["activations"] == 4096 * (8 * 7168 + latent + attention + experts)


def test_conventions_are_input() -> None:
    own = Convention(weight=1, gradient=2.5, optimizer=0)
    found = memory(SMALL, Parallel(), Batch(total=1), MemoryPlan(convention=own)).stages[0]
    assert found.states == SMALL.parameters() * Fraction(7, 2)


def test_parts_are_the_total() -> None:
    models: list[Model] = [SMALL, DEEPSEEK_V3]
    for model in models:
        stage = memory(model, Parallel(), Batch(total=1), MemoryPlan()).stages[0]
        assert tuple(stage.parts) == PARTS
        assert stage.total == sum(stage.parts.values())


@pytest.mark.parametrize("zero", [2, 3])
def test_experts_that_are_whole_are_not_gathered_again(zero: Literal[2, 3]) -> None:
    """Where each is on one of 8 ranks, none is in parts; of the dense part a unit or two is gathered."""
    alone = Parallel(dp=8, ep=8, zero=zero)
    unit = Held(Fraction(10**6), Fraction(10**9))
    way = CONVENTIONS[18]
    weights = 2 * 2 * 10**6 if zero == 3 else 0
    assert gathered([unit] * 3, way, alone, training=True) == weights + 4 * 10**6
    shared = Parallel(dp=16, ep=8, zero=zero)
    assert gathered([unit] * 3, way, shared, training=True) == 1001 * (weights + 4 * 10**6)


def test_one_token_at_once_is_whole_on_every_rank_of_a_ring() -> None:
    """Each rank of the ring has a part of the keys and values, and the same token."""
    plan = MemoryPlan(phase="inference", count="matrices")
    one, ring = (
        memory(LLAMA_405B, Parallel(tp=8, cp=cp), Batch(total=1, chunk=1), plan).stages[0].parts
        for cp in (1, 4)
    )
    assert ring["working"] == one["working"]
    assert 4 * ring["cache"] == one["cache"]
