"""What holds for every critical path."""

from __future__ import annotations

import numpy as np

from simulator.engine.critical_path import CriticalPath, critical_path, parts_by_level
from simulator.engine.timeline import Timeline
from topologies import Topology


def check_path(timeline: Timeline, topology: Topology) -> CriticalPath:
    """The path of a timeline: without a hole from start to end, and each part where its operation was."""
    path = critical_path(timeline, topology)
    assert path.time == timeline.time == sum(path.totals().values())
    parts = parts_by_level(path, timeline, topology)
    everywhere = [*parts.levels.values(), parts.ranks]
    assert {part: sum(one[part] for one in everywhere) for part in path.totals()} == path.totals()
    if not len(path):
        return path
    assert (path.begin[0], path.end[-1]) == (0, timeline.time)
    np.testing.assert_array_equal(path.begin[1:], path.end[:-1])
    assert (path.begin < path.end).all()
    plan = timeline.plan
    after = plan.resources.latency + plan.resources.gap
    for operation, resource, begin, end in zip(
        *(c.tolist() for c in (path.operation, path.resource, path.begin, path.end)), strict=True
    ):
        walked = slice(*plan.hop_offset[operation : operation + 2].tolist())
        here = plan.resource[walked] == resource
        assert (timeline.arrival[walked][here] <= begin).any()
        assert ((timeline.release[walked] + after[plan.resource[walked]])[here] >= end).any()
    return path
