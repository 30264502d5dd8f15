"""The block `sweep` of a scenario, as it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from topologies.quantities import Count, Whole

How: TypeAlias = Literal["grid", "zip"]
"""Whether every value goes with every other, or the first of each field with the first of the others."""


@dataclass(frozen=True, slots=True)
class Range:
    """From one value to another, rising by equal ratios.

    Attributes
    ----------
    range : str
        ``1KiB..1GiB``: sizes, times, bandwidths, rates of computing, or whole numbers.
    points : int, optional
        How many values; by default every doubling of the first, and the last.
    """

    range: str
    points: Count | None = None


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """What a sweep varies.

    Attributes
    ----------
    vary : mapping of str to values
        By the path of a field: a range, or a list of anything that may stand there.
    how : {'grid', 'zip'}
        Every value with every other, or the first of each field, then the second, ...
    seeds : int or sequence of int, optional
        How many seeds, from 0, or which, what is random is drawn with.
    """

    vary: Mapping[str, str | Sequence[Any] | Range] = field(default_factory=dict)
    how: How = "grid"
    seeds: Count | Sequence[Whole] | None = None
