"""What the kinds of synchronisation, the modes of reduction and the network's models do to time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from algorithms.assembly import assemble
from algorithms.collective import make_collective
from algorithms.registry import ALGORITHMS, build
from algorithms.schedule import REDUCE, Lists, Schedule
from simulator.engine.lower import lower
from simulator.engine.network import Model, Network, Reduction, Sync
from simulator.engine.simpy_engine import run_simpy
from tests.engine.plan_builder import stamps
from tests.engine.schedule_examples import options_of
from topologies import CustomLink, CustomNodes, Topology, crossbar, custom, full_mesh, ring

MICROSECOND = 10**9
SYNCS: tuple[Sync, ...] = ("dataflow", "step", "barrier")
THREE = ("reduce_scatter", "allgather", "allreduce")
ALIKE = ("ring", "direct", "hybrid", "hierarchical")
"""Algorithms of which every rank has its blocks just when its step begins, on their ideal topology."""


def ideal(name: str, ranks: int) -> Topology:
    kind = ALGORITHMS[name].ideal
    if kind == "switch":
        return crossbar(ranks, bandwidth=64e9, latency=1e-6, switch="reduces")
    shape = ring if kind == "ring" else full_mesh
    return shape(ranks, bandwidth=64e9, latency=1e-6)


def time_of(
    schedule: Schedule, topology: Topology, network: Network, reduction: Reduction | None = None
) -> int:
    return run_simpy(lower(schedule, topology, network, reduction)).time


def times_of(name: str, kind: str, ranks: int, size: int, options: dict[str, Any]) -> list[int]:
    """Under dataflow, step and barrier, with and without reduction."""
    schedule = build(name, kind, ranks, 0 if kind == "barrier" else size, **options)
    topology = ideal(name, ranks)
    return [
        time_of(schedule, topology, Network(sync=sync), reduction)
        for reduction in (None, Reduction(128e9))
        for sync in SYNCS
    ]


ALONE = [
    pytest.param(name, kind, id=f"{name}-{kind}")
    for name in (*ALIKE, "bidirectional_ring", "recursive_halving", "recursive_doubling", "rabenseifner")
    for kind in ALGORITHMS[name].collectives
    if kind in THREE and (name, kind) != ("recursive_doubling", "reduce_scatter")
]
"""Algorithms of which no two messages meet on a link or in a reducer, on their ideal topology."""


@pytest.mark.parametrize(("name", "kind"), ALONE)
def test_on_its_ideal_topology_waiting_for_less_is_never_slower(name: str, kind: str) -> None:
    # there is no queue to lose a place in
    for ranks in range(2, 10):
        for options in options_of(name, ranks):
            free_flow, free_step, free_barrier, flow, step, barrier = times_of(
                name, kind, ranks, 65536 * ranks, options
            )
            assert free_flow <= free_step <= free_barrier
            assert flow <= step <= barrier


@pytest.mark.parametrize(("name", "kind"), [case for case in ALONE if case.values[0] in ALIKE])
def test_where_all_ranks_do_the_same_it_makes_no_difference(name: str, kind: str) -> None:
    for ranks in range(2, 10):
        for options in options_of(name, ranks):
            times = times_of(name, kind, ranks, 65536 * ranks, options)
            assert len(set(times[:3])) == len(set(times[3:])) == 1


def test_a_folded_halving_is_faster_under_dataflow() -> None:
    # three ranks, blocks of 1 us, latency 1 us. By step: 0 hands 3 blocks to 1 (4 us), 1 and 2 exchange
    # 2 blocks against 1 (3 us), 1 hands 1 block back to 0 (2 us). By dataflow rank 2 sends at once, so
    # that the blocks for 0 and for 2 both leave rank 1 at 4 us
    schedule = build("recursive_halving", "reduce_scatter", 3, 3000)
    topology = full_mesh(3, bandwidth=1e9, latency=1e-6)
    times = [time_of(schedule, topology, Network(sync=sync)) for sync in SYNCS]
    assert times == [6 * MICROSECOND, 9 * MICROSECOND, 9 * MICROSECOND]


# Late ranks


@pytest.mark.parametrize("sync", ["step", "barrier"])
def test_a_late_rank_holds_the_ring_up_for_as_long_as_it_is_late(sync: Sync) -> None:
    # three steps of 1 us + 1000 B / 1 GB/s; ranks 2, 3 and 0 wait for rank 3 in the first of them
    schedule = build("ring", "reduce_scatter", 4, 4000)
    topology = ring(4, bandwidth=1e9, latency=1e-6)
    timeline = run_simpy(lower(schedule, topology, Network(sync=sync), delay={3: 10e-6}))
    assert timeline.time == (10 + 3 * 2) * MICROSECOND
    first = [0, 0, 10, 10] if sync == "step" else [10] * 4
    # the hop of the delay itself comes first; then four transfers a step
    grants = [time // MICROSECOND for time in timeline.grant.tolist()[1:]]
    assert grants == [*first, *[12] * 4, *[14] * 4]


def test_by_dataflow_a_late_rank_holds_up_only_what_it_sends() -> None:
    schedule = build("ring", "reduce_scatter", 4, 4000)
    topology = ring(4, bandwidth=1e9, latency=1e-6)
    timeline = run_simpy(lower(schedule, topology, Network(sync="dataflow"), delay={3: 10e-6}))
    grants = [time // MICROSECOND for time in timeline.grant.tolist()[1:]]
    # rank 3 has all that it forwards by then, and its link takes the three messages 1 us apart;
    # rank 1's last chunk has gone 3->0 (10 to 12), 0->1 (to 14), 1->2 (to 16)
    assert grants == [*(0, 0, 0, 10), *(12, 2, 2, 11), *(13, 14, 4, 12)]
    assert timeline.time == 16 * MICROSECOND


def test_who_is_late_after_all_is_done_ends_it() -> None:
    schedule = build("ring", "allgather", 1, 10)
    assert run_simpy(lower(schedule, ring(1, bandwidth=1e9), delay={0: 5e-6})).time == 5 * MICROSECOND


# Reduction


def one_message(ranks: int = 2) -> Schedule:
    """3000 bytes from rank 0 to the last rank."""
    whole = Lists(np.array([0, ranks]), np.arange(ranks))
    return assemble(make_collective("allreduce", ranks, 3000), [([0], [ranks - 1], whole, REDUCE)])


@pytest.mark.parametrize(
    ("gamma", "mode", "expected"),
    [
        (None, "after", 2 + 1 + 3),
        (3e9, "after", 2 + 1 + 3 + 1),
        (0.5e9, "after", 2 + 1 + 3 + 6),
        # latency + max(overhead + S/beta, S/gamma)
        (3e9, "streamed", 2 + max(1 + 3, 1)),
        (0.75e9, "streamed", 2 + max(1 + 3, 4)),
        (0.5e9, "streamed", 2 + max(1 + 3, 6)),
    ],
)
def test_one_message_reduced(gamma: float | None, mode: Any, expected: int) -> None:
    # latency 2 us, overhead 1 us, 3000 B at 1 GB/s
    topology = ring(2, bandwidth=1e9, latency=2e-6, overhead=1e-6)
    reduction = None if gamma is None else Reduction(gamma, mode)
    assert time_of(one_message(), topology, Network(), reduction) == expected * MICROSECOND


def test_without_a_reducer_reducing_is_free() -> None:
    # three steps of 1 us + 1 us, and with gamma = 2 GB/s half a microsecond more in each
    schedule = build("ring", "reduce_scatter", 4, 4000)
    topology = ring(4, bandwidth=1e9, latency=1e-6)
    assert time_of(schedule, topology, Network()) == 3 * 2 * MICROSECOND
    assert time_of(schedule, topology, Network(), Reduction(2e9)) == 3 * 5 * MICROSECOND // 2


def test_a_rank_reduces_one_message_after_the_other() -> None:
    # both arrive at 1 us; the reducer takes 2 us for each
    schedule = assemble(
        make_collective("allreduce", 3, 1000), [([0, 1], [2, 2], [[0, 1, 2], [0, 1, 2]], REDUCE)]
    )
    timeline = run_simpy(lower(schedule, full_mesh(3, bandwidth=1e9), None, Reduction(0.5e9)))
    us = MICROSECOND
    assert stamps(timeline) == [(0, 0, us), (us, us, 3 * us), (0, 0, us), (us, 3 * us, 5 * us)]


def test_a_transfer_has_finished_only_when_it_is_reduced() -> None:
    # ring of two: 1 us on the wire, 4 us of reduction, then the AllGather's 1 us
    schedule = build("ring", "allreduce", 2, 2000)
    topology = ring(2, bandwidth=1e9)
    for sync in SYNCS:
        assert time_of(schedule, topology, Network(sync=sync), Reduction(0.25e9)) == 6 * MICROSECOND


# Models


def line(ranks: int) -> Topology:
    links = [CustomLink(i, i + 1, 1e9, 2e-6) for i in range(ranks - 1)]
    return custom(CustomNodes(ranks), links)


@pytest.mark.parametrize("hops", range(1, 6))
def test_cut_through_saves_the_bytes_on_all_hops_but_one(hops: int) -> None:
    # S/b = 3 us, latency 2 us a hop
    expected: dict[Model, int] = {"store_and_forward": hops * (3 + 2), "cut_through": hops * 2 + 3}
    for model, time in expected.items():
        found = time_of(one_message(hops + 1), line(hops + 1), Network(model=model))
        assert found == time * MICROSECOND
    assert expected["store_and_forward"] - expected["cut_through"] == (hops - 1) * 3


def test_streamed_after_cut_through_waits_for_the_last_link_s_tail() -> None:
    # the head is at the reducer after 2 x 2 us, the tail 3 us later; reducing takes 1 us
    network = Network(model="cut_through")
    assert time_of(one_message(3), line(3), network, Reduction(3e9, "streamed")) == 7 * MICROSECOND
    assert time_of(one_message(3), line(3), network, Reduction(3e9, "after")) == 8 * MICROSECOND
