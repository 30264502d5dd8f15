"""A timeline as the page draws it: who held what, when, in columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from plots.density import coverage, part_used
from plots.lanes import HIDDEN, Lanes, by_rank, by_resource
from plots.palette import label
from plots.report.columns import packed
from plots.report.moves import part_chart
from simulator.engine.plan import LINK, carried_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from plots.report.moves import Part
    from plots.report.values import Chart
    from simulator.engine.critical_path import CriticalPath
    from simulator.engine.plan import Plan
    from simulator.engine.timeline import Timeline
    from topologies.topology import Topology

MOST_SPANS: Final = 200_000
"""Hops that are drawn one by one; of more only how busy everything is in equal parts of the time."""

MOST_LANES: Final = 4_000
"""Lanes of the page; of more resources only the busiest are shown."""

_WAYS: Final = ("link", "rank")
"""How lanes are ordered."""

FINEST: Final = 1000
"""Parts of a whole, in which a lane's height and a use are told."""

_FEWEST_CELLS, _MOST_CELLS = 40, 1500
"""Parts of the time in which use is told."""


def timeline_chart(
    timeline: Timeline,
    parts: Sequence[Part],
    topology: Topology,
    path: CriticalPath,
    most: int = MOST_SPANS,
) -> Chart:
    """What the page draws of a timeline.

    Parameters
    ----------
    timeline : Timeline
    parts : sequence of Part
        The schedules whose transfers the plan's are, one after the other. Steps have colours, or
        where there are several schedules, each has its own.
    topology : Topology
    path : CriticalPath
    most : int
        Hops that are drawn one by one, and transfers whose steps are shown.
    """
    plan = timeline.plan
    number, left_out = _shown(timeline)
    views = (by_resource(plan, topology), by_rank(plan, topology))
    whole = plan.hops <= most and not left_out
    several = [label(part.name, 40) for part in parts] if len(parts) > 1 else None
    transfers = sum(len(part.schedule) for part in parts)
    return {
        "end": timeline.time,
        "hops": plan.hops,
        "left_out": left_out,
        "tints": {"title": "collective" if several else "step", "names": several, "colours": None},
        "resources": _resources(plan, views[0], number),
        "views": [_view_chart(f"by {way}", view, number) for way, view in zip(_WAYS, views, strict=True)],
        "path": _path(path, number, most),
        "schedules": [part_chart(part) for part in parts] if transfers <= most else [],
        **(
            _spans(timeline, number, carried_bytes(plan, parts[0].schedule))
            if whole
            else _use(timeline, number, most)
        ),
    }


def _shown(timeline: Timeline) -> tuple[NDArray[np.int64], int]:
    """Number of each resource on the page, HIDDEN where it has none; how many of those used are left out."""
    plan = timeline.plan
    used = np.flatnonzero(np.bincount(plan.resource, minlength=len(plan.resources)))
    if len(used) > MOST_LANES:
        busy = np.bincount(
            plan.resource, weights=timeline.release - timeline.grant, minlength=len(plan.resources)
        )
        kept = np.sort(used[np.argsort(-busy[used], kind="stable")[:MOST_LANES]])
    else:
        kept = used
    number = np.full(len(plan.resources), HIDDEN)
    number[kept] = np.arange(len(kept))
    return number, len(used) - len(kept)


def _resources(plan: Plan, lanes: Lanes, number: NDArray[np.int64]) -> dict[str, Any]:
    """Of what is held: its name, its link if it is one, and how long a message takes to pass it after."""
    own = np.flatnonzero(number != HIDDEN)
    link = np.where(plan.resources.kind[own] == LINK, plan.resources.which[own], HIDDEN)
    return {
        "names": [lanes.name(lane) for lane in lanes.lane[0, own].tolist()],
        "link": packed(link),
        "latency": packed(plan.resources.latency[own]),
    }


def _view_chart(name: str, lanes: Lanes, number: NDArray[np.int64]) -> dict[str, Any]:
    """An order of lanes, and what is drawn in each: a resource, in a part of the lane's height.

    Parameters
    ----------
    name : str
    lanes : Lanes
    number : ndarray of int64, shape (resources,)
        Number of each resource on the page, HIDDEN where it has none.
    """
    layer, resource = np.nonzero((lanes.lane != HIDDEN) & (number != HIDDEN))
    lane, row = np.unique(lanes.lane[layer, resource], return_inverse=True)
    groups, group = np.unique(lanes.group[lane], return_inverse=True)
    return {
        "name": name,
        "groups": [lanes.groups[i] for i in groups],
        "lanes": [lanes.name(i) for i in lane.tolist()],
        "group": packed(group),
        "resource": packed(number[resource]),
        "lane": packed(row),
        "low": packed(np.rint(lanes.low[layer, resource] * FINEST)),
        "high": packed(np.rint(lanes.high[layer, resource] * FINEST)),
    }


def _spans(timeline: Timeline, number: NDArray[np.int64], carried: NDArray[np.int64]) -> dict[str, Any]:
    """Every hop and every operation."""
    plan = timeline.plan
    return {
        "spans": {
            "resource": packed(number[plan.resource]),
            "arrival": packed(timeline.arrival),
            "wait": packed(timeline.grant - timeline.arrival),
            "hold": packed(timeline.release - timeline.grant),
        },
        "operations": {
            "hops": packed(np.diff(plan.hop_offset)),
            "transfer": packed(plan.transfer),
            "bytes": packed(carried),
        },
    }


def _use(timeline: Timeline, number: NDArray[np.int64], most: int) -> dict[str, Any]:
    """How busy each resource is in equal parts of the time."""
    plan, lanes = timeline.plan, int(number.max()) + 1
    row = number[plan.resource]
    own = row != HIDDEN
    cells = cells_for(lanes, most)
    scale = cells / max(timeline.time, 1)
    start, stop = (column[own] * scale for column in (timeline.grant, timeline.release))
    return {"use": use_columns(coverage(row[own], start, stop, (lanes, cells), part_used(timeline)[own]))}


def cells_for(lanes: int, most: int) -> int:
    """Equal parts of the time, so that there are about so many for all lanes together."""
    return int(np.clip(most // max(lanes, 1), _FEWEST_CELLS, _MOST_CELLS))


def use_columns(busy: NDArray[np.float64]) -> dict[str, Any]:
    """Where a lane is busy: the part of the time, and how much of it.

    Parameters
    ----------
    busy : ndarray of float64, shape (lanes, cells)
        0 to 1.
    """
    told = np.rint(np.clip(busy, 0.0, 1.0) * FINEST).astype(np.int64)
    resource, cell = np.nonzero(told)
    return {
        "cells": busy.shape[1],
        "resource": packed(resource),
        "cell": packed(cell),
        "share": packed(told[resource, cell]),
    }


def _path(path: CriticalPath, number: NDArray[np.int64], most: int) -> dict[str, Any] | None:
    """Segments of the critical path, or None where they are too many."""
    if len(path) > most:
        return None
    return {
        "operation": packed(path.operation),
        "resource": packed(number[path.resource]),
        "part": packed(path.part),
        "begin": packed(path.begin),
        "length": packed(path.end - path.begin),
    }
