"""Tasks, streams and collectives in one plan; times by hand, in nanoseconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from algorithms import build
from simulator.engine.engines import run_plan
from simulator.engine.lower import lower
from simulator.engine.network import Model, Network, Reduction
from simulator.engine.plan import COMPUTE, Plan, carried_bytes
from simulator.engine.tasks import HOLDS, TaskPlan, Tasks, task_plan
from tests.engine.flights import BANDWIDTH, NANOSECOND, chain, flights
from tests.engine.path_check import check_path
from topologies import Topology, ring


def tasks_of(plans: Sequence[Plan], *tasks: tuple[int, int, int, Sequence[int]], streams: int = 2) -> Tasks:
    """Tasks as (plan or HOLDS, stream, ns, after)."""
    runs, stream, hold, after = zip(*tasks, strict=True)
    return Tasks(
        plans,
        np.array(runs, dtype=np.int32),
        np.array(stream, dtype=np.int32),
        np.array(hold, dtype=np.int64) * NANOSECOND,
        np.cumsum([0, *map(len, after)]),
        np.array([one for some in after for one in some], dtype=np.int64),
        np.full(streams, COMPUTE, dtype=np.uint8),
        np.arange(streams, dtype=np.int32),
    )


def spans(tasks: Tasks) -> list[tuple[float, float]]:
    """Begin and end of each task, the same in both engines."""
    planned: TaskPlan = task_plan(tasks)
    found = [planned.spans(run_plan(planned.plan, engine)) for engine in ("simpy", "compiled")]
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
    return [(b / NANOSECOND, e / NANOSECOND) for b, e in zip(*(c.tolist() for c in found[0]), strict=True)]


def message(topology: Topology, src: int, dst: int, size: int, network: Network | None = None) -> Plan:
    return lower(flights(topology.ranks, [(src, dst, size)]), topology, network)


def test_the_critical_path_is_compute_where_a_stream_is_held() -> None:
    topology = chain(2, latency=10)
    sent = message(topology, 0, 1, 100)
    tasks = tasks_of([sent], (HOLDS, 0, 7, []), (0, 0, 0, [0]), (HOLDS, 1, 2, [1]))
    path = check_path(run_plan(task_plan(tasks).plan), topology)
    found = {part: time / NANOSECOND for part, time in path.totals().items() if time}
    assert found == {"compute": 9, "serialization": 100, "latency": 10}


def test_work_on_a_stream_and_between_streams() -> None:
    found = spans(
        tasks_of([], (HOLDS, 0, 5, []), (HOLDS, 0, 3, [0]), (HOLDS, 1, 4, [0]), (HOLDS, 0, 2, [1, 2]))
    )
    assert found == [(0, 5), (5, 8), (5, 9), (9, 11)]


def test_a_message_between_two_works() -> None:
    # 100 B at a byte a ns and 10 ns of latency
    sent = message(chain(2, latency=10), 0, 1, 100)
    assert spans(tasks_of([sent], (HOLDS, 0, 7, []), (0, 0, 0, [0]), (HOLDS, 1, 2, [1]))) == [
        (0, 7),
        (7, 117),
        (117, 119),
    ]


@pytest.mark.parametrize("model", ["store_and_forward", "cut_through", "packet", "fair_share"])
def test_messages_of_different_tasks_share_a_link(model: Model) -> None:
    topology, network = chain(2), Network(model, mtu=100 if model == "packet" else None)
    sent = [message(topology, 0, 1, 100, network), message(topology, 0, 1, 50, network)]
    found = spans(tasks_of(sent, (0, 0, 0, []), (HOLDS, 0, 40, []), (1, 0, 0, [1])))
    # the second comes at 40: it waits for the first, or both get half of the link until it has gone
    expected = [(0, 100), (0, 40), (40, 150)] if model != "fair_share" else [(0, 150), (0, 40), (40, 140)]
    assert found == expected


def test_finite_buffers() -> None:
    # 0 -> 1 -> 2: the second message finds room for half of it only, and the last link in use until 100
    topology, network = chain(3), Network("cut_through", buffers=50)
    sent = [message(topology, 1, 2, 100, network), message(topology, 0, 2, 100, network)]
    assert spans(tasks_of(sent, (0, 0, 0, []), (1, 0, 0, []))) == [(0, 100), (0, 200)]


def test_a_collective_ends_with_its_last_rank() -> None:
    topology = ring(4, BANDWIDTH, 1e-9)
    plan = lower(build("ring", "allreduce", 4, 400), topology, None, Reduction(BANDWIDTH))
    # 3 steps of 1 + 100 + 100, then 3 of 1 + 100
    alone = 3 * 201 + 3 * 101
    assert run_plan(plan).time == alone * NANOSECOND
    found = spans(tasks_of([plan], (HOLDS, 0, 9, []), (0, 0, 0, [0]), (0, 0, 0, [1]), (HOLDS, 1, 1, [2])))
    assert found[1:] == [
        (9, 9 + alone),
        (9 + alone, 9 + 2 * alone),
        (9 + 2 * alone, 10 + 2 * alone),
    ]


def test_what_each_link_carries() -> None:
    topology = chain(2)
    schedule = flights(2, [(0, 1, 100)])
    sent = lower(schedule, topology)
    sent = replace(sent, bytes=carried_bytes(sent, schedule))
    planned = task_plan(tasks_of([sent], *[(0, 0, 0, [])] * 3))
    assert planned.plan.bytes is not None
    assert planned.plan.bytes.tolist() == [0, 100, 0] * 3
