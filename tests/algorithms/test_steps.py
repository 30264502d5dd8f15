"""The counts of all algorithms: exact shares of M, as the catalogue's own totals say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from algorithms import ALGORITHMS, build, rounds, totals
from algorithms.rounds import steps_of
from algorithms.steps import step_table, work
from simulator.scenario.catalogue import steps_json

GOLDEN = Path(__file__).parent / "steps.json"

KINDS_OF = [(name, kind) for name, algorithm in ALGORITHMS.items() for kind in algorithm.collectives]


@pytest.mark.parametrize(("name", "kind"), KINDS_OF)
def test_counts_are_those_of_the_closed_forms(name: str, kind: str) -> None:
    for ranks in (1, 2, 3, 6, 8):
        counted = work(name, kind, ranks)
        assert counted.totals == totals(name, kind, ranks)
        turns = rounds(name, kind, ranks, 0)
        assert turns is None or counted.steps == steps_of(turns)


@pytest.mark.parametrize(("name", "kind"), KINDS_OF)
def test_every_chunk_is_the_same_share_of_m(name: str, kind: str) -> None:
    """So that M, as many bytes as there are chunks, is divided evenly."""
    for ranks in (2, 3, 6, 8):
        chunks = build(name, kind, ranks, 0).collective.chunks
        sizes = build(name, kind, ranks, 0 if kind == "barrier" else chunks).collective.sizes
        assert len(set(sizes.tolist())) == 1


def test_no_count_has_changed_unnoticed() -> None:
    """`make tables` writes today's counts into the file, for a person to look at what has changed."""
    golden = json.loads(GOLDEN.read_text("utf-8"))
    counted = json.loads(steps_json(step_table(range(2, 17))))
    assert {kind: list(names) for kind, names in counted.items()} == {
        kind: list(names) for kind, names in golden.items()
    }
    for kind, names in counted.items():
        for name, by_ranks in names.items():
            assert by_ranks == golden[kind][name], (kind, name)


def test_table_goes_by_collective_algorithm_and_ranks() -> None:
    table = step_table([4, 2], ["allreduce"], ["ring", "direct"])
    assert {kind: {name: list(by) for name, by in names.items()} for kind, names in table.items()} == {
        "allreduce": {"ring": [4, 2], "direct": [4, 2]}
    }
    assert list(step_table([2], names=["recursive_halving"])) == ["reduce_scatter"]
