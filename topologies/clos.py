"""Switched networks in tiers: fat trees, leaf and spine, dragonflies, rails.

Between switches there is often a choice of equally short ways; each pair of ranks takes one of
them by a hash of their numbers (equal-cost multipath), the same in every run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from topologies.errors import TopologyError
from topologies.quantities import Bandwidth, Count, Ratio, Time
from topologies.topology import Topology
from topologies.wiring import Wire, Wiring, check_wire


@dataclass(frozen=True, slots=True)
class Tier:
    """Links of one tier of a network: bytes/s, s, s."""

    bandwidth: Bandwidth
    latency: Time = 0.0
    overhead: Time = 0.0

    def wire(self, level: str) -> Wire:
        """One directed link of this tier."""
        return Wire(self.bandwidth, self.latency, self.overhead, level)


def _tiers(names: Sequence[str], tiers: Sequence[Tier | None], first: Tier, rest: Tier) -> list[Wire]:
    """Wires of each tier: as given, or the first tier's own and the rest derived from it."""
    wires = []
    for i, (name, tier) in enumerate(zip(names, tiers, strict=True)):
        chosen = tier or (first if i == 0 else rest)
        try:
            check_wire(chosen.bandwidth, chosen.latency, chosen.overhead)
        except TopologyError as error:
            raise TopologyError(error.message, error.at if i == 0 else (name, *error.at)) from None
        wires.append(chosen.wire(name))
    return wires


def _switches(wiring: Wiring, names: Iterable[str]) -> list[int]:
    return [wiring.switch(name) for name in names]


def _check_oversubscription(ratio: float, explicit: bool) -> None:
    if not 0 < ratio < float("inf"):
        raise TopologyError(
            f"oversubscription must be positive and finite, found {ratio}", ("oversubscription",)
        )
    if explicit and ratio != 1:
        raise TopologyError(
            "oversubscription sets the bandwidth above the hosts; give it or a tier's own, not both",
            ("oversubscription",),
        )


def fat_tree(
    k: Count,
    bandwidth: Bandwidth,
    latency: Time = 0.0,
    overhead: Time = 0.0,
    oversubscription: Ratio = 1.0,
    aggregation: Tier | None = None,
    core: Tier | None = None,
) -> Topology:
    """Three tiers of k-port switches with k^3/4 hosts (Al-Fares, Loukissas and Vahdat 2008).

    k pods of k/2 edge and k/2 aggregation switches, and (k/2)^2 core switches; k/2 hosts on each
    edge switch. Routed up and down by a hash of source and destination.

    Parameters
    ----------
    k : int
        Ports of a switch, even.
    bandwidth, latency, overhead : float
        Of a host's link: bytes/s, s, s; of the tiers above, too, unless they say otherwise.
    oversubscription : float
        Bandwidth of the hosts under an edge switch over that of its uplinks.
    aggregation, core : Tier, optional
        Links between edge and aggregation switches, and between aggregation and core.

    Examples
    --------
    >>> tree = fat_tree(4, bandwidth=12.5e9)
    >>> tree.ranks, len(tree.nodes) - tree.ranks, len(tree.links)
    (16, 20, 96)
    """
    if k < 2 or k % 2:
        raise TopologyError(f"k must be even and at least 2, found {k}", ("k",))
    _check_oversubscription(oversubscription, aggregation is not None or core is not None)
    host = Tier(bandwidth, latency, overhead)
    up = Tier(bandwidth / oversubscription, latency, overhead)
    names = ("edge", "aggregation", "core")
    edge_wire, pod_wire, core_wire = _tiers(names, (None, aggregation, core), host, up)
    half = k // 2
    wiring = Wiring(k * half * half)
    for pod in range(k):
        edges = _switches(wiring, [f"edge{pod}.{i}" for i in range(half)])
        above = _switches(wiring, [f"aggregation{pod}.{i}" for i in range(half)])
        for i, edge in enumerate(edges):
            first = (pod * half + i) * half
            wiring.join(range(first, first + half), [edge], edge_wire)
        wiring.join(edges, above, pod_wire)
    cores = _switches(wiring, [f"core{i}" for i in range(half * half)])
    for pod in range(k):
        for i in range(half):
            wiring.join([wiring.switch(f"aggregation{pod}.{i}")], cores[i * half : (i + 1) * half], core_wire)
    return wiring.topology("fat_tree", (half, half, k), names, spread="hash")


def leaf_spine(
    leaves: Count,
    hosts: Count,
    spines: Count,
    bandwidth: Bandwidth,
    latency: Time = 0.0,
    overhead: Time = 0.0,
    oversubscription: Ratio = 1.0,
    uplink: Tier | None = None,
) -> Topology:
    """Two tiers: every leaf switch has its hosts below it and is joined to every spine switch.

    Parameters
    ----------
    leaves, hosts, spines : int
        Leaf switches, hosts on each, spine switches.
    bandwidth, latency, overhead : float
        Of a host's link: bytes/s, s, s.
    oversubscription : float
        Bandwidth of the hosts under a leaf over that of its uplinks: an uplink has
        hosts x bandwidth / (spines x oversubscription).
    uplink : Tier, optional
        Links between leaves and spines, if not by that rule.

    Examples
    --------
    >>> float(leaf_spine(2, 4, 2, bandwidth=25e9).links.bandwidth.max())
    50000000000.0
    """
    for name, value in (("leaves", leaves), ("hosts", hosts), ("spines", spines)):
        if value < 1:
            raise TopologyError(f"{name} must be at least 1, found {value}", (name,))
    _check_oversubscription(oversubscription, uplink is not None)
    host = Tier(bandwidth, latency, overhead)
    up = Tier(hosts * bandwidth / (spines * oversubscription), latency, overhead)
    names = ("leaf", "uplink")
    leaf_wire, up_wire = _tiers(names, (None, uplink), host, up)
    wiring = Wiring(leaves * hosts)
    leaf_switches = _switches(wiring, [f"leaf{i}" for i in range(leaves)])
    for i, leaf in enumerate(leaf_switches):
        wiring.join(range(i * hosts, (i + 1) * hosts), [leaf], leaf_wire)
    wiring.join(leaf_switches, _switches(wiring, [f"spine{i}" for i in range(spines)]), up_wire)
    return wiring.topology("leaf_spine", (hosts, leaves), names, spread="hash")


def dragonfly(
    hosts: Count,
    routers: Count,
    global_links: Count,
    bandwidth: Bandwidth,
    latency: Time = 0.0,
    overhead: Time = 0.0,
    groups: Count | None = None,
    local: Tier | None = None,
    between: Tier | None = None,
) -> Topology:
    """Groups of fully joined routers, the groups fully joined, too (Kim, Dally, Scott and Abts 2008).

    Parameters
    ----------
    hosts, routers, global_links : int
        p hosts on a router, a routers in a group, h links of a router to other groups.
    bandwidth, latency, overhead : float
        Of a host's link: bytes/s, s, s; of the other tiers, too, unless they say otherwise.
    groups : int, optional
        g, at most a h + 1, the default; every pair of groups has a h // (g - 1) links.
    local, between : Tier, optional
        Links inside a group, and between groups.

    Examples
    --------
    >>> dragonfly(2, 4, 2, bandwidth=25e9).ranks
    72
    """
    ports = routers * global_links
    count = ports + 1 if groups is None else groups
    for name, value in (("hosts", hosts), ("routers", routers), ("global_links", global_links)):
        if value < 1:
            raise TopologyError(f"{name} must be at least 1, found {value}", (name,))
    if not 1 <= count <= ports + 1:
        raise TopologyError(f"groups must be 1 to {ports + 1}, found {count}", ("groups",))
    host = Tier(bandwidth, latency, overhead)
    names = ("host", "local", "between")
    host_wire, local_wire, far_wire = _tiers(names, (None, local, between), host, host)
    wiring = Wiring(hosts * routers * count)
    for group in range(count):
        members = _switches(wiring, [f"router{group}.{i}" for i in range(routers)])
        for i, router in enumerate(members):
            first = (group * routers + i) * hosts
            wiring.join(range(first, first + hosts), [router], host_wire)
        for i in range(routers):
            for j in range(1, routers):
                wiring.add(members[i], members[(i + j) % routers], local_wire)
    for group in range(count):
        for offset in range(1, count):
            for lane in range(ports // (count - 1)):
                # the port to the group `offset` further on meets that group's port for the way back
                port = offset - 1 + lane * (count - 1)
                back = count - offset - 1 + lane * (count - 1)
                other = (group + offset) % count
                src = wiring.switch(f"router{group}.{port // global_links}")
                dst = wiring.switch(f"router{other}.{back // global_links}")
                wiring.add(src, dst, far_wire)
    return wiring.topology("dragonfly", (hosts, routers, count), names, spread="hash")


def rails(
    nodes: Count,
    ranks_per_node: Count,
    bandwidth: Bandwidth,
    rail: Tier,
    latency: Time = 0.0,
    overhead: Time = 0.0,
    planes: Count = 1,
) -> Topology:
    """Rail-optimised cluster: a switch in every node, and for each place in a node a rail of its own.

    Ranks with the same place in their nodes meet on the switches of their rail, one a plane; other
    pairs cross their node's switch first.

    Parameters
    ----------
    nodes, ranks_per_node : int
        Their product is N.
    bandwidth, latency, overhead : float
        Of a rank's link to its node's switch: bytes/s, s, s.
    rail : Tier
        Of a rank's link to each plane of its rail.
    planes : int
        Rail switches, and links, of each rank.

    Examples
    --------
    >>> rails(4, 8, 450e9, Tier(50e9), planes=2).ranks
    32
    """
    for name, value in (("nodes", nodes), ("ranks_per_node", ranks_per_node), ("planes", planes)):
        if value < 1:
            raise TopologyError(f"{name} must be at least 1, found {value}", (name,))
    node_wire, rail_wire = _tiers(("node", "rail"), (None, rail), Tier(bandwidth, latency, overhead), rail)
    wiring = Wiring(nodes * ranks_per_node)
    for node in range(nodes):
        first = node * ranks_per_node
        wiring.join(range(first, first + ranks_per_node), _switches(wiring, [f"node{node}"]), node_wire)
    for place in range(ranks_per_node):
        members = range(place, nodes * ranks_per_node, ranks_per_node)
        for plane in range(planes):
            wiring.join(members, _switches(wiring, [f"rail{place}.{plane}"]), rail_wire)
    return wiring.topology("rails", (ranks_per_node, nodes), ("node", "rail"), spread="hash")
