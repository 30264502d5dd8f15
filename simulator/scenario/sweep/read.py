"""Reading a sweep: the block `sweep` of a file, and what is given beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any, Final, NoReturn

from pydantic_core import SchemaValidator, ValidationError

from simulator.scenario.errors import ScenarioError, ScenarioErrors, one_of
from simulator.scenario.fields import Parameter, block_schema
from simulator.scenario.kinds import SWEEP
from simulator.scenario.load import default_name, opened, translated
from simulator.scenario.parse import parse
from simulator.scenario.parts import in_full
from simulator.scenario.source import Block, Node, Scalar, Source, plain, put
from simulator.scenario.sweep.models import How, SweepPlan
from simulator.scenario.sweep.paths import path_of
from simulator.scenario.sweep.points import DRAWN, TYPED, Axis, SweepScenario, is_typed, said_by
from simulator.scenario.sweep.values import choices, node_of
from topologies.errors import CollsimError

if TYPE_CHECKING:
    from simulator.scenario.plan_load import AnyScenario

MOST_POINTS: Final = 100_000

Entries = dict[str | int, tuple[Scalar, Node]]


def read_sweep(
    scenario: AnyScenario | str | os.PathLike[str],
    vary: Mapping[str, Node] | None = None,
    *,
    how: How | None = None,
    seeds: int | Sequence[int] | None = None,
    points: int | None = None,
    origin: str = "vary",
) -> SweepScenario:
    """Read what a file says of a sweep, and what is said beside it.

    Parameters
    ----------
    scenario : Scenario, TogetherScenario, PlanScenario or path
        What is written in its file counts.
    vary : mapping of str to Node
        Values by path of the field; those of the file's fields are replaced, others come after them.
    how, seeds
        As in the block; None leaves it to the file.
    points : int, optional
        Of ranges that do not say how many.
    origin : str
        What `vary` goes by in errors.

    Raises
    ------
    ScenarioErrors
        If the file cannot be read, or its sweep, or what is varied, is wrong. Whether every point is
        right is not looked at, but one must be.
    """
    source, refused = _parsed(scenario)
    _plan(source, refused)
    written = source.find((SWEEP,))
    block = written if isinstance(written, Block) else Block(TYPED, 1, {})
    block = _with_fields(block, vary or {}, how, seeds)
    root = put(source.root, (SWEEP,), block)
    whole = Source(source.file, root, root)
    try:
        # what is given beside the file is held to what a file may say
        plan = _plan(whole, refused)
    except ScenarioErrors as error:
        raise said_by(error, origin) from None
    axes = _axes(source.file, block, points, origin)
    name = source.word(("name",)) or default_name(source)
    found = SweepScenario(
        name=name,
        source=whole,
        base=_without(source),
        refused=refused,
        axes=axes,
        how=plan.how,
        seeds=_seeds(whole, plan.seeds),
        origin=origin,
    )
    _check(found)
    return found


def _parsed(
    scenario: AnyScenario | str | os.PathLike[str],
) -> tuple[Source, tuple[ScenarioError, ...]]:
    if isinstance(scenario, str | os.PathLike):
        return parse(*opened(scenario))
    source = getattr(scenario, "source", None)
    if not isinstance(source, Source):
        raise CollsimError(f"found {type(scenario).__name__}; expected a scenario, or its file")
    return Source(source.file, source.written, source.written), ()


@cache
def _validator() -> SchemaValidator:
    return SchemaValidator(block_schema({SWEEP: Parameter(SweepPlan, required=False)}, any_keys=True))


def _plan(source: Source, refused: tuple[ScenarioError, ...]) -> SweepPlan:
    """What the block says, as far as it can be read without the fields that it names."""
    whole = plain(source.root)
    if not isinstance(whole, dict):
        raise ScenarioErrors([source.error("expected a mapping, with a block sweep")])
    try:
        read: dict[str, SweepPlan] = _validator().validate_python(
            {SWEEP: whole[SWEEP]} if SWEEP in whole else {}
        )
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        raise ScenarioErrors(translated(details, source, refused)) from None
    return read.get(SWEEP, SweepPlan())


def _with_fields(
    block: Block, vary: Mapping[str, Node], how: How | None, seeds: int | Sequence[int] | None
) -> Block:
    """The block with what was given beside it."""
    kept = block.entries.get("vary")
    fields: Entries = dict(kept[1].entries) if kept is not None and isinstance(kept[1], Block) else {}
    for name, node in vary.items():
        fields[name] = (Scalar(TYPED, 1, name, name), node)
    key = _word("vary") if kept is None else kept[0]
    entries: Entries = {**block.entries, "vary": (key, Block(block.line, block.column, fields))}
    for name, value in (("how", how), ("seeds", seeds)):
        if value is not None:
            entries[name] = (_word(name), node_of(value, TYPED))
    return replace(block, entries=entries)


def _word(word: str) -> Scalar:
    return Scalar(TYPED, 1, word, word)


def _axes(file: str, block: Block, points: int | None, origin: str) -> tuple[Axis, ...]:
    """The fields that are varied."""
    fields = block.entries["vary"][1]
    axes: list[Axis] = []
    errors: list[ScenarioError] = []
    used = points is None
    for key, node in fields.entries.values() if isinstance(fields, Block) else ():
        try:
            axes.append(Axis(key.text, path_of(key.text), choices(node, points), key))
        except CollsimError as error:
            place = (file, node.line, node.column) if node.line > 0 else (origin,)
            errors.append(ScenarioError(f"{key.text}: {error.message}", *place))
        used = used or isinstance(node, Scalar)
    if errors:
        raise ScenarioErrors(errors)
    if not used:
        raise CollsimError('points are of a range, as "1KiB..1GiB"')
    return tuple(axes)


def _without(source: Source) -> Source:
    """The scenario without its block `sweep`."""
    root = source.root
    if isinstance(root, Block):
        root = replace(root, entries={step: entry for step, entry in root.entries.items() if step != SWEEP})
    full = in_full(Source(source.file, root, root)).root
    return Source(source.file, full, full)


def _seeds(source: Source, seeds: int | Sequence[int] | None) -> tuple[int, ...] | None:
    if seeds is None:
        return None
    if isinstance(seeds, int) and seeds > MOST_POINTS:
        _refuse(source, f"{seeds:,} seeds; a sweep has at most {MOST_POINTS:,} points", (SWEEP, "seeds"))
    return tuple(range(seeds)) if isinstance(seeds, int) else tuple(dict.fromkeys(seeds))


def _check(found: SweepScenario) -> None:
    """Refuse a sweep of which no point is right, or that is none."""
    at = (SWEEP,)
    if not found.axes and found.seeds is None:
        _refuse(
            found.source, 'nothing is varied: expected "sweep: {vary: {collective.size: 1KiB..1GiB}}"', at
        )
    counts = {axis.name: len(axis.values) for axis in found.axes}
    if found.how == "zip" and len(set(counts.values())) > 1:
        said = ", ".join(f"{name} has {count}" for name, count in counts.items())
        _refuse(
            found.source, f"zip takes the first values together, then the second, ...: {said}", (*at, "how")
        )
    number = max(counts.values(), default=1) if found.how == "zip" else prod(counts.values())
    if number * len(found.seeds or (None,)) > MOST_POINTS:
        _refuse(found.source, f"{number:,} points; a sweep has at most {MOST_POINTS:,}", at)
    if found.seeds is not None and any(axis.at == ("network", "routing", "seed") for axis in found.axes):
        _refuse(found.source, "seeds: network.routing.seed is varied, too", (*at, "seeds"))
    points = found.points()
    if found.seeds is not None and all(point.seed is None for point in points):
        what = f"seeds: nothing in this scenario is random; a network.routing of {one_of(DRAWN)} would be"
        _refuse(found.source, what, (*at, "seeds"))
    first: ScenarioErrors | None = None
    for point in points:
        try:
            found.read(point)
        except ScenarioErrors as error:
            first = first or error
        else:
            return
    if first is not None:
        raise first


def _refuse(source: Source, message: str, at: tuple[str, ...]) -> NoReturn:
    error = source.error(f"sweep: {message}", at, key=True)
    raise CollsimError(message) if is_typed(error) else ScenarioErrors([error])


def fields_of(vary: Mapping[str, Any]) -> dict[str, Node]:
    """Values by field, as Python has them.

    Raises
    ------
    CollsimError
        If some are not what a scenario may say.
    """
    if not isinstance(vary, Mapping):
        raise CollsimError(
            f'found {type(vary).__name__}; expected values by field, as {{"topology.ranks": [8, 16]}}'
        )
    return {str(name): node_of(value, TYPED) for name, value in vary.items()}
