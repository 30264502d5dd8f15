"""Who is fastest from which size on, among those that a library has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from topologies.errors import CollsimError
from topologies.text import format_bytes

if TYPE_CHECKING:
    from simulator.scenario.compare import Comparison


@dataclass(frozen=True, slots=True)
class Rule:
    """An algorithm from a size on, bytes, until the next rule's.

    Attributes
    ----------
    since : int
        M; 0 in the first rule.
    name : str
        In the catalogue.
    """

    since: int
    name: str


def rules_of(comparison: Comparison, able: Mapping[str, object], library: str) -> tuple[Rule, ...]:
    """The fastest at every size that a library has; of two that tie the one that was ahead before.

    A rule begins at the first size that was compared at which its algorithm is the fastest.

    Parameters
    ----------
    comparison : Comparison
    able : mapping of str
        Algorithms that the library has, by their names in the catalogue.
    library : str
        Its name, for messages.

    Raises
    ------
    CollsimError
        If it has none of those that were compared.
    """
    found: list[Rule] = []
    for index, size in enumerate(comparison.sizes):
        times = _times(comparison, able, index)
        if not times:
            what = f"{library} has none of the algorithms that do this {comparison.scenario.collective.kind}"
            raise CollsimError(f"{what} at {format_bytes(size)}: {', '.join(comparison.times)}")
        least = min(times.values())
        if not found or times.get(found[-1].name) != least:
            name = next(name for name, time in times.items() if time == least)
            found.append(Rule(size if found else 0, name))
    return tuple(found)


def missing_lines(comparison: Comparison, able: Mapping[str, object], library: str) -> list[str]:
    """Where a faster algorithm has no counterpart in the library, and how much longer the nearest takes."""
    lost: dict[str, list[tuple[int, float]]] = {}
    for index, here in enumerate(comparison.winners):
        times = _times(comparison, able, index)
        if here.time is not None and times and not set(here.names) & able.keys():
            lost.setdefault(here.names[0], []).append((here.size, min(times.values()) / max(here.time, 1)))
    return [
        f"{name} is the fastest at {_span([size for size, _ in at])} and {library} has none like it: the "
        f"nearest takes up to {max(ratio for _, ratio in at):.3g} times as long"
        for name, at in lost.items()
    ]


def _times(comparison: Comparison, able: Mapping[str, object], index: int) -> dict[str, int]:
    times = {name: times[index] for name, times in comparison.times.items() if name in able}
    return {name: time for name, time in times.items() if time is not None}


def _span(sizes: Sequence[int]) -> str:
    ends = dict.fromkeys((format_bytes(sizes[0]), format_bytes(sizes[-1])))
    return " to ".join(ends)
