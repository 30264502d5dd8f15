"""Use of the links, against counts by hand."""

from __future__ import annotations

import pytest

from algorithms.assembly import assemble
from algorithms.collective import make_collective
from algorithms.registry import build
from algorithms.schedule import REDUCE, Schedule
from simulator.engine.analysis import LinkUse, link_use
from simulator.engine.lower import lower
from simulator.engine.network import Network, Reduction, Sync
from simulator.engine.simpy_engine import run_simpy
from topologies import CustomLink, CustomNodes, Topology, crossbar, custom, ring

MICROSECOND = 10**9


def used(
    schedule: Schedule,
    topology: Topology,
    network: Network | None = None,
    delay: dict[int, float] | None = None,
) -> LinkUse:
    plan = lower(schedule, topology, network, Reduction(1e9), delay)
    return link_use(run_simpy(plan), schedule)


def test_a_ring_uses_its_links_to_the_right() -> None:
    topology = ring(4, bandwidth=1e9, latency=1e-6, overhead=2e-6)
    use = used(build("ring", "allreduce", 4, 4000), topology)
    right = topology.links.dst == (topology.links.src + 1) % 4
    # 6 messages of 1000 B cross each, and hold it for 2 us + 1 us
    assert use.bytes.tolist() == [6000 * r for r in right.tolist()]
    assert use.busy.tolist() == [18 * MICROSECOND * r for r in right.tolist()]


@pytest.mark.parametrize("sync", ["step", "barrier", "dataflow"])
def test_joins_late_ranks_and_reducers_use_no_link(sync: Sync) -> None:
    # 7 messages of 1000 B up and 7 down for each rank, store and forward
    use = used(
        build("direct", "reduce_scatter", 8, 8000),
        crossbar(8, bandwidth=1e9),
        Network(sync=sync),
        delay={0: 1e-6, 5: 2e-6},
    )
    assert use.bytes.tolist() == [7000] * 16
    assert use.busy.tolist() == [7 * MICROSECOND] * 16


def test_a_message_counts_on_every_link_of_its_way() -> None:
    # a line of three with a slow second link: 0->2 (3 B) and 2->0 (3 B) take two hops, 0->1 (3 B) one
    links = [CustomLink(0, 1, 1e15), CustomLink(1, 2, 0.5e15)]
    topology = custom(CustomNodes(3), links)
    step = ([0, 2, 0], [2, 0, 1], [[0, 1, 2]] * 3, REDUCE)
    schedule = assemble(make_collective("allreduce", 3, 3), [step])
    use = used(schedule, topology)
    ends = list(zip(topology.links.src.tolist(), topology.links.dst.tolist(), strict=True))
    assert dict(zip(ends, use.bytes.tolist(), strict=True)) == {(0, 1): 6, (1, 2): 3, (2, 1): 3, (1, 0): 3}
    assert dict(zip(ends, use.busy.tolist(), strict=True)) == {(0, 1): 6, (1, 2): 6, (2, 1): 6, (1, 0): 3}


def test_under_cut_through_a_fast_link_is_busy_until_the_slow_one_s_tail() -> None:
    links = [CustomLink(0, 1, 0.5e15), CustomLink(1, 2, 1e15)]
    topology = custom(CustomNodes(3), links)
    step = ([0], [2], [[0, 1, 2]], REDUCE)
    schedule = assemble(make_collective("allreduce", 3, 3), [step])
    use = used(schedule, topology, Network(model="cut_through"))
    assert sorted(use.busy.tolist()) == [0, 0, 6, 6]
    assert sorted(use.bytes.tolist()) == [0, 0, 3, 3]


def test_nothing_moves_and_no_link_is_used() -> None:
    use = used(build("ring", "allreduce", 4, 0), ring(4, bandwidth=1e9))
    assert use.bytes.tolist() == use.busy.tolist() == [0] * 8
