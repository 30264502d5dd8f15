from __future__ import annotations

import numpy as np
import pytest

from tests.topologies.topology_examples import CARD, NODE, RACK, shared
from topologies import Level, Shared, Topology, multilevel, route, routes


def pairs_between(topology: Topology) -> dict[tuple[object, object, str], int]:
    """Number of links of each level from node to node."""
    counts: dict[tuple[object, object, str], int] = {}
    for u, v, data in topology.graph.edges(data=True):
        counts[u, v, data["level"]] = counts.get((u, v, data["level"]), 0) + 1
    return counts


def stops(topology: Topology, src: int, dst: int) -> list[object]:
    return [src, *(topology.nodes[topology.links.dst[link]] for link in route(topology, src, dst))]


def outermost_difference(topology: Topology, a: int, b: int) -> int:
    """Outermost level in which the coordinates of two ranks differ; -1 if none."""
    both = zip(topology.coordinates(a), topology.coordinates(b), strict=True)
    return max((i for i, (x, y) in enumerate(both) if x != y), default=-1)


def test_dims_and_coordinates() -> None:
    topology = multilevel([CARD, NODE, RACK])
    assert (topology.ranks, topology.dims, topology.levels) == (24, (4, 2, 3), ("card", "node", "rack"))
    assert [topology.coordinates(r) for r in (0, 3, 4, 8, 23)] == [
        (0, 0, 0),
        (3, 0, 0),
        (0, 1, 0),
        (0, 0, 1),
        (3, 1, 2),
    ]


def test_per_rank_links_join_ranks_that_differ_in_one_coordinate() -> None:
    topology = multilevel([CARD, NODE, RACK])
    links = topology.links
    for link in range(len(links)):
        a, b = (topology.coordinates(int(end[link])) for end in (links.src, links.dst))
        assert [i for i in range(3) if a[i] != b[i]] == [links.level[link]]


def test_per_rank_switches() -> None:
    topology = multilevel([Level("card", 4, "switch", 64e9), Level("rail", 3, "switch", 8e9)])
    # one switch for each of 3 cards and for each of 4 rails
    assert len(topology.nodes) - topology.ranks == 3 + 4
    assert len(topology.links) == 2 * 12 + 2 * 12
    counts = pairs_between(topology)
    assert {u for (u, v, level) in counts if v == "card/1"} == {4, 5, 6, 7}
    assert {u for (u, v, level) in counts if v == "rail/0.2"} == {2, 6, 10}


@pytest.mark.parametrize("count", [1, 2, 5])
def test_shared_gateway(count: int) -> None:
    topology = multilevel([CARD, shared(RACK, count)])
    gateways = [f"rack/gateway{g}" for g in range(3)]
    assert list(topology.nodes[12:]) == gateways
    counts = pairs_between(topology)
    for g, gateway in enumerate(gateways):
        for rank in range(12):
            expected = int(rank // 4 == g)
            assert counts.get((rank, gateway, "card"), 0) == expected
            assert counts.get((gateway, rank, "card"), 0) == expected
        assert counts[gateway, gateways[(g + 1) % 3], "rack"] == count
        assert counts[gateways[(g + 1) % 3], gateway, "rack"] == count
    assert sum(n for (_, _, level), n in counts.items() if level == "rack") == 6 * count


@pytest.mark.parametrize("count", [1, 2, 4])
def test_shared_switch_above_a_gateway(count: int) -> None:
    topology = multilevel([CARD, Level("rack", 3, "switch", 8e9, uplink=Shared(count))])
    counts = pairs_between(topology)
    for g in range(3):
        assert counts[f"rack/gateway{g}", "rack/0", "rack"] == count
        assert counts["rack/0", f"rack/gateway{g}", "rack"] == count


def test_a_switch_below_is_its_own_gateway() -> None:
    topology = multilevel(
        [Level("card", 4, "switch", 64e9), Level("node", 2, "line", 16e9, uplink=Shared(3))]
    )
    assert topology.nodes[8:] == ("card/0", "card/1")
    assert pairs_between(topology)["card/0", "card/1", "node"] == 3
    assert stops(topology, 1, 6) == [1, "card/0", "card/1", 6]
    assert stops(topology, 1, 2) == [1, "card/0", 2]


def test_a_shared_switch_below_is_its_own_gateway() -> None:
    topology = multilevel(
        [
            Level("card", 2, "full_mesh", 64e9),
            Level("node", 2, "switch", 16e9, uplink=Shared(1)),
            Level("rack", 2, "line", 8e9, uplink=Shared(2)),
        ]
    )
    assert stops(topology, 0, 7) == [0, "node/gateway0", "node/0", "node/1", "node/gateway3", 7]
    assert pairs_between(topology)["node/0", "node/1", "rack"] == 2


def test_a_per_rank_switch_below_gets_a_gateway() -> None:
    topology = multilevel(
        [
            Level("card", 2, "full_mesh", 64e9),
            Level("rail", 2, "switch", 16e9),
            Level("rack", 2, "line", 8e9, uplink=Shared(1)),
        ]
    )
    assert stops(topology, 1, 6) == [1, "rack/gateway0", "rack/gateway1", 6]
    assert stops(topology, 1, 3) == [1, "rail/0.1", 3]


def test_three_levels_nested_and_shared() -> None:
    topology = multilevel([CARD, shared(NODE, 4), shared(RACK, 2)])
    inner, outer = [f"node/gateway{g}" for g in range(6)], [f"rack/gateway{g}" for g in range(3)]
    assert sorted(topology.nodes[24:], key=str) == sorted(inner + outer)
    counts = pairs_between(topology)
    for g in range(3):
        assert counts[inner[2 * g], inner[2 * g + 1], "node"] == 4
        assert counts[inner[2 * g], outer[g], "node"] == 1
        assert counts[outer[g], inner[2 * g + 1], "node"] == 1
        assert counts[outer[g], outer[(g + 1) % 3], "rack"] == 2
    assert not any(isinstance(u, int) and v in outer for u, v, _ in counts)
    # up through both gateways, one rack on, and down again
    assert stops(topology, 1, 14) == [1, inner[0], outer[0], outer[1], inner[3], 14]
    assert stops(topology, 1, 6) == [1, inner[0], inner[1], 6]


@pytest.mark.parametrize("inner", ["ring", "line", "full_mesh", "switch", "hypercube"])
@pytest.mark.parametrize("uplinks", [(True, True), (True, False), (False, True), (False, False)])
def test_no_route_climbs_higher_than_it_must(inner: str, uplinks: tuple[bool, bool]) -> None:
    second, third = (Shared(2) if up else "per_rank" for up in uplinks)
    topology = multilevel(
        [
            Level("card", 8, inner, 64e9),  # type: ignore[arg-type]
            Level("node", 2, inner, 16e9, uplink=second),  # type: ignore[arg-type]
            Level("rack", 2, "ring", 8e9, uplink=third),  # type: ignore[arg-type]
        ]
    )
    src, dst = np.divmod(np.arange(topology.ranks**2), topology.ranks)
    found, links = routes(topology, src, dst), topology.links
    for pair, walk in enumerate(np.split(found.links, found.offsets[1:-1])):
        highest = int(links.level[walk].max(initial=-1))
        assert highest == outermost_difference(topology, int(src[pair]), int(dst[pair]))
        passed = [str(topology.nodes[node]) for node in links.dst[walk]]
        assert highest == 2 or not any(name.startswith("rack/") for name in passed)
        assert highest >= 1 or not any("gateway" in name for name in passed)


def test_a_hop_of_one_level_uses_its_own_speed() -> None:
    topology = multilevel([CARD, NODE, RACK])
    for level, (bandwidth, latency) in enumerate([(64e9, 1e-6), (16e9, 2e-6), (8e9, 5e-6)]):
        own = topology.links.level == level
        assert np.unique(topology.links.bandwidth[own]).tolist() == [bandwidth]
        assert np.unique(topology.links.latency[own]).tolist() == [latency]


def test_levels_of_one_member() -> None:
    topology = multilevel([Level("card", 1, "ring", 64e9), Level("node", 3, "ring", 8e9, uplink=Shared(1))])
    assert stops(topology, 0, 1) == [0, "node/gateway0", "node/gateway1", 1]
    assert multilevel([Level("card", 1, "hypercube", 64e9)]).ranks == 1
