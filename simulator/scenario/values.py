"""Readers of single values: what was written, checked and returned, or an error of pydantic's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic_core import PydanticCustomError

from simulator.scenario import units
from simulator.scenario.errors import UnitError, did_you_mean, one_of
from topologies.quantities import Quantity

LARGEST = 2**62


def expected(what: str, hint: str = "") -> PydanticCustomError:
    """Make the error of a value that is not what was expected."""
    return PydanticCustomError("expected", "{what}", {"what": what, "hint": hint})


def wrong(message: str, at: Sequence[str | int] = ()) -> PydanticCustomError:
    """Make an error with words of its own, about the value or something inside it."""
    return PydanticCustomError("wrong", "{message}", {"message": message, "at": tuple(at)})


def word(words: Sequence[Any], value: object, also: Sequence[str] = ()) -> object:
    """Read one of several words; `also` is what else is said to be expected."""
    # 1 == True in Python, but not in YAML
    for word in words:
        if value == word and type(value) is type(word):
            return word
    names = [str(word) for word in words]
    if isinstance(value, str) and value in names:
        raise expected(one_of([*names, *also]), f"; {value} is a number, without quotes")
    raise expected(one_of([*names, *also]), did_you_mean(value, names) if isinstance(value, str) else "")


def quantity(measure: Quantity, value: object) -> int | float:
    """Read a count or a ratio, or a text with a unit."""
    if measure.kind == "count":
        return whole(measure.minimum, value)
    if measure.kind == "ratio":
        return positive(value)
    if type(value) in (int, float):
        raise PydanticCustomError("bare_number", "{kind}", {"kind": measure.kind})
    if not isinstance(value, str):
        example = units.EXAMPLES[measure.kind]
        raise expected(f'a number and a unit, e.g. "{example}"')
    readers: Mapping[str, Callable[[str], int | float]] = {
        "bandwidth": units.bandwidth,
        "compute": units.compute,
        "time": units.time,
        "bytes": units.size,
    }
    try:
        return readers[measure.kind](value)
    except UnitError as error:
        raise wrong(error.message) from None


def whole(minimum: int, value: object) -> int:
    """Read a whole number from `minimum` to 2^62."""
    # bool is an int in Python, but not in YAML
    if type(value) is not int:
        raise expected("a whole number")
    if value < minimum:
        raise expected(f"{minimum} or more")
    if value > LARGEST:
        raise expected("at most 2^62")
    return value


def integer(value: object) -> int:
    """Read a whole number of at most 2^62 in magnitude."""
    return whole(-LARGEST, value)


def number(value: object) -> float:
    """Read a number of at most 2^62 in magnitude."""
    if type(value) not in (int, float) or not isinstance(value, int | float):
        raise expected("a number")
    if abs(value) > LARGEST:
        raise expected("at most 2^62")
    return float(value)


def positive(value: object) -> float:
    """Read a number of more than 0 and at most 2^62."""
    read = number(value)
    if read <= 0:
        raise expected("more than 0")
    return read


def truth(value: object) -> bool:
    """Read true or false."""
    if not isinstance(value, bool):
        raise expected(
            "true or false", did_you_mean(value, ("true", "false")) if isinstance(value, str) else ""
        )
    return value


def line(value: object) -> str:
    """Read a text of one line."""
    if not isinstance(value, str):
        raise expected("text")
    if not value.strip() or any(char < " " for char in value):
        raise expected("one line of text without control characters")
    if len(value) > units.MAX_LENGTH:
        raise expected(f"a text of at most {units.MAX_LENGTH} characters")
    return value
