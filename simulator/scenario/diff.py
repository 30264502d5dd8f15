"""Why one run takes longer than another: what differs, and which part of the path it went into."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from simulator.engine.path_parts import PARTS
from simulator.scenario.answer import Answer
from simulator.scenario.diff_file import COUNTS
from simulator.scenario.diff_sides import Setting, Side, settings
from topologies.clock import femtoseconds
from topologies.errors import CollsimError

MOST_LINKS: Final = 10
"""Links that a difference names."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A figure of both runs; None where one has none."""

    before: int | None
    after: int | None

    @property
    def grown(self) -> int:
        """By how much it is more; what is not there is nothing."""
        return (self.after or 0) - (self.before or 0)


@dataclass(frozen=True, slots=True)
class LevelChange:
    """Links of a level: bytes, busy time in fs, and the parts of the path on them in fs."""

    name: str
    bytes: Pair
    busy: Pair
    parts: Mapping[str, Pair]


@dataclass(frozen=True, slots=True)
class LinkChange:
    """A link by its ends, and which of parallel ones it is: its bytes, and its busy time in fs."""

    src: str
    dst: str
    twin: int
    level: str
    bytes: Pair
    busy: Pair

    @property
    def name(self) -> str:
        """Name for people, with the number of one of parallel links."""
        return f"{self.src}->{self.dst}" + (f"#{self.twin}" if self.twin else "")


@dataclass(frozen=True, slots=True, repr=False)
class Difference(Answer):
    """Two runs beside each other.

    Attributes
    ----------
    before, after : Side
    settings : tuple of Setting
        What differs in the two scenarios.
    time : Pair
        fs.
    parts : mapping of str to Pair
        fs of each part of the critical path; they sum to the time.
    levels : tuple of LevelChange
    ranks : mapping of str to Pair
        fs of each part that are spent on no link; with those of the levels they sum to the parts.
    links : tuple of LinkChange
        Those whose busy time changed most.
    counts : mapping of str to Pair
        Of the schedules, where both are of one collective.
    """

    before: Side
    after: Side
    settings: tuple[Setting, ...]
    time: Pair
    parts: Mapping[str, Pair]
    levels: tuple[LevelChange, ...]
    ranks: Mapping[str, Pair]
    links: tuple[LinkChange, ...]
    counts: Mapping[str, Pair]

    @property
    def headline(self) -> str:
        """What it is of, and what came of it."""
        return f"{self.before.name} and {self.after.name}"

    @property
    def every_link(self) -> bool:
        """Whether both sides name all of their links."""
        return self.before.every_link and self.after.every_link


def difference(before: Side, after: Side) -> Difference:
    """Put two runs beside each other.

    Raises
    ------
    CollsimError
        If one is of a collective, and the other of several.
    """
    if before.is_together != after.is_together:
        several, one = (before, after) if before.is_together else (after, before)
        raise CollsimError(
            f"{several.label} is of several collectives and {one.label} of one; they cannot be compared"
        )
    parts = _parts(before.result["critical_path"], after.result["critical_path"])
    levels = tuple(_levels(before, after))
    return Difference(
        before,
        after,
        settings(before, after),
        _sum(parts.values()),
        parts,
        levels,
        {part: _less(pair, _sum(level.parts[part] for level in levels)) for part, pair in parts.items()},
        _links(before, after),
        {key: Pair(before.count(key), after.count(key)) for key in COUNTS if not before.is_together},
    )


def _parts(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, Pair]:
    return {part: Pair(femtoseconds(before[part]), femtoseconds(after[part])) for part in PARTS}


def _sum(pairs: Iterable[Pair]) -> Pair:
    some = list(pairs)
    return Pair(sum(pair.before or 0 for pair in some), sum(pair.after or 0 for pair in some))


def _levels(before: Side, after: Side) -> Iterator[LevelChange]:
    one, other = ({level["name"]: level for level in side.result["levels"]} for side in (before, after))
    nothing = dict.fromkeys(PARTS, 0.0)
    for name in dict.fromkeys((*one, *other)):
        a, b = one.get(name), other.get(name)
        spent = _parts(*((side or {}).get("critical_path", nothing) for side in (a, b)))
        yield LevelChange(name, _figure(a, b, "bytes"), _time(a, b), spent)


def _less(pair: Pair, taken: Pair) -> Pair:
    return Pair(
        *((of or 0) - (off or 0) for of, off in ((pair.before, taken.before), (pair.after, taken.after)))
    )


def _figure(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None, key: str) -> Pair:
    return Pair(*(None if side is None else int(side[key]) for side in (before, after)))


def _time(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> Pair:
    return Pair(*(None if side is None else femtoseconds(side["busy"]) for side in (before, after)))


def _links(before: Side, after: Side) -> tuple[LinkChange, ...]:
    """Links that changed, those first whose busy time changed most."""
    one, other = _by_ends(before), _by_ends(after)
    found = []
    for ends in dict.fromkeys((*one, *other)):
        a, b = one.get(ends), other.get(ends)
        level = (a or b or {})["level"]
        found.append(LinkChange(*ends, level, _figure(a, b, "bytes"), _time(a, b)))
    some = [link for link in found if link.busy.grown or link.bytes.grown]
    return tuple(sorted(some, key=lambda link: -abs(link.busy.grown))[:MOST_LINKS])


def _by_ends(side: Side) -> dict[tuple[str, str, int], Mapping[str, Any]]:
    """Links by the names of their ends, and which of parallel ones they are."""
    links: dict[tuple[str, str, int], Mapping[str, Any]] = {}
    for link in side.result["links"]:
        src, dst = (
            end if isinstance(end, str) else json.dumps(end) for end in (link.get("src"), link.get("dst"))
        )
        links[src, dst, link["twin"]] = link
    return links
