"""Figures of timelines: what is on them, and that they are the same bytes on every run."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from algorithms.registry import build
from plots.style import save
from plots.timeline import Marker, timeline_figure
from simulator.engine.network import Endpoint, Network
from tests.plots.figures import EIGHT, bars, kinds, names, ring_eight, run, texts
from topologies import (
    CustomLink,
    CustomNodes,
    crossbar,
    custom,
    full_mesh,
    ring,
)


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


def test_many_links_become_ranks() -> None:
    table = run(build("direct", "allgather", 8, 2**20), full_mesh(8, bandwidth=64e9))
    assert names(timeline_figure(*table, title="").axes[0]) == ["sends", "receives"] * 8
    assert len(names(timeline_figure(*table, title="", lanes="links").axes[0])) == 56


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


def test_the_same_bytes_in_another_process(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT], cwd=root, capture_output=True, text=True, check=True
    )
    figure = timeline_figure(*ring_eight(), title="Ring", markers=[Marker("bound", 1e-5)])
    here = []
    for name in ("here.png", "here.svg", "here.pdf"):
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
    for suffix in ("png", "svg", "pdf"):
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
