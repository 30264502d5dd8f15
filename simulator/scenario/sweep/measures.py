"""What a sweep is about: the one figure of a row that a picture shows, and those that a table does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from topologies.text import format_bandwidth, format_bytes, format_time

if TYPE_CHECKING:
    from simulator.scenario.sweep.result import Sweep


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of a row.

    Attributes
    ----------
    name : str
        Of the column.
    title : str
        For people.
    form : callable
        A value in words.
    bounded : bool
        Whether the rows have lower bounds of it.
    """

    name: str
    title: str
    form: Callable[[Any], str] = str
    bounded: bool = False


def _time(seconds: float) -> str:
    return format_time(seconds, 4)


def _share(share: float) -> str:
    return f"{share:.1%}"


def _ratio(ratio: float) -> str:
    return f"{ratio:.3f}"


def _bytes(count: float) -> str:
    return format_bytes(round(count), 4)


def _rate(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.1f}"


def _truth(fits: bool) -> str:
    return "yes" if fits else "no"


_STEP: Final = (
    Measure("time", "time", _time),
    Measure("time_without_communication", "without calls", _time),
    Measure("mfu", "MFU", _share),
    Measure("tokens_per_second", "tokens/s", _rate),
    Measure("bubble_share", "bubble", _share),
    Measure("memory.peak", "memory", _bytes),
)
_SERVED: Final = (
    Measure("tpot", "TPOT", _time),
    Measure("ttft", "TTFT", _time),
    Measure("tokens_per_second", "tokens/s", _rate),
    Measure("largest_batch", "largest batch"),
    Measure("bound_by", "bound by"),
)
_MEMORY: Final = (
    Measure("peak.total", "memory", _bytes),
    Measure("fits", "fits", _truth),
    Measure("parameters", "parameters"),
)
_TOGETHER: Final = (Measure("time", "time", _time), Measure("wire_rate", "busiest link", format_bandwidth))
_COLLECTIVE: Final = (
    Measure("time", "time", _time, bounded=True),
    Measure("analytic", "closed form", _time),
    Measure("bounds.best", "bound", _time),
    Measure("gap", "gap", _ratio),
    Measure("busbw", "busbw", format_bandwidth),
    Measure("steps", "steps"),
)
_KINDS: Final = (
    ("bounds.best", _COLLECTIVE),
    ("mfu", _STEP),
    ("tpot", _SERVED),
    ("peak.total", _MEMORY),
)
"""A field that only rows of a kind have, and what is of interest there."""


def measures_of(sweep: Sweep) -> tuple[Measure, ...]:
    """The figures of a sweep that people look at, the first above all."""
    names = set(sweep.names)
    return next((measures for field, measures in _KINDS if field in names), _TOGETHER)


def measure_of(sweep: Sweep) -> Measure:
    """The one figure that a picture shows."""
    return measures_of(sweep)[0]


def short_names(sweep: Sweep) -> tuple[str, ...]:
    """The last words of the paths that are varied, or the paths where two end alike.

    They are in the order of `varied`.
    """
    last = [name.rpartition(".")[2] for name in sweep.varied]
    return tuple(
        word if last.count(word) == 1 else name for word, name in zip(last, sweep.varied, strict=True)
    )
