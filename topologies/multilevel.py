"""Clusters in levels: chips in a card, cards in a machine, machines in a room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal, get_args

from topologies.errors import TopologyError
from topologies.quantities import Bandwidth, Count, Time
from topologies.shapes import Shape, connect
from topologies.topology import Topology
from topologies.wiring import Wire, Wiring, check_wire


@dataclass(frozen=True, slots=True)
class Shared:
    """A level entered through one gateway a group.

    Parameters
    ----------
    shared : int
        Parallel links to each neighbour that leave a gateway.
    """

    shared: Count


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a cluster.

    Parameters
    ----------
    name : str
        What people call it, e.g. "intra-node".
    size : int
        How many members of the level below (ranks, at the innermost level) it joins.
    shape : {'ring', 'line', 'full_mesh', 'switch', 'hypercube'}
        How they are wired.
    bandwidth, latency, overhead : float
        Of each directed link of the level: bytes/s, s, s.
    uplink : 'per_rank' or Shared
        `per_rank`: every rank has its own link at this level and meets the ranks that
        share its inner coordinates. `Shared(count)`: one gateway a group of the level
        below; ranks reach it by their inner-level links and `count` parallel links a
        pair leave it. The innermost level is always per rank.
    """

    name: str
    size: Count
    shape: Shape
    bandwidth: Bandwidth
    latency: Time = 0.0
    overhead: Time = 0.0
    uplink: Literal["per_rank"] | Shared = "per_rank"

    def wire(self, cost: int = 1) -> Wire:
        """One directed link of this level."""
        return Wire(self.bandwidth, self.latency, self.overhead, self.name, cost)


def multilevel(levels: Sequence[Level]) -> Topology:
    """Cluster of p_0 x p_1 x ... ranks, innermost level first.

    Rank r has the coordinates (r mod p_0, r // p_0 mod p_1, ...). A gateway is a switch;
    where the level below is a single switch, that switch is the gateway.

    Parameters
    ----------
    levels : sequence of Level
        The levels, innermost first.

    Raises
    ------
    TopologyError
        If there is no level, a name is used twice, the innermost level is shared, or a
        size does not fit its shape.

    Examples
    --------
    >>> chips = Level("card", 4, "full_mesh", 64e9)
    >>> cards = Level("machine", 2, "ring", 16e9, uplink=Shared(2))
    >>> cluster = multilevel([chips, cards])
    >>> cluster.ranks, cluster.dims, len(cluster.nodes)
    (8, (4, 2), 10)
    """
    _check(levels)
    sizes = [level.size for level in levels]
    wiring = Wiring(prod(sizes), ("levels",))
    gateways: list[int] = []
    longest = 0
    for i, level in enumerate(levels):
        if isinstance(level.uplink, Shared):
            # up and down costs more than any way round inside a group: no inner route cuts through
            cost = longest // 2 + 1
            gateways = _add_gateways(wiring, levels, i, gateways, cost)
            longest = 2 * cost
            _wire_gateways(wiring, level, level.uplink, gateways)
        else:
            for g, members in enumerate(along(sizes, i)):
                connect(wiring, members, level.shape, level.wire(), switch=_switch_name(levels, i, g))
        longest += max(level.size, 2)
    return wiring.topology("multilevel", sizes, [level.name for level in levels])


def _check(levels: Sequence[Level]) -> None:
    if not levels:
        raise TopologyError("a multilevel topology needs at least one level", ("levels",))
    names: set[str] = set()
    for i, level in enumerate(levels):
        if level.name in names:
            raise TopologyError(f'two levels are named "{level.name}"', ("levels", i, "name"))
        names.add(level.name)
        if level.size < 1:
            raise TopologyError(f"a level needs at least 1 member, found {level.size}", ("levels", i, "size"))
        if level.shape not in get_args(Shape):
            raise TopologyError(
                f'a shape is one of {", ".join(get_args(Shape))}, found "{level.shape}"',
                ("levels", i, "shape"),
            )
        if level.shape == "hypercube" and level.size.bit_count() != 1:
            raise TopologyError(
                f"a hypercube needs a power of two, found {level.size}", ("levels", i, "size")
            )
        try:
            check_wire(level.bandwidth, level.latency, level.overhead)
        except TopologyError as error:
            raise TopologyError(error.message, ("levels", i, *error.at)) from None
        if level.uplink != "per_rank" and not isinstance(level.uplink, Shared):
            raise TopologyError(
                f'uplink must be per_rank or Shared(count), found "{level.uplink}"', ("levels", i, "uplink")
            )
        if isinstance(level.uplink, Shared) and level.uplink.shared < 1:
            raise TopologyError(
                f"a level needs at least 1 shared link, found {level.uplink.shared}",
                ("levels", i, "uplink", "shared"),
            )
    if isinstance(levels[0].uplink, Shared):
        raise TopologyError(
            "the innermost level joins the ranks themselves and cannot be shared", ("levels", 0, "uplink")
        )


def _switch_name(levels: Sequence[Level], i: int, group: int) -> str:
    """Name of a level's switch: by its group, and by the inner coordinates of its ranks."""
    outer, inner = divmod(group, prod(level.size for level in levels[:i]))
    return f"{levels[i].name}/{outer}" + (f".{inner}" if i else "")


def _add_gateways(wiring: Wiring, levels: Sequence[Level], i: int, below: list[int], cost: int) -> list[int]:
    """One gateway for each group of level i-1, joined to the members of that group."""
    sizes = [level.size for level in levels]
    group, groups = prod(sizes[:i]), prod(sizes[i:])
    inner = levels[i - 1]
    if inner.shape == "switch" and (i == 1 or isinstance(inner.uplink, Shared)):
        return [wiring.switch(f"{inner.name}/{g}") for g in range(groups)]
    gateways = []
    for g in range(groups):
        gateways.append(wiring.switch(f"{levels[i].name}/gateway{g}"))
        if isinstance(inner.uplink, Shared):
            members: Sequence[int] = below[g * inner.size : (g + 1) * inner.size]
        else:
            members = range(g * group, (g + 1) * group)
        wiring.join(members, gateways[-1:], inner.wire(cost))
    return gateways


def _wire_gateways(wiring: Wiring, level: Level, uplink: Shared, gateways: Sequence[int]) -> None:
    for g, first in enumerate(range(0, len(gateways), level.size)):
        members = gateways[first : first + level.size]
        connect(wiring, members, level.shape, level.wire(), count=uplink.shared, switch=f"{level.name}/{g}")


def along(dims: Sequence[int], i: int) -> Iterator[range]:
    """Ranks that differ only in coordinate i, for every setting of the others.

    >>> [list(members) for members in along((2, 2), 1)]
    [[0, 2], [1, 3]]
    """
    stride = prod(dims[:i])
    for outer in range(prod(dims[i + 1 :])):
        for inner in range(stride):
            first = inner + outer * stride * dims[i]
            yield range(first, first + stride * dims[i], stride)
