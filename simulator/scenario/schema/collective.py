"""The block `collective`, or an entry of `collectives`: keys by algorithm, algorithms by kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from algorithms.collective import KINDS
from algorithms.registry import ALGORITHMS, able
from simulator.scenario.choice import COMMON_OPTIONS, Asked, collective_keys, options_of
from simulator.scenario.fields import Parameter
from simulator.scenario.misfits import Way
from simulator.scenario.models import CollectiveChoice
from simulator.scenario.schema import patterns
from simulator.scenario.schema.convert import Definitions, Json
from simulator.scenario.schema.docstrings import summary
from simulator.scenario.schema.topology import when, words

ALGORITHM: Final = "algorithm"
"""Name of the definition of all algorithms."""

_IS_CODE: Final[Json] = {"required": ["algorithm"], "properties": {"algorithm": {"type": "object"}}}
_IS_FILE: Final[Json] = {"properties": {"algorithm": {"required": ["schedule"]}}}
_IS_STEPS: Final[Json] = {"required": ["steps"], "not": {"required": ["algorithm"]}}
_NEEDS_NO_SIZE: Final[Json] = {
    "anyOf": [{"required": ["sizes"]}, {"required": ["kind"], "properties": {"kind": {"const": "barrier"}}}]
}


def collective_block(definitions: Definitions, beside: Mapping[str, Parameter]) -> Json:
    """Keys of a collective, and of what may stand `beside` them in the same block.

    The keys follow from where the steps come from: an algorithm, code, a file, or the block itself.
    """
    asked = {way: _keys(definitions, way, beside) for way in ("catalogue", "code", "file", "steps")}
    shared = ("kind", "algorithm", "steps", "size", *COMMON_OPTIONS, *beside)
    known = asked["catalogue"]
    properties = {name: known[name] for name in shared}
    properties["algorithm"] = {"description": known["algorithm"]["description"]}
    properties["steps"] = {"description": known["steps"]["description"], **_steps()}
    return {
        "description": summary(CollectiveChoice),
        "type": "object",
        "properties": properties,
        "required": ["kind"],
        "allOf": [
            {"if": {"not": _NEEDS_NO_SIZE}, "then": {"required": ["size"]}},
            {"not": {"required": ["size", "sizes"]}},
            {"not": {"required": ["algorithm", "steps"]}},
            {
                "if": _IS_CODE,
                "then": {
                    "if": _IS_FILE,
                    "then": _of_file(asked["file"]),
                    "else": _own(asked["code"], properties),
                },
                "else": {
                    "if": _IS_STEPS,
                    "then": _own(asked["steps"], properties),
                    "else": _by_name(definitions, properties),
                },
            },
        ],
    }


def _keys(definitions: Definitions, way: Way, beside: Mapping[str, Parameter]) -> dict[str, Json]:
    """Keys by the loader's own schema."""
    keys, _ = collective_keys(Asked(None, way, needs_size=False))
    found: dict[str, Json] = definitions.block({**beside, **keys})["properties"]
    return found


def _of_file(keys: Mapping[str, Json]) -> Json:
    """Keys where a file says the rest."""
    return {
        "properties": {**dict.fromkeys(keys, True), "algorithm": keys["algorithm"]},
        "additionalProperties": False,
    }


def _own(keys: Mapping[str, Json], shared: Mapping[str, Json]) -> Json:
    """Keys where the steps are the scenario's own; blocks only where the collective has none by rank."""
    by_rank = [kind for kind, shape in KINDS.items() if shape.by_rank]
    properties: Json = {name: True if name in shared else key for name, key in keys.items()}
    if isinstance(keys["algorithm"], dict) and "$ref" in keys["algorithm"]:
        properties["algorithm"] = keys["algorithm"]
    closed = {"properties": properties, "additionalProperties": False}
    return closed | {"allOf": [when("kind", by_rank, {"properties": {"blocks": False}})]}


def _by_name(definitions: Definitions, shared: Mapping[str, Json]) -> Json:
    """An algorithm of the catalogue: one that does the collective, with the options that it takes."""
    known = {name: algorithm.summary for name, algorithm in ALGORITHMS.items()}
    by_kind = [when("kind", [kind], _one_of({name: known[name] for name in able(kind)})) for kind in KINDS]
    unknown_kind = {"if": {"not": {"properties": {"kind": {"enum": list(KINDS)}}, "required": ["kind"]}}}
    options = [when("algorithm", [name], _closed(definitions, name, shared)) for name in ALGORITHMS]
    any_name = definitions.refer(ALGORITHM, lambda: words({}, known))
    anything = {"properties": {"algorithm": any_name}}
    # of an unknown algorithm nothing can be said of the other keys
    return {"required": ["algorithm"], "allOf": [*by_kind, {**unknown_kind, "then": anything}, *options]}


def _one_of(known: Mapping[str, str]) -> Json:
    return {"properties": {"algorithm": words({}, known)}}


def _closed(definitions: Definitions, name: str, shared: Mapping[str, Json]) -> Json:
    options: Json = definitions.block(options_of(name))["properties"]
    return {"properties": dict.fromkeys(shared, True) | options, "additionalProperties": False}


def _steps() -> Json:
    """Steps that are written out."""
    transfers = {
        "type": "object",
        "propertyNames": {"pattern": patterns.PAIR},
        "additionalProperties": {"type": "string", "pattern": patterns.MOVED},
    }
    return {
        "type": "array",
        "items": {"if": {"type": "array"}, "then": {"items": transfers}, "else": transfers},
        "examples": [[{"0 -> 1": "reduce all"}, {"1 -> 0": "copy all"}]],
    }
