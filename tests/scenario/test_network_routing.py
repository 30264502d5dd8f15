"""What a scenario may write of routing, and what it is told when that is wrong."""

from __future__ import annotations

import pytest

from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.load import loads
from simulator.scenario.run import run
from topologies.multipath import Routing
from topologies.static_routes import StaticRoute

TEXT = """
name: A pair of leaves
topology: {kind: leaf_spine, leaves: 2, hosts: 1, spines: 4, bandwidth: 50 GB/s, latency: 0.5 us}
collective: {kind: all_to_all, algorithm: direct, size: 8 MB}
"""


def scenario(network: str) -> str:
    return TEXT + f"network: {{{network}}}\n"


def test_a_routing_is_a_word_or_a_block() -> None:
    assert loads(scenario("routing: valiant"), "a.yaml").network.chosen_routing == Routing("valiant")
    network = loads(
        scenario("routing: {kind: ecmp, seed: 7}, routes: [{src: 0, dst: 1, via: [leaf0, spine1, leaf1]}]"),
        "a.yaml",
    ).network
    assert network.chosen_routing == Routing("ecmp", 7)
    assert tuple(network.routes) == (StaticRoute(0, 1, ("leaf0", "spine1", "leaf1")),)
    assert loads(TEXT, "a.yaml").network.chosen_routing == Routing("shortest")


@pytest.mark.parametrize(
    ("network", "message"),
    [
        ("routing: ecm", r'5:20: network\.routing: found the text "ecm", .*; did you mean "ecmp"\?'),
        ("routing: {seed: 3}", r'5:11: missing key "kind" in network\.routing'),
        ("routing: {kind: ecmp, seed: -1}", r"5:39: network\.routing\.seed: .* expected 0 or more"),
        ("routing: {kind: shortest, seed: 1}", r"5:43: network\.routing\.seed: .* takes no seed"),
        ("routes: [{src: 0}]", r'5:20: missing key "dst" in network\.routes\[0\]'),
        (
            "routes: [{src: 0, dst: 1, via: [leaf0, spine4, leaf1]}]",
            r'5:50: there is no switch "spine4"',
        ),
        (
            "routes: [{src: 0, dst: 1, via: [leaf0, leaf1]}]",
            r"5:50: there is no link from leaf0 to leaf1",
        ),
        ("routes: [{src: 0, dst: 2}]", r"5:34: there is no rank 2"),
    ],
)
def test_wrong_routing_is_told_where_it_stands(network: str, message: str) -> None:
    with pytest.raises(ScenarioErrors, match=message):
        run(loads(scenario(network), "a.yaml"))
