"""What is right by itself in a scenario's collective, but does not go together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from simulator.scenario.errors import ScenarioError, one_of
from simulator.scenario.source import Block, Source
from topologies.text import printable

Way = Literal["catalogue", "code", "file", "steps"]
"""Where the steps of a collective come from: an algorithm by its name, a person's code, a file
of another tool, the scenario."""


def way_of(source: Source) -> Way:
    """Say where the steps come from: the catalogue, a person's code, a file, or the scenario itself."""
    block = source.find(("collective",))
    algorithm = source.find(("collective", "algorithm"))
    if isinstance(algorithm, Block):
        return "file" if "schedule" in algorithm.entries else "code"
    written = block.entries.keys() if isinstance(block, Block) else ()
    return "steps" if "steps" in written and "algorithm" not in written else "catalogue"


def misfits(source: Source) -> Iterator[ScenarioError]:
    """Find what is right by itself but not for the algorithm."""
    from algorithms.collective import COLLECTIVES
    from algorithms.registry import ALGORITHMS, able

    block = source.find(("collective",))
    kind, name = source.word(("collective", "kind")), source.word(("collective", "algorithm"))
    if isinstance(block, Block) and {"size", "sizes"} <= block.entries.keys():
        yield source.error('collective: found both "size" and "sizes"', ("collective", "sizes"), key=True)
    if isinstance(block, Block):
        yield from _own_misfits(source, block, kind)
    if name is None or name not in ALGORITHMS or not isinstance(block, Block):
        return
    if kind in COLLECTIVES and kind not in ALGORITHMS[name].collectives:
        message = f'the algorithm "{name}" does not do {kind}; expected {one_of(able(kind))}'
        yield source.error(f"collective.algorithm: {message}", ("collective", "algorithm"))
    taken = ALGORITHMS[name].options
    for option in all_options():
        if option in block.entries and option not in taken:
            yield source.error(not_taken(name, option), ("collective", option), key=True)


def _own_misfits(source: Source, block: Block, kind: str | None) -> Iterator[ScenarioError]:
    """Find what does not go together beside a person's own steps."""
    from algorithms.collective import KINDS

    if {"algorithm", "steps"} <= block.entries.keys():
        yield source.error(
            'collective: found both "algorithm" and "steps"', ("collective", "steps"), key=True
        )
    shape = KINDS.get(kind or "")
    if (
        way_of(source) in ("code", "steps")
        and "blocks" in block.entries
        and shape is not None
        and shape.by_rank
    ):
        free = [name for name, other in KINDS.items() if not other.by_rank]
        message = f"{kind} has a block for each rank; {one_of(free)} may be cut otherwise"
        yield source.error(f"collective.blocks: {message}", ("collective", "blocks"), key=True)


def not_taken(algorithm: str, option: str) -> str:
    """Say that an algorithm does not take an option, and which it takes."""
    from algorithms.registry import ALGORITHMS

    taken = ALGORITHMS[algorithm].options
    takes = f"it takes {' and '.join(taken)}" if taken else "it takes none"
    return f'the algorithm "{algorithm}" does not take the option "{printable(option)}"; {takes}'


def all_options() -> tuple[str, ...]:
    """Names of the options of all algorithms."""
    from algorithms.registry import ALGORITHMS

    return tuple(dict.fromkeys(option for algorithm in ALGORITHMS.values() for option in algorithm.options))
