"""What runs have in common as tables: their links, and their critical path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from simulator.engine.path_parts import PARTS
from simulator.engine.plan import resource_name
from simulator.scenario.result_parts import links_object
from simulator.scenario.rows import Kind, Rows
from topologies.clock import exact_seconds

if TYPE_CHECKING:
    from simulator.engine.critical_path import CriticalPath
    from simulator.engine.timeline import Timeline
    from simulator.scenario.run import Result
    from simulator.scenario.together_result import TogetherResult
    from topologies.topology import Topology

LINK_USE: Final[Mapping[str, Kind]] = MappingProxyType(
    {"src": str, "dst": str, "twin": int, "level": str, "bytes": int, "busy": float}
)
"""What is said of a link."""

SEGMENT: Final[Mapping[str, Kind]] = MappingProxyType(
    {"operation": int, "resource": str, "part": str, "begin": float, "end": float}
)
"""What is said of a segment of a path."""


def link_rows(result: Result | TogetherResult) -> Rows:
    """A row a link of the topology: which of parallel ones it is, the bytes over it, and s in use.

    Where rank 0 stands for all, links are those around it.
    """
    return Rows(LINK_USE, partial(_links, result))


def _links(result: Result | TogetherResult) -> Iterator[tuple[Any, ...]]:
    topology = result.topology
    ends = zip(topology.links.src.tolist(), topology.links.dst.tolist(), strict=True)
    every = [(topology.nodes[src], topology.nodes[dst], i) for i, (src, dst) in enumerate(ends)]
    for link in links_object(topology, result.link_use, every):
        yield tuple(link.values())


def path_rows(path: CriticalPath, timeline: Timeline, topology: Topology) -> Rows:
    """A row a segment of a critical path; times in s, exact to the femtosecond."""
    return Rows(SEGMENT, partial(_segments, path, timeline, topology))


def _segments(path: CriticalPath, timeline: Timeline, topology: Topology) -> Iterator[tuple[Any, ...]]:
    resources = timeline.plan.resources
    columns = (path.operation, path.resource, path.part, path.begin, path.end)
    for operation, resource, part, begin, end in zip(*(c.tolist() for c in columns), strict=True):
        name = resource_name(topology, int(resources.kind[resource]), int(resources.which[resource]))
        yield operation, name, PARTS[part], exact_seconds(begin), exact_seconds(end)
