"""Traces of steps: valid, and a flow wherever one stream lets another go on."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.engine.formats.trace_events import write_trace
from simulator.engine.network import Network
from simulator.llm.plan import Parallel
from simulator.llm.step.overlap import Overlap
from simulator.scenario.step_trace import step_trace
from tests.engine.formats.trace_reader import read_trace
from tests.llm.step.step_examples import mixture, model, step

STEPS = {
    "alone": (Parallel(), None),
    "three ways": (Parallel(tp=2, sp=True, pp=2, dp=2, zero=1), None),
    "experts": (Parallel(dp=4, ep=4), Network("fair_share")),
    "zero bubble": (Parallel(pp=4, schedule="zb-h1"), None),
}


@pytest.mark.parametrize("name", STEPS)
def test_steps_of_every_kind(name: str, tmp_path: Path) -> None:
    parallel, network = STEPS[name]
    done = step(parallel, Overlap(dp=True), of=mixture() if parallel.ep > 1 else model(), network=network)
    write_trace(step_trace(done), tmp_path / "trace.json.gz")
    found = read_trace(tmp_path / "trace.json.gz")
    shown = sorted((one.group, one.track, one.name, one.begin, one.end) for one in found.slices)
    times = zip(done.graph.tasks, done.begin.tolist(), done.end.tolist(), strict=True)
    assert shown == sorted((f"stage {t.stream.stage}", t.stream.name, t.name, b, e) for t, b, e in times)
    assert bool(found.flows) == (parallel.ranks > 1)
    for source, task in found.flows.values():
        one, other = found.slices[source], found.slices[task]
        assert (one.group, one.track) != (other.group, other.track)
        assert one.end <= other.begin
