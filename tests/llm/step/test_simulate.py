"""Steps on networks: what is memoised is as if it were not, and what is hidden."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from simulator.engine import links
from simulator.engine.analysis import use_of
from simulator.engine.engines import run_plan
from simulator.engine.errors import PlanError
from simulator.engine.network import Endpoint, Network
from simulator.llm.calls import Group
from simulator.llm.errors import ModelError
from simulator.llm.model import Model
from simulator.llm.plan import Parallel
from simulator.llm.step.fabric import Way
from simulator.llm.step.graph import Graph, Stream, Task
from simulator.llm.step.overlap import Overlap
from simulator.llm.step.simulate import Step, simulate_step
from simulator.llm.step.steals import slowed
from tests.llm.step.step_examples import apart, fabric, graph, mixture, model, step
from topologies import crossbar, full_mesh, ring

SIXTEEN = {
    "3d": Parallel(tp=4, sp=True, pp=2, dp=2, zero=1),
    "experts": Parallel(tp=4, sp=True, dp=4, ep=4, zero=1),
    "zero 3": Parallel(tp=4, sp=True, dp=4, zero=3),
    "zero bubble": Parallel(tp=4, pp=4, schedule="zb-h1"),
}


@pytest.mark.parametrize("name", SIXTEEN)
def test_a_memoised_step_of_16_ranks_is_the_full_one(name: str) -> None:
    parallel = SIXTEEN[name]
    of = mixture() if parallel.ep > 1 else model()
    tasks = graph(parallel, of=of)
    where = fabric(parallel, apart(parallel, 4), reduces=True)
    quick, whole = (simulate_step(tasks, where, memoise=memoise) for memoise in (True, False))
    # tensor parallelism stays in machines, which nothing else does
    assert {way.group.name for way in quick.memoised} >= {"tp"}
    assert whole.memoised == frozenset()
    assert len(quick.timeline.plan) < 0.6 * len(whole.timeline.plan)
    np.testing.assert_array_equal(quick.begin, whole.begin)
    np.testing.assert_array_equal(quick.end, whole.end)


@pytest.mark.parametrize(
    "parallel",
    [
        Parallel(pp=2, schedule="zbv"),
        Parallel(pp=2, interleave=2),
        Parallel(pp=4, schedule="dualpipe"),
    ],
)
def test_the_same_call_on_two_streams_may_meet_itself(parallel: Parallel) -> None:
    # what stage 1 hands on to stage 0, and what it gives back to it, go over one link
    tasks = graph(parallel)
    where = fabric(parallel, full_mesh(parallel.ranks, 1e9, 1e-6))
    quick, whole = (simulate_step(tasks, where, memoise=memoise) for memoise in (True, False))
    assert not any(way.stage == 1 and way.peer == 0 for way in quick.memoised)
    np.testing.assert_array_equal(quick.end, whole.end)


def test_what_takes_too_long_is_refused() -> None:
    parallel = Parallel(pp=2)
    tasks, where = graph(parallel), fabric(parallel)
    long = replace(tasks, tasks=(replace(tasks.tasks[0], hold=2**70), *tasks.tasks[1:]))
    with pytest.raises(PlanError, match=r"2\.5 hours"):
        simulate_step(long, where)
    with pytest.raises(ModelError, match="one by one is too long"):
        graph(parallel, microbatches=10**6)


def test_what_can_meet_is_not_memoised() -> None:
    # all at one switch: every call of a rank goes through its one port
    parallel = Parallel(tp=2, pp=2, dp=2)
    assert step(parallel).memoised == frozenset()
    # a gap that a message leaves behind it is met by the next call of the same stream
    network = Network("cut_through", endpoint=Endpoint(1e-7, 1e-7))
    assert step(Parallel(tp=4), topology=crossbar(4, 1e11), network=network).memoised == frozenset()
    assert step(Parallel(tp=4), topology=crossbar(4, 1e11)).memoised != frozenset()


def test_calls_that_meet_slow_each_other_down() -> None:
    # gathered weights and summed gradients go the same way round: without one, the other is faster
    parallel = Parallel(dp=4, zero=3)
    tasks, where = graph(parallel), fabric(parallel, ring(4, 2e9))
    sums = [number for number, task in enumerate(tasks.tasks) if task.stream.name == "reduce"]
    both, alone = simulate_step(tasks, where), simulate_step(tasks, where, free=["gather"])
    took = [(found.end - found.begin)[sums] for found in (both, alone)]
    assert (took[0] >= took[1]).all()
    assert took[0].sum() > took[1].sum()


def uniform_fsdp(monkeypatch: pytest.MonkeyPatch, forward: int, backward: int) -> tuple[Step, int, int]:
    """ZeRO-3 of uniform units on full links, with the time of an AllGather and of a ReduceScatter alone."""
    from simulator.llm.step.stage_units import StageUnits
    from simulator.llm.step.unit_passes import Stretch, UnitPasses

    passes = UnitPasses((Stretch("layer", forward),), (Stretch("layer", backward),))
    monkeypatch.setattr(StageUnits, "passes", lambda _self, _kind: passes)
    monkeypatch.setattr(StageUnits, "chunks", lambda _self: {0: ("layer",) * 8})
    monkeypatch.setattr(StageUnits, "optimizer", lambda _self: 0)
    parallel = Parallel(dp=4, zero=3)
    where = fabric(parallel, ring(4, 100e9, 1e-6))
    found = simulate_step(graph(parallel, microbatches=1), where)
    ways = {task.way.kind: (task.way, task.size) for task in found.graph.tasks if task.way is not None}
    return found, where.time(*ways["allgather"]), where.time(*ways["reduce_scatter"])


def test_uniform_units_expose_one_gather_and_one_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    _, gather, scatter = uniform_fsdp(monkeypatch, 1, 1)
    # hidden if C_f >= AG and C_b >= AG + RS
    forward, backward = gather, gather + scatter
    found, *_ = uniform_fsdp(monkeypatch, forward, backward)
    assert found.time == gather + 8 * forward + 8 * backward + scatter
    # with less to compute more is exposed
    shorter, *_ = uniform_fsdp(monkeypatch, forward, gather)
    assert shorter.time > gather + 8 * forward + 8 * gather + scatter


@pytest.mark.parametrize(
    ("parallel", "of"),
    [
        (Parallel(tp=4, sp=True, pp=2, dp=2, zero=1), model()),
        (Parallel(tp=4, pp=2, dp=2), model()),
        (Parallel(tp=2, sp=True, dp=8, ep=4, zero=1), mixture()),
        (Parallel(dp=16, zero=3), model()),
    ],
)
def test_overlap_never_makes_a_step_slower(parallel: Parallel, of: Model) -> None:
    # where calls have links of their own: on shared ones one that is overlapped can delay one that is not
    topology = apart(parallel, 4)
    times = {}
    for switches in (
        {},
        {"tp": True},
        {"ep": True},
        {"pp": True},
        {"dp": True},
        dict.fromkeys(("tp", "ep", "pp", "dp"), True),
    ):
        overlap = Overlap(**{"pp": False, "dp": False, **switches})
        times[tuple(switches)] = step(parallel, overlap, of=of, topology=topology, microbatches=4).time
    assert max(times.values()) == times[()]
    assert times["tp", "ep", "pp", "dp"] < times[()]


def test_one_rank_computes_alone() -> None:
    found = step(Parallel(), topology=ring(1, 1e9))
    assert found.time == sum(task.hold for task in found.graph.tasks)


def test_communication_that_steals_compute() -> None:
    parallel = Parallel(dp=4, zero=3)
    tasks, where = graph(parallel), fabric(parallel)
    free, half = simulate_step(tasks, where), simulate_step(tasks, where, steals=0.5)
    assert half.time > free.time
    # what was run is what the calls, where they then are, leave of the speed
    held = np.array([task.hold for task in tasks.tasks])
    compute = np.array([task.way is None for task in tasks.tasks])
    took = (half.end - half.begin)[compute]
    np.testing.assert_array_equal(took, slowed(tasks, half.begin, half.end, 0.5)[compute])
    assert (took >= held[compute]).all()
    assert (took <= 2 * held[compute]).all()


def test_what_calls_steal_by_hand() -> None:
    # 20 of compute; calls of the stage from 4 to 12, and from 12 to 14, take half of its speed
    compute = Task("layer", Stream(0, "compute"), "F", hold=20)
    call = Task(
        "sum", Stream(0, "reduce"), "update", way=Way(Group("dp", ("dp",)), "allreduce", 0), size=1, call=0
    )
    tasks = Graph((compute, call, call), ((), (), ()), (), (compute.stream, call.stream))
    begin, end = np.array([0, 4, 12]), np.array([20, 12, 14])
    # 4 at full speed, 10 at half of it (5), the last 11 at full speed
    assert slowed(tasks, begin, end, 0.5).tolist() == [4 + 10 + 11, 0, 0]


def test_a_loaded_expert_is_waited_for() -> None:
    # 4 ranks at a switch, one message after the other: the first gets twice the mean of every other's bytes
    parallel = Parallel(dp=4, ep=4)
    where = fabric(parallel, crossbar(4, 1e9))
    way = next(
        task.way
        for task in graph(parallel, of=mixture()).tasks
        if task.way is not None and task.stream.name == "ep"
    )
    times = [replace(where, skew=skew).time(way, 4000) for skew in (1.0, 2.0)]
    # three blocks of 1000 B, or of 2000 B, come into one port
    assert times == [3 * 10**9, 6 * 10**9]
    # on the way back that rank's own port is in use as long: 6 us in all, of the others 2 kB and twice 667 B
    skewed = replace(where, skew=2.0)
    back = skewed.plan(replace(way, back=True), 4000)
    use = use_of(run_plan(back), back.bytes)
    names = {where.topology.link_name(link): int(use.bytes[link]) for link in range(len(use.bytes))}
    assert names["0->switch"] == 6000 == max(names.values())
    assert names["switch->0"] == 667 + 667 + 666


def test_a_way_is_routed_once_whatever_the_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[int] = []
    real = links.flow_routes

    def counted(*arguments: Any) -> Any:
        found.append(1)
        return real(*arguments)

    monkeypatch.setattr(links, "flow_routes", counted)
    parallel = Parallel(tp=4, dp=2)
    where = fabric(parallel)
    way = Way(Group("tp", ("tp",)), "allgather", 0)
    sizes = (4096, 8192, 1000)
    plans = [where.plan(way, size) for size in sizes]
    assert len(found) == 1
    for size, plan in zip(sizes, plans, strict=True):
        fresh = fabric(parallel).plan(way, size)
        for column in ("resource", "hold", "hop_offset", "dependency"):
            np.testing.assert_array_equal(getattr(plan, column), getattr(fresh, column))
