"""The topologies that a scenario may name; a builder's signature is its schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from topologies.builders import crossbar, custom, full_mesh, hypercube, ring
from topologies.multilevel import multilevel
from topologies.topology import Topology

TOPOLOGIES: Mapping[str, Callable[..., Topology]] = MappingProxyType(
    {builder.__name__: builder for builder in (ring, hypercube, full_mesh, crossbar, multilevel, custom)}
)
