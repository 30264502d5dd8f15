"""Themis: orders by hand, balance of the dimensions, and what it gains on a torus."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from algorithms import ScheduleError, build, count, prove
from algorithms.catalogue.themis import dimension_orders
from simulator.engine.lower import lower
from simulator.engine.simpy_engine import run_simpy
from topologies import Topology, torus


def test_equal_dimensions_take_turns() -> None:
    # by hand, 4 x 4: chunk 0 loads dimension 0 by 3/4 + 3/4 and dimension 1 by 3/16 + 3/16; chunk 1 the
    # other way round, and then both have 15/8 to do
    assert dimension_orders("allreduce", [4, 4], 4, [1.0, 1.0]) == [(0, 1), (1, 0), (0, 1), (1, 0)]


def test_a_fast_dimension_goes_first_until_it_is_as_loaded() -> None:
    # by hand, 2 x 2 with 8 to 1: each chunk adds 1/8 to dimension 0 and 1/2 to dimension 1 (both ways)
    orders = dimension_orders("allreduce", [2, 2], 5, [8.0, 1.0])
    assert orders == [(0, 1)] * 5
    # with 2 to 1 chunk 0 adds 1/2 and 1/2; chunk 1, no less loaded, goes first through dimension 0 again
    assert dimension_orders("allreduce", [2, 2], 2, [2.0, 1.0]) == [(0, 1), (0, 1)]


def test_allgather_is_counted_by_what_it_sends() -> None:
    # AllGather goes backwards: chunk 0 along dimension 1 with 1/4 to 1/2, then along 0 with 1/2 to 1
    assert dimension_orders("allgather", [2, 2], 2, [1.0, 1.0]) == [(0, 1), (1, 0)]


@pytest.mark.parametrize("kind", ["reduce_scatter", "allgather", "allreduce"])
def test_one_chunk_is_the_hierarchical_schedule(kind: str) -> None:
    one, other = (
        build(name, kind, 12, 1200, dims=[3, 4], **options)
        for name, options in (("themis", {"chunks": 1}), ("hierarchical", {}))
    )
    # its AllReduce has a ring in the outermost dimension, too
    for column in ("step", "src", "dst", "count", "mode"):
        np.testing.assert_array_equal(getattr(one, column), getattr(other, column))
    np.testing.assert_array_equal(one.moves()[1], other.moves()[1])


def along(topology: Topology, name: str, **options: object) -> float:
    schedule = build(name, "allreduce", topology.ranks, 2**24, dims=topology.dims, **options)
    prove(schedule)
    return run_simpy(lower(schedule, topology)).seconds


def test_it_uses_all_dimensions_of_a_torus_at_once() -> None:
    plane = torus([4, 4], bandwidth=50e9)
    piped = along(plane, "hierarchical", segments=4)
    balanced = along(plane, "themis", chunks=4)
    # dimension 0 sends 3/2 M in all, dimension 1 3/8 M; balanced each sends 15/16 M
    assert piped >= 1.5 * 2**24 / 50e9
    assert balanced >= 15 / 16 * 2**24 / 50e9
    assert balanced < 0.8 * piped


def test_bytes_are_those_of_any_order() -> None:
    counts = count(build("themis", "allreduce", 16, 16 * 12, dims=[4, 4], chunks=3))
    assert counts.bytes_sent_total == 2 * 15 * 16 * 12
    assert Fraction(counts.bytes_sent_max, 16 * 12) == Fraction(2 * 15, 16)


@pytest.mark.parametrize(
    ("options", "message", "at"),
    [
        ({"dims": [3, 3]}, r"dims \[3, 3\] do not multiply to 8 ranks", ("dims",)),
        ({"dims": [4, 2], "chunks": 0}, "at least 1 chunk, found 0", ("chunks",)),
        ({"dims": [4, 2], "weights": [1.0]}, "2 dims need 2 weights, found 1", ("weights",)),
        ({"dims": [4, 2], "weights": [1.0, -1.0]}, "positive and finite, found -1.0", ("weights", 1)),
        ({"dims": [4, 2], "algorithms": ["ring"]}, "2 dims need 2 algorithms, found 1", ("algorithms",)),
        ({"dims": [4, 2], "algorithms": ["ring", "x"]}, '"x" does no reduce_scatter', ("algorithms", 1)),
    ],
)
def test_refuses(options: dict[str, object], message: str, at: tuple[str | int, ...]) -> None:
    with pytest.raises(ScheduleError, match=message) as caught:
        build("themis", "allreduce", 8, 64, **options)
    assert caught.value.at == at
