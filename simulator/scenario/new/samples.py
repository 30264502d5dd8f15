"""A value that may stand at a key, for people to change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from simulator.scenario.fields import MADE_BY, Parameter, Words, parameters_of
from simulator.scenario.models import Limits, Tolerance
from simulator.scenario.schema.convert import default_of
from simulator.scenario.together_models import Background
from simulator.scenario.units import EXAMPLES
from topologies.overrides import Override
from topologies.quantities import Quantity
from topologies.static_routes import StaticRoute

_BY_TYPE: Final[Mapping[Any, str]] = MappingProxyType(
    {
        Override: "{rank: 0, bandwidth: 16 GB/s}",
        StaticRoute: "{src: 0, dst: 1}",
        Background: "{src: 0, dst: 1, size: 1 MiB}",
        Limits: "{at_most: 1.2}",
        Tolerance: "{rel: 1e-9}",
    }
)
"""What annotations alone do not tell: which keys go together, and values that must differ."""


def sample_of(parameter: Parameter) -> str | None:
    """What a key is where it is not given or, of one that is nothing then, an example.

    Returns
    -------
    str or None
        YAML on one line; None where no example can be made of the annotation alone.

    Examples
    --------
    >>> from topologies import ring
    >>> keys = parameters_of(ring)
    >>> [sample_of(keys[name]) for name in ("ranks", "bandwidth", "latency", "direction")]
    ['1', '64 GB/s', '0 s', 'both']
    """
    default = default_of(parameter)
    return sample(parameter.annotation) if default in (None, []) else _written(default)


def words_of(annotation: Any) -> tuple[Any, ...]:
    """The words that may be written; none where it is no matter of words."""
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    if get_origin(annotation) is Annotated:
        marks = [mark for mark in get_args(annotation)[1:] if isinstance(mark, Words)]
        return tuple(marks[0].words) if marks else ()
    members = _members(annotation)
    return words_of(members[0]) if len(members) == 1 and members[0] is not annotation else ()


def sample(annotation: Any) -> str | None:
    """An example of anything that a parameter may be annotated with."""
    if isinstance(annotation, dict):
        make = annotation.get("metadata", {}).get(MADE_BY)
        return None if make is None else _block(parameters_of(make))
    if annotation in _BY_TYPE:
        return _BY_TYPE[annotation]
    if words := words_of(annotation):
        return _written(words[0])
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        quantity = next((mark for mark in arguments[1:] if isinstance(mark, Quantity)), None)
        return sample(arguments[0]) if quantity is None else _quantity(quantity)
    if origin in (Union, UnionType):
        members = _members(annotation)
        # a word is the shortest of what may be written
        return sample(next((member for member in members if words_of(member)), members[0]))
    if is_dataclass(annotation) and isinstance(annotation, type):
        return _block(parameters_of(annotation))
    if origin in (Mapping, dict):
        key, value = map(sample, arguments)
        return None if key is None or value is None else f"{{{key}: {value}}}"
    if origin in (Sequence, tuple, list):
        item = sample(arguments[0])
        return None if item is None else f"[{item}]"
    return {int: "0", float: "1", bool: "true", str: "text"}.get(annotation)


def _members(annotation: Any) -> list[Any]:
    if get_origin(annotation) not in (Union, UnionType):
        return [annotation]
    return [member for member in get_args(annotation) if member is not NoneType]


def _quantity(quantity: Quantity) -> str:
    if quantity.kind == "count":
        return str(quantity.minimum)
    return "1" if quantity.kind == "ratio" else EXAMPLES[quantity.kind]


def _block(keys: Mapping[str, Parameter]) -> str | None:
    """What a block must have, or the first thing that it may have."""
    wanted = [name for name, key in keys.items() if key.required] or list(keys)[:1]
    parts = {name: sample_of(keys[name]) for name in wanted}
    if None in parts.values():
        return None
    return f"{{{', '.join(f'{name}: {text}' for name, text in parts.items())}}}"


def _written(value: Any) -> str:
    """A word, number or list as YAML has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    return str(value)
