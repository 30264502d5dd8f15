"""Calibration: known parameters come back out of times made of them, and a fit runs as a scenario."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from plots.calibration import FittedSeries, calibration_figure
from simulator.scenario.calibration.fitted import Value, fit_series
from simulator.scenario.calibration.held import hold_out
from simulator.scenario.calibration.platform import platform_yaml
from simulator.scenario.calibration.target import target_of
from simulator.scenario.load import load, loads
from simulator.scenario.measurements.series import Point, Series
from simulator.scenario.run import run
from tests.cli.command import collsim
from tests.scenario.measurements.logs import nccl_log
from topologies.errors import CollsimError

SIZES = [2**power for power in range(6, 28)]
ALPHA, BETA, GAMMA = 4e-6, 50e9, 200e9
DATA = Path(__file__).parents[4] / "shared" / "data" / "logs"


def series(kind: str, ranks: int, time: Callable[[int], float], **more) -> Series:
    points = tuple(Point(size, time(size), i + 1) for i, size in enumerate(SIZES))
    return Series("a.log", kind, ranks, False, points, **more)


def ring(ranks: int, alpha: float = ALPHA, beta: float = BETA) -> Callable[[int], float]:
    """An AllReduce by a ring: 2 (N-1) alpha + 2 (N-1)/N M/beta."""
    return lambda size: 2 * (ranks - 1) * (alpha + size / ranks / beta)


def is_near(found: Value | None, value: float, rel: float = 1e-4) -> bool:
    return (
        found is not None
        and found.low <= value <= found.high
        and found.value == pytest.approx(value, rel=rel)
    )


def test_one_protocol_comes_back() -> None:
    found = fit_series([series("allreduce", 8, ring(8))], algorithms=["ring"])
    assert len(found.parts[0]) == 1
    assert is_near(found.protocols[0].alphas[0], ALPHA)
    assert is_near(found.protocols[0].betas[0], BETA)
    # of one number of ranks, a start-up cost is no other than alpha, and gamma no other than beta
    assert (found.startup, found.gamma) == (None, None)
    assert np.abs(found.errors[0]).max() < 1e-6


def test_intervals_of_noisy_times_hold_what_is_true() -> None:
    rng = np.random.default_rng(0)
    held, alone = np.zeros(2), 0
    for _ in range(24):
        noisy = {size: ring(8)(size) * np.exp(0.02 * rng.standard_normal()) for size in SIZES}
        found = fit_series([series("allreduce", 8, noisy.__getitem__)], algorithms=["ring"])
        alone += len(found.parts[0]) == 1
        held += [
            one.low <= value <= one.high
            for one, value in ((found.protocols[0].alphas[0], ALPHA), (found.protocols[-1].betas[0], BETA))
        ]
    # 95 % of 24 are 23; that fewer than 20 hold has a chance of 1 in 200
    assert alone >= 22
    assert held.min() >= 20


def test_a_bad_measurement_moves_nothing() -> None:
    good = ring(8)
    found = fit_series(
        [series("allreduce", 8, lambda size: good(size) * (3 if size == 2**16 else 1))], algorithms=["ring"]
    )
    assert is_near(found.protocols[0].alphas[0], ALPHA, rel=0.02)
    assert is_near(found.protocols[0].betas[0], BETA, rel=0.02)
    assert np.argmax(np.abs(found.errors[0])) == SIZES.index(2**16)


def test_two_protocols_are_told_apart_by_size() -> None:
    low, high = ring(8, 1e-6, 10e9), ring(8, 6e-6, 100e9)
    found = fit_series([series("allreduce", 8, lambda size: min(low(size), high(size)))], algorithms=["ring"])
    first, second = found.parts[0]
    # the lines meet at N (6 - 1) us / (1/10 - 1/100 per GB/s) = 444,444 B
    assert (SIZES[first.last], SIZES[second.first]) == (2**18, 2**19)
    assert is_near(found.protocols[0].betas[0], 10e9)
    assert is_near(found.protocols[1].alphas[0], 6e-6)


def test_two_algorithms_of_one_protocol_need_no_other() -> None:
    def doubling(size: int) -> float:
        # AllReduce by recursive doubling: log2 N (alpha + M/beta)
        return 3 * (ALPHA + size / BETA)

    time = ring(8)
    found = fit_series(
        [series("allreduce", 8, lambda size: min(doubling(size), time(size)), library="mpi")],
        algorithms=["ring", "recursive_doubling"],
    )
    names = [found.forms[0][part.form].name for part in found.parts[0]]
    assert names == ["recursive_doubling", "ring"]
    assert len(found.protocols) == 1
    assert is_near(found.protocols[0].alphas[0], ALPHA)
    assert is_near(found.protocols[0].betas[0], BETA)


def test_numbers_of_ranks_tell_the_start_up_and_sums_tell_gamma() -> None:
    def reduced(ranks: int) -> Callable[[int], float]:
        return lambda size: 30e-6 + ring(ranks)(size) + (ranks - 1) * size / ranks / GAMMA

    def gathered(ranks: int) -> Callable[[int], float]:
        return lambda size: 30e-6 + ring(ranks)(size) / 2

    logs = [series("allreduce", n, reduced(n)) for n in (2, 4, 8)]
    found = fit_series([*logs, series("allgather", 8, gathered(8))], algorithms=["ring"])
    assert is_near(found.startup, 30e-6, rel=1e-3)
    assert is_near(found.gamma, GAMMA, rel=1e-2)
    assert is_near(found.protocols[0].alphas[0], ALPHA, rel=1e-3)
    assert is_near(found.protocols[0].betas[0], BETA, rel=1e-2)


def test_groups_of_several_sizes_tell_levels_apart() -> None:
    inner, outer = ring(4, 1e-6, 100e9), ring(8, 5e-6, 10e9)
    found = fit_series(
        [series("allreduce", 4, inner), series("allreduce", 8, outer)], algorithms=["ring"], dims=(4, 2)
    )
    protocol = found.protocols[0]
    assert is_near(protocol.betas[0], 100e9)
    assert is_near(protocol.betas[1], 10e9)
    assert is_near(protocol.alphas[1], 5e-6)


def test_what_needs_more_than_the_links_explains_nothing() -> None:
    # recursive doubling would need 3 / 1.75 of the ring's beta
    one = series("allreduce", 8, ring(8), library="mpi")
    names = ["recursive_doubling", "ring"]
    free, limited = (fit_series([one], algorithms=names, limits=limits) for limits in (None, (60e9,)))
    assert [found.forms[0][found.parts[0][0].form].name for found in (free, limited)] == names
    assert limited.parts[0][0].others == ()


def test_held_out_sizes_are_told_by_the_others() -> None:
    rng = np.random.default_rng(1)
    noisy = [ring(8)(size) * (1 + 0.01 * rng.standard_normal()) for size in SIZES]
    one = series("allreduce", 8, dict(zip(SIZES, noisy, strict=True)).__getitem__)
    (held,) = hold_out([one])
    assert len(held.errors) == len(SIZES) // 2
    assert held.median < 0.02


def test_too_little_is_refused() -> None:
    with pytest.raises(CollsimError, match=r"a.log: times allreduce of one rank, which sends nothing"):
        fit_series([series("allreduce", 1, ring(8))])
    with pytest.raises(CollsimError, match="9 ranks are more than the topology's 8"):
        fit_series([series("allreduce", 9, ring(9))], dims=(4, 2))
    few = Series("a.log", "allreduce", 8, False, tuple(Point(8, 1e-6, i) for i in range(9)))
    with pytest.raises(CollsimError, match="has 1 sizes; a fit needs 3"):
        fit_series([few])
    with pytest.raises(CollsimError, match='"bruck" does no allreduce'):
        fit_series([series("allreduce", 8, ring(8))], algorithms=["bruck"])


def test_what_times_that_mean_nothing_is_fitted_all_the_same() -> None:
    rng = np.random.default_rng(3)
    for _ in range(40):
        sizes = np.sort(rng.integers(1, 2 ** rng.integers(3, 40), 12))
        times = 10.0 ** rng.uniform(-9, 5, 12) if rng.random() < 0.5 else np.full(12, 1e-5)
        points = tuple(Point(int(size), float(time), 1) for size, time in zip(sizes, times, strict=True))
        kind = ("allreduce", "allgather", "broadcast", "all_to_all")[int(rng.integers(4))]
        one = Series("a.log", kind, int(rng.integers(2, 9)), False, points)
        found = fit_series([one])
        assert np.isfinite(found.predicted[0]).all()
        loads(platform_yaml(found, target_of(None, one.ranks, Path())), "platform.yaml")


MACHINE = """\
topology: {kind: multilevel, levels: [{name: node, size: 4, shape: switch, bandwidth: 200 GB/s},
                                      {name: net, size: 2, shape: ring, bandwidth: 25 GB/s}]}
collective: {kind: allreduce, algorithm: ring, size: 1 MiB}
network: {model: cut_through}
"""


@pytest.mark.parametrize(
    "topology", ["crossbar", "ring", "full_mesh", "mi300x", "machine.yaml", "shared.yaml"]
)
def test_the_fitted_platform_takes_as_long_as_the_fit_says(
    tmp_path: Path, topology: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("machine.yaml").write_text(MACHINE)
    Path("shared.yaml").write_text(MACHINE.replace("25 GB/s", "25 GB/s, uplink: {shared: 1}"))
    Path("eight.log").write_text(nccl_log("all_reduce", 8, SIZES, ring(8, 6e-6, 20e9)))
    logs = ["eight.log"]
    if topology.endswith(".yaml"):
        Path("two.log").write_text(nccl_log("all_reduce", 4, SIZES, ring(4, 1e-6, 150e9)))
        logs.append("two.log")
    command = ["calibrate", *logs, "--algorithm", "ring", "--topology", topology, "--size", "1MiB", "--json"]
    assert collsim(*command, "--out", "platform.yaml") == 0
    fitted = json.loads(capsys.readouterr().out)["series"][0]["points"]
    told = next(row["fitted"] for row in fitted if row["size"] == 2**20)
    scenario = load("platform.yaml")
    assert scenario.collective.size == 2**20
    # times of a log have 6 decimals
    assert run(scenario).time == pytest.approx(told, rel=1e-5 if topology.endswith(".yaml") else 1e-9)


@pytest.mark.parametrize("uplink", ["per_rank", "{shared: 1}"])
def test_a_hierarchical_fit_is_of_links_that_messages_share(uplink: str, tmp_path: Path) -> None:
    def two_levels(size: int) -> float:
        # reduce scatter and allgather among 4, allreduce of a quarter among 2
        return 6 * (1e-6 + size / 4 / 150e9) + 2 * (6e-6 + size / 8 / 5e9)

    machine = tmp_path / "machine.yaml"
    machine.write_text(MACHINE.replace("25 GB/s", f"25 GB/s, uplink: {uplink}"))
    target = target_of(str(machine), 8, tmp_path)
    logs = [series("allreduce", 8, two_levels), series("allreduce", 4, ring(4, 1e-6, 150e9))]
    found = fit_series(logs, algorithms=["hierarchical", "ring"], dims=target.dims)
    assert found.forms[0][found.parts[0][0].form].name == "hierarchical"
    assert is_near(found.protocols[0].betas[1], 5e9)
    # where messages queue at one link, the first is through a step before the last and its alpha is hidden
    near = 1e-9 if uplink == "per_rank" else 1e-2
    time = run(loads(platform_yaml(found, target), "p.yaml")).time
    assert time == pytest.approx(two_levels(SIZES[-1]), rel=near)


def test_the_command_says_what_it_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, out = tmp_path / "a.log", tmp_path / "p.yaml"
    log.write_text(nccl_log("all_reduce", 8, SIZES, ring(8)))
    picture = tmp_path / "p.png"
    assert collsim("calibrate", log, "--holdout", "--out", out, "--picture", picture) == 0
    said = capsys.readouterr().out
    assert "ring; as well: double_binary_tree" in said
    assert "start-up: these logs do not tell it from alpha" in said
    assert "held out, allreduce, 8 ranks: median error 0.00%" in said
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert out.read_text().startswith("# Fitted by collsim calibrate to times of allreduce of 8 ranks.\n")
    assert collsim("calibrate", log, "--out", out) == 2
    assert "exists; --force overwrites it" in capsys.readouterr().err
    assert collsim("calibrate", log, "--topology", "rng") == 2
    assert 'there is no topology "rng"; did you mean "ring"?' in capsys.readouterr().err
    assert collsim("calibrate", log, "--algorithm", "rings") == 2
    assert collsim("calibrate", log, "--ranks", 1) == 2
    assert "of one rank, which sends nothing" in capsys.readouterr().err
    assert collsim("calibrate", log, "--topology", "dgx-a100", "--out", out, "--force") == 2
    assert "no log is of the topology's 32 ranks" in capsys.readouterr().err


def test_the_figure_breaks_lines_where_something_else_holds() -> None:
    one = FittedSeries("ring", [1, 2, 4, 8], [1e-6] * 4, [1e-6] * 4, [1])
    above, below = calibration_figure([one], title="a").axes
    assert [len(line.get_xdata()) for line in above.lines] == [4, 2, 2]
    assert [len(line.get_xdata()) for line in below.lines[:2]] == [2, 2]


@pytest.mark.skipif(not DATA.is_dir(), reason="no real logs here")
@pytest.mark.parametrize(
    ("name", "median"),
    [
        ("nccl_tests_a100_8gpu_allreduce.txt", 0.04),
        ("nccl_tests_mi300x_allgather_ring_simple_1_1.log", 0.02),
        ("osu_allgather_ib.out", 0.02),
        ("osu_allreduce_ib.out", 0.01),
    ],
)
def test_half_of_a_real_log_tells_the_other_half(
    name: str, median: float, capsys: pytest.CaptureFixture[str]
) -> None:
    ranks = ["--ranks", "64"] if name.startswith("osu") else []
    assert collsim("calibrate", DATA / name, "--holdout", "--json", *ranks) == 0
    assert json.loads(capsys.readouterr().out)["held_out"][0]["median"] < median
