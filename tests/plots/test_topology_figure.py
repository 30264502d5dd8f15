"""Pictures of topologies: what is on them, and that they are the same bytes on every run."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch
from numpy.typing import NDArray

from plots import save, topology_figure
from plots.layout import layout
from tests.cases import case
from tests.plots.figures import every_kind, examples, hub, kinds
from tests.topologies.topology_examples import CARD, RACK, shared
from topologies import (
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
    torus,
)

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
    entries = kinds(figure)
    assert all(entries[i].startswith(f"{level}: ") for i, level in enumerate(topology.levels))


def check_marks(figure: Figure, topology: Topology) -> None:
    ranks, switches = (c for c in figure.axes[0].collections if isinstance(c, PathCollection))
    assert len(np.asarray(ranks.get_offsets())) == topology.ranks
    assert len(np.asarray(switches.get_offsets())) == len(topology.nodes) - topology.ranks


def test_legend_says_how_fast() -> None:
    assert kinds(topology_figure(ring(8, 64e9, 1e-6))) == ["ring: 64 GB/s, 1 us"]
    assert kinds(topology_figure(crossbar(4, 12.5e6, overhead=1e-6))) == [
        "crossbar: 12.5 MB/s, 0 s, overhead 1 us",
        "switch",
    ]
    assert kinds(topology_figure(multilevel([CARD, shared(RACK, 2)]))) == [
        "card: 64 GB/s, 1 us",
        "rack: 8 GB/s, 5 us, 2 in parallel",
        "3 switches",
    ]
    mixed = [CustomLink(0, 1, 1e9), CustomLink(1, 2, 2e12, 5e-9, count=3)]
    assert kinds(topology_figure(custom(CustomNodes(3), mixed))) == [
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
    assert kinds(figure)[-1] == "an open end leads round to the other side"


@pytest.mark.parametrize("topology", [mesh([4, 3], 64e9), torus([2, 2], 64e9), torus([1, 2, 2], 64e9)])
def test_no_stubs_where_nothing_goes_round(topology: Topology) -> None:
    assert all(entry.startswith("dim") for entry in kinds(topology_figure(topology)))


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
def test_large_topologies_are_drawn_without_labels(topology: Topology, tmp_path: Path) -> None:
    figure = topology_figure(topology)
    save(figure, tmp_path / "large.png")
    assert texts(figure) == []


def test_long_names_are_cut(tmp_path: Path) -> None:
    figure = topology_figure(hub("a" * 5000 + "b" * 5000))
    assert texts(figure)[-1] == "a" * 12 + "\u2026" + "b" * 11
    save(figure, tmp_path / "star.png")
    level = topology_figure(multilevel([Level("c" * 9999, 3, "ring", 64e9)]))
    assert kinds(level) == ["c" * 12 + "\u2026" + "c" * 11 + ": 64 GB/s, 0 s"]


def test_numbers_in_words_are_those_of_the_tables() -> None:
    # rounded to four digits before the unit is chosen
    assert kinds(topology_figure(ring(3, 999.99e6, 999.99e-9))) == ["ring: 1 GB/s, 1 us"]


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
