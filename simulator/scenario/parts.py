"""Models and accelerators that are known by name: YAML files that a plan builds on, as on a topology's.

What stands beside `preset` wins, mappings key by key; the bare name will do where nothing does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Final, Literal

from simulator.scenario.errors import ScenarioError, ScenarioErrors
from simulator.scenario.library import PRESETS, library_folder
from simulator.scenario.parse import decode, parse
from simulator.scenario.presets import merged, moved, replaced, unknown_preset, without
from simulator.scenario.source import Block, Scalar, Source

Part = Literal["model", "hardware"]
FOLDERS: Final[Mapping[Part, str]] = MappingProxyType({"model": "models", "hardware": "hardware"})
"""Where in the presets the files of each block are."""


def part_names(part: Part) -> tuple[str, ...]:
    """Names of all presets of a block, e.g. `llama3-70b`."""
    return tuple(sorted(path.stem for path in (library_folder() / PRESETS / FOLDERS[part]).glob("*.yaml")))


@cache
def read_part(part: Part, name: str) -> Block:
    """The block of a preset.

    Raises
    ------
    ScenarioErrors
        If the file is not a preset.
    """
    path = library_folder() / PRESETS / FOLDERS[part] / f"{name}.yaml"
    source, refused = parse(decode(path.read_bytes(), str(path)), str(path))
    block = source.find((part,))
    if refused or not isinstance(block, Block):
        raise ScenarioErrors(refused or [source.error(f"a preset is a mapping of {part}")])
    return block


def with_parts(source: Source) -> tuple[Source, tuple[ScenarioError, ...]]:
    """Put what presets say into the tree of the plan that names them.

    Returns
    -------
    source : Source
        A block whose preset is unknown keeps the key.
    errors : tuple of ScenarioError
        Unknown presets.
    """
    errors: list[ScenarioError] = []
    source = in_full(source)
    for part in FOLDERS:
        source, unknown = _with_part(source, part)
        errors += unknown
    return source, tuple(errors)


def in_full(source: Source) -> Source:
    """A plan's tree in which presets that go by their bare names are blocks."""
    for part in FOLDERS:
        own = source.find((part,))
        if isinstance(own, Scalar) and isinstance(own.value, str):
            key = Scalar(own.line, own.column, "preset", "preset")
            source = replaced(source, part, Block(own.line, own.column, {"preset": (key, own)}))
    return source


def _with_part(source: Source, part: Part) -> tuple[Source, list[ScenarioError]]:
    own = source.find((part,))
    if not isinstance(own, Block) or "preset" not in own.entries:
        return source, []
    named = own.entries["preset"][1]
    name = named.value if isinstance(named, Scalar) else None
    if not isinstance(name, str) or name not in part_names(part):
        return source, [unknown_preset(source, (part,), named, part_names(part))]
    changes = replace(own, entries=without(own, "preset"))
    return replaced(source, part, merged(moved(read_part(part, name), named), changes)), []
