"""Timelines too big for bars: how busy lanes are, as an image."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from algorithms.registry import build
from plots import bars as charts
from plots.density import coverage, density
from plots.lanes import by_resource
from plots.style import save
from plots.timeline import Marker, timeline_figure
from simulator.engine.analysis import link_use
from simulator.engine.engines import run_plan
from simulator.engine.lower import lower
from simulator.engine.network import Network
from simulator.engine.timeline import Timeline
from tests.plots.figures import image, kinds, ring_eight, run, texts
from topologies import (
    Level,
    Shared,
    crossbar,
    full_mesh,
    multilevel,
    ring,
)


def test_long_names_of_levels_leave_room_for_an_image(tmp_path: Path) -> None:
    inner = Level("card" * 2500, 8, "full_mesh", 64e9)
    cluster = multilevel([inner, Level("machine" * 2500, 8, "ring", 16e9, uplink=Shared(2))])
    table = run(build("hierarchical", "allreduce", 64, 2**20, dims=(8, 8)), cluster)
    figure = timeline_figure(*table, title="")
    assert image(figure).shape[0] > 64
    assert figure.axes[0].get_position().width > 0.5
    save(figure, tmp_path / "long.png")


def test_past_the_limit_it_is_an_image(tmp_path: Path) -> None:
    table = run(build("ring", "allgather", 72, 72 * 2**10), ring(72, bandwidth=64e9))
    figure = timeline_figure(*table, title="", markers=[Marker("bound", 1e-6)])
    # 72 links that are busy all the time
    assert image(figure).shape[0] == 72
    assert image(figure).min() == pytest.approx(1.0, abs=1e-6)
    assert figure.axes[1].get_ylim() == (0, 1.05)
    assert "ring links" in texts(figure)
    save(figure, tmp_path / "a.png")


def test_density_of_roles() -> None:
    table = run(build("direct", "allgather", 52, 2**20), full_mesh(52, bandwidth=64e9, latency=1e-6))
    figure = timeline_figure(*table, title="", lanes="ranks")
    assert len(figure.axes[0].images) == 1
    assert kinds(figure) == ["sends", "receives"]


def test_no_time_at_all_has_an_image_too() -> None:
    table = run(build("ring", "allgather", 72, 0), ring(72, bandwidth=64e9))
    assert image(timeline_figure(*table, title="")).max() == 0.0


@pytest.mark.parametrize("rows", [3, 5, 16, 100])
def test_density_keeps_the_busy_time(rows: int) -> None:
    timeline, _, topology = ring_eight()
    lanes = by_resource(timeline.plan, topology)
    picture = density(timeline, lanes, timeline.time, bins=37, rows=rows)
    total = (picture.busy * picture.resources[:, None]).sum() * timeline.time / 37
    assert total == pytest.approx(float(timeline.plan.hold.sum()))
    # rows do not mix links with reducers
    assert len({*picture.row[:8]} & {*picture.row[8:]}) == 0
    links, reducers = picture.groups().mean(axis=1) * timeline.time
    # each link sends 7 times, each reducer reduces as often, 8 times as fast
    assert links == pytest.approx(8 * reducers)


def test_coverage_is_what_a_loop_counts() -> None:
    rng = np.random.default_rng(7)
    start = rng.uniform(0, 20, 200)
    stop = np.minimum(start + rng.uniform(0, 6, 200), 20)
    row, weight = rng.integers(0, 3, 200), rng.uniform(0, 1, 200)
    expected = np.zeros((3, 20))
    for r, a, b, w in zip(row, start, stop, weight, strict=True):
        for k in range(20):
            expected[r, k] += w * max(0.0, min(b, k + 1) - max(a, k))
    np.testing.assert_allclose(coverage(row, start, stop, (3, 20), weight), expected, atol=1e-9)


def test_a_link_that_is_shared_is_as_busy_as_its_bytes() -> None:
    # two flows a link, half of it each from their start to their end
    schedule, topology = build("direct", "all_to_all", 3, 3 * 2**20), crossbar(3, 64e9, 1e-6)
    timeline = run_plan(lower(schedule, topology, Network(model="fair_share")))
    picture = density(timeline, by_resource(timeline.plan, topology), timeline.time, bins=37)
    busy = (picture.busy * picture.resources[:, None]).sum() * timeline.time / 37
    assert busy == pytest.approx(float(link_use(timeline, schedule).busy.sum()), rel=1e-6)
    # nobody queues: the latencies are over when a flow comes
    chart = charts.bars(timeline, schedule.step, topology, by_resource(timeline.plan, topology), 1.0)
    assert chart.arrival.tolist() == timeline.grant.tolist()


def test_a_quarter_of_a_million_hops_are_no_matter() -> None:
    schedule, topology = build("ring", "allgather", 512, 2**20), ring(512, bandwidth=64e9)
    plan = lower(schedule, topology)
    start = schedule.step.astype(np.int64) * int(plan.hold[0])
    timeline = Timeline(plan, start, start, start + plan.hold, "by hand")
    figure = timeline_figure(timeline, schedule, topology, title="")
    assert image(figure).shape[0] <= 330
