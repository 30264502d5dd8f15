"""Flows that share links, against SimGrid: when each flow of random sets ends, in both simulators.

    python benchmarks/simgrid_flows.py [PYTHON]

PYTHON is the interpreter that can import simgrid; /usr/bin/python3 where Debian's python3-simgrid is
installed. SimGrid (Casanova et al., 2014) runs its model CM02, which is max-min sharing, except that
it weighs flows by the inverse of their latencies. So every flow has one more link of its own, which
makes up its latencies to a common sum: then all weigh the same. In every other set the links of
SimGrid have no latency, and its flows start as much later.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from simulator.engine.engines import run_plan
from simulator.engine.plan import LINK, NO_TRANSFER, Flows, Plan, Resources
from topologies.clock import femtoseconds

SETS, SEED, TOLERANCE = 40, 20_261, 1e-6
SIDE = Path(__file__).with_name("simgrid_side.py")


@dataclass(frozen=True, slots=True)
class FlowSet:
    """Links with bandwidths and latencies; flows with starts, bytes and routes. SI units."""

    bandwidth: list[float]
    latency: list[float]
    starts: list[float]
    sizes: list[int]
    routes: list[list[int]]


def main() -> None:
    python = sys.argv[1] if len(sys.argv) > 1 else "/usr/bin/python3"
    if subprocess.run([python, "-c", "import simgrid"], capture_output=True, check=False).returncode:
        raise SystemExit(f"{python} has no simgrid; on Debian: apt-get install python3-simgrid")
    generator = np.random.default_rng(SEED)
    print(f"{'set':>4} {'links':>6} {'flows':>6} {'last end, s':>12} {'largest difference':>19}")
    worst, ours, theirs = 0.0, 0.0, 0.0
    for number in range(SETS):
        flows = random_set(generator)
        begun = perf_counter()
        found = our_ends(flows)
        ours += perf_counter() - begun
        begun = perf_counter()
        expected = their_ends(flows if number % 2 else started_later(flows), python)
        theirs += perf_counter() - begun
        difference = float(np.max(np.abs(found / expected - 1)))
        worst = max(worst, difference)
        print(f"{number:4} {len(flows.bandwidth):6} {len(found):6} {expected.max():12.6f} {difference:19.2e}")
    print(f"largest relative difference {worst:.2e}, allowed {TOLERANCE:g}")
    print(f"seconds: {ours:.2f} here, {theirs:.2f} there with the start of a Python for every set")
    if worst > TOLERANCE:
        raise SystemExit("the two simulators disagree")


def random_set(generator: np.random.Generator) -> FlowSet:
    """A few links shared by some flows, and a link of its own for each flow."""
    links, flows = int(generator.integers(2, 25)), int(generator.integers(2, 80))
    bandwidth = (10 ** generator.uniform(8, 10, links)).tolist()
    if generator.random() < 0.5:
        # alike, so that many are full at once
        bandwidth = [1e9 * float(generator.integers(1, 4)) for _ in range(links)]
    latency = generator.uniform(0, 1e-3, links).tolist()
    routes = [
        generator.choice(links, size=generator.integers(1, min(links, 6) + 1), replace=False).tolist()
        for _ in range(flows)
    ]
    common = 10e-3
    for route in routes:
        latency.append(common - sum(latency[link] for link in route))
        bandwidth.append(1e12)
        route.append(len(bandwidth) - 1)
    starts = generator.uniform(0, 0.5, flows).round(2).tolist()
    return FlowSet(bandwidth, latency, starts, generator.integers(1, 10**9, flows).tolist(), routes)


def started_later(flows: FlowSet) -> FlowSet:
    """The same without latencies, each flow as much later."""
    wait = [sum(flows.latency[link] for link in route) for route in flows.routes]
    starts = [start + late for start, late in zip(flows.starts, wait, strict=True)]
    return FlowSet(flows.bandwidth, [0.0] * len(flows.latency), starts, flows.sizes, flows.routes)


def our_ends(flows: FlowSet) -> np.ndarray:
    """Seconds at which the flows end."""
    hops = np.array([len(route) for route in flows.routes])
    offset = np.concatenate([[0], np.cumsum(hops)])
    latency = [femtoseconds(seconds) for seconds in flows.latency]
    delay = [
        femtoseconds(start) + sum(latency[link] for link in route)
        for start, route in zip(flows.starts, flows.routes, strict=True)
    ]
    count, links = len(hops), len(latency)
    free = np.zeros(links, dtype=np.int64)
    plan = Plan(
        np.full(count, NO_TRANSFER, dtype=np.int32),
        offset,
        np.concatenate([np.array(route, dtype=np.int32) for route in flows.routes]),
        np.zeros(offset[-1], dtype=np.int64),
        np.zeros(offset[-1], dtype=bool),
        np.zeros(count + 1, dtype=np.int32),
        np.zeros(0, dtype=np.int32),
        Resources(np.full(links, LINK, dtype=np.uint8), np.arange(links, dtype=np.int32), free, free),
        Flows(np.array(flows.sizes), np.array(delay), np.array(flows.bandwidth)),
    )
    return run_plan(plan).release[offset[1:] - 1] / 1e15


def their_ends(flows: FlowSet, python: str) -> np.ndarray:
    """Seconds at which the flows end in SimGrid."""
    problem = {
        "links": list(zip(flows.bandwidth, flows.latency, strict=True)),
        "flows": list(zip(flows.starts, flows.sizes, flows.routes, strict=True)),
    }
    with TemporaryDirectory() as folder:
        asked, answered = Path(folder, "flows.json"), Path(folder, "ends.json")
        asked.write_text(json.dumps(problem))
        subprocess.run([python, SIDE, asked, answered], check=True, stderr=subprocess.DEVNULL)
        return np.array(json.loads(answered.read_text()))


if __name__ == "__main__":
    main()
