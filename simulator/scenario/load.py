"""Reading a scenario: text to a frozen `Scenario`, or everything that is wrong with it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic_core import CoreSchema, SchemaValidator, ValidationError

from simulator.scenario.errors import ScenarioError, ScenarioErrors, did_you_mean, one_of, printable
from simulator.scenario.fields import TAG, Parameter, Words, block_schema, parameters_of
from simulator.scenario.inline import NAME, read_steps
from simulator.scenario.kinds import refuse_other
from simulator.scenario.misfits import Way, all_options, misfits, way_of
from simulator.scenario.models import Code, CollectiveChoice, Scenario, TopologyChoice
from simulator.scenario.parse import MAX_BYTES, decode, parse
from simulator.scenario.presets import with_preset
from simulator.scenario.source import At, Block, Source, describe, dotted, plain, written
from simulator.scenario.units import MAX_LENGTH, needs_unit
from topologies.overrides import Override
from topologies.quantities import Bytes, Count, Whole

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
    return loads(read_text(path), os.fspath(path))


def read_text(path: str | os.PathLike[str]) -> str:
    """Read the text of a scenario's file.

    Raises
    ------
    ScenarioErrors
        If it cannot be read, or is not UTF-8.
    """
    file = os.fspath(path)
    try:
        data = _read(file)
    except IsADirectoryError:
        raise ScenarioErrors([ScenarioError("is a directory; expected a YAML file", file)]) from None
    except FileNotFoundError:
        raise ScenarioErrors([ScenarioError("there is no such file", file)]) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ScenarioErrors([ScenarioError(f"cannot be read: {reason}", file)]) from None
    return decode(data, file)


def _read(file: str) -> bytes:
    """Read a file, but not a pipe that nobody may ever write to, or a device."""
    with open(file, "rb", opener=_open_at_once) as stream:
        mode = os.fstat(stream.fileno()).st_mode
        if stat.S_ISFIFO(mode) and file.startswith(_DESCRIPTORS):
            os.set_blocking(stream.fileno(), True)
        elif not stat.S_ISREG(mode):
            kind = "pipe" if stat.S_ISFIFO(mode) else "device"
            raise ScenarioErrors([ScenarioError(f"is a {kind}; expected a YAML file", file)])
        return stream.read(MAX_BYTES + 1)


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
    source, refused = parse(text, name)
    refuse_other(source, "collective")
    source, unfit = with_preset(source)
    refused += unfit
    values: dict[str, Any] = {}
    errors = [*refused, *misfits(source)]
    try:
        validator = _validator(*_choices(source), way_of(source), _needs_size(source))
        values = validator.validate_python(plain(source.root))
    except ValidationError as error:
        errors += translated(error.errors(include_url=False, include_input=False), source, refused)
    if way_of(source) == "steps":
        steps, unread = read_steps(source)
        errors += unread
        values = values and {**values, "collective": replace(values["collective"], own=steps)}
    if errors:
        raise ScenarioErrors(errors)
    stem = printable(Path(name).stem, limit=MAX_LENGTH - 3)
    return Scenario(**{"name": stem or "scenario", **values}, source=source)


def _choices(source: Source) -> tuple[str | None, str | None]:
    """Give the kind of topology and the algorithm, where they are known words."""
    from algorithms.registry import ALGORITHMS
    from topologies.registry import TOPOLOGIES

    kind, algorithm = source.word(("topology", "kind")), source.word(("collective", "algorithm"))
    return kind if kind in TOPOLOGIES else None, algorithm if algorithm in ALGORITHMS else None


def _needs_size(source: Source) -> bool:
    """Say whether M must be written: a barrier has none, and `sizes` tell it."""
    block = source.find(("collective",))
    tells = isinstance(block, Block) and "sizes" in block.entries
    return not tells and source.word(("collective", "kind")) != "barrier"


@cache
def _validator(topology: str | None, algorithm: str | None, way: Way, needs_size: bool) -> SchemaValidator:
    """Build the validator of a whole scenario on one kind of topology, by one algorithm."""
    keys: dict[str, Parameter | CoreSchema] = {
        **parameters_of(Scenario),
        "name": Parameter(str, required=False),
        "topology": topology_schema(topology),
        "collective": _collective_schema(algorithm, way, needs_size),
    }
    del keys["source"]
    return SchemaValidator(block_schema(keys))


def topology_schema(kind: str | None) -> CoreSchema:
    """Schema of the block `topology`, of a kind of the registry or, None, of an unknown one."""
    from topologies.registry import TOPOLOGIES

    def choose(
        kind: str, preset: str | None = None, overrides: Sequence[Override] = (), **parameters: Any
    ) -> TopologyChoice:
        return TopologyChoice(kind, parameters, overrides, preset)

    keys = {
        "kind": Parameter(Annotated[str, Words(tuple(TOPOLOGIES))], required=True),
        "preset": Parameter(str, required=False),
        "overrides": Parameter(Sequence[Override], required=False),
    }
    if kind is not None:
        return block_schema(keys | parameters_of(TOPOLOGIES[kind]), choose)
    # of an unknown kind nothing can be said of the other keys
    return block_schema(keys, choose, any_keys=True)


def _collective_schema(name: str | None, way: Way, needs_size: bool) -> CoreSchema:
    from algorithms.collective import COLLECTIVES
    from algorithms.registry import ALGORITHMS

    keys = {
        "kind": Parameter(Annotated[str, Words(tuple(COLLECTIVES))], required=True),
        "algorithm": Parameter(Annotated[str, Words(tuple(ALGORITHMS))], required=way == "catalogue"),
        # read by read_steps, with their places
        "steps": Parameter(Any, required=False),
        "size": Parameter(Bytes, required=needs_size),
        **{option: Parameter(annotation, required=False) for option, annotation in COMMON_OPTIONS.items()},
    }
    if way != "catalogue":
        keys |= {"blocks": Parameter(Count, required=False)}
        if way == "code":
            keys |= {"algorithm": Parameter(Code, required=True)}
        return block_schema(keys, _own)
    # an option of another algorithm is refused by misfits, whatever it holds
    keys |= {option: Parameter(Any, required=False) for option in all_options()}
    if name is not None:
        keys |= options_of(name)
    return block_schema(keys, _chosen)


def _chosen(kind: str, algorithm: str, size: int = 0, **options: Any) -> CollectiveChoice:
    return CollectiveChoice(kind, algorithm, size, options)


def _own(
    kind: str, algorithm: Code | None = None, size: int = 0, blocks: int | None = None, **options: Any
) -> CollectiveChoice:
    options.pop("steps", None)
    name = NAME if algorithm is None else algorithm.function
    return CollectiveChoice(kind, name, size, options, algorithm, blocks)


def options_of(name: str) -> dict[str, Parameter]:
    """Give the options that an algorithm takes, as keys of the block `collective`.

    Examples
    --------
    >>> options_of("ring")
    {'first_chunk': Parameter(annotation=<class 'int'>, required=False)}
    """
    from algorithms.registry import ALGORITHMS

    # what the catalogue itself reads, or could not name in a builder's signature
    known = parameters_of(ALGORITHMS[name].build) | {
        "non_power_of_two": Parameter(Literal["fold", "hybrid", "error"], required=False),
        "algorithms": Parameter(Sequence[Annotated[str, Words(tuple(ALGORITHMS))]], required=False),
    }
    return {option: known[option] for option in ALGORITHMS[name].options}


COMMON_OPTIONS: Final[Mapping[str, Any]] = MappingProxyType(
    {"root": Whole, "peer": Whole, "segments": Count, "sizes": Sequence[Bytes | Sequence[Bytes]]}
)
"""Options of every algorithm, where the collective has them."""


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
            return source.error('missing key "kind", or "preset", in topology', loc[:-1], key=True)
        case "missing" if loc == ("collective", "algorithm"):
            return source.error('missing key "algorithm", or "steps", in collective', loc[:-1], key=True)
        case "missing":
            return source.error(f'missing key "{loc[-1]}" in {block}', loc[:-1], key=True)
        case "unknown_key":
            key = str(loc[-1])
            hint = did_you_mean(key, context["keys"]) or f"; expected {one_of(context['keys'])}"
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
