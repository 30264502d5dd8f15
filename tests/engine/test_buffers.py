"""Finite buffers and what they hold back; every expected time is counted by hand, in nanoseconds."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from algorithms.registry import build
from algorithms.schedule import Schedule
from simulator.engine import compiled_buffers
from simulator.engine.engines import run_plan
from simulator.engine.errors import PlanError
from simulator.engine.lower import lower
from simulator.engine.network import Endpoint, Network, Reduction
from simulator.engine.timeline import Timeline
from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.load import loads
from simulator.scenario.run import run
from tests.engine.flights import BANDWIDTH, NANOSECOND, Flight, both, chain, flights, fly, nanoseconds
from tests.engine.path_check import check_path
from topologies import Topology, crossbar, ring, torus
from topologies.errors import TopologyError

L = 10
BUSY: Flight = (2, 3, 5000)
"""What keeps the last link of a chain of four until 5000."""


def buffers(room: int, **more: Any) -> Network:
    return Network(buffers=room, **{"model": "cut_through", **more})


def one_way(ranks: int) -> Topology:
    return ring(ranks, BANDWIDTH, L * 1e-9, direction="one")


def around(ranks: int, size: int) -> Schedule:
    """Everybody sends to the rank behind it, all the way round."""
    return flights(ranks, [(r, (r - 1) % ranks, size) for r in range(ranks)])


def released(timeline: Timeline, transfer: int) -> list[float]:
    """When each hop of a transfer is released."""
    own = timeline.plan.transfer[timeline.operation()] == transfer
    return [t / NANOSECOND for t in timeline.release[own].tolist()]


def granted(timeline: Timeline, transfer: int) -> list[float]:
    own = timeline.plan.transfer[timeline.operation()] == transfer
    return [t / NANOSECOND for t in timeline.grant[own].tolist()]


@pytest.mark.parametrize("room", [1, 400, 999, 1000, 5000])
def test_a_message_that_nobody_stops_is_not_slower(room: int) -> None:
    # without latency there is nothing on the way that could fill a buffer
    assert nanoseconds(fly(flights(4, [(0, 3, 1000)]), chain(4), buffers(room))) == 1000


def test_a_small_buffer_and_a_long_link() -> None:
    # 1000 bytes leave and come by 2000 later, when the room is free again: from 0, 2000, 4000 and 6000 on
    timeline = fly(flights(3, [(0, 2, 4000)]), chain(3, latency=2000), buffers(1000))
    assert released(timeline, 0) == [7000, 9000]
    assert nanoseconds(timeline) == 11000


def test_a_stopped_message_keeps_what_does_not_fit_on_its_links() -> None:
    # 400 bytes wait behind link 0 -> 1, 400 behind 1 -> 2; the other 200 leave rank 0 when as many have
    # gone on from rank 2, at 5200, and 600 have left rank 1 at 5600
    timeline = fly(flights(4, [BUSY, (0, 3, 1000)]), chain(4, L), buffers(400))
    assert granted(timeline, 0) == [0, L, 5000]
    assert released(timeline, 0) == [5200, 5600, 6000]


@pytest.mark.parametrize(
    ("room", "expected"),
    [
        (5000, [1000, 1010, 6000]),  # all of it fits where it is stopped
        (1000, [1000, 1010, 6000]),
        (600, [1000, 5400, 6000]),  # 400 wait at rank 1
        (500, [1000, 5500, 6000]),
    ],
)
def test_what_fits_leaves_its_links_free(room: int, expected: list[float]) -> None:
    assert released(fly(flights(4, [BUSY, (0, 3, 1000)]), chain(4, L), buffers(room)), 0) == expected


def test_against_a_walk_byte_by_byte() -> None:
    # every byte leaves a link when the one before it has, it is there, and there is room for one byte: a
    # whole byte at a time, which a window of bytes pays for at both of its ends
    rng = np.random.default_rng(7)
    for _ in range(60):
        links, size, room = (int(rng.integers(*span)) for span in ((2, 6), (200, 1200), (50, 1300)))
        pace = rng.choice([1, 1, 2, 3], links).tolist()
        latency = int(rng.choice([0, 10, 100, 300]))
        busy = [0, *rng.choice([0, 400, 2000, 3000], links - 1).tolist()]
        others = [(i, i + 1, busy[i]) for i in range(1, links) if busy[i]]
        schedule = flights(links + 1, [*others, (0, links, size)])
        place = chain(links + 1, latency, bandwidths=[1 / one for one in pace])
        timeline = fly(schedule, place, buffers(room))
        ours = int(np.flatnonzero(schedule.src == 0)[0])
        free = [n * one for n, one in zip(busy, pace, strict=True)]
        slow = 2 * max(pace) * (-(-size // room) + links)
        for found, exact in zip(
            released(timeline, ours), _walk(size, room, latency, pace, free), strict=True
        ):
            assert exact - slow <= found <= exact


def _walk(size: int, room: int, latency: int, pace: list[int], free: list[int]) -> list[int]:
    """When the last byte leaves each link."""
    left = [[0] * size for _ in pace]
    for byte in range(size):
        for i, takes in enumerate(pace):
            begins = max(free[i], left[i][byte - 1] if byte else 0)
            if i:
                begins = max(begins, left[i - 1][byte] + latency)
            if i + 1 < len(pace) and byte >= room:
                begins = max(begins, left[i + 1][byte - room])
            left[i][byte] = begins + takes
    return [row[-1] for row in left]


@pytest.mark.parametrize(
    ("room", "expected"),
    [
        (2000, 1000),  # there is room beside the message that waits
        (1999, 2010),  # there is not, until it has left the switch
        (1000, 2010),
        (400, 2010),
    ],
)
def test_who_has_no_room_blocks_those_behind_it(room: int, expected: int) -> None:
    # 0 and 1 send to 2, and 0 goes first; what 1 sends to 0 then waits at the link up
    schedule = flights(3, [(0, 2, 1000), (1, 2, 1000), (1, 0, 1000)])
    timeline = fly(schedule, crossbar(3, BANDWIDTH, L * 1e-9), buffers(room))
    assert granted(timeline, 1) == [0, 1010]
    assert granted(timeline, 2)[0] == expected


def test_room_is_given_back_when_the_next_link_is_released() -> None:
    # the second is granted when the first has left rank 1, and ends a message and two latencies later
    timeline = fly(flights(3, [(0, 2, 1000), (0, 2, 1000)]), chain(3, L), buffers(1000))
    assert granted(timeline, 1) == [1010, 1020]
    assert nanoseconds(timeline) == 1010 + 1000 + 2 * L


def test_messages_of_no_bytes_need_no_room() -> None:
    timeline = fly(flights(4, [BUSY, (0, 3, 1000), (0, 2, 0)]), chain(4, L), buffers(1000))
    assert granted(timeline, 2) == [1000, 1010]


def test_stored_packets_need_room_as_well() -> None:
    # the first waits at rank 2 until 5000, the second at rank 1 until there is room behind it at 5500, the
    # third at home until the second has left rank 1 at 6000
    network = buffers(500, model="packet", mtu=500)
    timeline = fly(flights(4, [BUSY, (0, 3, 1500)]), chain(4, L), network)
    assert granted(timeline, 0) == [0, 510, 5000, 1010, 5500, 6010, 6000, 6510, 7020]


@pytest.mark.parametrize(("room", "ranks"), [(400, 3), (1000, 4)])
def test_messages_that_wait_for_each_other(room: int, ranks: int) -> None:
    # three that do not fit keep their links; four that do keep their buffers: all have come one link far
    links = ", ".join(f"{(r + 1) % ranks}->{(r + 2) % ranks}" for r in range(ranks))
    message = f"the messages wait for each other's buffers: {links} \\(deadlock at 10 ns\\)"
    plan = lower(around(ranks, 1000), one_way(ranks), buffers(room))
    for engine in ("simpy", "compiled"):
        with pytest.raises(PlanError, match=message) as caught:
            run_plan(plan, engine)
        assert caught.value.at == ("buffers",)


def test_of_many_that_wait_some_are_named() -> None:
    with pytest.raises(PlanError, match=r"8->9, \.\.\. \(12 links\) \(deadlock at 10 ns\)"):
        run_plan(lower(around(12, 1000), one_way(12), buffers(1000)))


def test_a_scenario_that_comes_to_a_stand_says_where() -> None:
    text = (
        "topology: {kind: ring, ranks: 3, bandwidth: 1 GB/s, latency: 10 ns, direction: one}\n"
        "collective: {kind: all_to_all, algorithm: direct, size: 3 KB}\n"
        "network:\n"
        "  {model: cut_through, buffers: 400 B}\n"
    )
    with pytest.raises(
        ScenarioErrors, match=r"^small\.yaml:4:33: the messages wait for each other's buffers: "
    ):
        run(loads(text, "small.yaml"))


def test_one_rank_waits_for_nobody() -> None:
    assert fly(build("ring", "allreduce", 1, 5000), ring(1, BANDWIDTH), buffers(1)).time == 0


def test_with_room_for_all_nobody_waits_for_ever() -> None:
    # each takes its turn on every link: 2 of 3 links, one other before it
    assert nanoseconds(fly(around(3, 1000), one_way(3), buffers(1000))) == 2000 + L


def test_boundless_buffers_are_none() -> None:
    schedule = build("direct", "all_to_all", 8, 8003)
    for endpoint in (None, Endpoint(1e-8, 2e-9), Endpoint(1e-8, 0.0, "rendezvous", 1000)):
        for model in ("cut_through", "store_and_forward", "packet"):
            networks = [Network(model=model, endpoint=endpoint, buffers=b) for b in (None, 10**6)]  # type: ignore[arg-type]
            one, other = (fly(schedule, ring(8, BANDWIDTH, 3e-8), network) for network in networks)
            for column in ("arrival", "grant", "release"):
                np.testing.assert_array_equal(getattr(one, column), getattr(other, column))


def test_a_reducer_does_not_hold_back() -> None:
    # the rank takes what comes, however slow its reducer
    schedule = flights(3, [(0, 2, 1000)], mode=1)
    timeline = fly(schedule, chain(3, L), buffers(400), Reduction(BANDWIDTH / 10, "streamed"))
    assert released(timeline, 0) == [1000, 1010, 2 * L + 10_000]


def test_what_is_stored_must_fit() -> None:
    with pytest.raises(
        PlanError, match="a message of 1000 bytes is stored on its way and does not fit"
    ) as caught:
        lower(flights(3, [(0, 2, 1000)]), chain(3), Network(buffers=999))
    assert caught.value.at == ("buffers",)
    # on its last link nothing is stored on the way
    assert nanoseconds(fly(flights(2, [(0, 1, 1000)]), chain(2), Network(buffers=999))) == 1000


@pytest.mark.parametrize(
    ("network", "message"),
    [
        ({"buffers": 0}, "buffers must be at least 1 byte"),
        ({"buffers": 4095, "model": "packet"}, "a packet of 4096 bytes does not fit buffers of 4095"),
        ({"buffers": 100, "model": "fair_share"}, "the model fair_share knows no buffers"),
    ],
)
def test_refuses(network: dict[str, Any], message: str) -> None:
    with pytest.raises(TopologyError, match=message) as caught:
        Network(**network)
    assert caught.value.at == ("buffers",)


def test_the_clock_does_not_run_over() -> None:
    # five messages of 1000 s over two links: one after the other where the buffer holds one
    schedule, slow = flights(3, [(0, 2, 1000)] * 5), chain(3, bandwidths=[1e-9, 1e-9])
    assert run_plan(lower(schedule, slow)).seconds == 6000
    for engine in ("simpy", "compiled"):
        with pytest.raises(PlanError, match=r"ran past 2\.5 hours"):
            run_plan(lower(schedule, slow, Network(buffers=1000)), engine)


def test_progress_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_buffers, "REPORT_EVERY", 5)
    plan = lower(build("direct", "all_to_all", 8, 800), ring(8, BANDWIDTH, 1e-8), buffers(10**6))
    for engine in ("simpy", "compiled"):
        told: list[tuple[int, int]] = []
        run_plan(plan, engine, partial(_tell, told))
        assert told[-1] == (plan.hops, plan.hops)
        assert told == sorted(told)


def test_both_engines_agree_on_who_waits_for_whom() -> None:
    # uneven messages over one to three links, most of them larger than a buffer; some come to a stand
    verdicts = []
    for topology in (ring(6, BANDWIDTH, 3e-8), torus([3, 2], BANDWIDTH, 1e-8), crossbar(6, BANDWIDTH, 1e-8)):
        for room in (10, 150, 400, 1000):
            for endpoint in (None, Endpoint(2e-8, 1e-8), Endpoint(2e-8, 0.0, "rendezvous", 150)):
                schedule = build("direct", "all_to_all", 6, 3001)
                plan = lower(schedule, topology, buffers(room, endpoint=endpoint), Reduction(BANDWIDTH))
                try:
                    verdict = str(run_plan(plan, "simpy").time)
                except PlanError as error:
                    verdict = error.message
                    with pytest.raises(PlanError) as caught:
                        run_plan(plan, "compiled")
                    assert caught.value.message == verdict
                else:
                    check_path(both(plan), topology)
                verdicts.append("deadlock" in verdict)
    assert 0 < sum(verdicts) < len(verdicts)


def _tell(told: list[tuple[int, int]], done: int, total: int) -> None:
    told.append((done, total))


@pytest.mark.parametrize("engine", ["simpy", "compiled"])
def test_a_deadlock_past_the_end_of_time_is_too_late(engine: str) -> None:
    # what a byte's room lets through of 2^40 / 4 bytes takes a latency each: 2.7e5 s
    network = Network("cut_through", buffers=1)
    plan = lower(build("direct", "allreduce", 4, 2**40), ring(4, 1e9, 1e-6), network)
    with pytest.raises(PlanError, match=r"2\.5 hours"):
        run_plan(plan, engine)
