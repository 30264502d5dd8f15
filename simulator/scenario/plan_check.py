"""Where a parallel plan is not what its file expects."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Final

from topologies.text import format_bytes

if TYPE_CHECKING:
    from simulator.llm.memory import Memory
    from simulator.scenario.plan_models import ExpectedBytes
    from simulator.scenario.plan_run import PlanResult

NONE: Final = "none"
NO_CAPACITY: Final = "neither: no capacity is given"


def plan_differences(result: PlanResult) -> Iterator[tuple[str, str, str, int | float | str | None]]:
    """Yield the key, what was expected, what was found, and the value of today."""
    expect, found = result.scenario.expect, result.memory
    if expect.fits is not None and expect.fits is not found.fits:
        today = None if found.fits is None else _word(found.fits)
        yield "fits", _word(expect.fits), today or NO_CAPACITY, today
    if expect.overflow is not None:
        overflow = NONE if found.overflow is None else found.overflow.part
        if expect.overflow != overflow:
            yield "overflow", expect.overflow, overflow, overflow
    numbers = (("parameters", found.model.parameters()), ("cache_per_token", ceil(found.cache_per_token)))
    for key, number in numbers:
        wanted = getattr(expect, key)
        if wanted is not None and wanted != number:
            yield key, str(wanted), str(number), number
    for key, size in (maxima(found) | sent(result)).items():
        limit = getattr(expect, key)
        if limit is not None and not _close(size, limit):
            yield key, _bytes(limit.value), _bytes(size), size


def maxima(found: Memory) -> dict[str, int]:
    """Bytes at the stage that has most, by the key that expects them; a part of a byte counts as one."""
    return {
        "memory_max": ceil(found.peak.total),
        "states_max": ceil(max(stage.states for stage in found.stages)),
        "activations_max": ceil(found.largest("activations")),
        "cache_max": ceil(found.largest("cache")),
    }


def sent(result: PlanResult) -> dict[str, int]:
    """Bytes that a step sends, by the key that expects them; nothing where none does."""
    if result.scenario.expect.sent_max is result.scenario.expect.sent_total is None:
        return {}
    from simulator.scenario.traffic_run import work_out_traffic

    counted = work_out_traffic(result.scenario).traffic
    return {"sent_max": ceil(counted.rank(counted.busiest)), "sent_total": ceil(counted.total)}


def _close(found: int, wanted: ExpectedBytes) -> bool:
    difference = abs(found - wanted.value)
    if wanted.rel is not None:
        return difference <= Fraction(wanted.rel) * wanted.value
    return difference <= (wanted.abs or 0)


def _word(truth: bool) -> str:
    return "true" if truth else "false"


def _bytes(size: int) -> str:
    return f"{format_bytes(size)} ({size} B)"
