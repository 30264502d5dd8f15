"""Logs of benchmarks: what is read of them, whatever else is in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.measurements.read import read_log
from simulator.scenario.measurements.series import Log, Told
from tests.damage import damaged
from tests.scenario.measurements.logs import DIRTY, flat, nccl_json, nccl_log, osu_log
from topologies.errors import CollsimError

DATA = Path(__file__).parents[4] / "shared" / "data" / "logs"


def read(folder: Path, text: str, told: Told | None = None) -> Log:
    (folder / "a.log").write_text(text)
    return read_log(folder / "a.log", told or Told())


def test_a_dirty_log_gives_its_rows(tmp_path: Path) -> None:
    log = read(tmp_path, DIRTY)
    out, inside = log.series
    assert (out.kind, out.ranks, out.in_place, inside.in_place) == ("allgather", 3, False, True)
    # by hand: the sizes of the full vector, us
    assert [(point.size, point.time, point.line) for point in out.points] == [
        *((768, 10e-6, 17), (1536, 12e-6, 18), (3072, 16e-6, 20))
    ]
    assert [point.time for point in inside.points] == [20e-6, 22e-6, 26e-6]
    assert log.notes == (
        "1 rows of no bytes or no time are left out",
        "1 results were wrong by the benchmark's own check",
        "1 rows have no time that can be read, the first in line 21",
    )


def test_ranks_follow_from_busbw_where_no_rank_is_named(tmp_path: Path) -> None:
    text = nccl_log("all_reduce", 0, [1024, 2048, 4096], flat, factor=2 * 11 / 12)
    assert read(tmp_path, text).series[0].ranks == 12
    text = nccl_log("reduce_scatter", 0, [1024, 2048, 4096], flat, factor=4 / 5)
    assert read(tmp_path, text).series[0].ranks == 5


def test_columns_are_where_the_header_has_them(tmp_path: Path) -> None:
    text = (
        "# Collective test starting: all_reduce_perf\n#  Rank  0 x\n#  Rank  1 x\n"
        "# size count type redop time algbw busbw error time algbw busbw error\n"
        "1024 256 float sum 7.5 0.1 0.1 0 8.5 0.1 0.1 0 host extra 99\n"
    )
    assert [series.points[0].time for series in read(tmp_path, text).series] == [7.5e-6, 8.5e-6]


def test_json_says_what_the_log_says(tmp_path: Path) -> None:
    out, inside = read(tmp_path, nccl_json([1024, 2048], 4)).series
    assert (out.kind, out.ranks, len(inside.points)) == ("allreduce", 4, 1)
    assert [(point.size, point.time) for point in out.points] == [(1024, 10e-6), (2048, 11e-6)]


@pytest.mark.parametrize(
    ("name", "kind", "times"),
    [
        ("Allreduce", "allreduce", 1),
        ("Allgather", "allgather", 6),
        ("Alltoall", "all_to_all", 6),
        ("Scatter", "scatter", 6),
        ("Broadcast", "broadcast", 1),
    ],
)
def test_osu_s_sizes_are_a_rank_s_own(tmp_path: Path, name: str, kind: str, times: int) -> None:
    log = read(tmp_path, osu_log(name, [1, 1024], flat), Told(ranks=6))
    assert log.series[0].kind == kind
    assert [point.size for point in log.series[0].points] == [times, 1024 * times]
    assert bool(log.notes) == (times > 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a.log:1:1: the file is empty"),
        ("nothing\nto see", "a.log:1:1: is no log of nccl-tests, rccl-tests or the OSU benchmarks"),
        (
            "# size count type redop root time\n# no rows\n",
            "a.log:3:1: there is no row with a size and a time",
        ),
        ("1024 256 float sum -1 7.5 0.1 0.1 0", "a.log:1:1: the log does not say which collective it times"),
        (
            "# Collective test starting: hypercube_perf\n1024 256 float sum -1 7.5 0.1 0.1 0",
            "a.log:2:1: hypercube_perf times nothing that a scenario has",
        ),
        (
            "# Collective test starting: broadcast_perf\n1024 256 float sum 0 7.5 0.1 0.1 0",
            "a.log:2:1: the log does not say among how many ranks; say --ranks",
        ),
        (
            osu_log("Allreduce", [1], flat),
            "a.log:1:1: OSU's logs do not say among how many ranks",
        ),
        (
            osu_log("Ibarrier", [1], flat),
            'a.log:1:1: times no collective with sizes: "Ibarrier"',
        ),
        (nccl_json([1024], 2).replace("10.0", '"x"'), 'a.log:20:13: found "x", expected us'),
        (
            nccl_json([1024], 2).replace("devices", "things"),
            "a.log:1:1: the file does not say among how many ranks",
        ),
        ('{"results": [', "a.log:1:14: not JSON: Expecting value"),
    ],
)
def test_what_is_wrong_has_its_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ScenarioErrors) as caught:
        read(tmp_path, text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [DIRTY, osu_log("Allgather", [1, 64, 4096], flat), nccl_json([1024, 2048], 4)],
    ids=["nccl", "osu", "json"],
)
def test_damaged_logs_are_read_or_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.log"
    for data in damaged(text.encode()):
        path.write_bytes(data)
        try:
            log = read_log(path, Told(ranks=4))
        except CollsimError as error:
            message = str(error)
        else:
            message = "a.log:"
            points = [point for series in log.series for point in series.points]
            assert all(0 < point.size <= 10**15 and 0 < point.time <= 1e6 for point in points)
        assert "a.log:" in message
        assert "\n" not in message


@pytest.mark.skipif(not DATA.is_dir(), reason="no real logs here")
@pytest.mark.parametrize(
    ("name", "kind", "ranks", "points"),
    [
        ("nccl_tests_a100_8gpu_allreduce.txt", "allreduce", 8, 25),
        # eight runs of one rank each, in one file
        ("nccl_tests_a100_8gpu_ring_forced.out", "allreduce", 1, 72),
        ("nccl_tests_mi300x_allgather_ring_simple_1_1.log", "allgather", 8, 26),
        ("osu_allgather_ib.out", "allgather", 64, 21),
        ("osu_allreduce_ib.out", "allreduce", 64, 19),
    ],
)
def test_real_logs_are_read(name: str, kind: str, ranks: int, points: int) -> None:
    series = read_log(DATA / name, Told(ranks=64 if "osu" in name else None)).series[0]
    assert (series.kind, series.ranks, len(series.points)) == (kind, ranks, points)


def test_a_log_of_several_numbers_of_ranks_has_a_series_of_each(tmp_path: Path) -> None:
    runs = [nccl_log("all_reduce", ranks, [1024, 2048], flat) for ranks in (8, 4)]
    found = [one for one in read(tmp_path, "".join(runs)).series if not one.in_place]
    assert [(one.ranks, len(one.points)) for one in found] == [(8, 2), (4, 2)]


def test_osu_s_other_benchmarks_are_left_out(tmp_path: Path) -> None:
    other = "# OSU MPI Bandwidth Test v7.5\n# Size Bandwidth (MB/s)\n4 9.0\n8 9.0\n"
    logs = (osu_log("Allreduce", [1024, 2048], flat), other, osu_log("Barrier", [], flat))
    text = "\n".join(logs).replace("MPI Allreduce", "MPI-CUDA Allreduce")
    log = read(tmp_path, text, Told(ranks=4))
    assert [(one.kind, len(one.points)) for one in log.series] == [("allreduce", 2)]
    assert log.notes == ('"Bandwidth" is left out', '"Barrier" is left out')


def test_osu_s_titles_and_columns_are_its_own(tmp_path: Path) -> None:
    rows = "# Size      Overall(us)    Compute(us)    Pure Comm.(us)    Overlap(%)\n64  10.5  5.5  4.5  9.0\n"
    for title, table, time in (
        ("All-to-All Personalized Exchange", "# Size       Avg Latency(us)\n64  7.5\n", 7.5e-6),
        ("Non-blocking All-to-All Personalized Exchange", rows, 4.5e-6),
    ):
        (one,) = read(tmp_path, f"# OSU MPI {title} Latency Test v5.6.3\n{table}", Told(ranks=4)).series
        # 64 B go to each of 4 ranks
        assert (one.kind, [(p.size, p.time) for p in one.points]) == ("all_to_all", [(256, time)])
