"""Plans small enough to run with pencil and paper; every expected number comes from the contract.

Stamps are (arrival, grant, release), in femtoseconds, of every hop in turn.
"""

from __future__ import annotations

import numpy as np
import pytest

from algorithms.assembly import assemble
from algorithms.collective import make_collective
from algorithms.registry import build
from algorithms.schedule import REDUCE
from simulator.engine.errors import PlanError
from simulator.engine.lower import lower
from simulator.engine.network import Network
from simulator.engine.simpy_engine import run_simpy
from tests.engine.plan_builder import Hop, Operation, plan_of, run, stamps
from topologies import crossbar, ring

MICROSECOND = 10**9
CUT_THROUGH = Network(model="cut_through")


def head(resource: int, hold: int) -> Hop:
    return Hop(resource, hold, head=True)


# Queues


def test_two_flows_on_one_link_take_turns() -> None:
    flow = Operation([Hop(0, 10)])
    assert run([flow, flow], [3]) == [(0, 0, 10), (0, 10, 20)]


def test_latency_is_pipelined() -> None:
    # the link is free at 10 though the first message is under way until 13
    timeline = run_simpy(plan_of([Operation([Hop(0, 10)])] * 2, [3]))
    assert timeline.time == 23


def test_a_flow_through_two_queues() -> None:
    operations = [
        Operation([Hop(0, 5), Hop(1, 4)]),
        Operation([Hop(1, 10)]),
        Operation([Hop(0, 5), Hop(1, 1)]),
    ]
    assert run(operations, [1, 2]) == [
        (0, 0, 5),
        (6, 10, 14),  # the second queue is busy with operation 1
        (0, 0, 10),
        (0, 5, 10),  # the first queue is busy with operation 0
        (11, 14, 15),
    ]


def test_a_resource_released_now_is_free_now() -> None:
    operations = [Operation([Hop(0, 5)]), Operation([Hop(1, 5), Hop(0, 1)])]
    assert run(operations, [0, 0]) == [(0, 0, 5), (0, 0, 5), (5, 5, 6)]


def test_an_idle_resource_waits_for_its_next_user() -> None:
    operations = [Operation([Hop(0, 2)]), Operation([Hop(1, 7), Hop(0, 2)])]
    assert run(operations, [0, 0])[-1] == (7, 7, 9)


# Ties


def test_of_equal_arrivals_the_lower_operation_goes_first() -> None:
    operations = [
        Operation([Hop(0, 5)]),
        Operation([Hop(1, 2), Hop(0, 1)]),
        Operation([Hop(2, 2), Hop(0, 1)]),
    ]
    assert run(operations, [0, 0, 0]) == [(0, 0, 5), (0, 0, 2), (2, 5, 6), (0, 0, 2), (2, 6, 7)]


def test_an_earlier_arrival_goes_before_a_lower_operation() -> None:
    operations = [
        Operation([Hop(0, 5)]),
        Operation([Hop(1, 3), Hop(0, 1)]),
        Operation([Hop(2, 2), Hop(0, 1)]),
    ]
    assert run(operations, [0, 0, 0]) == [(0, 0, 5), (0, 0, 3), (3, 6, 7), (0, 0, 2), (2, 5, 6)]


def test_all_that_one_finish_releases_arrive_together() -> None:
    operations = [
        Operation([Hop(0, 5)]),
        Operation([Hop(1, 1)], after=[0]),
        Operation([Hop(1, 1)], after=[0]),
    ]
    assert run(operations, [2, 0]) == [(0, 0, 5), (7, 7, 8), (7, 8, 9)]


# Rounds: what a grant causes at the same instant belongs to the next round


def test_a_link_reached_in_the_second_round_was_given_away_in_the_first() -> None:
    # both reach resource 0 at instant 0, but operation 0 only once resource 1 has granted it;
    # granting link by link, resource 1 first, would let operation 0 through
    operations = [Operation([Hop(1, 0), Hop(0, 5)]), Operation([Hop(0, 5)])]
    assert run(operations, [0, 0]) == [(0, 0, 0), (0, 5, 10), (0, 0, 5)]


def test_the_round_counts_even_where_the_numbers_of_the_links_are_swapped() -> None:
    operations = [Operation([Hop(0, 0), Hop(1, 5)]), Operation([Hop(1, 5)])]
    assert run(operations, [0, 0]) == [(0, 0, 0), (0, 5, 10), (0, 0, 5)]


def test_a_resource_grants_one_waiter_a_round() -> None:
    # a link that let all its zero holds through at once would grant operation 2 before 1 arrives
    operations = [Operation([Hop(0, 0)]), Operation([Hop(0, 5)], after=[0]), Operation([Hop(0, 0)])]
    assert run(operations, [0]) == [(0, 0, 0), (0, 0, 5), (0, 5, 5)]


def test_what_waits_on_a_zero_hold_is_later_than_what_waits_already() -> None:
    # round 1: operation 0; round 2: operation 1, for it is the lower; round 3: operation 2
    operations = [Operation([Hop(0, 0)]), Operation([Hop(0, 0)]), Operation([Hop(0, 4)], after=[0])]
    assert run(operations, [0]) == [(0, 0, 0), (0, 0, 0), (0, 0, 4)]


def test_three_rounds_against_two() -> None:
    # operation 1 is at resource 2 in the second round, operation 0 in the third
    operations = [Operation([Hop(0, 0), Hop(1, 0), Hop(2, 4)]), Operation([Hop(1, 0), Hop(2, 4)])]
    assert run(operations, [0, 0, 0]) == [(0, 0, 0), (0, 0, 0), (0, 4, 8), (0, 0, 0), (0, 0, 4)]


def test_a_link_asked_again_in_its_own_round_still_waits_for_the_round_to_end() -> None:
    # round 1: resource 0 grants operation 0 and has 2 waiting; resource 1 sends operation 1 there.
    # round 2 sees both, and the lower goes first
    operations = [Operation([Hop(0, 0)]), Operation([Hop(1, 0), Hop(0, 5)]), Operation([Hop(0, 5)])]
    assert run(operations, [0, 0]) == [(0, 0, 0), (0, 0, 0), (0, 0, 5), (0, 5, 10)]


def test_rounds_begin_anew_at_every_instant() -> None:
    # as above, but at instant 7
    gate = Operation([Hop(3, 7)])
    operations = [
        gate,
        Operation([Hop(0, 0), Hop(1, 0), Hop(2, 4)], after=[0]),
        Operation([Hop(1, 0), Hop(2, 4)], after=[0]),
    ]
    assert run(operations, [0] * 4) == [
        (0, 0, 7),
        (7, 7, 7),
        (7, 7, 7),
        (7, 11, 15),
        (7, 7, 7),
        (7, 7, 11),
    ]


def test_what_is_due_now_settles_before_anything_is_granted() -> None:
    # operation 1 reaches resource 0 at 3 by a latency, operation 2 by a release: one round sees both
    operations = [
        Operation([Hop(2, 3)]),
        Operation([Hop(0, 1)], after=[0]),
        Operation([Hop(1, 1), Hop(0, 1)]),
    ]
    assert run(operations, [0, 2, 0]) == [(0, 0, 3), (3, 3, 4), (0, 0, 1), (3, 4, 5)]


def test_a_walk_without_holds_and_latencies_takes_no_time() -> None:
    timeline = run_simpy(plan_of([Operation([Hop(0, 0), Hop(1, 0), Hop(0, 0)])], [0, 0]))
    assert stamps(timeline) == [(0, 0, 0)] * 3
    assert timeline.time == 0


# Head and tail


@pytest.mark.parametrize(
    ("hops", "expected"),
    [
        pytest.param([Hop(0, 10)], [(0, 0, 10)], id="one hop"),
        pytest.param([Hop(0, 10), Hop(1, 4)], [(0, 0, 10), (11, 11, 15)], id="tail"),
        pytest.param([Hop(0, 10), head(1, 4)], [(0, 0, 10), (1, 1, 11)], id="head, then faster"),
        pytest.param([Hop(0, 4), head(1, 10)], [(0, 0, 4), (1, 1, 11)], id="head, then slower"),
        pytest.param(
            [Hop(0, 10), Hop(1, 4), Hop(2, 7)],
            [(0, 0, 10), (11, 11, 15), (17, 17, 24)],
            id="tail, tail",
        ),
        # 11 = 10 + 1, the tail of the first; 13 = 11 + 2, the tail of the second
        pytest.param(
            [Hop(0, 10), head(1, 4), head(2, 7)],
            [(0, 0, 10), (1, 1, 11), (3, 3, 13)],
            id="head, head, slowest first",
        ),
        pytest.param(
            [Hop(0, 4), head(1, 7), head(2, 10)],
            [(0, 0, 4), (1, 1, 8), (3, 3, 13)],
            id="head, head, slowest last",
        ),
        pytest.param(
            [Hop(0, 4), head(1, 10), head(2, 7)],
            [(0, 0, 4), (1, 1, 11), (3, 3, 13)],
            id="head, head, slowest between",
        ),
        pytest.param(
            [Hop(0, 10), head(1, 4), Hop(2, 7)],
            [(0, 0, 10), (1, 1, 11), (13, 13, 20)],
            id="head, tail",
        ),
        pytest.param(
            [Hop(0, 10), Hop(1, 4), head(2, 7)],
            [(0, 0, 10), (11, 11, 15), (13, 13, 20)],
            id="tail, head",
        ),
    ],
)
def test_entry_by_the_head_and_by_the_tail(hops: list[Hop], expected: list[tuple[int, int, int]]) -> None:
    timeline = run_simpy(plan_of([Operation(hops)], [1, 2, 3]))
    assert stamps(timeline) == expected
    assert timeline.time == expected[-1][2] + len(hops)  # the latencies are 1, 2, 3


def test_a_head_waits_at_a_busy_hop_and_does_not_hold_the_hop_before() -> None:
    operations = [
        Operation([Hop(1, 20)]),
        Operation([Hop(0, 10), head(1, 10)]),
        Operation([Hop(0, 5)]),
    ]
    assert run(operations, [1, 1]) == [(0, 0, 20), (0, 0, 10), (1, 20, 30), (0, 10, 15)]


def test_a_head_granted_late_is_not_held_up_by_its_own_tail() -> None:
    # granted at 8, the tail is through at 11, and the hold of 2 is over before
    operations = [Operation([Hop(1, 8)]), Operation([Hop(0, 10), head(1, 2)])]
    assert run(operations, [1, 0]) == [(0, 0, 8), (0, 0, 10), (1, 8, 11)]


# Dependencies, joins


def test_an_operation_starts_when_the_last_of_what_it_awaits_has_arrived() -> None:
    operations = [Operation([Hop(0, 4)]), Operation([Hop(1, 2)]), Operation([Hop(1, 1)], after=[0, 1])]
    assert run(operations, [5, 1])[-1] == (9, 9, 10)  # 4 + 5, not 2 + 1


def test_a_join_takes_no_time_and_no_round() -> None:
    # operation 2 waits through a join on operation 0, yet is there for the second round
    operations = [
        Operation([Hop(0, 0)]),
        Operation(after=[0]),
        Operation([Hop(0, 3)], after=[1]),
        Operation([Hop(0, 0)]),
    ]
    assert run(operations, [0]) == [(0, 0, 0), (0, 0, 3), (0, 3, 3)]


def test_joins_after_joins_and_joins_after_nothing() -> None:
    operations = [
        Operation(),
        Operation([Hop(0, 2)], after=[0]),
        Operation(after=[1]),
        Operation(after=[0, 2]),
        Operation([Hop(0, 2)], after=[3]),
    ]
    assert run(operations, [1]) == [(0, 0, 2), (3, 3, 5)]


def test_an_empty_plan_and_one_of_joins_only_take_no_time() -> None:
    assert run_simpy(plan_of([], [])).time == 0
    assert run_simpy(plan_of([Operation(), Operation(after=[0])], [5])).time == 0


def test_the_engine_stops_past_two_and_a_half_hours() -> None:
    flow = Operation([Hop(0, 5 * 10**18)])
    with pytest.raises(PlanError, match=r"2\.5 hours"):
        run_simpy(plan_of([flow, flow], [0]))


def test_progress_tells_the_first_and_the_last_hop() -> None:
    seen: list[tuple[int, int]] = []
    operations = [Operation([Hop(0, 1), Hop(1, 1)]), Operation([Hop(0, 1)])]
    run_simpy(plan_of(operations, [0, 0]), lambda done, hops: seen.append((done, hops)))
    assert seen == [(1, 3), (3, 3)]


# Messages


def test_a_message_without_bytes_holds_its_link_for_the_overhead() -> None:
    schedule = build("ring", "allgather", 2, 0)
    timeline = run_simpy(lower(schedule, ring(2, bandwidth=1e9, latency=2e-6, overhead=1e-6)))
    assert stamps(timeline) == [(0, 0, MICROSECOND)] * 2
    assert timeline.time == 3 * MICROSECOND


def test_without_overhead_it_does_not_hold_it_at_all() -> None:
    schedule = build("ring", "allgather", 3, 0)
    timeline = run_simpy(lower(schedule, ring(3, bandwidth=1e9, latency=2e-6)))
    at = [0] * 3 + [2 * MICROSECOND] * 3
    assert stamps(timeline) == [(t, t, t) for t in at]
    assert timeline.time == 4 * MICROSECOND


def test_overhead_holds_the_link_before_the_bytes() -> None:
    # 1 us + 3000 B / 1 GB/s = 4 us a message, two of them in a row, then 2 us of latency
    schedule = assemble(make_collective("allreduce", 2, 3000), [([0, 0], [1, 1], [[0, 1], [0, 1]], REDUCE)])
    timeline = run_simpy(lower(schedule, ring(2, bandwidth=1e9, latency=2e-6, overhead=1e-6)))
    assert stamps(timeline) == [(0, 0, 4 * MICROSECOND), (0, 4 * MICROSECOND, 8 * MICROSECOND)]
    assert timeline.time == 10 * MICROSECOND


@pytest.fixture
def busy_receiver() -> list[tuple[int, int, int]]:
    """0 and 1 send 3000 B to 2, then 0 sends to 3, on a crossbar with alpha = 1 us of overhead."""
    chunks = np.arange(4)
    step = ([0, 1, 0], [2, 2, 3], np.stack([chunks] * 3), REDUCE)
    schedule = assemble(make_collective("allreduce", 4, 3000), [step])
    machine = crossbar(4, bandwidth=1e9, overhead=1e-6)
    return stamps(run_simpy(lower(schedule, machine, CUT_THROUGH)))


def test_a_busy_receiver_takes_one_message_after_the_other(busy_receiver: list[tuple[int, int, int]]) -> None:
    once = 4 * MICROSECOND  # alpha + S/b
    assert busy_receiver[:2] == [(0, 0, once), (0, 0, once)]
    assert busy_receiver[2:4] == [(0, 0, once), (0, once, 2 * once)]


def test_a_busy_receiver_does_not_hold_the_sender(busy_receiver: list[tuple[int, int, int]]) -> None:
    once = 4 * MICROSECOND
    assert busy_receiver[4:] == [(0, once, 2 * once), (once, once, 2 * once)]


def test_the_second_sender_is_free_though_its_message_still_waits() -> None:
    # as above, but it is rank 1, whose message to 2 waits, that sends on
    chunks = np.arange(4)
    step = ([0, 1, 1], [2, 2, 3], np.stack([chunks] * 3), REDUCE)
    schedule = assemble(make_collective("allreduce", 4, 3000), [step])
    timeline = run_simpy(lower(schedule, crossbar(4, bandwidth=1e9, overhead=1e-6), CUT_THROUGH))
    once = 4 * MICROSECOND
    assert stamps(timeline)[4:] == [(0, once, 2 * once), (once, once, 2 * once)]
    assert timeline.time == 2 * once
