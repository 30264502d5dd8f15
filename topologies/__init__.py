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
from topologies.clos import Tier, dragonfly, fat_tree, leaf_spine, rails
from topologies.errors import CollsimError, TopologyError
from topologies.grids import line, mesh, star, torus
from topologies.multilevel import Level, Shared, multilevel
from topologies.multipath import Routing
from topologies.paths import Routes
from topologies.registry import TOPOLOGIES
from topologies.routing import route, routes
from topologies.static_routes import StaticRoute
from topologies.topology import Links, Topology

__all__ = [
    "TOPOLOGIES",
    "CollsimError",
    "CustomLink",
    "CustomNodes",
    "Level",
    "Links",
    "Routes",
    "Routing",
    "Shared",
    "StaticRoute",
    "Tier",
    "Topology",
    "TopologyError",
    "crossbar",
    "custom",
    "dragonfly",
    "fat_tree",
    "full_mesh",
    "hypercube",
    "leaf_spine",
    "line",
    "mesh",
    "multilevel",
    "rails",
    "ring",
    "route",
    "routes",
    "star",
    "torus",
]
