"""Logs of nccl-tests and rccl-tests, with whatever else was printed among them.

A row is `size count type redop root`, then `time algbw busbw #wrong` out of place, and the same in place;
times are in us. Its size is the full vector's, also of an AllGather (NVIDIA/nccl-tests, doc/PERFORMANCE.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from types import MappingProxyType
from typing import Final

from simulator.scenario.measurements.series import Log, Point, Series, Told, in_order, is_point
from topologies.errors import FormatError
from topologies.text import printable

TESTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{"all_reduce": "allreduce", "all_gather": "allgather", "reduce_scatter": "reduce_scatter"},
        **{"broadcast": "broadcast", "reduce": "reduce", "alltoall": "all_to_all"},
        **{"gather": "gather", "scatter": "scatter", "sendrecv": "send_recv"},
    }
)
"""Collectives by the names of their programs, less `_perf`."""

US: Final = 1e6
"""In a second."""

_FIRST: Final = 5
_COLUMNS: Final = (_FIRST, _FIRST + 4)
"""Where the times stand in a row: out of place, in place."""

_TEST: Final = re.compile(r"\b([a-z_]+)_perf\b")
_RANK: Final = re.compile(r"^#\s+Rank\s+(\d{1,7})\b")
_HEADER: Final = re.compile(r"^#?\s*size\s+count\s+type\b")
_ROW: Final = re.compile(r"^\d{1,18}\s+\d{1,18}\s+[a-z]\w*\s")
_PREFIX: Final = re.compile(r"^\[\d+,\d+\]<std(?:out|err)>:\s?|\x1b\[[0-9;]*m")


_Key = tuple[str | None, int | None, bool]
"""Test, N where its header names ranks, and whether in place: one log may hold several runs."""


@dataclass(slots=True)
class _Found:
    """What was found up to a line."""

    test: str | None = None
    ranks: set[int] = field(default_factory=set)
    columns: tuple[int, ...] = _COLUMNS
    points: dict[_Key, list[Point]] = field(default_factory=dict)
    factors: dict[_Key, list[float]] = field(default_factory=dict)
    has_rows: bool = False
    empty: int = 0
    wrong: int = 0
    unread: list[int] = field(default_factory=list)


def is_nccl(text: str) -> bool:
    """Whether a text is a log of nccl-tests."""
    return any(_HEADER.match(line.strip()) or _ROW.match(line.strip()) for line in text.splitlines())


def read_nccl_tests(text: str, file: str, told: Told) -> Log:
    """Read a log.

    Parameters
    ----------
    text : str
    file : str
    told : Told
        What the log does not say.

    Raises
    ------
    FormatError
        If it has no rows, or does not say which collective or among how many ranks.
    """
    found = _Found()
    for number, line in enumerate(text.splitlines(), 1):
        _take(found, _PREFIX.sub("", line).strip(), number)
    if not found.points:
        last = text.count("\n") + 1
        raise FormatError("there is no row with a size and a time", file, last, 1)
    merged: dict[tuple[str, int, bool], list[Point]] = {}
    for (test, named, in_place), points in found.points.items():
        kind, ranks = _kind(test, told, file, points[0].line), told.ranks or named
        if ranks is None:
            factors = found.factors.get((test, named, False), [])
            ranks = _ranks_of(kind, factors, file, points[0].line)
        merged.setdefault((kind, ranks, in_place), []).extend(points)
    series = tuple(Series(file, *key, in_order(points)) for key, points in merged.items())
    return Log(series, tuple(_notes(found)))


def _take(found: _Found, line: str, number: int) -> None:
    """Take up a line; what is none of the benchmark's is passed over."""
    rank = _RANK.match(line)
    if rank:
        if found.has_rows:
            # the header of another run
            found.ranks, found.has_rows = set(), False
        found.ranks.add(int(rank[1]))
    elif line.startswith("#") and "est starting" in line and _TEST.search(line):
        found.test = _TEST.findall(line)[-1]
    elif _HEADER.match(line):
        names = line.lstrip("# ").split()
        times = [i for i, name in enumerate(names) if name == "time"]
        found.columns = tuple(times[:2]) or found.columns
    elif _ROW.match(line):
        _take_row(found, line.split(), number)


def _take_row(found: _Found, row: Sequence[str], number: int) -> None:
    size, read, found.has_rows = int(row[0]), False, True
    for in_place, column in zip((False, True), found.columns, strict=False):
        cells = [_number(cell) for cell in row[column : column + 3]]
        time = cells[0] if cells else None
        if time is None:
            continue
        read = True
        if not is_point(size, time / US):
            found.empty += not in_place
            continue
        key = (found.test, max(found.ranks) + 1 if found.ranks else None, in_place)
        found.points.setdefault(key, []).append(Point(size, time / US, number))
        if len(cells) == 3 and cells[1] and cells[2] is not None and not in_place:
            found.factors.setdefault(key, []).append(cells[2] / cells[1])
        wrong = row[column + 3] if len(row) > column + 3 else "N/A"
        found.wrong += wrong.isdecimal() and int(wrong[:20]) > 0
    if not read:
        found.unread.append(number)


def _number(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if isfinite(value) else None


def _kind(test: str | None, told: Told, file: str, line: int) -> str:
    if told.kind is not None:
        return told.kind
    if test is None:
        raise FormatError("the log does not say which collective it times; say --collective", file, line, 1)
    if test not in TESTS:
        raise FormatError(f"{printable(test)}_perf times nothing that a scenario has", file, line, 1)
    return TESTS[test]


def _ranks_of(kind: str, factors: Sequence[float], file: str, line: int) -> int:
    """N from busbw over algbw, 2 (N-1)/N or (N-1)/N (PERFORMANCE.md); the last rows are exactest."""
    share = factors[-1] / (2 if kind == "allreduce" else 1) if factors else 1.0
    if kind in ("broadcast", "reduce", "send_recv") or not 0 <= share < 0.9999:
        raise FormatError("the log does not say among how many ranks; say --ranks", file, line, 1)
    return round(1 / (1 - share))


def _notes(found: _Found) -> Iterator[str]:
    if found.empty:
        yield f"{found.empty} rows of no bytes or no time are left out"
    if found.wrong:
        yield f"{found.wrong} results were wrong by the benchmark's own check"
    if found.unread:
        yield f"{len(found.unread)} rows have no time that can be read, the first in line {found.unread[0]}"
