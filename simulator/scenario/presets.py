"""Topologies of known machines: YAML files of the library that a scenario builds on.

A preset is put into the scenario's tree before anything is checked, at the place of its name, so
that one schema reads both and every error points into the scenario.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from simulator.scenario.errors import ScenarioError, ScenarioErrors, did_you_mean, one_of, suggestion
from simulator.scenario.library import PRESETS, library_folder
from simulator.scenario.parse import decode, parse
from simulator.scenario.source import At, Block, Items, Node, Scalar, Source, describe, dotted
from topologies.text import printable

Entries = dict[str | int, tuple[Scalar, Node]]

TOPOLOGY = ("topology",)
LINK_KEYS = ("bandwidth", "latency", "overhead")
"""What an override may change of a link."""


def preset_names() -> tuple[str, ...]:
    """Names of all presets, e.g. `dgx-1`."""
    return tuple(sorted(path.stem for path in (library_folder() / PRESETS).glob("*.yaml")))


@cache
def read_preset(name: str) -> Block:
    """The block `topology` of a preset.

    Raises
    ------
    ScenarioErrors
        If the file is not a preset.
    """
    path = library_folder() / PRESETS / f"{name}.yaml"
    source, refused = parse(decode(path.read_bytes(), str(path)), str(path))
    block = source.find(TOPOLOGY)
    if refused or not isinstance(block, Block):
        raise ScenarioErrors(refused or [source.error("a preset is a mapping of topology")])
    return block


def with_preset(source: Source) -> tuple[Source, tuple[ScenarioError, ...]]:
    """Put what a preset says into the tree of the scenario that names it.

    What stands beside `preset` wins: a parameter replaces the preset's, a mapping is merged key by
    key, `overrides` come after the preset's, and `levels: {NAME: ...}` changes single levels.

    Returns
    -------
    source : Source
        What comes from the preset stands at the place of its name; the same source without one.
    errors : tuple of ScenarioError
        An unknown preset, an unknown level, or a `kind` of its own.
    """
    own = source.find(TOPOLOGY)
    if not isinstance(own, Block) or "preset" not in own.entries:
        return source, ()
    named = own.entries["preset"][1]
    name = named.value if isinstance(named, Scalar) else None
    if not isinstance(name, str) or name not in preset_names():
        # an unknown kind in its place: nothing can be said of the other keys, and it is said once
        key = _word(own.entries["preset"][0], "kind")
        entries: Entries = {"kind": (key, named), **without(own, "preset")}
        return replaced(source, "topology", replace(own, entries=entries)), (
            unknown_preset(source, TOPOLOGY, named, preset_names()),
        )
    errors = []
    if "kind" in own.entries:
        message = 'found both "preset" and "kind"; a preset is of its own kind'
        errors.append(source.error(f"topology.kind: {message}", (*TOPOLOGY, "kind"), key=True))
    base = moved(read_preset(name), named)
    changes = replace(own, entries=without(own, "kind"))
    levels = changes.entries.get("levels")
    if levels is not None and isinstance(levels[1], Block):
        changed = _Levels(base, changes, levels[1])
        errors += changed.errors(source)
        changes = changed.spelled_out()
    return replaced(source, "topology", merged(base, changes)), tuple(errors)


def unknown_preset(source: Source, block: At, named: Node, names: Sequence[str]) -> ScenarioError:
    """Say that what a block names is no preset, and which there are."""
    word = named.value if isinstance(named, Scalar) and isinstance(named.value, str) else ""
    hint = did_you_mean(word, names) if word else ""
    what = f"found {describe(named)}, expected {one_of(names)}{hint}"
    return source.error(f"{dotted((*block, 'preset'))}: {what}", (*block, "preset"))


@dataclass(frozen=True, slots=True)
class _Levels:
    """Changes of single levels, by name.

    Attributes
    ----------
    preset, own : Block
        The block of the preset, and the scenario's with its `levels`.
    changes : Block
        What `levels` holds.
    """

    preset: Block
    own: Block
    changes: Block

    def errors(self, source: Source) -> Iterator[ScenarioError]:
        """Changes that are no mappings, and of a cluster in levels those of levels that it has not."""
        at, known = (*TOPOLOGY, "levels"), [str(name) for name in self._cluster()]
        for step, (key, change) in self.changes.entries.items():
            if known and step not in known:
                hint = suggestion(str(step), known)
                message = f'the preset has no level "{printable(str(step))}"{hint}'
                yield source.error(f"topology.levels: {message}", (*at, step), key=True)
            elif not isinstance(change, Block):
                what = "a mapping, e.g. {bandwidth: 25 GB/s}"
                message = f"topology.levels.{key.text}: found {describe(change)}, expected {what}"
                yield source.error(message, (*at, step))
            elif not known:
                yield from self._foreign_keys(source, change, (*at, step))

    def _foreign_keys(
        self, source: Source, change: Block, at: tuple[str | int, ...]
    ) -> Iterator[ScenarioError]:
        """What a level that is only links does not have."""
        for key in change.entries:
            if key not in LINK_KEYS:
                hint = suggestion(str(key), LINK_KEYS)
                message = f'unknown key "{printable(str(key))}" in topology.levels.{at[-1]}{hint}'
                yield source.error(message, (*at, key), key=True)

    def spelled_out(self) -> Block:
        """The scenario's block without names of levels: a list of levels, or overrides of links."""
        cluster = self._cluster()
        if cluster:
            levels = tuple(
                merged(level, self.changes.entries[name][1]) if name in self.changes.entries else level
                for name, level in cluster.items()
            )
            key = self.own.entries["levels"][0]
            items = Items(self.changes.line, self.changes.column, levels)
            return replace(self.own, entries={**self.own.entries, "levels": (key, items)})
        return replace(self.own, entries=self._with_overrides())

    def _cluster(self) -> Mapping[str | int, Node]:
        """Levels of a preset that lists them, by name; none for other kinds."""
        _, listed = self.preset.entries.get("levels", (None, None))
        if not isinstance(listed, Items):
            return {}
        return {_name(level): level for level in listed.items}

    def _with_overrides(self) -> Entries:
        """An override of each named level, before the scenario's own."""
        first = tuple(
            replace(change, entries={"level": (_word(key, "level"), _word(key, key.text)), **change.entries})
            for key, change in self.changes.entries.values()
            if isinstance(change, Block)
        )
        entries = without(self.own, "levels")
        if "overrides" not in entries:
            key = _word(self.own.entries["levels"][0], "overrides")
            return {**entries, "overrides": (key, Items(self.changes.line, self.changes.column, first))}
        key, own = entries["overrides"]
        if isinstance(own, Items):
            entries["overrides"] = (key, replace(own, items=first + own.items))
        return entries


def _name(level: Node) -> str | int:
    name = level.entries["name"][1] if isinstance(level, Block) else None
    return str(name.value) if isinstance(name, Scalar) else ""


def _word(place: Scalar, word: str) -> Scalar:
    return Scalar(place.line, place.column, word, word)


def without(block: Block, name: str) -> Entries:
    """Entries of a block but for one."""
    return {step: entry for step, entry in block.entries.items() if step != name}


def moved(block: Block, place: Node) -> Block:
    """A preset's block with everything at the place where it is named."""
    line, column = place.line, place.column
    entries: Entries = {
        step: (replace(key, line=line, column=column), _at(value, place))
        for step, (key, value) in block.entries.items()
    }
    return Block(line, column, entries)


def _at(node: Node, place: Node) -> Node:
    match node:
        case Scalar():
            return replace(node, line=place.line, column=place.column)
        case Items():
            return Items(place.line, place.column, tuple(_at(item, place) for item in node.items))
        case Block():
            return moved(node, place)


def merged(base: Node, change: Node) -> Node:
    """A value of a preset changed by the scenario's: mappings key by key, the rest replaced."""
    if not isinstance(base, Block) or not isinstance(change, Block):
        return change
    entries = dict(base.entries)
    for step, (key, value) in change.entries.items():
        entries[step] = (key, _joined(step, entries[step][1], value) if step in entries else value)
    return replace(change, entries=entries)


def _joined(step: str | int, base: Node, change: Node) -> Node:
    if step == "overrides" and isinstance(base, Items) and isinstance(change, Items):
        return replace(change, items=base.items + change.items)
    return merged(base, change)


def replaced(source: Source, name: str, block: Node) -> Source:
    """A scenario's source with another block in the place of one of its own."""
    root = source.root
    if not isinstance(root, Block):
        return source
    key, _ = root.entries[name]
    return replace(source, root=replace(root, entries={**root.entries, name: (key, block)}))
