"""Figures of speed and size, each the median of several runs, printed as one table.

Nothing here passes or fails: a figure depends on the machine. See README.md beside this file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import partial
from operator import ge, le
from statistics import median

import numpy as np
from figure import Figure, timed
from naive import naive_ring_reduce_scatter
from processes import command_lines, whole_runs
from report_page import ALL_TO_ALL, ALLREDUCE, opening, page_of, result_of
from sweeps import sweeps

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

BANDWIDTH, LATENCY, GAMMA = 64e9, 1e-6, 512e9


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


def engine_against_naive(ranks: int = 256, chunk: int = 2**22, times: int = 5) -> Iterator[Figure]:
    """Transfers of a ring ReduceScatter a second, the two programs taking turns."""
    schedule = build("ring", "reduce_scatter", ranks, chunk * ranks)
    plan = lower(schedule, ring(ranks, BANDWIDTH, LATENCY), reduction=Reduction(GAMMA))
    ours, theirs = [], []
    for _ in range(times):
        seconds, timeline = timed(lambda: run_simpy(plan))
        ours.append(seconds)
        seconds, end = timed(lambda: naive_ring_reduce_scatter(ranks, chunk, LATENCY, BANDWIDTH, GAMMA))
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
        seconds = [timed(partial(run_events, plan))[0] for _ in range(times)]
        title = f"direct All-to-All on a ring, N = {ranks}"
        yield Figure(f"{title}: events", plan.hops / min(seconds) / 1e6, "M hops/s", ge, 5)
        if ranks <= 128:
            reference = timed(partial(run_simpy, plan))[0]
            yield Figure(f"{title}: against SimPy", reference / min(seconds), "times", ge, 25)
    yield from _without_queues(times)


def _without_queues(times: int, ranks: int = 1024) -> Iterator[Figure]:
    """One pass over a plan in which nobody meets, and events where all ranks start at their own times."""
    schedule, place = build("ring", "allreduce", ranks, 2**30), ring(ranks, BANDWIDTH, LATENCY)
    late = {rank: rank * 7919 % 10007 * 1e-6 for rank in range(ranks)}
    plan, delayed = lower(schedule, place), lower(schedule, place, delay=late)
    run_in_order(plan)
    one_pass, events, apart = (
        min(timed(partial(run, p))[0] for _ in range(times))
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
    seconds = median(timed(lambda: run_compiled(lower(schedule, place, fair)))[0] for _ in range(times))
    yield Figure(f"fair_share, direct All-to-All on a ring, N = {ranks}, CPU", seconds, "s", le, 5)


def proving(ranks: int = 1024, times: int = 3) -> Iterator[Figure]:
    """CPU seconds of the proof on data."""
    for name, kind, target in (("ring", "allreduce", 0.5), ("direct", "all_to_all", 4)):
        schedule = build(name, kind, ranks, 2**30)
        seconds = median(timed(partial(prove, schedule))[0] for _ in range(times))
        yield Figure(f"proof of {name} {kind}, N = {ranks}, CPU", seconds, "s", le, target)


def building(ranks: int = 1024, times: int = 5) -> Iterator[Figure]:
    """Schedule and plan of a ring AllReduce: CPU seconds and resident bytes."""
    topology = ring(ranks, BANDWIDTH, LATENCY)
    title = f"ring AllReduce N = {ranks}"
    for name, reduction in ((title, None), (f"{title}, reduced", Reduction(GAMMA))):
        scheduling, lowering = [], []
        for _ in range(times):
            seconds, schedule = timed(lambda: build("ring", "allreduce", ranks, 2**30))
            scheduling.append(seconds)
            seconds, plan = timed(partial(lower, schedule, topology, reduction=reduction))
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
            shape: median(timed(partial(_route, shapes[shape], src, dst))[0] for _ in range(times))
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
        seconds = median(timed(task)[0] for _ in range(times))
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
        yield Figure(f"bound: {title}, CPU", median(timed(find)[0] for _ in range(times)), "s", le, target)


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
        seconds = [[timed(task)[0] for task in tasks] for _ in range(times)]
        ratios = [path / (planned + ran) for path, planned, ran in seconds]
        yield Figure(f"critical path of {title}, of plan + engine", median(ratios), "times", le, 0.2)


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


if __name__ == "__main__":
    main()
