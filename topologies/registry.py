"""The topologies that a scenario may name; a builder's signature is its schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from topologies.builders import crossbar, custom, full_mesh, hypercube, ring
from topologies.clos import dragonfly, fat_tree, leaf_spine, rails
from topologies.grids import line, mesh, star, torus
from topologies.multilevel import multilevel
from topologies.topology import Topology

_BUILDERS: tuple[Callable[..., Topology], ...] = (
    *(ring, line, mesh, torus, hypercube, full_mesh, star, crossbar),
    *(fat_tree, leaf_spine, dragonfly, rails),
    *(multilevel, custom),
)

TOPOLOGIES: Mapping[str, Callable[..., Topology]] = MappingProxyType(
    {builder.__name__: builder for builder in _BUILDERS}
)
