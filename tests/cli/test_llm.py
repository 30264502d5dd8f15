"""`collsim llm`, and plans under `check` and `run`, as a person types them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from simulator.scenario.library import library_folder
from simulator.scenario.parts import part_names
from tests.cli.command import collsim, write

SMALL = """\
model: {layers: 4, hidden: 64, heads: 4, vocab: 512, sequence: 128}
parallel: {pp: 2, dp: 2}
batch: {global: 8}
"""
RING = """\
topology: {kind: ring, ranks: 2, bandwidth: 1 GB/s}
collective: {kind: allgather, algorithm: ring, size: 1 B}
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return write(tmp_path / "small.yaml", SMALL)


def test_memory_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("llm", "memory", "library:llm/korthikanti-22b-nothing-recomputed") == 0
    out = capsys.readouterr().out
    assert "GPT 22B: 22.07 B parameters\n8 ranks: tp 8\n" in out
    assert "1 micro-batch of 4 x 2048 tokens a replica\n" in out
    for column in ("stage", "weights", "optimizer", "activations", "of capacity", "overflows at"):
        assert column in out
    assert "gathered" not in out
    assert " 59.250 " in out
    assert "does not fit 80 GiB: stage 0 overflows at activations, by 24.812 GiB in all" in out


def test_memory_that_fits(capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("llm", "memory", "library:llm/korthikanti-175b") == 0
    assert "\nfits 80 GiB: stage 0 takes most, " in capsys.readouterr().out


def test_memory_without_a_capacity(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("llm", "memory", small) == 0
    out = capsys.readouterr().out
    assert "memory of a rank, MiB" in out
    assert "; no capacity is given" in out
    assert "of capacity" not in out


def test_memory_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("llm", "memory", "library:llm/korthikanti-22b-nothing-recomputed", "--json") == 0
    out = capsys.readouterr().out
    found = json.loads(out)
    assert found["fits"] is False
    assert found["overflow"] == {"stage": 0, "part": "activations", "excess": 104.8125 * 2**30 - 80 * 2**30}
    (stage,) = found["stages"]
    assert stage["activations"] == 59.25 * 2**30
    assert stage["weights"] + stage["gradients"] + stage["optimizer"] == 45.5625 * 2**30
    assert stage["total"] == sum(
        stage[part] for part in ("weights", "gradients", "optimizer", "gathered", "activations", "working")
    )
    again = collsim("llm", "memory", "library:llm/korthikanti-22b-nothing-recomputed", "--format", "json")
    assert again == 0
    assert capsys.readouterr().out == out


def test_memory_as_csv_and_markdown(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("llm", "memory", small, "--format", "csv") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["in_flight"] for row in rows] == ["2.0", "1.0"]
    # two layers of 12 h^2 and two norms, and the embedding: 18 bytes of each
    assert int(rows[0]["parameters"]) == 2 * (12 * 64**2 + 2 * 64) + 512 * 64
    parts = ("weights", "gradients", "optimizer")
    assert sum(int(rows[0][part]) for part in parts) == 18 * int(rows[0]["parameters"])
    assert collsim("llm", "memory", small, "--format", "markdown") == 0
    out = capsys.readouterr().out
    assert "| stage | layers | parameters | in flight |" in out
    assert "\n| 1 | 2 | " in out


def test_a_stage_whose_weights_are_offloaded(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(small, SMALL + "memory: {offload: [optimizer]}\n")
    assert collsim("llm", "memory", small, "--json") == 0
    stage = json.loads(capsys.readouterr().out)["stages"][0]
    assert stage["optimizer"] == 0
    assert stage["host"] == {"optimizer": 12 * stage["parameters"]}


def test_impossible_plans_end_with_2_and_the_place(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(small, SMALL.replace("pp: 2", "pp: 3"))
    assert collsim("llm", "memory", small) == 2
    error = capsys.readouterr().err
    assert error == (
        f"{small}:2:16: parallel.pp: 4 layers do not divide into 3 stages; "
        "split: [...] says how many each has\n"
    )


def test_llm_of_other_files(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ring = write(small.with_name("ring.yaml"), RING)
    assert collsim("llm", "memory", ring) == 2
    assert 'has no "model": a file of a collective, which "collsim run" reads' in capsys.readouterr().err
    assert collsim("llm", "memory", "library:llm") == 2
    assert "holds several scenarios; name one" in capsys.readouterr().err
    assert collsim("llm", "memory", small.with_name("none.yaml")) == 2
    assert "there is no such file" in capsys.readouterr().err
    assert collsim("llm", "memry", small) == 2
    assert "memory" in capsys.readouterr().err


def test_run_says_who_reads_a_plan(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("run", small) == 2
    assert f'{small}:1:1: has a "model" and no "collective"' in capsys.readouterr().err
    write(small.with_name("ring.yaml"), RING)
    assert collsim("run", small.parent) == 0
    printed = capsys.readouterr()
    assert printed.err == 'left out 1 parallel plan, which "collsim llm memory" reads\n'
    assert "allgather" in printed.out
    step = "hardware: h100-80g\ntopology: {kind: ring, ranks: 1, bandwidth: 1 GB/s}\n"
    write(small.with_name("step.yaml"), small.read_text("utf-8") + step)
    assert collsim("run", small.parent) == 0
    readers = '"collsim llm memory" and "collsim llm step" read'
    assert capsys.readouterr().err == f"left out 2 parallel plans, which {readers}\n"
    assert collsim("topology", small) == 2


def test_check_holds_plans(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("check", small) == 0
    assert f"ok     {small} (expects nothing)" in capsys.readouterr().out
    text = (
        SMALL
        + """\
memory: {capacity: 10 MiB}
expect:
  fits: false
  overflow: weights
  parameters: 7
  cache_per_token: 7
  memory_max: 1 KiB
  states_max: 2000.5 KiB   # by hand
  activations_max: {value: 1 B, abs: 2 B}
"""
    )
    write(small, text)
    assert collsim("check", small) == 1
    out = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[1] for line in out[:-2]] == [
        "fits",
        "overflow",
        "parameters",
        "cache_per_token",
        "memory_max",
        "states_max",
        "activations_max",
    ]
    assert out[0].startswith(f"{small}:6:3: fits: ")
    assert out[0].split()[-4:] == ["expected", "false,", "found", "true"]
    assert collsim("check", small, "--update") == 0
    assert "updated" in capsys.readouterr().out
    written = small.read_text("utf-8")
    assert "  fits: true\n  overflow: none\n" in written
    # the last stage has most: 18 bytes of two layers with two norms each, of a norm and the output layer
    states = 18 * (2 * (12 * 64**2 + 2 * 64) + 64 + 512 * 64)
    assert f"  states_max: {states / 1024} KiB   # by hand\n" in written


def test_a_plan_without_capacity_neither_fits_nor_does_not(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(small, SMALL + "expect: {fits: true}\n")
    assert collsim("check", small) == 1
    assert "found neither: no capacity is given" in capsys.readouterr().out


def test_topology_must_have_as_many_ranks(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(small, SMALL + "topology: {kind: ring, ranks: 8, bandwidth: 1 GB/s}\n")
    assert collsim("check", small) == 2
    assert "is 4 ranks, but the topology has 8" in capsys.readouterr().err


@pytest.mark.parametrize("name", part_names("model"))
def test_every_model_may_be_asked_for(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "a.yaml", f"model: {name}\nbatch: {{global: 1}}\nhardware: sg2260\n")
    assert collsim("llm", "memory", file) == 0
    assert "fit" in capsys.readouterr().out


def test_library_says_what_it_shows() -> None:
    files = sorted((library_folder() / "llm").glob("*.yaml"))
    assert len(files) >= 3
    assert all("expect:" in file.read_text("utf-8") for file in files)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("hardware: h100", 'did you mean "h100-80g"?'),
        ('memory: {convention: "18"}', "18 is a number, without quotes"),
        ("memory: {phase: inference, recompute: full}", "memory.recompute: inference has no backward pass"),
        ("memory: {offload: [optimizer, optimizer]}", "memory.offload: names a part twice"),
        ("traffic: {node: 2, nodes_limit: 3}", "3 are more than the 2 machines there are"),
    ],
)
def test_plans_that_say_what_is_not_meant(
    small: Path, line: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(small, f"{SMALL}{line}\n")
    assert collsim("llm", "memory", small) == 2
    assert message in capsys.readouterr().err


def test_a_capacity_is_hardware_enough(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(small, f"{SMALL}hardware: {{capacity: 80 GiB}}\n")
    assert collsim("llm", "memory", small) == 0
    assert "fits 80 GiB" in capsys.readouterr().out
