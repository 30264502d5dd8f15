"""Whole processes, as a person starts them: their CPU seconds, and the memory that they take."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from operator import le
from statistics import median

from figure import ROOT, Figure

DEMO = "scenarios/first-walk/ring-reduce-scatter-8.yaml"


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


def _cost_of(*arguments: str) -> tuple[float, float]:
    """CPU seconds and peak resident GB of a command."""
    command = [sys.executable, "-m", "simulator", *arguments]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e9
