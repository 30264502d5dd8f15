"""JSON whose errors name line and column: places are looked for only where something is wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from topologies.errors import FormatError
from topologies.text import printable

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class JsonFile:
    """What a JSON file says, and where.

    Attributes
    ----------
    value : object
        Its whole content: dicts, lists, numbers and texts.
    file : str
    text : str
    """

    value: Any
    file: str
    text: str = field(repr=False)

    def error(self, message: str, *path: str | int) -> FormatError:
        """Something that is wrong with the value at a path, or with the nearest around it."""
        at = _locate(self.text, path)
        line = self.text.count("\n", 0, at) + 1
        return FormatError(message, self.file, line, at - self.text.rfind("\n", 0, at))

    def get(self, path: Path, kind: type, what: str, default: Any = None) -> Any:
        """The value at a path, which must be of a kind; one with a default may be missing.

        Raises
        ------
        FormatError
        """
        inside = self.value
        for step in path[:-1]:
            inside = inside[step]
        step = path[-1]
        if isinstance(inside, Mapping) and step not in inside:
            if default is not None:
                return default
            raise self.error(f'missing "{step}"; expected {what}', *path[:-1])
        found = inside[step]
        fits = isinstance(found, (int, float) if kind is float else kind)
        if not fits or (isinstance(found, bool) and kind is not bool):
            raise self.error(f"found {printable(json.dumps(found))}, expected {what}", *path)
        return found


def parse_json(text: str, file: str) -> JsonFile:
    r"""Read JSON.

    Raises
    ------
    FormatError
        If it is no JSON, a key is given twice, or a number is none.

    Examples
    --------
    >>> read = parse_json('{"links":\n [{"rate": "fast"}]}', "a.json")
    >>> print(read.error("no number", "links", 0, "rate"))
    a.json:2:12: no number
    """
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number, parse_int=_whole)
    except json.JSONDecodeError as error:
        raise FormatError(f"not JSON: {printable(error.msg)}", file, error.lineno, error.colno) from None
    except RecursionError:
        raise FormatError("not JSON that anybody reads: nested too deeply", file, 1, 1) from None
    except _FaultyError as error:
        at = max(text.find(error.found), 0)
        line = text.count("\n", 0, at) + 1
        raise FormatError(error.message, file, line, at - text.rfind("\n", 0, at)) from None
    return JsonFile(value, file, text)


class _FaultyError(Exception):
    """What JSON of other programs may hold, but not ours; `found` is how it is written."""

    def __init__(self, message: str, found: str) -> None:
        super().__init__(message)
        self.message = message
        self.found = found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _FaultyError(f'the key "{printable(twice)}" is given twice', json.dumps(twice))
    return found


def _no_number(word: str) -> Any:
    raise _FaultyError(f"found {word}, expected a number", word)


def _whole(text: str) -> int:
    # a float holds 308
    if len(text) > 300:
        raise _FaultyError("a number of more than 300 digits", text[:300])
    return int(text)


_DECODER = json.JSONDecoder()


def _locate(text: str, path: Path) -> int:
    """Where the value at a path begins in valid JSON, or the nearest around it."""
    at = _spaces(text, 0)
    for step in path:
        inside = _member(text, at, step) if text[at : at + 1] == "{" else _item(text, at, step)
        if inside is None:
            return at
        at = inside
    return at


def _member(text: str, at: int, step: str | int) -> int | None:
    at = _spaces(text, at + 1)
    while text[at] != "}":
        name, at = scanstring(text, at + 1)
        at = _spaces(text, _spaces(text, at) + 1)
        if name == step:
            return at
        at = _after(text, at)
    return None


def _item(text: str, at: int, step: str | int) -> int | None:
    if text[at : at + 1] != "[" or not isinstance(step, int):
        return None
    at = _spaces(text, at + 1)
    for _ in range(step):
        if text[at] == "]":
            return None
        at = _after(text, at)
    return None if text[at] == "]" else at


def _after(text: str, at: int) -> int:
    """Where the next value of a list or the next key begins, or it ends."""
    _, at = _DECODER.raw_decode(text, at)
    at = _spaces(text, at)
    return _spaces(text, at + 1) if text[at] == "," else at


def _spaces(text: str, at: int) -> int:
    while text[at : at + 1] in (" ", "\t", "\n", "\r") and at < len(text):
        at += 1
    return at
