"""Bars: bytes and busy time of levels, parts of a critical path, memory of stages."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from algorithms.registry import build
from plots.attribution import attribution_figure
from plots.levels import levels_figure
from plots.markers import Marker
from plots.memory import memory_figure
from simulator.engine.analysis import link_use
from simulator.engine.critical_path import critical_path, parts_by_level
from tests.plots.figures import kinds, names, ring_eight, run, texts
from topologies import Level, Shared, multilevel

CLUSTER = multilevel(
    [Level("card", 4, "ring", 64e9), Level("machine", 2, "ring", 16e9, 1e-6, uplink=Shared(1))]
)


def widths(figure: Figure, axes: int = 0) -> list[float]:
    return [bar.get_width() for bar in figure.axes[axes].patches]


def test_levels_add_up_bytes_and_tell_the_busiest_from_the_mean() -> None:
    timeline, schedule, topology = ring_eight()
    use, time = link_use(timeline, schedule), timeline.time
    figure = levels_figure(topology, use, time, title="Ring", markers=[Marker("bound", timeline.seconds / 2)])
    # 8 ranks send 7 blocks of M/8, all to the right: half of the links are idle
    assert widths(figure) == [7 * 2**20]
    busiest, mean = widths(figure, 1)
    assert busiest == pytest.approx(7 * 2**17 / 64e9)
    assert mean == pytest.approx(busiest / 2)
    assert any(label.startswith("bound ") for label in kinds(figure))
    assert len(figure.axes[1].lines) == 2
    assert widths(levels_figure(topology, use, time, title="", copies=3)) == [3 * 7 * 2**20]


def test_a_bound_past_the_time_is_named_only() -> None:
    timeline, schedule, topology = ring_eight()
    use = link_use(timeline, schedule)
    figure = levels_figure(topology, use, timeline.time, title="", markers=[Marker("closed form", 1.0)])
    assert len(figure.axes[1].lines) == 1
    assert "closed form 1 s \u2192" in kinds(figure)


def test_parts_of_the_path_sum_to_its_time_in_all_and_by_level() -> None:
    schedule = build("hierarchical", "allreduce", 8, 2**20, dims=(4, 2))
    timeline, *_ = run(schedule, CLUSTER)
    path = critical_path(timeline, CLUSTER)
    figure = attribution_figure(path, parts_by_level(path, timeline, CLUSTER), title="Cluster")
    assert names(figure.axes[0]) == ["all", "card links", "machine links", "at the ranks"]
    rows = np.zeros(4)
    for bar in figure.axes[0].patches:
        rows[int(bar.get_y())] += bar.get_width()
    assert rows[0] == pytest.approx(timeline.seconds)
    assert rows[1:].sum() == pytest.approx(timeline.seconds)
    assert "queueing" in kinds(figure)
    assert any(text.endswith(", 100%") for text in texts(figure))


def test_one_place_is_one_bar() -> None:
    timeline, _, topology = run(
        build("ring", "allgather", 4, 64), multilevel([Level("card", 4, "ring", 64e9)])
    )
    path = critical_path(timeline, topology)
    figure = attribution_figure(path, parts_by_level(path, timeline, topology), title="")
    assert names(figure.axes[0]) == ["all (card links)"]


def test_what_does_not_fit_lies_past_the_capacity() -> None:
    held = {"weights": np.array([40.0, 40.0]) * 2**30, "activations": np.array([50.0, 20.0]) * 2**30}
    figure = memory_figure(["stage 0", "stage 1"], held, 80.0 * 2**30, title="Plan", subtitle="")
    axes = figure.axes[0]
    (line,) = axes.lines
    assert np.asarray(line.get_xdata())[0] == 80 * 2**30
    over = [label.get_color() for label in axes.get_yticklabels()]
    assert over[0] == line.get_color() != over[1]
    assert {"90 GiB, 112%", "60 GiB, 75%", "capacity 80 GiB"} <= set(texts(figure))
    assert axes.get_xlim()[1] > 90 * 2**30


def test_no_capacity_no_line() -> None:
    figure = memory_figure(["every rank"], {"cache": np.array([3.0 * 2**20])}, None, title="", subtitle="")
    assert len(figure.axes[0].lines) == 0
    assert "3 MiB" in texts(figure)


def test_a_hundred_stages_are_still_told_apart() -> None:
    count = 100
    stages = [f"stage {i}" for i in range(count)]
    figure = memory_figure(stages, {"weights": np.ones(count)}, None, title="", subtitle="")
    assert len(names(figure.axes[0])) == count
    row = figure.axes[0].get_position().height * figure.get_figheight() / count * 72
    font = figure.axes[0].get_yticklabels()[0].get_fontsize()
    assert font < row
