"""`collsim llm states` and `collsim llm traffic`, as a person types them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.command import collsim, write

PLAN = """\
model: {layers: 4, hidden: 64, heads: 4, vocab: 512, sequence: 128}
topology:
  kind: multilevel
  levels:
    - {name: node, size: 2, shape: full_mesh, bandwidth: 4 GB/s}
    - {name: net, size: 2, shape: full_mesh, bandwidth: 1 GB/s}
parallel: {tp: 2, dp: 2, zero: 3}
batch: {global: 4}
memory: {count: matrices}
"""
# 12 L h^2 parameters, of which a rank has half; m = 2 s h bytes
PARAMETERS = 12 * 4 * 64**2 // 2
M = 2 * 128 * 64


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return write(tmp_path / "plan.yaml", PLAN)


def rows(out: str) -> list[list[dict[str, str]]]:
    return [list(csv.DictReader(io.StringIO(part))) for part in out.split("\n\n")]


def test_states_without_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("llm", "states") == 0
    out = capsys.readouterr().out
    for words in (
        "All-Gather",
        "(N-1)(N+1)M/N",
        "P(O) → R → P(O)",
        "LOI + NOI",
        "N = L >> 1",
        "3NLOI",
        "bsh",
    ):
        assert words in out


def test_states_in_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    """The worked example: 210 GiB by FSDP, where the seed has 240."""
    assert collsim("llm", "states", "--at", "L=80,B=4096,D=8192,N=8", "--json") == 0
    sheets = {sheet["title"].split(",")[0]: sheet["rows"] for sheet in json.loads(capsys.readouterr().out)}
    fsdp = next(row for row in sheets["sent in a step"] if row["strategy"] == "fsdp")
    assert fsdp["training, exact"] == "210.000 GiB"
    assert fsdp["training, seed"] == "240.000 GiB"
    # of the others it says nothing about training
    others = {row["training, seed"] for row in sheets["sent in a step"] if row["strategy"] != "fsdp"}
    assert others == {"-"}
    assert fsdp["forward holds for"] == fsdp["training holds for"] == "N >> 1"
    held = next(row for row in sheets["stored in inference"] if row["strategy"] == "fsdp")
    assert held["seed holds for"] == "X always; W always, no layer gathered ahead; Y always"


def test_states_of_a_plan(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("llm", "states", plan, "--format", "csv") == 0
    layouts, moves = rows(capsys.readouterr().out)
    assert [list(row.values())[1:3] for row in layouts] == [
        ["R", "P(B)"],
        ["P(O)", "P(O) → R → P(O)"],
        ["Σ", "P(B)"],
    ]
    assert [(row["axis"], row["primitive"]) for row in moves] == [
        ("tp", "All-Reduce"),
        ("tp", "All-Reduce"),
        ("dp", "All-Gather"),
        ("dp", "All-Gather"),
        ("dp", "Reduce-Scatter"),
    ]


def test_states_as_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("llm", "states", "--format", "markdown", "--ranks", "4") == 0
    out = capsys.readouterr().out
    assert out.startswith("\n**what turns one state into another")
    assert "counting on 4 ranks" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--at", "L=80,Q=3"], 'found "Q=3", expected e.g. L=80 with one of L, B, I, O, D, N, k'),
        (["--at", "L=x"], 'found "L=x"'),
        (["--at", "L=80,B=2"], "--at: no value for N"),
        (["--at", "L=80"], "--at: no value for B, N"),
        (["--at", "L=80,L=90"], "found L twice"),
        (["--json", "--format", "csv"], "found both --json and --format csv"),
        (["--ranks", "1"], "2<=x<=64"),
    ],
)
def test_states_asked_for_wrongly(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("llm", "states", *words) == 2
    assert message in capsys.readouterr().err


def test_numbers_are_for_the_tables_only(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("llm", "states", plan, "--at", "L=1") == 2
    assert "a plan has its own numbers" in capsys.readouterr().err


def test_traffic_as_text(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("llm", "traffic", plan) == 0
    out = capsys.readouterr().out
    assert "4 ranks: tp 2, dp 2, zero 3\n" in out
    assert "a step of training, 2 micro-batches of 1 sequence a replica\n" in out
    for words in ("All-Reduce", "weights again", "which level carries what", "net is busy longest"):
        assert words in out


def test_traffic_as_json(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """2 micro-batches: 4 (1/2) 2 m a layer, and 2 AG of 2 B and 1 RS of 4 B over half the parameters."""
    assert collsim("llm", "traffic", plan, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["stages"] == [{"tp": 2 * 4 * 4 * M, "dp": 2 * (2 + 2 + 4) * PARAMETERS // 2}]
    assert found["sent_total"] == 4 * found["sent_max"] == 4 * sum(found["stages"][0].values())
    by_level = {level["level"]: level["groups"] for level in found["levels"]}
    # each group is two ranks with a link of their own each way
    assert by_level == {
        "node": {"tp": 4 * found["stages"][0]["tp"], "dp": 0},
        "net": {"tp": 0, "dp": 4 * found["stages"][0]["dp"]},
    }
    net = next(level for level in found["levels"] if level["level"] == "net")
    assert net["busy"] == pytest.approx(found["stages"][0]["dp"] / 1e9)


def test_traffic_as_csv(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("llm", "traffic", plan, "--format", "csv") == 0
    calls, stages, _groups, _levels = rows(capsys.readouterr().out)
    assert [row["primitive"] for row in calls] == [
        "allreduce",
        "allreduce",
        "allgather",
        "allgather",
        "reduce_scatter",
    ]
    assert int(stages[0]["tp"]) == 32 * M


def test_traffic_of_one_rank(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "model: {layers: 4, hidden: 64, heads: 4, vocab: 512, sequence: 128}\nbatch: {global: 4}\n"
    assert collsim("llm", "traffic", write(tmp_path / "one.yaml", text)) == 0
    assert "nothing is sent" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("traffic", "message"),
    [
        ("{activation: -1}", "10:23: "),
        ("{nodes_limit: 4}", "10:24: traffic.nodes_limit: a limit of machines needs node"),
        ("{algorithms: {allreduce: rign}}", 'there is no algorithm "rign"; did you mean "ring"?'),
        ("{algorithms: {allgather: hierarchical, allreduce: in_network}}", "in_network"),
        ("{nod: 4}", 'unknown key "nod" in traffic; did you mean "node"?'),
    ],
)
def test_wrong_traffic(plan: Path, traffic: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    write(plan, PLAN + f"traffic: {traffic}\n")
    assert collsim("llm", "traffic", plan) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.startswith(f"{plan}:10:")


def test_a_topology_of_other_ranks(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(plan, PLAN.replace("dp: 2", "dp: 4"))
    assert collsim("llm", "traffic", plan) == 2
    assert "is 8 ranks, but the topology has 4" in capsys.readouterr().err


def test_expected_traffic(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sent = 32 * M + 8 * PARAMETERS
    write(plan, PLAN + f"expect: {{sent_max: {sent} B, sent_total: {4 * sent} B}}\n")
    assert collsim("check", plan) == 0
    write(plan, PLAN + "expect: {sent_max: 1 KiB}\n")
    assert collsim("check", plan) == 1
    assert "sent_max" in capsys.readouterr().out


def test_states_say_what_the_plan_says(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Weights that stay gathered, inputs gathered again, chunks of a stage: as the traffic has it."""
    text = PLAN[: PLAN.index("topology")] + "batch: {global: 8}\n"
    write(
        plan,
        text
        + "parallel: {tp: 2, sp: true, pp: 2, interleave: 2, dp: 2, zero: 3, reshard_after_forward: false}\n",
    )
    assert collsim("llm", "states", plan, "--format", "csv") == 0
    layouts, moves = rows(capsys.readouterr().out)
    assert layouts[1]["held_by_all_ranks"] == "3LOI"
    found = {(row["axis"], row["phase"], row["variable"]): row["exact_all_ranks"] for row in moves}
    assert ("dp", "backward", "W") not in found
    assert ("tp", "backward", "X") in found
    assert found["pp", "forward", "Y"] == "3BD"


def test_states_of_inference_have_no_backward_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("llm", "states", "library:llm/deepseek-v3-serving", "--format", "csv") == 0
    _, moves = rows(capsys.readouterr().out)
    assert {row["phase"] for row in moves} == {"forward"}


@pytest.mark.parametrize("command", ["llm traffic", "llm memory", "llm states", "check"])
def test_every_command_refuses_a_plan_alike(
    plan: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(plan, PLAN + "traffic: {node: 3}\n")
    assert collsim(*command.split(), plan) == 2
    assert "traffic.node: machines of 3 ranks do not divide 4 ranks" in capsys.readouterr().err


def test_states_of_two_copies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = write(
        tmp_path / "both.yaml",
        "model: {layers: 4, hidden: 64, heads: 4, vocab: 512, sequence: 128}\n"
        "parallel: {pp: 2, schedule: dualpipe}\n"
        "batch: {global: 8}\n",
    )
    assert collsim("llm", "traffic", both) == 0
    assert "pp mirror" in capsys.readouterr().out
    assert collsim("llm", "states", both) == 2
    said = "both.yaml:2:29: parallel.schedule: dualpipe has two copies of each layer"
    assert said in capsys.readouterr().err


def test_no_such_schedule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = "model: {layers: 4, hidden: 64, heads: 4, vocab: 512, sequence: 128}\nbatch: {global: 8}\n"
    plan = write(tmp_path / "plan.yaml", words + "parallel: {pp: 2, schedule: zb-1}\n")
    assert collsim("llm", "memory", plan) == 2
    assert "expected 1f1b, gpipe, zb-h1, zb-h2, zbv or dualpipe" in capsys.readouterr().err
