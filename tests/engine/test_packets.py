"""Messages cut into packets; every expected time is counted by hand, in nanoseconds."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms.registry import build
from simulator.engine.analysis import link_use
from simulator.engine.lower import lower
from simulator.engine.network import MTU, Network, Reduction
from simulator.scenario.load import loads
from simulator.scenario.run import run
from tests.engine.flights import (
    BANDWIDTH,
    NANOSECOND,
    chain,
    flights,
    fly,
    nanoseconds,
    reduction_flight,
)
from topologies import crossbar, ring
from topologies.errors import TopologyError


def packets(mtu: int) -> Network:
    return Network(model="packet", mtu=mtu)


@pytest.mark.parametrize("links", [1, 2, 3])
@pytest.mark.parametrize("count", [1, 2, 8])
def test_a_message_over_a_chain_is_a_pipeline(links: int, count: int) -> None:
    # P packets over h links: P - 1 + h packet times and h latencies, overhead for every packet
    schedule = flights(links + 1, [(0, links, 1000 * count)])
    for latency, overhead in ((0, 0), (50, 0), (50, 100)):
        timeline = fly(schedule, chain(links + 1, latency, overhead), packets(1000))
        assert nanoseconds(timeline) == (count - 1 + links) * (1000 + overhead) + links * latency


def test_the_last_packet_is_shorter() -> None:
    # 1000, 1000 and 500 bytes: link 1 is left at 1100, 2200 and 2800, link 2 entered 50 later;
    # there the second waits for the first until 2250, the third until 3350, and is through at 3950
    timeline = fly(flights(3, [(0, 2, 2500)]), chain(3, latency=50, overhead=100), packets(1000))
    assert [t / NANOSECOND for t in timeline.release] == [1100, 2250, 2200, 3350, 2800, 3950]
    assert nanoseconds(timeline) == 4000


def test_the_slowest_link_sets_the_pace() -> None:
    # links of 1, 1/2 and 1 byte/ns: 2 packets before and behind, and 4 x 2000 on the slow one
    timeline = fly(flights(4, [(0, 3, 4000)]), chain(4, bandwidths=[1, 0.5, 1]), packets(1000))
    assert nanoseconds(timeline) == 1000 + 4 * 2000 + 1000


def test_two_flows_take_turns_on_a_link() -> None:
    # ranks 0 and 1 each send two packets to rank 2: they reach the switch at 1010 and at 2010, and leave it
    # one by one from 1010 on
    timeline = fly(flights(3, [(0, 2, 2000), (1, 2, 2000)]), crossbar(3, BANDWIDTH, 1e-8), packets(1000))
    down = np.flatnonzero(timeline.hop() == 1)
    order = timeline.plan.transfer[timeline.operation()[down[np.argsort(timeline.grant[down])]]]
    assert order.tolist() == [0, 1, 0, 1]
    assert nanoseconds(timeline) == 1010 + 4 * 1000 + 10


def test_whole_messages_are_store_and_forward_bit_for_bit() -> None:
    for size in (0, 1, 999, 8003):
        for reduction in (None, Reduction(3e9), Reduction(3e9, "streamed")):
            schedule = build("recursive_halving", "reduce_scatter", 8, size)
            whole, cut = (
                lower(schedule, ring(8, BANDWIDTH, 1e-8, 3e-9), network, reduction)
                for network in (Network(), packets(max(1, size)))
            )
            assert len(whole) == len(cut)
            for column in ("transfer", "hop_offset", "resource", "hold", "head", "dependency"):
                np.testing.assert_array_equal(getattr(whole, column), getattr(cut, column))


def test_a_message_of_no_bytes_is_one_packet() -> None:
    assert nanoseconds(fly(flights(2, [(0, 1, 0)]), chain(2, 50, 100), packets(1000))) == 150


@pytest.mark.parametrize(
    ("gamma", "mode", "expected"),
    [
        (0.5, "after", 3010 + 6000),  # all of it, when its last packet has come
        (0.5, "streamed", 10 + 3 * 2000),  # the first from its head on, then the reducer is busy
        (2, "streamed", 3010),  # faster than the link: with its last byte
    ],
)
def test_reduction(gamma: float, mode: str, expected: int) -> None:
    reduction = Reduction(gamma * BANDWIDTH, mode)  # type: ignore[arg-type]
    assert nanoseconds(fly(reduction_flight(3000), chain(2, 10), packets(1000), reduction)) == expected


def test_the_next_step_waits_for_all_packets() -> None:
    # each of two steps takes three packets and a latency
    for sync in ("step", "dataflow", "barrier"):
        schedule = build("ring", "allgather", 3, 9000)
        network = Network(model="packet", mtu=1000, sync=sync)  # type: ignore[arg-type]
        assert nanoseconds(fly(schedule, ring(3, BANDWIDTH, 5e-8), network)) == 2 * 3050


def test_a_late_rank_holds_all_packets_back() -> None:
    timeline = fly(flights(2, [(0, 1, 3000)]), chain(2, 10), packets(1000), delay={1: 5e-6})
    assert nanoseconds(timeline) == 5000 + 3010


def test_bytes_of_links_are_those_of_their_packets() -> None:
    schedule = flights(3, [(0, 2, 2500), (1, 2, 1)])
    use = link_use(fly(schedule, chain(3, 10), packets(1000)), schedule)
    # the way back is not taken
    assert use.bytes.tolist() == [2500, 0, 2501, 0]
    assert use.busy.tolist() == [2500 * NANOSECOND, 0, 2501 * NANOSECOND, 0]


def test_one_rank_has_no_packets() -> None:
    assert len(lower(build("ring", "allreduce", 1, 5000), ring(1, BANDWIDTH), packets(1000))) == 0


def test_a_packet_is_of_4096_bytes_unless_said_otherwise() -> None:
    plan = lower(flights(2, [(0, 1, 2 * MTU + 1)]), chain(2), Network(model="packet"))
    assert plan.bytes is not None
    assert plan.bytes.tolist() == [0, 4096, 4096, 1, 0]


@pytest.mark.parametrize(
    ("network", "message"),
    [
        ({"model": "packet", "mtu": 0}, "mtu must be at least 1 byte"),
        ({"mtu": 4096}, "only the model packet has an mtu"),
    ],
)
def test_refuses(network: dict[str, object], message: str) -> None:
    with pytest.raises(TopologyError, match=message) as caught:
        Network(**network)  # type: ignore[arg-type]
    assert caught.value.at == ("mtu",)


def test_of_a_scenario_there_is_no_closed_form_and_the_bounds_hold() -> None:
    # a packet's hold is rounded by itself: a million of them, a third of a femtosecond each
    found = run(
        loads(
            "topology: {kind: ring, ranks: 2, bandwidth: 3 GB/s}\n"
            "collective: {kind: allgather, algorithm: ring, size: 20000 B}\n"
            "network: {model: packet, mtu: 1 B}\n",
        )
    )
    assert found.analytic is None
    assert found.timeline.time == 10**4 * 333_333
    assert found.time >= found.bounds.best > 0.999 * found.time
