"""Figures of speed and size, each the median of several runs, printed as one table.

Nothing here passes or fails: a figure depends on the machine. See README.md beside this file.
"""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from operator import ge, le
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time, sleep
from typing import TypeVar

import numpy as np
from naive import naive_ring_reduce_scatter
from report_page import ALL_TO_ALL, ALLREDUCE, opening, page_of, result_of

from algorithms.bounds import lower_bounds
from algorithms.collective import make_collective
from algorithms.proof import prove
from algorithms.registry import build
from algorithms.schedule import Schedule
from simulator.engine.compiled import run_compiled, run_events, run_in_order
from simulator.engine.critical_path import critical_path
from simulator.engine.lower import lower
from simulator.engine.network import Network, Reduction
from simulator.engine.plan import Plan
from simulator.engine.simpy_engine import run_simpy
from simulator.scenario.sweep.read import read_sweep
from simulator.scenario.sweep.run import sweep
from topologies import (
    Level,
    Shared,
    Tier,
    Topology,
    crossbar,
    dragonfly,
    fat_tree,
    full_mesh,
    hypercube,
    leaf_spine,
    line,
    mesh,
    multilevel,
    rails,
    ring,
    routes,
    star,
    torus,
)
from topologies.multipath import Routing, flow_routes

ROOT = Path(__file__).parents[1]
DEMO = "scenarios/first-walk/ring-reduce-scatter-8.yaml"
T = TypeVar("T")
BANDWIDTH, LATENCY, GAMMA = 64e9, 1e-6, 512e9


@dataclass(frozen=True, slots=True)
class Figure:
    """One row of the table."""

    name: str
    value: float
    unit: str
    better: Callable[[float, float], bool] | None = None
    target: float = 0.0

    def __str__(self) -> str:
        goal = verdict = ""
        if self.better is not None:
            goal = f"{'<=' if self.better is le else '>='} {self.target:g}"
            verdict = "ok" if self.better(self.value, self.target) else "over"
        return f"{self.name:58} {self.value:12,.2f} {self.unit:12} {goal:>8} {verdict}"


def main() -> None:
    for figures in (
        command_lines,
        engine_against_naive,
        compiled_engine,
        shared_links,
        building,
        proving,
        routing,
        flows,
        bounds,
        critical_paths,
        sweeps,
        whole_runs,
        reports,
    ):
        for figure in figures():
            print(figure, flush=True)


def command_lines(times: int = 7) -> Iterator[Figure]:
    """CPU seconds, user and system, of whole processes."""
    yield Figure("collsim --help, CPU", _cpu_of(times, "--help"), "s", le, 0.25)
    yield Figure("the demo of 8 ranks without a picture, CPU", _cpu_of(times, "run", DEMO), "s", le, 0.8)
    plan = ("llm", "memory", "library:llm/llama3-405b")
    yield Figure("memory of a plan of 16 stages, CPU", _cpu_of(times, *plan), "s", le, 1)


def _cpu_of(times: int, *arguments: str) -> float:
    command = [sys.executable, "-m", "simulator", *arguments]
    seconds = []
    # the first run may write byte code, which is not what is asked
    for _ in range(times + 1):
        before = _children()
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        seconds.append(_children() - before)
    return median(seconds[1:])


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def engine_against_naive(ranks: int = 256, chunk: int = 2**22, times: int = 5) -> Iterator[Figure]:
    """Transfers of a ring ReduceScatter a second, the two programs taking turns."""
    schedule = build("ring", "reduce_scatter", ranks, chunk * ranks)
    plan = lower(schedule, ring(ranks, BANDWIDTH, LATENCY), reduction=Reduction(GAMMA))
    ours, theirs = [], []
    for _ in range(times):
        seconds, timeline = _timed(lambda: run_simpy(plan))
        ours.append(seconds)
        seconds, end = _timed(lambda: naive_ring_reduce_scatter(ranks, chunk, LATENCY, BANDWIDTH, GAMMA))
        theirs.append(seconds)
        # the naive program adds floats up, step by step
        if abs(timeline.seconds / end - 1) > 1e-9:
            raise SystemExit(f"the two programs disagree: {timeline.seconds} s and {end} s")
    transfers = len(schedule)
    ratio = median(b / a for a, b in zip(ours, theirs, strict=True))
    title = f"ring ReduceScatter N = {ranks}"
    yield Figure(f"{title}: SimPy engine", transfers / median(ours), "transfers/s")
    yield Figure(f"{title}: naive program", transfers / median(theirs), "transfers/s")
    yield Figure(f"{title}: engine against naive", ratio, "times", ge, 2)


def compiled_engine(times: int = 3) -> Iterator[Figure]:
    """Hops a second of the compiled engine, numba's cache warm, and how much faster than SimPy it is."""
    for ranks in (64, 128, 256):
        place = ring(ranks, BANDWIDTH, LATENCY)
        plan = lower(build("direct", "all_to_all", ranks, 2**20), place)
        run_events(plan)
        seconds = [_timed(partial(run_events, plan))[0] for _ in range(times)]
        title = f"direct All-to-All on a ring, N = {ranks}"
        yield Figure(f"{title}: events", plan.hops / min(seconds) / 1e6, "M hops/s", ge, 5)
        if ranks <= 128:
            reference = _timed(partial(run_simpy, plan))[0]
            yield Figure(f"{title}: against SimPy", reference / min(seconds), "times", ge, 25)
    yield from _without_queues(times)


def _without_queues(times: int, ranks: int = 1024) -> Iterator[Figure]:
    """One pass over a plan in which nobody meets, and events where all ranks start at their own times."""
    schedule, place = build("ring", "allreduce", ranks, 2**30), ring(ranks, BANDWIDTH, LATENCY)
    late = {rank: rank * 7919 % 10007 * 1e-6 for rank in range(ranks)}
    plan, delayed = lower(schedule, place), lower(schedule, place, delay=late)
    run_in_order(plan)
    one_pass, events, apart = (
        min(_timed(partial(run, p))[0] for _ in range(times))
        for run, p in ((run_in_order, plan), (run_events, plan), (run_events, delayed))
    )
    title = f"ring AllReduce N = {ranks}"
    yield Figure(f"{title}: one pass", len(schedule) / one_pass / 1e6, "M transfers/s", ge, 50)
    yield Figure(f"{title}: events", len(schedule) / events / 1e6, "M transfers/s")
    yield Figure(f"{title}: every rank late, against none", apart / events, "times", le, 1.5)


def shared_links(ranks: int = 128, times: int = 3) -> Iterator[Figure]:
    """CPU seconds of N (N - 1) flows at once on a ring under fair_share; SimGrid takes 51 s for N = 128."""
    place, fair = ring(ranks, BANDWIDTH, LATENCY), Network(model="fair_share")
    schedule = build("direct", "all_to_all", ranks, 2**30)
    run_compiled(lower(build("direct", "all_to_all", 8, 800), ring(8, BANDWIDTH), fair))
    seconds = median(_timed(lambda: run_compiled(lower(schedule, place, fair)))[0] for _ in range(times))
    yield Figure(f"fair_share, direct All-to-All on a ring, N = {ranks}, CPU", seconds, "s", le, 5)


def proving(ranks: int = 1024, times: int = 3) -> Iterator[Figure]:
    """CPU seconds of the proof on data."""
    for name, kind, target in (("ring", "allreduce", 0.5), ("direct", "all_to_all", 4)):
        schedule = build(name, kind, ranks, 2**30)
        seconds = median(_timed(partial(prove, schedule))[0] for _ in range(times))
        yield Figure(f"proof of {name} {kind}, N = {ranks}, CPU", seconds, "s", le, target)


def building(ranks: int = 1024, times: int = 5) -> Iterator[Figure]:
    """Schedule and plan of a ring AllReduce: CPU seconds and resident bytes."""
    topology = ring(ranks, BANDWIDTH, LATENCY)
    title = f"ring AllReduce N = {ranks}"
    for name, reduction in ((title, None), (f"{title}, reduced", Reduction(GAMMA))):
        scheduling, lowering = [], []
        for _ in range(times):
            seconds, schedule = _timed(lambda: build("ring", "allreduce", ranks, 2**30))
            scheduling.append(seconds)
            seconds, plan = _timed(partial(lower, schedule, topology, reduction=reduction))
            lowering.append(seconds)
        both = [a + b for a, b in zip(scheduling, lowering, strict=True)]
        size = (_resident(schedule) + _resident(plan)) / len(schedule)
        yield Figure(f"{name}: schedule, CPU", median(scheduling), "s")
        yield Figure(f"{name}: plan, CPU", median(lowering), "s")
        yield Figure(f"{name}: both, CPU", median(both), "s", le, 2)
        yield Figure(f"{name}: both, resident", size, "B/transfer", le, 72)


def routing(times: int = 3) -> Iterator[Figure]:
    """Topology of 1024 ranks with the routes of an algorithm: CPU seconds, the worst of all shapes."""
    patterns, shapes = _patterns(1024), _shapes_of_1024()
    # what is loaded on first use is not what is asked
    routes(mesh([32, 32], BANDWIDTH), *patterns["ring"])
    for pattern, (src, dst) in patterns.items():
        # direct on a ring or a line walks 3e8 links, too many to hold
        asked = [shape for shape in shapes if pattern != "direct" or shape not in ("ring", "line")]
        seconds = {
            shape: median(_timed(partial(_route, shapes[shape], src, dst))[0] for _ in range(times))
            for shape in asked
        }
        worst = max(seconds, key=lambda shape: seconds[shape])
        yield Figure(f"1024 ranks and routes of {pattern}, worst: {worst}", seconds[worst], "s", le, 1)


def flows(times: int = 3) -> Iterator[Figure]:
    """A million flows between the hosts of a fat tree, their routes and the whole run: CPU seconds."""
    place = fat_tree(16, BANDWIDTH)
    src, dst = np.divmod(np.arange(1 << 20), 1024)
    apart = src != dst
    src, dst = src[apart], dst[apart]
    zero = np.zeros(len(src), dtype=np.int64)
    for kind in ("ecmp", "spray", "valiant"):
        task = partial(flow_routes, place, Routing(kind), (), src, dst, zero, zero)
        seconds = median(_timed(task)[0] for _ in range(times))
        yield Figure(f"1024 hosts of a fat tree, 1 M flows, {kind}: routes", seconds, "s", le, 2)


def bounds(times: int = 3) -> Iterator[Figure]:
    """CPU seconds of exact lower bounds, compiled loops warm."""
    cases: tuple[tuple[str, str, Topology, float], ...] = (
        ("AllGather of a torus 8x8", "allgather", torus([8, 8], BANDWIDTH), 2),
        ("AllGather of a fat tree of 1024", "allgather", fat_tree(16, BANDWIDTH), 30),
        ("All-to-All of a torus 8x8", "all_to_all", torus([8, 8], BANDWIDTH), 5),
        ("All-to-All of a mesh 8x8, linear program", "all_to_all", mesh([8, 8], BANDWIDTH), 5),
    )
    for title, kind, topology, target in cases:
        collective = make_collective(kind, topology.ranks, topology.ranks * 10**6)
        find = partial(lower_bounds, collective, topology, model="cut_through", effort="full")
        find()
        yield Figure(f"bound: {title}, CPU", median(_timed(find)[0] for _ in range(times)), "s", le, target)


def critical_paths(times: int = 5) -> Iterator[Figure]:
    """Finding the critical path, against what ran before it, in turns."""
    cases: tuple[tuple[str, Schedule, Topology], ...] = (
        ("ring AllReduce N = 1024", build("ring", "allreduce", 1024, 2**30), ring(1024, BANDWIDTH, LATENCY)),
        (
            "All-to-All on a ring of 256",
            build("direct", "all_to_all", 256, 2**26),
            ring(256, BANDWIDTH, LATENCY),
        ),
    )
    for title, schedule, topology in cases:
        plan = lower(schedule, topology)
        timeline = run_compiled(plan)
        critical_path(timeline, topology)
        tasks = (
            partial(critical_path, timeline, topology),
            partial(lower, schedule, topology),
            partial(run_compiled, plan),
        )
        seconds = [[_timed(task)[0] for task in tasks] for _ in range(times)]
        ratios = [path / (planned + ran) for path, planned, ran in seconds]
        yield Figure(f"critical path of {title}, of plan + engine", median(ratios), "times", le, 0.2)


def sweeps(times: int = 3) -> Iterator[Figure]:
    """200 points of 8 to 64 ranks: what each costs past its run, what two workers save, what a kill loses."""
    asked = read_sweep(ROOT / "benchmarks" / "sweep-200.yaml")
    points = len(asked.points())
    seconds = [(_sweep_seconds(1), _sweep_seconds(2)) for _ in range(times)]
    one, two = (min(column) for column in zip(*seconds, strict=True))
    yield Figure(f"sweep of {points} points, one worker (fastest)", one, "s")
    yield Figure(f"sweep of {points} points, two workers (fastest)", two, "s")
    yield Figure("sweep: two workers against one", one / two, "times", ge, 1.7)
    # the points run in other processes, whose time does not count here
    costs = [_timed(partial(sweep, asked, workers=2))[0] for _ in range(times)]
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
    run = f"sweep('benchmarks/sweep-200.yaml', workers={workers})"
    script = f"from timeit import timeit; from collsim import sweep; print(timeit(lambda: {run}, number=1))"
    command = [sys.executable, "-c", script]
    return float(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)


def _sweep_command(folder: Path, *options: str) -> list[str]:
    file = "benchmarks/sweep-200.yaml"
    return [sys.executable, "-m", "simulator", "sweep", file, "--out", str(folder), *options]


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


def whole_runs(times: int = 3) -> Iterator[Figure]:
    """Whole runs (build, prove, simulate, print): CPU seconds and peak memory."""
    rows = (
        ("ring AllReduce, N = 1024", "ring-1024", 2, 0.6),
        ("ring AllReduce, N = 1024, no symmetry", "ring-1024-every-rank", 2, 0.6),
        ("ring AllReduce, N = 4096, no symmetry", "ring-4096-every-rank", 30, 6),
        ("ring AllReduce by symmetry, N = 65,536", "ring-65536", 2, 1),
        ("ring AllReduce by symmetry, N = 1,048,576", "ring-1048576", 5, 1),
        ("halving and doubling, N = 65,536, no symmetry, sampled", "rabenseifner-65536-every-rank", 15, 4),
        ("1 M flows on a fat tree, ecmp", "fat-tree-ecmp", 15, 4),
        ("a step of GPT-3 175B on 1024 ranks", "gpt3-step-1024", 30, 4),
    )
    for title, file, seconds, gigabytes in rows:
        command = ("llm", "step") if "-step-" in file else ("run",)
        # the first run may compile
        costs = [_cost_of(*command, f"benchmarks/{file}.yaml") for _ in range(times + 1)][1:]
        yield Figure(f"{title}: CPU", median(cpu for cpu, _ in costs), "s", le, seconds)
        yield Figure(f"{title}: peak", median(peak for _, peak in costs), "GB", le, gigabytes)


def reports(times: int = 3) -> Iterator[Figure]:
    """HTML reports: their size, CPU seconds to make them, and seconds until a browser has drawn one."""
    result = result_of(ALLREDUCE)
    made = [page_of(result) for _ in range(times)]
    title = "report of a ring AllReduce, N = 64"
    yield Figure(f"{title}: size", len(made[0][1]) / 1e6, "MB", le, 2)
    yield Figure(f"{title}: CPU", median(seconds for seconds, _ in made), "s", le, 2)
    large = result_of(ALL_TO_ALL)
    _, page = page_of(large)
    opened = [seconds for seconds in (opening(page) for _ in range(times)) if seconds is not None]
    title = f"report of {large.timeline.plan.hops:,} spans"
    yield Figure(f"{title}: size", len(page) / 1e6, "MB")
    if opened:
        yield Figure(f"{title}: until Chromium has drawn it", median(opened), "s", le, 4)


def _cost_of(*arguments: str) -> tuple[float, float]:
    """CPU seconds and peak resident GB of a command."""
    command = [sys.executable, "-m", "simulator", *arguments]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e9


def _route(make: Callable[[], Topology], src: np.ndarray, dst: np.ndarray) -> None:
    routes(make(), src, dst)


def _patterns(ranks: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Who sends to whom: in a ring, over every distance of a halving, and everybody to everybody."""
    rank = np.arange(ranks)
    partners = rank ^ (1 << np.arange(ranks.bit_length() - 1)[:, None])
    return {
        "ring": (rank, (rank + 1) % ranks),
        "halving": (np.tile(rank, len(partners)), partners.ravel()),
        "direct": (np.repeat(rank, ranks), np.tile(rank, ranks)),
    }


def _shapes_of_1024() -> dict[str, Callable[[], Topology]]:
    card, node = Level("card", 8, "full_mesh", BANDWIDTH), Level("node", 16, "switch", BANDWIDTH)
    rack = Level("rack", 8, "ring", BANDWIDTH, uplink=Shared(2))
    shapes = (
        partial(ring, 1024),
        partial(line, 1024),
        partial(mesh, [32, 32]),
        partial(torus, [32, 32]),
        partial(torus, [16, 8, 8]),
        partial(hypercube, 10),
        partial(full_mesh, 1024),
        partial(star, 1024),
        partial(crossbar, 1024),
        partial(fat_tree, 16),
        partial(leaf_spine, 32, 32, 16),
        partial(dragonfly, 4, 8, 4, groups=32),
        partial(rails, 128, 8, rail=Tier(BANDWIDTH), planes=4),
    )
    named = {f"{s.func.__name__} {s.args[0]}": partial(s, bandwidth=BANDWIDTH) for s in shapes}
    named = {name.replace(" 1024", ""): shape for name, shape in named.items()}
    return named | {"multilevel": partial(multilevel, [card, node, rack])}


def _resident(value: Schedule | Plan | object) -> int:
    """Bytes of all columns of a value, and of the values in it."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if is_dataclass(value):
        return sum(_resident(getattr(value, field.name)) for field in fields(value))
    return 0


def _timed(task: Callable[[], T]) -> tuple[float, T]:
    """CPU seconds of this process, and what came out."""
    before = process_time()
    result = task()
    return process_time() - before, result


if __name__ == "__main__":
    main()
