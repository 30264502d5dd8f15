"""What results have in common as JSON."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from topologies.clock import to_seconds

if TYPE_CHECKING:
    from algorithms.bounds import Bounds
    from algorithms.counts import Counts
    from algorithms.cuts import Cut
    from simulator.engine.analysis import LinkUse
    from simulator.engine.critical_path import PartsByLevel
    from topologies.topology import Topology

BUSIEST: Final = 10
"""Links that a result names."""


def number(value: float | None) -> float | None:
    """The value, or None where it is not a number."""
    return value if value is not None and isfinite(value) else None


def parts_object(parts: Mapping[str, int]) -> dict[str, float]:
    """Parts of a critical path, s."""
    return {name: to_seconds(time) for name, time in parts.items()}


def levels_object(
    topology: Topology, use: LinkUse, path: PartsByLevel, times: int = 1
) -> list[dict[str, Any]]:
    """Use of the links of every level, where each stands for so many, and its share of the critical path."""
    return [
        {
            "name": name,
            "bytes": times * sum(use.bytes[topology.links.level == level].tolist()),
            "busy": to_seconds(times * sum(use.busy[topology.links.level == level].tolist())),
            "critical_path": parts_object(path.levels[name]),
        }
        for level, name in enumerate(topology.levels)
    ]


def busiest(topology: Topology, use: LinkUse) -> list[tuple[Hashable, Hashable, int]]:
    """Ends and numbers of the busiest links, and of equally busy ones the first."""
    order, links = np.argsort(-use.busy, kind="stable")[:BUSIEST].tolist(), topology.links
    return [(topology.nodes[links.src[link]], topology.nodes[links.dst[link]], link) for link in order]


def links_object(
    topology: Topology, use: LinkUse, named: Iterable[tuple[Hashable, Hashable, int]] | None = None
) -> list[dict[str, Any]]:
    """Use of some links, each with its ends and number; by default of the busiest."""
    return [
        {
            "src": src,
            "dst": dst,
            "twin": topology.twin(link),
            "level": topology.levels[topology.links.level[link]],
            "bytes": int(use.bytes[link]),
            "busy": to_seconds(int(use.busy[link])),
        }
        for src, dst, link in (busiest(topology, use) if named is None else named)
    ]


def counts_object(counts: Counts) -> dict[str, int | None]:
    """What a schedule amounts to; sizes in bytes."""
    return {
        "steps": counts.steps,
        "depth": counts.depth,
        "transfers": counts.transfers,
        "bytes_sent_max": counts.bytes_sent_max,
        "bytes_sent_total": counts.bytes_sent_total,
        "bytes_reduced_max": counts.bytes_reduced_max,
        "staged": counts.staged,
    }


def bounds_object(bounds: Bounds) -> dict[str, Any]:
    """Lower bounds, s; what sets the best, and the cut that sets the bound on bandwidth."""
    return {
        "latency": bounds.latency,
        "textbook_latency": bounds.textbook_latency,
        "bandwidth": bounds.bandwidth,
        "reduction": bounds.reduction,
        "best": bounds.best,
        "binds": bounds.binds,
        "how": bounds.how,
        "composed": number(bounds.composed),
        "cut": None if bounds.cut is None else cut_object(bounds.cut),
    }


def cut_object(cut: Cut) -> dict[str, Any]:
    """A cut: in words, and in numbers."""
    return {
        "text": cut.text(),
        "bytes": cut.bytes,
        "bandwidth": cut.bandwidth,
        "ranks": len(cut.ranks),
        "links": len(cut.links),
    }
