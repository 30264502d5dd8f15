"""From schedule to plan: rounding, routes, dependencies, numbering, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan

import numpy as np
import pytest

from algorithms.assembly import assemble
from algorithms.collective import make_collective
from algorithms.compose import then
from algorithms.errors import ScheduleError
from algorithms.registry import build
from algorithms.schedule import COPY, REDUCE, Lists, Schedule
from simulator.engine.errors import PlanError
from simulator.engine.lower import lower
from simulator.engine.network import Network, Reduction, Sync
from simulator.engine.plan import LINK, NO_TRANSFER, REDUCER, START, Plan
from simulator.engine.simpy_engine import run_simpy
from tests.engine.schedule_examples import place_for, schedules
from topologies import CustomLink, CustomNodes, Topology, crossbar, custom, full_mesh, ring
from topologies.errors import TopologyError

SYNCS: tuple[Sync, ...] = ("step", "dataflow", "barrier")
every_sync = pytest.mark.parametrize("sync", SYNCS)
FEMTOSECOND = 1e-15


def message(size: int, ranks: int = 2) -> Schedule:
    """One message of that many bytes from rank 0 to the last rank."""
    whole = Lists(np.array([0, ranks]), np.arange(ranks))
    return assemble(make_collective("allreduce", ranks, size), [([0], [ranks - 1], whole, REDUCE)])


def line(ranks: int, bandwidths: Sequence[float], latency: float = 0.0) -> Topology:
    links = [CustomLink(i, i + 1, bandwidth, latency) for i, bandwidth in enumerate(bandwidths)]
    return custom(CustomNodes(ranks), links)


# Bytes to time


@pytest.mark.parametrize(("size", "expected"), [(1, 0), (3, 2), (5, 2), (7, 4)])
def test_half_a_femtosecond_goes_to_the_even_side(size: int, expected: int) -> None:
    # 2e15 bytes/s: half a femtosecond a byte
    assert lower(message(size), ring(2, bandwidth=2e15)).hold.tolist() == [expected]


def test_overhead_bytes_and_latency_are_rounded_each_before_they_are_added() -> None:
    # 0.4 fs each: the sum of all three would round to 1, the sum of two likewise
    topology = ring(2, bandwidth=2.5e15, latency=0.4 * FEMTOSECOND, overhead=0.4 * FEMTOSECOND)
    timeline = run_simpy(lower(message(1), topology))
    assert timeline.plan.hold.tolist() == [0]
    assert timeline.time == 0


def test_rounding_up_each_likewise() -> None:
    # 0.6 fs each make 1 + 1 + 1, where the sum of 1.8 would make 2
    topology = ring(2, bandwidth=1e15 / 0.6, latency=0.6 * FEMTOSECOND, overhead=0.6 * FEMTOSECOND)
    timeline = run_simpy(lower(message(1), topology))
    assert timeline.plan.hold.tolist() == [2]
    assert timeline.time == 3


def test_bytes_over_bandwidth_are_exact_before_they_are_rounded() -> None:
    # 2^50 - 1 bytes at 1e9 bytes/s are 1.1e21 / 1e6 fs: more digits than a float has
    sent = 2**50 - 1
    assert lower(message(sent), ring(2, bandwidth=1e12)).hold.tolist() == [sent * 1000]
    assert float(sent * 1000 + 1) == float(sent * 1000)


def test_every_size_and_every_link_has_its_own_hold() -> None:
    schedule = build("ring", "reduce_scatter", 3, 5)  # blocks of 2, 2 and 1 bytes
    links = [CustomLink(i, (i + 1) % 3, 1e15 / (i + 1), direction="one") for i in range(3)]
    plan = lower(schedule, custom(CustomNodes(3), links))
    # step 0: rank i sends chunk i - 1, which takes i + 1 fs a byte; step 1: chunk i - 2
    assert plan.hold.tolist() == [1 * 1, 2 * 2, 3 * 2, 1 * 2, 2 * 1, 3 * 2]


# Routes


def test_a_transfer_walks_its_links_and_then_the_reducer_of_its_destination() -> None:
    plan = lower(message(8, 4), line(4, [1e15, 2e15, 4e15]), reduction=Reduction(8e15))
    assert plan.resource.tolist() == [0, 2, 4, 6 + 3]
    assert plan.hold.tolist() == [8, 4, 2, 1]
    assert plan.head.tolist() == [False] * 4
    assert plan.resources.kind[plan.resource].tolist() == [LINK, LINK, LINK, REDUCER]
    assert plan.resources.which[plan.resource].tolist() == [0, 2, 4, 3]


@pytest.mark.parametrize("model", ["store_and_forward", "cut_through"])
@pytest.mark.parametrize("mode", ["after", "streamed"])
def test_the_model_says_how_links_are_entered_and_the_mode_how_the_reducer_is(model: str, mode: str) -> None:
    plan = lower(message(8, 3), line(3, [1e15, 1e15]), Network(model=model), Reduction(1e15, mode))  # type: ignore[arg-type]
    assert plan.head.tolist() == [False, model == "cut_through", mode == "streamed"]


def test_a_copy_is_not_reduced_and_without_reduction_nothing_is() -> None:
    gather = build("ring", "allgather", 4, 400)
    scatter = build("ring", "reduce_scatter", 4, 400)
    topology = ring(4, bandwidth=1e9)
    assert lower(gather, topology, reduction=Reduction(1e9)).hops == len(gather)
    assert lower(scatter, topology).hops == len(scatter)
    assert lower(scatter, topology, reduction=Reduction(1e9)).hops == 2 * len(scatter)


def test_placement_moves_links_and_reducers() -> None:
    schedule = assemble(make_collective("allreduce", 4, 4), [([0], [1], [[0, 1, 2, 3]], REDUCE)])
    topology = ring(4, bandwidth=1e9)
    plan = lower(schedule, topology, Network(placement=[2, 3, 1, 0]), Reduction(1e9))
    links = topology.links
    assert (links.src[plan.resource[0]], links.dst[plan.resource[0]]) == (2, 3)
    assert plan.resources.which[plan.resource[1]] == 3


def test_a_ring_is_a_ring_only_in_the_right_order() -> None:
    # turned by one it still is; with 1 and 2 exchanged it is not
    schedule = build("ring", "allgather", 4, 4000)
    topology = ring(4, bandwidth=1e9)
    straight = lower(schedule, topology, Network(placement=[1, 2, 3, 0]))
    crossed = lower(schedule, topology, Network(placement=[0, 2, 1, 3]))
    assert straight.hops == len(schedule)
    # 0->2 and 1->3 are two hops, 2->1 and 3->0 one, three times each
    assert crossed.hops == 3 * (2 + 1 + 2 + 1)


@pytest.mark.parametrize("placement", [[0, 1, 2], [0, 1, 2, 4], [0, 1, 2, 3, 4]])
def test_a_placement_names_every_rank_once(placement: list[int]) -> None:
    with pytest.raises(TopologyError, match="from 0 to 3 once") as caught:
        lower(build("ring", "allgather", 4, 4), ring(4, bandwidth=1e9), Network(placement=placement))
    assert caught.value.at == ("placement",)


def test_direct_links_only_names_the_first_transfer_that_hops() -> None:
    schedule = then(
        [build("ring", "reduce_scatter", 5, 500), build("direct", "allgather", 5, 500)],
        make_collective("allreduce", 5, 500),
    )
    with pytest.raises(ScheduleError) as caught:
        lower(schedule, ring(5, bandwidth=1e9), Network(direct_links_only=True))
    # step 4 is the direct AllGather's only one; in its second slot rank r sends to r + 2
    assert caught.value.message == (
        "step 4: rank 0 sends to rank 2, 2 hops away; direct_links_only forbids it"
    )
    assert (caught.value.step, caught.value.rank) == (4, 0)
    assert caught.value.at == ("direct_links_only",)


def test_direct_links_only_accepts_neighbours() -> None:
    schedule = build("ring", "allreduce", 5, 500)
    assert lower(schedule, ring(5, bandwidth=1e9), Network(direct_links_only=True)).hops == len(schedule)


def test_a_schedule_needs_a_topology_with_as_many_ranks() -> None:
    with pytest.raises(TopologyError, match="the schedule has 4 ranks, the topology 5"):
        lower(build("ring", "allgather", 4, 4), ring(5, bandwidth=1e9))


def test_a_transfer_needs_a_route() -> None:
    one_way = custom(CustomNodes(2), [CustomLink(0, 1, 1e9, direction="one")])
    with pytest.raises(TopologyError, match="no way from 1 to 0"):
        lower(build("ring", "allgather", 2, 4), one_way)


# Late ranks


def test_a_late_rank_is_an_operation_of_its_own_and_comes_first() -> None:
    plan = lower(
        build("ring", "reduce_scatter", 4, 400),
        ring(4, bandwidth=1e9),
        Network(placement=[3, 2, 1, 0]),
        delay={2: 3e-6, 0: 1e-6},
    )
    assert plan.transfer[:3].tolist() == [NO_TRANSFER, NO_TRANSFER, 0]
    assert plan.hold[:2].tolist() == [10**9, 3 * 10**9]
    assert plan.resources.kind[plan.resource[:2]].tolist() == [START, START]
    assert plan.resources.which[plan.resource[:2]].tolist() == [3, 1]


@pytest.mark.parametrize("rank", [-1, 4])
def test_there_must_be_such_a_rank_to_delay(rank: int) -> None:
    with pytest.raises(TopologyError, match=f"no rank {rank} to delay") as caught:
        lower(build("ring", "allgather", 4, 4), ring(4, bandwidth=1e9), delay={rank: 1e-6})
    assert caught.value.at == ("delay", rank)


@pytest.mark.parametrize("seconds", [-1e-6, inf, nan])
def test_a_delay_is_zero_or_more_and_finite(seconds: float) -> None:
    with pytest.raises(TopologyError, match="zero or more and finite") as caught:
        lower(build("ring", "allgather", 4, 4), ring(4, bandwidth=1e9), delay={1: seconds})
    assert caught.value.at == ("delay", 1)


# Dependencies, against the words of the contract transfer by transfer


def waits_by_step(s: Schedule) -> np.ndarray:
    """Its source and its destination have finished their earlier steps of that channel."""
    src, dst = s.src[:, None], s.dst[:, None]
    meet = (src == s.src) | (src == s.dst) | (dst == s.src) | (dst == s.dst)
    return meet & (s.channel[:, None] == s.channel)


def waits_by_dataflow(s: Schedule) -> np.ndarray:
    """Every earlier-step transfer that wrote its chunks at its source has finished."""
    moves = np.zeros((len(s), s.collective.chunks), dtype=bool)
    moves[s.moves()] = True
    return (s.src[:, None] == s.dst) & (moves @ moves.T)


def waits_by_barrier(s: Schedule) -> np.ndarray:
    """All ranks together."""
    return s.channel[:, None] == s.channel


WAITS = {"step": waits_by_step, "dataflow": waits_by_dataflow, "barrier": waits_by_barrier}
"""Whether transfer t waits for transfer u of an earlier step, as a matrix [t, u]."""


def held_back(s: Schedule, sync: Sync, rank: int) -> np.ndarray:
    """Whether a transfer that waits for nothing else waits for a late rank."""
    if sync == "barrier":
        return np.ones(len(s), dtype=bool)
    if sync == "dataflow":
        return s.src == rank
    return (s.src == rank) | (s.dst == rank)


def closure_by_words(s: Schedule, sync: Sync, late: Sequence[int] = ()) -> list[int]:
    """All that each transfer waits for in the end, as bits: first the late ranks, then the rows."""
    waits = WAITS[sync](s) & (s.step < s.step[:, None])
    starts = [held_back(s, sync, rank) for rank in late]
    every: list[int] = []
    for row in range(len(s)):
        mask = sum(1 << i for i, start in enumerate(starts) if start[row])
        for u in np.flatnonzero(waits[row]).tolist():
            mask |= every[u] | 1 << (len(late) + u)
        every.append(mask)
    return every


def closure_of_plan(plan: Plan, late: Sequence[int] = ()) -> list[int]:
    """The same, read off a plan through its joins."""
    joins = np.diff(plan.hop_offset) == 0
    every: list[int] = []
    # of what waits for an operation: the operation itself unless it is a join, and all that it waits for
    handed_on: list[int] = []
    for i, row in enumerate(plan.transfer.tolist()):
        awaited = plan.dependency[plan.dependency_offset[i] : plan.dependency_offset[i + 1]].tolist()
        assert all(a < i for a in awaited)
        assert len(set(awaited)) == len(awaited)
        mask = 0
        for a in awaited:
            mask |= handed_on[a]
        own = 0 if joins[i] else 1 << (i if i < len(late) else len(late) + row)
        handed_on.append(mask | own)
        if row != NO_TRANSFER:
            every.append(mask)
    return every


@pytest.mark.parametrize("late", [False, True])
@every_sync
def test_transfers_wait_for_exactly_what_the_words_say(sync: Sync, late: bool) -> None:
    for label, schedule in schedules().items():
        ranks = sorted({0, schedule.ranks // 2}) if late else []
        plan = lower(schedule, place_for(schedule), Network(sync=sync), delay=dict.fromkeys(ranks, 1e-6))
        assert closure_of_plan(plan, ranks) == closure_by_words(schedule, sync, ranks), label


@pytest.mark.parametrize(("narrow", "wide"), [("dataflow", "step"), ("step", "barrier")])
def test_each_kind_of_waiting_includes_the_one_before(narrow: Sync, wide: Sync) -> None:
    for label, schedule in schedules().items():
        few, many = closure_by_words(schedule, narrow, [0]), closure_by_words(schedule, wide, [0])
        assert all(a & b == a for a, b in zip(few, many, strict=True)), label


def joins_of(plan: Plan) -> list[tuple[int, int]]:
    """(operations awaited, operations waiting) of each join."""
    joins = np.flatnonzero((plan.transfer == NO_TRANSFER) & (np.diff(plan.hop_offset) == 0))
    waiting = np.bincount(plan.dependency, minlength=len(plan))
    return [(int(np.diff(plan.dependency_offset)[j]), int(waiting[j])) for j in joins]


@every_sync
def test_joins_stand_only_where_they_save_edges(sync: Sync) -> None:
    found = 0
    for label, schedule in schedules().items():
        plan = lower(schedule, place_for(schedule), Network(sync=sync))
        for awaited, waiting in joins_of(plan):
            assert awaited * waiting > awaited + waiting, label
            found += 1
    assert found


@every_sync
def test_direct_then_direct_has_no_cube_of_edges(sync: Sync) -> None:
    n = 64
    parts = [build("direct", "reduce_scatter", n, n), build("direct", "allgather", n, n)]
    schedule = then(parts, make_collective("allreduce", n, n))
    plan = lower(schedule, full_mesh(n, bandwidth=1e9), Network(sync=sync))
    # 2 N (N-1) transfers; a rank's join takes in its 2 (N-1) messages, and gives on to as many
    assert len(schedule) == 2 * n * (n - 1)
    assert len(plan.dependency) <= 4 * n * (n - 1)
    assert len(joins_of(plan)) == (1 if sync == "barrier" else n)


# Numbers of operations


@every_sync
def test_operations_stand_in_the_order_step_channel_slot_source(sync: Sync) -> None:
    for label, schedule in schedules().items():
        plan = lower(
            schedule,
            place_for(schedule),
            Network(sync=sync),
            delay={0: 1e-6},
        )
        rows = plan.transfer[plan.transfer != NO_TRANSFER]
        assert rows.tolist() == list(range(len(schedule))), label
        assert keys_of(plan, schedule) == sorted(keys_of(plan, schedule)), label


def keys_of(plan: Plan, schedule: Schedule) -> list[tuple[int, int, int]]:
    """(step, channel, 0) of a transfer; a join is the last (1) where the latest that it awaits is."""
    keys: list[tuple[int, int, int]] = []
    for i, row in enumerate(plan.transfer.tolist()):
        if row != NO_TRANSFER:
            keys.append((int(schedule.step[row]), int(schedule.channel[row]), 0))
        else:
            awaited = plan.dependency[plan.dependency_offset[i] : plan.dependency_offset[i + 1]]
            last = max((keys[a] for a in awaited.tolist()), default=(-1, -1, 0))
            keys.append((last[0], last[1], 1))
    return keys


def test_slots_are_a_source_s_transfers_in_yield_order() -> None:
    whole = [[0, 1, 2]] * 4
    step = ([2, 0, 0, 2], [0, 2, 1, 1], whole, REDUCE)
    schedule = assemble(make_collective("allreduce", 3, 3), [step])
    assert list(zip(schedule.src.tolist(), schedule.dst.tolist(), strict=True)) == [
        (0, 2),
        (2, 0),
        (0, 1),
        (2, 1),
    ]
    plan = lower(schedule, full_mesh(3, bandwidth=1e9))
    assert plan.transfer.tolist() == [0, 1, 2, 3]


# Longer than the clock


def test_a_chain_past_two_and_a_half_hours_is_refused() -> None:
    # three steps of 3001 s of latency; no link is held for long
    with pytest.raises(PlanError, match=r"2\.5 hours"):
        lower(build("ring", "reduce_scatter", 4, 4), ring(4, bandwidth=1e9, latency=3001))


def test_a_resource_held_past_two_and_a_half_hours_is_refused() -> None:
    # the longest chain is one message over two links, 2 x 2000 s; an up link carries seven
    with pytest.raises(PlanError, match=r"2\.5 hours"):
        lower(build("direct", "reduce_scatter", 8, 8), crossbar(8, bandwidth=1e9, overhead=2000))


def test_a_long_sum_of_short_chains_is_accepted() -> None:
    # 56 messages of 1000 s, seven after each other
    timeline = run_simpy(lower(build("ring", "reduce_scatter", 8, 8000), ring(8, bandwidth=1)))
    assert timeline.time == 7000 * 10**15


def test_under_cut_through_a_chain_counts_its_hops_once() -> None:
    # eight hops of 2000 s each, all at once or one after the other
    topology = line(9, [1.0] * 8)
    assert run_simpy(lower(message(2000, 9), topology, Network(model="cut_through"))).time == 2 * 10**18
    with pytest.raises(PlanError, match=r"2\.5 hours"):
        lower(message(2000, 9), topology)


@pytest.mark.parametrize("wire", [{"overhead": 1e4}, {"latency": 1e9}, {"overhead": 8900, "bandwidth": 1e-3}])
def test_times_that_64_bits_cannot_hold_are_refused_too(wire: dict[str, float]) -> None:
    with pytest.raises(PlanError, match=r"2\.5 hours"):
        lower(build("ring", "reduce_scatter", 2, 16), ring(2, **{"bandwidth": 1e9, **wire}))


def test_so_is_a_delay_or_a_reduction() -> None:
    schedule, topology = build("ring", "reduce_scatter", 2, 16), ring(2, bandwidth=1e9)
    with pytest.raises(PlanError, match=r"2\.5 hours"):
        lower(schedule, topology, delay={0: 1e9})
    with pytest.raises(PlanError, match=r"2\.5 hours"):
        lower(schedule, topology, reduction=Reduction(1e-12))


def test_a_link_or_reducer_that_nobody_uses_may_be_as_slow_as_it_likes() -> None:
    schedule = build("ring", "allgather", 3, 3000)
    links = [CustomLink(i, (i + 1) % 3, 1e9, direction="one") for i in range(3)]
    links.append(CustomLink(1, 0, 1e-9, latency=1e9, overhead=1e9, direction="one"))
    timeline = run_simpy(lower(schedule, custom(CustomNodes(3), links), None, Reduction(1e-12)))
    assert timeline.time == 2 * 10**9


@every_sync
def test_one_rank_has_nothing_to_do(sync: Sync) -> None:
    schedule = build("ring", "allreduce", 1, 100)
    assert len(lower(schedule, ring(1, bandwidth=1e9), Network(sync=sync))) == 0
    late = run_simpy(lower(schedule, ring(1, bandwidth=1e9), Network(sync=sync), None, {0: 1e-6}))
    assert late.time == 10**9


def test_copies_need_no_reducer_beside_those_that_reduce() -> None:
    step = [([0], [1], [[0, 1]], REDUCE), ([1], [0], [[0, 1]], COPY)]
    schedule = assemble(make_collective("allreduce", 2, 2), [step])
    plan = lower(schedule, ring(2, bandwidth=1e9), reduction=Reduction(1e9))
    assert np.diff(plan.hop_offset).tolist() == [2, 1]
