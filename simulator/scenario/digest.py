"""What stands for a value and for the code: what was found before is found again by it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import algorithms
import simulator
import topologies


@cache
def version() -> str:
    """Stands for the code that simulates."""
    code = hashlib.sha256()
    rooms = [Path(path) for package in (topologies, algorithms, simulator) for path in package.__path__]
    for room in rooms:
        for file in sorted(room.rglob("*.py")):
            if file.relative_to(room).parts[0] != "commands":
                code.update(file.read_bytes())
    return code.hexdigest()


def digest(value: object) -> str:
    """Stands for a value: the same for equal ones, but for what is not compared of them.

    Examples
    --------
    >>> digest({"a": (1, 2)}) == digest({"a": [1, 2]}), digest(1) == digest(1.0)
    (True, False)
    """
    return hashlib.sha256(json.dumps(_plain(value), sort_keys=True).encode()).hexdigest()


def _plain(value: object) -> Any:
    """A value as JSON has it, the same for equal ones."""
    if is_dataclass(value) and not isinstance(value, type):
        return [
            type(value).__name__,
            {each.name: _plain(getattr(value, each.name)) for each in fields(value) if each.compare},
        ]
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Sequence):
        return [_plain(each) for each in value]
    return repr(value)
