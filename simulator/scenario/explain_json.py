"""An explanation as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from simulator.engine.path_parts import PARTS
from simulator.engine.plan import NO_TRANSFER, resource_name
from simulator.scenario.result_parts import bounds_object, number, parts_object
from topologies.clock import to_seconds

if TYPE_CHECKING:
    from simulator.scenario.explain import Explanation


def explanation_json(explanation: Explanation) -> str:
    """One object with a line's end; the same bytes on every run. Times in s, sizes in bytes."""
    return json.dumps(explanation_object(explanation), indent=2, allow_nan=False) + "\n"


def explanation_object(explanation: Explanation) -> dict[str, Any]:
    """An explanation's fields; all links that carried something, the busiest first."""
    result = explanation.result
    # where rank 0 stands for all, what is around it is no rank
    idle = explanation.idle[: 1 if explanation.result_is_one_rank else None]
    found: dict[str, Any] = {
        "scenario": result.scenario.name,
        "time": result.time,
        "span": result.timeline.seconds,
        "sentence": explanation.sentence,
        "critical_path": parts_object(explanation.path.totals()),
        "levels": [
            {"name": name, "critical_path": parts_object(parts)}
            for name, parts in explanation.parts.levels.items()
        ],
        "at_ranks": parts_object(explanation.parts.ranks),
        "path": _segments(explanation),
        "links": [_link(explanation, link) for link in explanation.hottest.tolist()],
        "idle": [to_seconds(time) for time in idle.tolist()],
        "gains": [
            {"parameter": gain.parameter, "time": to_seconds(gain.time), "factor": gain.factor}
            for gain in explanation.gains
        ],
    }
    if explanation.bounds is not None and explanation.textbook is not None:
        textbook = explanation.textbook
        found["bounds"] = bounds_object(explanation.bounds)
        found["gap"] = number(explanation.gap)
        found["textbook"] = {"latency": textbook.latency, "bandwidth": textbook.bandwidth}
    return found


def _segments(explanation: Explanation) -> list[dict[str, Any]]:
    result, path = explanation.result, explanation.path
    plan = result.timeline.plan
    resources, transfers = plan.resources, plan.transfer[path.operation]
    columns = (path.operation, transfers, path.resource, path.part, path.begin, path.end)
    return [
        {
            "operation": operation,
            "transfer": None if transfer == NO_TRANSFER else transfer,
            "resource": resource_name(
                result.topology, int(resources.kind[resource]), int(resources.which[resource])
            ),
            "part": PARTS[part],
            "begin": to_seconds(begin),
            "end": to_seconds(end),
        }
        for operation, transfer, resource, part, begin, end in zip(
            *(c.tolist() for c in columns), strict=True
        )
    ]


def _link(explanation: Explanation, link: int) -> dict[str, Any]:
    topology, use, waits = explanation.result.topology, explanation.use, explanation.waits
    time = explanation.result.timeline.time
    return {
        "name": topology.link_name(link),
        "level": topology.levels[topology.links.level[link]],
        "bytes": int(use.bytes[link]),
        "rate": int(use.bytes[link]) / to_seconds(time) if time else 0.0,
        "busy": to_seconds(int(use.busy[link])),
        "utilisation": int(use.busy[link]) / time if time else 0.0,
        "longest_queue": int(waits.queue[link]),
        "longest_wait": to_seconds(int(waits.longest[link])),
    }
