"""Small rows of published step times; all of them are in benchmarks/published_steps.py."""

from __future__ import annotations

import json

import pytest

from simulator.scenario.plan_load import loads_plan
from simulator.scenario.step_run import step_setting

# One setting for all, as docs/explanation/published-steps.md has it, and how far off a row may be.
EFFICIENCY = {"matmul": 0.59, "attention": 0.59, "memory": 0.9}
WITHIN = 0.05

# Narayanan et al. 2021, table 1: seconds are 96 B s l h^2 (1 + s/6h + V/16lh), its equation 3, over the
# PFLOP/s of all GPUs; micro-batches are those of Megatron-LM's examples/sc21/run_table_1.sh.
PTD_P = (
    ("narayanan-1.7b", {"dp": 32}, {"global": 512, "micro": 16}, 3.52),
    ("narayanan-18.4b", {"tp": 8, "dp": 32}, {"global": 1024, "micro": 8}, 9.39),
)
# Korthikanti et al. 2022, table 5
RECOMPUTATION = (("full", False, 1.42), ("selective", True, 1.10))


def seconds(machines: int, convention: int, recompute: str, **plan: object) -> float:
    whole = {
        "hardware": "a100-80g",
        "topology": {"preset": "dgx-a100", "nodes": machines},
        "network": {"model": "cut_through"},
        "memory": {"convention": convention, "attention": "scores", "recompute": recompute},
        "efficiency": EFFICIENCY,
        "work": {"mask": "full"},
        **plan,
    }
    return step_setting(loads_plan(json.dumps(whole))).run().time / 1e15


def test_a_step_without_a_pipeline_takes_what_was_measured() -> None:
    for model, parallel, batch, published in PTD_P:
        ranks = parallel["dp"] * parallel.get("tp", 1)
        found = seconds(ranks // 8, 20, "full", model=model, parallel=parallel, batch=batch)
        assert found == pytest.approx(published, rel=WITHIN), model


def test_recomputing_less_saves_what_was_measured() -> None:
    found = [
        seconds(
            1,
            18,
            recompute,
            model="korthikanti-22b",
            parallel={"tp": 8, "sp": sp},
            batch={"global": 4, "micro": 4},
        )
        for recompute, sp, _ in RECOMPUTATION
    ]
    published = [time for _, _, time in RECOMPUTATION]
    assert found == pytest.approx(published, rel=WITHIN)
    assert found[1] / found[0] == pytest.approx(published[1] / published[0], rel=WITHIN)
