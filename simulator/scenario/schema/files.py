"""Files of every kind as one JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache, partial
from types import MappingProxyType
from typing import Final

from simulator.llm.hardware import Hardware
from simulator.llm.model import transformer
from simulator.scenario.choice import Asked
from simulator.scenario.errors import one_of
from simulator.scenario.fields import Parameter, parameters_of
from simulator.scenario.kinds import KINDS, PLAN_KEYS, SWEEP, TOGETHER_KEYS, WORKLOAD
from simulator.scenario.load import scenario_keys
from simulator.scenario.plan_load import plan_keys
from simulator.scenario.schema.collective import collective_block
from simulator.scenario.schema.convert import Definitions, Json
from simulator.scenario.schema.topology import part_block, topology_block
from simulator.scenario.sweep.models import SweepPlan
from simulator.scenario.together_load import together_keys
from simulator.scenario.together_models import Own
from simulator.scenario.workload_load import workload_keys
from topologies.errors import CollsimError
from topologies.text import printable

NAME: Final = "collsim.schema.json"
"""Name of the file, in the library and beside what a person writes."""

VARIED: Final = MappingProxyType({SWEEP: Parameter(SweepPlan, required=False)})
"""What a file of any kind may have; only "collsim sweep" reads it then."""

PRESET_NAME: Final = "collsim.preset.schema.json"
"""Name of the file for the library's presets, which are pieces of scenarios."""

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def json_schema(part: str | None = None) -> Json:
    """JSON Schema of what collsim reads.

    Parameters
    ----------
    part : str, optional
        One of `PARTS`; None for whatever "collsim run", "check" and "llm" read, told apart by its keys.

    Returns
    -------
    dict
        A draft 2020-12 schema, whose parts are ``$defs`` under their names.

    Raises
    ------
    CollsimError
        If there is no such kind.

    Examples
    --------
    >>> json_schema()["$defs"]["topology-ring"]["properties"]["direction"]["enum"]
    ['both', 'one']
    """
    if part is not None and part not in PARTS:
        raise CollsimError(f'there is no kind of file "{printable(part)}"; expected {one_of(PARTS)}')
    definitions = Definitions()
    for name, make in PARTS.items():
        definitions.refer(name, partial(make, definitions))
    whole = _any_file() if part is None else {"$ref": f"#/$defs/{part}"}
    title = "a file that collsim reads" if part is None else f"a file of the kind {part}"
    return {
        "$schema": DIALECT,
        "title": f"collsim: {title}",
        **whole,
        "$defs": _reached(whole, definitions.blocks),
    }


@cache
def schema_text(part: str | None = None) -> str:
    """The schema as the text of a file."""
    return json.dumps(json_schema(part), indent=1, ensure_ascii=False) + "\n"


def _any_file() -> Json:
    """Of which kind a file is, as `kind_of` tells; where it does not tell yet, all that it may become."""
    kinds = [{"$ref": f"#/$defs/{kind}"} for kind in KINDS]
    return {
        "type": "object",
        "if": _has(("collective",)),
        "then": {"$ref": "#/$defs/collective"},
        "else": {
            "if": _has(TOGETHER_KEYS),
            "then": {"$ref": "#/$defs/together"},
            "else": {
                "if": _has((WORKLOAD,)),
                "then": {"$ref": "#/$defs/workload"},
                "else": {"if": _has(PLAN_KEYS), "then": {"$ref": "#/$defs/plan"}, "else": {"anyOf": kinds}},
            },
        },
    }


def _has(keys: tuple[str, ...]) -> Json:
    return {"anyOf": [{"required": [key]} for key in keys]} if len(keys) > 1 else {"required": list(keys)}


def _collective(definitions: Definitions) -> Json:
    block = definitions.block(scenario_keys(None, Asked(None, "catalogue", needs_size=True)) | VARIED)
    collective = definitions.refer("a-collective", lambda: collective_block(definitions, {}))
    return _file(block, topology=_topology(definitions), collective=collective)


def _together(definitions: Definitions) -> Json:
    block = definitions.block(together_keys(None) | VARIED)
    entry = definitions.refer("an-entry", lambda: collective_block(definitions, parameters_of(Own)))
    several = {"type": "array", "minItems": 1, "items": entry}
    network = _unplaced(definitions)
    return _file(block, topology=_topology(definitions), collectives=several, network=network)


def _workload(definitions: Definitions) -> Json:
    block = definitions.block(workload_keys(None) | VARIED)
    return _file(block, topology=_topology(definitions), network=_unplaced(definitions))


def _plan(definitions: Definitions) -> Json:
    block = definitions.block(plan_keys(None) | VARIED)
    return _file(
        block,
        topology=_topology(definitions),
        network=_unplaced(definitions),
        model=_model(definitions),
        hardware=_hardware(definitions),
    )


def _preset(definitions: Definitions) -> Json:
    """A file of the presets: a topology, a model or an accelerator by itself."""
    parts = {
        "topology": _topology(definitions),
        "model": definitions.block(parameters_of(transformer)),
        "hardware": definitions.block(parameters_of(Hardware)),
    }
    return {
        "type": "object",
        "properties": parts,
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
    }


PARTS: Final[Mapping[str, Callable[[Definitions], Json]]] = MappingProxyType(
    {
        "collective": _collective,
        "together": _together,
        "workload": _workload,
        "plan": _plan,
        "preset": _preset,
    }
)
"""The kinds of files, each with what makes its schema."""


def _topology(definitions: Definitions) -> Json:
    return definitions.refer("topology", lambda: topology_block(definitions))


def _model(definitions: Definitions) -> Json:
    def make() -> Json:
        model = definitions.block(parameters_of(transformer))
        return part_block(definitions, "model", model)

    return definitions.refer("model", make)


def _hardware(definitions: Definitions) -> Json:
    def make() -> Json:
        hardware = definitions.block(parameters_of(Hardware))
        return part_block(definitions, "hardware", hardware)

    return definitions.refer("hardware", make)


def _unplaced(definitions: Definitions) -> Json:
    """The network without a placement, where other keys say which rank is which."""

    def make() -> Json:
        network = definitions.blocks["Network"]
        kept = {name: key for name, key in network["properties"].items() if name != "placement"}
        return {**network, "properties": kept}

    return definitions.refer("network-unplaced", make)


def _file(block: Json, **blocks: Json) -> Json:
    """A file's keys, of which some are made for editors; what is said of a key stays."""
    properties = dict(block["properties"])
    for name, schema in blocks.items():
        about = {key: text for key, text in properties[name].items() if key in ("description", "default")}
        properties[name] = {**about, **schema}
    return {**block, "properties": properties}


def _reached(whole: Json, blocks: Mapping[str, Json]) -> dict[str, Json]:
    """Blocks that something refers to, in order of name."""
    reached: set[str] = set()
    waiting = [whole]
    while waiting:
        node = waiting.pop()
        for name in _references(node):
            if name not in reached:
                reached.add(name)
                waiting.append(blocks[name])
    return {name: blocks[name] for name in sorted(reached)}


def _references(node: object) -> set[str]:
    if isinstance(node, Mapping):
        own = {str(node["$ref"]).rpartition("/")[2]} if "$ref" in node else set()
        return own.union(*map(_references, node.values()))
    return set().union(*map(_references, node)) if isinstance(node, list) else set()
