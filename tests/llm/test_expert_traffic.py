"""What experts send: 4 (e-1)/e T k h B a layer."""

from __future__ import annotations

from fractions import Fraction

import pytest

from simulator.llm.errors import ModelError
from simulator.llm.layer_calls import near_ranks
from simulator.llm.model import Experts, Model, transformer
from simulator.llm.plan import Batch, MemoryPlan, Parallel
from simulator.llm.traffic_plan import TrafficPlan
from tests.llm.published import DEEPSEEK_V3
from tests.llm.sent import MATRICES, group_bytes, step


def sparse(**changes: int) -> Model:
    return transformer(
        layers=4,
        hidden=1024,
        heads=8,
        vocab=512,
        sequence=512,
        experts=Experts(count=16, active=2, ffn=512, **changes),
    )


def test_expert_bytes() -> None:
    found = step(Parallel(dp=8, ep=8), Batch(total=8), model=sparse())
    assert group_bytes(found, "ep") == 4 * 4 * Fraction(7, 8) * 512 * 2 * 1024 * 2


def test_dense_layers_and_widths() -> None:
    found = step(
        Parallel(dp=8, ep=8),
        Batch(total=8),
        MemoryPlan(count="matrices", phase="inference"),
        TrafficPlan(dispatch=1.03125),
        sparse(dense_layers=1),
    )
    sizes = {row.what: row.rank for row in found.rows()}
    assert sizes["dispatch"] == 3 * Fraction(7, 8) * 512 * 2 * 1056
    assert sizes["combine"] == 3 * Fraction(7, 8) * 512 * 2 * 2048


def test_tokens_go_to_a_machine_once() -> None:
    """8 ranks in 4 machines of 2, experts in at most 3: 3/4 of 3 copies between, 1/2 of 8 inside."""
    model = sparse()
    eight = transformer(
        layers=1, hidden=1024, heads=8, vocab=512, sequence=512, experts=Experts(count=16, active=8, ffn=512)
    )
    found = step(Parallel(dp=8, ep=8), Batch(total=8), MATRICES, TrafficPlan(node=2, nodes_limit=3), eight)
    numbers = 4 * 512 * 1024 * 2
    assert group_bytes(found, "ep between machines") == numbers * 3 * Fraction(3, 4)
    assert group_bytes(found, "ep in a machine") == numbers * 8 * Fraction(1, 2)
    # no token is copied more often than it has experts
    few = step(Parallel(dp=8, ep=8), Batch(total=8), MATRICES, TrafficPlan(node=2), model)
    assert group_bytes(few, "ep between machines") == 4 * numbers * 2 * Fraction(3, 4)


def test_deepep_bytes() -> None:
    """DeepEP's low-latency test: 128 tokens of 7168, 8 experts: copies in 8 bits with scales, and back."""
    plan = TrafficPlan(dispatch=Fraction(7168 + 224, 7168))
    memory = MemoryPlan(count="matrices", phase="inference")
    batch = Batch(total=128 * 8, micro=128, chunk=1)
    rows = step(Parallel(dp=8, ep=8), batch, memory, plan, DEEPSEEK_V3).rows()
    assert [row.size for row in rows] == [128 * 8 * (7168 + 224), 128 * 8 * 7168 * 2]


def test_experts_are_replicated_less() -> None:
    found = step(Parallel(dp=8, ep=4), Batch(total=8), model=sparse())
    assert found.groups["expert dp"] == 2
    experts = 4 * 16 * 2 * 1024 * 512
    assert group_bytes(found, "expert dp") == Fraction(2, 2) * 4 * experts / 4


def test_sequence_parallel_ranks_send_their_part_to_experts() -> None:
    """A part of t each, and the ranks of an expert gather k copies; without it each rank sends them all."""
    model, batch = sparse(), Batch(total=8)
    whole, part = (step(Parallel(tp=4, sp=sp, dp=4, ep=4), batch, model=model) for sp in (False, True))
    alone = step(Parallel(dp=4, ep=4), batch, model=model)
    assert group_bytes(whole, "ep") == group_bytes(alone, "ep") == 4 * group_bytes(part, "ep")
    rows = {row.what: row for row in part.rows() if (row.group, row.kind) == ("tp", "allgather")}
    assert rows["layer input, experts"].size == 2 * rows["layer input"].size
    assert rows["layer input, experts"].times == rows["layer input"].times


def test_many_stages_are_counted_once_each() -> None:
    """What a stage sends is added up once, however many ask for it."""
    found = step(Parallel(tp=2, pp=96), Batch(total=96))
    assert found.rank(5) == sum(found.rank(5, group) for group in found.groups)
    by_calls = [call.rank_bytes(found.parallel) for call in found.calls if 5 in call.senders(found.parallel)]
    assert found.rank(5) == sum(by_calls)
    assert found.rank(5, "nobody") == 0


def test_machines_that_cut_experts_unequally() -> None:
    assert near_ranks(Parallel(dp=8, ep=8), 2) == 2
    with pytest.raises(ModelError, match="unequally") as caught:
        near_ranks(Parallel(dp=6, ep=6), 4)
    assert caught.value.at == ("traffic", "node")
