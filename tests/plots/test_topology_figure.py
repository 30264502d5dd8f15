from __future__ import annotations

import runpy
import subprocess
import sys
import warnings
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch
from numpy.typing import NDArray

import plots
from algorithms import cuts, make_collective
from algorithms.cuts import Cut
from plots import save, topology_figure
from plots.layout import layout
from tests.cases import case
from tests.topologies.topology_examples import CARD, EXAMPLES, NODE, RACK, ladder_links, shared
from topologies import (
    TOPOLOGIES,
    CollsimError,
    CustomLink,
    CustomNodes,
    Level,
    Tier,
    Topology,
    crossbar,
    custom,
    dragonfly,
    fat_tree,
    full_mesh,
    hypercube,
    leaf_spine,
    line,
    mesh,
    multilevel,
    rails,
    ring,
    star,
    torus,
)

every_kind = pytest.mark.parametrize("kind", EXAMPLES)


def examples(kind: str) -> list[Topology]:
    return [TOPOLOGIES[kind](**arguments) for arguments in EXAMPLES[kind]]


PROGRAM = """
import sys
import plots
from plots import save, topology_figure
from topologies import CustomLink, CustomNodes, Level, Shared, custom, multilevel
node = Level("node", 3, "ring", 16e9, uplink=Shared(2))
links = [CustomLink(i, i + 1, 1e9, direction="one") for i in range(7)] + [CustomLink(7, "hub", 2e9)]
levels = topology_figure(multilevel([Level("card", 4, "full_mesh", 64e9, 1e-6), node]))
graph = topology_figure(custom(CustomNodes(8, ["hub"]), links))
for figure, path in zip((levels, levels, graph, graph), sys.argv[1:], strict=True):
    save(figure, path)
"""


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_two_processes_write_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This one and another."""
    names = ("levels.svg", "levels.png", "custom.svg", "custom.png")
    runs = [[str(tmp_path / f"{run}-{name}") for name in names] for run in "ab"]
    subprocess.run([sys.executable, "-c", PROGRAM, *runs[0]], check=True)
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["program.py", *runs[1]])
    runpy.run_path(str(tmp_path / "program.py"))
    written = [[Path(file).read_bytes() for file in files] for files in runs]
    assert written[0] == written[1]
    assert len(list(tmp_path.iterdir())) == 9


@every_kind
def test_every_rank_and_switch_is_drawn_and_named_and_every_level(kind: str) -> None:
    for number, topology in enumerate(examples(kind)):
        with case(number):
            figure = topology_figure(topology)
            check_names(figure, topology)
            check_marks(figure, topology)


def check_names(figure: Figure, topology: Topology) -> None:
    shown = texts(figure)
    assert [shown.count(str(rank)) for rank in range(topology.ranks)] == [1] * topology.ranks
    if not topology.levels:
        assert figure.legends == []
        return
    entries = legend(figure)
    assert all(entries[i].startswith(f"{level}: ") for i, level in enumerate(topology.levels))


def check_marks(figure: Figure, topology: Topology) -> None:
    ranks, switches = (c for c in figure.axes[0].collections if isinstance(c, PathCollection))
    assert len(np.asarray(ranks.get_offsets())) == topology.ranks
    assert len(np.asarray(switches.get_offsets())) == len(topology.nodes) - topology.ranks


CROWDED = [
    multilevel([Level("a", 3, "switch", 64e9), Level("b", 27, "switch", 8e9)]),
    multilevel([Level("a", 3, "switch", 64e9), shared(Level("b", 49, "switch", 8e9), 1)]),
    multilevel([Level("a", 2, "ring", 64e9), shared(Level("b", 1, "ring", 8e9), 1)]),
    multilevel([Level("a", 1, "switch", 64e9), Level("b", 1, "switch", 8e9), Level("c", 1, "switch", 1e9)]),
    multilevel([Level("a", 30, "switch", 64e9), Level("b", 2, "line", 8e9)]),
    line(40, 64e9),
    torus([5, 5, 5], 64e9),
    mesh([2, 3, 2, 2, 2], 64e9),
    leaf_spine(8, 16, 4, 64e9),
    leaf_spine(2, 1, 9, 64e9),
    dragonfly(1, 1, 6, 64e9),
    dragonfly(1, 6, 2, 64e9),
    rails(8, 4, 450e9, Tier(50e9), planes=4),
]


@every_kind
def test_no_two_nodes_stand_on_each_other(kind: str) -> None:
    for number, topology in enumerate(examples(kind)):
        with case(number):
            check_apart(topology)


@pytest.mark.parametrize("topology", CROWDED)
def test_nor_where_it_is_crowded(topology: Topology) -> None:
    check_apart(topology)


def check_apart(topology: Topology) -> None:
    points = layout(topology).points
    assert points.shape == (len(topology.nodes), 2)
    assert np.isfinite(points).all()
    apart = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1)) + np.eye(len(points))
    assert apart.min() > 0.01 * max(np.ptp(points, axis=0).max(), 1e-9)


def test_groups_lie_in_their_discs() -> None:
    topology = multilevel([CARD, shared(NODE, 4), shared(RACK, 2)])
    places = layout(topology)
    cards = [hull for hull in places.hulls if hull.level == 0]
    nodes = [hull for hull in places.hulls if hull.level == 1]
    assert (len(cards), len(nodes)) == (6, 3)
    for size, hulls in ((4, cards), (8, nodes)):
        for rank in range(24):
            x, y = places.points[rank]
            inside = [np.hypot(x - hull.x, y - hull.y) < hull.radius for hull in hulls]
            assert [i for i, is_in in enumerate(inside) if is_in] == [rank // size]


def test_legend_says_how_fast() -> None:
    assert legend(topology_figure(ring(8, 64e9, 1e-6))) == ["ring: 64 GB/s, 1 us"]
    assert legend(topology_figure(crossbar(4, 12.5e6, overhead=1e-6))) == [
        "crossbar: 12.5 MB/s, 0 s, overhead 1 us",
        "switch",
    ]
    assert legend(topology_figure(multilevel([CARD, shared(RACK, 2)]))) == [
        "card: 64 GB/s, 1 us",
        "rack: 8 GB/s, 5 us, 2 in parallel",
        "3 switches",
    ]
    mixed = [CustomLink(0, 1, 1e9), CustomLink(1, 2, 2e12, 5e-9, count=3)]
    assert legend(topology_figure(custom(CustomNodes(3), mixed))) == [
        "link: 1 GB/s to 2 TB/s, 0 s to 5 ns, up to 3 in parallel"
    ]


def test_parallel_links_are_counted() -> None:
    links = [
        CustomLink(0, "spine", 1e9, count=4),
        CustomLink("spine", 1, 1e9, count=3, direction="one"),
        CustomLink(1, "spine", 1e9),
    ]
    shown = texts(topology_figure(custom(CustomNodes(2, ["spine"]), links)))
    assert sorted(shown) == ["0", "1", "spine", "x1/x4", "x4"]


def test_one_way_links_are_arrows() -> None:
    def arrows(topology: Topology) -> int:
        return sum(isinstance(patch, FancyArrowPatch) for patch in topology_figure(topology).axes[0].patches)

    assert arrows(ring(8, 64e9)) == 0
    assert arrows(ring(8, 64e9, direction="one")) == 8


def test_the_ladder_is_drawn_as_a_ladder() -> None:
    points = layout(custom(CustomNodes(8), ladder_links())).points
    for row in ([4, 0, 2, 6], [5, 1, 3, 7]):
        assert (np.diff(points[row, 0]) > 0.5).all()
    assert (points[[4, 0, 2, 6], 1] > points[[5, 1, 3, 7], 1] + 0.5).all()


def segments(figure: Figure) -> NDArray[np.float64]:
    """Every plain line of a picture, from end to end."""
    lines = [c.get_segments() for c in figure.axes[0].collections if isinstance(c, LineCollection)]
    return np.concatenate([np.reshape(each, (-1, 2, 2)) for each in lines])


def test_a_mesh_is_drawn_in_rows_and_columns() -> None:
    topology = mesh([4, 3], 64e9)
    places = layout(topology)
    assert places.points.tolist() == [[x, -y] for y in range(3) for x in range(4)]
    assert len(segments(topology_figure(topology))) == 17


def test_links_round_a_torus_are_stubs_at_both_sides() -> None:
    figure = topology_figure(torus([4, 3], 64e9))
    found = segments(figure)
    lengths = np.hypot(*(found[:, 1] - found[:, 0]).T)
    # 9 + 8 links between neighbours; 3 + 4 round, two stubs each
    assert sorted(np.bincount((lengths < 0.9).astype(int))) == [14, 17]
    assert lengths.max() == 1
    (xmin, xmax), (ymin, ymax) = figure.axes[0].get_xlim(), figure.axes[0].get_ylim()
    assert xmin < found[..., 0].min() < -0.2
    assert xmax > found[..., 0].max() > 3.2
    assert ymin < found[..., 1].min() < -2.2
    assert ymax > found[..., 1].max() > 0.2
    assert legend(figure)[-1] == "an open end leads round to the other side"


@pytest.mark.parametrize("topology", [mesh([4, 3], 64e9), torus([2, 2], 64e9), torus([1, 2, 2], 64e9)])
def test_no_stubs_where_nothing_goes_round(topology: Topology) -> None:
    assert all(entry.startswith("dim") for entry in legend(topology_figure(topology)))


def test_a_star_has_rank_0_in_the_middle() -> None:
    points = layout(star(8, 64e9)).points
    assert points[0].tolist() == [0, 0]
    assert np.hypot(*points[1:].T) == pytest.approx(1)


def test_tiers_lie_above_each_other_and_pods_apart() -> None:
    tree = fat_tree(4, 64e9)
    places = layout(tree)
    x, y = places.points.T
    # 16 hosts, 8 edge, 8 aggregation and 4 core switches
    heights = [y[:16], y[16:24], y[24:32], y[32:]]
    assert all((tier == tier[0]).all() for tier in heights)
    assert heights[0][0] < heights[1][0] < heights[2][0] < heights[3][0]
    assert (np.diff(x[:16]) > 0).all()
    boxes = places.boxes
    assert len(boxes) == 4
    assert all(one.high[0] < two.low[0] for one, two in pairwise(boxes))
    for pod, box in enumerate(boxes):
        own = [*range(4 * pod, 4 * pod + 4), *(16 + 2 * pod + i for i in (0, 1, 8, 9))]
        assert (places.points[own] > box.low).all()
        assert (places.points[own] < box.high).all()


def test_leaves_stand_over_their_hosts_and_spines_over_the_leaves() -> None:
    x, y = layout(leaf_spine(4, 4, 2, 64e9)).points.T
    assert x[16:20] == pytest.approx(x[:16].reshape(4, 4).mean(axis=1))
    assert y[0] < y[16] < y[20]


def test_groups_of_a_dragonfly_lie_in_their_discs_with_the_hosts_outside() -> None:
    places = layout(dragonfly(2, 4, 2, 64e9))
    hosts, routers = places.points[:72].reshape(9, 8, 2), places.points[72:].reshape(9, 4, 2)
    assert len(places.hulls) == 9
    for hull, own in zip(places.hulls, np.concatenate([hosts, routers], axis=1), strict=True):
        assert (np.hypot(*(own - (hull.x, hull.y)).T) < hull.radius).all()
    out = np.hypot(*hosts.reshape(36, 2, 2).mean(axis=1).T)
    assert (out > np.hypot(*routers.reshape(36, 2).T)).all()


def test_nodes_of_a_cluster_are_boxes_with_the_rails_above() -> None:
    places = layout(rails(4, 4, 450e9, Tier(50e9), planes=2))
    ranks, nodes, above = places.points[:16], places.points[16:20], places.points[20:]
    assert len(places.boxes) == 4
    for node, box in enumerate(places.boxes):
        own = np.vstack([ranks[4 * node : 4 * node + 4], nodes[node]])
        assert (own > box.low).all()
        assert (own < box.high).all()
    assert above[:, 1].min() > max(box.high[1] for box in places.boxes)
    assert (np.diff(above[:, 0]) > 0).all()


@pytest.mark.parametrize(
    "topology",
    [
        ring(1024, 64e9),
        torus([16, 8, 8], 64e9),
        line(1024, 64e9),
        fat_tree(16, 64e9),
        leaf_spine(32, 32, 16, 64e9),
        dragonfly(4, 8, 4, 64e9),
        rails(128, 8, 450e9, Tier(50e9), planes=4),
        hypercube(10, 64e9),
        full_mesh(256, 64e9),
        crossbar(1024, 64e9),
        multilevel([Level("a", 8, "full_mesh", 64e9), shared(Level("b", 32, "ring", 8e9), 2)]),
        custom(CustomNodes(256), [CustomLink(i, (i + k) % 256, 1e9) for i in range(256) for k in (1, 16)]),
    ],
    ids=lambda topology: topology.kind,
)
def test_large_topologies_are_drawn_fast_and_without_labels(topology: Topology, tmp_path: Path) -> None:
    start = perf_counter()
    figure = topology_figure(topology)
    save(figure, tmp_path / "large.png")
    assert perf_counter() - start < 10
    assert texts(figure) == []


def hub(name: str) -> Topology:
    return custom(CustomNodes(3, [name]), [CustomLink(i, name, 1e9) for i in range(3)])


def test_long_names_are_cut(tmp_path: Path) -> None:
    figure = topology_figure(hub("a" * 5000 + "b" * 5000))
    assert texts(figure)[-1] == "a" * 12 + "\u2026" + "b" * 11
    save(figure, tmp_path / "star.png")
    level = topology_figure(multilevel([Level("c" * 9999, 3, "ring", 64e9)]))
    assert legend(level) == ["c" * 12 + "\u2026" + "c" * 11 + ": 64 GB/s, 0 s"]


def test_numbers_in_words_are_those_of_the_tables() -> None:
    # rounded to four digits before the unit is chosen
    assert legend(topology_figure(ring(3, 999.99e6, 999.99e-9))) == ["ring: 1 GB/s, 1 us"]


def test_links_are_counted_where_numpy_gives_a_column(monkeypatch: pytest.MonkeyPatch) -> None:
    topology = custom(CustomNodes(2), [CustomLink(0, 1, 1e9, count=2), CustomLink(1, 0, 1e9, count=3)])
    expected = texts(topology_figure(topology))
    unique = np.unique

    def column(values: NDArray[np.int64], **asked: Any) -> Any:
        found = unique(values, **asked)
        if "axis" not in asked:
            return found
        place = 2 if "return_index" in asked else 1
        return (*found[:place], found[place].reshape(-1, 1), *found[place + 1 :])

    # numpy 2.0.0 gave the inverse as a column if there is an axis
    monkeypatch.setattr(np, "unique", column)
    assert texts(topology_figure(topology)) == expected


def test_files_are_whole_or_not_there(tmp_path: Path) -> None:
    figure = topology_figure(ring(3, 64e9))
    with pytest.raises(CollsimError, match=r"\.svg, \.png or \.pdf"):
        save(figure, tmp_path / "ring.bmp")
    with pytest.raises(FileNotFoundError):
        save(figure, tmp_path / "missing" / "ring.png")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "ring.svg").write_text("old")
    save(figure, str(tmp_path / "ring.svg"))
    assert "<svg" in (tmp_path / "ring.svg").read_text()


def test_a_failing_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figure, target = topology_figure(ring(3, 64e9)), tmp_path / "ring.png"
    target.write_text("old")

    def fail(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Figure, "savefig", fail)
    with pytest.raises(OSError, match="disk full"):
        save(figure, target)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("ring.png", "old")]


def test_a_folder_in_the_way_leaves_nothing_behind(tmp_path: Path) -> None:
    target = tmp_path / "ring.png"
    target.mkdir()
    with pytest.raises(OSError, match=r"ring\.png"):
        save(topology_figure(ring(3, 64e9)), target)
    assert list(tmp_path.iterdir()) == [target]
    assert list(target.iterdir()) == []


@pytest.mark.parametrize("name", ["a\ufffe", "a\x00", "a\x1b", "a\x85", "a\n", "a\t", "a\ud800", "a\u2028"])
def test_what_is_not_drawable_is_replaced(name: str, tmp_path: Path) -> None:
    figure = topology_figure(hub(name))
    assert texts(figure)[-1] == "a\ufffd"
    save(figure, tmp_path / "star.svg")
    ElementTree.parse(tmp_path / "star.svg")


@pytest.mark.parametrize(
    "name", ["\u4ea4\u6362\u673a", "\U0001f600", "costs $1 or $2", "$\\foo$", "_", "<&>"]
)
def test_foreign_names_are_drawn_as_they_are_and_without_a_word(name: str, tmp_path: Path) -> None:
    figure = topology_figure(hub(name))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save(figure, tmp_path / "star.png")
        save(figure, tmp_path / "star.svg")
    assert name in "".join(ElementTree.parse(tmp_path / "star.svg").getroot().itertext())


def test_other_warnings_are_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def warn(*_: object, **__: object) -> None:
        warnings.warn("something else", UserWarning, stacklevel=1)

    monkeypatch.setattr(Figure, "savefig", warn)
    with pytest.raises(UserWarning, match="something else"):
        save(topology_figure(ring(3, 64e9)), tmp_path / "ring.png")


def test_matplotlib_stays_out() -> None:
    code = "import plots, sys; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_pyplot_stays_out_even_when_drawing() -> None:
    code = "from plots import *; import sys; sys.exit('matplotlib.pyplot' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_plots_has_what_it_names() -> None:
    for name in plots.__all__:
        assert getattr(plots, name).__name__ == name
        assert name in dir(plots)
    with pytest.raises(AttributeError, match="sweep"):
        _ = plots.sweep


def test_a_cut_is_drawn_across_its_links() -> None:
    # the two left columns of a torus of four by four: four links to the right, four round the side
    topology = torus([4, 4], 1e9)
    cut = named_cut(topology, [0, 1, 4, 5, 8, 9, 12, 13])
    figure = topology_figure(topology, cut)
    arrows = [patch for patch in figure.axes[0].patches if isinstance(patch, FancyArrowPatch)]
    # a link that leads round is two stubs
    assert len(arrows) == 4 + 2 * 4
    assert legend(figure)[-1] == "cut: 8 ranks {0, 1, 4, 5, 8, 9, 12, 13} send 64 MiB over 8 links"
    ranks = next(c for c in figure.axes[0].collections if isinstance(c, PathCollection))
    assert len(np.unique(ranks.get_facecolors(), axis=0)) == 2
    # who receives is the one that is named, and arrows lead there
    last = named_cut(ring(4, 1e9), [0, 1, 2])
    figure = topology_figure(ring(4, 1e9), last)
    arrows = [patch for patch in figure.axes[0].patches if isinstance(patch, FancyArrowPatch)]
    assert [arrow._posA_posB[1] for arrow in arrows] == [pytest.approx(layout(ring(4, 1e9)).points[3])] * 2
    assert last.text().startswith("rank 3 receives")


def test_a_cut_of_many_links_has_no_heads() -> None:
    topology = torus([16, 16], 1e9)
    cut = named_cut(topology, [rank for rank in range(256) if rank % 16 < 8])
    figure = topology_figure(topology, cut)
    assert not [patch for patch in figure.axes[0].patches if isinstance(patch, FancyArrowPatch)]
    assert len(figure.axes[0].collections) == len(topology_figure(topology).axes[0].collections) + 1


def named_cut(topology: Topology, side: list[int]) -> Cut:
    """Cut of an All-to-All of 1 MiB from each to each."""
    inside = np.isin(np.arange(len(topology.nodes)), side)
    collective = make_collective("all_to_all", topology.ranks, topology.ranks << 20)
    return cuts.named_cut(collective, topology, np.arange(topology.ranks), inside)
