"""Programs of training steps: every call of the traffic, and the makespans of the pipelines' formulas."""

from __future__ import annotations

from collections import Counter

import pytest

from simulator.engine.network import Network
from simulator.llm.model import Model
from simulator.llm.placement import chunks_held
from simulator.llm.plan import MemoryPlan, Parallel, Schedule
from simulator.llm.step.fabric import SHIFT, SHIFT_AND_ADD, Fabric
from simulator.llm.step.graph import COMPUTE, Graph
from simulator.llm.step.overlap import Overlap
from simulator.llm.step.simulate import simulate_step
from simulator.llm.step.stage_units import StageUnits
from simulator.llm.step.unit_passes import Stretch, UnitPasses
from simulator.llm.traffic import Traffic, traffic
from simulator.llm.traffic_plan import TrafficPlan
from tests.llm.step.step_examples import asked, fabric, graph, mixture, model
from topologies import crossbar

S = 10**15
"""fs of a second."""


def sent(tasks: Graph) -> Counter[tuple[str, str, int]]:
    """Bytes of all calls, by group, kind and stage."""
    found: Counter[tuple[str, str, int]] = Counter()
    for task in tasks.tasks:
        if task.way is not None:
            found[task.way.group.name, task.way.kind, task.way.stage] += task.size
    return found


def counted(found: Traffic) -> Counter[tuple[str, str, int]]:
    total: Counter[tuple[str, str, int]] = Counter()
    for call in found.calls:
        total[call.group.name, call.kind, call.stage] += round(call.size * call.times)
    return total


PLANS: dict[str, tuple[Parallel, Model, MemoryPlan, TrafficPlan]] = {
    "3d": (Parallel(tp=2, pp=2, dp=2), model(), MemoryPlan(), TrafficPlan()),
    "sp, ZeRO-1": (Parallel(tp=2, sp=True, pp=2, dp=2, zero=1), model(), MemoryPlan(), TrafficPlan()),
    "recomputed, ZeRO-2": (
        Parallel(tp=2, sp=True, pp=2, dp=2, zero=2),
        model(),
        MemoryPlan(recompute="full"),
        TrafficPlan(),
    ),
    "no regather": (Parallel(tp=4, sp=True), model(), MemoryPlan(), TrafficPlan(regather=False)),
    "interleaved, tied": (Parallel(pp=2, interleave=2, tp=2), model(tied=True), MemoryPlan(), TrafficPlan()),
    "ring": (Parallel(cp=2, dp=2, pp=2), model(), MemoryPlan(recompute="full"), TrafficPlan()),
    "ulysses": (Parallel(cp=2, cp_kind="ulysses", dp=2, tp=2), model(), MemoryPlan(), TrafficPlan()),
    "experts": (Parallel(tp=2, dp=4, ep=4), mixture(), MemoryPlan(), TrafficPlan()),
    "experts, sp, machines": (
        Parallel(tp=2, sp=True, dp=4, ep=4, zero=1),
        mixture(),
        MemoryPlan(recompute="full"),
        TrafficPlan(node=4, dispatch=1.03125),
    ),
    "experts of one rank": (Parallel(tp=2, sp=True, dp=2), mixture(), MemoryPlan(), TrafficPlan()),
    "zb-h1": (Parallel(pp=4, tp=2, sp=True, schedule="zb-h1"), model(), MemoryPlan(), TrafficPlan()),
    "zbv": (Parallel(pp=4, dp=2, schedule="zbv"), model(), MemoryPlan(), TrafficPlan()),
    "dualpipe": (
        Parallel(pp=2, dp=4, ep=4, schedule="dualpipe"),
        mixture(),
        MemoryPlan(),
        TrafficPlan(),
    ),
    "shards": (Parallel(dp=4, zero=2, shard=2), model(), MemoryPlan(), TrafficPlan()),
    "matrices": (Parallel(tp=2, pp=2), model(), MemoryPlan(count="matrices"), TrafficPlan()),
}


@pytest.mark.parametrize("name", PLANS)
def test_a_step_has_the_calls_of_its_traffic(name: str) -> None:
    parallel, of, memory, plan = PLANS[name]
    found = sent(graph(parallel, of=of, memory=memory, traffic=plan))
    expected = counted(traffic(of, parallel, asked(parallel, of=of).batch, memory, plan))
    assert set(found) == set(expected)
    # a part of a byte counts as one, of each of at most so many calls
    assert all(0 <= found[key] - expected[key] <= 1000 for key in found)


def test_zero_3_does_not_gather_again_what_it_has_just_used() -> None:
    parallel = Parallel(dp=4, zero=3)
    found, expected = sent(graph(parallel)), counted(traffic(model(), parallel, asked(parallel).batch))
    # the last unit of the forward pass is the first of the backward one, in each of 8 micro-batches
    head = 2 * (512 * 1024 + 512)
    assert expected["dp", "allgather", 0] - found["dp", "allgather", 0] == 8 * head
    assert found["dp", "reduce_scatter", 0] == expected["dp", "reduce_scatter", 0]


def shifted(parallel: Parallel, overlap: Overlap) -> tuple[float, float]:
    """Bytes a rank sends to its tensor parallel neighbour: by steps of rings, and by collectives."""
    found, size = sent(graph(parallel, overlap)), parallel.tp
    steps = sum(bytes for (_, kind, _), bytes in found.items() if kind in (SHIFT, SHIFT_AND_ADD))
    whole = sum(
        bytes
        for (group, kind, _), bytes in found.items()
        if group == "tp" and kind in ("allgather", "reduce_scatter")
    )
    return steps, whole * (size - 1) / size


def test_in_pieces_as_much_is_sent() -> None:
    parallel = Parallel(tp=4, sp=True)
    steps, rest = shifted(parallel, Overlap(tp=True))
    none, whole = shifted(parallel, Overlap())
    assert none == 0
    assert steps + rest == whole


Durations = tuple[int, int, int]
"""Seconds of a forward pass, of a gradient of inputs, and of weights."""


def bare_pipeline(
    monkeypatch: pytest.MonkeyPatch, parallel: Parallel, microbatches: int, times: Durations
) -> tuple[Graph, Fabric]:
    """A step whose chunks are one unit of given durations, and which sends next to nothing."""
    forward, inputs, weights = (time * S for time in times)
    passes = UnitPasses((Stretch("layer", forward),), (Stretch("layer", inputs, weights),))
    monkeypatch.setattr(StageUnits, "passes", lambda _self, _kind: passes)
    monkeypatch.setattr(
        StageUnits, "chunks", lambda self: dict.fromkeys(chunks_held(parallel, self.stage), ("layer",))
    )
    monkeypatch.setattr(StageUnits, "optimizer", lambda _self: 0)
    where = crossbar(parallel.ranks, bandwidth=1e18)
    return graph(parallel, microbatches=microbatches), fabric(parallel, where)


def makespan(
    monkeypatch: pytest.MonkeyPatch, parallel: Parallel, microbatches: int, times: Durations
) -> float:
    tasks, where = bare_pipeline(monkeypatch, parallel, microbatches, times)
    # streams of stages send, and so do no others here
    free = {task.stream.name for task in tasks.tasks} - {COMPUTE}
    return simulate_step(tasks, where, free=free).time / S


@pytest.mark.parametrize(("stages", "microbatches"), [(4, 8), (8, 64), (1, 3)])
@pytest.mark.parametrize("schedule", ["1f1b", "gpipe"])
def test_pipelines_take_what_their_formula_says(
    monkeypatch: pytest.MonkeyPatch, stages: int, microbatches: int, schedule: Schedule
) -> None:
    # (m + p - 1)(F + B)
    parallel = Parallel(pp=stages, schedule=schedule)
    assert makespan(monkeypatch, parallel, microbatches, (1, 1, 1)) == (microbatches + stages - 1) * 3


def test_interleaving_divides_the_bubble(monkeypatch: pytest.MonkeyPatch) -> None:
    # of 2 chunks a stage, each half as long: m (F + B) + (p - 1)(F + B)/v
    assert makespan(monkeypatch, Parallel(pp=4, interleave=2), 8, (1, 1, 1)) == 8 * 6 + 3 * 3


def test_zero_bubble_fills_it_with_gradients_of_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    # Qi et al. 2023: (p - 1)(F + B - 2W) of bubble; with an update for all at the end
    assert makespan(monkeypatch, Parallel(pp=4, schedule="zb-h1"), 8, (1, 1, 1)) == 8 * 3 + 3


@pytest.mark.parametrize(("overlap", "expected"), [(True, 34.6), (False, 34.9)])
def test_what_is_handed_on_delays_the_receiver_or_the_sender_too(
    monkeypatch: pytest.MonkeyPatch, overlap: bool, expected: float
) -> None:
    # (p, m) = (4, 8), F = 1, B = 2, a tenth of a second from stage to stage
    tasks, _ = bare_pipeline(monkeypatch, Parallel(pp=4), 8, (1, 1, 1))
    tasks = graph(Parallel(pp=4), Overlap(pp=overlap), microbatches=8)
    size = next(task.size for task in tasks.tasks if task.way is not None)
    # through a switch at once: what it takes is its bytes
    where = Fabric(Parallel(pp=4), TrafficPlan(), crossbar(4, bandwidth=10.0 * size), Network("cut_through"))
    assert simulate_step(tasks, where).time / S == pytest.approx(expected, rel=1e-12)
