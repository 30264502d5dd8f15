"""What messages cost the ranks at their ends, against LogGP counted by hand, in nanoseconds.

o = 100, g = 50, L = 10 and G = 1 (Alexandrov, Ionescu, Schauser and Scheiman 1995, section 2): one
message of S bytes takes o + S G + L + o. They write (S - 1) G, from the first byte to the last;
here a byte takes its time on the link, as everywhere in this program.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from algorithms.registry import build
from simulator.engine.analysis import link_use
from simulator.engine.engines import run_plan
from simulator.engine.errors import PlanError
from simulator.engine.lower import lower
from simulator.engine.network import Endpoint, Network, Reduction
from simulator.engine.plan import PROCESSOR, RECEIVE_PORT, SEND_PORT
from simulator.engine.timeline import Timeline
from tests.engine.flights import BANDWIDTH, NANOSECOND, chain, flights, fly, nanoseconds, reduction_flight
from topologies import crossbar, full_mesh, ring
from topologies.errors import TopologyError
from topologies.trees import aggregation_tree

OVERHEAD, GAP, L = 100, 50, 10


def loggp(**more: Any) -> Network:
    """Network of ends with o and g; further keys are those of an endpoint, or of the network."""
    own = {key: more.pop(key) for key in ("overhead", "gap", "protocol", "threshold") if key in more}
    return Network(endpoint=Endpoint(**{"overhead": OVERHEAD * 1e-9, "gap": GAP * 1e-9, **own}), **more)


def ends(timeline: Timeline, kind: int) -> list[tuple[int, int, float, float]]:
    """(operation, rank, grant, release) of every hop over a resource of that kind."""
    resources, hops = timeline.plan.resources, timeline.plan.resource
    own = np.flatnonzero(resources.kind[hops] == kind)
    columns = (
        timeline.operation()[own],
        resources.which[hops[own]],
        timeline.grant[own],
        timeline.release[own],
    )
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [(i, rank, begun / NANOSECOND, over / NANOSECOND) for i, rank, begun, over in rows]


def grants(timeline: Timeline, kind: int, rank: int) -> list[float]:
    """When a rank's resource of that kind is granted."""
    return sorted(begun for _, of, begun, _ in ends(timeline, kind) if of == rank)


@pytest.mark.parametrize("size", [0, 1, 1000])
def test_a_message(size: int) -> None:
    timeline = fly(flights(2, [(0, 1, size)]), chain(2, L), loggp())
    assert nanoseconds(timeline) == OVERHEAD + size + L + OVERHEAD


@pytest.mark.parametrize(
    ("size", "apart"),
    [
        (1000, GAP + 1000),  # the port is the slower
        (10, OVERHEAD),  # the processor is
    ],
)
def test_messages_of_a_sender(size: int, apart: int) -> None:
    # to three ranks over three links: they leave max(o, g + S G) apart
    timeline = fly(flights(4, [(0, r, size) for r in (1, 2, 3)]), full_mesh(4, BANDWIDTH, L * 1e-9), loggp())
    assert grants(timeline, SEND_PORT, 0) == [OVERHEAD, OVERHEAD + apart, OVERHEAD + 2 * apart]
    assert nanoseconds(timeline) == OVERHEAD + 2 * apart + size + L + OVERHEAD


@pytest.mark.parametrize("size", [10, 1000])
def test_messages_of_a_receiver(size: int) -> None:
    # from three ranks at once: the port takes their bytes a gap apart, the processor one by one
    timeline = fly(flights(4, [(r, 0, size) for r in (1, 2, 3)]), full_mesh(4, BANDWIDTH, L * 1e-9), loggp())
    port = [OVERHEAD + L + i * (size + GAP) for i in range(3)]
    assert grants(timeline, RECEIVE_PORT, 0) == port
    done, over = [], 0.0
    for start in port:
        over = max(over, start + size) + OVERHEAD
        done.append(over)
    assert nanoseconds(timeline) == done[-1]
    assert grants(timeline, PROCESSOR, 0) == [t - OVERHEAD for t in done]


def test_a_rank_sends_and_receives_at_once() -> None:
    # each processor opens its own message before it closes the other's: no port waits for the other
    timeline = fly(flights(2, [(0, 1, 1000), (1, 0, 1000)]), ring(2, BANDWIDTH, L * 1e-9), loggp())
    assert nanoseconds(timeline) == OVERHEAD + 1000 + L + OVERHEAD


def test_binomial_broadcast() -> None:
    # the root's messages leave 1050 apart; whoever has received, at 1210, 2260, ..., sends o later
    timeline = fly(build("binomial", "broadcast", 8, 1000), full_mesh(8, BANDWIDTH, L * 1e-9), loggp())
    received = sorted(over for i, _, _, over in ends(timeline, PROCESSOR) if i % 3 == 2)
    assert received == [1210, 2260, 2420, 3310, 3470, 3470, 3630]


def test_an_eager_message_leaves_before_its_receiver_is_ready() -> None:
    # rank 1 comes at 5000 and then takes what lies there; rank 0 has long gone on to rank 2
    schedule, mesh = flights(3, [(0, 1, 1000)], [(0, 2, 1000)]), full_mesh(3, BANDWIDTH, L * 1e-9)
    timeline = fly(schedule, mesh, loggp(), delay={1: 5e-6})
    assert nanoseconds(timeline) == 5000 + OVERHEAD
    assert grants(timeline, SEND_PORT, 0) == [OVERHEAD, OVERHEAD + GAP + 1000]
    assert grants(timeline, PROCESSOR, 2) == [OVERHEAD + GAP + 1000 + 1000 + L]


def test_a_rendezvous_waits_for_its_receiver() -> None:
    # the request is there at 2 o + L; from 5000 on come answer and message, then the next rendezvous
    schedule, mesh = flights(3, [(0, 1, 1000)], [(0, 2, 1000)]), full_mesh(3, BANDWIDTH, L * 1e-9)
    timeline = fly(schedule, mesh, loggp(protocol="rendezvous"), delay={1: 5e-6})
    message = 2 * OVERHEAD + L
    assert grants(timeline, PROCESSOR, 1) == [OVERHEAD + L, 5000, 5000 + 2 * message + 1000 - OVERHEAD]
    assert nanoseconds(timeline) == 5000 + 2 * message + 1000 + 3 * message + 1000


@pytest.mark.parametrize(("size", "messages"), [(0, 1), (1000, 1), (1001, 3)])
def test_a_rendezvous_is_three_messages_past_its_threshold(size: int, messages: int) -> None:
    network = loggp(protocol="rendezvous", threshold=1000)
    timeline = fly(flights(2, [(0, 1, size)]), ring(2, BANDWIDTH, L * 1e-9), network)
    assert nanoseconds(timeline) == messages * (2 * OVERHEAD + L) + size


def test_nothing_but_the_message_counts_as_bytes() -> None:
    schedule = flights(2, [(0, 1, 1000)])
    use = link_use(fly(schedule, ring(2, BANDWIDTH), loggp(protocol="rendezvous")), schedule)
    assert sorted(use.bytes.tolist()) == [0, 1000]


@pytest.mark.parametrize(
    ("gamma", "mode", "expected"),
    [
        (0.5, "after", OVERHEAD + 1000 + L + OVERHEAD + 2000),  # when the processor has taken it
        (0.5, "streamed", OVERHEAD + L + 2000 + OVERHEAD),  # from its head on
        (2, "streamed", OVERHEAD + L + 1000 + OVERHEAD),
    ],
)
def test_reduction(gamma: float, mode: Any, expected: int) -> None:
    reduction = Reduction(gamma * BANDWIDTH, mode)
    assert nanoseconds(fly(reduction_flight(1000), chain(2, L), loggp(), reduction)) == expected


@pytest.mark.parametrize(
    ("more", "network"),
    [
        ({"model": "store_and_forward"}, 3 * (1000 + L)),
        ({"model": "cut_through"}, 1000 + 3 * L),
        ({"model": "packet", "mtu": 250}, (4 - 1 + 3) * 250 + 3 * L),
    ],
)
def test_three_links(more: dict[str, Any], network: int) -> None:
    timeline = fly(flights(4, [(0, 3, 1000)]), chain(4, L), loggp(gap=0.0, **more))
    assert nanoseconds(timeline) == OVERHEAD + network + OVERHEAD


def test_packets_leave_a_gap_apart() -> None:
    # four of 250: three gaps between them
    timeline = fly(flights(2, [(0, 1, 1000)]), chain(2, L), loggp(model="packet", mtu=250))
    assert nanoseconds(timeline) == OVERHEAD + 1000 + 3 * GAP + L + OVERHEAD


def test_a_switch_that_reduces_has_no_processor() -> None:
    # up to the switch and down again, and only the ranks work
    star = crossbar(4, BANDWIDTH, L * 1e-9, switch="reduces")
    schedule = build("in_network", "allreduce", 4, 1000, tree=aggregation_tree(star))
    timeline = fly(schedule, star, loggp(gap=0.0), Reduction(BANDWIDTH))
    assert nanoseconds(timeline) == OVERHEAD + 2 * (1000 + L) + OVERHEAD


def test_steps_of_a_ring() -> None:
    # every step: o to open, S + L on the way, o to close, and nobody waits for a port
    timeline = fly(build("ring", "allgather", 4, 4000), ring(4, BANDWIDTH, L * 1e-9), loggp())
    assert nanoseconds(timeline) == 3 * (OVERHEAD + 1000 + L + OVERHEAD)


def test_ends_that_cost_nothing_change_no_message() -> None:
    free = Network(endpoint=Endpoint())
    for size in (0, 999):
        schedule = flights(4, [(0, 3, size)])
        assert fly(schedule, chain(4, L), free).time == fly(schedule, chain(4, L), Network()).time


@pytest.mark.parametrize("protocol", ["eager", "rendezvous"])
def test_one_rank_sends_nothing(protocol: Any) -> None:
    alone, network = build("ring", "allreduce", 1, 5000), loggp(protocol=protocol)
    assert fly(alone, ring(1, BANDWIDTH), network).time == 0
    late = lower(alone, ring(1, BANDWIDTH), network, delay={0: 1e-6})
    assert run_plan(late, "simpy").time == run_plan(late, "compiled").time == 10**9


@pytest.mark.parametrize(
    ("endpoint", "message", "at"),
    [
        ({"overhead": -1e-9}, "overhead is zero or more and finite, found -1e-09", "overhead"),
        ({"gap": float("inf")}, "gap is zero or more and finite, found inf", "gap"),
        ({"threshold": 5}, "only a rendezvous has a threshold", "threshold"),
        ({"protocol": "polite"}, 'protocol must be eager or rendezvous, found "polite"', "protocol"),
    ],
)
def test_refuses(endpoint: dict[str, Any], message: str, at: str) -> None:
    with pytest.raises(TopologyError, match=message) as caught:
        Endpoint(**endpoint)
    assert caught.value.at == (at,)


def test_a_gap_that_is_too_long_is_refused() -> None:
    with pytest.raises(PlanError, match=r"2\.5 hours"):
        lower(flights(2, [(0, 1, 1)]), chain(2, L), loggp(gap=1e5))
