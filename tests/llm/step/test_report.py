"""Reports of steps: where time goes and what links carry, against hand counts and the papers' bubbles."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from simulator.llm.hardware import Hardware
from simulator.llm.plan import Parallel
from simulator.llm.step.fabric import Way
from simulator.llm.step.graph import Builder
from simulator.llm.step.overlap import Overlap
from simulator.llm.step.report import breakdown, how_simulated, step_report
from simulator.llm.step.report_ladder import ladder
from simulator.llm.step.report_links import hottest_links, level_uses, step_link_use
from simulator.llm.step.report_setting import GROUPS, Setting, groups_of
from simulator.llm.step.report_summary import step_summary
from simulator.llm.step.report_time import stage_times
from simulator.llm.step.report_what_if import what_if
from simulator.llm.step.simulate import Step, simulate_step
from simulator.llm.step.stage_units import Machine, StageUnits
from simulator.llm.step.unit_passes import Stretch, UnitPasses
from simulator.llm.traffic import PIPELINE, traffic
from tests.llm.step.step_examples import CHIP, apart, asked, fabric, model
from topologies import Topology, crossbar, ring

S = 10**15
"""fs of a second."""


def setting(
    parallel: Parallel, topology: Topology | None = None, overlap: Overlap | None = None, **more: Any
) -> Setting:
    return Setting(asked(parallel, **more), CHIP, fabric(parallel, topology), overlap or Overlap())


def two_stages(*, goes_on: bool) -> tuple[Step, Topology]:
    """10 s of compute, 3 GB at 1 GB/s to the other stage, 5 s there; meanwhile the first may compute 2 s."""
    parallel, topology = Parallel(pp=2), crossbar(2, bandwidth=1e9)
    builder = Builder()
    first = builder.compute("layers", 0, "F", 10 * S, [], 0)
    sent = builder.send(
        "boundary", Way(PIPELINE, "send_recv", 0, 1), 3 * 10**9, "send forward", "F", [first], 0
    )
    if goes_on:
        builder.compute("layers", 0, "F", 2 * S, [first], 1)
    builder.compute("layers", 1, "F", 5 * S, [sent], 0)
    return simulate_step(builder.graph(), fabric(parallel, topology)), topology


def test_where_the_time_of_two_stages_goes() -> None:
    for goes_on, hidden in ((False, 0), (True, 2)):
        step, _ = two_stages(goes_on=goes_on)
        first, second = stage_times(step)
        assert step.time == 18 * S
        # the sender and the receiver take part in a call
        assert (first.passes, first.communication, first.idle) == ((10 + hidden) * S, (3 - hidden) * S, 5 * S)
        assert (second.passes, second.communication, second.idle) == (5 * S, 3 * S, 10 * S)
        assert first.exposed == {"pp": (3 - hidden) * S}


def test_links_by_hand() -> None:
    step, topology = two_stages(goes_on=False)
    use = step_link_use(step, fabric(Parallel(pp=2), topology))
    # up to the switch and down from it
    assert sorted(use.bytes.tolist()) == [0, 0, 3 * 10**9, 3 * 10**9]
    (level,) = level_uses(use, topology, step.time)
    # 6 GB over four links that could carry 18 GB each
    assert (level.links, level.bytes, level.utilisation) == (4, 6 * 10**9, pytest.approx(6 / 72))
    up, _ = hottest_links(use, topology, step.time)
    assert (up.bytes, up.busy, up.utilisation) == (3 * 10**9, 3 * S, pytest.approx(3 / 18))
    assert (up.bandwidth, up.achieved) == (10**9, 10**9)
    (sent,) = how_simulated(step, Parallel(pp=2))
    assert (sent.memoised + sent.laid, sent.time, sent.bus_bandwidth) == (1, 3 * S, 10**9)
    assert level.hottest == up


def test_bubbles_are_their_formulas(monkeypatch: pytest.MonkeyPatch) -> None:
    """(p - 1) / m over ideal, Narayanan et al. 2021; (p - 1) / (m + p - 1) over all, Qi et al. 2023."""
    passes = UnitPasses((Stretch("layer", S),), (Stretch("layer", S, S),))
    monkeypatch.setattr(StageUnits, "passes", lambda _self, _kind: passes)
    monkeypatch.setattr(StageUnits, "chunks", lambda self: {self.stage: ("layer",)})
    # an update is no part of it
    monkeypatch.setattr(StageUnits, "optimizer", lambda _self: 7 * S)
    for p, m, schedule in ((4, 8, "1f1b"), (4, 8, "gpipe"), (2, 3, "1f1b"), (8, 8, "gpipe")):
        own = setting(Parallel(pp=p, schedule=schedule), microbatches=m)
        graph = own.graph()
        found = step_summary(own, graph, groups_of(graph))
        assert found.time == (3 * (m + p - 1) + 7) * S
        assert Fraction(found.passes.idle, found.passes.busy) == Fraction(p - 1, m)
        assert found.bubble == pytest.approx((p - 1) / m)
        assert found.bubble_share == pytest.approx((p - 1) / (m + p - 1))
        # with communication it is no less
        assert step_summary(own, graph).passes.idle >= found.passes.idle


PLANS = (
    Parallel(tp=2, sp=True, pp=2, dp=2, zero=1),
    Parallel(pp=4, schedule="dualpipe"),
    Parallel(cp=2, dp=2, zero=3),
)


def test_the_parts_of_a_stage_are_its_time() -> None:
    for parallel in PLANS:
        own = setting(parallel)
        step = own.run()
        stages = stage_times(step)
        assert len(stages) == parallel.pp
        computed: Counter[int] = Counter()
        for task, begin, end in zip(step.graph.tasks, step.begin, step.end, strict=True):
            computed[task.stream.stage] += int(end - begin) if task.way is None else 0
        for stage in stages:
            assert stage.time == step.time
            assert stage.passes + stage.update == computed[stage.stage]
            assert max(stage.exposed.values()) <= stage.communication <= sum(stage.exposed.values())
            assert set(stage.exposed) == set(groups_of(step.graph))
            assert min(stage.idle, stage.communication) >= 0


def test_what_nothing_hides_is_exposed_by_both_definitions() -> None:
    # one micro-batch of a single stage without overlap: everything comes one after the other
    own = setting(Parallel(tp=4, sp=True), apart(Parallel(tp=4), 4), microbatches=1)
    report = step_report(own)
    (exposed,) = report.exposed
    calls = [task for task in report.step.graph.tasks if task.way is not None]
    took = sum(own.fabric.time(task.way, task.size) for task in calls if task.way is not None)
    assert (exposed.group, exposed.calls) == ("tp", len(calls))
    assert exposed.counterfactual == exposed.timeline == exposed.worst == took
    assert report.time == report.ideal.time + took
    assert report.now.days(report.now.flops.tokens) == pytest.approx(report.time / S / 86400)
    assert report.now.tokens_per_second == pytest.approx(256 / (report.time / S))


def test_bytes_by_level_are_those_of_the_traffic() -> None:
    """Inside machines a message is one hop; in between it goes up to a switch and down again."""
    parallel = Parallel(tp=4, sp=True, pp=2, dp=2, zero=1)
    topology, own = apart(parallel, 4), setting(parallel, apart(parallel, 4))
    report = step_report(own)
    sent: Counter[str] = Counter()
    step = own.asked
    for row in traffic(step.model, parallel, step.batch, step.memory, step.plan).rows():
        assert row.total.denominator == 1
        sent[row.group] += int(row.total)
    assert [level.bytes for level in report.levels] == [sent["tp"], 2 * (sent["pp"] + sent["dp"])]
    laid = simulate_step(report.step.graph, own.fabric, memoise=False)
    memoised, whole = step_link_use(report.step, own.fabric), step_link_use(laid, own.fabric)
    np.testing.assert_array_equal(memoised.bytes, whole.bytes)
    np.testing.assert_array_equal(memoised.busy, whole.busy)
    assert len(topology.levels) == len(report.levels)
    how = {(row.group, row.kind): row for row in report.simulated}
    # eight ranks of a stage send as much
    for group in ("tp", "dp"):
        assert 8 * sum(row.sent for row in how.values() if row.group == group) == sent[group]
    assert all((row.memoised > 0, row.laid) == (True, 0) for row in how.values() if row.group == "tp")
    assert all((row.memoised, row.laid > 0) == (0, True) for row in how.values() if row.group != "tp")


def test_a_ladder_ends_without_communication() -> None:
    own = setting(Parallel(dp=4, zero=3), ring(4, 50e9), microbatches=2)
    none, overlapped, free = ladder(own)
    assert [rung.name for rung in (none, overlapped, free)] == ["no overlap", "+ dp", "no communication"]
    assert none.time > overlapped.time > free.time
    # nothing hides: all calls come one after the other
    graph = setting(Parallel(dp=4, zero=3), ring(4, 50e9), Overlap(dp=False), microbatches=2).graph()
    took = sum(own.fabric.time(*graph.calls[task.call]) for task in graph.tasks if task.call >= 0)
    assert none.time == free.time + took
    assert none.mfu * none.time == pytest.approx(free.mfu * free.time)


def test_what_if_one_thing_is_different() -> None:
    own = setting(Parallel(dp=4, zero=3), ring(4, 50e9), Overlap(dp=False), microbatches=1)
    report = step_report(own)
    cases = {case.name: case for case in what_if(report)}
    as_it_is, level = cases["as it is"].time, cases["ring: bandwidth x 2"].time
    assert as_it_is == report.time
    assert level is not None
    # no latency, nothing hidden: twice the bandwidth halves what is exposed
    assert level - report.ideal.time == pytest.approx((report.time - report.ideal.time) / 2, rel=1e-9)
    slow = cases["a rank of stage 0: 10 % slower"].time
    assert slow == pytest.approx(report.time + report.ideal.time / 10, rel=1e-9)
    (dead,) = [case for name, case in cases.items() if name.endswith("dead")]
    # the other way round nobody goes, and without latency it takes no longer
    assert dead.time == report.time
    for name in ("compute x 2", "memory bandwidth x 2"):
        time = cases[name].time
        assert time is not None
        assert report.ideal.time / 2 <= time - (report.time - report.ideal.time) < report.ideal.time


def test_a_dead_link_without_another_way() -> None:
    report = step_report(setting(Parallel(dp=2), crossbar(2, 50e9), microbatches=1))
    (dead,) = [case for case in what_if(report) if case.name.endswith("dead")]
    assert dead.time is None
    assert "no way" in dead.bottleneck


def test_a_rank_alone() -> None:
    report = step_report(setting(Parallel(), of=model(layers=1)))
    assert (report.exposed, report.hottest, report.simulated) == ((), (), ())
    assert report.time == report.ideal.time
    assert report.now.bubble == 0
    (stage,) = report.stages
    assert (stage.communication, stage.idle) == (0, 0)
    assert not any(case.name.endswith("dead") for case in what_if(report))


def test_a_machine_that_is_too_fast_for_the_clock() -> None:
    # no kernel takes as much as a femtosecond, but each is there
    chip = Machine(Hardware(capacity=2**30, compute=1e18, memory_bandwidth=1e18))
    tiny = model(layers=1, hidden=1, heads=1, vocab=1, sequence=1)
    parallel = Parallel(dp=2)
    own = Setting(asked(parallel, 1, of=tiny), chip, fabric(parallel))
    report = step_report(own)
    assert 0 < report.ideal.time < 1000
    assert sum(breakdown(report.stages).values()) == pytest.approx(1)


def test_every_stream_has_a_group() -> None:
    names = [name for group in GROUPS.values() for name in group]
    assert len(names) == len(set(names))
    for parallel in PLANS:
        streams = {stream.name for stream in setting(parallel).graph().streams}
        assert streams - {"compute"} <= set(names)
