"""Where a parallel plan is not what its file expects."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Final

from topologies.text import format_bytes

if TYPE_CHECKING:
    from simulator.llm.memory import Memory
    from simulator.scenario.plan_models import ExpectedBytes, ExpectedNumber
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
    yield from _step_differences(result)
    yield from _serve_differences(result)


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


STEP_NUMBERS: Final = (
    *("mfu", "hfu", "tokens_per_second"),
    *("bubble", "bubble_share", "ideal_bubble", "ideal_bubble_share"),
)
"""What may be expected of a step beside its time."""

CLOSE: Final = 1e-9
"""Relative difference of two equal numbers."""


def _step_differences(result: PlanResult) -> Iterator[tuple[str, str, str, int | float | str | None]]:
    """Simulate the step where anything is expected of it."""
    expect = result.scenario.expect
    wanted = [key for key in ("step_time", *STEP_NUMBERS) if getattr(expect, key) is not None]
    if not wanted:
        return
    from simulator.scenario.differences import time_differences
    from simulator.scenario.step_run import expected_of_step

    for key, found in expected_of_step(result.scenario, wanted).items():
        if key == "step_time":
            yield from time_differences(key, expect.step_time, int(found))
        elif not _close_number(found, getattr(expect, key)):
            yield key, f"{getattr(expect, key).value:g}", f"{found!r}", found


def _serve_differences(result: PlanResult) -> Iterator[tuple[str, str, str, int | float | str | None]]:
    """Simulate what is served where anything is expected of it."""
    expect = result.scenario.expect
    keys = ("ttft", "tpot", "largest_batch", "batch_in_memory")
    wanted = {key: value for key in keys if (value := getattr(expect, key)) is not None}
    if not wanted:
        return
    from simulator.scenario.differences import time_differences
    from simulator.scenario.serve_run import expected_of_serving

    found = expected_of_serving(result.scenario, wanted)
    for key, value in wanted.items():
        if key in keys[:2]:
            yield from time_differences(key, value, found[key])
        elif value != found[key]:
            yield key, str(value), str(found[key]), found[key]


def _close_number(found: float, wanted: ExpectedNumber) -> bool:
    difference = abs(found - wanted.value)
    if wanted.abs is not None:
        return difference <= wanted.abs
    return difference <= (CLOSE if wanted.rel is None else wanted.rel) * wanted.value


def _close(found: int, wanted: ExpectedBytes) -> bool:
    difference = abs(found - wanted.value)
    if wanted.rel is not None:
        return difference <= Fraction(wanted.rel) * wanted.value
    return difference <= (wanted.abs or 0)


def _word(truth: bool) -> str:
    return "true" if truth else "false"


def _bytes(size: int) -> str:
    return f"{format_bytes(size)} ({size} B)"
