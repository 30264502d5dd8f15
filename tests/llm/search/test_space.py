"""Which plans a search tries."""

from __future__ import annotations

import pytest

from simulator.llm.errors import ModelError
from simulator.llm.model import Experts, Model, transformer
from simulator.llm.plan import MemoryPlan, Parallel
from simulator.llm.search.space import Degrees, Space, degrees_of

MODEL = transformer(layers=8, hidden=64, heads=8, vocab=512, sequence=128)
ONE = {"zero": [0], "recompute": ["none"], "micro": [1], "schedule": ["1f1b"], "interleave": [1]}


def tried(space: Space, ranks: int = 8, machine: int = 4, model: Model = MODEL) -> tuple[Degrees, ...]:
    return degrees_of(space, ranks, machine, model, model.sequence, MemoryPlan())


def test_all_divisors_with_tp_inside_a_machine() -> None:
    # tp 1, 2, 4 and pp 1, 2, 4, 8 with tp x pp <= 8: 4 + 3 + 2
    plans = tried(Space(**ONE))
    assert [(plan.tp, plan.pp) for plan in plans] == [
        *((1, pp) for pp in (1, 2, 4, 8)),
        *((2, pp) for pp in (1, 2, 4)),
        *((4, pp) for pp in (1, 2)),
    ]
    assert all(plan.tp * plan.pp * plan.dp == 8 and plan.sp == (plan.tp > 1) for plan in plans)
    assert {plan.tp for plan in tried(Space(**ONE | {"tp": [8]}))} == {8}


def test_what_makes_no_difference_is_tried_once() -> None:
    plans = tried(Space(tp=[1, 2], dp=[1, 4, 8], sp=[True, False], micro=[1]))
    assert len(plans) == len(set(plans))
    for plan in plans:
        assert plan.tp > 1 or not plan.sp
        assert plan.dp > 1 or plan.zero == 0
        assert plan.pp > 1 or (plan.schedule == "1f1b" and plan.interleave == 1)
        assert plan.interleave == 1 or plan.schedule == "1f1b"
    # tp 1: dp 8 (3 zero) and pp 8 (3 pipelines), dp 4 with pp 2 (3 x 3); tp 2 with sp and without:
    # dp 4 (3) and pp 4 (3); each with 2 ways of recomputing
    assert len(plans) == 2 * (3 + 3 + 3 * 3 + 2 * (3 + 3))


def test_experts_and_long_sequences() -> None:
    sparse = transformer(
        layers=8,
        hidden=64,
        heads=8,
        vocab=512,
        sequence=32768,
        experts=Experts(count=6, active=2, ffn=64),
    )
    plans = tried(Space(**ONE, tp=[1], pp=[1]), model=sparse)
    # 32768 tokens leave 8192 to each of 4; 6 experts among 1 or 2 of 8, 4 or 2 replicas
    assert [(plan.cp, plan.dp, plan.ep) for plan in plans] == [
        (cp, 8 // cp, ep) for cp in (1, 2, 4) for ep in (1, 2)
    ]


def test_degrees_keep_the_rest_of_a_plan() -> None:
    base = Parallel(dp=4, zero=1, shard=2, prefetch=3, cp_kind="ulysses")
    one = Degrees(
        tp=2,
        sp=True,
        cp=1,
        pp=1,
        schedule="1f1b",
        interleave=1,
        dp=4,
        ep=1,
        zero=3,
        recompute="full",
        micro=2,
    )
    assert one.parallel(base) == Parallel(tp=2, sp=True, dp=4, zero=3, shard=2, prefetch=3, cp_kind="ulysses")


@pytest.mark.parametrize(
    ("written", "at"),
    [
        ({"tp": []}, ("tp",)),
        ({"pp": [1, 2, 1]}, ("pp", 2)),
        ({"zero": [4]}, ("zero",)),
        ({"schedule": ["best"]}, ("schedule",)),
        ({"micro": [0]}, ("micro",)),
        ({"most": 0}, ("most",)),
    ],
)
def test_wrong_values(written: dict[str, object], at: tuple[str | int, ...]) -> None:
    with pytest.raises(ModelError) as refused:
        Space(**written)  # type: ignore[arg-type]
    assert refused.value.at == at


def test_no_plan_and_too_many() -> None:
    with pytest.raises(ModelError, match="no plan of these has 8 ranks"):
        tried(Space(tp=[3]))
    with pytest.raises(ModelError, match="name fewer"):
        tried(Space(micro=list(range(1, 4000))))
