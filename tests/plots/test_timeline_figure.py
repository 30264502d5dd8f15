"""Figures of timelines: what is on them, and that they are the same bytes on every run."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray

from algorithms.registry import build
from algorithms.schedule import Schedule
from plots import bars as charts
from plots import markers as lines_of
from plots.density import coverage, density
from plots.lanes import HIDDEN, by_rank, by_resource, packed
from plots.style import save
from plots.timeline import Marker, timeline_figure
from simulator.engine.analysis import link_use
from simulator.engine.engines import run_plan
from simulator.engine.lower import lower
from simulator.engine.network import Endpoint, Network, Reduction
from simulator.engine.simpy_engine import run_simpy
from simulator.engine.timeline import Timeline
from topologies import (
    CustomLink,
    CustomNodes,
    Level,
    Shared,
    Topology,
    crossbar,
    custom,
    full_mesh,
    multilevel,
    ring,
)

REDUCTION = Reduction(512e9)
EIGHT = ring(8, bandwidth=64e9, latency=1e-6)


def run(
    schedule: Schedule,
    topology: Topology,
    network: Network | None = None,
    reduction: Reduction | None = REDUCTION,
    delay: dict[int, float] | None = None,
) -> tuple[Timeline, Schedule, Topology]:
    return run_simpy(lower(schedule, topology, network, reduction, delay)), schedule, topology


def ring_eight(size: int = 2**20) -> tuple[Timeline, Schedule, Topology]:
    return run(build("ring", "reduce_scatter", 8, size), EIGHT)


def bars(figure: Figure, kind: str) -> int:
    found = [c for c in figure.axes[0].collections if c.get_label() == kind]
    assert all(isinstance(c, PolyCollection) for c in found)
    return sum(len(c.get_paths()) for c in found)


def names(axes: Axes) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


def texts(figure: Figure) -> list[str]:
    return [t.get_text() for t in (*figure.texts, *(t for a in figure.axes for t in a.texts))]


def image(figure: Figure) -> NDArray[np.float64]:
    (only,) = figure.axes[0].images
    return np.asarray(only.get_array())


def kinds(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_a_bar_for_every_hop() -> None:
    figure = timeline_figure(*ring_eight(), title="Ring")
    # 7 steps, 8 ranks: as many transfers as reductions
    assert (bars(figure, "transfer"), bars(figure, "reduction"), bars(figure, "latency")) == (56, 56, 56)
    assert kinds(figure) == ["transfer", "latency", "reduction"]


def test_lanes_are_named_links_first() -> None:
    figure = timeline_figure(*ring_eight(), title="Ring")
    links = [f"{i}->{(i + 1) % 8}" for i in range(8)]
    assert names(figure.axes[0]) == links + [f"rank {i} reduces" for i in range(8)]
    assert {"ring links", "reducers"} <= set(texts(figure))


def test_titles() -> None:
    figure = timeline_figure(*ring_eight(2**30), title="costs $1 or $2")
    # 7 (2**27 (1/64e9 + 1/512e9) s + 1 us)
    assert texts(figure)[:2] == ["costs $1 or $2", "8 ranks, 7 steps, 56 transfers, 16.52 ms"]
    assert figure.axes[0].get_xlabel() == "time (ms)"


def test_bars_stand_where_the_columns_say() -> None:
    timeline, schedule, topology = ring_eight()
    figure = timeline_figure(timeline, schedule, topology, title="")
    (collection,) = (c for c in figure.axes[0].collections if c.get_label() == "transfer")
    corners = [path.get_extents() for path in collection.get_paths()]
    own = timeline.plan.resources.kind[timeline.plan.resource] == 0
    np.testing.assert_allclose([box.x0 for box in corners], timeline.grant[own] / 1e9)
    np.testing.assert_allclose([box.x1 for box in corners], timeline.release[own] / 1e9)
    assert [int(box.y0) for box in corners[:8]] == list(range(8))


def test_queueing_overhead_and_one_step() -> None:
    schedule = build("direct", "reduce_scatter", 8, 2**20)
    table = run(schedule, crossbar(8, bandwidth=64e9, overhead=1e-6), Network("cut_through"))
    figure = timeline_figure(*table, title="")
    waiting = int((table[0].grant > table[0].arrival).sum())
    # 8 ranks with 7 messages each over an up and a down link; 6 of 7 wait for the first link
    assert (bars(figure, "transfer"), bars(figure, "overhead")) == (112, 112)
    assert bars(figure, "queueing") == waiting >= 48
    assert kinds(figure) == ["transfer", "overhead", "reduction", "queueing"]


def test_a_late_rank_has_a_lane() -> None:
    table = run(build("ring", "allgather", 8, 2**20), EIGHT, None, None, {3: 1e-5})
    figure = timeline_figure(*table, title="")
    assert names(figure.axes[0])[-1] == "rank 3 starts"
    assert bars(figure, "delay") == 1


def test_lanes_of_ranks() -> None:
    figure = timeline_figure(*ring_eight(), title="", lanes="ranks")
    assert names(figure.axes[0]) == ["sends", "receives", "reduces"] * 8
    assert {f"rank {i}" for i in range(8)} <= set(texts(figure))
    # a link is shown at both its ends
    assert (bars(figure, "transfer"), bars(figure, "reduction")) == (112, 56)


def test_lanes_of_what_a_message_costs_its_ranks() -> None:
    one = build("direct", "send_recv", 8, 2**20, root=0, peer=1)
    table = run(one, EIGHT, Network(endpoint=Endpoint(1e-6, 1e-6)), None)
    figure = timeline_figure(*table, title="")
    own = ["rank 0 processor", "rank 1 processor", "rank 0 send port", "rank 1 receive port"]
    assert names(figure.axes[0]) == ["0->1", *own]
    assert (bars(figure, "processor"), bars(figure, "port")) == (2, 2)
    assert kinds(figure) == ["transfer", "latency", "processor", "port"]
    # of a rank's ports its links tell
    figure = timeline_figure(*table, title="", lanes="ranks")
    assert names(figure.axes[0]) == ["processor", "sends", "processor", "receives"]


def test_links_that_share_a_lane_share_its_height() -> None:
    plan = lower(build("direct", "allgather", 4, 64), full_mesh(4, bandwidth=64e9))
    lanes = by_rank(plan, full_mesh(4, bandwidth=64e9))
    assert len(lanes) == 8
    for lane in range(8):
        own = lanes.lane == lane
        assert sorted(lanes.low[own]) == pytest.approx([0, 1 / 3, 2 / 3])
        assert sorted(lanes.high[own]) == pytest.approx([1 / 3, 2 / 3, 1])


def test_links_in_use_at_different_times_take_the_whole_lane() -> None:
    # a ring inside, then across: a rank never sends on both
    cards = Level("machine", 2, "full_mesh", 16e9, 1e-6)
    cluster = multilevel([Level("card", 2, "full_mesh", 64e9, 1e-6), cards])
    timeline, *_ = run(build("hierarchical", "allreduce", 4, 2**20, dims=(2, 2)), cluster)
    apart = by_rank(timeline.plan, cluster)
    lanes = packed(apart, timeline)
    used = lanes.lane != HIDDEN
    assert (apart.high - apart.low)[used].min() == 0.5
    assert ((lanes.high - lanes.low)[used] == 1.0).all()


def test_links_in_use_at_once_stay_side_by_side() -> None:
    mesh = full_mesh(4, bandwidth=64e9)
    timeline, *_ = run(build("direct", "allgather", 4, 2**20), mesh)
    lanes = packed(by_rank(timeline.plan, mesh), timeline)
    for lane in range(len(lanes)):
        own = lanes.lane == lane
        assert sorted(lanes.low[own]) == pytest.approx([0, 1 / 3, 2 / 3])
        assert sorted(lanes.high[own]) == pytest.approx([1 / 3, 2 / 3, 1])


def png_size(path: Path) -> tuple[int, int]:
    """Width and height in the head of a PNG."""
    wide, tall = np.frombuffer(path.read_bytes()[16:24], dtype=">u4").tolist()
    return wide, tall


def test_long_names_are_cut(tmp_path: Path) -> None:
    hub = "a" * 5000 + "b" * 5000
    star = custom(CustomNodes(4, [hub]), [CustomLink(i, hub, 1e9) for i in range(4)])
    table = run(build("direct", "allgather", 4, 2**20), star, Network("cut_through"), None)
    figure = timeline_figure(*table, title=hub, markers=[Marker(hub, 1e-6)])
    short = "a" * 12 + "\u2026" + "b" * 11
    assert names(figure.axes[0])[0] == f"0->{short}"
    assert texts(figure)[0] == "a" * 40 + "\u2026" + "b" * 39
    assert f"{short} 1 us" in texts(figure)
    save(figure, tmp_path / "long.png")
    assert png_size(tmp_path / "long.png")[0] == 1000


def test_long_names_of_levels_leave_room_for_an_image(tmp_path: Path) -> None:
    inner = Level("card" * 2500, 8, "full_mesh", 64e9)
    cluster = multilevel([inner, Level("machine" * 2500, 8, "ring", 16e9, uplink=Shared(2))])
    table = run(build("hierarchical", "allreduce", 64, 2**20, dims=(8, 8)), cluster)
    figure = timeline_figure(*table, title="")
    assert image(figure).shape[0] > 64
    assert figure.axes[0].get_position().width > 0.5
    save(figure, tmp_path / "long.png")


def test_many_links_become_ranks() -> None:
    table = run(build("direct", "allgather", 8, 2**20), full_mesh(8, bandwidth=64e9))
    assert names(timeline_figure(*table, title="").axes[0]) == ["sends", "receives"] * 8
    assert len(names(timeline_figure(*table, title="", lanes="links").axes[0])) == 56


@pytest.mark.parametrize("role_first", [False, True])
def test_links_between_switches_are_never_hidden(role_first: bool) -> None:
    cards = Level("machine", 2, "ring", 16e9, uplink=Shared(2))
    cluster = multilevel([Level("card", 4, "full_mesh", 64e9), cards])
    plan = lower(build("hierarchical", "allreduce", 8, 2**20, dims=(4, 2)), cluster)
    lanes = by_rank(plan, cluster, role_first=role_first)
    used = np.bincount(plan.resource, minlength=len(plan.resources)) > 0
    assert ((lanes.lane != HIDDEN).any(axis=0) == used).all()
    inner = [lanes.name(i) for i in range(len(lanes)) if "gateway0->" in lanes.name(i)]
    assert len(inner) == 2
    assert lanes.groups[-1] == ("machine links" if role_first else "")


def test_links_stand_by_level_then_source() -> None:
    cards = Level("machine", 2, "ring", 16e9)
    cluster = multilevel([Level("card", 4, "ring", 64e9), cards])
    plan = lower(build("hierarchical", "allgather", 8, 2**20, dims=(4, 2)), cluster)
    lanes = by_resource(plan, cluster)
    assert lanes.groups == ("card links", "machine links")
    row = [np.flatnonzero(lanes.lane[0] == lane)[0] for lane in range(len(lanes))]
    order = [(cluster.links.level[i], cluster.links.src[i], cluster.links.dst[i]) for i in row]
    assert order == sorted(order)


def test_markers_are_drawn_and_named() -> None:
    markers = [Marker("analytic", 16.516e-3), Marker("bound", 14.68e-3), Marker("none", float("nan"))]
    figure = timeline_figure(*ring_eight(2**30), title="", markers=markers)
    assert {"bound 14.68 ms", "time = analytic 16.52 ms"} <= set(texts(figure))
    places = [
        np.asarray(line.get_xdata())[0]
        for line in figure.axes[0].lines
        if str(line.get_label()).startswith("_bound")
    ]
    assert places == pytest.approx([14.68])


@pytest.mark.parametrize("gap", [0.11e-3, 0.3e-3, 1e-3])
def test_labels_keep_apart(gap: float) -> None:
    markers = [Marker(f"a bound of length {i}", 5e-3 + gap * (i - 4)) for i in range(9)]
    lines, end = lines_of.layout(markers, 10e-3, 8.0)
    assert len(lines) == 10
    assert end == 10e-3
    rooms = []
    for line in lines:
        x, wide = line.place / end * 8.0, 0.06 * len(line.text)
        rooms.append((line.row, x - wide if line.leftwards else x, x if line.leftwards else x + wide))
    assert min(left for _, left, _ in rooms) >= 0
    assert max(right for *_, right in rooms) <= 8.0
    for one, other in combinations(rooms, 2):
        assert one[0] != other[0] or one[2] <= other[1] or other[2] <= one[1]


def test_a_far_marker_does_not_squash_the_picture() -> None:
    lines, end = lines_of.layout([Marker("analytic", 1.0)], 1e-3, 8.0)
    assert end == pytest.approx(1.25e-3)
    assert (lines[-1].text, lines[-1].place) == ("analytic 1 s \u2192", end)


def test_nothing_moves() -> None:
    table = run(build("ring", "allreduce", 1, 2**20), ring(1, bandwidth=64e9))
    assert texts(timeline_figure(*table, title="Alone")) == [
        "Alone",
        "1 rank, 0 steps, 0 transfers",
        "nothing moves",
    ]


def test_bars_of_no_time_are_lines() -> None:
    table = run(build("ring", "allreduce", 4, 0), ring(4, bandwidth=64e9))
    figure = timeline_figure(*table, title="", markers=[Marker("bound", 0.0)])
    assert (bars(figure, "transfer"), bars(figure, "reduction")) == (24, 12)
    (transfers,) = (c for c in figure.axes[0].collections if c.get_label() == "transfer")
    assert np.min(transfers.get_linewidth()) >= 1.0
    assert figure.axes[0].get_xlabel() == "all of it takes no time"
    assert "time = bound 0 s" in texts(figure)


def test_steps_are_named_or_scaled() -> None:
    few = timeline_figure(*ring_eight(), title="")
    assert [t.get_text() for t in few.axes[1].get_xticklabels()] == [str(i) for i in range(7)]
    many = run(build("ring", "allreduce", 12, 2**20), ring(12, bandwidth=64e9))
    assert 3 < len(timeline_figure(*many, title="").axes[1].get_xticks()) < 12


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


def test_the_same_bytes_in_another_process(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT], cwd=root, capture_output=True, text=True, check=True
    )
    figure = timeline_figure(*ring_eight(), title="Ring", markers=[Marker("bound", 1e-5)])
    here = []
    for name in ("here.png", "here.svg"):
        save(figure, tmp_path / name)
        here.append(hashlib.sha256((tmp_path / name).read_bytes()).hexdigest())
    assert done.stdout.split() == here


_SCRIPT = """
import hashlib, pathlib, tempfile
from algorithms.registry import build
from plots.style import save
from plots.timeline import Marker, timeline_figure
from simulator.engine.lower import lower
from simulator.engine.network import Network, Reduction
from simulator.engine.simpy_engine import run_simpy
from topologies import ring

schedule, topology = build("ring", "reduce_scatter", 8, 2**20), ring(8, bandwidth=64e9, latency=1e-6)
timeline = run_simpy(lower(schedule, topology, Network(), Reduction(512e9)))
figure = timeline_figure(timeline, schedule, topology, title="Ring", markers=[Marker("bound", 1e-5)])
with tempfile.TemporaryDirectory() as folder:
    for suffix in ("png", "svg"):
        path = pathlib.Path(folder) / f"a.{suffix}"
        save(figure, path)
        print(hashlib.sha256(path.read_bytes()).hexdigest())
"""


def test_the_timeline_decides_not_the_engine() -> None:
    timeline, schedule, topology = ring_eight()
    other = replace(timeline, engine="another")
    assert texts(timeline_figure(other, schedule, topology, title="")) == texts(
        timeline_figure(timeline, schedule, topology, title="")
    )
