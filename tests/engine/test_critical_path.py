"""The critical path, against walks by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings

from algorithms import build
from simulator.engine.critical_path import CriticalPath, critical_path, parts_by_level
from simulator.engine.engines import run_plan, simulate
from simulator.engine.jobs import Job
from simulator.engine.lower import lower, lower_together
from simulator.engine.network import Endpoint, Network, Reduction
from simulator.engine.path_parts import PARTS
from simulator.engine.plan import Plan
from simulator.engine.simpy_engine import run_simpy
from simulator.engine.timeline import Timeline
from tests.engine.flights import BANDWIDTH, NANOSECOND, chain, flights, reduction_flight
from tests.engine.path_check import check_path
from tests.engine.plan_builder import Hop, Operation, plan_of
from tests.engine.test_reference import plans
from topologies import CustomLink, CustomNodes, Topology, crossbar, custom, line, loops, ring


def parts(timeline: Timeline, topology: Topology) -> dict[str, float]:
    """Parts that take time, in ns."""
    totals = check_path(timeline, topology).totals()
    return {part: time / NANOSECOND for part, time in totals.items() if time}


def segments(path: CriticalPath) -> list[tuple[int, str, int, int]]:
    """Operation, part, begin and end of each segment."""
    columns = (path.operation.tolist(), (PARTS[p] for p in path.part), path.begin.tolist(), path.end.tolist())
    return list(zip(*columns, strict=True))


def by_hand(
    operations: Sequence[Operation], latencies: Sequence[int], gaps: Sequence[int] = ()
) -> CriticalPath:
    # a link for every resource
    return check_path(run_simpy(plan_of(operations, latencies, gaps)), ring(len(latencies) + 1, 1e9))


def test_a_ring_takes_the_terms_of_its_closed_form() -> None:
    # 7 steps: alpha of 1 us (a third of it overhead), 1 MB at 64 GB/s, 1 MB at 512 GB/s
    topology = ring(8, 64e9, latency=2e-6 / 3, overhead=1e-6 / 3)
    timeline = simulate(build("ring", "reduce_scatter", 8, 8_000_000), topology, None, Reduction(512e9))
    found = check_path(timeline, topology).totals()
    assert found["latency"] == 7 * 666_666_667
    assert found["overhead"] == 7 * 333_333_333
    assert found["serialization"] == 7 * 15_625 * NANOSECOND
    assert found["reduction"] == 7 * 1_953_125_000
    assert found["queueing"] == found["waiting"] == found["compute"] == 0


def test_who_waits_for_a_link_is_in_a_queue_and_the_one_before_it_is_on_the_path() -> None:
    # both over resource 0: the first comes at 10 and holds it to 30, the second comes at 15
    first = Operation([Hop(1, 10), Hop(0, 20)])
    second = Operation([Hop(2, 15), Hop(0, 5)])
    assert segments(by_hand([first, second], [0, 0, 0])) == [
        (0, "serialization", 0, 10),
        (0, "serialization", 10, 15),
        (1, "queueing", 15, 30),
        (1, "serialization", 30, 35),
    ]


def test_a_queue_of_many_is_one_wait() -> None:
    # four messages of 10 at once on one link: the last waits for 30
    path = by_hand([Operation([Hop(0, 10)])] * 4, [7])
    assert [(part, begin, end) for _, part, begin, end in segments(path)] == [
        ("queueing", 0, 30),
        ("serialization", 30, 40),
        ("latency", 40, 47),
    ]


def test_a_gap_after_a_message_is_overhead() -> None:
    # the second may leave only at 10 + 4, and comes at 12
    path = by_hand([Operation([Hop(0, 10)]), Operation([Hop(1, 12), Hop(0, 1)])], [0, 0], [4, 0])
    assert segments(path) == [
        (0, "serialization", 0, 10),
        (0, "overhead", 10, 12),
        (1, "queueing", 12, 14),
        (1, "serialization", 14, 15),
    ]


def test_the_path_goes_on_with_what_was_waited_for_last() -> None:
    operations = [
        Operation([Hop(0, 5)]),
        Operation([Hop(1, 9)]),
        Operation(after=[0, 1]),
        Operation([Hop(2, 1)], [2]),
    ]
    assert segments(by_hand(operations, [0, 0, 0])) == [
        (1, "serialization", 0, 9),
        (3, "serialization", 9, 10),
    ]


def test_cut_through_is_bound_by_the_slowest_link() -> None:
    # 100 B over links of 1, 1/2 and 1 B/ns, 5 ns each: the tail leaves the second at 5 + 200
    topology = chain(4, latency=5, bandwidths=[1, 0.5, 1])
    timeline = simulate(flights(4, [(0, 3, 100)]), topology, Network("cut_through"))
    assert parts(timeline, topology) == {"latency": 15, "serialization": 200}
    path = critical_path(timeline, topology)
    slow = [link for link in range(len(topology.links)) if topology.link_name(link) == "1->2"]
    assert {
        int(r) for r, p in zip(path.resource, path.part, strict=True) if PARTS[p] == "serialization"
    } == set(slow)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        # 300 B at a byte a ns, then at 0.25: one after the other, or all but the way at once
        ("after", {"latency": 10, "serialization": 300, "reduction": 1200}),
        ("streamed", {"latency": 10, "reduction": 1200}),
    ],
)
def test_a_slow_reducer(mode: str, expected: dict[str, float]) -> None:
    topology = chain(2, latency=10)
    timeline = simulate(reduction_flight(300), topology, None, Reduction(BANDWIDTH / 4, mode))  # type: ignore[arg-type]
    assert parts(timeline, topology) == expected
    path = critical_path(timeline, topology)
    assert parts_by_level(path, timeline, topology).ranks["reduction"] == 1200 * NANOSECOND


def test_a_late_rank_is_waited_for() -> None:
    topology = chain(3, latency=10)
    # 1 sends on what it gets; it begins at 50, and then both messages take 10 + 20
    timeline = simulate(flights(3, [(0, 1, 20)], [(1, 2, 20)]), topology, delay={1: 50e-9})
    assert parts(timeline, topology) == {"waiting": 50, "latency": 20, "serialization": 40}


def test_what_messages_cost_their_ranks() -> None:
    # LogGP: o at the sender, L and the bytes, o at the receiver
    topology = chain(2, latency=10)
    network = Network("cut_through", endpoint=Endpoint(overhead=3e-9, gap=0.0))
    timeline = simulate(flights(2, [(0, 1, 40)]), topology, network)
    assert parts(timeline, topology) == {"overhead": 6, "latency": 10, "serialization": 40}


def test_flows_queue_where_they_share() -> None:
    # two flows of 100 B from 0 and 1 share the link to 2: each takes 200 ns, of which 100 alone
    links = [CustomLink(0, "hub", 2 * BANDWIDTH, 5e-9), CustomLink(1, "hub", 2 * BANDWIDTH, 5e-9)]
    topology = custom(CustomNodes(3, ["hub"]), [*links, CustomLink("hub", 2, BANDWIDTH, 5e-9, 1e-9)])
    timeline = simulate(flights(3, [(0, 2, 100), (1, 2, 100)]), topology, Network("fair_share"))
    assert parts(timeline, topology) == {
        "latency": 10,
        "overhead": 1,
        "serialization": 100,
        "queueing": 100,
    }


def test_no_room_further_on_is_queueing() -> None:
    # a buffer of 10 B before a link of a tenth of the speed: of 100 B the last 10 leave the fast one when
    # 90 have left the slow one, at 900; 200 B come behind them
    topology = chain(3, bandwidths=[1, 0.1])
    timeline = simulate(flights(3, [(0, 2, 100), (0, 1, 200)]), topology, Network("cut_through", buffers=10))
    assert parts(timeline, topology) == {"queueing": 900, "serialization": 200}


def test_in_one_place_after_the_other() -> None:
    # rank 0 receives 7 messages of 1000 B through one port; nothing else takes time
    topology = crossbar(8, bandwidth=1e9)
    at_once = flights(8, [(rank, 0, 1000) for rank in range(1, 8)])
    timeline = simulate(at_once, topology, Network("cut_through"))
    assert parts(timeline, topology) == {"serialization": 1000, "queueing": 6000}


def test_several_collectives_end_with_the_last_of_those_asked_about() -> None:
    # a short message and a long one on different links; the second alone explains the end of all
    topology = ring(4, BANDWIDTH)
    jobs = [Job(flights(2, [(0, 1, size)]), np.array(pair)) for size, pair in ((100, [0, 1]), (300, [2, 3]))]
    both = lower_together(jobs, topology)
    timeline = run_plan(both.plan, "simpy")
    assert critical_path(timeline, topology).time == 300 * NANOSECOND
    assert critical_path(timeline, topology, int(both.first[1])).time == 100 * NANOSECOND


def test_nothing_takes_time() -> None:
    topology = ring(4, 1e9)
    path = check_path(simulate(build("ring", "allreduce", 4, 0), topology), topology)
    assert (len(path), path.time) == (0, 0)
    assert len(check_path(run_simpy(plan_of([], [])), topology)) == 0


def test_both_engines_have_the_same_path() -> None:
    topology = ring(6, 64e9, 1e-6)
    plan = lower(build("direct", "all_to_all", 6, 6_000_001), topology, None, Reduction(1e9))
    paths = [check_path(run_plan(plan, engine), topology) for engine in ("simpy", "compiled")]
    assert segments(paths[0]) == segments(paths[1])


def found_by(timeline: Timeline, topology: Topology, *, compiled: bool, room: int = 1) -> list[list[int]]:
    """Columns of the path, by compiled or by plain loops, with little room to begin with."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loops, "numba_is_here", lambda: compiled)
        patch.setattr(loops, "WORTH_LOADING", 0)
        patch.setattr(loops, "WORTH_CALLING", 0)
        patch.setattr("simulator.engine.critical_path.ROOM", room)
        path = critical_path(timeline, topology)
    return [column.tolist() for column in (path.operation, path.resource, path.part, path.begin, path.end)]


@settings(max_examples=100, derandomize=True, deadline=None, database=None)
@given(plans())
def test_compiled_and_plain_loops_find_the_same(plan: Plan) -> None:
    pytest.importorskip("numba")
    timeline, topology = run_simpy(plan), ring(len(plan.resources) + 1, 1e9)
    assert found_by(timeline, topology, compiled=True) == found_by(timeline, topology, compiled=False)


@pytest.mark.parametrize(
    "network",
    [
        Network("cut_through", endpoint=Endpoint(2e-7, 1e-7)),
        Network("cut_through", sync="barrier", buffers=100_000),
        Network("packet", mtu=50_000, buffers=200_000),
        Network("fair_share", sync="dataflow"),
    ],
    ids=lambda network: network.model,
)
def test_they_do_so_under_every_model(network: Network) -> None:
    pytest.importorskip("numba")
    # one way round, so that all messages meet; a line of buffers does not wait for itself
    topology = line(6, 64e9, 1e-6, 1e-7)
    timeline = simulate(build("direct", "all_to_all", 6, 6_000_001), topology, network, Reduction(1e9))
    assert found_by(timeline, topology, compiled=True) == found_by(timeline, topology, compiled=False)


def test_what_is_found_may_outgrow_its_room() -> None:
    topology = ring(8, 64e9, 1e-6)
    timeline = simulate(build("ring", "allreduce", 8, 8_000_000), topology, None, Reduction(1e9))
    short, ample = (found_by(timeline, topology, compiled=False, room=room) for room in (1, 1000))
    assert short == ample
    assert len(short[0]) > 30
