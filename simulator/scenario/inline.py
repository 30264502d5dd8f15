"""Steps that a scenario writes out: `- {0 -> 1: reduce 3, 1 -> 2: copy 0-3}`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from algorithms.schedule import COPY, REDUCE
from simulator.scenario.errors import ScenarioError, did_you_mean
from simulator.scenario.source import At, Block, Items, Node, Scalar, Source, describe, dotted
from topologies.text import printable

STEPS: Final[At] = ("collective", "steps")
NAME: Final = "inline"
"""The name that steps without an algorithm go by in results."""

MOST_NUMBERS: Final = 1 << 20
"""Chunks that one transfer may name."""

MODES: Final[Mapping[str, int]] = MappingProxyType({"copy": COPY, "reduce": REDUCE})
_PAIR: Final = re.compile(r"([0-9]{1,9}) *-> *([0-9]{1,9})")
_RUN: Final = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?")
_TRANSFER: Final = 'e.g. "0 -> 1: reduce 3" or "0 -> 1: copy 0-2 5"'


@dataclass(frozen=True, slots=True)
class Transfer:
    """One message of a step.

    Attributes
    ----------
    src, dst : int
        Ranks.
    chunks : tuple of int, or None
        None for all of them.
    mode : int
        COPY or REDUCE.
    at : tuple of str or int
        Path of it in the scenario.
    """

    src: int
    dst: int
    chunks: tuple[int, ...] | None
    mode: int
    at: At


InlineSteps = tuple[tuple[Transfer, ...], ...]


def read_steps(source: Source) -> tuple[InlineSteps, tuple[ScenarioError, ...]]:
    """The steps that a scenario writes out, and everything that is wrong with them."""
    node = source.find(STEPS)
    if not isinstance(node, Items):
        found = "nothing" if node is None else describe(node)
        message = f"{dotted(STEPS)}: found {found}, expected a list of steps"
        return (), (source.error(message, STEPS),)
    steps, errors = [], []
    for number, step in enumerate(node.items):
        read = list(_step(source, step, (*STEPS, number)))
        steps.append(tuple(part for part in read if isinstance(part, Transfer)))
        errors += [part for part in read if isinstance(part, ScenarioError)]
    return tuple(steps), tuple(errors)


def _step(source: Source, step: Node, at: At) -> Iterator[Transfer | ScenarioError]:
    """The transfers of a mapping, or of a list of mappings, which may name a pair several times."""
    if isinstance(step, Items):
        for place, part in enumerate(step.items):
            if isinstance(part, Block):
                yield from _block(source, part, (*at, place))
            else:
                yield _refused(source, part, (*at, place))
    elif isinstance(step, Block):
        yield from _block(source, step, at)
    else:
        yield _refused(source, step, at)


def _refused(source: Source, node: Node, at: At) -> ScenarioError:
    return source.error(f"{dotted(at)}: found {describe(node)}, expected transfers, {_TRANSFER}", at)


def _block(source: Source, block: Block, at: At) -> Iterator[Transfer | ScenarioError]:
    for step, (key, value) in block.entries.items():
        place = (*at, step)
        pair = _PAIR.fullmatch(key.text.strip())
        if pair is None:
            message = f"{dotted(at)}: found {describe(key)} as ranks, expected {_TRANSFER}"
            yield source.error(message, place, key=True)
            continue
        try:
            mode, chunks = _moved(value)
        except ValueError as error:
            yield source.error(f"{dotted(at)}: {error}", place)
            continue
        yield Transfer(int(pair[1]), int(pair[2]), chunks, mode, place)


def _moved(node: Node) -> tuple[int, tuple[int, ...] | None]:
    """Mode and chunks from `reduce 3`, `copy 0-2 5`, `copy all` or `copy nothing`.

    Raises
    ------
    ValueError
        With what was found and what is expected.
    """
    if not isinstance(node, Scalar) or not isinstance(node.value, str):
        raise ValueError(f"found {describe(node)}, expected {_TRANSFER}")
    word, *runs = node.value.split()
    if word not in MODES:
        hint = did_you_mean(word, MODES) or f", expected {_TRANSFER}"
        raise ValueError(f'found "{printable(word)}"{hint}')
    if not runs:
        raise ValueError(f'found "{word}" without chunks, expected {_TRANSFER}, or "all" or "nothing"')
    if runs == ["all"]:
        return MODES[word], None
    if runs == ["nothing"]:
        return MODES[word], ()
    return MODES[word], tuple(chunk for run in runs for chunk in _run(run))


def _run(text: str) -> range:
    match = _RUN.fullmatch(text)
    if match is None:
        raise ValueError(f'found "{printable(text)}", expected chunks such as 3 or 0-2')
    first, last = int(match[1]), int(match[2] or match[1])
    if last < first:
        raise ValueError(f'found the chunks "{text}", expected the lower one first')
    if last - first >= MOST_NUMBERS:
        raise ValueError(f'found the chunks "{text}", expected at most {MOST_NUMBERS:,} of them')
    return range(first, last + 1)
