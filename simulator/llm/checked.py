"""Fields held against their annotations: what a file cannot say, a program cannot either."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from numbers import Integral, Real
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from simulator.llm.errors import ModelError
from topologies.quantities import Quantity


def check_fields(checked: Any) -> None:
    """Refuse a field of a dataclass that is not what its annotation says.

    Raises
    ------
    ModelError
        At the first such field.

    Examples
    --------
    >>> from simulator.llm.plan import Batch
    >>> Batch(total=0)
    Traceback (most recent call last):
        ...
    simulator.llm.errors.ModelError: expected a whole number, 1 or more, found 0
    """
    for name, annotation in _annotations(type(checked)).items():
        value = getattr(checked, name)
        wanted = _unmet(annotation, value)
        if wanted:
            raise ModelError(f"expected {wanted}, found {value!r}"[:200], (name,))


_KNOWN: dict[type, Mapping[str, Any]] = {}


def _annotations(kind: type[Any]) -> Mapping[str, Any]:
    if kind not in _KNOWN:
        hints = get_type_hints(kind, include_extras=True)
        _KNOWN[kind] = {field.name: hints[field.name] for field in fields(kind) if field.init}
    return _KNOWN[kind]


def _unmet(annotation: Any, value: object) -> str | None:
    """What was expected of a value; None if it is that."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if NoneType in arguments:
        return None if value is None else _unmet(arguments[0], value)
    if origin is Annotated:
        quantity = next(mark for mark in arguments[1:] if isinstance(mark, Quantity))
        return _unmet_quantity(quantity, value)
    if origin is Literal:
        words = ", ".join(map(str, arguments))
        known = any(value == one and type(value) is type(one) for one in arguments)
        return None if known else f"one of {words}"
    if origin is Sequence:
        if isinstance(value, str) or not isinstance(value, Sequence):
            return "a list"
        return next((wanted for item in value if (wanted := _unmet(arguments[0], item))), None)
    if annotation is bool:
        return None if isinstance(value, bool) else "True or False"
    if is_dataclass(annotation) and isinstance(annotation, type):
        return None if isinstance(value, annotation) else f"a {annotation.__name__}"
    return None


def _unmet_quantity(quantity: Quantity, value: object) -> str | None:
    whole = quantity.kind in ("count", "bytes")
    fits = isinstance(value, Integral if whole else Real) and not isinstance(value, bool)
    if whole:
        least = quantity.minimum
        ok = fits and value >= least  # type: ignore[operator]
        return None if ok else f"a whole number, {least} or more"
    return None if fits and 0 < value < float("inf") else "a number above 0"  # type: ignore[operator]
