"""Runs that use again what the one before was made of: the same results as by themselves."""

from __future__ import annotations

import pytest

from algorithms.registry import ALGORITHMS
from simulator.scenario.load import loads
from simulator.scenario.result import as_object
from simulator.scenario.reused import Reused
from simulator.scenario.run import run

PLACES = {"in_network": "{kind: crossbar, ranks: 4, bandwidth: 1 GB/s, switch: reduces}"}
GRID = "{kind: torus, dims: [2, 2], bandwidth: 1 GB/s, latency: 1 us}"


def text(kind: str, algorithm: str, size: int) -> str:
    return (
        f"topology: {PLACES.get(algorithm, GRID)}\nreduction: {{bandwidth: 2 GB/s}}\n"
        f"collective: {{kind: {kind}, algorithm: {algorithm}, size: {size} B}}\n"
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_at_other_sizes(algorithm: str) -> None:
    for kind in ALGORITHMS[algorithm].collectives:
        reused = Reused()
        small, large = (
            loads(text(kind, algorithm, 0 if kind == "barrier" else size)) for size in (3840, 7680)
        )
        run(small, reused=reused)
        assert as_object(run(large, reused=reused)) == as_object(run(large))


def test_what_does_not_go_evenly_is_made_anew() -> None:
    reused = Reused()
    for size in (3840, 7680, 7681, 7680, 3841, 0):
        scenario = loads(text("allreduce", "ring", size))
        assert as_object(run(scenario, reused=reused)) == as_object(run(scenario))


def test_another_topology_or_option_is_made_anew() -> None:
    reused, base = Reused(), loads(text("broadcast", "binomial", 3840))
    run(base, reused=reused)
    others = (
        text("broadcast", "binomial", 3840).replace("latency: 1 us", "latency: 2 us"),
        text("broadcast", "binomial", 3840).replace("size", "root: 2, size"),
        text("broadcast", "binomial", 3840).replace("size", "root: 2, segments: 3, size"),
        text("reduce", "binomial", 7680),
    )
    for other in others:
        scenario = loads(other)
        assert as_object(run(scenario, reused=reused)) == as_object(run(scenario))
