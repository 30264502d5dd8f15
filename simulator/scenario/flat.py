"""A result as one row: its fields under the paths that lead to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

LISTED: Final = ("collectives", "background")
"""Lists with as many entries in every row; of others there is no telling, so they are left out."""


def flat(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a result and of what is in it.

    Examples
    --------
    >>> flat({"time": 2.0, "bounds": {"latency": 1.0}, "collectives": [{"time": 2.0}], "links": [{}]})
    {'time': 2.0, 'bounds.latency': 1.0, 'collectives[0].time': 2.0}
    """
    return dict(_flat(fields, ""))


def _flat(value: Any, at: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _flat(inner, f"{at}.{name}" if at else str(name))
    elif not isinstance(value, Sequence) or isinstance(value, str):
        yield at, value
    elif at in LISTED:
        for number, inner in enumerate(value):
            yield from _flat(inner, f"{at}[{number}]")
    elif all(isinstance(word, str) for word in value):
        yield at, ", ".join(value)


def gathered(rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Names of all fields of several rows, in the order in which they first come.

    A field that is nothing in every row where it is no mapping is that mapping's fields.

    Examples
    --------
    >>> gathered([{"cut": None, "time": 1}, {"cut.bytes": 2, "time": 1, "gap": None}])
    ('cut.bytes', 'time', 'gap')
    """
    names: dict[str, None] = {}
    for row in rows:
        _merge(names, list(row))
    blocks = {name[: name.rindex(".")] for name in names if "." in name}
    return tuple(
        name for name in names if name not in blocks or any(row.get(name) is not None for row in rows)
    )


def _merge(names: dict[str, None], more: Sequence[str]) -> None:
    """Add names after those that they follow."""
    if all(name in names for name in more):
        return
    known, places = list(names), {name: number for number, name in enumerate(more)}
    order: list[str] = []
    waiting = [name for name in more if name not in names]
    for name in known:
        if name in places:
            before = [one for one in waiting if places[one] < places[name]]
            order += before
            waiting = [one for one in waiting if one not in before]
        order.append(name)
    names.clear()
    names.update(dict.fromkeys([*order, *waiting]))
