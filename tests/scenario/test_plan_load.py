"""Files of parallel plans: what they may say, and where errors point."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from simulator.llm.errors import ModelError
from simulator.llm.plan import CONVENTIONS, MemoryPlan, Parallel
from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.load import load, loads
from simulator.scenario.plan_load import load_any, load_plan, loads_any, loads_plan
from simulator.scenario.plan_models import ExpectedBytes, PlanScenario
from simulator.scenario.plan_run import work_out

BATCH = "batch: {global: 8}\n"
PLAN = f"model: llama3-8b\n{BATCH}"
RING = """\
topology: {kind: ring, ranks: 8, bandwidth: 64 GB/s}
collective: {kind: allgather, algorithm: ring, size: 1 MB}
"""


def refusal(text: str) -> str:
    with pytest.raises(ScenarioErrors) as caught:
        work_out(loads_plan(text, "a.yaml"))
    assert not isinstance(caught.value, ModelError)
    return str(caught.value)


def test_what_is_not_said() -> None:
    plan = loads_plan(PLAN, "some/small.yaml")
    assert plan.name == "small"
    assert (plan.parallel, plan.memory) == (Parallel(), MemoryPlan())
    assert (plan.topology, plan.hardware) == (None, None)
    assert not plan.expects_something
    assert pickle.loads(pickle.dumps(plan)) == plan


def test_everything_may_be_said() -> None:
    plan = loads_plan("""\
name: Everything
model: {preset: mixtral-8x7b, layers: 16, experts: {active: 1}}
hardware: {preset: h100-80g, capacity: 64 GiB, compute: 1 PFLOP/s, memory_bandwidth: 3 TB/s}
topology: {kind: ring, ranks: 64, bandwidth: 1 GB/s}
parallel: {tp: 2, sp: true, cp: 2, cp_kind: ulysses, pp: 4, interleave: 2, split: [1, 2, 2, 3, 2, 2, 2, 2],
  schedule: 1f1b, dp: 4, ep: 2, zero: 3, shard: 4, reshard_after_forward: false, prefetch: 2,
  order: [cp, tp, ep, dp, pp]}
batch: {global: 32, micro: 2, sequence: 4096}
memory: {phase: training, convention: {weight: 4, gradient: 2.5, optimizer: 6, name: mine}, recompute: full,
  attention: scores, count: matrices, capacity: 32 GiB, reserved: 1 GiB, offload: [optimizer], cache_bytes: 1}
expect: {fits: true, overflow: none, memory_max: {value: 1 GiB, rel: 1}, states_max: 1 B}
""")
    assert plan.name == "Everything"
    assert (plan.model.layers, plan.model.hidden) == (16, 4096)
    assert plan.model.experts is not None
    assert (plan.model.experts.count, plan.model.experts.active) == (8, 1)
    assert plan.hardware is not None
    assert (plan.hardware.name, plan.hardware.compute) == ("NVIDIA H100 80GB SXM", 1e15)
    assert plan.memory.capacity == 2**35
    assert plan.memory.convention.total == 12.5
    assert plan.expect.states_max == ExpectedBytes(1)
    assert work_out(plan).memory.stages[1].layers == 4


def test_capacity_is_the_hardwares() -> None:
    assert loads_plan(f"{PLAN}hardware: mi300x\n").memory.capacity == 192 * 2**30


@pytest.mark.parametrize("word", CONVENTIONS)
def test_conventions_by_name(word: int | str) -> None:
    plan = loads_plan(f"{PLAN}memory: {{convention: {word}}}\n")
    assert plan.memory.convention is CONVENTIONS[word]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f"model: llama3-71b\n{BATCH}",
            'a.yaml:1:8: model.preset: found the text "llama3-71b", expected deepseek-v3',
        ),
        (f"model: llama3-71b\n{BATCH}", 'did you mean "llama3-70b"?'),
        (f"model: {{preset: llama3-8b, hiden: 1}}\n{BATCH}", 'a.yaml:1:28: unknown key "hiden" in model'),
        (f"model: {{layers: 2}}\n{BATCH}", 'a.yaml:1:1: missing key "hidden" in model'),
        (
            f"model: {{preset: llama3-8b, heads: 3}}\n{BATCH}",
            "a.yaml:1:35: model.heads: 3 heads do not divide 4096",
        ),
        (
            f"model: {{preset: mixtral-8x7b, experts: {{active: 9}}}}\n{BATCH}",
            "a.yaml:1:49: model.experts.active: a token cannot go to 9 of 8 experts",
        ),
        (f"{PLAN}hardware: h100\n", 'a.yaml:3:11: hardware.preset: found the text "h100", expected a100-80g'),
        (
            f"{PLAN}hardware: {{preset: h800, compute: 1 GB/s}}\n",
            'hardware.compute: "1 GB/s" is a bandwidth, not a rate of computing; expected e.g. "312 TFLOP/s"',
        ),
        ("model: llama3-8b\nbatch: {micro: 1}\n", 'a.yaml:2:1: missing key "global" in batch'),
        (
            "model: llama3-8b\nbatch: {global: 0}\n",
            "a.yaml:2:17: batch.global: found the number 0, expected 1 or more",
        ),
        ("model: llama3-8b\n", 'a.yaml:1:1: missing key "batch" in the scenario'),
        (BATCH, 'a.yaml:1:1: missing key "model" in the scenario'),
        (f"{PLAN}parallel: {{tp: 3}}\n", "a.yaml:3:16: parallel.tp: tp of 3 does not divide 32 heads"),
        (f"{PLAN}parallel: {{zero: 4}}\n", "parallel.zero: found the number 4, expected 0, 1, 2 or 3"),
        (f"{PLAN}parallel: {{dp: 3}}\n", "a.yaml:2:17: batch.global: 8 sequences are not a multiple of 3"),
        (f"{PLAN}parallel: {{dp: 2, ep: 4}}\n", "a.yaml:3:23: parallel.ep: ep of 4 does not divide dp of 2"),
        (
            f"{PLAN}paralel: {{tp: 2}}\n",
            'a.yaml:3:1: unknown key "paralel" in the scenario; did you mean "parallel"?',
        ),
        (
            f"{PLAN}memory: {{convention: 17}}\n",
            "expected 16, 18, 20, fp32, deepspeed or a mapping of weight",
        ),
        (
            f"{PLAN}memory: {{convention: {{weight: 0, gradient: 0, optimizer: 0}}}}\n",
            "a.yaml:3:31: memory.convention.weight: must be more than 0",
        ),
        (f"{PLAN}memory: {{capacity: 0 B}}\n", "a.yaml:3:20: memory.capacity: must be more than 0 B"),
        (
            f"{PLAN}hardware: {{preset: h800, capacity: 0 B}}\n",
            "a.yaml:3:36: hardware.capacity: must be more than 0 B",
        ),
        (f"{PLAN}memory: {{capacity: 80}}\n", 'memory.capacity: 80 needs a unit, e.g. "80 GiB"'),
        (
            f"{PLAN}expect: {{memory_max: {{value: 1 B, rel: 1, abs: 1 B}}}}\n",
            'expected "rel" or "abs", found both',
        ),
        (
            f"{PLAN}parallel: {{dp: 4}}\ntopology: {{kind: ring, ranks: 8, bandwidth: 1 GB/s}}\n",
            "a.yaml:3:1: parallel: tp 1 x cp 1 x dp 4 x pp 1 is 4 ranks, but the topology has 8",
        ),
        (
            f"{PLAN}topology: {{preset: dgx-h100}}\n",
            "a.yaml:1:1: parallel: tp 1 x cp 1 x dp 1 x pp 1 is 1 ranks, but the topology has 32",
        ),
        (f"{PLAN}topology: {{kind: rings}}\n", 'a.yaml:3:18: topology.kind: found the text "rings"'),
        (
            f"{PLAN}{RING}",
            'a.yaml:1:1: found both "collective" and "model"; a file is of a collective, which "collsim run" '
            'reads, or of a parallel plan, which "collsim llm memory" reads',
        ),
        (RING, 'a.yaml:1:1: has no "model": a file of a collective, which "collsim run" reads'),
        ("- 1", "expected a parallel plan"),
    ],
)
def test_wrong_plans(text: str, message: str) -> None:
    assert message in refusal(text)


def test_everything_is_said_at_once() -> None:
    said = refusal("model: lama3-8b\nbatch: {global: x}\nparallel: {tp: 0}\nmemory: {recompute: all}\n")
    assert [line.split(": ")[0] for line in said.splitlines()] == [
        "a.yaml:1:8",
        "a.yaml:2:17",
        "a.yaml:3:16",
        "a.yaml:4:21",
    ]
    tensors = refusal(f"{PLAN}parallel: {{tp: 3, pp: 5, dp: 3}}\n")
    assert len(tensors.splitlines()) == 5


def test_a_collectives_loader_says_who_reads_a_plan() -> None:
    with pytest.raises(ScenarioErrors) as caught:
        loads(f"name: a\n{PLAN}", "a.yaml")
    assert str(caught.value) == (
        'a.yaml:2:1: has a "model" and no "collective": a parallel plan, which "collsim llm memory" reads'
    )


@pytest.mark.parametrize(
    ("blocks", "command"),
    [
        ("hardware: h100-80g\n", "memory"),
        ("topology: {preset: dgx-h100}\n", "memory"),
        ("hardware: h100-80g\ntopology: {preset: dgx-h100}\n", "step"),
        ("hardware: h100-80g\ntopology: {preset: dgx-h100}\nsearch: {tp: [2]}\n", "search"),
        ("topology: {preset: dgx-h100}\nserve: {prompt: 8, output: 2}\n", "serve"),
    ],
)
def test_a_plans_blocks_say_who_reads_it(blocks: str, command: str) -> None:
    with pytest.raises(ScenarioErrors) as caught:
        loads(f"{PLAN}{blocks}", "a.yaml")
    assert str(caught.value).endswith(f'a parallel plan, which "collsim llm {command}" reads')


def test_either_kind(tmp_path: Path) -> None:
    plan, ring = tmp_path / "plan.yaml", tmp_path / "ring.yaml"
    plan.write_text(PLAN, encoding="utf-8")
    ring.write_text(RING, encoding="utf-8")
    assert isinstance(load_any(plan), PlanScenario)
    assert load_any(plan) == load_plan(plan) == loads_any(PLAN, "plan.yaml")
    assert load_any(ring) == load(ring)
