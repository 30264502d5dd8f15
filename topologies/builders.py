"""Builders of the topologies with one level, and of a graph that is given link by link."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Literal

import numpy as np

from topologies.errors import TopologyError
from topologies.quantities import Bandwidth, Count, Time, Whole
from topologies.shapes import Shape, connect
from topologies.topology import Topology
from topologies.wiring import Wire, Wiring, check_wire, switch_reduces


def _check_direction(direction: str, at: tuple[str | int, ...]) -> None:
    if direction not in ("both", "one"):
        raise TopologyError(f'direction must be both or one, found "{direction}"', at)


def _flat(
    kind: str,
    ranks: int,
    shape: Shape,
    wire: Wire,
    dims: tuple[int, ...] | None = None,
    *,
    reduces: bool = False,
) -> Topology:
    check_wire(wire.bandwidth, wire.latency, wire.overhead)
    wiring = Wiring(ranks)
    connect(wiring, range(ranks), shape, wire)
    return wiring.topology(kind, dims or (ranks,), (wire.level,), reduces=reduces)


def ring(
    ranks: Count,
    bandwidth: Bandwidth,
    latency: Time = 0.0,
    overhead: Time = 0.0,
    direction: Literal["both", "one"] = "both",
) -> Topology:
    """Ring of N ranks; two ranks have one link each way, one rank has none.

    Parameters
    ----------
    ranks : int
        N, how many ranks.
    bandwidth, latency, overhead : float
        Of each directed link: bytes/s, s, s.
    direction : {'both', 'one'}
        A link each way between neighbours, or only from i to i+1.

    Examples
    --------
    >>> len(ring(8, bandwidth=64e9).links), len(ring(8, bandwidth=64e9, direction="one").links)
    (16, 8)
    """
    _check_direction(direction, ("direction",))
    wire = Wire(bandwidth, latency, overhead, "ring")
    if direction == "both":
        return _flat("ring", ranks, "ring", wire)
    check_wire(bandwidth, latency, overhead)
    wiring = Wiring(ranks)
    if ranks > 1:
        rank = np.arange(ranks)
        wiring.add(rank, (rank + 1) % ranks, wire)
    return wiring.topology("ring", (ranks,), (wire.level,))


def hypercube(dimension: Whole, bandwidth: Bandwidth, latency: Time = 0.0, overhead: Time = 0.0) -> Topology:
    """Hypercube of 2^dimension ranks; rank i and i XOR 2^k are neighbours.

    Parameters
    ----------
    dimension : int
        log2 N.
    bandwidth, latency, overhead : float
        Of each directed link: bytes/s, s, s.

    Examples
    --------
    >>> hypercube(3, bandwidth=64e9).ranks
    8
    """
    if not 0 <= dimension <= 20:
        raise TopologyError(f"dimension must be 0 to 20, found {dimension}", ("dimension",))
    wire = Wire(bandwidth, latency, overhead, "hypercube")
    return _flat("hypercube", 1 << dimension, "hypercube", wire, (2,) * dimension or (1,))


def full_mesh(ranks: Count, bandwidth: Bandwidth, latency: Time = 0.0, overhead: Time = 0.0) -> Topology:
    """Every pair of N ranks joined by a link each way.

    Parameters
    ----------
    ranks : int
        N, how many ranks.
    bandwidth, latency, overhead : float
        Of each directed link: bytes/s, s, s.

    Examples
    --------
    >>> len(full_mesh(8, bandwidth=64e9).links)
    56
    """
    return _flat("full_mesh", ranks, "full_mesh", Wire(bandwidth, latency, overhead, "full_mesh"))


def crossbar(
    ranks: Count,
    bandwidth: Bandwidth,
    latency: Time = 0.0,
    overhead: Time = 0.0,
    switch: Literal["forwards", "reduces"] = "forwards",
) -> Topology:
    """One switch, with an up and a down link per rank.

    With overhead = alpha and latency 0, under cut_through, it is the textbook's one-port
    full-duplex machine: a message of S bytes takes alpha + S / bandwidth.

    Parameters
    ----------
    ranks : int
        N, how many ranks.
    bandwidth, latency, overhead : float
        Of each directed link: bytes/s, s, s.
    switch : {'forwards', 'reduces'}
        Whether the switch also sums what passes, and copies it to several ranks.

    Examples
    --------
    >>> len(crossbar(8, bandwidth=64e9).links)
    16
    """
    wire = Wire(bandwidth, latency, overhead, "crossbar")
    return _flat("crossbar", ranks, "switch", wire, reduces=switch_reduces(switch))


@dataclass(frozen=True, slots=True)
class CustomNodes:
    """Nodes of a custom topology.

    Parameters
    ----------
    ranks : int
        N: the ranks 0 to N - 1.
    switches : sequence of str
        Names of the switches.
    reduces : sequence of str
        Those of them that reduce.
    """

    ranks: Count
    switches: Sequence[str] = ()
    reduces: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class CustomLink:
    """A link of a custom topology, or several parallel ones.

    Parameters
    ----------
    src, dst : int or str
        A rank by its number, a switch by its name.
    bandwidth, latency, overhead : float
        Of each directed link: bytes/s, s, s.
    level : str
        The level that it is counted under.
    direction : {'both', 'one'}
        A link each way, or only from `src` to `dst`.
    count : int
        How many parallel links.
    """

    src: int | str
    dst: int | str
    bandwidth: Bandwidth
    latency: Time = 0.0
    overhead: Time = 0.0
    level: str = "link"
    direction: Literal["both", "one"] = "both"
    count: Count = 1


def custom(nodes: CustomNodes, links: Sequence[CustomLink]) -> Topology:
    """Graph given node by node and link by link.

    Parameters
    ----------
    nodes : CustomNodes
        How many ranks, and the names of the switches.
    links : sequence of CustomLink
        All links, in the order in which routing prefers them.

    Examples
    --------
    >>> line = custom(CustomNodes(3), [CustomLink(0, 1, 1e9), CustomLink(1, 2, 1e9)])
    >>> len(line.links)
    4
    """
    wiring = Wiring(nodes.ranks, ("nodes", "ranks"))
    for i, name in enumerate(nodes.switches):
        if name in wiring.switches:
            raise TopologyError(f'switch "{name}" is named twice', ("nodes", "switches", i))
        wiring.switch(name)
    known: dict[int | str, int] = {rank: rank for rank in range(nodes.ranks)}
    known.update(wiring.switches)
    levels: dict[str, None] = {}
    for i, link in enumerate(links):
        _check_link(known, nodes.ranks, link, i)
        levels.setdefault(link.level)
        wire = Wire(link.bandwidth, link.latency, link.overhead, link.level)
        wiring.add(known[link.src], known[link.dst], wire, link.count)
        if link.direction == "both":
            wiring.add(known[link.dst], known[link.src], wire, link.count)
    for i, name in enumerate(nodes.reduces):
        if name not in wiring.switches:
            raise TopologyError(f'there is no switch "{name}" to reduce', ("nodes", "reduces", i))
    built = wiring.topology("custom", (nodes.ranks,), tuple(levels))
    return replace(built, reduces=tuple(sorted({wiring.switches[name] for name in nodes.reduces})))


def _missing(end: int | str, known: Iterable[int | str], ranks: int) -> str:
    if isinstance(end, int):
        return f"rank {end} (ranks are 0 to {ranks - 1})"
    near = get_close_matches(end, [name for name in known if isinstance(name, str)], n=1)
    if end.isdigit():
        return f'switch "{end}"; a rank is written without quotes'
    return f'switch "{end}"' + (f'; did you mean "{near[0]}"?' if near else "")


def _check_link(known: Collection[int | str], ranks: int, link: CustomLink, i: int) -> None:
    for name, end in (("src", link.src), ("dst", link.dst)):
        if end not in known:
            raise TopologyError(f"there is no {_missing(end, known, ranks)}", ("links", i, name))
    if link.src == link.dst:
        raise TopologyError(f"a link from {link.src} to itself", ("links", i, "dst"))
    _check_direction(link.direction, ("links", i, "direction"))
    if link.count < 1:
        raise TopologyError(f"count must be at least 1, found {link.count}", ("links", i, "count"))
    try:
        check_wire(link.bandwidth, link.latency, link.overhead)
    except TopologyError as error:
        raise TopologyError(error.message, ("links", i, *error.at)) from None
