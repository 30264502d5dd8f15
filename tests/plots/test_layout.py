"""Where the nodes of topologies stand."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from plots.layout import layout
from tests.cases import case
from tests.plots.figures import every_kind, examples
from tests.topologies.topology_examples import CARD, NODE, RACK, ladder_links, shared
from topologies import (
    CustomNodes,
    Level,
    Tier,
    Topology,
    custom,
    dragonfly,
    fat_tree,
    leaf_spine,
    line,
    mesh,
    multilevel,
    rails,
    star,
    torus,
)

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


def test_the_ladder_is_drawn_as_a_ladder() -> None:
    points = layout(custom(CustomNodes(8), ladder_links())).points
    for row in ([4, 0, 2, 6], [5, 1, 3, 7]):
        assert (np.diff(points[row, 0]) > 0.5).all()
    assert (points[[4, 0, 2, 6], 1] > points[[5, 1, 3, 7], 1] + 0.5).all()


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
