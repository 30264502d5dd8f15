"""Reading a scenario: text to a frozen `Scenario`, or everything that is wrong with it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic_core import CoreSchema, SchemaValidator, ValidationError

from simulator.scenario.choice import Asked, asked_of, collective_keys
from simulator.scenario.errors import ScenarioError, ScenarioErrors, suggestion
from simulator.scenario.fields import TAG, Parameter, Words, block_schema, parameters_of
from simulator.scenario.inline import read_steps
from simulator.scenario.kinds import refuse_other
from simulator.scenario.library import PREFIX, resolve
from simulator.scenario.misfits import misfits
from simulator.scenario.models import FROM_FILE, Scenario, TopologyChoice
from simulator.scenario.parse import MAX_BYTES, decode, parse
from simulator.scenario.presets import with_preset
from simulator.scenario.source import At, Block, Source, describe, dotted, plain, written
from simulator.scenario.units import MAX_LENGTH, needs_unit
from topologies.overrides import Override
from topologies.text import printable

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


# a shell's `<(command)` and standard input are pipes that somebody writes to
_DESCRIPTORS = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")


def load(path: str | os.PathLike[str]) -> Scenario:
    """Read a scenario from a file.

    Parameters
    ----------
    path : path-like
        A YAML file in UTF-8.

    Raises
    ------
    ScenarioErrors
        With everything that is wrong in it, or why it cannot be read.
    """
    return loads(*opened(path))


def opened(path: str | os.PathLike[str]) -> tuple[str, str]:
    """Text and name of a scenario's file, or of what the library keeps as `library:NAME`.

    Raises
    ------
    ScenarioErrors
        If it cannot be read, or is not UTF-8, or the library has no such scenario.
    """
    file = os.fspath(path)
    if file.startswith(PREFIX):
        file = os.fspath(resolve(Path(file)))
    return read_text(file), file


def read_text(path: str | os.PathLike[str]) -> str:
    """Read the text of a scenario's file.

    Raises
    ------
    ScenarioErrors
        If it cannot be read, or is not UTF-8.
    """
    file = os.fspath(path)
    return decode(read_bytes(file, MAX_BYTES + 1, "a YAML file"), file)


def read_bytes(file: str, most: int, what: str) -> bytes:
    """Read at most so many bytes of a file.

    Raises
    ------
    ScenarioErrors
        If it cannot be read, or is something else than `what`.
    """
    try:
        return _read(file, most, what)
    except IsADirectoryError:
        raise ScenarioErrors([ScenarioError(f"is a directory; expected {what}", file)]) from None
    except FileNotFoundError:
        raise ScenarioErrors([ScenarioError("there is no such file", file)]) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ScenarioErrors([ScenarioError(f"cannot be read: {reason}", file)]) from None


def _read(file: str, most: int, what: str) -> bytes:
    """Read a file, but not a pipe that nobody may ever write to, or a device."""
    with open(file, "rb", opener=_open_at_once) as stream:
        mode = os.fstat(stream.fileno()).st_mode
        if stat.S_ISFIFO(mode) and file.startswith(_DESCRIPTORS):
            os.set_blocking(stream.fileno(), True)
        elif not stat.S_ISREG(mode):
            kind = "pipe" if stat.S_ISFIFO(mode) else "device"
            raise ScenarioErrors([ScenarioError(f"is a {kind}; expected {what}", file)])
        return stream.read(most)


def _open_at_once(file: str, flags: int) -> int:
    """Open without waiting for the writer of a pipe."""
    return os.open(file, flags | getattr(os, "O_NONBLOCK", 0))


def loads(text: str, name: str = "scenario") -> Scenario:
    """Read a scenario from its text.

    Parameters
    ----------
    text : str
        YAML.
    name : str
        Name of the file, for messages; its stem names a scenario that has no name.

    Raises
    ------
    ScenarioErrors
        With everything that is wrong in it.

    Examples
    --------
    >>> text = '''topology: {kind: ring, ranks: 8, bandwidth: 64 GB/s}
    ... collective: {kind: allgather, algorithm: ring, size: 1 GiB}'''
    >>> scenario = loads(text, "small.yaml")
    >>> scenario.name, scenario.topology.parameters, scenario.collective.size
    ('small', {'ranks': 8, 'bandwidth': 64000000000.0}, 1073741824)
    >>> loads(text.replace("bandwidth", "bandwith"), "small.yaml")
    Traceback (most recent call last):
        ...
    simulator.scenario.errors.ScenarioErrors: small.yaml:1:1: missing key "bandwidth" in topology
    small.yaml:1:34: unknown key "bandwith" in topology; did you mean "bandwidth"?
    """
    return read_scenario(*parse(text, name))


def read_scenario(source: Source, refused: tuple[ScenarioError, ...]) -> Scenario:
    """Read a scenario from what was parsed, and what was refused of it; as `loads`."""
    refuse_other(source, "collective")
    source, unfit = with_preset(source)
    refused += unfit
    values, wrong = validated(_validator(known_topology(source), asked_of(source)), source, refused)
    errors = [*refused, *misfits(source), *wrong]
    if asked_of(source).way == "steps":
        steps, unread = read_steps(source)
        errors += unread
        values = values and {**values, "collective": replace(values["collective"], own=steps)}
    if errors:
        raise ScenarioErrors(errors)
    return Scenario(**{"name": default_name(source), **values}, source=source)


def default_name(source: Source) -> str:
    """What a scenario without a name is called: the stem of its file's name."""
    return printable(Path(source.file).stem, limit=MAX_LENGTH - 3) or "scenario"


def known_topology(source: Source) -> str | None:
    """The kind of topology, where it is a known word, or that it is from a file."""
    from topologies.registry import TOPOLOGIES

    block = source.find(("topology",))
    if isinstance(block, Block) and FROM_FILE in block.entries and "kind" not in block.entries:
        return FROM_FILE
    kind = source.word(("topology", "kind"))
    return kind if kind in TOPOLOGIES else None


@cache
def _validator(topology: str | None, asked: Asked) -> SchemaValidator:
    """Build the validator of a whole scenario on one kind of topology, by one algorithm."""
    return SchemaValidator(block_schema(scenario_keys(topology, asked)))


def scenario_keys(topology: str | None, asked: Asked) -> dict[str, Parameter | CoreSchema]:
    """Keys of a scenario on one kind of topology, by one algorithm."""
    known = parameters_of(Scenario)
    del known["source"]
    return {
        **known,
        "name": known["name"].taking(str, required=False),
        "topology": known["topology"].taking(topology_schema(topology)),
        "collective": known["collective"].taking(block_schema(*collective_keys(asked))),
    }


def topology_schema(kind: str | None) -> CoreSchema:
    """Schema of the block `topology`, of a kind of the registry, from a file or, None, of an unknown one."""
    from topologies.registry import TOPOLOGIES

    if kind == FROM_FILE:
        from simulator.scenario.topology_file import topology_from

        return block_schema(parameters_of(topology_from), topology_from)

    def choose(
        kind: str, preset: str | None = None, overrides: Sequence[Override] = (), **parameters: Any
    ) -> TopologyChoice:
        return TopologyChoice(kind, parameters, overrides, preset)

    known = parameters_of(TopologyChoice)
    keys = {
        "kind": known["kind"].taking(Annotated[str, Words(tuple(TOPOLOGIES))]),
        "preset": known["preset"],
        "overrides": known["overrides"],
    }
    if kind is not None:
        return block_schema(keys | parameters_of(TOPOLOGIES[kind]), choose)
    # of an unknown kind nothing can be said of the other keys
    return block_schema(keys, choose, any_keys=True)


def unplaced(source: Source, why: str) -> Iterator[ScenarioError]:
    """A placement where something else says which rank is which."""
    at = ("network", "placement")
    if source.find(at) is not None:
        yield source.error(f"network.placement: does not go with {why}", at, key=True)


def validated(
    validator: SchemaValidator, source: Source, refused: Iterable[ScenarioError]
) -> tuple[dict[str, Any], list[ScenarioError]]:
    """What a validator makes of a file, by key, and what is wrong with it but for what was refused."""
    try:
        return validator.validate_python(plain(source.root)), []
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        return {}, list(translated(details, source, refused))


def translated(
    details: Iterable[ErrorDetails], source: Source, refused: Iterable[ScenarioError]
) -> Iterator[ScenarioError]:
    """Put pydantic's errors into our words and places, but for values that were refused before."""
    places = {(error.line, error.column) for error in refused}
    for detail in details:
        error = translate(detail, source)
        if detail["type"] == "missing" or (error.line, error.column) not in places:
            yield error


def translate(detail: ErrorDetails, source: Source) -> ScenarioError:
    """Put one of pydantic's errors into our words, at its place."""
    loc = tuple(step for step in detail["loc"] if not str(step).startswith(TAG))
    context = detail.get("ctx", {})
    block = dotted(loc[:-1]) or "the scenario"
    match detail["type"]:
        case "missing" if loc == ("topology", "kind"):
            return source.error('missing key "kind", "preset" or "file" in topology', loc[:-1], key=True)
        case "missing" if loc == ("collective",):
            return source.error('missing key "collective", or "collectives", in the scenario', key=True)
        case "missing" if loc == ("collective", "algorithm"):
            return source.error('missing key "algorithm", or "steps", in collective', loc[:-1], key=True)
        case "missing":
            return source.error(f'missing key "{loc[-1]}" in {block}', loc[:-1], key=True)
        case "unknown_key":
            key = str(loc[-1])
            hint = suggestion(key, context["keys"])
            return source.error(f'unknown key "{printable(key)}" in {block}{hint}', loc, key=True)
        case "invalid_key":
            message = f"found {describe(source.key(loc))} as a key in {block}, expected a word"
            return source.error(message, loc, key=True)
        case "wrong":
            return _at(source, (*loc, *context["at"]), context["message"])
        case "bare_number":
            return _at(source, loc, needs_unit(written(source.nearest(loc)), context["kind"]))
    what = f"expected {context['what']}{context['hint']}"
    if loc[-1:] == ("[key]",) and source.find(loc) is None:
        found = describe(source.key(loc[:-1]))
        return source.error(f"found {found} as a key in {dotted(loc[:-2])}, {what}", loc[:-1], key=True)
    return _at(source, loc, f"found {describe(source.nearest(loc))}, {what}")


def _at(source: Source, at: At, message: str) -> ScenarioError:
    path = source.existing(at)
    return source.error(f"{dotted(path) or 'the scenario'}: {message}", path)
