"""The two sides of a difference: what a run came to, run now or read from its result.json."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from simulator.scenario.diff_file import read_result
from simulator.scenario.errors import ScenarioError, ScenarioErrors
from simulator.scenario.models import Code, CollectiveChoice, ScheduleFile
from simulator.scenario.result import as_object
from simulator.scenario.result_parts import links_object
from simulator.scenario.run import Result
from simulator.scenario.source import Scalar, dotted
from topologies.text import printable

if TYPE_CHECKING:
    from simulator.scenario.inline import InlineSteps
    from simulator.scenario.models import Scenario
    from simulator.scenario.source import At, Source
    from simulator.scenario.together_models import TogetherScenario
    from simulator.scenario.together_result import TogetherResult

RESULT: Final = "result.json"

UNSAID: Final = ("name", "source", "expect", "engine", "verify", "symmetry")
"""What a scenario says that makes no difference to the time."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of two runs.

    Attributes
    ----------
    label : str
        Where it is from.
    result : mapping
        The fields of result.json.
    scenario : Scenario, TogetherScenario or None
        None where only the result is known.
    every_link : bool
        Whether the result names all links, not the busiest alone.
    """

    label: str
    result: Mapping[str, Any]
    scenario: Scenario | TogetherScenario | None
    every_link: bool

    @property
    def name(self) -> str:
        """The scenario's name, safe to print."""
        return printable(str(self.result.get("scenario", "")))

    @property
    def is_together(self) -> bool:
        """Whether it is of several collectives."""
        return "collectives" in self.result

    def count(self, key: str) -> int | None:
        """A whole number of the result; None where it has none."""
        value: int | None = self.result.get(key)
        return value


def side_of(label: str, result: Result | TogetherResult) -> Side:
    """A run, with all of its links where it has them."""
    found = as_object(result)
    every_link = not isinstance(result, Result) or result.symmetry is None
    if every_link:
        topology = result.topology
        ends = zip(topology.links.src.tolist(), topology.links.dst.tolist(), strict=True)
        named = [(topology.nodes[src], topology.nodes[dst], i) for i, (src, dst) in enumerate(ends)]
        found["links"] = links_object(topology, result.link_use, named)
    # as it would be read from a file
    return Side(label, json.loads(json.dumps(found)), result.scenario, every_link)


def result_file(path: Path) -> Path | None:
    """The result.json that a path means; None where it means a scenario.

    Raises
    ------
    ScenarioErrors
        If a folder holds several.
    """
    if path.suffix == ".json":
        return path
    if not path.is_dir():
        return None
    if (path / RESULT).is_file():
        return path / RESULT
    inside = sorted(file.parent.name for file in path.glob(f"*/{RESULT}"))
    if inside:
        message = f"holds results of several scenarios; name one, e.g. {inside[0]}"
        raise ScenarioErrors([ScenarioError(message, str(path))])
    return None


def read_side(path: Path) -> Side:
    """Read a result.json.

    Raises
    ------
    ScenarioErrors
        If it cannot be read, or is no result; names the place in the file.
    """
    return Side(str(path), read_result(path), None, every_link=False)


@dataclass(frozen=True, slots=True)
class Setting:
    """What one scenario says otherwise than the other; None where it says nothing."""

    key: str
    before: str | None
    after: str | None


def settings(before: Side, after: Side) -> tuple[Setting, ...]:
    """What differs in two scenarios, or in what two results tell of theirs."""
    if before.scenario is None or after.scenario is None:
        told = ("model", "sync", "ranks", "collective", "algorithm", "fallback", "size")
        pairs = ((key, before.result.get(key), after.result.get(key)) for key in told)
        return tuple(
            Setting(key, *(None if value is None else str(value) for value in (a, b)))
            for key, a, b in pairs
            if a != b
        )
    one, other = _flat(before.scenario), _flat(after.scenario)
    found: list[Setting] = []
    for at in dict.fromkeys((*one, *other)):
        if one.get(at) != other.get(at):
            a, b = (
                _written(side.scenario.source, at, flat)
                for side, flat in ((before, one), (after, other))
                if side.scenario is not None
            )
            found.append(Setting(dotted(at), a, b))
    return tuple(found)


def _flat(value: Any, at: At = ()) -> dict[At, Any]:
    """Every value of a scenario under its path in the file."""
    if is_dataclass(value) and not isinstance(value, type):
        value = _inside(value)
    if isinstance(value, Mapping):
        entries: Iterable[tuple[str | int | At, Any]] = value.items()
    elif isinstance(value, Sequence) and any(is_dataclass(each) for each in value):
        entries = enumerate(value)
    else:
        return {} if value is None else {at: tuple(value) if isinstance(value, list) else value}
    return {
        path: leaf
        for key, each in entries
        for path, leaf in _flat(each, (*at, *(key if isinstance(key, tuple) else (key,)))).items()
    }


def _inside(value: Any) -> dict[str | At, Any]:
    """Fields of a part of a scenario by the keys, or paths, that they have in the file."""
    inside: dict[str | At, Any]
    inside = {field.name: getattr(value, field.name) for field in fields(value) if field.name not in UNSAID}
    # what stands beside the others in the file
    for nested in ("parameters",) if isinstance(value, Code | ScheduleFile) else ("parameters", "options"):
        inside |= inside.pop(nested, {})
    if isinstance(value, CollectiveChoice):
        inside |= _own(inside.pop("own"))
    if "members" in inside:
        inside["collectives"] = inside.pop("members")
    if "scenario" in inside:
        inside |= _inside(inside.pop("scenario").collective)
    return inside


def _own(own: Code | ScheduleFile | InlineSteps | None) -> dict[str | At, Any]:
    """What says how a collective is done: the name of an algorithm, code, or steps."""
    if own is None:
        return {}
    if isinstance(own, Code | ScheduleFile):
        return {"algorithm": own}
    # paths begin at the file's block `collective`
    moved: dict[str | At, Any] = {
        one.at[1:]: (one.src, one.dst, one.mode, one.chunks) for step in own for one in step
    }
    return {"algorithm": None, **moved}


def _written(source: Source, at: At, flat: Mapping[At, Any]) -> str | None:
    """A value as it stands in the file, or as it is by default."""
    node = source.find(at)
    if isinstance(node, Scalar):
        return node.text
    return None if at not in flat else str(flat[at])
