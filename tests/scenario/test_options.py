from __future__ import annotations

from typing import Any

import pytest

from algorithms.registry import ALGORITHMS
from simulator.scenario.load import loads
from simulator.scenario.options import parse_options
from topologies.errors import CollsimError


@pytest.mark.parametrize(
    ("algorithm", "settings", "options"),
    [
        ("ring", {}, {}),
        ("ring", {"first_chunk": "1"}, {"first_chunk": 1}),
        ("ring", {"first_chunk": " -1 "}, {"first_chunk": -1}),
        ("ring", {"segments": "4", "sizes": "1 B,2 B"}, {"segments": 4, "sizes": (1, 2)}),
        ("recursive_halving", {"order": "near"}, {"order": "near"}),
        ("hierarchical", {"dims": "4,2"}, {"dims": (4, 2)}),
        ("hierarchical", {"dims": "4"}, {"dims": (4,)}),
        ("hierarchical", {"dims": "[4, 2]"}, {"dims": (4, 2)}),
        ("hierarchical", {"algorithms": "ring,direct"}, {"algorithms": ("ring", "direct")}),
        ("hierarchical", {"algorithms": "ring"}, {"algorithms": ("ring",)}),
    ],
)
def test_options(algorithm: str, settings: dict[str, str], options: dict[str, Any]) -> None:
    assert parse_options(algorithm, settings) == options


@pytest.mark.parametrize(
    ("algorithm", "settings", "message"),
    [
        ("recursive_halving", {"order": "nearr"}, 'order: found "nearr", expected FAR; did you mean "near"?'),
        ("recursive_halving", {"order": ""}, "order: found an empty list, expected FAR"),
        ("recursive_halving", {"order": "near,far"}, "order: found a list, expected FAR"),
        ("recursive_halving", {"order": "{a: 1}"}, "order: found a mapping, expected FAR"),
        ("recursive_halving", {"order": "!!str near"}, 'order: found the tag "!!str"; tags are not allowed'),
        ("ring", {"first_chunk": "x"}, 'first_chunk: found "x", expected a whole number'),
        ("ring", {"first_chunk": "1.5"}, "first_chunk: found the number 1.5, expected a whole number"),
        ("ring", {"first_chunk": "1]"}, "first_chunk: "),
        ("ring", {"first_chunk": "[" * 50}, "first_chunk: nested more than 30 levels deep"),
        ("ring", {"first_chunk": "\0"}, "first_chunk: the character U+0000 is not allowed"),
        ("hierarchical", {"dims": "4,x"}, 'dims[1]: found "x", expected a whole number'),
        (
            "ring",
            {"first_chunks": "1"},
            'the algorithm "ring" does not take the option "first_chunks"; it takes first_chunk; '
            'did you mean "first_chunk"?',
        ),
        ("direct", {"a\nb": "1"}, 'the algorithm "direct" does not take the option "a\\nb"; it takes none'),
        ("rings", {}, 'there is no algorithm "rings"; did you mean "ring"?'),
    ],
)
def test_wrong_options(algorithm: str, settings: dict[str, str], message: str) -> None:
    with pytest.raises(CollsimError) as caught:
        parse_options(algorithm, settings)
    assert str(caught.value).startswith(message.replace("FAR", "far or near"))
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_option_is_read_as_in_a_scenario(algorithm: str) -> None:
    written = {"dims": "4,2", "order": "near", "first_chunk": "1", "algorithms": "ring,direct"}
    settings = {key: text for key, text in written.items() if key in ALGORITHMS[algorithm].options}
    options = ", ".join(f"{key}: {f'[{text}]' if ',' in text else text}" for key, text in settings.items())
    kind = ALGORITHMS[algorithm].collectives[0]
    scenario = loads(
        "topology: {kind: ring, ranks: 8, bandwidth: 1 GB/s}\n"
        f"collective: {{kind: {kind}, algorithm: {algorithm}, size: 1 B, {options}}}\n"
    )
    assert parse_options(algorithm, settings) == scenario.collective.options
