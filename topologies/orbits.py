"""Topologies that look the same from every rank, by what rank 0 sees; nothing of their size is built.

A group of translations moves the ranks, and the links with them, so that every link is the image
of just one link of rank 0.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from topologies.errors import TopologyError
from topologies.grids import MOST_DIMENSIONS
from topologies.legs import Grid, Mesh, Shape, Switch
from topologies.topology import Links, Topology
from topologies.translations import Translations, translations
from topologies.wiring import MOST_RANKS, Wire, check_wire


@dataclass(frozen=True, slots=True)
class SymmetricTopology:
    """A topology by what rank 0 sees: all links are alike, and every one is the image of one of its.

    Attributes
    ----------
    kind : str
        Name of the builder that makes the whole of it.
    ranks : int
        N.
    group : Translations or None
        What moves the ranks; None where every translation of N ranks does.
    levels : tuple of str
        Names of the levels, innermost first.
    wire : Wire
        What every link is made of.
    shape : Shape
    """

    kind: str
    ranks: int
    group: Translations | None
    levels: tuple[str, ...]
    wire: Wire
    shape: Shape

    @property
    def orbits(self) -> int:
        """Number of orbits of links, of N links each."""
        return len(self.shape.ends)

    @property
    def dims(self) -> tuple[int, ...]:
        """p_0 x p_1 x ... of the whole, innermost first."""
        return (self.shape.dims or (1,)) if isinstance(self.shape, Grid) else (self.ranks,)

    @property
    def ports(self) -> int:
        """Links that leave a rank, and as many that come in."""
        return 1 if self.through_switch else self.orbits

    @property
    def through_switch(self) -> bool:
        """Whether ranks are joined by a switch."""
        return isinstance(self.shape, Switch)

    def moved_by(self, group: Translations) -> bool:
        """Whether a group of N translations leaves the topology as it is."""
        return group.order == self.ranks and self.group in (None, group)

    def link_ends(self, group: Translations, orbit: int, rank: int) -> tuple[Hashable, Hashable]:
        """Names of the ends of a rank's own link of an orbit: the one out of it, or down to it."""
        if self.through_switch:
            return ("switch", rank) if orbit else (rank, "switch")
        return rank, group.add(rank, int(self.shape.ends[orbit]))

    def around_rank_0(self) -> Topology:
        """Rank 0, and one link of every orbit: its own, which lead to its neighbours; `dims` of the whole."""
        orbits, wire = self.orbits, self.wire
        if self.through_switch:
            nodes: tuple[Hashable, ...] = (0, "switch")
            ranks, src, dst = 1, np.array([0, 1]), np.array([1, 0])
        else:
            nodes = (0, *self.shape.ends.tolist())
            ranks, src, dst = len(nodes), np.zeros(orbits, dtype=np.int64), np.arange(1, orbits + 1)
        links = Links(
            src.astype(np.int32),
            dst.astype(np.int32),
            np.full(orbits, wire.bandwidth),
            np.full(orbits, wire.latency),
            np.full(orbits, wire.overhead),
            self.shape.level,
            np.full(orbits, wire.cost, dtype=np.int64),
        )
        return Topology(self.kind, ranks, self.dims, nodes, self.levels, links)


def _ring(wire: Wire, ranks: int, direction: str = "both") -> SymmetricTopology | None:
    if direction not in ("both", "one"):
        return None
    shape = Grid((ranks,), both_ways=direction == "both")
    return SymmetricTopology("ring", ranks, translations((ranks,)), ("ring",), wire, shape)


def _hypercube(wire: Wire, dimension: int) -> SymmetricTopology | None:
    if not 0 <= dimension <= MOST_DIMENSIONS:
        return None
    dims = (2,) * dimension
    shape, level = Grid(dims), ("hypercube",)
    return SymmetricTopology("hypercube", prod(dims), translations(dims), level, wire, shape)


def _torus(wire: Wire, dims: Sequence[int], size_two: str = "one_link") -> SymmetricTopology | None:
    # which of two parallel links a rank takes depends on its number
    if size_two != "one_link" or not 1 <= len(dims) <= MOST_DIMENSIONS or min(dims) < 1:
        return None
    sizes = tuple(dims)
    levels = tuple(f"dim{i}" for i in range(len(sizes)))
    return SymmetricTopology(
        "torus", prod(sizes), translations(sizes), levels, wire, Grid(sizes, leveled=True)
    )


def _full_mesh(wire: Wire, ranks: int) -> SymmetricTopology | None:
    return SymmetricTopology("full_mesh", ranks, None, ("full_mesh",), wire, Mesh(ranks))


def _crossbar(wire: Wire, ranks: int, switch: str = "forwards") -> SymmetricTopology | None:
    if switch != "forwards":
        return None
    return SymmetricTopology("crossbar", ranks, None, ("crossbar",), wire, Switch(ranks))


_SYMMETRIC: Final[Mapping[str, Callable[..., SymmetricTopology | None]]] = MappingProxyType(
    {
        "ring": _ring,
        "hypercube": _hypercube,
        "torus": _torus,
        "full_mesh": _full_mesh,
        "crossbar": _crossbar,
    }
)


def symmetric_topology(kind: str, parameters: Mapping[str, Any]) -> SymmetricTopology | None:
    """What rank 0 sees of a topology; None where it is not the same from everywhere, or is wrong.

    Parameters
    ----------
    kind : str
        Name of a builder.
    parameters : mapping
        Its arguments.

    Examples
    --------
    >>> ring = symmetric_topology("ring", {"ranks": 1 << 20, "bandwidth": 50e9})
    >>> ring.shape.ends.tolist(), ring.shape.farthest
    ([1, 1048575], 524288)
    """
    if kind not in _SYMMETRIC:
        return None
    own = dict(parameters)
    price = (own.pop("bandwidth"), own.pop("latency", 0.0), own.pop("overhead", 0.0))
    try:
        check_wire(*price)
    except TopologyError:
        return None
    found = _SYMMETRIC[kind](Wire(*price, kind), **own)
    return found if found is not None and 1 <= found.ranks <= MOST_RANKS else None
