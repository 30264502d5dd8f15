"""The block `collective`: which keys it has, by what it asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal

from pydantic_core import CoreSchema

from simulator.scenario.fields import Parameter, Words, parameters_of
from simulator.scenario.inline import NAME
from simulator.scenario.misfits import Way, all_options, way_of
from simulator.scenario.models import Code, CollectiveChoice, ScheduleFile
from simulator.scenario.source import Block, Source
from topologies.quantities import Bytes, Count, Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonOptions:
    """Options of every algorithm, where the collective has them.

    Parameters
    ----------
    root : int
        Whom a Broadcast or Scatter starts from, and a Reduce or Gather ends at; who sends in `send_recv`.
    peer : int, optional
        Who receives in `send_recv`; by default the rank after the root.
    segments : int
        Parts of every chunk, which follow each other in a pipeline.
    sizes : sequence, optional
        In the place of `size`: bytes of each rank's block; of an All-to-All, what each sends to each.
    """

    root: Whole = 0
    peer: Whole | None = None
    segments: Count = 1
    sizes: Sequence[Bytes | Sequence[Bytes]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueOptions:
    """Options that the catalogue itself reads, or could not name in a builder's signature.

    Parameters
    ----------
    non_power_of_two : {'fold', 'hybrid', 'error'}
        What is done where N is not 2^k.
    algorithms : sequence of str, optional
        One along each dimension; or one to rank 0 and one from it.
    """

    non_power_of_two: Literal["fold", "hybrid", "error"] = "fold"
    algorithms: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """What decides which keys there are.

    Attributes
    ----------
    algorithm : str or None
        Its name, where it is a known word.
    way : {'catalogue', 'code', 'file', 'steps'}
        Where its steps come from.
    needs_size : bool
        Whether M must be written: a barrier has none, and `sizes` tell it.
    """

    algorithm: str | None
    way: Way
    needs_size: bool


def asked_of(source: Source) -> Asked:
    """What a scenario's block `collective` asks for."""
    from algorithms.registry import ALGORITHMS

    algorithm = source.word(("collective", "algorithm"))
    known = algorithm if algorithm in ALGORITHMS else None
    return Asked(known, way_of(source), _needs_size(source))


def _needs_size(source: Source) -> bool:
    block = source.find(("collective",))
    tells = isinstance(block, Block) and "sizes" in block.entries
    # a file may say how many bytes it moves
    tells = tells or way_of(source) == "file"
    return not tells and source.word(("collective", "kind")) != "barrier"


def collective_keys(
    asked: Asked,
) -> tuple[dict[str, Parameter | CoreSchema], Callable[..., CollectiveChoice]]:
    """Keys of the block `collective`, and what is made of their values."""
    from algorithms.collective import COLLECTIVES
    from algorithms.registry import ALGORITHMS

    known = parameters_of(CollectiveChoice)
    keys: dict[str, Parameter | CoreSchema] = {
        "kind": known["kind"].taking(Annotated[str, Words(tuple(COLLECTIVES))]),
        "algorithm": known["algorithm"].taking(
            Annotated[str, Words(tuple(ALGORITHMS))], required=asked.way == "catalogue"
        ),
        # read by read_steps, with their places
        "steps": known["own"].taking(Any),
        "size": known["size"].taking(Bytes, required=asked.needs_size),
        **COMMON_OPTIONS,
    }
    if asked.way == "file":
        # the file says the rest
        for option in ("segments", "sizes", "peer"):
            del keys[option]
        return keys | {"algorithm": known["algorithm"].taking(ScheduleFile)}, _of_file
    if asked.way != "catalogue":
        keys |= {"blocks": known["blocks"].taking(Count)}
        if asked.way == "code":
            keys |= {"algorithm": known["algorithm"].taking(Code)}
        return keys, _own
    # an option of another algorithm is refused by misfits, whatever it holds
    keys |= {option: Parameter(Any, required=False) for option in all_options()}
    if asked.algorithm is not None:
        keys |= options_of(asked.algorithm)
    return keys, _chosen


def _chosen(kind: str, algorithm: str, size: int = 0, **options: Any) -> CollectiveChoice:
    return CollectiveChoice(kind, algorithm, size, options)


def _own(
    kind: str, algorithm: Code | None = None, size: int = 0, blocks: int | None = None, **options: Any
) -> CollectiveChoice:
    options.pop("steps", None)
    name = NAME if algorithm is None else algorithm.function
    return CollectiveChoice(kind, name, size, options, algorithm, blocks)


def _of_file(kind: str, algorithm: ScheduleFile, size: int = 0, **options: Any) -> CollectiveChoice:
    # steps beside a file are refused as a misfit
    options.pop("steps", None)
    return CollectiveChoice(kind, PurePath(algorithm.schedule).stem, size, options, algorithm)


def options_of(name: str) -> dict[str, Parameter]:
    """Give the options that an algorithm takes, as keys of the block `collective`.

    Examples
    --------
    >>> options_of("ring")
    {'first_chunk': Parameter(annotation=<class 'int'>, required=False)}
    """
    from algorithms.registry import ALGORITHMS

    known = {**parameters_of(CatalogueOptions), **parameters_of(ALGORITHMS[name].build)}
    known["algorithms"] = known["algorithms"].taking(
        Sequence[Annotated[str, Words(tuple(ALGORITHMS))]], required=False
    )
    return {option: known[option] for option in ALGORITHMS[name].options}


COMMON_OPTIONS: Final[Mapping[str, Parameter]] = MappingProxyType(parameters_of(CommonOptions))
"""Options of every algorithm, where the collective has them."""
