"""Paths of fields: read, followed, and refused with the place where they are written."""

from __future__ import annotations

import pytest

from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.parse import parse
from simulator.scenario.source import Scalar, plain
from simulator.scenario.sweep.paths import path_of, set_field
from topologies.errors import CollsimError

TEXT = """\
topology: {kind: multilevel, levels: [{name: card, size: 4}, {name: node, size: 2}]}
delay: {3: 10 us}
"""


def changed(path: str) -> object:
    source, _ = parse(TEXT, "a.yaml")
    return plain(set_field(source, path_of(path), Scalar(9, 9, 7, "7"), Scalar(8, 5, path, path)).root)


def test_fields_by_number_by_name_and_anew() -> None:
    levels = [{"name": "card", "size": 4}, {"name": "node", "size": 7}]
    whole = {"topology": {"kind": "multilevel", "levels": levels}, "delay": {3: "10 us"}}
    assert changed("topology.levels[1].size") == whole
    assert changed("topology.levels.node.size") == whole
    assert changed("delay.3")["delay"] == changed("delay[3]")["delay"] == {3: 7}  # type: ignore[index]
    assert changed("network.routing.seed")["network"] == {"routing": {"seed": 7}}  # type: ignore[index]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("topology.levels.nod.size", 'has no entry nod; it has 2; did you mean "node"'),
        ("topology.levels[2].size", "has no entry 2; it has 2"),
        ("topology.kind.name", 'topology.kind is the text "multilevel" and has no "name"'),
    ],
)
def test_where_a_path_ends(path: str, message: str) -> None:
    with pytest.raises(ScenarioErrors, match=message) as caught:
        changed(path)
    assert (caught.value.errors[0].line, caught.value.errors[0].column) == (8, 5)


@pytest.mark.parametrize("path", ["", ".a", "a.", "a..b", "a[", "a[x]", "[0]"])
def test_what_is_no_path(path: str) -> None:
    with pytest.raises(CollsimError, match="is no path"):
        path_of(path)
