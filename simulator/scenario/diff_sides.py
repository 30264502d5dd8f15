"""The two sides of a difference: what a run came to, run now or read from its result.json."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from simulator.engine.critical_path import PARTS
from simulator.scenario.errors import ScenarioError, ScenarioErrors, printable
from simulator.scenario.load import read_text
from simulator.scenario.result import as_object
from simulator.scenario.result_parts import links_object
from simulator.scenario.run import Result
from simulator.scenario.source import Scalar, dotted

if TYPE_CHECKING:
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
        value = self.result.get(key)
        return value if isinstance(value, int) else None


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
        If it cannot be read, or is no result.
    """
    file = str(path)
    try:
        found = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise ScenarioErrors(
            [ScenarioError(f"no JSON: {error.msg}", file, error.lineno, error.colno)]
        ) from None
    except RecursionError:
        found = None
    wrong = _wrong(found)
    if wrong:
        raise ScenarioErrors([ScenarioError(wrong, file)])
    return Side(file, found, None, every_link=False)


def _wrong(found: Any) -> str | None:
    """Why a JSON value is no result; None where it is one."""
    expected = 'expected the result.json of one run, as "collsim run --out" writes it'
    if isinstance(found, list):
        return f"holds a list; {expected}"
    if not isinstance(found, dict) or not _is_number(found.get("time")):
        return f"is no result; {expected}"
    path = found.get("critical_path")
    if not _are_parts(path):
        return f'has no "critical_path" with all of its parts; {expected}'
    for key, texts, numbers in (
        ("levels", ("name",), ("bytes", "busy")),
        ("links", ("level",), ("bytes", "busy")),
    ):
        rows = found.get(key)
        if not isinstance(rows, list) or not all(_is_row(row, texts, numbers) for row in rows):
            return f'has no "{key}", or wrong ones; {expected}'
    if not all(_are_parts(level.get("critical_path")) for level in found["levels"]):
        return f'has a level without a "critical_path"; {expected}'
    return None


def _is_row(row: Any, texts: tuple[str, ...], numbers: tuple[str, ...]) -> bool:
    return (
        isinstance(row, dict)
        and all(isinstance(row.get(key), str) for key in texts)
        and all(_is_number(row.get(key)) for key in numbers)
    )


def _are_parts(found: Any) -> bool:
    return isinstance(found, dict) and all(_is_number(found.get(part)) for part in PARTS)


def _is_number(value: Any) -> bool:
    # up to what the clock holds, which leaves out infinity and what is not a number
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 2**63


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
        entries: Iterable[tuple[str | int, Any]] = value.items()
    elif isinstance(value, Sequence) and any(is_dataclass(each) for each in value):
        entries = enumerate(value)
    else:
        return {} if value is None else {at: tuple(value) if isinstance(value, list) else value}
    return {path: leaf for key, each in entries for path, leaf in _flat(each, (*at, key)).items()}


def _inside(value: Any) -> dict[str, Any]:
    """Fields of a part of a scenario by the keys that they have in the file."""
    inside = {field.name: getattr(value, field.name) for field in fields(value) if field.name not in UNSAID}
    # what stands beside the others in the file
    for nested in ("parameters", "options"):
        inside |= inside.pop(nested, {})
    if "members" in inside:
        inside["collectives"] = inside.pop("members")
    if "scenario" in inside:
        inside |= _inside(inside.pop("scenario").collective)
    return inside


def _written(source: Source, at: At, flat: Mapping[At, Any]) -> str | None:
    """A value as it stands in the file, or as it is by default."""
    node = source.find(at)
    if isinstance(node, Scalar):
        return node.text
    return None if at not in flat else str(flat[at])
