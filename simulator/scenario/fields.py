"""Annotations turned into pydantic schemas: the signature of a builder is its YAML form.

The schemas are built in pydantic-core's own language rather than as model classes:
that keeps pydantic's class machinery (0.1 s) out of every start, lets a field have any
name, and gives back just what was written, so that defaults stay with the builders.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from functools import partial
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from simulator.scenario import values
from simulator.scenario.errors import one_of
from topologies.errors import CollsimError
from topologies.quantities import Count, Quantity

# a union adds its tag to the place of an error; no key that a person writes can hold this
TAG = "\0"

PARAMETER, MADE_BY, SHORT = "parameter", "made_by", "short"
"""Under which names a schema's metadata say what validation does not need, but an explanation does."""


@dataclass(frozen=True, slots=True)
class Short:
    """Marks a block that may be written as the value of its one field `name`."""

    name: str


@dataclass(frozen=True, slots=True)
class Words:
    """Marks a text that is one of several words."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A key of a block: what it may be, an annotation or its schema, and whether it must be given.

    Whose it is, by which name and with what default makes no difference to what may be written: it is there
    for whoever explains the key.
    """

    annotation: Any
    required: bool
    of: Callable[..., Any] | None = field(default=None, repr=False, compare=False)
    name: str = field(default="", repr=False, compare=False)
    default: Any = field(default=None, repr=False, compare=False)

    def taking(self, annotation: Any, *, required: bool | None = None) -> Parameter:
        """The same key, of which something else may be written."""
        return replace(self, annotation=annotation, required=self.required if required is None else required)


def parameters_of(target: Callable[..., Any]) -> dict[str, Parameter]:
    """Read the parameters of a function or the fields of a dataclass.

    Examples
    --------
    >>> def ring(ranks: int, direction: str = "both") -> None: ...
    >>> list(parameters_of(ring).values())[1]
    Parameter(annotation=<class 'str'>, required=False)
    """
    hints = get_type_hints(target, include_extras=True)
    return {
        name: Parameter(
            hints[name], parameter.default is inspect.Parameter.empty, target, name, parameter.default
        )
        for name, parameter in inspect.signature(target).parameters.items()
    }


def schema_of(annotation: Any) -> CoreSchema:
    """Build the schema of anything that a parameter may be annotated with; a schema is its own.

    Raises
    ------
    TypeError
        If the annotation has no YAML form: a mistake in the code, not in a scenario.
    """
    if isinstance(annotation, dict):
        return annotation
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _marked(arguments[0], arguments[1:])
    if origin in (Union, UnionType):
        return _union([member for member in arguments if member is not NoneType])
    if origin is Literal:
        return _plain(partial(values.word, arguments))
    if is_dataclass(annotation) and isinstance(annotation, type):
        return block_schema(parameters_of(annotation), annotation)
    if origin is Sequence or (origin in (tuple, list) and arguments[-1:] in ((...,), arguments)):
        return _sequence(arguments[0])
    if origin in (Mapping, dict):
        return _mapping(arguments[0], arguments[1])
    if annotation is Any:
        return core_schema.any_schema()
    if annotation in _SCALARS:
        return _plain(_SCALARS[annotation])
    raise TypeError(f"no YAML form for {annotation!r}")


def block_schema(
    parameters: Mapping[str, Parameter | CoreSchema],
    make: Callable[..., Any] | None = None,
    *,
    any_keys: bool = False,
) -> CoreSchema:
    """Build the schema of a mapping with fixed keys.

    Parameters
    ----------
    parameters : mapping of str to Parameter or schema
        The keys; one given as a schema is required.
    make : callable, optional
        Called with what was written, by keyword; without it a dict comes out.
    any_keys : bool
        Let other keys pass, whatever they hold.
    """
    keys = tuple(parameters)
    needed = tuple(
        name for name, entry in parameters.items() if not isinstance(entry, Parameter) or entry.required
    )
    fields = {
        name: core_schema.typed_dict_field(
            schema_of(entry.annotation), required=entry.required, metadata={PARAMETER: entry}
        )
        if isinstance(entry, Parameter)
        else core_schema.typed_dict_field(entry, required=True)
        for name, entry in parameters.items()
    }
    block = core_schema.typed_dict_schema(
        fields,
        extra_behavior="allow",
        extras_schema=core_schema.any_schema() if any_keys else _plain(partial(_unknown_key, keys)),
    )
    schema = core_schema.no_info_before_validator_function(
        partial(_require, dict, _block_words(needed or keys)), block
    )
    if make is None:
        return schema
    return core_schema.no_info_after_validator_function(
        partial(_make, make), schema, metadata={MADE_BY: make}
    )


def takes_list(annotation: Any) -> bool:
    """Say whether a list may be written for a parameter.

    Examples
    --------
    >>> takes_list(Sequence[int] | None), takes_list(str)
    (True, False)
    """
    if get_origin(annotation) in (Union, UnionType):
        return any(map(takes_list, get_args(annotation)))
    return list in _shapes(annotation)


def _plain(function: Callable[[Any], Any]) -> CoreSchema:
    return core_schema.no_info_plain_validator_function(function)


def _marked(annotation: Any, marks: tuple[Any, ...]) -> CoreSchema:
    for mark in marks:
        if isinstance(mark, Quantity):
            return _plain(partial(values.quantity, mark))
        if isinstance(mark, Words):
            return _plain(partial(values.word, mark.words))
        if isinstance(mark, Short):
            return core_schema.no_info_before_validator_function(
                partial(_lengthen, mark), schema_of(annotation), metadata={SHORT: mark}
            )
    return schema_of(annotation)


def _sequence(item: Any) -> CoreSchema:
    items = core_schema.list_schema(schema_of(item), strict=True)
    schema = core_schema.no_info_before_validator_function(partial(_require, list, "a list"), items)
    return core_schema.no_info_after_validator_function(tuple, schema)


def _mapping(key: Any, value: Any) -> CoreSchema:
    entries = core_schema.dict_schema(schema_of(key), schema_of(value))
    return core_schema.no_info_before_validator_function(partial(_require, dict, "a mapping"), entries)


def _union(members: Sequence[Any]) -> CoreSchema:
    """Choose the member by the shape of what was written, so that messages stay short."""
    if len(members) == 1:
        return schema_of(members[0])
    tags = {f"{TAG}{i}": member for i, member in enumerate(members)}
    words = {tag: _words_of(member) for tag, member in tags.items()}
    # a text is taken for one of the words, but a block may be what was meant
    return core_schema.tagged_union_schema(
        {
            tag: _plain(partial(values.word, get_args(member), also=[words[t] for t in tags if t != tag]))
            if get_origin(member) is Literal
            else schema_of(member)
            for tag, member in tags.items()
        },
        lambda value: _member(tags, value),
        custom_error_type="expected",
        custom_error_message="{what}",
        custom_error_context={"what": one_of(words.values()), "hint": ""},
    )


def _member(tags: Mapping[str, Any], value: object) -> str | None:
    fitting = [tag for tag, member in tags.items() if type(value) in _shapes(member)]
    if isinstance(value, dict) and len(fitting) > 1:
        return max(fitting, key=lambda tag: len(value.keys() & _keys(tags[tag])))
    return fitting[0] if fitting else None


def _shapes(annotation: Any) -> tuple[type, ...]:
    """Give the types of plain values that a member of a union answers for."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        quantity = next((mark for mark in arguments[1:] if isinstance(mark, Quantity)), None)
        if quantity is None or quantity.kind in ("count", "ratio"):
            return _shapes(arguments[0])
        return (str, int, float)
    if origin is Literal:
        return tuple(map(type, arguments))
    if is_dataclass(annotation) or origin in (Mapping, dict):
        return (dict,)
    if origin in (Sequence, tuple, list):
        return (list,)
    return (float, int) if annotation is float else (annotation,)


def _keys(annotation: Any) -> set[str]:
    return (
        set(parameters_of(annotation)) if is_dataclass(annotation) and isinstance(annotation, type) else set()
    )


def _words_of(annotation: Any) -> str:
    """Say in a few words what a member of a union expects."""
    if get_origin(annotation) is Literal:
        return one_of(map(str, get_args(annotation)))
    if is_dataclass(annotation) and isinstance(annotation, type):
        parameters = parameters_of(annotation)
        if [parameter.annotation for parameter in parameters.values()] == [Count]:
            return f"{{{next(iter(parameters))}: 2}}"
        return _block_words(tuple(parameters))
    names = {int: "a whole number", float: "a number", str: "text", bool: "true or false", list: "a list"}
    return names.get(_shapes(annotation)[0], "a mapping")


def _block_words(keys: Sequence[str]) -> str:
    return f"a mapping of {', '.join(keys)}" if len(keys) <= 8 else "a mapping"


def _require(kind: type, what: str, value: object) -> object:
    if not isinstance(value, kind):
        raise values.expected(what)
    return value


def _lengthen(mark: Short, value: object) -> object:
    return value if isinstance(value, dict) else {mark.name: value}


def _make(make: Callable[..., Any], written: dict[str, Any]) -> Any:
    try:
        return make(**written)
    except CollsimError as error:
        raise values.wrong(error.message, error.at) from None


def _unknown_key(keys: Sequence[str], value: object) -> object:
    raise PydanticCustomError("unknown_key", "{keys}", {"keys": keys, "value": value})


_SCALARS: Mapping[Any, Callable[[Any], Any]] = {
    int: values.integer,
    float: values.number,
    bool: values.truth,
    str: values.line,
}
