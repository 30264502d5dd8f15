"""What nccl-tests write with `-J FILE`: the rows of their log, and its devices, as JSON."""

from __future__ import annotations

import re
from typing import Any

from simulator.scenario.measurements.nccl_tests import TESTS, US
from simulator.scenario.measurements.series import Log, Point, Series, Told, in_order, is_point
from topologies.formats.json_text import JsonFile, parse_json


def read_nccl_json(text: str, file: str, told: Told) -> Log:
    """Read results.

    Raises
    ------
    FormatError
        If it is no such file, or does not say which collective or among how many ranks.
    """
    found = parse_json(text, file)
    if not isinstance(found.value, dict) or "results" not in found.value:
        raise found.error('expected a mapping with "results"')
    kind, ranks = _kind(found, told), _ranks(found, told)
    points: dict[bool, list[Point]] = {False: [], True: []}
    empty = 0
    line = found.error("", "results").line or 1
    for i in range(len(found.get(("results",), list, "a list"))):
        row: dict[str, Any] = found.get(("results", i), dict, "a mapping")
        size = found.get(("results", i, "size"), int, "bytes")
        for name, in_place in (("out_of_place", False), ("in_place", True)):
            if row.get(name) is None:
                continue
            found.get(("results", i, name), dict, "a mapping")
            time = found.get(("results", i, name, "time"), float, "us") / US
            if is_point(size, time):
                points[in_place].append(Point(size, time, line))
            else:
                empty += not in_place
    series = tuple(
        Series(file, kind, ranks, in_place, in_order(some)) for in_place, some in points.items() if some
    )
    if not series:
        raise found.error("there is no result with a size and a time", "results")
    return Log(series, (f"{empty} rows of no bytes or no time are left out",) if empty else ())


def _kind(found: JsonFile, told: Told) -> str:
    named = re.search(r"\b([a-z_]+)_perf\b", found.text)
    if told.kind is not None:
        return told.kind
    if named is None or named[1] not in TESTS:
        raise found.error("the file does not say which collective it times; say --collective")
    return TESTS[named[1]]


def _ranks(found: JsonFile, told: Told) -> int:
    devices = found.value.get("devices")
    if told.ranks is not None:
        return told.ranks
    if not isinstance(devices, list) or not devices:
        raise found.error("the file does not say among how many ranks; say --ranks")
    return len(devices)
