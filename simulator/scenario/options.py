"""Options of an algorithm from a command line, read as a scenario's block `collective` is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic_core import SchemaValidator, ValidationError

from simulator.scenario.choice import COMMON_OPTIONS, options_of
from simulator.scenario.errors import ScenarioErrors, did_you_mean
from simulator.scenario.fields import Parameter, block_schema, takes_list
from simulator.scenario.load import translate
from simulator.scenario.misfits import not_taken
from simulator.scenario.parse import parse
from simulator.scenario.source import Block, Items, Node, Scalar, Source, plain
from topologies.errors import CollsimError
from topologies.text import printable


def parse_options(algorithm: str, settings: Mapping[str, str]) -> dict[str, Any]:
    """Read the options of an algorithm, and those of every algorithm.

    Parameters
    ----------
    algorithm : str
        A name in the registry.
    settings : mapping of str to str
        What was written for each option: a word, a number, or several with commas between.

    Returns
    -------
    dict
        What the algorithm takes; lists as tuples. An option that was not given is not in it.

    Raises
    ------
    CollsimError
        With the first thing that is wrong.

    Examples
    --------
    >>> parse_options("hierarchical", {"dims": "4,2", "algorithms": "ring,direct"})
    {'dims': (4, 2), 'algorithms': ('ring', 'direct')}
    """
    from algorithms.registry import ALGORITHMS

    if algorithm not in ALGORITHMS:
        hint = did_you_mean(algorithm, ALGORITHMS)
        raise CollsimError(f'there is no algorithm "{printable(algorithm)}"{hint}', ("algorithm",))
    options = dict(COMMON_OPTIONS)
    options |= {name: replace(option, required=False) for name, option in options_of(algorithm).items()}
    for name in settings:
        if name not in options:
            raise CollsimError(not_taken(algorithm, name) + did_you_mean(name, options), (name,))
    values = {name: _read(name, text, options[name]) for name, text in settings.items()}
    entries: dict[str | int, tuple[Scalar, Node]] = {
        name: (Scalar(1, 1, name, name), value) for name, value in values.items()
    }
    root = Block(1, 1, entries)
    source = Source("options", root, root)
    try:
        read: dict[str, Any] = SchemaValidator(block_schema(options)).validate_python(plain(source.root))
    except ValidationError as caught:
        error = translate(caught.errors(include_url=False, include_input=False)[0], source)
        # on a command line everything is text
        raise CollsimError(error.message.replace('found the text "', 'found "', 1), error.at) from None
    return read


def _read(name: str, text: str, option: Parameter) -> Node:
    """Read what was written for one option, a list with or without its brackets."""
    try:
        source, refused = parse(f"[{text}]", name)
    except ScenarioErrors as caught:
        raise CollsimError(f"{name}: {caught.errors[0].message}", (name,)) from None
    if refused:
        raise CollsimError(f"{name}: {refused[0].message}", (name,))
    listed = source.root
    if isinstance(listed, Items) and len(listed.items) == 1:
        (item,) = listed.items
        if isinstance(item, Items) or not takes_list(option.annotation):
            return item
    return listed
