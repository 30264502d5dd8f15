"""Routing that uses several ways: hashed, in turn, by way of another node, or as a scenario lists them.

A flow is what a channel sends from one rank to another. Its hash depends on the seed, its two
ranks and its channel alone, so that a run is the same on every machine. In turn go all messages
from one rank to another, whatever their channels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from topologies.choices import Hashed, InTurn, below_2_32, mixed
from topologies.detours import by_way_of
from topologies.errors import TopologyError
from topologies.paths import assemble
from topologies.quantities import Whole
from topologies.routing import check_reached, chosen_routes, routes
from topologies.static_routes import StaticRoute, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from topologies.paths import Routes
    from topologies.topology import Topology

Kind = Literal["shortest", "ecmp", "spray", "valiant"]


@dataclass(frozen=True, slots=True)
class Routing:
    """How messages find their ways.

    Attributes
    ----------
    kind : {'shortest', 'ecmp', 'spray', 'valiant'}
        The topology's own way; at every node one of the next links on shortest paths, by a hash of
        the flow and the node; every message between two ranks another of the shortest paths, in
        turn; by way of a node drawn by a hash of the flow (Valiant and Brebner 1981).
    seed : int
        Another seed, other hashes.
    """

    kind: Kind
    seed: Whole = 0

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise TopologyError(f'there is no routing "{self.kind}"', ("kind",))
        if self.seed and self.kind == "shortest":
            raise TopologyError("shortest draws nothing, so it takes no seed", ("seed",))

    @property
    def by_channel(self) -> bool:
        """Whether the channels between two ranks may go different ways."""
        return self.kind in ("ecmp", "valiant")

    @property
    def by_turn(self) -> bool:
        """Whether the messages between two ranks go different ways, in turn."""
        return self.kind == "spray"


def flow_routes(
    topology: Topology,
    routing: Routing,
    static: Sequence[StaticRoute],
    src: NDArray[np.int64],
    dst: NDArray[np.int64],
    channel: NDArray[np.int64],
    turn: NDArray[np.int64],
) -> Routes:
    """Routes of messages.

    Parameters
    ----------
    routing : Routing
    static : sequence of StaticRoute
        Pairs that go their own ways.
    src, dst : ndarray of int64, shape (messages,)
        Nodes of the topology.
    channel : ndarray of int64, shape (messages,)
        0 where the routing does not go by it.
    turn : ndarray of int64, shape (messages,)
        How many messages between the same ranks came before; 0 where the routing does not go by it.

    Raises
    ------
    TopologyError
        If a destination cannot be reached, or a static route is not one.

    Examples
    --------
    >>> from topologies import leaf_spine
    >>> one = np.ones(4, dtype=np.int64)
    >>> up = flow_routes(leaf_spine(2, 1, 2, 1e9), Routing("spray"), (), 0 * one, one, one, np.arange(4))
    >>> len(set(up.links[1::4].tolist()))
    2
    """
    if not static:
        return _free(topology, routing, src, dst, channel, turn)
    fixed, which = listed(topology, static, src, dst)
    free, taken = np.flatnonzero(which < 0), np.flatnonzero(which >= 0)
    found = _free(topology, routing, *(column[free] for column in (src, dst, channel, turn)))
    return assemble(len(src), [(free, found), (taken, fixed.pick(which[taken]))])


def _free(
    topology: Topology,
    routing: Routing,
    src: NDArray[np.int64],
    dst: NDArray[np.int64],
    channel: NDArray[np.int64],
    turn: NDArray[np.int64],
) -> Routes:
    """Routes of the messages whose way is not listed."""
    if routing.kind == "shortest":
        return routes(topology, src, dst)
    flow = mixed(0, np.full(len(src), routing.seed), channel, src, dst)
    if routing.kind == "valiant":
        return by_way_of(topology, below_2_32(flow), src, dst)
    if routing.kind == "ecmp":
        found, lost = chosen_routes(topology, Hashed(), flow, src, dst)
    else:
        found, lost = chosen_routes(topology, InTurn(), below_2_32(flow) + turn, src, dst)
    check_reached(topology, lost, src, dst)
    return found
