"""Traces of timelines: valid, and true to the timeline, for every algorithm and network."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from algorithms import Schedule, build
from simulator.engine.critical_path import critical_path
from simulator.engine.engines import run_plan
from simulator.engine.formats.timeline_trace import timeline_trace, together_trace
from simulator.engine.formats.trace_events import write_trace
from simulator.engine.jobs import Job
from simulator.engine.lower import lower, lower_together
from simulator.engine.network import Endpoint, Network, Reduction
from simulator.engine.path_parts import PARTS
from simulator.engine.plan import START
from simulator.engine.timeline import Timeline
from simulator.engine.waiting import link_waits
from tests.cases import case
from tests.engine.flights import BANDWIDTH, NANOSECOND, chain, flights
from tests.engine.formats.trace_reader import ReadTrace, read_trace
from tests.engine.schedule_examples import place_for, schedules
from topologies import Topology, crossbar, fat_tree, full_mesh, ring, torus

NETWORKS = (
    Network(),
    Network("cut_through", sync="dataflow"),
    Network("packet", mtu=400),
    Network("fair_share"),
    Network("cut_through", sync="barrier", buffers=5000),
    Network(endpoint=Endpoint(1e-7, 2e-7, "rendezvous")),
)
LINK = {"bandwidth": 3e9, "latency": 7e-7}
PLACES = (ring(6, **LINK), torus((3, 2), **LINK), crossbar(6, overhead=1e-7, **LINK), full_mesh(6, 3e9))


def traced(timeline: Timeline, schedule: Schedule, topology: Topology, path: Path) -> ReadTrace:
    why = critical_path(timeline, topology)
    write_trace(timeline_trace(timeline, schedule, topology, why), path)
    found = read_trace(path)
    on_the_way = found.on("critical path")
    assert [one.name for one in on_the_way] == [PARTS[part] for part in why.part]
    assert [(one.begin, one.end) for one in on_the_way] == list(
        zip(why.begin.tolist(), why.end.tolist(), strict=True)
    )
    check_hops(found, timeline)
    return found


def check_hops(found: ReadTrace, timeline: Timeline) -> None:
    """A slice a hop; flows go from what an operation waited for last, along its way."""
    plan = timeline.plan
    hops = [n for n, one in enumerate(found.slices) if one.track != "critical path"]
    late = (plan.resources.kind[plan.resource] != START) | (timeline.grant < timeline.release)
    slices: dict[int, list[int]] = defaultdict(list)
    for n in hops:
        slices[found.slices[n].args["operation"]].append(n)
    operation = timeline.operation()
    assert len(hops) == np.count_nonzero(late)
    for number, own in slices.items():
        walked = np.flatnonzero((operation == number) & late)
        times = [(found.slices[n].begin, found.slices[n].end) for n in own]
        expected = list(zip(timeline.grant[walked].tolist(), timeline.release[walked].tolist(), strict=True))
        assert sorted(times) == sorted(expected)
        flow = found.flows.get(number + 1, own)
        assert sorted(flow[-len(own) :]) == sorted(own)
        start, before = int(timeline.arrival[walked[0]]), flow[: -len(own)]
        if start:
            (source,) = before
            awaited = found.slices[source].args["operation"]
            last = int(plan.hop_offset[awaited + 1]) - 1
            # it began the moment that came
            assert start == timeline.release[last] + plan.resources.latency[plan.resource[last]]
        else:
            assert not before or found.slices[before[0]].begin == 0
    waits = sum(found.slices[n].args["queueing_us"] for n in hops)
    assert waits * NANOSECOND * 1000 == int((timeline.grant - timeline.arrival).sum())


def check_queues(found: ReadTrace, timeline: Timeline, topology: Topology) -> None:
    longest = link_waits(timeline).queue
    expected = {f"queue for {topology.link_name(i)}": q for i, q in enumerate(longest.tolist()) if q}
    links = {name for _, name in found.counters if "->" in name}
    most = {name: max(v for _, v in counted) for (_, name), counted in found.counters.items()}
    assert {name: most[name] for name in links} == expected
    assert all(counted[-1][1] == 0 for counted in found.counters.values())


def test_every_algorithm(tmp_path: Path) -> None:
    for number, (label, schedule) in enumerate(list(schedules().items())[::3]):
        network = NETWORKS[number % len(NETWORKS)]
        with case(label, network):
            place = place_for(schedule)
            plan = lower(schedule, place, network, Reduction(1e9))
            traced(run_plan(plan), schedule, place, tmp_path / "trace.json.gz")


@pytest.mark.parametrize("topology", PLACES, ids=lambda topology: topology.kind)
@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: f"{network.model}-{network.sync}")
def test_every_network(network: Network, topology: Topology, tmp_path: Path) -> None:
    for name, kind, size in (
        ("direct", "all_to_all", 6001),
        ("ring", "allreduce", 0),
        ("bruck", "allgather", 999),
    ):
        with case(name):
            schedule = build(name, kind, 6, size)
            plan = lower(schedule, topology, network, Reduction(1e9, mode="streamed"), {1: 1e-6, 4: 3e-6})
            timeline = run_plan(plan)
            found = traced(timeline, schedule, topology, tmp_path / "trace.json.gz")
            late = [one for one in found.slices if one.track.endswith("starts")]
            assert [(one.group, one.begin, one.end) for one in late] == [
                ("rank 1", 0, 10**9),
                ("rank 4", 0, 3 * 10**9),
            ]
            if network.model != "fair_share":
                check_queues(found, timeline, topology)


def test_one_rank_does_nothing(tmp_path: Path) -> None:
    schedule, topology = build("ring", "allreduce", 1, 8), ring(1, 1e9)
    found = traced(run_plan(lower(schedule, topology)), schedule, topology, tmp_path / "trace.json.gz")
    assert (found.slices, found.flows, found.counters) == ([], {}, {})


def test_a_queue_by_hand(tmp_path: Path) -> None:
    # three messages of 10, 20 and 30 bytes leave rank 0 at once, the second link is free again each time
    schedule, topology = flights(3, [(0, 2, 10), (0, 2, 20), (0, 1, 30)]), chain(3, latency=5)
    found = traced(run_plan(lower(schedule, topology)), schedule, topology, tmp_path / "trace.json.gz")
    first = found.on("0->1")
    assert [(one.begin // NANOSECOND, one.end // NANOSECOND) for one in first] == [
        (0, 10),
        (10, 30),
        (30, 60),
    ]
    assert [float(one.args["queueing_us"]) for one in first] == [0, 0.01, 0.03]
    assert [(one.name, one.args["bytes"], one.args["dst"]) for one in first] == [
        ("step 0, chunk 0-9", 10, 2),
        ("step 0, chunk 0-19", 20, 2),
        ("step 0, chunk 0-29", 30, 1),
    ]
    assert found.counters == {
        ("rank 0", "queue for 0->1"): [(0, 2), (10 * NANOSECOND, 1), (30 * NANOSECOND, 0)]
    }
    ways = [[found.slices[n].track for n in flow] for flow in found.flows.values()]
    assert ways == [["0->1", "1->2"], ["0->1", "1->2"]]


def test_flows_that_share_a_link_have_a_track_each(tmp_path: Path) -> None:
    # 10 and 20 bytes share a link until 20 ns; the third comes when both are through
    schedule, topology = flights(2, [(0, 1, 10), (0, 1, 20)], [(0, 1, 5)]), chain(2)
    plan = lower(schedule, topology, Network("fair_share"))
    found = traced(run_plan(plan), schedule, topology, tmp_path / "trace.json.gz")
    shown = {one.track: [] for one in found.slices if one.track != "critical path"}  # type: dict[str, list[int]]
    for one in found.slices:
        if one.track in shown:
            shown[one.track].append(one.args["bytes"])
    assert shown == {"0->1": [10, 5], "0->1 (2)": [20]}
    assert not found.counters


def test_several_at_once(tmp_path: Path) -> None:
    topology = fat_tree(4, bandwidth=BANDWIDTH, latency=1e-6)
    jobs = [
        Job(build("ring", "allreduce", 4, 4096), np.array([0, 4, 8, 12])),
        Job(build("direct", "all_to_all", 3, 999), np.array([0, 5, 9]), start=1e-6, delay={2: 1e-6}),
        Job(build("chain", "broadcast", 2, 7), np.array([12, 13]), after=(0, 1)),
    ]
    together = lower_together(jobs, topology)
    timeline = run_plan(together.plan)
    names = ('the "ring"', "all", "last")
    write_trace(
        together_trace(timeline, together, topology, names, critical_path(timeline, topology)),
        tmp_path / "trace.json.gz",
    )
    found = read_trace(tmp_path / "trace.json.gz")
    check_hops(found, timeline)
    check_queues(found, timeline, topology)
    moves = [one for one in found.slices if "src" in one.args and one.track != "critical path"]
    ends: dict[str, set[int]] = defaultdict(set)
    for one in moves:
        assert one.name.startswith(f"{one.args['collective']}: step {one.args['step']}")
        ends[one.args["collective"]] |= {one.args["src"], one.args["dst"]}
    assert ends == {'the "ring"': {0, 4, 8, 12}, "all": {0, 5, 9}, "last": {12, 13}}
    late = [(one.group, one.args["collective"], one.end) for one in found.slices if one.name == "starts late"]
    assert ("rank 9", "all", 2 * 10**9) in late
