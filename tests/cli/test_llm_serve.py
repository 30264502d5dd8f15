"""`collsim llm serve`, as a person types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import collsim

PLAN = """\
model: {layers: 4, hidden: 512, heads: 8, vocab: 1024, sequence: 1024}
hardware: {capacity: 64 MiB, compute: 100 TFLOP/s, memory_bandwidth: 100 GB/s}
topology: {kind: crossbar, ranks: 4, bandwidth: 10 GB/s, overhead: 1 us}
parallel: {tp: 4}
batch: {global: 4}
memory: {phase: inference}
network: {model: cut_through}
serve: {prompt: 256, output: 64, tpot: 0.2 ms}
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """A small plan that serves."""
    path = tmp_path / "small.yaml"
    path.write_text(PLAN, encoding="utf-8")
    return path


def test_table_and_verdict(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("llm", "serve", plan) == 0
    out = capsys.readouterr().out
    assert "prompts of 256 tokens, answers of 64\ntargets: TPOT 200 us\n" in out
    # 2 x 512 numbers of 2 bytes in 4 layers
    assert "KV cache: 8192 B a token, 2.500 MiB a request at its end\n" in out
    assert "tp 4: at most " in out
    assert ", bound by tpot (memory has room for " in out


def test_tensor_parallelism_side_by_side(
    plan: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert collsim("llm", "serve", plan, "--tp", "1,2,4,3", "--json", "--out", out) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert [one["mesh"]["tp"] for one in found["plans"]] == [1, 2, 4]
    assert [one["mesh"]["dp"] for one in found["plans"]] == [4, 2, 1]
    assert found["refused"] == [{"tp": 3, "reason": "groups of 3 ranks do not share 4 ranks"}]
    for one in found["plans"]:
        for point in one["points"]:
            assert point["misses"] == ([] if point["requests"] <= one["largest_batch"] else ["tpot"])
            rate = point["requests"] / point["tpot"]
            assert point["tokens_per_second"] == pytest.approx(rate)
            assert point["tokens_per_second_per_rank"] == pytest.approx(rate / 4)
    assert json.loads((out / "serve.json").read_text(encoding="utf-8")) == found
    table = (out / "serve.csv").read_text(encoding="utf-8").splitlines()
    assert table[0] == (
        "tp,requests,first_TTFT_s,TTFT_s,TPOT_s,tokens/s,a_rank_tokens/s,with_prompts_tokens/s,KV_GiB,GiB,"
        "percent_calls,misses"
    )
    assert captured.err == f"written to {out}\n"
    assert len(table) == 1 + sum(len(one["points"]) for one in found["plans"])
    assert collsim("llm", "serve", plan, "--out", out) == 2
    assert "--force overwrites" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("serve: {prompt: 256, output: 64, tpot: 0.2 ms}\n", "", ':1:1: missing key "serve"'),
        ("prompt: 256", "promt: 256", ':8:9: unknown key "promt" in serve; did you mean "prompt"?'),
        ("output: 64", "output: 1", ":8:30: serve.output: an answer of 1 token has no time"),
        ("tpot: 0.2 ms", "tpot: 0.2", ':8:40: serve.tpot: 0.2 needs a unit, e.g. "0.2 us"'),
        ("tpot: 0.2 ms", "chunk: 512", ":8:41: serve.chunk: 512 tokens at once are more than the 256"),
        ("tpot: 0.2 ms", "batch: []", ":8:41: serve.batch: expected at least one number of requests"),
        ("phase: inference", "phase: training", ":6:17: memory.phase: serving is a phase of inference"),
        ("parallel: {tp: 4}", "parallel: {tp: 2}", ":4:1: parallel: tp 2 x cp 1 x dp 1 x pp 1 is 2 ranks"),
        ("sequence: 1024", "sequence: 1024, positions: 256", "serve.prompt: 320 tokens are more than"),
    ],
)
def test_wrong_files(
    old: str, new: str, message: str, plan: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan.write_text(
        PLAN.replace(old, new).replace("sequence: 1024, pos", "sequence: 256, pos"), encoding="utf-8"
    )
    assert collsim("llm", "serve", plan) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error


def test_wrong_options(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("llm", "serve", plan, "--tp", "1,two") == 2
    assert 'found "two", expected numbers of ranks, as 1,2,4,8' in capsys.readouterr().err
    assert collsim("llm", "serve", plan, "--tp", "3") == 2
    assert "groups of 3 ranks do not share 4 ranks" in capsys.readouterr().err


def test_expectations(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = "expect: {largest_batch: 1, batch_in_memory: 1, tpot: 1 ms, ttft: {value: 1 s, rel: 1}}\n"
    plan.write_text(PLAN + expected, encoding="utf-8")
    assert collsim("check", plan) == 1
    out = capsys.readouterr().out
    assert ":9:10: largest_batch: " in out
    assert ":9:28: batch_in_memory: " in out
    assert "tpot: " in out
    assert "ttft: " not in out
    assert collsim("check", plan, "--update") == 0
    assert "updated" in capsys.readouterr().out
