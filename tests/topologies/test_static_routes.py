"""Routes that a scenario lists node by node."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from topologies import CustomLink, CustomNodes, Topology, TopologyError, custom, leaf_spine, ring, routes
from topologies.multipath import Routing, flow_routes
from topologies.static_routes import StaticRoute

EIGHT, SPINES = ring(8, 1e9), leaf_spine(2, 2, 3, 1e9)


def names(
    topology: Topology, static: Sequence[StaticRoute], src: int, dst: int, kind: str = "shortest"
) -> list[str]:
    one = np.ones(1, dtype=np.int64)
    found = flow_routes(topology, Routing(kind), static, src * one, dst * one, 0 * one, 0 * one)  # type: ignore[arg-type]
    return [topology.link_name(link) for link in found.links.tolist()]


def test_a_pair_goes_as_listed() -> None:
    around = [StaticRoute(0, 2, [7, 6, 5, 4, 3])]
    assert names(EIGHT, around, 0, 2) == ["0->7", "7->6", "6->5", "5->4", "4->3", "3->2"]
    assert names(SPINES, [StaticRoute(0, 3, ["leaf0", "spine2", "leaf1"])], 0, 3) == [
        "0->leaf0",
        "leaf0->spine2",
        "spine2->leaf1",
        "leaf1->3",
    ]
    assert names(EIGHT, [StaticRoute(0, 1)], 0, 1) == ["0->1"]


@pytest.mark.parametrize("kind", ["shortest", "ecmp", "spray", "valiant"])
def test_others_go_as_they_would(kind: str) -> None:
    """Every pair at once: the two that are listed, in whatever order, and the routing for the rest."""
    static = [
        StaticRoute(3, 0, ["leaf1", "spine1", "leaf0"]),
        StaticRoute(0, 3, ["leaf0", "spine2", "leaf1"]),
    ]
    src, dst = np.divmod(np.arange(16), 4)
    rest = (np.zeros(16, dtype=np.int64), np.arange(16))
    free = flow_routes(SPINES, Routing(kind), (), src, dst, *rest)  # type: ignore[arg-type]
    found = flow_routes(SPINES, Routing(kind), static, src, dst, *rest)  # type: ignore[arg-type]
    for pair in range(16):
        walk = found.links[found.offsets[pair] : found.offsets[pair + 1]]
        passed = [SPINES.nodes[node] for node in SPINES.links.dst[walk]]
        if pair in (3, 12):
            assert passed == [*static[pair == 3].via, dst[pair]]
        else:
            assert walk.tolist() == free.links[free.offsets[pair] : free.offsets[pair + 1]].tolist()


def test_of_parallel_links_a_rank_takes_its_own() -> None:
    links = [CustomLink(r, "a", 1e9) for r in range(3)] + [CustomLink("a", 3, 1e9, count=2)]
    place = custom(CustomNodes(4, ["a"]), links)
    static = [StaticRoute(1, 3, ["a"]), StaticRoute(2, 3, ["a"])]
    assert names(place, static, 1, 3) == ["1->a", "a->3#1"]
    assert names(place, static, 2, 3) == ["2->a", "a->3"]


def test_no_pair_is_listed_that_moves() -> None:
    src, dst = np.arange(8), (np.arange(8) + 3) % 8
    zero = np.zeros(8, dtype=np.int64)
    found = flow_routes(EIGHT, Routing("shortest"), [StaticRoute(0, 1)], src, dst, zero, zero)
    assert found.links.tolist() == routes(EIGHT, src, dst).links.tolist()


@pytest.mark.parametrize(
    ("route", "at", "message"),
    [
        (StaticRoute(0, 8), ("dst",), "there is no rank 8 .*0 to 7"),
        (StaticRoute(9, 1), ("src",), "there is no rank 9"),
        (StaticRoute(0, 2, [8]), ("via", 0), "there is no rank 8"),
        (StaticRoute(0, 2, [-1]), ("via", 0), "there is no rank -1"),
        (StaticRoute(0, 2, [1, "spine0"]), ("via", 1), 'there is no switch "spine0"'),
        (StaticRoute(0, 2), (), "there is no link from 0 to 2"),
        (StaticRoute(0, 3, [1]), ("via", 0), "there is no link from 1 to 3"),
        (StaticRoute(0, 3, [1, 2, 3]), ("via", 2), "passes 3 twice"),
        (StaticRoute(0, 2, [7, 0, 1]), ("via", 1), "passes 0 twice"),
        (StaticRoute(2, 2), ("dst",), "from 2 to itself"),
        (StaticRoute(1, 2), (), "two routes from 1 to 2"),
    ],
)
def test_wrong_routes(route: StaticRoute, at: tuple[object, ...], message: str) -> None:
    with pytest.raises(TopologyError, match=message) as caught:
        names(EIGHT, [StaticRoute(1, 2), route], 5, 6)
    assert caught.value.at == ("routes", 1, *at)
