"""The block `topology` for editors: its keys by kind, or by what a preset has."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from simulator.scenario.fields import parameters_of
from simulator.scenario.library import PRESETS, heading, library_folder
from simulator.scenario.load import topology_schema
from simulator.scenario.models import FROM_FILE
from simulator.scenario.parts import FOLDERS, Part, part_names, read_part
from simulator.scenario.presets import LINK_KEYS, preset_names, read_preset
from simulator.scenario.schema.convert import Definitions, Json
from simulator.scenario.schema.docstrings import summary
from simulator.scenario.source import Block, Items, Scalar
from topologies.overrides import Override
from topologies.registry import TOPOLOGIES


def topology_block(definitions: Definitions) -> Json:
    """Keys of a topology: by `kind`, or with `preset` those that the machine has."""
    unknown = definitions.convert(topology_schema(None))["properties"]
    kinds = {
        kind: definitions.refer(f"topology-{kind}", partial(of_kind, definitions, kind))
        for kind in TOPOLOGIES
    }
    kind = words(unknown["kind"], {name: summary(builder) for name, builder in TOPOLOGIES.items()})
    file = definitions.refer("topology-file", partial(_of_file, definitions))
    preset = words(unknown["preset"], {name: title(f"{name}.yaml") for name in preset_names()})
    return {
        "description": "The network: its kind and what that takes, a preset, or a file of another program.",
        "type": "object",
        "properties": {
            **{"kind": kind, "preset": preset, "overrides": unknown["overrides"]},
            "file": definitions.resolved(file)["properties"]["file"],
        },
        "if": {"required": ["preset"]},
        "then": {"properties": {"kind": False}, "allOf": _by_preset(definitions)},
        "else": {
            "if": {"required": ["file"]},
            "then": file,
            "else": {
                "required": ["kind"],
                "allOf": [when("kind", [kind], block) for kind, block in kinds.items()],
            },
        },
    }


def _of_file(definitions: Definitions) -> Json:
    """Keys of a topology in a file."""
    return {"description": "A file of another program.", **definitions.convert(topology_schema(FROM_FILE))}


def of_kind(definitions: Definitions, kind: str) -> Json:
    """Keys of one kind of topology."""
    block = definitions.convert(topology_schema(kind))
    said = summary(TOPOLOGIES[kind])
    del block["properties"]["preset"]
    # said at the key by the block that leads here
    block["properties"]["kind"] = {"const": kind}
    return {"description": said, **block}


def part_block(definitions: Definitions, part: Part, block: Json) -> Json:
    """A model or an accelerator: spelled out, the name of a preset, or a preset and what is different."""
    named = words({"description": "A preset of the library."}, titles(part))
    groups = _grouped({name: relaxed(definitions, block, read_part(part, name)) for name in part_names(part)})
    changed = [when("preset", names, _with_key(change, "preset")) for names, change in groups]
    spelled_out = {
        "type": "object",
        "if": {"required": ["preset"]},
        "then": {"properties": {"preset": named}, "allOf": changed},
        # an editor offers the preset here, too: nothing else says that there are any
        "else": _with_key(block, "preset", named),
    }
    return {"anyOf": [named, spelled_out]}


def relaxed(definitions: Definitions, block: Json, preset: Block) -> Json:
    """A block of which a preset says something: what it says need not be said again."""
    block = definitions.resolved(block)
    if "anyOf" in block:
        return {**block, "anyOf": [relaxed(definitions, member, preset) for member in block["anyOf"]]}
    if "properties" not in block:
        return block
    properties = dict(block["properties"])
    for step, (_, value) in preset.entries.items():
        if isinstance(value, Block) and step in properties:
            inner = properties[step]
            about = {key: text for key, text in inner.items() if key == "description"}
            properties[step] = {**relaxed(definitions, inner, value), **about}
    required = [name for name in block.get("required", ()) if name not in preset.entries]
    kept = {key: value for key, value in block.items() if key != "required"}
    return {**kept, "properties": properties, **({"required": required} if required else {})}


def _by_preset(definitions: Definitions) -> list[Json]:
    """What may stand beside each preset; those of which the same may are told together."""
    changes = {name: _changes(definitions, read_preset(name)) for name in preset_names()}
    return [when("preset", names, change) for names, change in _grouped(changes)]


def _changes(definitions: Definitions, preset: Block) -> Json:
    """Keys beside a preset of a topology."""
    kind = preset.entries["kind"][1]
    block = relaxed(
        definitions, of_kind(definitions, str(kind.value) if isinstance(kind, Scalar) else ""), preset
    )
    _, listed = preset.entries.get("levels", (None, None))
    properties = {**block["properties"], "kind": False, "preset": True}
    if isinstance(listed, Items):
        level = block["properties"]["levels"]
        named = {
            str(entry.entries["name"][1].value): relaxed(definitions, level["items"], entry)
            for entry in listed.items
            if isinstance(entry, Block) and isinstance(entry.entries["name"][1], Scalar)
        }
        by_name = {"type": "object", "properties": named, "additionalProperties": False}
        said = {"description": "Changes of single levels, by name; or all levels anew, as a list."}
        # the two are told apart by what is written, so that an editor speaks of one of them
        properties["levels"] = said | {"if": {"type": "array"}, "then": level, "else": by_name}
    else:
        properties["levels"] = {
            "description": "Changes of the links of single levels, by name.",
            "type": "object",
            "additionalProperties": _link(definitions),
        }
    return {**block, "properties": properties}


def _link(definitions: Definitions) -> Json:
    """What may be changed of a level that is only links."""
    keys = {name: key for name, key in parameters_of(Override).items() if name in LINK_KEYS}
    return definitions.block(keys)


def when(key: str, is_one_of: list[str], then: Json) -> Json:
    """What holds where a key is one of some words."""
    word = {"const": is_one_of[0]} if len(is_one_of) == 1 else {"enum": is_one_of}
    return {"if": {"required": [key], "properties": {key: word}}, "then": then}


def words(schema: Json, known: Mapping[str, str]) -> Json:
    """One of some words, each with what it means: for the editors that show it."""
    kept = {key: value for key, value in schema.items() if key in ("description", "default")}
    return {**kept, "type": "string", "enum": list(known), "enumDescriptions": list(known.values())}


def titles(part: Part) -> dict[str, str]:
    """Names of the presets of a block, each with what it is."""
    return {name: title(f"{FOLDERS[part]}/{name}.yaml") for name in part_names(part)}


def title(file: str) -> str:
    """What the first comment of a preset's file says that it is."""
    return heading((library_folder() / PRESETS / file).read_text("utf-8"))[0]


def _grouped(blocks: Mapping[str, Json]) -> list[tuple[list[str], Json]]:
    """Names that have equal blocks, together."""
    groups: list[tuple[list[str], Json]] = []
    for name, block in blocks.items():
        for names, other in groups:
            if other == block:
                names.append(name)
                break
        else:
            groups.append(([name], block))
    return groups


def _with_key(block: Json, name: str, schema: Any = True) -> Json:
    return {**block, "properties": {name: schema, **block["properties"]}}
