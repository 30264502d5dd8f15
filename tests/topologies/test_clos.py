"""Fat trees, leaf and spine, dragonflies and rails against the papers' counts; what their routes do."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from topologies import Tier, Topology, crossbar, dragonfly, fat_tree, leaf_spine, rails, routes
from topologies.measures import measure
from topologies.ways import distances

HOST = 64e9


def walks(topology: Topology) -> Iterator[tuple[int, int, list[str], list[str]]]:
    """Of every pair of ranks: source, destination, nodes passed between them, levels of the links."""
    src, dst = np.divmod(np.arange(topology.ranks**2), topology.ranks)
    found = routes(topology, src, dst)
    for a, b, start, end in zip(src.tolist(), dst.tolist(), found.offsets, found.offsets[1:], strict=False):
        links = found.links[start:end]
        nodes = [str(topology.nodes[node]) for node in topology.links.dst[links[:-1]]]
        if a != b:
            yield a, b, nodes, [topology.levels[level] for level in topology.links.level[links]]


def bandwidths(topology: Topology) -> dict[str, float]:
    """Bandwidth of each level; there must be only one."""
    found = {}
    for i, level in enumerate(topology.levels):
        (found[level],) = set(topology.links.bandwidth[topology.links.level == i].tolist())
    return found


# fat trees


@pytest.mark.parametrize("k", [2, 4, 6, 8])
def test_fat_tree_has_the_counts_of_the_paper(k: int) -> None:
    """Al-Fares, Loukissas and Vahdat 2008, section 2.2: k^3/4 hosts and 5 k^2/4 switches of k ports."""
    tree = fat_tree(k, HOST)
    found = measure(tree)
    assert (found.ranks, found.switches) == (k**3 // 4, 5 * k**2 // 4)
    # k^3/4 links each way below each of the three tiers
    assert found.links == 3 * 2 * k**3 // 4
    assert found.degree == found.in_degree == (1, 1)
    assert found.diameter == 6
    # rearrangeably non-blocking: half of the hosts send at full speed
    assert (found.bisection_links, found.bisection_bandwidth) == (k**3 // 8, k**3 // 8 * HOST)
    ports = np.bincount(tree.links.src)[tree.ranks :]
    assert (ports == k).all()
    assert tree.dims == (k // 2, k // 2, k)


def test_every_core_switch_meets_every_pod_once() -> None:
    tree = fat_tree(4, HOST)
    for row in range(2):
        for column in range(2):
            # the i-th aggregation switch of each pod leads to the i-th row of cores
            pods = list(tree.graph.successors(f"core{row}.{column}"))
            assert pods == [f"aggregation{pod}.{row}" for pod in range(4)]


@pytest.mark.parametrize("ratio", [1.0, 2.0, 4.0])
def test_oversubscription_thins_what_is_above_the_hosts(ratio: float) -> None:
    tree = fat_tree(4, HOST, 1e-6, oversubscription=ratio)
    assert bandwidths(tree) == {"edge": HOST, "aggregation": HOST / ratio, "core": HOST / ratio}
    assert measure(tree).bisection_bandwidth == 8 * HOST / ratio


def test_tiers_of_a_fat_tree_may_differ() -> None:
    tree = fat_tree(4, HOST, 1e-6, core=Tier(16e9, 5e-6, 1e-7))
    assert bandwidths(tree) == {"edge": HOST, "aggregation": HOST, "core": 16e9}
    # up and down over two hosts' links, two in the pods and two of the core
    assert measure(tree).alpha_diameter == pytest.approx(4 * 1e-6 + 2 * 5.1e-6)
    assert bandwidths(fat_tree(4, HOST, aggregation=Tier(32e9)))["core"] == HOST


@pytest.mark.parametrize("k", [2, 4, 6])
def test_fat_tree_routes_go_up_and_then_down(k: int) -> None:
    tree = fat_tree(k, HOST)
    tier = {"edge": 1, "aggregation": 2, "core": 3}
    for src, dst, between, _ in walks(tree):
        heights = [tier[name.rstrip("0123456789.")] for name in between]
        under_edge, in_pod = src // (k // 2) == dst // (k // 2), src // (k * k // 4) == dst // (k * k // 4)
        expected = [1] if under_edge else [1, 2, 1] if in_pod else [1, 2, 3, 2, 1]
        assert heights == expected


@pytest.mark.parametrize("seed", range(5))
def test_hash_spreads_a_permutation_over_the_core(seed: int) -> None:
    """128 flows over 128 uplinks at random: the fullest of them has about ln n / ln ln n, 3 to 5."""
    tree = fat_tree(8, HOST)
    dst = np.random.default_rng(seed).permutation(128)
    used = routes(tree, np.arange(128), dst).links
    core = used[tree.links.level[used] == tree.levels.index("core")]
    assert 2 <= np.bincount(core).max() <= 6


def test_hash_spreads_all_pairs_evenly() -> None:
    tree = fat_tree(8, HOST)
    src, dst = np.divmod(np.arange(128 * 128), 128)
    used = routes(tree, src, dst).links
    core = tree.links.level == tree.levels.index("core")
    load = np.bincount(used, minlength=len(tree.links))[core]
    # 128 x 112 flows between pods cross 128 links up and 128 down: 112 each, give or take 4.5 sigma
    assert (load.sum(), len(load)) == (2 * 128 * 112, 256)
    assert abs(load - 112).max() < 4.5 * 112**0.5


PROGRAM = """
import hashlib
import numpy as np
from topologies import Tier, dragonfly, fat_tree, leaf_spine, rails, routes
several = rails(4, 4, 1e9, Tier(1e9), planes=2)
networks = fat_tree(6, 1e9), leaf_spine(4, 4, 3, 1e9), dragonfly(2, 4, 2, 1e9), several
for net in networks:
    src, dst = np.divmod(np.arange(net.ranks**2), net.ranks)
    print(hashlib.sha256(routes(net, src, dst).links.astype("<i4").tobytes()).hexdigest())
"""


def test_hashed_routes_are_the_same_in_every_process() -> None:
    runs = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("0", "1234")
    ]
    assert runs[0] == runs[1]
    tree = fat_tree(6, 1e9)
    src, dst = np.divmod(np.arange(54**2), 54)
    here = hashlib.sha256(routes(tree, src, dst).links.astype("<i4").tobytes()).hexdigest()
    assert runs[0].decode().split()[0] == here


# leaf and spine


@pytest.mark.parametrize(
    ("leaves", "hosts", "spines"), [(1, 1, 1), (1, 4, 2), (2, 4, 2), (3, 2, 4), (4, 4, 1), (8, 16, 4)]
)
def test_leaf_spine(leaves: int, hosts: int, spines: int) -> None:
    network = leaf_spine(leaves, hosts, spines, HOST)
    found = measure(network)
    assert (found.ranks, found.switches) == (leaves * hosts, leaves + spines)
    assert found.links == 2 * leaves * (hosts + spines)
    assert found.degree == (1, 1)
    assert found.diameter == (4 if leaves > 1 else 2 if hosts > 1 else 0)
    assert bandwidths(network) == {"leaf": HOST, "uplink": hosts * HOST / spines}
    if leaves % 2 == 0:
        # leaf by leaf, or host by host where there are fewer hosts than uplinks
        assert found.bisection_links == leaves // 2 * min(hosts, spines)
        assert found.bisection_bandwidth == leaves // 2 * hosts * HOST


def test_two_leaves_of_four_hosts() -> None:
    """BOUNDS: links of capacity 1 and two uplinks have diameter 4; 2 of 4 hosts' traffic crosses."""
    found = measure(leaf_spine(2, 4, 2, 1.0, uplink=Tier(1.0)))
    assert (found.diameter, found.bisection_links, found.bisection_bandwidth) == (4, 2, 2.0)


def test_leaf_spine_oversubscription() -> None:
    network = leaf_spine(4, 12, 4, 10e9, oversubscription=3.0)
    assert bandwidths(network) == {"leaf": 10e9, "uplink": 10e9}
    assert measure(network).bisection_bandwidth == 2 * 4 * 10e9


def test_leaf_spine_routes_cross_one_spine() -> None:
    network = leaf_spine(4, 4, 3, HOST)
    spines = Counter()
    for src, dst, between, _ in walks(network):
        if src // 4 == dst // 4:
            assert between == [f"leaf{src // 4}"]
        else:
            up, spine, down = between
            assert (up, down) == (f"leaf{src // 4}", f"leaf{dst // 4}")
            spines[spine] += 1
    # 192 flows over 3 spines
    assert set(spines) == {"spine0", "spine1", "spine2"}
    assert max(spines.values()) < 64 + 4 * 64**0.5


# dragonflies


@pytest.mark.parametrize(
    ("p", "a", "h"), [(1, 1, 1), (1, 2, 1), (2, 4, 2), (1, 3, 1), (3, 2, 3), (1, 4, 3), (4, 1, 5)]
)
def test_dragonfly_has_the_counts_of_the_paper(p: int, a: int, h: int) -> None:
    """Kim, Dally, Scott and Abts 2008, section 3.1: g = a h + 1 groups, N = a p g, radix p + a + h - 1."""
    network = dragonfly(p, a, h, HOST)
    g = a * h + 1
    found = measure(network)
    assert (found.ranks, found.switches) == (a * p * g, a * g)
    assert found.links == a * g * (2 * p + a - 1 + h)
    assert found.degree == (1, 1)
    # to the router, across the group, to the other group, across it, to the host
    assert found.diameter == (5 if a > 1 else 3)
    ports = np.bincount(network.links.src)[network.ranks :]
    assert (ports == p + a + h - 1).all()
    assert (np.bincount(network.links.dst)[network.ranks :] == ports).all()


def between_groups(network: Topology, a: int) -> Counter[tuple[int, int]]:
    links = network.links
    far = links.level == network.levels.index("between")
    src, dst = ((ends[far] - network.ranks) // a for ends in (links.src, links.dst))
    return Counter(zip(src.tolist(), dst.tolist(), strict=True))


@pytest.mark.parametrize(("p", "a", "h"), [(1, 1, 1), (1, 2, 1), (2, 4, 2), (1, 4, 3)])
def test_every_pair_of_groups_is_joined_once(p: int, a: int, h: int) -> None:
    g = a * h + 1
    assert between_groups(dragonfly(p, a, h, HOST), a) == {
        (x, y): 1 for x in range(g) for y in range(g) if x != y
    }


@pytest.mark.parametrize(
    ("groups", "count"), [(1, 0), (2, 8), (3, 4), (4, 2), (5, 2), (6, 1), (8, 1), (9, 1)]
)
def test_fewer_groups_are_joined_by_more_links(groups: int, count: int) -> None:
    network = dragonfly(2, 4, 2, HOST, groups=groups)
    assert network.ranks == 8 * groups
    expected = {(x, y): count for x in range(groups) for y in range(groups) if x != y}
    assert between_groups(network, 4) == expected
    # no router has more than its 2 ports
    far = network.links.level == 2
    assert np.bincount(network.links.src[far], minlength=1).max(initial=0) <= 2
    back = sorted(zip(network.links.dst[far], network.links.src[far], strict=True))
    assert back == sorted(zip(network.links.src[far], network.links.dst[far], strict=True))


def test_bisection_of_dragonflies() -> None:
    # the six routers of (1, 2, 1) are a ring of local and global links by turns
    assert measure(dragonfly(1, 2, 1, HOST)).bisection_links == 2
    # 2 groups against 2: 4 pairs of groups with a link, or two, each way
    assert measure(dragonfly(1, 3, 1, HOST)).bisection_links == 4
    assert measure(dragonfly(2, 4, 2, HOST, groups=4)).bisection_links == 8


@pytest.mark.parametrize("groups", [None, 2, 4, 7])
def test_dragonfly_routes_are_minimal(groups: int | None) -> None:
    network = dragonfly(2, 4, 2, HOST, groups=groups, local=Tier(32e9), between=Tier(16e9, 5e-6))
    seen = set()
    for src, dst, _, way in walks(network):
        assert way[0] == way[-1] == "host"
        inner = tuple(way[1:-1])
        if src // 8 == dst // 8:
            assert inner in ((), ("local",))
        else:
            assert inner.count("between") == 1
            assert len(inner) <= 3
        seen.add(inner)
    # of two groups every router has a link to the other
    assert (("local", "between", "local") in seen) == (groups != 2)


# rails


@pytest.mark.parametrize(
    ("nodes", "size", "planes"), [(1, 1, 1), (1, 4, 1), (3, 1, 2), (2, 2, 2), (4, 4, 1), (4, 4, 2), (4, 8, 2)]
)
def test_rails(nodes: int, size: int, planes: int) -> None:
    network = rails(nodes, size, 450e9, Tier(50e9), planes=planes)
    found = measure(network)
    assert (found.ranks, found.switches) == (nodes * size, nodes + size * planes)
    assert found.links == 2 * nodes * size * (1 + planes)
    assert found.degree == found.in_degree == (1 + planes, 1 + planes)
    # two hops in the node and two on the rail
    assert found.diameter == 2 * (nodes > 1) + 2 * (size > 1)
    assert bandwidths(network) == {"node": 450e9, "rail": 50e9}
    if nodes % 2 == 0:
        # half of the nodes against the others: each rank's planes
        assert found.bisection_bandwidth <= nodes * size // 2 * planes * 50e9
    if not found.bisection_exact:
        assert found.bisection_bandwidth == nodes * size // 2 * planes * 50e9


def test_ranks_of_the_same_place_meet_on_their_rail() -> None:
    network = rails(4, 4, 450e9, Tier(50e9), planes=2)
    rails_used, first_or_last = Counter(), Counter()
    for src, dst, between, _ in walks(network):
        (m, i), (n, j) = divmod(src, 4), divmod(dst, 4)
        if m == n:
            assert between == [f"node{m}"]
        elif i == j:
            (rail,) = between
            assert rail in (f"rail{i}.0", f"rail{i}.1")
            rails_used[rail] += 1
        elif between[0] == f"node{m}":
            assert between[1] == str(4 * m + j)
            assert between[2] in (f"rail{j}.0", f"rail{j}.1")
            first_or_last["first"] += 1
        else:
            assert between[0] in (f"rail{i}.0", f"rail{i}.1")
            assert between[1:] == [str(4 * n + i), f"node{n}"]
            first_or_last["last"] += 1
    assert len(rails_used) == 8
    assert min(first_or_last.values()) > 0


@pytest.mark.parametrize(
    "network",
    [fat_tree(6, HOST), leaf_spine(3, 4, 2, HOST), rails(3, 4, HOST, Tier(1e9), planes=2)],
    ids=lambda network: network.kind,
)
def test_hashed_routes_are_shortest(network: Topology) -> None:
    src, dst = np.divmod(np.arange(network.ranks**2), network.ranks)
    hops = routes(network, src, dst).hops()
    assert (hops == distances(network, np.arange(network.ranks))[dst, src]).all()


@pytest.mark.parametrize("n", [4, 8])
def test_switch_star_of_the_bounds_is_a_crossbar(n: int) -> None:
    assert measure(crossbar(n, 1.0)).diameter == 2
