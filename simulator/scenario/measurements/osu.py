"""Logs of the OSU micro-benchmarks of MPI: a size and an average latency in us a row.

Their size is a rank's own message: of an AllGather, an All-to-All, a Gather and a Scatter, what goes from one
rank to one other, so that the full vector is N times as large.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from simulator.scenario.measurements.nccl_tests import US
from simulator.scenario.measurements.series import Log, Point, Series, Told, in_order, is_point
from topologies.errors import FormatError
from topologies.formats.reading import shown

BENCHMARKS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{"allreduce": "allreduce", "allgather": "allgather", "alltoall": "all_to_all"},
        **{"broadcast": "broadcast", "bcast": "broadcast", "reduce": "reduce", "gather": "gather"},
        **{"scatter": "scatter", "reduce_scatter": "reduce_scatter"},
    }
)
PER_RANK: Final = ("allgather", "all_to_all", "gather", "scatter")
"""Collectives whose size is multiplied by N."""

_TITLE: Final = re.compile(r"^#\s*OSU MPI\w*\s+(?:Non-blocking\s+)?(\S+)\s+Latency Test")
_ROW: Final = re.compile(r"^(\d{1,18})\s+(\d{1,12}(?:\.\d{0,9})?)(?:\s|$)")


def is_osu(text: str) -> bool:
    """Whether a text is a log of the OSU benchmarks."""
    return any(_TITLE.match(line.strip()) for line in text.splitlines())


def read_osu(text: str, file: str, told: Told) -> Log:
    """Read a log; one of several benchmarks has a series of each.

    Raises
    ------
    FormatError
        If it has no rows, times something else, or it is not said among how many ranks.
    """
    kind: str | None = None
    points: dict[str, list[Point]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        title, row = _TITLE.match(line.strip()), _ROW.match(line.strip())
        if title:
            kind = BENCHMARKS.get(title[1].lower())
            if kind is None:
                raise FormatError(f'times no collective with sizes: "{shown(title[1])}"', file, number, 1)
            if told.ranks is None:
                raise FormatError("OSU's logs do not say among how many ranks; say --ranks", file, number, 1)
        elif row and kind is not None and told.ranks is not None:
            size = int(row[1]) * (told.ranks if kind in PER_RANK else 1)
            if is_point(size, float(row[2]) / US):
                points.setdefault(kind, []).append(Point(size, float(row[2]) / US, number))
    if not points or told.ranks is None:
        raise FormatError("there is no row with a size and a time", file, text.count("\n") + 1, 1)
    notes = tuple(
        f"{name}: OSU's sizes are a rank's own, times {told.ranks} is the full vector"
        for name in points
        if name in PER_RANK
    )
    series = (Series(file, name, told.ranks, False, in_order(some), "mpi") for name, some in points.items())
    return Log(tuple(series), notes)
