"""All-to-All: lengths that prove a time, and flows that attain it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from algorithms.collective import make_collective
from algorithms.concurrent_flow import (
    Exchange,
    best_lengths,
    distance_bound,
    exchange,
    plain_lengths,
    spread_time,
)
from algorithms.sizes import resized
from tests.algorithms.bound_examples import DGX1, PETERSEN, linked
from topologies import Topology, crossbar, full_mesh, mesh, ring, torus
from topologies.alike import moved_by


def each_to_each(topology: Topology, *, together: bool) -> Exchange:
    """One byte from each to each, each rank by itself or one for all."""
    ranks = topology.ranks
    collective = make_collective("all_to_all", ranks, ranks)
    return exchange(collective, topology, np.arange(ranks), moved_by(topology) if together else None)


def test_one_rank_stands_for_all_that_see_the_same() -> None:
    for topology in (ring(6, 2.0), ring(5, 1.0, direction="one"), torus([4, 2], 1.0), full_mesh(5, 1.0)):
        one, every = each_to_each(topology, together=True), each_to_each(topology, together=False)
        assert (len(one.demand), len(every.demand)) == (1, topology.ranks)
        assert [distance_bound(one, length) for length in plain_lengths(topology)] == [
            distance_bound(every, length) for length in plain_lengths(topology)
        ]
        assert spread_time(one) == pytest.approx(spread_time(every))
        (length, seconds), (_, alone) = best_lengths(one), best_lengths(every)
        assert float(distance_bound(one, length)) == pytest.approx(seconds)
        assert alone == pytest.approx(seconds)


def test_distances_by_hand() -> None:
    # a ring of five: 1 + 1 + 2 + 2 from each, over ten links of 2 bytes/s
    assert distance_bound(
        each_to_each(ring(5, 2.0), together=False), np.ones(10, dtype=np.int64)
    ) == Fraction(30, 20)
    # a torus of 8 x 2: along the long one each is 16 away from its own eight, and from the other eight
    grid = torus([8, 2], 1.0)
    problem = each_to_each(grid, together=True)
    assert max(distance_bound(problem, length) for length in plain_lengths(grid)) == Fraction(2 * 16, 2)
    # links of no bandwidth in common have lengths that are rounded, and still prove something
    odd = linked(3, [(0, 1, 0.1), (1, 2, 0.3), (2, 0, 0.7)])
    length = next(plain_lengths(odd))
    assert 0 < distance_bound(each_to_each(odd, together=False), length) < 20


def test_linear_programs_give_exact_fractions() -> None:
    for topology, wanted in (
        (linked(8, DGX1), Fraction(8, 3)),
        (linked(10, PETERSEN), Fraction(5)),
        (mesh([3, 3], 1.0), Fraction(6)),
        (crossbar(4, 1.0), Fraction(3)),
    ):
        problem = each_to_each(topology, together=False)
        length, seconds = best_lengths(problem)
        assert distance_bound(problem, length) == wanted
        assert seconds == pytest.approx(float(wanted))


def test_uneven_blocks() -> None:
    # only rank 0 sends, 6 bytes to the opposite one: two ways of two links
    sizes = [[0, 0, 6, 0], [0] * 4, [0] * 4, [0] * 4]
    collective = resized(make_collective("all_to_all", 4, 16), sizes)
    problem = exchange(collective, ring(4, 1.0), np.arange(4))
    assert len(problem.demand) == 4
    length, seconds = best_lengths(problem)
    assert distance_bound(problem, length) == 3
    assert seconds == pytest.approx(3.0)
    assert spread_time(problem) == pytest.approx(3.0)


def test_hosts_of_a_switch_go_on_together() -> None:
    # a link up and a link down each: 3 bytes over both
    assert spread_time(each_to_each(crossbar(4, 1.0), together=False)) == 3.0
    # two hosts of which each is all that the other sees
    assert spread_time(each_to_each(ring(2, 1.0), together=True)) == 1.0
