"""What a plan sends in a pass of GPT-3 175B, in 16 bits."""

from __future__ import annotations

from fractions import Fraction

from simulator.llm.model import Model
from simulator.llm.plan import Batch, MemoryPlan, Parallel
from simulator.llm.traffic import Traffic, traffic
from simulator.llm.traffic_plan import TrafficPlan
from tests.llm.published import gpt

GIB = 2**30
ONE = Batch(total=1)
MATRICES = MemoryPlan(count="matrices")
GPT_175B = gpt(96, 12288, 96)
H, S, L = 12288, 2048, 96
M = 2 * S * H
"""Bytes of a layer's input for one sequence, in 16 bits."""

PARAMETERS = 12 * L * H * H
"""Of the matrices of its layers."""


def step(
    parallel: Parallel,
    batch: Batch = ONE,
    memory: MemoryPlan = MATRICES,
    plan: TrafficPlan | None = None,
    model: Model = GPT_175B,
) -> Traffic:
    return traffic(model, parallel, batch, memory, plan)


def group_bytes(found: Traffic, group: str, stage: int = 0) -> Fraction:
    return found.rank(stage, group)
