"""Pictures of how busy links are: over time, by level, and on the topology."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb

from algorithms.registry import build
from algorithms.schedule import Schedule
from plots.heat import Heat, heat_map
from plots.heatmap import heatmap_figure
from plots.lanes import HIDDEN, by_level, by_resource, only
from plots.queues import waiting
from plots.timeline import timeline_figure
from plots.topology import topology_figure
from simulator.engine.analysis import link_use
from simulator.engine.critical_path import critical_path
from simulator.engine.network import Network
from simulator.engine.plan import LINK
from simulator.engine.timeline import Timeline
from tests.plots.figures import image, kinds, names, ring_eight, run, texts
from topologies import Level, Shared, Topology, crossbar, multilevel, ring

CLUSTER = multilevel(
    [Level("card", 4, "full_mesh", 64e9), Level("machine", 2, "ring", 16e9, 1e-6, uplink=Shared(1))]
)


def hierarchical() -> tuple[Timeline, Schedule, Topology]:
    return run(build("hierarchical", "allreduce", 8, 2**20, dims=(4, 2)), CLUSTER)


def test_a_row_a_link_and_its_mean_beside_it() -> None:
    timeline, _, topology = ring_eight()
    figure = heatmap_figure(timeline, topology, title="Ring")
    assert names(figure.axes[0]) == [f"{i}->{(i + 1) % 8}" for i in range(8)]
    # of each step a link is busy for M/8 / 64 GB/s, then M/8 / 512 GB/s are reduced, and 1 us passes
    step = 2**17 / 64e9
    busy = step / (step + 2**17 / 512e9 + 1e-6)
    assert image(figure).mean(axis=1) == pytest.approx([busy] * 8, rel=1e-6)
    widths = [bar.get_width() for bar in figure.axes[1].patches]
    assert widths == pytest.approx([busy] * 8, rel=1e-6)
    assert "8 links that carry something" in texts(figure)[1]


def test_links_that_carry_nothing_have_no_row() -> None:
    one = build("direct", "send_recv", 8, 64, root=2, peer=3)
    timeline, _, topology = run(one, ring(8, 64e9))
    figure = heatmap_figure(timeline, topology, title="")
    assert names(figure.axes[0]) == ["2->3"]


def test_past_256_links_neighbours_share_a_row_of_their_level() -> None:
    timeline, _, topology = run(build("binomial", "broadcast", 256, 64), crossbar(256, 64e9))
    figure = heatmap_figure(timeline, topology, title="")
    assert 200 <= len(image(figure)) <= 256
    # 128 ranks send, and all but the root receive
    assert "383 links that carry something in 256 rows" in texts(figure)[1]


def test_no_link_at_all() -> None:
    timeline, *_ = run(build("ring", "allreduce", 1, 64), ring(1, 64e9))
    assert "nothing moves" in texts(heatmap_figure(timeline, ring(1, 64e9), title=""))


def test_a_lane_a_level_has_all_of_its_links() -> None:
    timeline, *_ = hierarchical()
    lanes = by_level(timeline.plan, CLUSTER)
    assert lanes.groups == ("card links", "machine links", "reducers")
    kind, which = timeline.plan.resources.kind, timeline.plan.resources.which
    for lane, level in enumerate((0, 1)):
        own = np.flatnonzero(lanes.lane[0] == lane)
        assert (kind[own] == LINK).all()
        assert (CLUSTER.links.level[which[own]] == level).all()


def test_some_lanes_keep_their_names_and_groups() -> None:
    timeline, *_ = hierarchical()
    every = by_resource(timeline.plan, CLUSTER)
    link = timeline.plan.resources.kind == LINK
    lanes = only(every, link)
    assert lanes.groups == ("card links", "machine links")
    assert (lanes.lane[0, ~link] == HIDDEN).all()
    assert [lanes.name(i) for i in range(len(lanes))] == [every.name(i) for i in range(len(lanes))]


def test_levels_over_time_say_who_waits_and_where_the_path_is() -> None:
    timeline, schedule, topology = hierarchical()
    path = critical_path(timeline, topology)
    figure = timeline_figure(timeline, schedule, topology, title="", lanes="levels", path=path)
    # two ways between the machines; all links of cards carry something, to the gateway and back
    assert names(figure.axes[0]) == [
        "card links\n24 of them",
        "machine links\n2 of them",
        "reducers\n8 of them",
    ]
    assert kinds(figure) == ["messages that wait", "critical path"]
    # four ranks send two messages each at once over the one link
    assert any(text.endswith(" wait") for text in texts(figure))


def test_what_waits_is_the_time_between_arrival_and_grant() -> None:
    schedule = build("direct", "reduce_scatter", 8, 2**20)
    timeline, *_ = run(schedule, crossbar(8, 64e9, overhead=1e-6), Network("cut_through"))
    row = np.where(timeline.plan.resources.kind == LINK, 0, HIDDEN)
    counts = waiting(timeline, row, 1, timeline.time, 50)
    links = row[timeline.plan.resource] == 0
    assert counts.sum() * timeline.time / 50 == pytest.approx(
        float((timeline.grant - timeline.arrival)[links].sum())
    )


def test_an_image_says_how_many_wait() -> None:
    schedule = build("direct", "all_to_all", 72, 72**2)
    table = run(schedule, crossbar(72, 64e9, overhead=1e-6), Network("cut_through"))
    figure = timeline_figure(*table, title="")
    assert len(figure.axes[0].images) == 1
    assert "messages that wait" in kinds(figure)


def test_links_have_the_colour_of_what_they_did_each_way_by_itself() -> None:
    timeline, schedule, topology = ring_eight()
    use = link_use(timeline, schedule)
    heat = Heat(use.bytes.astype(float), float(use.bytes.max()), "bytes", str)
    figure = topology_figure(topology, heat=heat)
    busy, idle = (
        next(c for c in figure.axes[0].collections if isinstance(c, LineCollection) and c.get_label() == name)
        for name in ("bytes", "idle")
    )
    # seven of eight blocks go round to the right, nothing to the left
    assert (len(busy.get_segments()), len(idle.get_segments())) == (8, 8)
    np.testing.assert_allclose(np.asarray(busy.get_colors())[:, :3], [to_rgb(heat_map()(1.0))] * 8)
    assert kinds(figure)[0].endswith("bytes: 458752.0 on average, 917504.0 at most")


def test_of_parallel_links_the_busiest_counts_and_of_many_nodes_the_busier_direction() -> None:
    value = np.zeros(len(CLUSTER.links))
    value[np.flatnonzero(CLUSTER.links.level == 1)[0]] = 3.0
    figure = topology_figure(CLUSTER, heat=Heat(value, 3.0, "busy", str))
    drawn = [c for c in figure.axes[0].collections if c.get_label() == "busy"]
    assert [len(c.get_paths()) for c in drawn] == [1]
    large = ring(256, 64e9)
    figure = topology_figure(large, heat=Heat(np.tile([1.0, 2.0], 256), 2.0, "busy", str))
    (lines,) = (c for c in figure.axes[0].collections if c.get_label() == "busy")
    assert len(lines.get_paths()) == 256


def test_ranks_of_64_in_levels_can_be_read() -> None:
    shared = Shared(2)
    cluster = multilevel(
        [
            Level("card", 4, "full_mesh", 64e9),
            Level("machine", 4, "ring", 32e9, uplink=shared),
            Level("rack", 4, "switch", 25e9, uplink=shared),
        ]
    )
    figure = topology_figure(cluster)
    sizes = [text.get_fontsize() for text in figure.axes[0].texts if text.get_text().isdigit()]
    assert len(sizes) == 64
    assert min(sizes) >= 5
