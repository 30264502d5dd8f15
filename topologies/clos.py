"""Switched networks in tiers: fat trees, leaf and spine, dragonflies, rails.

Between switches there is often a choice of equally short ways; each pair of ranks takes one of
them by a hash of their numbers (equal-cost multipath), the same in every run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from topologies.errors import TopologyError
from topologies.quantities import Bandwidth, Count, Ratio, Time
from topologies.shapes import pairs
from topologies.topology import Topology
from topologies.wiring import Wire, Wiring, check_wire, switch_reduces

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FAR: Final = 3
"""Cost of a link between groups: two of them cost more than one and a local link at both its ends."""


@dataclass(frozen=True, slots=True)
class Tier:
    """Links of one tier of a network.

    Parameters
    ----------
    bandwidth, latency, overhead : float
        Of each directed link: bytes/s, s, s.
    """

    bandwidth: Bandwidth
    latency: Time = 0.0
    overhead: Time = 0.0


def fat_tree(
    k: Count,
    bandwidth: Bandwidth,
    latency: Time = 0.0,
    overhead: Time = 0.0,
    oversubscription: Ratio = 1.0,
    aggregation: Tier | None = None,
    core: Tier | None = None,
    switch: Literal["forwards", "reduces"] = "forwards",
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
    aggregation : Tier, optional
        Links between edge and aggregation switches.
    core : Tier, optional
        Links between aggregation and core switches.
    switch : {'forwards', 'reduces'}
        Whether the switches also sum what passes.

    Examples
    --------
    >>> tree = fat_tree(4, bandwidth=12.5e9)
    >>> tree.ranks, len(tree.nodes) - tree.ranks, len(tree.links)
    (16, 20, 96)
    """
    if k < 2 or k % 2:
        raise TopologyError(f"k must be even and at least 2, found {k}", ("k",))
    host = Tier(bandwidth, latency, overhead)
    edge_wire = _wire("edge", host)
    up = _uplink(host, 1.0, oversubscription, explicit=bool(aggregation or core))
    pod_wire = _wire("aggregation", aggregation or up, "aggregation")
    core_wire = _wire("core", core or up, "core")
    half = k // 2
    wiring = Wiring(k * half * half, ("k",))
    hosts = np.arange(wiring.ranks).reshape(k, half, half)
    edges = _switches(wiring, "edge", k, half)
    aggregations = _switches(wiring, "aggregation", k, half)
    cores = _switches(wiring, "core", half, half)
    _join(wiring, hosts, edges[:, :, None], edge_wire)
    _join(wiring, edges[:, :, None], aggregations[:, None, :], pod_wire)
    # the i-th aggregation switch of every pod meets the i-th row of cores
    _join(wiring, aggregations[:, :, None], cores[None, :, :], core_wire)
    return wiring.topology(
        "fat_tree",
        (half, half, k),
        ("edge", "aggregation", "core"),
        spread="hash",
        reduces=switch_reduces(switch),
    )


def leaf_spine(
    leaves: Count,
    hosts: Count,
    spines: Count,
    bandwidth: Bandwidth,
    latency: Time = 0.0,
    overhead: Time = 0.0,
    oversubscription: Ratio = 1.0,
    uplink: Tier | None = None,
    switch: Literal["forwards", "reduces"] = "forwards",
) -> Topology:
    """Two tiers: every leaf switch has its hosts below it and is joined to every spine switch.

    Parameters
    ----------
    leaves : int
        Leaf switches.
    hosts : int
        Hosts on each leaf.
    spines : int
        Spine switches, each joined to every leaf.
    bandwidth, latency, overhead : float
        Of a host's link: bytes/s, s, s; latency and overhead of an uplink, too, unless it says otherwise.
    oversubscription : float
        Bandwidth of the hosts under a leaf over that of its uplinks: an uplink has
        hosts x bandwidth / (spines x oversubscription).
    uplink : Tier, optional
        Links between leaves and spines, if not by that rule.
    switch : {'forwards', 'reduces'}
        Whether the switches also sum what passes.

    Examples
    --------
    >>> float(leaf_spine(2, 4, 2, bandwidth=25e9).links.bandwidth.max())
    50000000000.0
    """
    _check_counts(leaves=leaves, hosts=hosts, spines=spines)
    host = Tier(bandwidth, latency, overhead)
    leaf_wire = _wire("leaf", host)
    up = _uplink(host, hosts / spines, oversubscription, explicit=uplink is not None)
    up_wire = _wire("uplink", uplink or up, "uplink")
    wiring = Wiring(leaves * hosts, ("hosts",))
    wiring.make_room(2 * leaves * (hosts + spines), ("spines",))
    under = _switches(wiring, "leaf", leaves)
    _join(wiring, np.arange(wiring.ranks).reshape(leaves, hosts), under[:, None], leaf_wire)
    _join(wiring, under[:, None], _switches(wiring, "spine", spines), up_wire)
    return wiring.topology(
        "leaf_spine", (hosts, leaves), ("leaf", "uplink"), spread="hash", reduces=switch_reduces(switch)
    )


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

    Routed minimally: at most one link between groups, and a local one at each of its ends.

    Parameters
    ----------
    hosts : int
        p, hosts on a router.
    routers : int
        a, routers in a group.
    global_links : int
        h, links of a router to other groups.
    bandwidth, latency, overhead : float
        Of a host's link: bytes/s, s, s; of the other tiers, too, unless they say otherwise.
    groups : int, optional
        g, at most a h + 1, the default; every pair of groups has a h // (g - 1) links.
    local : Tier, optional
        Links inside a group.
    between : Tier, optional
        Links between groups.

    Examples
    --------
    >>> dragonfly(2, 4, 2, bandwidth=25e9).ranks
    72
    """
    _check_counts(hosts=hosts, routers=routers, global_links=global_links)
    ports = routers * global_links
    count = ports + 1 if groups is None else groups
    if not 1 <= count <= ports + 1:
        raise TopologyError(f"groups must be 1 to {ports + 1}, found {count}", ("groups",))
    host = Tier(bandwidth, latency, overhead)
    host_wire = _wire("host", host)
    local_wire = _wire("local", local or host, "local")
    far_wire = replace(_wire("between", between or host, "between"), cost=_FAR)
    wiring = Wiring(hosts * routers * count, ("hosts",))
    wiring.make_room(count * routers * (2 * hosts + routers - 1 + global_links), ("routers",))
    router = _switches(wiring, "router", count, routers)
    _join(wiring, np.arange(wiring.ranks).reshape(count, routers, hosts), router[:, :, None], host_wire)
    src, dst = pairs("full_mesh", routers)
    wiring.add(router[:, src].ravel(), router[:, dst].ravel(), local_wire)
    if count > 1:
        src, dst = _between(router, global_links)
        wiring.add(src, dst, far_wire)
    return wiring.topology("dragonfly", (hosts, routers, count), ("host", "local", "between"), spread="hash")


def _between(router: NDArray[np.int64], global_links: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Links between all groups: port g - 1 + lane (groups - 1) of a group leads to the group g further on."""
    groups, routers = router.shape
    lanes = routers * global_links // (groups - 1)
    group, lane, offset = np.ogrid[:groups, :lanes, 1:groups]
    port = lane * (groups - 1) + offset - 1
    # where the other group's way back begins
    back = lane * (groups - 1) + groups - offset - 1
    src = router[group, port // global_links]
    dst = router[(group + offset) % groups, back // global_links]
    return src.ravel(), dst.ravel()


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

    Ranks with the same place in their nodes meet on the switches of their rail, one a plane. Other
    pairs cross a node's switch first, to the rank beside the source, or last, from the one beside
    the destination.

    Parameters
    ----------
    nodes : int
        Machines, each with a switch of its own.
    ranks_per_node : int
        Ranks in each; times the nodes that is N.
    bandwidth, latency, overhead : float
        Of a rank's link to its node's switch: bytes/s, s, s.
    rail : Tier
        Of a rank's link to each plane of its rail.
    planes : int
        Rail switches, and links to them, of each rank.

    Examples
    --------
    >>> rails(4, 8, 450e9, Tier(50e9), planes=2).ranks
    32
    """
    _check_counts(nodes=nodes, ranks_per_node=ranks_per_node, planes=planes)
    node_wire = _wire("node", Tier(bandwidth, latency, overhead))
    rail_wire = _wire("rail", rail, "rail")
    wiring = Wiring(nodes * ranks_per_node, ("nodes",))
    wiring.make_room(2 * wiring.ranks * (1 + planes), ("planes",))
    ranks = np.arange(wiring.ranks).reshape(nodes, ranks_per_node)
    _join(wiring, ranks, _switches(wiring, "node", nodes)[:, None], node_wire)
    _join(wiring, ranks[:, :, None], _switches(wiring, "rail", ranks_per_node, planes)[None], rail_wire)
    return wiring.topology("rails", (ranks_per_node, nodes), ("node", "rail"), spread="hash")


def _check_counts(**counts: int) -> None:
    for name, value in counts.items():
        if value < 1:
            raise TopologyError(f"{name} must be at least 1, found {value}", (name,))


def _wire(level: str, tier: Tier, *at: str) -> Wire:
    """One directed link of a tier, which the builder was given at `at`."""
    try:
        check_wire(tier.bandwidth, tier.latency, tier.overhead)
    except TopologyError as error:
        raise TopologyError(error.message, (*at, *error.at)) from None
    return Wire(tier.bandwidth, tier.latency, tier.overhead, level)


def _uplink(host: Tier, hosts_per_uplink: float, oversubscription: float, *, explicit: bool) -> Tier:
    """Links above the hosts by oversubscription, which only counts where no tier is explicit."""
    at = ("oversubscription",)
    if not 0 < oversubscription < float("inf"):
        raise TopologyError(f"oversubscription must be positive and finite, found {oversubscription}", at)
    if explicit and oversubscription != 1:
        raise TopologyError(
            "oversubscription sets the bandwidth above the hosts; give it or a tier's own, not both", at
        )
    bandwidth = host.bandwidth * hosts_per_uplink / oversubscription
    if not 0 < bandwidth < float("inf"):
        raise TopologyError(f"oversubscription leaves uplinks of {bandwidth} bytes/s", at)
    return Tier(bandwidth, host.latency, host.overhead)


def _switches(wiring: Wiring, name: str, *shape: int) -> NDArray[np.int64]:
    """New switches in an array of a shape, each named by its place in it: edge0.1."""
    names = (f"{name}{'.'.join(map(str, place))}" for place in np.ndindex(*shape))
    return np.array([wiring.switch(each) for each in names], dtype=np.int64).reshape(shape)


def _join(wiring: Wiring, low: NDArray[np.int64], high: NDArray[np.int64], wire: Wire) -> None:
    """A link each way between the nodes that stand at the same place of two arrays."""
    lows, highs = (ends.ravel() for ends in np.broadcast_arrays(low, high))
    wiring.add(lows, highs, wire)
    wiring.add(highs, lows, wire)
