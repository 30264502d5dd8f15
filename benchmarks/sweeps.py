"""Sweeps: what a point costs past its run, what workers save, and what a kill loses."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from operator import ge, le
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import sleep

from figure import ROOT, Figure, timed

from simulator.scenario.sweep.read import read_sweep
from simulator.scenario.sweep.run import sweep

FILE = "benchmarks/sweep-200.yaml"


def sweeps(times: int = 3) -> Iterator[Figure]:
    """200 points of 8 to 64 ranks: what each costs past its run, what two workers save, what a kill loses."""
    asked = read_sweep(ROOT / FILE)
    points = len(asked.points())
    seconds = [(_sweep_seconds(1), _sweep_seconds(2)) for _ in range(times)]
    one, two = (min(column) for column in zip(*seconds, strict=True))
    yield Figure(f"sweep of {points} points, one worker (fastest)", one, "s")
    yield Figure(f"sweep of {points} points, two workers (fastest)", two, "s")
    yield Figure("sweep: two workers against one", one / two, "times", ge, 1.7)
    # the points run in other processes, whose time does not count here
    costs = [timed(partial(sweep, asked, workers=2))[0] for _ in range(times)]
    yield Figure("sweep: a point past its run, CPU", 1e3 * median(costs) / points, "ms", le, 5)
    with TemporaryDirectory() as folder:
        kept, rows = _killed_half_way(Path(folder), points)
        yield Figure("sweep, killed by SIGKILL: rows kept by then", kept, "rows", ge, points // 2)
        yield Figure("sweep, begun again: rows, each once", rows, "rows", ge, points)
        yield Figure(
            "sweep on Dask, a worker killed: rows, each once", _on_dask(Path(folder)), "rows", ge, points
        )


def _sweep_seconds(workers: int) -> float:
    """Seconds of the sweep in a process that has loaded nothing but what it is made of."""
    run = f"sweep('{FILE}', workers={workers})"
    script = f"from timeit import timeit; from collsim import sweep; print(timeit(lambda: {run}, number=1))"
    command = [sys.executable, "-c", script]
    return float(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


def _sweep_command(folder: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "simulator", "sweep", FILE, "--out", str(folder), *options]


def _rows(folder: Path) -> int:
    """Rows that a sweep has kept, none of them twice."""
    file = folder / "sweep.sqlite"
    if not file.is_file():
        return 0
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
        try:
            rows, keys = connection.execute("SELECT COUNT(*), COUNT(DISTINCT key) FROM rows").fetchone()
        except sqlite3.OperationalError:
            return 0
    return int(rows) if rows == keys else -1


def _killed_half_way(folder: Path, points: int) -> tuple[int, int]:
    """Rows when half were there and the process was killed, and after the same command once more."""
    command = _sweep_command(folder / "killed", "--workers", "2")
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    while _rows(folder / "killed") < points // 2 and process.poll() is None:
        sleep(0.02)
    process.kill()
    process.wait()
    kept = _rows(folder / "killed")
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return kept, _rows(folder / "killed")


def _on_dask(folder: Path) -> int:
    """Rows of a sweep on two workers of a Dask cluster, of which one is killed on the way."""
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        command = _sweep_command(folder / "dask", "--dask", cluster.scheduler_address)
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
        while _rows(folder / "dask") < 20 and process.poll() is None:
            sleep(0.02)
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
        if process.wait():
            raise SystemExit("the sweep on Dask failed")
    return _rows(folder / "dask")
