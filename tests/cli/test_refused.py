"""What does not fit, or would be too much, is one line that names its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import RING, collsim, write

HIERARCHICAL = RING.replace("algorithm: ring", "algorithm: hierarchical")
DIRECT = RING.replace("algorithm: ring", "algorithm: direct")


@pytest.mark.parametrize(
    "marked",
    [
        RING.replace("ranks: 8", "ranks: @0"),
        RING.replace("ranks: 8", "ranks: 8, direction: @up"),
        RING.replace("kind: ring, ranks: 8", "kind: hypercube, dimension: @99"),
        HIERARCHICAL.replace("1 GiB", "1 GiB, dims: @[3, 3]"),
        HIERARCHICAL.replace("1 GiB", "1 GiB, dims: [4, 2], algorithms: @[ring]"),
        RING.replace("algorithm: ring", "algorithm: ring, @order: near"),
        RING.replace("kind: reduce_scatter", "kind: allgather").replace("1 GiB", "1 GiB, first_chunk: @0"),
        RING + "network: {placement: @[0, 1]}\n",
        DIRECT + "network: {direct_links_only: @true}\n",
        RING + "delay: {@9: 1 us}\n",
    ],
)
def test_what_does_not_fit_is_named_by_line_and_column(
    marked: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = marked.partition("@")[0].split("\n")
    file = write(tmp_path / "wrong.yaml", marked.replace("@", ""))
    assert collsim("run", file) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"{file}:{len(before)}:{len(before[-1]) + 1}: "), captured.err
    assert captured.out == ""


@pytest.mark.parametrize(
    ("name", "setting", "message"),
    [
        ("ring", "first_chunk=x", "first_chunk: found"),
        ("ring", "first_chunk=1.5", "expected a whole number"),
        ("ring", "first_chunk=--5", "first_chunk: found"),
        ("ring", "first_chunk=99999999999999999999999", "at most 2^62"),
        ("ring", "size=3", 'does not take the option "size"'),
        ("recursive_halving", "order=nearr", 'did you mean "near"'),
        ("recursive_halving", "non_power_of_two=erorr", 'did you mean "error"'),
        ("hierarchical", "dims=a,b", "dims"),
        ("hierarchical", "dims=4.0,2", "dims"),
        ("hierarchical", "dims=3,3", "do not multiply to 8 ranks"),
        ("hierarchical", "algorithms=rign", 'did you mean "ring"'),
    ],
)
def test_settings_are_read_like_a_scenario(
    name: str, setting: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert collsim("algorithms", name, "--set", setting) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    "topology",
    [
        "{kind: ring, ranks: 1000000000, bandwidth: 1 GB/s}",
        "{kind: full_mesh, ranks: 100000, bandwidth: 1 GB/s}",
        "{kind: crossbar, ranks: 100000000, bandwidth: 1 GB/s}",
        "{kind: custom, nodes: {ranks: 2}, links: [{src: 0, dst: 1, bandwidth: 1 GB/s, count: 1000000000}]}",
        "{kind: multilevel, levels: [{name: a, size: 1000, shape: ring, bandwidth: 1 GB/s},"
        " {name: b, size: 1000, shape: ring, bandwidth: 1 GB/s},"
        " {name: c, size: 1000, shape: ring, bandwidth: 1 GB/s}]}",
    ],
)
def test_what_would_not_fit_memory_is_refused(
    topology: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"topology: {topology}\ncollective: {{kind: allgather, algorithm: ring, size: 1 GiB}}\n"
    assert collsim("run", write(tmp_path / "huge.yaml", text)) == 2
    assert "huge.yaml:1:" in capsys.readouterr().err


def test_a_schedule_that_would_not_fit_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ring = write(tmp_path / "ring.yaml", RING)
    monkeypatch.setattr("algorithms.assembly.MOST_MOVES", 50)
    assert collsim("run", ring) == 2
    assert f"{ring}:3:" in (said := capsys.readouterr().err)
    assert "moves more than 50 chunks; step 6 is too many" in said


@pytest.mark.parametrize("name", ["ring", "recursive_halving", "direct", "hierarchical", "hybrid"])
def test_a_trace_of_a_billion_ranks_is_refused(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("algorithms", name, "--ranks", "999999999") == 2
    assert "a collective has 1 to 1,048,576 ranks, found 999,999,999" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "kind"), [("recursive_halving", "reduce_scatter"), ("direct", "allreduce")])
def test_what_grows_with_the_square_of_n_is_refused_before_it_is_built(
    name: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert collsim("algorithms", name, "--collective", kind, "--ranks", "65536") == 2
    assert "the schedule would move" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["allgather", "reduce_scatter"])
def test_a_reducer_that_is_not_there_is_named_whether_it_works_or_not(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = RING.replace("kind: reduce_scatter", f"kind: {kind}").replace("mode: after", "ranks: {9: 1 MB/s}")
    file = write(tmp_path / "ninth.yaml", text)
    assert collsim("run", file) == 2
    assert capsys.readouterr().err.startswith(f"{file}:4:42: there is no rank 9 with a reducer")
