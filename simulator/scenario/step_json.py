"""A simulated step for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from simulator.llm.step.report import breakdown
from topologies.clock import FEMTOSECONDS, to_seconds

if TYPE_CHECKING:
    from simulator.llm.memory import Memory
    from simulator.llm.step.report import HowSimulated, StepReport
    from simulator.llm.step.report_ladder import Rung
    from simulator.llm.step.report_links import HotLink, LevelUse
    from simulator.llm.step.report_time import StageTime
    from simulator.llm.step.report_what_if import Case
    from simulator.scenario.step_run import StepResult


def step_json(
    result: StepResult,
    rungs: Sequence[Rung] = (),
    cases: Sequence[Case] = (),
    tokens: int | None = None,
) -> str:
    """One object, as `step_object` makes it."""
    return json.dumps(step_object(result, rungs, cases, tokens), indent=2, allow_nan=False) + "\n"


def step_object(
    result: StepResult,
    rungs: Sequence[Rung] = (),
    cases: Sequence[Case] = (),
    tokens: int | None = None,
) -> dict[str, Any]:
    """A step's fields: times in s, sizes in bytes, shares from 0 to 1.

    Parameters
    ----------
    result : StepResult
    rungs : sequence of Rung
        Of a ladder; null where there is none.
    cases : sequence of Case
        With one thing changed each; null where there are none.
    tokens : int, optional
        Of a whole training; null without.
    """
    report = result.report
    now, ideal = report.now, report.ideal
    return {
        "scenario": result.scenario.name,
        "model": report.memory.model.name,
        "ranks": now.flops.ranks,
        "mesh": report.memory.parallel.mesh,
        "microbatches": report.memory.microbatches,
        "engine": report.step.timeline.engine,
        "time": to_seconds(now.time),
        "time_without_communication": to_seconds(ideal.time),
        "mfu": now.mfu,
        "hfu": now.hfu,
        "model_flops": float(now.flops.model),
        "hardware_flops": float(now.flops.hardware),
        "tokens": now.flops.tokens,
        "tokens_per_second": now.tokens_per_second,
        "tokens_per_second_rank": now.tokens_per_second / now.flops.ranks,
        "training": tokens and {"tokens": tokens, "days": now.days(tokens)},
        "bubble": now.bubble,
        "bubble_share": now.bubble_share,
        "ideal_bubble": ideal.bubble,
        "ideal_bubble_share": ideal.bubble_share,
        "breakdown": breakdown(report.stages),
        "stages": [_stage(stage) for stage in report.stages],
        "exposed": _exposed(report),
        "levels": levels_list(report.levels),
        "links": [link_object(link) for link in report.hottest],
        "calls": [_calls(row) for row in report.simulated],
        "memory": _memory(report.memory),
        "ladder": [_rung(rung) for rung in rungs] or None,
        "what_if": [_case(case) for case in cases] or None,
    }


def _stage(stage: StageTime) -> dict[str, Any]:
    return {
        "stage": stage.stage,
        "compute": to_seconds(stage.passes),
        "update": to_seconds(stage.update),
        "exposed": to_seconds(stage.communication),
        "idle": to_seconds(stage.idle),
        "exposed_by_group": {group: to_seconds(time) for group, time in stage.exposed.items()},
    }


def _exposed(report: StepReport) -> list[dict[str, Any]]:
    return [
        {
            "group": row.group,
            "calls": row.calls,
            "counterfactual": to_seconds(row.counterfactual),
            "timeline_mean": row.timeline / FEMTOSECONDS,
            "timeline_max": to_seconds(row.worst),
        }
        for row in report.exposed
    ]


def levels_list(levels: Sequence[LevelUse]) -> list[dict[str, Any]]:
    """What the links of each level carried."""
    return [
        {
            "level": row.level,
            "links": row.links,
            "bytes": row.bytes,
            "utilisation": row.utilisation,
            "hottest": row.hottest and link_object(row.hottest),
        }
        for row in levels
    ]


def link_object(link: HotLink) -> dict[str, Any]:
    """What a link carried."""
    return {
        "link": link.name,
        "level": link.level,
        "bytes": link.bytes,
        "busy": to_seconds(link.busy),
        "utilisation": link.utilisation,
        "bandwidth": link.bandwidth,
        "bandwidth_while_busy": link.achieved,
    }


def _calls(row: HowSimulated) -> dict[str, Any]:
    return {
        "group": row.group,
        "kind": row.kind,
        "memoised": row.memoised,
        "laid": row.laid,
        "time": to_seconds(row.time),
        "busbw": row.bus_bandwidth,
    }


def _memory(found: Memory) -> dict[str, Any]:
    overflow = found.overflow
    return {
        "capacity": found.plan.capacity,
        "fits": found.fits,
        "peak": float(found.peak.total),
        "overflow": overflow and {"stage": overflow.stage, "part": overflow.part},
    }


def _rung(rung: Rung) -> dict[str, Any]:
    return {"overlap": rung.name, "time": to_seconds(rung.time), "mfu": rung.mfu}


def _case(case: Case) -> dict[str, Any]:
    time = None if case.time is None else to_seconds(case.time)
    return {"change": case.name, "time": time, "bottleneck": case.bottleneck}
