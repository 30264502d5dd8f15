"""What numpydoc docstrings say of parameters, for whoever writes a scenario."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from functools import cache
from typing import Any, Final, get_args, get_type_hints

from simulator.scenario.fields import Parameter

_SECTIONS: Final = ("Parameters", "Attributes")
_HEAD: Final = re.compile(r"(?P<names>\w+(?:, \w+)*)(?: : .*)?")
# units in which the code counts; a person writes a unit beside the number
_SI: Final = re.compile(r"(?:[:,]? ?\b(?:bytes/s|FLOP/s|s)\b)+(?=[.;:]|$)")


def summary(target: object) -> str:
    """The first paragraph of a docstring, on one line; nothing where there is none.

    Examples
    --------
    >>> summary(summary)[:37]
    'The first paragraph of a docstring, o'
    """
    written = target.__doc__
    # a dataclass without a docstring is given its signature as one
    if not written or (isinstance(target, type) and written.startswith(f"{target.__name__}(")):
        return ""
    return _joined(inspect.cleandoc(written).split("\n\n")[0].split("\n"))


@cache
def documented(target: Callable[..., Any]) -> Mapping[str, str]:
    """What a docstring, or that of a class it inherits from, says of each parameter.

    Examples
    --------
    >>> def wire(length: float, width: float) -> None:
    ...     '''A wire.
    ...
    ...     Parameters
    ...     ----------
    ...     length, width : float
    ...         From end to end: m.
    ...     '''
    >>> documented(wire)["width"]
    'From end to end: m.'
    """
    found: dict[str, str] = {}
    for owner in reversed(target.__mro__) if isinstance(target, type) else (target,):
        for names, text in _entries(inspect.cleandoc(owner.__doc__ or "").split("\n")):
            found |= dict.fromkeys(names, text)
    return found


def _entries(lines: list[str]) -> Iterator[tuple[list[str], str]]:
    """Names and text of everything under a heading of parameters."""
    inside = False
    names: list[str] = []
    text: list[str] = []
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        head = _HEAD.fullmatch(line)
        if below.startswith("---") or (inside and head):
            yield names, _joined(text)
            names, text = [], []
        if below.startswith("---"):
            inside = line in _SECTIONS
        elif inside and head:
            names = head["names"].split(", ")
        else:
            text.append(line)
    yield names, _joined(text)


def about(parameter: Parameter) -> str:
    """What is said of a key: by its owner, by what the owner makes, or of its own block."""
    if parameter.of is not None:
        made = None if isinstance(parameter.of, type) else get_type_hints(parameter.of).get("return")
        for owner in (parameter.of, made):
            text = documented(owner).get(parameter.name) if callable(owner) else None
            if text:
                return _without_units(text)
    parts = (parameter.annotation, *get_args(parameter.annotation))
    blocks = (part for part in parts if isinstance(part, type) and is_dataclass(part))
    return next(filter(None, map(summary, blocks)), "")


def _without_units(text: str) -> str:
    """A text without the units in which the code counts.

    Examples
    --------
    >>> _without_units("Of a link: bytes/s, s."), _without_units("bytes/s, s; what is not given stays.")
    ('Of a link.', 'What is not given stays.')
    """
    left = _SI.sub("", text)
    kept = left.lstrip(" ;:,")
    return left if kept == left else kept[:1].upper() + kept[1:]


def _joined(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())
