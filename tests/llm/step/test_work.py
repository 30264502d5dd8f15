"""What a step computes at a rank: closed forms of papers, and counts by hand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from simulator.llm.cache import cache_per_token
from simulator.llm.errors import ModelError
from simulator.llm.layer_calls import Pass
from simulator.llm.model import Model, transformer
from simulator.llm.parameters import layer_units, state_bytes
from simulator.llm.plan import CONVENTIONS, Batch, MemoryPlan, Parallel
from simulator.llm.step.kernels import NOTHING, Part, WorkPlan
from simulator.llm.step.work import embedding_parts, head_parts, layer_parts, optimizer_work
from simulator.llm.traffic_plan import TrafficPlan
from tests.llm.published import DEEPSEEK_V3, LLAMA_405B, gpt

FULL, CAUSAL = WorkPlan(mask="full"), WorkPlan()
GPT = gpt(96, 12288, 96)


def asked(model: Model, parallel: Parallel | None = None, batch: Batch | None = None, **memory: Any) -> Pass:
    return Pass(model, parallel or Parallel(), batch or Batch(total=64), MemoryPlan(**memory), TrafficPlan())


def serving(model: Model, parallel: Parallel | None = None, micro: int = 1, **batch: Any) -> Pass:
    return asked(model, parallel, Batch(total=64, micro=micro, **batch), phase="inference")


def forward(parts: Iterable[Part]) -> Fraction:
    return sum((part.forward.flops for part in parts), Fraction(0))


def named(parts: Iterable[Part], name: str) -> Part:
    [part] = [part for part in parts if part.name == name]
    return part


def test_a_layer_is_korthikanti_2022s() -> None:
    """24 B s h^2 + 4 B s^2 h forward, twice that backward (appendix A), however it is cut."""
    h, s, b = 12288, 2048, 2
    form = 24 * b * s * h**2 + 4 * b * s**2 * h
    for cut in (
        Parallel(),
        Parallel(tp=8),
        Parallel(tp=8, sp=True),
        Parallel(tp=2, cp=4),
        Parallel(tp=8, cp=4, cp_kind="ulysses", sp=True),
    ):
        parts = layer_parts(asked(GPT, cut, Batch(total=64, micro=b), attention="scores"), 5, FULL)
        assert forward(parts) * cut.tp * cut.cp == form
        assert sum(part.flops for part in parts) * cut.tp * cut.cp == 3 * form
        assert forward(head_parts(asked(GPT, cut, Batch(total=64, micro=b)))) * cut.tp * cut.cp == (
            2 * b * s * h * 51200
        )
    assert forward(embedding_parts(asked(GPT))) == 0


def test_products_have_two_gradients_of_their_size() -> None:
    for part in layer_parts(asked(GPT, attention="scores"), 0, FULL):
        if part.forward.kind == "matmul":
            assert part.input_gradient.flops == part.weight_gradient.flops == part.forward.flops
        else:
            assert part.weight_gradient == NOTHING
            assert part.input_gradient.flops == 2 * part.forward.flops


def test_causal_attention_needs_s_plus_1_over_2s_of_the_pairs() -> None:
    half, whole = (named(layer_parts(asked(GPT), 0, plan), "core").forward for plan in (CAUSAL, FULL))
    assert half.flops / whole.flops == Fraction(2049, 2 * 2048)
    assert half.bytes == whole.bytes


def test_flash_attention_does_five_products_backward() -> None:
    """Dao et al. 2022; FlashAttention's benchmarks count 2.5 times the forward pass."""
    core = named(layer_parts(asked(GPT), 0), "core")
    assert core.input_gradient.flops == Fraction(5, 2) * core.forward.flops
    assert core.weight_gradient == NOTHING
    one = 2048 * 12288 * 2
    # forward queries, keys, values, result; backward those, the result's gradient and three gradients
    assert core.forward.bytes == 4 * one + 4 * 2048 * 96
    assert core.input_gradient.bytes == 8 * one + 4 * 2048 * 96


def test_flash_attention_of_unequal_widths() -> None:
    """DeepSeek-V3's heads: queries and keys of 192 in three products backward, values of 128 in two."""
    core = named(layer_parts(asked(DEEPSEEK_V3), 0), "core")
    pairs = 128 * 4096 * 4097 // 2
    assert core.forward.flops == 2 * pairs * (192 + 128)
    assert core.input_gradient.flops == 2 * pairs * (3 * 192 + 2 * 128)


def test_stored_scores_go_over_the_memory() -> None:
    """As many bytes as Korthikanti et al. 2022 store: softmax's result, its dropped-out copy, the mask."""
    parts = layer_parts(asked(GPT, attention="scores"), 0, FULL)
    pairs, one = 2048**2 * 96, 2048 * 12288 * 2
    assert named(parts, "scores").forward.bytes == 2 * one + 2 * pairs
    assert named(parts, "softmax").forward.bytes == (2 + 2 + 2 + 2 + 1) * pairs
    assert named(parts, "values").forward.bytes == 2 * one + 2 * pairs
    assert named(parts, "scores").input_gradient.bytes == 4 * one + 4 * pairs
    assert named(parts, "softmax").input_gradient.bytes == (2 + 1 + 2 + 2 + 2 + 2) * pairs
    plain = layer_parts(asked(replace(GPT, dropout=False), attention="scores"), 0, FULL)
    assert named(plain, "softmax").forward.bytes == 4 * pairs
    assert forward(parts) == forward(layer_parts(asked(GPT), 0, FULL))


def test_bytes_of_a_product() -> None:
    """Llama-3 405B, tp 8: an input of 16384, 53248 / 8 columns twice, 32-bit gradients that are added to."""
    up = named(layer_parts(asked(LLAMA_405B, Parallel(tp=8, dp=64)), 0), "up")
    numbers, weights = 8192 * (16384 + 2 * 6656), 16384 * 2 * 6656
    assert up.forward.flops == 2 * 8192 * weights
    assert up.forward.bytes == up.input_gradient.bytes == 2 * numbers + 2 * weights
    assert up.weight_gradient.bytes == 2 * numbers + 2 * 4 * weights
    function = named(layer_parts(asked(LLAMA_405B, Parallel(tp=8, dp=64)), 0), "function")
    # the gate's and the other's columns in, their product out; backward the gradient in, two out
    assert function.forward.bytes == 3 * 8192 * 6656 * 2
    assert function.input_gradient.bytes == 5 * 8192 * 6656 * 2


def test_past_the_heads_of_keys_ranks_work_on_copies() -> None:
    """Llama-3 405B has 8 of 128 numbers each; 16 ranks hold 8 heads of queries and one of keys."""
    one = layer_parts(asked(LLAMA_405B, Parallel(tp=16)), 0)
    assert named(one, "queries, keys, values").forward.flops == 2 * 8192 * 16384 * (8 + 2) * 128
    core = named(one, "core").forward
    assert core.flops == 2 * 8192 * 8193 // 2 * 8 * 256
    assert core.bytes == 2 * 8192 * (2 * 8 + 2) * 128 + 4 * 8192 * 8
    ulysses = Parallel(tp=8, cp=2, cp_kind="ulysses")
    assert named(layer_parts(asked(LLAMA_405B, ulysses), 0), "core").forward == core


def test_ring_attention_reads_everybodys_keys() -> None:
    core = named(layer_parts(asked(LLAMA_405B, Parallel(tp=8, cp=4)), 0), "core").forward
    assert core.bytes == 2 * (2048 * 2 * 16 + 8192 * 2) * 128 + 4 * 2048 * 16
    assert core.flops == 2 * 8192 * 8193 // 2 * 16 * 256 / Fraction(4)


def test_what_tensor_parallelism_leaves_whole() -> None:
    """Norms and sums of all tokens, or of a rank's own; Megatron's masks of a byte."""
    whole, shared = (layer_parts(asked(GPT, Parallel(tp=8, sp=sp)), 0) for sp in (False, True))
    numbers = 2048 * 12288
    assert named(whole, "input norm").forward.bytes == 2 * 2 * numbers
    assert named(whole, "input norm").input_gradient.bytes == 3 * 2 * numbers
    for one, part in zip(whole, shared, strict=True):
        if part.name in ("input norm", "second norm", "residual"):
            assert one.forward.bytes == 8 * part.forward.bytes
        else:
            assert one == part
    [first, second] = [part for part in whole if part.name == "residual"]
    assert first.forward == second.forward
    assert first.forward.bytes == (3 * 2 + 1) * numbers
    assert first.input_gradient.bytes == (3 * 2 + 2 * 2 + 1) * numbers


def test_places_in_order() -> None:
    def places(layer: int, model: Model) -> list[str]:
        return list(dict.fromkeys(part.place for part in layer_parts(asked(model), layer)))

    before = ["input norm", "projections", "attention", "attention output", "second norm"]
    assert places(0, LLAMA_405B) == [*before, "mlp", "residual"]
    assert places(0, DEEPSEEK_V3) == [*before, "mlp", "residual"]
    assert places(60, DEEPSEEK_V3) == [*before, "router", "shared expert", "experts", "combine", "residual"]
    assert [part.place for part in head_parts(asked(GPT))] == ["final norm", "head", "loss"]


def test_every_token_meets_the_active_parameters() -> None:
    """DeepSeek-V3: two operations for each weight of a matrix that it meets, but the embedding's."""
    v3, tokens = DEEPSEEK_V3, 4096
    step = asked(v3, Parallel(dp=64, ep=64), attention="scores")
    products = sum(
        part.forward.flops
        for parts in (*(layer_parts(step, layer) for layer in range(61)), head_parts(step))
        for part in parts
        if part.forward.kind == "matmul"
    )
    idle = v3.part_parameters("embedding") + v3.part_parameters("norms")
    assert products == 2 * tokens * (v3.active_parameters() - idle)
    core = sum(p.forward.flops for p in layer_parts(step, 9) if p.forward.kind == "attention")
    assert core == 2 * (tokens * (tokens + 1) // 2) * 128 * (192 + 128)


def test_experts_by_hand() -> None:
    """DeepSeek-V3, ep 32: eight experts a rank, as many routed tokens as 8 x its own, unless skewed."""
    cut = Parallel(dp=64, ep=32)
    width, routed = 7168 * 2048, 8 * 4096
    for skew, times in ((1, 1), (1.5, Fraction(3, 2)), (100, 32)):
        parts = layer_parts(asked(DEEPSEEK_V3, cut), 3, WorkPlan(skew=skew))
        [up, _, down] = [part.forward for part in parts if part.place == "experts"]
        assert up.flops == 2 * down.flops == 2 * times * routed * 2 * width
        assert down.bytes == 2 * times * routed * (2048 + 7168) + 8 * 2 * width
        [shared, _, _] = [part.forward for part in parts if part.place == "shared expert"]
        assert shared.flops == 2 * 4096 * 2 * width
    # 256 outputs a token; then eight copies of each; and their sum
    parts = layer_parts(asked(DEEPSEEK_V3, cut), 3)
    assert named(parts, "router").forward.flops == 2 * 4096 * 7168 * 256
    assert named(parts, "copies").forward.bytes == 2 * 4096 * 7168 * (1 + 8)
    assert named(parts, "weighted sum").input_gradient.bytes == 2 * 4096 * 7168 * (1 + 8 + 8)


def test_few_tokens_do_not_meet_all_experts() -> None:
    """One token of DeepSeek-V3 goes to eight experts, and only those are read."""
    one = serving(DEEPSEEK_V3, chunk=1)
    [_, _, down] = [part.forward for part in layer_parts(one, 3, past=10) if part.place == "experts"]
    assert down.bytes == 2 * 8 * (2048 + 7168) + 8 * 2 * 7168 * 2048


def test_decoding_reads_weights_and_the_cache() -> None:
    """Llama-3 405B, tp 8, batch 16 after 8191 tokens: all but embedding and norms, and 64,512 B a token."""
    decode, past = serving(LLAMA_405B, Parallel(tp=8), micro=16, chunk=1), 8191
    parts = layer_parts(decode, 0, past=past)
    core = named(parts, "core").forward
    assert core.flops == 16 * 2 * 8192 * (16384 // 8) * 2
    cache = cache_per_token(LLAMA_405B, MemoryPlan(), decode.parallel) / 126
    # queries and results, the cache, and the new token's part of it
    assert core.bytes == 16 * (2 * 2 * 2048 + (8192 + 1) * cache)
    matrices = LLAMA_405B.layer_parameters(0) - 2 * 16384
    numbers = 16 * ((16384 + 18 * 128) + (2048 + 16384) + (16384 + 2 * 6656) + (6656 + 16384))
    read = sum(part.forward.bytes for part in parts if part.forward.kind == "matmul")
    assert read == 2 * numbers + 2 * Fraction(matrices, 8)
    [_, logits] = head_parts(decode)
    assert logits.forward.flops == 2 * 16 * 16384 * 128256 // 8
    for part in (*parts, logits):
        assert part.input_gradient == part.weight_gradient == NOTHING


def test_prefill_in_chunks_is_prefill() -> None:
    """Operations of four chunks, each with what came before in the cache, are those of the whole."""
    whole = forward(layer_parts(serving(LLAMA_405B, Parallel(tp=8)), 0))
    each = serving(LLAMA_405B, Parallel(tp=8), chunk=2048)
    assert sum(forward(layer_parts(each, 0, past=past)) for past in range(0, 8192, 2048)) == whole
    # of the whole only the last token's logits
    assert forward(head_parts(each)) == 2 * 16384 * 128256 // 8


def test_a_ring_decodes_together() -> None:
    """Each of four ranks has the token, and a quarter of the cache."""
    one, four = (serving(LLAMA_405B, Parallel(tp=8, cp=cp), chunk=1) for cp in (1, 4))
    alone, together = (layer_parts(step, 0, past=8191) for step in (one, four))
    for first, second in zip(alone, together, strict=True):
        if first.name != "core":
            assert first == second
    assert named(alone, "core").forward.flops == 4 * named(together, "core").forward.flops
    assert named(together, "core").forward.bytes == 2 * (2 * 2048 + (2048 + 1) * 2 * 128)


def test_ulysses_caches_all_tokens_of_a_ranks_heads() -> None:
    """Llama-3 405B, tp 2 x cp 4: 16 heads and one of keys for all 8192 tokens, as tp 8 has them."""
    swapped, alone = Parallel(tp=2, cp=4, cp_kind="ulysses"), Parallel(tp=8)
    first, second = (
        named(layer_parts(serving(LLAMA_405B, cut, chunk=4096), 0, past=4096), "core").forward
        for cut in (swapped, alone)
    )
    assert first == second
    assert first.bytes == 2 * (4096 * 2 * 16 * 128 + (8192 + 4096) * 2 * 128)


def test_a_cache_of_8_bits() -> None:
    """Half the bytes of what is cached; of latent attention, not of the keys that are made from it."""
    tokens = 4096
    for model, chunk, numbers in ((LLAMA_405B, 1, (8192 + 1) * 2 * 8 * 128), (DEEPSEEK_V3, None, 0)):
        wide, narrow = (
            named(layer_parts(replace(serving(model, chunk=chunk), memory=plan), 0, past=past), "core")
            for plan in (
                MemoryPlan(phase="inference"),
                MemoryPlan(phase="inference", cache_bytes=1),
            )
            for past in [8191 if chunk else 0]
        )
        assert wide.forward.bytes - narrow.forward.bytes == numbers
    assert wide.forward.bytes == 2 * tokens * 128 * (2 * 192 + 2 * 128)


def test_latent_attention_decodes_on_the_cache_itself() -> None:
    """DeepSeek-V2, section 2.1: the up matrices go into queries and results; 576 numbers a token."""
    past, tp = 4095, 8
    parts = layer_parts(serving(DEEPSEEK_V3, Parallel(tp=tp), chunk=1), 0, past=past)
    heads = 128 // tp
    core = named(parts, "core").forward
    assert core.flops == 2 * 4096 * heads * (576 + 512)
    assert core.bytes == 2 * (heads * (576 + 512) + (4096 + 1) * 576)
    assert named(parts, "queries to latent").forward.flops == 2 * heads * 128 * 512
    assert named(parts, "latent to values").forward.flops == 2 * heads * 512 * 128
    held = [2 * heads * 128 * 512 + 2 * heads * (128 + 512)] * 2
    assert [named(parts, name).forward.bytes for name in ("queries to latent", "latent to values")] == held
    # all tokens at once are cheaper with keys and values of every head
    prefill = layer_parts(serving(DEEPSEEK_V3, Parallel(tp=tp)), 0)
    assert named(prefill, "keys, values").forward.flops == 2 * 4096 * 512 * heads * 256


def test_latent_vectors_go_round() -> None:
    """On a ring every rank makes keys and values of all tokens; under Ulysses, of its own."""
    kinds = (
        (Parallel(cp=4), 4096, "attention"),
        (Parallel(cp=4, cp_kind="ulysses"), 1024, "projections"),
    )
    for cut, tokens, place in kinds:
        up = named(layer_parts(asked(DEEPSEEK_V3, cut), 0), "keys, values")
        assert up.forward.flops == 2 * tokens * 512 * 128 * 256
        assert up.place == place
    # the short vectors are whole on every tensor parallel rank, or of a rank's own tokens
    for sp, tokens in ((False, 4096), (True, 512)):
        parts = layer_parts(asked(DEEPSEEK_V3, Parallel(tp=8, sp=sp)), 0)
        assert named(parts, "query down").forward.flops == 2 * tokens * 7168 * 1536
        assert named(parts, "query norm").forward.bytes == 2 * 2 * tokens * 1536
        assert named(parts, "query up").forward.flops == 2 * 4096 * 1536 * 16 * 192


def test_recomputation() -> None:
    """Nothing, attention's core, or all of a layer; the ends never."""
    for recompute, expected in (
        ("none", set[str]()),
        ("selective", {"scores", "softmax", "values"}),
        (
            "full",
            {part.name for part in layer_parts(asked(GPT), 0)} - {"core"} | {"scores", "softmax", "values"},
        ),
    ):
        step = asked(GPT, recompute=recompute, attention="scores")
        parts = layer_parts(step, 0)
        assert {part.name for part in parts if part.again != NOTHING} == expected
        assert all(part.again == part.forward for part in parts if part.recomputed)
        assert not any(part.recomputed for part in (*embedding_parts(step), *head_parts(step)))


def test_the_ends() -> None:
    """The embedding is cut along the vocabulary: a rank finds one of eight tokens, and writes all."""
    tokens, h = 2048, 12288
    [found] = embedding_parts(asked(replace(GPT, positions=0), Parallel(tp=8)))
    assert found.forward.bytes == tokens * h * 2 * Fraction(9, 8)
    assert found.weight_gradient.bytes == tokens * h * (2 + Fraction(2 * 4, 8))
    assert found.input_gradient == NOTHING
    [learned] = embedding_parts(asked(GPT, Parallel(tp=8)))
    assert learned.forward.bytes - found.forward.bytes == tokens * h * 2
    [_, logits, loss] = head_parts(asked(GPT, Parallel(tp=8, sp=True)))
    assert logits.weight_gradient.flops == 2 * tokens * h * 51200 // 8
    assert loss.forward.bytes == tokens * 51200 // 8 * (2 + 4)


def test_the_optimizer_updates_a_ranks_shard() -> None:
    """Reads all 18 bytes of a parameter and writes 14 of them."""
    model = transformer(layers=4, hidden=64, heads=4, vocab=512, sequence=128)
    for cut, shards in ((Parallel(dp=8), 1), (Parallel(dp=8, zero=1), 8), (Parallel(dp=8, zero=3), 8)):
        step = asked(model, cut)
        assert optimizer_work(step, 0).bytes == Fraction(model.parameters() * (18 + 14), shards)
    # stages hold half each, whether memory counts the ends or not
    step = asked(model, Parallel(pp=2, dp=8), count="matrices")
    assert sum(optimizer_work(step, stage).bytes for stage in (0, 1)) == 32 * model.parameters()
    mixed = asked(model, convention=CONVENTIONS["fp32"])
    assert optimizer_work(mixed, 0).bytes == model.parameters() * (16 + 12)


def test_the_optimizer_and_experts() -> None:
    """Experts are sharded over the ranks that hold the same ones: states as memory has them."""
    v3 = replace(DEEPSEEK_V3, layers=4)
    cut, plan = Parallel(pp=4, dp=64, ep=16, zero=1), MemoryPlan()
    states = state_bytes(layer_units(v3, cut, plan)[True], plan.convention, cut)
    more = [optimizer_work(asked(v3, cut), stage).bytes for stage in (1, 2, 3)]
    dense = state_bytes(layer_units(v3, cut, plan)[False], plan.convention, cut)
    assert more[0] == more[1] == dense.optimizer / 12 * 32
    head = Fraction(v3.part_parameters("head") + 7168, 64)
    assert more[2] == (states.optimizer / 12 + head) * 32


def test_wrong_plans_of_work() -> None:
    wrongs: list[tuple[dict[str, Any], str]] = [
        ({"skew": 0.5}, "skew"),
        ({"skew": "2"}, "skew"),
        ({"mask": "none"}, "mask"),
    ]
    for wrong, at in wrongs:
        with pytest.raises(ModelError) as error:
            WorkPlan(**wrong)
        assert error.value.at == (at,)
