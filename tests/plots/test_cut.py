"""A cut in the picture of a topology."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.patches import FancyArrowPatch

from algorithms import cuts, make_collective
from algorithms.cuts import Cut
from plots import topology_figure
from plots.layout import layout
from tests.plots.figures import kinds
from topologies import (
    Topology,
    ring,
    torus,
)


def test_a_cut_is_drawn_across_its_links() -> None:
    # the two left columns of a torus of four by four: four links to the right, four round the side
    topology = torus([4, 4], 1e9)
    cut = named_cut(topology, [0, 1, 4, 5, 8, 9, 12, 13])
    figure = topology_figure(topology, cut)
    arrows = [patch for patch in figure.axes[0].patches if isinstance(patch, FancyArrowPatch)]
    # a link that leads round is two stubs
    assert len(arrows) == 4 + 2 * 4
    assert kinds(figure)[-1] == "cut: 8 ranks {0, 1, 4, 5, 8, 9, 12, 13} send 64 MiB over 8 links"
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
