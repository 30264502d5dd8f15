"""Operations of a step against the closed forms and tables of papers."""

from __future__ import annotations

from fractions import Fraction

import pytest

from simulator.llm.errors import ModelError
from simulator.llm.hardware import Hardware
from simulator.llm.layer_calls import Pass
from simulator.llm.plan import Batch, MemoryPlan, Parallel
from simulator.llm.step.flops import StepFlops, step_flops
from simulator.llm.step.kernels import WorkPlan
from simulator.llm.traffic_plan import TrafficPlan
from tests.llm.published import DEEPSEEK_V3, LLAMA_405B, gpt

FULL = WorkPlan(mask="full")
A100 = Hardware(capacity=1, compute=312e12)
SECOND = 10**15

# Korthikanti et al. 2022, tables 3 and 5: hidden, heads, layers, tp, pp, batch, micro, s, MFU and HFU in %
KORTHIKANTI = [
    (6144, 64, 48, 8, 1, 4, 4, 1.10, 41.5, 43.7),
    (12288, 96, 96, 8, 8, 64, 1, 13.75, 51.4, 52.8),
    (20480, 128, 105, 8, 35, 280, 1, 37.83, 56.0, 57.0),
    (25600, 160, 128, 8, 64, 512, 1, 71.49, 56.3, 57.0),
]

# Narayanan et al. 2021, table 1: heads, hidden, layers, tp, pp, GPUs, batch, TFLOP/s of each, PFLOP/s of all,
# and the seconds of a step that follow from the latter
NARAYANAN = [
    (24, 2304, 24, 1, 1, 32, 512, 137, 4.4, 3.52),
    (32, 3072, 30, 2, 1, 64, 512, 138, 8.8, 3.71),
    (32, 4096, 36, 4, 1, 128, 512, 142, 18.2, 3.69),
    (48, 6144, 40, 8, 1, 256, 1024, 135, 34.6, 9.39),
    (64, 8192, 48, 8, 2, 512, 1536, 138, 70.8, 14.42),
    (80, 10240, 60, 8, 4, 1024, 1792, 140, 143.8, 16.01),
    (96, 12288, 80, 8, 8, 1536, 2304, 148, 227.1, 24.84),
    (128, 16384, 96, 8, 16, 1920, 2160, 155, 297.4, 37.64),
    (128, 20480, 105, 8, 35, 2520, 2520, 163, 410.2, 54.16),
    (160, 25600, 128, 8, 64, 3072, 3072, 163, 502.0, 102.37),
]


def test_mfu_and_hfu_of_korthikanti_2022() -> None:
    """72 B L s h^2 (1 + s/6h + v/12hL), within the rounding of the printed times.

    Their hardware's form has s/3h: 12 B L s^2 h more, three times the forward pass of attention (4 B L s^2 h)
    that selective recomputation does again, and that is counted here.
    """
    s, v = 2048, 51200
    for h, a, layers, tp, pp, batch, micro, time, mfu, hfu in KORTHIKANTI:
        memory = MemoryPlan(recompute="selective", attention="scores")
        cut = Parallel(tp=tp, sp=True, pp=pp)
        step = Pass(gpt(layers, h, a), cut, Batch(total=batch, micro=micro), memory, TrafficPlan())
        done = step_flops(step, FULL)
        unit = 72 * batch * layers * s * h**2
        assert done.model == unit * (1 + Fraction(s, 6 * h) + Fraction(v, 12 * h * layers))
        printed = unit * (1 + Fraction(s, 3 * h) + Fraction(v, 12 * h * layers))
        assert done.hardware - done.model == 4 * batch * layers * s**2 * h == (printed - done.model) / 3
        theirs = StepFlops(done.ranks, done.tokens, done.model, printed)
        early, late = (round((time + off) * SECOND) for off in (-0.005, 0.005))
        assert 100 * done.mfu(late, A100) - 0.05 <= mfu <= 100 * done.mfu(early, A100) + 0.05
        assert 100 * theirs.hfu(late, A100) - 0.05 <= hfu <= 100 * theirs.hfu(early, A100) + 0.05
        assert done.tokens == batch * s


def test_operations_and_step_times_of_narayanan_2021() -> None:
    """Equation 3: 96 B s l h^2 (1 + s/6h + V/16lh), with full recomputation; times by the printed PFLOP/s."""
    s, v = 2048, 51200
    for a, h, layers, tp, pp, ranks, batch, tera, peta, time in NARAYANAN:
        cut = Parallel(tp=tp, pp=pp, dp=ranks // (tp * pp))
        memory = MemoryPlan(recompute="full", attention="scores")
        step = Pass(gpt(layers, h, a), cut, Batch(total=batch), memory, TrafficPlan())
        done = step_flops(step, FULL)
        form = 96 * batch * s * layers * h**2 * (1 + Fraction(s, 6 * h) + Fraction(v, 16 * layers * h))
        assert done.hardware == form
        assert round(float(form) / (peta * 1e15), 2) == time
        assert done.hfu(round(time * SECOND), A100) == pytest.approx(tera / 312, abs=0.5 / 312)
        assert done.ranks == ranks


def test_llama_3_405b() -> None:
    """6 N D, where N leaves out the embedding, which multiplies nothing, and norms; and attention on top.

    Llama 3 report, table 4: 430 TFLOP/s on 8192 GPUs, 43 % of the H100's 989; 11.6 s by 6 N D alone.
    """
    model, batch, s = LLAMA_405B, 2048, 8192
    cut = Parallel(tp=8, sp=True, pp=16, dp=64, split=[7, *[8] * 14, 7])
    done = step_flops(Pass(model, cut, Batch(total=batch), MemoryPlan(), TrafficPlan()))
    tokens = batch * s
    products = 6 * (model.parameters() - model.part_parameters("embedding") - model.part_parameters("norms"))
    core = 3 * 2 * (s + 1) // 2 * 126 * 2 * 16384
    assert done.model == tokens * (products + core)
    # flash attention makes scores once more
    assert done.hardware - done.model == tokens * (s + 1) // 2 * 2 * 126 * 16384
    assert round(6 * model.parameters() * tokens / (8192 * 430e12), 1) == 11.6
    assert 1 < done.model / (6 * model.parameters() * tokens) < 1.05
    h100 = Hardware(capacity=1, compute=989e12)
    time = round(float(done.model) / (8192 * 430e12) * SECOND)
    assert round(100 * done.mfu(time, h100)) == 43


def test_what_ranks_do_alike_is_the_hardwares() -> None:
    """Sixteen ranks share eight heads of keys and values, so each is made twice; skew changes no sum."""

    def done(tp: int, cp: int = 1) -> StepFlops:
        batch = Batch(total=1, sequence=256)
        plan = WorkPlan(mask="full")
        memory = MemoryPlan(attention="scores")
        return step_flops(Pass(LLAMA_405B, Parallel(tp=tp, cp=cp), batch, memory, TrafficPlan()), plan)

    assert done(8).hardware == done(8).model == done(16).model
    assert done(16).hardware - done(16).model == 126 * 3 * 2 * 256 * 16384 * 2 * 1024
    assert done(8, cp=4).hardware == done(8).model
    v3 = [
        step_flops(
            Pass(DEEPSEEK_V3, Parallel(dp=8, ep=8), Batch(total=8), MemoryPlan(), TrafficPlan()),
            WorkPlan(skew=skew),
        )
        for skew in (1, 2)
    ]
    assert v3[0] == v3[1]


def test_inference_counts_one_pass() -> None:
    """Decoding 64 sequences: two operations a parameter and token, and attention to 4096 tokens."""
    batch = Batch(total=64, micro=32, chunk=1)
    step = Pass(LLAMA_405B, Parallel(tp=8, dp=2), batch, MemoryPlan(phase="inference"), TrafficPlan())
    done = step_flops(step, past=4095)
    met = LLAMA_405B.parameters()
    met -= LLAMA_405B.part_parameters("embedding") + LLAMA_405B.part_parameters("norms")
    assert done.model == done.hardware == 64 * (2 * met + 126 * 2 * 4096 * 2 * 16384)
    assert done.tokens == 64


def test_hardware_must_say_how_fast_it_computes() -> None:
    done = StepFlops(1, 1, Fraction(1), Fraction(1))
    with pytest.raises(ModelError) as error:
        done.mfu(1, Hardware(capacity=1))
    assert error.value.at == ("hardware", "compute")
