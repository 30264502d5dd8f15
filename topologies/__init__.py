"""WHERE: graphs of ranks, switches and directed links; routing."""

from topologies.builders import (
    CustomLink,
    CustomNodes,
    crossbar,
    custom,
    full_mesh,
    hypercube,
    ring,
)
from topologies.errors import CollsimError, TopologyError
from topologies.multilevel import Level, Shared, multilevel
from topologies.registry import TOPOLOGIES
from topologies.routing import Routes, route, routes
from topologies.topology import Links, Topology

__all__ = [
    "TOPOLOGIES",
    "CollsimError",
    "CustomLink",
    "CustomNodes",
    "Level",
    "Links",
    "Routes",
    "Shared",
    "Topology",
    "TopologyError",
    "crossbar",
    "custom",
    "full_mesh",
    "hypercube",
    "multilevel",
    "ring",
    "route",
    "routes",
]
