"""A result.json that is read back: whatever is used of it is checked, and named by its place."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from math import isclose
from typing import TYPE_CHECKING, Any, Final

from simulator.engine.path_parts import PARTS
from simulator.scenario.differences import CLOSE
from simulator.scenario.errors import ScenarioError, ScenarioErrors
from simulator.scenario.load import read_text
from simulator.scenario.parse import parse
from simulator.scenario.source import dotted

if TYPE_CHECKING:
    from pathlib import Path

    from simulator.scenario.source import At

COUNTS: Final = (
    "steps",
    "depth",
    "transfers",
    "bytes_sent_max",
    "bytes_sent_total",
    "bytes_reduced_max",
    "staged",
)
BOUNDS: Final = ("latency", "bandwidth", "reduction", "best")

EXPECTED: Final = 'expected the result.json of one run, as "collsim run --out" writes it'

LARGEST: Final = 10**30
"""More than any run counts, or takes."""

_MOST_DIGITS: Final = 400
_NAMES: Final = ("scenario", "model", "sync", "collective", "algorithm", "fallback")

Kind = tuple[Callable[[Any], bool], str]
Wrong = tuple["At", str]


def read_result(path: Path) -> dict[str, Any]:
    """Read a result.json.

    Raises
    ------
    ScenarioErrors
        If it cannot be read, or is no result; names the place in the file.
    """
    file, text = str(path), read_text(path)
    try:
        found = json.loads(text, parse_int=_whole)
    except json.JSONDecodeError as error:
        raise ScenarioErrors(
            [ScenarioError(f"no JSON: {error.msg}", file, error.lineno, error.colno)]
        ) from None
    except RecursionError:
        found = None
    for at, message in _wrong(found):
        raise ScenarioErrors([ScenarioError(message, file, *_place(text, file, at), at)])
    result: dict[str, Any] = found
    return result


def _whole(digits: str) -> float:
    """A whole number; one of more digits than any run has is as good as infinite."""
    return int(digits) if len(digits) <= _MOST_DIGITS else float("inf")


def _place(text: str, file: str, at: At) -> tuple[int, int]:
    """Line and column of a value of a JSON text, or of what it is missing in."""
    try:
        return parse(text, file)[0].locate(at)
    except ScenarioErrors:
        # nested or repeated past what a scenario may be
        return 1, 1


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    # which leaves out infinity and what is not a number
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < LARGEST


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and _is_number(value)


_TEXT: Final[Kind] = (_is_text, "a text")
_NUMBER: Final[Kind] = (_is_number, "a number from 0 on")
_WHOLE: Final[Kind] = (_is_whole, "a whole number from 0 on")
_BLOCK: Final[Kind] = (lambda value: isinstance(value, dict), "an object")
_LIST: Final[Kind] = (lambda value: isinstance(value, list), "a list")


def _wrong(found: Any) -> Iterator[Wrong]:
    """Everything for which a JSON value is no result; what follows the first goes by it."""
    if not isinstance(found, dict) or not {"time", "critical_path"} & found.keys():
        yield (), f"{'holds a list' if isinstance(found, list) else 'is no result'}; {EXPECTED}"
        return
    yield from _misfits(found, (), ("time",), _NUMBER)
    yield from _misfits(found, (), _NAMES, _TEXT, needed=False)
    yield from _misfits(found, (), ("ranks", "size", *COUNTS), _WHOLE, needed=False)
    yield from _misfits(found, (), ("gap",), _NUMBER, needed=False)
    yield from _misfits(found, (), ("bounds",), _BLOCK, needed=False)
    yield from _misfits(found.get("bounds") or {}, ("bounds",), BOUNDS, _NUMBER, needed=False)
    yield from _wrong_path(found, ())
    if not isclose(sum(found["critical_path"][part] for part in PARTS), found["time"], rel_tol=CLOSE):
        yield ("time",), f"time: is not what the parts of critical_path sum to; {EXPECTED}"
    yield from _wrong_rows(found, "links", "level")
    for i, link in enumerate(found["links"]):
        yield from _misfits(link, ("links", i), ("twin",), _WHOLE)
    yield from _wrong_rows(found, "levels", "name")
    yield from _wrong_levels(found)


def _misfits(
    block: dict[str, Any], at: At, keys: Iterable[str], kind: Kind, *, needed: bool = True
) -> Iterator[Wrong]:
    """Values of a block that are not of a kind, or are missing."""
    fits, what = kind
    for key in keys:
        place = (*at, key)
        if key not in block:
            if needed:
                yield at, f'{dotted(at)} has no "{key}"; {EXPECTED}'.lstrip()
        elif not fits(block[key]) and (needed or block[key] is not None):
            yield place, f"{dotted(place)}: expected {what}"


def _wrong_path(block: dict[str, Any], at: At) -> Iterator[Wrong]:
    """What is wrong with the critical path of a result, or of a level."""
    yield from _misfits(block, at, ("critical_path",), _BLOCK)
    yield from _misfits(block["critical_path"], (*at, "critical_path"), PARTS, _NUMBER)


def _wrong_rows(found: dict[str, Any], key: str, name: str) -> Iterator[Wrong]:
    """What is wrong with the levels, or the links."""
    yield from _misfits(found, (), (key,), _LIST)
    for i, row in enumerate(found[key]):
        if not isinstance(row, dict):
            yield (key, i), f"{key}[{i}]: expected an object"
        yield from _misfits(row, (key, i), (name,), _TEXT)
        yield from _misfits(row, (key, i), ("bytes", "busy"), _NUMBER)


def _wrong_levels(found: dict[str, Any]) -> Iterator[Wrong]:
    """Levels that are there twice, or on which the path is longer than it is."""
    names: set[str] = set()
    spent = dict.fromkeys(PARTS, 0.0)
    for i, level in enumerate(found["levels"]):
        at: At = ("levels", i)
        if level["name"] in names:
            yield (*at, "name"), f"levels[{i}].name: the level is there twice"
        names.add(level["name"])
        yield from _wrong_path(level, at)
        for part in PARTS:
            spent[part] += level["critical_path"][part]
            if spent[part] > found["critical_path"][part] * (1 + CLOSE):
                place = (*at, "critical_path", part)
                yield place, f"{dotted(place)}: the levels have more of it than the whole path; {EXPECTED}"
