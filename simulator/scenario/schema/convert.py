"""Schemas that read a scenario, turned into JSON Schema that tells an editor of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Final, cast, get_args

from pydantic_core import CoreSchema

from simulator.scenario import units, values
from simulator.scenario.fields import MADE_BY, PARAMETER, SHORT, Parameter, Short, block_schema
from simulator.scenario.schema import patterns
from simulator.scenario.schema.docstrings import about, summary
from topologies.quantities import Quantity

Json = dict[str, Any]


class Definitions:
    """Blocks that several places refer to, under the names of what is made of them.

    Attributes
    ----------
    blocks : dict of str to dict
    """

    def __init__(self) -> None:
        self.blocks: dict[str, Json] = {}

    def refer(self, name: str, make: Callable[[], Json]) -> Json:
        """A reference to a block, which is made at the first one."""
        if name not in self.blocks:
            self.blocks[name] = {}
            self.blocks[name] = make()
        return {"$ref": f"#/$defs/{name}"}

    def resolved(self, schema: Json) -> Json:
        """What a reference refers to; a schema that is none itself."""
        return self.blocks[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema

    def convert(self, schema: CoreSchema) -> Json:
        """JSON Schema of what a schema reads.

        Raises
        ------
        TypeError
            If it is of a kind that no file has: a mistake in the code.
        """
        found = cast("Json", schema)
        metadata = found.get("metadata", {})
        match found["type"]:
            case "any":
                return {}
            case "typed-dict":
                return self._block(found["fields"], open_ended=found["extras_schema"]["type"] == "any")
            case "list":
                return {"type": "array", "items": self.convert(found["items_schema"])}
            case "dict":
                return self._mapping(found["keys_schema"], found["values_schema"])
            case "tagged-union":
                return {"anyOf": [self.convert(choice) for choice in found["choices"].values()]}
            case "function-before" if SHORT in metadata:
                return self._short(metadata[SHORT], found["schema"])
            case "function-after" if isinstance(metadata.get(MADE_BY), type):
                return self.refer(metadata[MADE_BY].__name__, lambda: self._made(metadata[MADE_BY], found))
            case "function-before" | "function-after":
                return self.convert(found["schema"])
            case "function-plain":
                return self._value(found["function"]["function"])
        raise TypeError(f"no JSON Schema for {found['type']!r}")

    def block(self, keys: Mapping[str, Parameter | CoreSchema]) -> Json:
        """JSON Schema of a mapping with fixed keys."""
        return self.convert(block_schema(keys))

    def _made(self, make: type, found: Json) -> Json:
        said = summary(make)
        return {**({"description": said} if said else {}), **self.convert(found["schema"])}

    def _block(self, fields: Mapping[str, Json], *, open_ended: bool) -> Json:
        properties = {name: self._key(field) for name, field in fields.items()}
        block: Json = {"type": "object", "properties": properties}
        required = [name for name, field in fields.items() if field["required"]]
        if required:
            block["required"] = required
        return block if open_ended else {**block, "additionalProperties": False}

    def _key(self, field: Json) -> Json:
        """A key with what is said of it, and its default."""
        schema = self.convert(field["schema"])
        parameter = field.get("metadata", {}).get(PARAMETER)
        if parameter is None:
            return schema
        said, default = about(parameter), default_of(parameter)
        if said:
            schema = {"description": said, **schema}
        return schema if default is None else {**schema, "default": default}

    def _mapping(self, key: CoreSchema, value: CoreSchema) -> Json:
        names = self.convert(key)
        mapping: Json = {"type": "object", "additionalProperties": self.convert(value)}
        if names.get("type") == "integer":
            return {**mapping, "propertyNames": {"pattern": patterns.WHOLE}}
        return {**mapping, "propertyNames": names} if names else mapping

    def _value(self, reader: Any) -> Json:
        """JSON Schema of what a reader of single values reads; the longer ones are told once."""
        function, arguments = (reader.func, reader.args) if isinstance(reader, partial) else (reader, ())
        value = _READERS[function](*arguments)
        if "pattern" not in value:
            return value
        return self.refer(arguments[0].kind if arguments else "text", lambda: value)

    def _short(self, mark: Short, long: CoreSchema) -> Json:
        """A block, or the value of its one field."""
        block = self.convert(long)
        short = self.resolved(block)["properties"][mark.name]
        return {"anyOf": [short, block]}


def default_of(parameter: Parameter) -> Any:
    """What a key is where it is not given, as it would be written; None where that cannot be.

    Examples
    --------
    >>> from simulator.scenario.fields import parameters_of
    >>> from topologies import ring
    >>> keys = parameters_of(ring)
    >>> default_of(keys["latency"]), default_of(keys["direction"])
    ('0 s', 'both')
    """
    value = parameter.default
    measure = measure_of(parameter.annotation)
    if measure is not None and measure.kind in BASE and type(value) in (int, float):
        return f"{value:g} {BASE[measure.kind]}"
    if type(value) in (bool, int, str) and value != "":
        return value
    if type(value) is float:
        return int(value) if value.is_integer() else value
    if isinstance(value, tuple) and all(type(item) in (bool, int, str) for item in value):
        return list(value)
    return None


def measure_of(annotation: Any) -> Quantity | None:
    """What a number measures, or one of several things that may be written; None for anything else."""
    if isinstance(annotation, Quantity):
        return annotation
    return next(filter(None, map(measure_of, get_args(annotation))), None)


def _words(words: Sequence[Any]) -> Json:
    return {"enum": list(words)}


def _quantity(measure: Quantity) -> Json:
    if measure.kind == "count":
        return {"type": "integer", "minimum": measure.minimum, "maximum": values.LARGEST}
    if measure.kind == "ratio":
        return {"type": "number", "exclusiveMinimum": 0, "maximum": values.LARGEST}
    example = units.EXAMPLES[measure.kind]
    return {
        "type": "string",
        "pattern": patterns.quantity(measure.kind),
        "maxLength": units.MAX_LENGTH,
        "examples": [example],
        # what editors show in the place of the pattern
        "errorMessage": f'expected {units.NAMES[measure.kind]} with its unit, e.g. "{example}"',
    }


def _integer() -> Json:
    return {"type": "integer", "minimum": -values.LARGEST, "maximum": values.LARGEST}


def _number() -> Json:
    return {"type": "number", "minimum": -values.LARGEST, "maximum": values.LARGEST}


def _truth() -> Json:
    return {"type": "boolean"}


def _line() -> Json:
    return {"type": "string", "pattern": patterns.LINE, "maxLength": units.MAX_LENGTH}


BASE: Final[Mapping[str, str]] = MappingProxyType(
    {"time": "s", "bytes": "B", "bandwidth": "B/s", "compute": "FLOP/s"}
)
"""The unit in which a quantity is counted inside the code."""

_READERS: Final[Mapping[Any, Callable[..., Json]]] = MappingProxyType(
    {
        values.word: _words,
        values.quantity: _quantity,
        values.integer: _integer,
        values.number: _number,
        values.truth: _truth,
        values.line: _line,
    }
)
