"""Logs of the OSU micro-benchmarks of MPI: a size and an average latency in us a row.

Their size is a rank's own message: of an AllGather, an All-to-All, a Gather and a Scatter, what goes from one
rank to one other, so that the full vector is N times as large.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from simulator.scenario.measurements.nccl_tests import US
from simulator.scenario.measurements.series import Log, Point, Series, Told, in_order, is_point
from topologies.errors import FormatError
from topologies.text import printable

BENCHMARKS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{"allreduce": "allreduce", "allgather": "allgather", "alltoall": "all_to_all"},
        "all-to-all personalized exchange": "all_to_all",
        **{"broadcast": "broadcast", "bcast": "broadcast", "reduce": "reduce", "gather": "gather"},
        **{"scatter": "scatter", "reduce_scatter": "reduce_scatter"},
    }
)
PER_RANK: Final = ("allgather", "all_to_all", "gather", "scatter")
"""Collectives whose size is multiplied by N."""

_TITLE: Final = re.compile(r"^#\s*OSU MPI\S*\s+(\S.{0,80}?)\s+Test\b")
_LATENCY: Final = re.compile(r"^(?:non-blocking )?(.+) latency$")
_SIZE: Final = re.compile(r"^\d{1,18}$")
_TIME: Final = re.compile(r"^\d{1,12}(\.\d{0,9})?$")

_ALONE: Final = "Pure Comm.(us)"
"""Of one that does not block, the column of the collective without the computing beside it."""


def is_osu(text: str) -> bool:
    """Whether a text is a log of the OSU benchmarks."""
    return any(_TITLE.match(line.strip()) for line in text.splitlines())


def read_osu(text: str, file: str, told: Told) -> Log:
    """Read a log; one of several benchmarks has a series of each, and those of nothing else are left out.

    Raises
    ------
    FormatError
        If it has no rows, times nothing that a scenario has, or it is not said among how many ranks.
    """
    kind, column = None, 1
    points: dict[str, list[Point]] = {}
    others: dict[str, int] = {}
    for number, line in enumerate(map(str.strip, text.splitlines()), 1):
        title = _TITLE.match(line)
        if title:
            kind, column = _kind(title[1]), 1
            if kind is None:
                others.setdefault(title[1].removesuffix(" Latency"), number)
            elif told.ranks is None:
                raise FormatError("OSU's logs do not say among how many ranks; say --ranks", file, number, 1)
        elif line.startswith("#") and _ALONE in line:
            column = re.split(r"\s{2,}", line.lstrip("# ")).index(_ALONE)
        elif kind is not None and told.ranks is not None:
            point = _point(line.split(), column, told.ranks if kind in PER_RANK else 1, number)
            points.setdefault(kind, []).extend([point] if point else [])
    series = tuple(
        Series(file, name, told.ranks or 0, False, in_order(some), "mpi")
        for name, some in points.items()
        if some
    )
    if not series and others:
        name, number = next(iter(others.items()))
        raise FormatError(f'times no collective with sizes: "{printable(name)}"', file, number, 1)
    if not series:
        raise FormatError("there is no row with a size and a time", file, text.count("\n") + 1, 1)
    return Log(series, (*_scaled(series), *(f'"{printable(name)}" is left out' for name in others)))


def _kind(title: str) -> str | None:
    """The collective that a benchmark times; None of one that times no latency of one."""
    named = _LATENCY.match(" ".join(title.lower().split()))
    return None if named is None else BENCHMARKS.get(named[1])


def _point(row: Sequence[str], column: int, times: int, number: int) -> Point | None:
    """The size and time of a row, where it has them."""
    if len(row) <= column or not _SIZE.match(row[0]) or not _TIME.match(row[column]):
        return None
    size, time = int(row[0]) * times, float(row[column]) / US
    return Point(size, time, number) if is_point(size, time) else None


def _scaled(series: Sequence[Series]) -> Iterator[str]:
    for one in series:
        if one.kind in PER_RANK:
            yield f"{one.kind}: OSU's sizes are a rank's own, times {one.ranks} is the full vector"
