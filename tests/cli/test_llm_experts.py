"""`collsim llm experts`, as a person types it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.command import collsim, write

MODEL = "model: {layers: 2, hidden: 256, heads: 4, vocab: 512, sequence: 128"
EXPERTS = ", experts: {count: 8, active: 2, ffn: 256, shared: 1}"
PLAN = f"""\
{MODEL}{EXPERTS}}}
hardware: {{capacity: 1 GiB, compute: 10 TFLOP/s, memory_bandwidth: 1 TB/s}}
topology:
  kind: multilevel
  levels:
    - {{name: machine, shape: switch, size: 4, bandwidth: 100 GB/s, latency: 1 us}}
    - {{name: between, shape: switch, size: 2, bandwidth: 10 GB/s, latency: 1 us}}
network: {{model: cut_through}}
parallel: {{dp: 8, ep: 8}}
batch: {{global: 8}}
traffic: {{node: 4}}
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return write(tmp_path / "plan.yaml", PLAN)


def test_table_and_verdict(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("llm", "experts", plan) == 0
    out = capsys.readouterr().out
    assert out.startswith(
        "model: 8 experts a layer, a token goes to 2 and 1 shared\n8 ranks: dp 8, ep 8 of dp\n"
    )
    assert "128 tokens of a rank in a micro-batch\n" in out
    # where nothing is asked for there is nothing to tell apart
    assert "machines" not in out
    assert "skew 1: dispatch and combine stay under the layer's compute " in out


def test_a_row_a_degree_limit_and_skew(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--ep", "2,8", "--machines", "1,2", "--skew", "1,1.5")
    assert collsim("llm", "experts", plan, *words, "--format", "csv") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["ep"] for row in rows] == ["2"] * 4 + ["8"] * 4
    assert [(row["machines"], row["skew"]) for row in rows[:4]] == [
        *(("1", "1.0"), ("1", "1.5"), ("2", "1.0"), ("2", "1.5"))
    ]
    assert {row["between"] for row in rows[:4]} == {"0.0"}


def test_json_and_what_does_not_go(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("llm", "experts", plan, "--ep", "3,8", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["scenario", "model", "ranks", "layers", "refused"]
    assert found["refused"] == [{"what": "ep 3", "reason": "ep of 3 does not divide dp of 8"}]
    [layer] = found["layers"]
    fields = ["dispatch", "combine", "experts", "compute", "exposed", "under", "memory"]
    assert list(layer) == ["ep", "nodes_limit", "skew", "busiest_link", *fields]
    # two copies of 128 tokens, half of them to the other machine, there and back, of 2 bytes a number
    assert layer["busiest_link"]["between"] == 2 * 2 * 128 * 256 * 2 // 2


def test_what_is_refused(plan: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (
        ("--ep", "0"),
        ("--ep", "two"),
        ("--skew", "0.5"),
        ("--skew", "nan"),
        ("--machines", "1.5"),
    ):
        assert collsim("llm", "experts", plan, *words) == 2
        assert "expected numbers of 1 or more" in capsys.readouterr().err
    assert collsim("llm", "experts", plan, "--ep", "3,5") == 2
    assert "ep of 3 does not divide dp of 8" in capsys.readouterr().err
    dense = PLAN.replace(EXPERTS, "").replace(", ep: 8", "")
    for text, said in (
        (dense, "no experts"),
        (PLAN.replace("hardware:", "#"), 'missing key "hardware"'),
        (PLAN.replace("traffic: {node: 4}", ""), "a limit of machines needs node"),
    ):
        assert collsim("llm", "experts", write(tmp_path / "wrong.yaml", text), "--machines", "1") == 2
        assert said in capsys.readouterr().err
