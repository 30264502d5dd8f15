"""Ranks that see the same topology."""

from __future__ import annotations

import numpy as np

from topologies import (
    CustomLink,
    CustomNodes,
    Level,
    crossbar,
    custom,
    fat_tree,
    full_mesh,
    hypercube,
    line,
    mesh,
    multilevel,
    ring,
    torus,
)
from topologies.alike import is_maximally_connected, moved_by, twins
from topologies.overrides import Override, override

B = 64e9


def test_regular_topologies_are_moved_by_their_translations() -> None:
    dims = {
        (8,): [ring(8, B), ring(8, B, direction="one"), full_mesh(8, B)],
        (2, 2, 2): [hypercube(3, B)],
        (4, 3): [torus([4, 3], B), multilevel([Level("a", 4, "ring", B), Level("b", 3, "full_mesh", B / 4)])],
        (4, 2): [torus([4, 2], B, size_two="two_links")],
    }
    for sizes, topologies in dims.items():
        for topology in topologies:
            group = moved_by(topology)
            assert group is not None
            assert group.dims == sizes


def test_others_are_not() -> None:
    # ends, switches, a slow link, a chord, one rank
    slow = override(ring(8, B), [Override(src=3, dst=4, bandwidth=B / 2)])
    chord = custom(CustomNodes(4), [CustomLink(a, b, B) for a, b in ((0, 1), (1, 2), (2, 3), (3, 0), (0, 2))])
    for topology in (line(4, B), mesh([3, 3], B), crossbar(4, B), slow, chord, ring(1, B)):
        assert moved_by(topology) is None


def test_twins_have_the_same_neighbours() -> None:
    # two hosts on each of eight edge switches; then one of them is marked
    topology = fat_tree(4, B)
    assert twins(topology, [0] * len(topology.nodes), range(16)) == list(range(0, 16, 2))
    marks = np.zeros(len(topology.nodes), dtype=np.int64)
    marks[5] = 1
    assert twins(topology, marks.tolist(), range(16)) == [0, 2, 4, 5, 6, 8, 10, 12, 14]
    # a slower link tells hosts apart
    slow = override(topology, [Override(src=1, dst="edge0.0", bandwidth=B / 2)])
    assert twins(slow, [0] * len(topology.nodes), range(4)) == [0, 1, 2]
    # each two of a mesh have different neighbours: themselves
    assert twins(full_mesh(3, B), [0, 0, 0], range(3)) == [0, 1, 2]


def test_links_that_differ_or_lie_side_by_side_may_be_cut_elsewhere() -> None:
    for knit in (ring(8, B), ring(8, B, direction="one"), torus([4, 3], B), hypercube(3, B), full_mesh(5, B)):
        assert is_maximally_connected(knit)
    cards = multilevel([Level("a", 4, "ring", B), Level("b", 3, "ring", B / 8)])
    for other in (cards, torus([4, 2], B, size_two="two_links"), mesh([3, 3], B), crossbar(4, B), ring(1, B)):
        assert not is_maximally_connected(other)
