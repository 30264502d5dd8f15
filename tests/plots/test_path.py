"""The critical path in a timeline's figure: where it is drawn, and that it is all of the path."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.typing import NDArray

from algorithms.registry import build, representative
from algorithms.schedule import Schedule
from plots.gantt import WAITING
from plots.lanes import HIDDEN, Lanes, by_rank, by_resource
from plots.path import AWAITED, CROSSED, HELD, KEPT, Stretches, stretches
from plots.style import save
from plots.timeline import timeline_figure, together_figure
from plots.views import View
from simulator.engine.critical_path import CriticalPath, critical_path
from simulator.engine.engines import run_plan
from simulator.engine.jobs import Job
from simulator.engine.lower import lower, lower_together
from simulator.engine.network import Endpoint, Network, Reduction
from simulator.engine.one_rank import lower_one
from simulator.engine.plan import SEND_PORT, START
from simulator.engine.timeline import Timeline
from topologies import Topology, crossbar, full_mesh, ring
from topologies.orbits import symmetric_topology

ROOM = (0.06, 0.72)
EIGHT = ring(8, bandwidth=64e9, latency=1e-6)


def table(
    schedule: Schedule,
    topology: Topology,
    network: Network | None = None,
    reduction: Reduction | None = None,
    delay: dict[int, float] | None = None,
) -> tuple[Timeline, Schedule, Topology]:
    return run_plan(lower(schedule, topology, network, reduction, delay)), schedule, topology


@cache
def every_model() -> list[tuple[Timeline, Schedule, Topology]]:
    """A timeline of each network model, of late ranks and of one rank that stands for all."""
    crowd = build("direct", "reduce_scatter", 6, 2**18)
    halving = build("recursive_halving", "reduce_scatter", 8, 2**20)
    tree = build("binomial", "broadcast", 8, 2**16)
    one = representative("direct", "all_to_all", 8, 2**20)
    around = symmetric_topology("ring", {"ranks": 8, "bandwidth": 64e9, "latency": 1e-6})
    assert one is not None
    assert around is not None
    alone = run_plan(lower_one(one, around, Network("cut_through")))
    return [
        table(build("ring", "reduce_scatter", 8, 2**20), EIGHT, None, Reduction(512e9)),
        table(
            crowd, crossbar(6, 64e9, 1e-6, overhead=2e-7), Network("cut_through"), Reduction(99e9, "streamed")
        ),
        table(crowd, crossbar(6, 64e9, 1e-6), Network("cut_through", buffers=2**14)),
        table(halving, EIGHT, Network("packet", mtu=2**14), None, {3: 1e-5}),
        table(halving, EIGHT, Network("fair_share"), Reduction(64e9)),
        table(tree, full_mesh(8, 1e9, 5e-6), Network(endpoint=Endpoint(2e-6, 4e-6)), None, {6: 1e-4}),
        (alone, one.schedule, around.around_rank_0()),
    ]


def shown(path: CriticalPath, timeline: Timeline, lanes: Lanes) -> Stretches:
    return stretches(path, timeline, lanes, ROOM, 1.0)


def lines(figure: Figure, name: str) -> NDArray[np.float64]:
    """Corners of what is drawn under a name, of all together: frames and lines."""
    found = [c for c in figure.axes[0].collections if c.get_label() == f"path {name}"]
    corners = [path.vertices for c in found for path in c.get_paths()]
    return np.concatenate([np.asarray(corner) for corner in corners]) if corners else np.zeros((0, 2))


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_stretches_are_all_of_the_path_on_its_own_lanes() -> None:
    for timeline, _, topology in every_model():
        path = critical_path(timeline, topology)
        for lanes in (by_resource(timeline.plan, topology), by_rank(timeline.plan, topology)):
            where = shown(path, timeline, lanes)
            # one behind the other from the start to the end, and nothing twice
            assert (where.begin[0], where.end[-1]) == (0, timeline.time)
            assert where.begin[1:].tolist() == where.end[:-1].tolist()
            for i in range(0, len(path), 1 + len(path) // 100):
                stretch = int(np.searchsorted(where.begin, path.begin[i], side="right")) - 1
                assert path.end[i] <= where.end[stretch]
                lane = lanes.lane[:, path.resource[i]]
                if (lane == HIDDEN).all():
                    continue
                floor = np.floor(where.top[:, stretch])
                assert floor[lane != HIDDEN].tolist() == lane[lane != HIDDEN].tolist()
                assert np.isnan(floor[lane == HIDDEN]).all()


def test_by_resource_nothing_is_hidden() -> None:
    for timeline, _, topology in every_model():
        where = shown(critical_path(timeline, topology), timeline, by_resource(timeline.plan, topology))
        assert np.isfinite(where.top).all()


def test_a_ring_that_reduces_is_framed_step_by_step() -> None:
    timeline, schedule, topology = table(
        build("ring", "reduce_scatter", 8, 2**20), EIGHT, None, Reduction(512e9)
    )
    path = critical_path(timeline, topology)
    where = shown(path, timeline, by_resource(timeline.plan, topology))
    # 7 steps: a link, its latency, a reducer
    assert where.look.tolist() == [HELD, CROSSED, HELD] * 7
    figure = timeline_figure(timeline, schedule, topology, title="", path=path)
    assert legend(figure) == ["transfer", "latency", "reduction", "critical path"]
    frames = lines(figure, "held").reshape(14, -1, 2)
    held = where.look == HELD
    assert sorted(frames[:, :, 0].min(axis=1)) == pytest.approx(where.begin[held] / 1e9)
    assert sorted(frames[:, :, 0].max(axis=1)) == pytest.approx(where.end[held] / 1e9)
    # from the link to the reducer and back, but for the end
    turns = lines(figure, "turns").reshape(-1, 2, 2)
    assert turns[:, 0, 0] == pytest.approx(path.end[1:-1][np.diff(path.resource)[1:] != 0] / 1e9)
    assert (turns[:, 0, 0] == turns[:, 1, 0]).all()


def test_who_waits_is_below_the_bars() -> None:
    schedule = build("recursive_halving", "reduce_scatter", 8, 2**20)
    timeline, _, topology = table(schedule, EIGHT, Network("cut_through"))
    path = critical_path(timeline, topology)
    where = shown(path, timeline, by_resource(timeline.plan, topology))
    waits = where.look == AWAITED
    assert path.totals()["queueing"] == (where.end - where.begin)[waits].sum() > 0
    assert np.mod(where.top[0, waits], 1) == pytest.approx(WAITING[0])
    figure = timeline_figure(timeline, schedule, topology, title="", path=path)
    assert len(lines(figure, "awaited")) == 2 * waits.sum()


def test_a_flow_that_has_less_than_its_link_is_kept() -> None:
    # each of 3 flows takes 3 times as long as alone: one time held, two times kept
    schedule = build("direct", "gather", 4, 4 * 2**20, root=0)
    timeline, _, topology = table(schedule, crossbar(4, 64e9, 1e-6), Network("fair_share"))
    path = critical_path(timeline, topology)
    where = shown(path, timeline, by_resource(timeline.plan, topology))
    taken = where.end - where.begin
    assert taken[where.look == KEPT].sum() == pytest.approx(2 * taken[where.look == HELD].sum())
    assert AWAITED not in where.look
    figure = timeline_figure(timeline, schedule, topology, title="", path=path)
    assert len(lines(figure, "held")) == len(lines(figure, "kept")) > 0


def test_a_port_without_a_lane_is_shown_on_its_link() -> None:
    tree = build("binomial", "broadcast", 8, 2**16)
    timeline, _, topology = table(tree, full_mesh(8, 1e9, 5e-6), Network(endpoint=Endpoint(2e-6, 4e-6)))
    path = critical_path(timeline, topology)
    lanes = by_rank(timeline.plan, topology)
    ports = timeline.plan.resources.kind >= SEND_PORT
    assert (lanes.lane[:, ports] == HIDDEN).all()
    assert ports[path.resource].any()
    where = shown(path, timeline, lanes)
    assert np.isfinite(where.top).any(axis=0).all()
    assert not ports[where.resource].any()


def test_a_late_start_without_a_lane_is_left_out() -> None:
    both = [Job(build("ring", "allgather", 8, 2**20), np.arange(8), delay={3: 1e-5})] * 2
    together = lower_together(both, EIGHT)
    timeline = run_plan(together.plan)
    path = critical_path(timeline, EIGHT)
    assert together.plan.resources.kind[path.resource[0]] == START
    figure = together_figure(timeline, together, EIGHT, title="", names=["a", "b"], path=path)
    assert legend(figure)[-1] == "critical path"
    drawn = np.concatenate([lines(figure, name) for name in ("held", "crossed", "awaited", "turns")])
    # us; nothing before rank 3 begins
    assert drawn[:, 0].min() == pytest.approx(10)
    assert drawn[:, 0].max() == pytest.approx(timeline.time / 1e9)


def test_in_an_image_every_segment_is_on_a_line() -> None:
    # 64 links up, 64 down, 64 reducers and a late start
    schedule, topology = build("recursive_halving", "reduce_scatter", 64, 2**20), crossbar(64, 64e9, 1e-6)
    timeline, *_ = table(schedule, topology, None, Reduction(512e9), {9: 3e-5})
    path = critical_path(timeline, topology)
    figure = timeline_figure(timeline, schedule, topology, title="", path=path)
    assert legend(figure) == ["crossbar links", "reducers", "starts", "critical path"]
    (line,) = (one for one in figure.axes[0].lines if one.get_label() == "critical path")
    x, y = (np.asarray(column, dtype=np.float64).reshape(-1, 3)[:, :2] for column in line.get_data())
    lane = by_resource(timeline.plan, topology).lane[0]
    for i in range(len(path)):
        own = y[:, 0] == lane[path.resource[i]] + 0.5
        covers = (x[:, 0] <= path.begin[i] / 1e9) & (path.end[i] / 1e9 <= x[:, 1])
        assert (own & covers).any()
    # and a line is nowhere but where a segment is
    assert (x[:, 1] - x[:, 0]).sum() == pytest.approx(timeline.time / 1e9)


def test_the_same_bytes_again_and_none_without_a_path(tmp_path: Path) -> None:
    timeline, schedule, topology = table(build("ring", "reduce_scatter", 8, 2**20), EIGHT)
    path = critical_path(timeline, topology)
    for name, own in (("a", path), ("b", path), ("c", None)):
        figure = timeline_figure(timeline, schedule, topology, title="", path=own)
        save(figure, tmp_path / f"{name}.svg")
    a, b, c = ((tmp_path / f"{name}.svg").read_bytes() for name in "abc")
    assert a == b
    assert b"critical path" not in c


def test_a_path_without_any_lane_is_not_seen() -> None:
    # all that takes time is that rank 3 begins late, in a chart and in an image
    for ranks in (8, 128):
        topology = full_mesh(ranks, bandwidth=64e9)
        job = Job(build("binomial", "broadcast", ranks, 0), np.arange(ranks), delay={3: 1e-5})
        together = lower_together([job, job], topology)
        timeline = run_plan(together.plan)
        path = critical_path(timeline, topology)
        assert path.totals()["waiting"] == timeline.time == 10**10
        figure = together_figure(timeline, together, topology, title="", names=["a", "b"], path=path)
        assert sum(len(lines(figure, name)) for name in ("held", "kept", "crossed", "awaited", "turns")) == 0


def test_of_no_time_there_is_no_path() -> None:
    timeline, schedule, topology = table(build("ring", "allreduce", 4, 0), ring(4, bandwidth=64e9))
    figure = timeline_figure(timeline, schedule, topology, title="", path=critical_path(timeline, topology))
    assert "critical path" not in legend(figure)


def test_every_model_can_be_drawn() -> None:
    for i, (timeline, schedule, topology) in enumerate(every_model()):
        path = critical_path(timeline, topology)
        view: View = "ranks" if i % 2 else "links"
        figure = timeline_figure(timeline, schedule, topology, title="", lanes=view, path=path)
        assert "critical path" in legend(figure)
