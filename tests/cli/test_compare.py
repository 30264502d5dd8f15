"""`collsim compare` as a person runs it: tables, files, exit codes."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.cli.command import collsim, write

CUBE = """\
name: Eight in a cube
topology: {kind: hypercube, dimension: 3, bandwidth: 64 GB/s, latency: 1 us}
collective: {kind: allreduce, algorithm: recursive_doubling, size: 1 MiB}
"""
TWO = ("--algorithms", "recursive_doubling,rabenseifner")


@pytest.fixture
def cube(tmp_path: Path) -> Path:
    return write(tmp_path / "cube.yaml", CUBE)


def test_tables_show_terms_times_winners_and_crossovers(
    cube: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert collsim("compare", cube, *TWO, "--sizes", "64KiB..1MiB") == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    # two log2(N) alpha and 2 (N-1)/N M/beta: no more bytes than the textbook's, but more latency
    assert ["rabenseifner", "6", "6", "alpha", "7/4", "M/beta", "bandwidth", "hypercube", "3", "1"] in lines
    assert ["recursive_doubling", "3", "3", "alpha", "3", "M/beta", "latency", "hypercube", "3", "1"] in lines
    row = next(line for line in lines if line[:2] == ["rabenseifner", "6"] and "us" in line)
    # 6 us + 7/4 x 16.384 us; the bound is 2 (N-1)/N M over three ports
    shown = "rabenseifner 6 us 28.67 us 0 s 34.67 us 34.67 us 9.557 us bandwidth"
    assert " ".join(row[:-1]) == shown
    assert float(row[-1]) == pytest.approx(3.628, abs=1e-3)
    last = next(" ".join(line) for line in lines if line[:2] == ["recursive_doubling", "->"])
    # 12/5 alpha beta
    assert last == (
        "recursive_doubling -> rabenseifner from 154 kB (154112 B) on, found to 512 B; "
        "their closed forms meet at 154 kB (153600 B)"
    )


def test_json_has_its_fields_in_order(cube: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("compare", cube, *TWO, "--sizes", "1 KiB, 1 MiB", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == [
        "scenario", "topology", "model", "sync", "ranks", "collective", "size", "algorithms",
        "not_applicable", "sizes", "times", "stopped", "bounds", "winners", "crossovers",
    ]  # fmt: skip
    assert found["sizes"] == [1024, 2**20]
    assert found["algorithms"][0]["latency_term"] == {"alphas": {"0": "3"}, "time": 3e-6}
    assert found["algorithms"][1]["bandwidth_term"]["shares"] == {"0": "7/4"}
    assert [one["algorithms"] for one in found["winners"]] == [["recursive_doubling"], ["rabenseifner"]]
    ((one),) = found["crossovers"]
    assert one["closed_form"] == pytest.approx(153_600)
    assert one["size"] - one["within"] <= 153_608


def test_out_writes_its_files_and_no_more_unasked(
    cube: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert collsim("compare", cube, *TWO, "--sizes", "1KiB,1MiB", "--csv", "--out", out) == 0
    printed = capsys.readouterr().out
    assert sorted(path.name for path in out.iterdir()) == [
        "compare.csv",
        "compare.json",
        "compare.png",
        "compare.svg",
        "scenario.yaml",
    ]
    assert (out / "compare.csv").read_text(encoding="utf-8") == printed
    rows = list(csv.DictReader(printed.splitlines()))
    assert [(row["algorithm"], row["size"], row["fastest"]) for row in rows] == [
        ("recursive_doubling", "1024", "yes"),
        ("recursive_doubling", str(2**20), "no"),
        ("rabenseifner", "1024", "no"),
        ("rabenseifner", str(2**20), "yes"),
    ]
    # 3 (1 us + 16 ns)
    assert rows[0]["time"] == "0.000003048000000"
    assert collsim("compare", cube, *TWO, "--sizes", "1KiB", "--out", out) == 2
    assert "is not empty" in capsys.readouterr().err


def test_wrong_input_is_told_in_a_line(
    cube: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    several = tmp_path / "several.yaml"
    several.write_text(CUBE.replace("collective: {", "collectives:\n  - {"), encoding="utf-8")
    cases: tuple[tuple[tuple[object, ...], str], ...] = (
        ((cube, "--algorithms", "rign"), 'there is no algorithm "rign"; did you mean "ring"?'),
        ((cube, "--algorithms", "bruck"), 'there is no allreduce by the algorithm "bruck"'),
        ((cube, "--sizes", "1 GiB..1 KiB"), "--sizes: a range goes from"),
        ((cube, "--sizes", ""), '--sizes: "" is not a size'),
        ((cube, "--sizes", "many"), '--sizes: "many" is not a size'),
        ((cube, "--points", "1"), "--sizes: a range holds 2 to 200 values"),
        ((cube, "--json", "--csv"), "name one"),
        ((several,), "holds several collectives"),
        (("library:first-walk",), "holds several scenarios; name one"),
        ((tmp_path / "none.yaml",), "there is no such file"),
    )
    for arguments, message in cases:
        assert collsim("compare", *arguments) == 2
        error = capsys.readouterr().err
        assert message in error
        assert error.count("\n") == 1


def test_own_code_that_computes_something_else_fails_as_in_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text(
        "from collsim import COPY\n\ndef mine(ranks):\n    yield [0], [1], [[0]], COPY\n", encoding="utf-8"
    )
    path = tmp_path / "own.yaml"
    path.write_text(
        "topology: {kind: full_mesh, ranks: 2, bandwidth: 1 GB/s}\n"
        "collective: {kind: allgather, algorithm: {file: mine.py, function: mine}, size: 1 KiB}\n",
        encoding="utf-8",
    )
    assert collsim("compare", path) == 2
    assert "--allow-code" in capsys.readouterr().err
    assert collsim("compare", path, "--allow-code") == 1
    assert "proof failed" in capsys.readouterr().err
    assert collsim("compare", path, "--allow-code", "--algorithms", "ring,direct", "--sizes", "1KiB") == 0


def test_own_code_is_named_as_the_tables_name_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = "from collsim import COPY\n\n\ndef ring(ranks):\n    yield [0, 1], [1, 0], [[0], [1]], COPY\n"
    write(tmp_path / "mine.py", mine)
    start = (
        "topology: {kind: full_mesh, ranks: 2, bandwidth: 1 GB/s}\ncollective: {kind: allgather, size: 1 KiB,"
    )
    code = write(tmp_path / "own.yaml", start + " algorithm: {file: mine.py, function: ring}}\n")
    steps = write(tmp_path / "steps.yaml", start + " steps: [{0 -> 1: copy 0, 1 -> 0: copy 1}]}\n")
    for path, name in ((code, "ring (own)"), (steps, "inline")):
        chosen = ("--algorithms", f"direct,{name}", "--sizes", "1KiB", "--expect", f"1KiB={name}")
        assert collsim("compare", path, *chosen, "--allow-code", "--json") == 0
        found = json.loads(capsys.readouterr().out)
        assert list(found["times"]) == ["direct", name]
        assert found["winners"][0]["algorithms"] == ["direct", name]
    assert collsim("compare", code, "--algorithms", "inline") == 2
    assert 'there is no algorithm "inline"' in capsys.readouterr().err


def test_warnings_are_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "crossbar.yaml"
    path.write_text(CUBE.replace("hypercube, dimension: 3", "crossbar, ranks: 8"), encoding="utf-8")
    assert collsim("compare", path, *TWO, "--sizes", "1KiB") == 0
    assert capsys.readouterr().err.count("warning: under store_and_forward") == 1


def test_expected_winners_are_held_against_those_found(
    cube: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = ("--sizes", "1KiB,1MiB")
    # 12/5 alpha beta is between the two
    good = ("--expect", "2KiB=recursive_doubling", "--expect", "1MiB=rabenseifner")
    assert collsim("compare", cube, *TWO, *sizes, *good) == 0
    assert collsim("compare", cube, *TWO, *sizes, "--expect", "1 MiB=recursive_doubling") == 1
    assert capsys.readouterr().err == "fastest at 1 MiB: expected recursive_doubling, found rabenseifner\n"
    for wrong in ("ring", "1MiB=rign", "1MiB"):
        assert collsim("compare", cube, *TWO, "--expect", wrong) == 2
        capsys.readouterr()
