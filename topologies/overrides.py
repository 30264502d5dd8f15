"""Links that differ from the rest: a slow cable, a slow port, another rate for a whole level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from topologies.errors import TopologyError
from topologies.quantities import Bandwidth, Time, Whole
from topologies.wiring import check_wire

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topologies.topology import Topology


@dataclass(frozen=True, slots=True)
class Override:
    """New values for some links.

    Parameters
    ----------
    level : str, optional
        All links of a level;
    rank : int, optional
        or all links out of and into a rank;
    src, dst : int or str, optional
        or the directed links from one node to another.
    bandwidth, latency, overhead : float, optional
        bytes/s, s, s; what is not given stays.
    """

    level: str | None = None
    rank: Whole | None = None
    src: int | str | None = None
    dst: int | str | None = None
    bandwidth: Bandwidth | None = None
    latency: Time | None = None
    overhead: Time | None = None


def override(topology: Topology, overrides: Sequence[Override]) -> Topology:
    """The topology with some links changed, one override after the other.

    Raises
    ------
    TopologyError
        If an override selects nothing, selects twice, changes nothing, or makes a link impossible.

    Examples
    --------
    >>> from topologies import ring
    >>> slow = override(ring(4, bandwidth=64e9), [Override(src=0, dst=1, bandwidth=8e9)])
    >>> slow.links.bandwidth.tolist()[:2]
    [8000000000.0, 64000000000.0]
    """
    for i, change in enumerate(overrides):
        topology = _apply(topology, change, i)
    return topology


def _apply(topology: Topology, change: Override, i: int) -> Topology:
    given = {
        name: value
        for name in ("bandwidth", "latency", "overhead")
        if (value := getattr(change, name)) is not None
    }
    if not given:
        raise TopologyError("an override needs a bandwidth, latency or overhead", ("overrides", i))
    try:
        check_wire(given.get("bandwidth", 1.0), given.get("latency", 0.0), given.get("overhead", 0.0))
    except TopologyError as error:
        raise TopologyError(error.message, ("overrides", i, *error.at)) from None
    chosen = _selected(topology, change, i)
    columns = {name: np.where(chosen, value, getattr(topology.links, name)) for name, value in given.items()}
    return replace(topology, links=replace(topology.links, **columns))


def _selected(topology: Topology, change: Override, i: int) -> NDArray[np.bool_]:
    """Which links an override speaks of."""
    links, at = topology.links, ("overrides", i)
    pair = change.src is not None or change.dst is not None
    if [change.level is not None, change.rank is not None, pair].count(True) != 1:
        raise TopologyError("an override selects by level, by rank, or by src and dst", at)
    if change.level is not None:
        if change.level not in topology.levels:
            known = ", ".join(topology.levels)
            raise TopologyError(f'there is no level "{change.level}"; there are {known}', (*at, "level"))
        return np.asarray(links.level == topology.levels.index(change.level))
    if change.rank is not None:
        if change.rank >= topology.ranks:
            raise TopologyError(
                f"there is no rank {change.rank} (ranks are 0 to {topology.ranks - 1})", (*at, "rank")
            )
        return np.asarray((links.src == change.rank) | (links.dst == change.rank))
    ends = [_node(topology, name, end, at) for name, end in (("src", change.src), ("dst", change.dst))]
    chosen: NDArray[np.bool_] = (links.src == ends[0]) & (links.dst == ends[1])
    if not chosen.any():
        raise TopologyError(f"there is no link from {change.src} to {change.dst}", at)
    return chosen


def _node(topology: Topology, name: str, end: int | str | None, at: tuple[str | int, ...]) -> int:
    if end is None:
        raise TopologyError("an override by link needs both src and dst", at)
    if end not in topology.nodes:
        raise TopologyError(f"there is no node {end}", (*at, name))
    return topology.nodes.index(end)
