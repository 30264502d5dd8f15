"""Figures of speed and size, each the median of several runs, printed as one table.

Nothing here passes or fails: a figure depends on the machine. See README.md beside this file.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from operator import ge, le
from pathlib import Path
from statistics import median
from time import process_time
from typing import TypeVar

import numpy as np
from naive import naive_ring_reduce_scatter

from algorithms.registry import build
from algorithms.schedule import Schedule
from simulator.engine.lower import lower
from simulator.engine.network import Reduction
from simulator.engine.plan import Plan
from simulator.engine.simpy_engine import run_simpy
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
    for figures in (command_lines, engine_against_naive, building, routing):
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
