"""Legs between memory and port, timed by hand: links of a byte a nanosecond."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from algorithms import build
from algorithms.schedule import COPY, REDUCE
from simulator.engine.engines import simulate
from simulator.engine.lower import lower
from simulator.engine.network import Endpoint, Network, Reduction
from simulator.engine.plan import LINK, STAGE
from simulator.engine.staging import Staging
from tests.engine.flights import BANDWIDTH, NANOSECOND, chain, flights, fly, nanoseconds, reduction_flight
from tests.engine.path_check import check_path
from topologies import CustomLink, CustomNodes, crossbar, custom, full_mesh
from topologies.errors import TopologyError
from topologies.trees import aggregation_tree

HALF, DOUBLE = 0.5 * BANDWIDTH, 2 * BANDWIDTH
EVERY_LEG: dict[str, Any] = {
    "send": HALF,
    "load": DOUBLE,
    "reduce": 4 * BANDWIDTH,
    "write": DOUBLE,
    "store": HALF,
    "overheads": {"link": 7e-9},
}


def staged(order: Any = "serial", model: Any = "store_and_forward", **legs: Any) -> Network:
    return Network(model, staging=Staging(order, **legs))


@pytest.mark.parametrize(
    ("mode", "order", "time"),
    [
        # 7 for the commands; memory to port 80, link 40 and 10 of latency; then 20, 10 and 20
        (REDUCE, "serial", 7 + 80 + 40 + 10 + 20 + 10 + 20),
        # the slowest leg is the first; behind it comes the last byte at once
        (REDUCE, "overlapped", 7 + 80 + 10),
        (COPY, "serial", 80 + 40 + 10 + 80),
        (COPY, "overlapped", 80 + 10),
    ],
)
def test_a_message_of_40_bytes(mode: int, order: str, time: int) -> None:
    schedule = flights(2, [(0, 1, 40)], mode=mode)
    timeline = fly(schedule, chain(2, 10), staged(order, **EVERY_LEG))
    assert nanoseconds(timeline) == time
    check_path(timeline, chain(2, 10))


def test_parts_of_the_path() -> None:
    topology = chain(2, 10)
    timeline = simulate(flights(2, [(0, 1, 40)], mode=REDUCE), topology, staged(**EVERY_LEG))
    found = {part: fs / NANOSECOND for part, fs in check_path(timeline, topology).totals().items() if fs}
    assert found == {"overhead": 7, "serialization": 80 + 40 + 20 + 20, "latency": 10, "reduction": 10}


def test_what_is_between_two_links_is_not_staged() -> None:
    # both links whole under store_and_forward, once under cut_through
    for model, links in (("store_and_forward", 2 * (40 + 10)), ("cut_through", 40 + 10 + 10)):
        timeline = fly(
            flights(3, [(0, 2, 40)]), chain(3, 10), staged("serial", model, send=HALF, store=DOUBLE)
        )
        assert nanoseconds(timeline) == 80 + links + 20


def test_a_leg_that_is_slower_than_its_link_holds_back_who_comes_behind() -> None:
    # 0 sends 10 B twice over one link: the second waits for the engine that stores the first
    timeline = fly(flights(2, [(0, 1, 10), (0, 1, 10)]), chain(2), staged(store=HALF))
    assert nanoseconds(timeline) == 10 + 20 + 20


def test_every_link_has_engines_of_its_own() -> None:
    # three messages to rank 0 over three links are summed side by side, and not one after the other
    schedule = flights(4, [(r, 0, 40) for r in (1, 2, 3)], mode=REDUCE)
    topology = full_mesh(4, BANDWIDTH)
    assert nanoseconds(fly(schedule, topology, staged(load=HALF, reduce=HALF, write=HALF))) == 40 + 3 * 80
    one = fly(schedule, topology, staged(load=HALF, write=HALF), Reduction(HALF))
    # with one reducer a rank: 40 and 80, then three sums of 80, and 80
    assert nanoseconds(one) == 40 + 80 + 3 * 80 + 80


def test_the_reducer_stands_between_what_is_loaded_and_what_is_written() -> None:
    timeline = fly(
        reduction_flight(40), chain(2), staged(load=DOUBLE, write=DOUBLE), Reduction(4 * BANDWIDTH)
    )
    assert nanoseconds(timeline) == 40 + 20 + 10 + 20
    held = timeline.plan.hold[timeline.plan.hop_offset[0] : timeline.plan.hop_offset[1]] / NANOSECOND
    assert held.tolist() == [40, 20, 10, 20]


def test_overheads_are_of_the_level_that_a_message_leaves_by() -> None:
    links = [CustomLink(0, 1, BANDWIDTH, level="near"), CustomLink(1, 2, BANDWIDTH, level="far")]
    topology = custom(CustomNodes(3), links)
    steps = flights(3, [(0, 1, 10)], [(1, 2, 10)], mode=REDUCE)
    assert nanoseconds(fly(steps, topology, staged(overheads={"near": 5e-9}))) == 5 + 10 + 10
    assert nanoseconds(fly(steps, topology, staged(overheads={"near": 5e-9, "far": 3e-9}))) == 28


def test_switches_stage_nothing() -> None:
    # up to the switch, which sums, and down again: each rank sends from memory and stores
    star = crossbar(4, BANDWIDTH, switch="reduces")
    schedule = build("in_network", "allreduce", 4, 1000, tree=aggregation_tree(star))
    network = staged(send=HALF, load=HALF, reduce=HALF, write=HALF, store=DOUBLE)
    assert nanoseconds(fly(schedule, star, network)) == 2000 + 1000 + 1000 + 500


def test_both_engines_agree_where_messages_queue_and_a_rank_is_late() -> None:
    topology = full_mesh(6, BANDWIDTH, 3e-9)
    for order in ("serial", "overlapped"):
        network = staged(order, **EVERY_LEG | {"overheads": {"full_mesh": 7e-9}})
        for schedule in (build("ring", "allreduce", 6, 1001), build("direct", "reduce_scatter", 6, 1001)):
            check_path(fly(schedule, topology, network, delay={2: 50e-9}), topology)


def test_without_legs_nothing_changes() -> None:
    topology = full_mesh(6, BANDWIDTH, 3e-9)
    schedule = build("ring", "allreduce", 6, 1001)
    bare, none = lower(schedule, topology), lower(schedule, topology, staged())
    np.testing.assert_array_equal(bare.resource, none.resource)
    np.testing.assert_array_equal(bare.hold, none.hold)


def test_engines_stand_at_the_ends_of_their_links() -> None:
    topology = chain(3)
    resources = lower(flights(3, [(0, 2, 1)]), topology, staged(send=HALF, store=HALF)).resources
    assert resources.which[resources.kind == STAGE].tolist() == [
        *topology.links.src.tolist(),
        *topology.links.dst.tolist(),
    ]
    assert (resources.kind == LINK).sum() == len(topology.links)


def test_faster_legs() -> None:
    staging = Staging(load=1e9, write=2e9, overheads={"link": 1e-9})
    assert staging.faster(2.0) == replace(staging, load=2e9, write=4e9)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Staging("both"), 'order must be serial or overlapped, found "both"'),  # type: ignore[arg-type]
        (lambda: Staging(load=0.0), "load must be positive and finite, found 0.0"),
        (lambda: Staging(overheads={"a": -1.0}), "an overhead is zero or more and finite, found -1.0"),
        (lambda: Network("packet", staging=Staging()), "staging does not go with the model packet"),
        (lambda: Network("fair_share", staging=Staging()), "staging does not go with the model fair_share"),
        (lambda: Network(endpoint=Endpoint(), staging=Staging()), "staging does not go with endpoint"),
        (lambda: Network(buffers=64, staging=Staging()), "staging does not go with buffers"),
        (
            lambda: lower(reduction_flight(1), chain(2), staged(overheads={"ring": 1e-9})),
            'there is no level "ring"; there are link',
        ),
        (
            lambda: lower(reduction_flight(1), chain(2), staged(reduce=HALF), Reduction(HALF)),
            "the staging reduces, and so does the reduction; one of them is enough",
        ),
    ],
)
def test_what_does_not_go_together(make: Any, message: str) -> None:
    with pytest.raises(TopologyError) as caught:
        make()
    assert caught.value.message == message
