"""What every algorithm of the catalogue costs at every N, counted from the schedules that it builds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from algorithms.collective import KINDS
from algorithms.counts import count
from algorithms.registry import ALGORITHMS, build
from algorithms.rounds import Totals

StepTable = Mapping[str, Mapping[str, Mapping[int, "Work"]]]
"""By collective, algorithm and N."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a schedule does.

    Attributes
    ----------
    steps : int
        Steps of the longest channel.
    totals : Totals
        Messages of all ranks, and what they send and reduce in units of M.
    """

    steps: int
    totals: Totals


def work(name: str, kind: str, ranks: int, **options: Any) -> Work:
    """Steps and totals of what `build` builds, for an M that every part of it divides.

    Raises
    ------
    ScheduleError
        As `build`.

    Examples
    --------
    >>> counted = work("ring", "allreduce", 4)
    >>> counted.steps, counted.totals.sent
    (6, Fraction(6, 1))
    """
    schedule = build(name, kind, ranks, 0, **options)
    # the shape of a schedule does not depend on M: with one byte a chunk, all shares are whole
    ones = np.full_like(schedule.collective.sizes, kind != "barrier")
    schedule = replace(schedule, collective=replace(schedule.collective, sizes=ones))
    counts, size = count(schedule), max(schedule.collective.size, 1)
    sent, reduced = (Fraction(total, size) for total in (counts.bytes_sent_total, counts.bytes_reduced_total))
    return Work(counts.steps, Totals(counts.transfers, sent, reduced))


def step_table(
    ranks: Iterable[int], kinds: Iterable[str] = tuple(KINDS), names: Iterable[str] = tuple(ALGORITHMS)
) -> StepTable:
    """Steps and totals of the algorithms for those collectives, with their default options.

    Raises
    ------
    ScheduleError
        If there is no such collective or algorithm, or N is out of range.
    """
    counted, wanted = list(ranks), list(names)
    return {
        kind: {
            name: {n: work(name, kind, n) for n in counted}
            for name in wanted
            if kind in ALGORITHMS[name].collectives
        }
        for kind in kinds
        if any(kind in ALGORITHMS[name].collectives for name in wanted)
    }
