"""The links that messages cross under each routing."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from algorithms.errors import ScheduleError
from algorithms.registry import build
from algorithms.schedule import Schedule
from simulator.engine.lower import lower
from simulator.engine.network import Model, Network
from simulator.engine.plan import Plan
from simulator.engine.simpy_engine import run_simpy
from topologies import Topology, TopologyError, full_mesh, leaf_spine, ring
from topologies.multipath import Kind, Routing
from topologies.static_routes import StaticRoute

FOUR_SPINES = leaf_spine(2, 1, 4, 50e9, 5e-7)
KINDS: tuple[Kind, ...] = ("shortest", "ecmp", "spray", "valiant")


def segments(count: int, size: int = 8_000_000) -> Schedule:
    """One flow of several messages, from rank 0 to rank 1."""
    return build("chain", "broadcast", 2, size, segments=count)


def crossed(plan: Plan, place: Topology) -> list[list[str]]:
    """Names of the links of each operation."""
    bounds = plan.hop_offset.tolist()
    return [[place.link_name(link) for link in plan.resource[a:b].tolist()] for a, b in pairwise(bounds)]


@pytest.mark.parametrize("model", ["store_and_forward", "cut_through"])
def test_segments_are_sprayed_over_the_spines_in_turn(model: Model) -> None:
    plan = lower(segments(8), FOUR_SPINES, Network(model, "dataflow", routing="spray"))
    up = [walk[1] for walk in crossed(plan, FOUR_SPINES)]
    assert len(set(up[:4])) == 4
    assert up[4:] == up[:4]


def test_packets_are_sprayed_over_the_spines_in_turn() -> None:
    """One message of ten packets: three on two of the spines and two on the others."""
    plan = lower(segments(1), FOUR_SPINES, Network("packet", mtu=800_000, routing="spray"))
    used = Counter(walk[1] for walk in crossed(plan, FOUR_SPINES) if walk)
    assert sorted(used.values()) == [2, 2, 3, 3]


def test_a_flow_keeps_its_way_under_ecmp() -> None:
    plan = lower(segments(8), FOUR_SPINES, Network(routing=Routing("ecmp", 5)))
    assert len({tuple(walk) for walk in crossed(plan, FOUR_SPINES)}) == 1


def test_channels_are_flows_of_their_own() -> None:
    """A double binary tree has a channel for every tree and segment: with 64 spines they part."""
    place = leaf_spine(2, 2, 64, 50e9)
    schedule = build("double_binary_tree", "allreduce", 4, 1 << 20, segments=4)
    walks = crossed(lower(schedule, place, Network(routing="ecmp")), place)
    by_flow: dict[tuple[int, ...], set[tuple[str, ...]]] = {}
    by_pair: dict[tuple[int, ...], set[tuple[str, ...]]] = {}
    rows = zip(schedule.src.tolist(), schedule.dst.tolist(), schedule.channel.tolist(), walks, strict=True)
    for src, dst, channel, walk in rows:
        by_flow.setdefault((src, dst, channel), set()).add(tuple(walk))
        by_pair.setdefault((src, dst), set()).add(tuple(walk))
    assert all(len(ways) == 1 for ways in by_flow.values())
    assert any(len(ways) > 2 for ways in by_pair.values())


def test_spray_counts_over_all_channels() -> None:
    """Every channel sends one message from a rank to another: 64 in turn over 64 spines, none used twice."""
    place = leaf_spine(2, 2, 64, 50e9)
    schedule = build("double_binary_tree", "allreduce", 4, 1 << 20, segments=32)
    walks = crossed(lower(schedule, place, Network(routing="spray")), place)
    far = (schedule.src == 1) & (schedule.dst == 2)
    assert len(set(schedule.channel[far].tolist())) == far.sum() == 64
    assert len({walks[row][1] for row in np.flatnonzero(far).tolist()}) == 64


def test_a_static_route_is_of_the_topology_s_ranks() -> None:
    """Rank 0 of the schedule sits on rank 1, whose way to rank 2 leads round the ring."""
    place, schedule = ring(4, 64e9), build("direct", "send_recv", 4, 64, root=0, peer=1)
    around = StaticRoute(1, 2, [0, 3])
    network = Network(placement=[1, 2, 3, 0], routes=[around])
    assert crossed(lower(schedule, place, network), place) == [["1->0", "0->3", "3->2"]]
    with pytest.raises(ScheduleError, match="3 hops away; direct_links_only"):
        lower(schedule, place, Network(placement=[1, 2, 3, 0], routes=[around], direct_links_only=True))


def test_a_wrong_static_route_is_refused_though_nobody_takes_it() -> None:
    with pytest.raises(TopologyError, match="no link from 0 to 2") as caught:
        lower(build("ring", "allgather", 4, 64), ring(4, 64e9), Network(routes=[StaticRoute(0, 2)]))
    assert caught.value.at == ("routes", 0)


def test_one_flow_sprayed_takes_less_than_half() -> None:
    """Counted by hand in the library's one-flow-ecmp and one-flow-spray."""
    times = [
        run_simpy(lower(segments(4), FOUR_SPINES, Network("cut_through", "dataflow", routing=kind))).seconds
        for kind in ("ecmp", "spray")
    ]
    assert times == [642e-6, 282e-6]


def test_without_a_choice_all_routings_are_one() -> None:
    """On a full mesh every pair has one link, and a middle is farther: only valiant differs."""
    place, schedule = full_mesh(5, 64e9), build("direct", "all_to_all", 5, 1000)
    plans = {kind: lower(schedule, place, Network(routing=kind)) for kind in KINDS}
    for kind in ("ecmp", "spray"):
        np.testing.assert_array_equal(plans[kind].resource, plans["shortest"].resource)
    assert set(np.diff(plans["valiant"].hop_offset).tolist()) == {1, 2}


def test_wrong_routings() -> None:
    with pytest.raises(TopologyError, match=r'routing must be .* found "random"') as caught:
        Network(routing="random")  # type: ignore[arg-type]
    assert caught.value.at == ("routing",)
