"""The command line, run as a person runs it: its output, its files and its exit codes."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from tests.cli.command import RING, collsim, write

FIELDS = [
    "scenario",
    "engine",
    "model",
    "sync",
    "ranks",
    "collective",
    "algorithm",
    "fallback",
    "size",
    "steps",
    "depth",
    "transfers",
    "bytes_sent_max",
    "bytes_sent_total",
    "bytes_reduced_max",
    "staged",
    "congestion_factor",
    "time",
    "analytic",
    "bounds",
    "gap",
    "algbw",
    "busbw",
    "wire_rate",
    "verified",
    "critical_path",
    "levels",
    "links",
]


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    return write(tmp_path / "ring.yaml", RING)


def test_json_has_the_fields_of_the_contract_in_order(ring: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("run", ring, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert list(result) == FIELDS
    terms = ["latency", "textbook_latency", "bandwidth", "reduction", "best"]
    assert list(result["bounds"]) == [*terms, "binds", "how", "composed", "cut"]
    # 7/8 of M leaves every rank over two links
    assert (result["bounds"]["binds"], result["bounds"]["how"]) == ("bandwidth", "exact")
    assert result["bounds"]["cut"]["text"] == "rank 0 sends 896 MiB over 2 links"
    # the first seed's formula: 7 (1 us + M/8 / 64 GB/s + M/8 / 512 GB/s)
    assert result["time"] == result["analytic"] == 0.016522072
    assert result["bounds"]["textbook_latency"] == 3e-6
    assert result["busbw"] == pytest.approx(2**30 * 7 / 8 / 0.016522072)
    # 7 messages of M/8 cross each link to the right
    assert result["wire_rate"] == pytest.approx(7 / 8 * 2**30 / 0.016522072)
    parts = {"latency": 7e-6, "serialization": 7 * 2**27 / 64e9, "reduction": 7 * 2**27 / 512e9}
    assert {name: time for name, time in result["critical_path"].items() if time} == parts
    [level] = result["levels"]
    assert (level["name"], level["bytes"], level["busy"]) == ("ring", 7 * 2**30, 56 * 2**27 / 64e9)
    assert level["critical_path"] == {**result["critical_path"], "reduction": 0.0}
    assert len(result["links"]) == 10
    assert list(result["links"][0]) == ["src", "dst", "twin", "level", "bytes", "busy"]


def test_several_scenarios_are_a_list(ring: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("run", ring, ring, "--json") == 0
    assert [r["scenario"] for r in json.loads(capsys.readouterr().out)] == ["Eight in a ring"] * 2


def test_one_rank_moves_nothing_and_has_no_busbw(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    alone = write(tmp_path / "alone.yaml", RING.replace("ranks: 8", "ranks: 1"))
    assert collsim("run", alone, "--json", "--out", tmp_path / "out") == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["time"], result["transfers"], result["links"]) == (0.0, 0, [])
    assert (result["busbw"], result["algbw"], result["gap"]) == (None, None, None)


@pytest.mark.parametrize("size", ["0 B", "1 B", "7 B", "1001 B"])
@pytest.mark.parametrize("ranks", [1, 2, 3, 6, 12])
def test_odd_sizes_run_and_are_proven(
    ranks: int, size: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = RING.replace("ranks: 8", f"ranks: {ranks}").replace("1 GiB", size)
    assert collsim("run", write(tmp_path / "odd.yaml", text), "--json") == 0
    assert json.loads(capsys.readouterr().out)["verified"] == "full"


def test_table_names_the_figures(ring: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("run", ring) == 0
    printed = capsys.readouterr().out
    for figure in ("16.5221 ms", "reduce_scatter, 1 GiB, 8 ranks", "7, 7, 56", "0.875 M", "full"):
        assert figure in printed


def test_no_verify_says_so(ring: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("run", ring, "--json", "--no-verify") == 0
    assert json.loads(capsys.readouterr().out)["verified"] == "no"


def test_hierarchical_prints_what_each_level_takes_and_gives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        "topology: {kind: full_mesh, ranks: 8, bandwidth: 1 GB/s}\n"
        "collective: {kind: reduce_scatter, algorithm: hierarchical, size: 64 MiB, dims: [4, 2]}\n"
    )
    assert collsim("run", write(tmp_path / "levels.yaml", text)) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["0", "reduce_scatter", "4", "64", "MiB", "16", "MiB"] in lines
    assert ["1", "reduce_scatter", "2", "16", "MiB", "8", "MiB"] in lines


def test_crossbar_under_store_and_forward_warns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = RING.replace("kind: ring, ranks", "kind: crossbar, ranks")
    assert collsim("run", write(tmp_path / "crossbar.yaml", text), "--json") == 0
    captured = capsys.readouterr()
    assert "warning: under store_and_forward" in captured.err
    json.loads(captured.out)


def test_out_writes_the_files(ring: Path, tmp_path: Path) -> None:
    assert collsim("run", ring, "--out", tmp_path / "new" / "out") == 0
    names = sorted(path.name for path in (tmp_path / "new" / "out").iterdir())
    written = ["result.json", "scenario.yaml", "timeline.csv", "timeline.png", "timeline.svg"]
    assert names == [*written, "trace.json.gz"]
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["out"]


def test_a_trace_that_nothing_would_show_is_left_out(
    ring: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # a timeline of 112 hops
    for most, said in ((112, ""), (111, "past 111 hops no browser shows it, and these are 112")):
        monkeypatch.setattr("simulator.engine.formats.timeline_trace.MOST_HOPS", most)
        assert collsim("run", ring, "--out", tmp_path / str(most)) == 0
        assert (tmp_path / str(most) / "trace.json.gz").exists() == (not said)
        assert said in capsys.readouterr().err


def test_timeline_rows_are_exact(ring: Path, tmp_path: Path) -> None:
    collsim("run", ring, "--out", tmp_path / "out")
    with (tmp_path / "out" / "timeline.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 112
    first, second = rows[0], rows[1]
    assert (first["resource"], first["chunks"], first["grant"]) == ("0->1", "7", "0.000000000000000")
    # M/8 at 64 GB/s, then 1 us of latency, then M/8 at 512 GB/s
    assert Decimal(first["release"]) == Decimal("0.002097152")
    assert second["resource"] == "rank 1 reduces"
    assert Decimal(second["arrival"]) == Decimal("0.002098152")
    assert Decimal(second["release"]) == Decimal("0.002098152") + Decimal("0.000262144")
    assert max(Decimal(row["release"]) for row in rows) == Decimal("0.016522072")


def test_nothing_is_overwritten_unasked(
    ring: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    kept = write(out / "mine.txt", "mine")
    assert collsim("run", ring, "--out", out) == 2
    assert "is not empty; --force overwrites" in capsys.readouterr().err
    assert [path.name for path in out.iterdir()] == ["mine.txt"]
    assert collsim("run", ring, "--out", out, "--force") == 0
    assert kept.read_text(encoding="utf-8") == "mine"
    assert (out / "result.json").is_file()
    assert collsim("run", ring, "--out", kept) == 2


def test_two_scenarios_of_one_name_do_not_share_a_folder(
    ring: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert collsim("run", ring, ring, "--out", tmp_path / "out") == 2
    assert 'would be written to "Eight-in-a-ring"' in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_output_is_the_same_byte_for_byte(ring: Path, tmp_path: Path) -> None:
    """In this process and in another with other hashes."""
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    command = [sys.executable, "-m", "simulator", "run", str(ring), "--out", str(tmp_path / "other")]
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    subprocess.run(command, check=True, capture_output=True, env=environment)
    assert collsim("run", ring, "--out", tmp_path / "this") == 0
    assert len(list((tmp_path / "this").iterdir())) == len(list((tmp_path / "other").iterdir())) > 1
    for file in sorted((tmp_path / "this").iterdir()):
        assert file.read_bytes() == (tmp_path / "other" / file.name).read_bytes(), file.name


def test_check_passes_and_fails_with_the_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = "expect: {steps: 7, transfers: 56, verified: full, analytic: {rel: 1e-9}, time: 16.522072 ms}\n"
    write(tmp_path / "good.yaml", RING + good)
    assert collsim("check", tmp_path) == 0
    assert "1 passed, 0 failed" in capsys.readouterr().out
    bad = "expect:\n  steps: 8\n  depth: 7\n  bytes_sent_max: 1\n  time: 1 ms\n  analytic: {abs: 1 ns}\n"
    file = write(tmp_path / "bad.yaml", RING + bad)
    assert collsim("check", tmp_path) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len({(line.index("expected"), line.index("found")) for line in lines[:3]}) == 1
    printed = "\n".join(" ".join(line.split()) for line in lines)
    assert f"{file}:6:3: steps: expected 8, found 7" in printed
    assert f"{file}:8:3: bytes_sent_max: expected 1, found 939524096" in printed
    assert f"{file}:9:3: time: expected 1 ms" in printed
    assert "depth" not in printed
    assert "analytic" not in printed
    assert "1 passed, 1 failed" in printed


def test_check_without_a_closed_form_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        "topology:\n  kind: custom\n  nodes: {ranks: 3}\n  links:\n"
        "  - {src: 0, dst: 1, bandwidth: 1 GB/s}\n  - {src: 1, dst: 2, bandwidth: 2 GB/s}\n"
        "collective: {kind: allgather, algorithm: ring, size: 3 MB}\n"
        "expect: {analytic: {rel: 0.1}}\n"
    )
    assert collsim("check", write(tmp_path / "unequal.yaml", text)) == 1
    assert "expected a closed form, found none" in capsys.readouterr().out


def test_names_are_not_markup(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["[/foo]", "[red]x[/red] [/]", "$x_{1}$"]
    files = [
        write(tmp_path / f"{i}.yaml", RING.replace("Eight in a ring", f'"{n}"')) for i, n in enumerate(names)
    ]
    assert collsim("run", *files) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in names)
    assert collsim("run", files[0], "--out", tmp_path / "out") == 0


def test_a_switch_of_one_member_is_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    levels = (
        "{name: a, size: 2, shape: full_mesh, bandwidth: 1 GB/s},"
        " {name: b, size: 1, shape: full_mesh, bandwidth: 1 GB/s, uplink: {shared: 2}},"
        " {name: c, size: 1, shape: switch, bandwidth: 1 GB/s}"
    )
    text = (
        f"topology: {{kind: multilevel, levels: [{levels}]}}\n" + RING.partition("\n")[2].partition("\n")[2]
    )
    assert collsim("topology", write(tmp_path / "one.yaml", text), "--out", tmp_path / "one.png") == 0
    assert capsys.readouterr().err == ""


def test_many_shared_levels_can_be_routed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    levels = ", ".join(
        f"{{name: l{i}, size: 2, shape: line, bandwidth: 1 GB/s{', uplink: {shared: 1}' if i else ''}}}"
        for i in range(6)
    )
    text = (
        f"topology: {{kind: multilevel, levels: [{levels}]}}\n"
        "collective: {kind: allgather, algorithm: hierarchical, size: 1 MB}\n"
    )
    assert collsim("run", write(tmp_path / "levels.yaml", text)) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["5", "allgather", "2", "15625", "B", "31250", "B"] in lines


def test_a_flat_ring_over_unequal_levels_has_no_closed_form(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        "topology: {kind: multilevel, levels: [{name: a, size: 4, shape: ring, bandwidth: 64 GB/s},"
        " {name: b, size: 2, shape: ring, bandwidth: 8 GB/s}]}\n"
        "collective: {kind: allgather, algorithm: ring, size: 1 GiB}\n"
    )
    assert collsim("run", write(tmp_path / "flat.yaml", text), "--json") == 0
    assert json.loads(capsys.readouterr().out)["analytic"] is None


def test_long_runs_add_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        "topology: {kind: ring, ranks: 16, bandwidth: 1 GB/s}\n"
        "collective: {kind: reduce_scatter, algorithm: ring, size: 1 TB}\n"
    )
    assert collsim("run", write(tmp_path / "long.yaml", text), "--json") == 0
    # sixteen links, each held for 15/16 TB at 1 GB/s: more femtoseconds than 64 bits hold
    assert json.loads(capsys.readouterr().out)["levels"][0]["busy"] == 15000.0


def test_proof_failures_name_the_file(
    ring: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from algorithms.errors import ProofError

    def fail(_schedule: object, _how: object) -> None:
        raise ProofError("step 3: rank 1 sends nothing", step=3, rank=1)

    monkeypatch.setattr("simulator.scenario.run.proof.verify", fail)
    assert collsim("run", ring) == 1
    assert f"{ring}: the proof failed: step 3" in capsys.readouterr().err
    assert collsim("check", ring) == 1


def test_output_that_cannot_be_written(
    ring: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert collsim("run", ring, "--out", tmp_path / ("x" * 300)) == 2
    assert "File name too long" in capsys.readouterr().err
    (tmp_path / "out" / "timeline.csv").mkdir(parents=True)
    assert collsim("run", ring, "--out", tmp_path / "out", "--force") == 2
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["timeline.csv"]
    # a way through a folder that does not exist still leads to a folder in use
    assert collsim("run", ring, "--out", tmp_path / "new" / "..") == 2
    assert not (tmp_path / "new").exists()
    full = Path("/dev/full")
    if full.exists():
        with full.open("w") as stream:
            command = [sys.executable, "-m", "simulator", "run", str(ring), "--json"]
            done = subprocess.run(command, stdout=stream, stderr=subprocess.PIPE, text=True, check=False)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_wrong_words_are_usage_errors(ring: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("run") == 2
    assert collsim("fly") == 2
    assert collsim("run", "no-such.yaml") == 2
    assert "there is no such file" in capsys.readouterr().err
    assert collsim("run", "library:first-walk/rng") == 2
    assert collsim("algorithms", "rng") == 2
    assert 'did you mean "ring"' in capsys.readouterr().err
    assert collsim("algorithms", "ring", "--set", "order") == 2
    assert collsim("algorithms", "ring", "--set", "order=near") == 2
    assert collsim("algorithms", "ring", "--ranks", "0") == 2
    assert collsim("algorithms", "ring", "--collective", "allreduc") == 2


def test_library_scenarios_run_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("run", "library:first-walk/ring-allgather-8", "--json") == 0
    assert json.loads(capsys.readouterr().out)["time"] == 0.014687064


def test_topology_measures_and_draws(ring: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "ring.png"
    assert collsim("topology", ring, "--out", picture) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "4 hops, 4 us" in capsys.readouterr().out
    assert collsim("topology", ring, "--out", picture) == 2
    assert "--force overwrites" in capsys.readouterr().err
    assert collsim("topology", ring, "--out", tmp_path / "ring.bmp") == 2
    capsys.readouterr()
    assert collsim("topology", ring, "--json") == 0
    measures = json.loads(capsys.readouterr().out)
    assert (measures["kind"], measures["dims"], measures["links"]) == ("ring", [8], 16)


def test_algorithms_trace_like_the_seed(capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("algorithms", "recursive_halving", "--ranks", "8") == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["0", "(0,4)", "(1,5)", "(2,6)", "(3,7)", "M/2", "M/2"] in lines
    assert ["2", "(0,1)", "(2,3)", "(4,5)", "(6,7)", "M/8", "M/8"] in lines
    assert collsim("algorithms", "ring", "--ranks", "4", "--set", "first_chunk=1") == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["0", "0->1:1", "1->2:2", "2->3:3", "3->0:0", "M/4", "3M/4"] in lines


def test_algorithms_lists_all(capsys: pytest.CaptureFixture[str]) -> None:
    from algorithms import ALGORITHMS

    assert collsim("algorithms") == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in ALGORITHMS)


def test_a_full_disk_or_closed_folder_leaves_nothing_behind(ring: Path, tmp_path: Path) -> None:
    blocked = write(tmp_path / "file", "")
    assert collsim("run", ring, "--out", blocked / "out") == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "ring.yaml"]


@pytest.mark.parametrize("module", ["simulator.scenario.run", "simulator.scenario.check"])
def test_a_run_loads_nothing_slow_and_no_reader_of_files(module: str) -> None:
    slow = {"networkx", "scipy", "matplotlib", "numba", "rich", "urllib.request"}
    readers = {"algorithms.programs.proof", "algorithms.formats.msccl_xml", "simulator.llm.workload.report"}
    code = f"import sys, {module}; print(sorted({slow | readers} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"


def test_help_cuts_no_command_short(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ((), ("llm",)):
        assert collsim(*words, "--help") == 0
        assert "..." not in capsys.readouterr().out.partition("Commands:")[2]
