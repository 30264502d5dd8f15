"""Rank 0 for all: the same result as that of every rank, and only where all are the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simulator.scenario import symmetric
from simulator.scenario.check import check
from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.load import loads
from simulator.scenario.output import write_results
from simulator.scenario.result import HOP, as_object, timeline_rows
from simulator.scenario.run import run
from simulator.scenario.symmetric import find_symmetry

RING = "topology: {kind: ring, ranks: 8, bandwidth: 50 GB/s, latency: 1 us}\n"
ALLREDUCE = "collective: {kind: allreduce, algorithm: ring, size: 8 KiB}\n"
REDUCTION = "reduction: {bandwidth: 100 GB/s, mode: streamed}\n"

CASES = (
    RING + ALLREDUCE,
    RING + "collective: {kind: all_to_all, algorithm: direct, size: 8 KiB}\n",
    RING + "collective: {kind: reduce_scatter, algorithm: bidirectional_ring, size: 8 KiB}\n" + REDUCTION,
    "topology: {kind: ring, ranks: 4, bandwidth: 1 GB/s, direction: one}\n"
    "collective: {kind: all_to_all, algorithm: pairwise, size: 4 KiB}\nnetwork: {model: cut_through}\n",
    "topology: {kind: crossbar, ranks: 12, bandwidth: 1 GB/s, overhead: 1 us}\n"
    "collective: {kind: allreduce, algorithm: two_shot, size: 12 KiB}\nnetwork: {model: cut_through}\n",
    "topology: {kind: crossbar, ranks: 8, bandwidth: 1 GB/s, overhead: 1 us}\n"
    "collective: {kind: allreduce, algorithm: rabenseifner, size: 12 KiB}\n" + REDUCTION,
    "topology: {kind: hypercube, dimension: 4, bandwidth: 1 GB/s, latency: 1 us}\n"
    "collective: {kind: reduce_scatter, algorithm: recursive_halving, size: 16 KiB}\n" + REDUCTION,
    "topology: {kind: torus, dims: [4, 2], bandwidth: 1 GB/s, latency: 1 us}\n"
    "collective: {kind: allreduce, algorithm: bucket, copies: all, size: 16 KiB}\n" + REDUCTION,
    "topology: {kind: full_mesh, ranks: 6, bandwidth: 1 GB/s, latency: 1 us}\n"
    "collective: {kind: allreduce, algorithm: direct, size: 1001 B}\nnetwork: {sync: dataflow}\n",
    "topology: {kind: full_mesh, ranks: 8, bandwidth: 1 GB/s, latency: 1 us}\n"
    "collective: {kind: barrier, algorithm: recursive_doubling}\nnetwork: {sync: barrier}\n",
)


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """One rank stands for all however few they are."""
    monkeypatch.setattr(symmetric, "WORTH_IT", 0)


def rounded(value: Any) -> Any:
    """An object whose fractions may differ in their last digits."""
    if isinstance(value, float):
        return pytest.approx(value, rel=1e-12)
    if isinstance(value, dict):
        return {key: rounded(field) for key, field in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list) else value


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("text", CASES)
def test_the_result_is_that_of_every_rank(text: str) -> None:
    one, whole = run(loads(text)), run(loads(text + "symmetry: none\n"))
    assert (one.verified, whole.verified) == ("symmetry", "full")
    assert one.dims == whole.dims
    shown, wanted = as_object(one), as_object(whole)
    if wanted["collective"] == "all_to_all":
        # a half of all ranks that is as slow as the distances: where one rank runs for all, nobody lists it
        wanted["bounds"]["cut"] = shown["bounds"]["cut"]
    assert {**shown, "verified": "full"} == rounded(wanted)
    src, rest = list(HOP).index("src"), list(HOP).index("step")
    assert [row[rest:] for row in timeline_rows(one)] == [
        row[rest:] for row in timeline_rows(whole) if row[src] == 0
    ]


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize(
    "text",
    [
        RING + ALLREDUCE + "symmetry: none",
        RING + ALLREDUCE + "delay: {3: 1 us}",
        RING + ALLREDUCE + "reduction: {bandwidth: 1 GB/s, ranks: {3: 2 GB/s}}",
        RING + ALLREDUCE + "network: {placement: [1, 0, 2, 3, 4, 5, 6, 7]}",
        RING + ALLREDUCE + "network: {model: packet}",
        RING + ALLREDUCE + "network: {endpoint: {overhead: 1 us}}",
        RING + ALLREDUCE.replace("8 KiB", "8191 B"),
        RING + ALLREDUCE.replace("ring", "swing"),
        RING + ALLREDUCE.replace("ring", "rabenseifner"),
        RING + ALLREDUCE.replace("ring,", "ring, segments: 2,"),
        RING.replace("us}", "us, overrides: [{src: 0, dst: 1, bandwidth: 1 GB/s}]}") + ALLREDUCE,
        RING.replace("ring", "line") + ALLREDUCE,
        "topology: {kind: torus, dims: [4, 2], bandwidth: 1 GB/s}\n" + ALLREDUCE,
    ],
)
def test_where_ranks_differ_every_one_is_run(text: str) -> None:
    assert find_symmetry(loads(text)) is None


def test_few_ranks_are_all_run_and_many_are_not() -> None:
    assert find_symmetry(loads(RING + ALLREDUCE)) is None
    large = loads(RING.replace("8", "4096") + ALLREDUCE.replace("8 KiB", "1 GiB"))
    result = run(large)
    # by hand: 2 (N - 1) steps of 1 us and 256 KiB at 50 GB/s
    assert result.timeline.time == 8190 * (1_000_000_000 + 5_242_880_000)
    assert result.analytic == pytest.approx(result.time, rel=1e-12)
    assert (result.verified, result.counts.transfers) == ("symmetry", 4096 * 8190)
    assert "all 4,096 ranks do the same" in result.warnings[-1]
    assert run(large, verify=False).verified == "no"


@pytest.mark.usefixtures("always")
def test_it_can_be_expected() -> None:
    assert check(run(loads(RING + ALLREDUCE + "expect: {verified: symmetry}"))) == ()
    (wrong,) = check(run(loads(RING + ALLREDUCE + "expect: {verified: full}")))
    assert (wrong.expected, wrong.found) == ("full", "symmetry")


@pytest.mark.usefixtures("always")
def test_what_is_wrong_has_its_place_in_the_file() -> None:
    text = RING + "collective: {kind: allgather, algorithm: direct, size: 8 KiB}\n"
    with pytest.raises(ScenarioErrors, match=r":3:30: step 0: rank 0 sends to rank 2, 2 hops away"):
        run(loads(text + "network: {direct_links_only: true}"))
    with pytest.raises(ScenarioErrors, match=r":2:56: dims \[3, 2\] do not multiply to 8"):
        run(loads(RING + "collective: {kind: allgather, algorithm: bucket, dims: [3, 2], size: 8 KiB}"))


@pytest.mark.usefixtures("always")
def test_its_files_show_rank_0(tmp_path: Path) -> None:
    write_results([run(loads(RING + ALLREDUCE + REDUCTION))], tmp_path / "out")
    rows = (tmp_path / "out" / "timeline.csv").read_text().splitlines()
    # 14 transfers over a link each, 7 of them reduced at rank 1
    assert len(rows) == 1 + 14 + 7
    assert rows[2].split(",")[3:7] == ["0", "1", "7", "rank 1 reduces"]
    assert "rank 0, which stands for all" in (tmp_path / "out" / "timeline.svg").read_text()


def test_what_every_rank_refuses_rank_0_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symmetric, "WORTH_IT", 1)
    text = RING + ALLREDUCE.replace("allreduce", "allgather").replace("8 KiB", "8 KiB, first_chunk: 3")
    for more in ("", "symmetry: none\n"):
        with pytest.raises(ScenarioErrors, match="the allgather of a ring starts with each rank's own chunk"):
            run(loads(text + more))
