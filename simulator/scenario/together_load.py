"""Reading a scenario of several collectives: each entry of the list is read as one by itself is."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final

from pydantic_core import CoreSchema, SchemaValidator, ValidationError

from simulator.scenario.choice import Asked, asked_of, collective_keys
from simulator.scenario.entries import entry_source, in_list
from simulator.scenario.errors import ScenarioError, ScenarioErrors
from simulator.scenario.fields import Parameter, block_schema, parameters_of
from simulator.scenario.inline import read_steps
from simulator.scenario.kinds import refuse_other
from simulator.scenario.load import (
    default_name,
    known_topology,
    opened,
    topology_schema,
    translated,
    unplaced,
    validated,
)
from simulator.scenario.misfits import misfits
from simulator.scenario.models import CollectiveChoice, Scenario
from simulator.scenario.order import misplaced
from simulator.scenario.parse import parse
from simulator.scenario.presets import with_preset
from simulator.scenario.source import Items, Source, plain
from simulator.scenario.together_models import Member, Own, Span, TogetherScenario

Refused = tuple[ScenarioError, ...]

SHARED: Final = ("topology", "reduction", "network", "engine", "verify")
"""What is the same for each of them."""

_PLACED: Final = '"collectives", whose "ranks" say who plays whom'
"""Who says which rank is which."""


def load_together(path: str | os.PathLike[str]) -> TogetherScenario:
    """Read a scenario of several collectives from a file.

    Raises
    ------
    ScenarioErrors
        With everything that is wrong in it, or why it cannot be read.
    """
    return loads_together(*opened(path))


def loads_together(text: str, name: str = "scenario") -> TogetherScenario:
    """Read a scenario of several collectives from its text.

    Raises
    ------
    ScenarioErrors
        With everything that is wrong in it.

    Examples
    --------
    >>> text = '''topology: {kind: ring, ranks: 4, bandwidth: 64 GB/s}
    ... collectives:
    ...   - {name: first, kind: allgather, algorithm: ring, size: 1 MiB}
    ...   - {kind: allgather, algorithm: ring, size: 1 MiB, ranks: [0, 2], after: first}'''
    >>> [(one.name, one.ranks, one.after) for one in loads_together(text).members]
    [('first', None, ()), ('allgather-1', (0, 2), ('first',))]
    """
    return read_together(*parse(text, name))


def read_together(source: Source, refused: Refused) -> TogetherScenario:
    """Read several collectives from what was parsed, and what was refused of it; as `loads_together`."""
    refuse_other(source, "together")
    source, unfit = with_preset(source)
    refused += unfit
    values, wrong = validated(_validator(known_topology(source)), source, refused)
    entries, misread = _entries(source, refused)
    errors = [*refused, *unplaced(source, _PLACED), *wrong, *misread]
    if errors:
        raise ScenarioErrors(errors)
    del values["collectives"]
    whole = {"name": default_name(source), **values}
    members = tuple(_member(i, source, *entry, whole) for i, entry in enumerate(entries))
    errors += misplaced(source, members)
    if errors:
        raise ScenarioErrors(errors)
    return TogetherScenario(**whole, members=members, source=source)


@cache
def _validator(topology: str | None) -> SchemaValidator:
    """Build the validator of all but the single collectives."""
    return SchemaValidator(block_schema(together_keys(topology)))


def together_keys(topology: str | None) -> dict[str, Parameter | CoreSchema]:
    """Keys of a file of several collectives on one kind of topology."""
    known = parameters_of(TogetherScenario)
    del known["source"]
    members = known.pop("members")
    return {
        **known,
        "name": known["name"].taking(str, required=False),
        "topology": known["topology"].taking(topology_schema(topology)),
        "collectives": members.taking(Sequence[Any]),
    }


def _entries(
    source: Source, refused: Refused
) -> tuple[list[tuple[CollectiveChoice, Own]], list[ScenarioError]]:
    """What every entry says, and what is wrong with any; what is no list has been refused."""
    node = source.find(("collectives",))
    if not isinstance(node, Items):
        return [], []
    if not node.items:
        return [], [source.error("collectives: found an empty list, expected a collective", ("collectives",))]
    entries: list[tuple[CollectiveChoice, Own]] = []
    errors: list[ScenarioError] = []
    for i in range(len(node.items)):
        try:
            entries.append(_entry(entry_source(source, i), refused))
        except ScenarioErrors as error:
            errors += in_list(error, i).errors
    return entries, errors


def _entry(source: Source, refused: Refused) -> tuple[CollectiveChoice, Own]:
    """What an entry says, in the source in which it is the only collective."""
    errors = [*misfits(source)]
    asked = asked_of(source)
    read: tuple[CollectiveChoice, Own] | None = None
    try:
        written = plain(source.root)["collective"]
        read = _entry_validator(asked).validate_python({"collective": written})["collective"]
    except ValidationError as error:
        errors += translated(error.errors(include_url=False, include_input=False), source, refused)
    if asked.way == "steps":
        steps, unread = read_steps(source)
        errors += unread
        read = read and (replace(read[0], own=steps), read[1])
    if read is None or errors:
        raise ScenarioErrors(errors)
    errors += _group_errors(source, read[1])
    if errors:
        raise ScenarioErrors(errors)
    return read


@cache
def _entry_validator(asked: Asked) -> SchemaValidator:
    keys, make = collective_keys(asked)
    own = parameters_of(Own)

    def split(**written: Any) -> tuple[CollectiveChoice, Own]:
        beside = {key: written.pop(key) for key in own if key in written}
        return make(**written), Own(**beside)

    return SchemaValidator(block_schema({"collective": block_schema({**own, **keys}, split)}))


def _group_errors(source: Source, own: Own) -> Iterator[ScenarioError]:
    """A group of nobody, or of one rank twice."""
    at = ("collective", "ranks")
    if own.ranks is None or isinstance(own.ranks, Span):
        return
    if not own.ranks:
        yield source.error("collective.ranks: found an empty list, expected a rank", at)
    seen: set[int] = set()
    for i, rank in enumerate(own.ranks):
        if rank in seen:
            yield source.error(f"collective.ranks[{i}]: rank {rank} is in the group already", (*at, i))
        seen.add(rank)


def _member(i: int, source: Source, choice: CollectiveChoice, own: Own, whole: Mapping[str, Any]) -> Member:
    name = own.name or f"{choice.kind}-{i}"
    ranks = own.ranks.ranks() if isinstance(own.ranks, Span) else own.ranks
    shared = {key: whole[key] for key in SHARED if key in whole}
    return Member(
        name=name,
        scenario=Scenario(**shared, name=name, collective=choice, source=entry_source(source, i)),
        ranks=None if ranks is None else tuple(ranks),
        start=own.start,
        after=(own.after,) if isinstance(own.after, str) else tuple(own.after),
        expect=own.expect,
    )
