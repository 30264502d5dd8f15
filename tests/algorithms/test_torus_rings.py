"""Rings on tori: the bucket algorithm by hand, and Hamiltonian cycles that share no link."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, prod
from typing import Any

import numpy as np
import pytest

from algorithms import (
    Platform,
    Schedule,
    ScheduleError,
    build,
    closed_form,
    congestion_factor,
    rounds,
    totals,
)
from algorithms.catalogue.torus_rings import hamiltonian_cycles
from simulator.engine.lower import lower
from simulator.engine.simpy_engine import run_simpy
from tests.cases import case
from topologies import torus

ALPHA, BETA = 1e-6, 1e9


def seconds(schedule: Schedule, dims: list[int]) -> float:
    return run_simpy(lower(schedule, torus(dims, BETA, ALPHA))).time * 1e-15


def test_bucket_by_hand() -> None:
    # 3 x 2: rank 0's neighbours are 1 and 3; along p_0 it sends what goes to column 2 first, then column 1;
    # along p_1 the one block of the other row
    schedule = build("bucket", "reduce_scatter", 6, 6, dims=[3, 2])
    own = np.flatnonzero(schedule.src == 0)
    assert schedule.dst[own].tolist() == [1, 1, 3]
    assert [sorted(schedule.chunks(row).tolist()) for row in own] == [[2, 5], [1, 4], [3]]


def test_bucket_goes_back_the_way_it_came() -> None:
    schedule = build("bucket", "allreduce", 6, 6, dims=[3, 2])
    own = schedule.src == 0
    assert schedule.dst[own].tolist() == [1, 1, 3, 3, 1, 1]
    assert schedule.count[own].tolist() == [2, 2, 1, 1, 2, 2]


@pytest.mark.parametrize("dims", [[4, 2], [3, 3], [4, 4], [2, 3, 4], [5], [1, 4, 1, 2], [8, 4]], ids=str)
def test_bucket_takes_its_time(dims: list[int]) -> None:
    # 2 sum (d - 1) alpha + 2 M (N - 1) / N beta
    ranks = prod(dims)
    schedule = build("bucket", "allreduce", ranks, 240 * ranks, dims=dims)
    expected = 2 * sum(d - 1 for d in dims) * ALPHA + 2 * 240 * (ranks - 1) / BETA
    assert seconds(schedule, dims) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("dims", [[3, 3], [4, 4], [3, 3, 3], [5], [1, 6, 1]], ids=str)
def test_all_copies_share_the_bytes_of_a_square_torus(dims: list[int]) -> None:
    ranks, copies = prod(dims), 2 * sum(d > 1 for d in dims)
    schedule = build("bucket", "allreduce", ranks, 240 * ranks, dims=dims, copies="all")
    expected = 2 * sum(d - 1 for d in dims) * ALPHA + 2 * 240 * (ranks - 1) / copies / BETA
    assert seconds(schedule, dims) == pytest.approx(expected, rel=1e-12)
    assert congestion_factor(schedule, torus(dims, BETA)) == pytest.approx(
        2 * (ranks - 1) / ranks / copies, rel=1e-12
    )


def test_bucket_copies_start_in_turn() -> None:
    # by hand on 3 x 3: right, up, left, down, then the other dimension
    schedule = build("bucket", "reduce_scatter", 9, 36, dims=[3, 3], copies="all")
    first, last = ((schedule.src == 0) & (schedule.step == step) for step in (0, 3))
    assert schedule.dst[first].tolist() == [1, 3, 2, 6]
    assert schedule.dst[last].tolist() == [3, 1, 6, 2]
    assert schedule.sizes()[first].tolist() == [3] * 4
    assert schedule.sizes()[last].tolist() == [1] * 4


def test_one_dimension_is_the_ring() -> None:
    for kind in ("reduce_scatter", "allgather", "allreduce"):
        bucket, ring = build("bucket", kind, 6, 600), build("ring", kind, 6, 600)
        for column in ("step", "src", "dst", "first", "count", "mode"):
            np.testing.assert_array_equal(getattr(bucket, column), getattr(ring, column))


@pytest.mark.parametrize("kind", ["reduce_scatter", "allgather", "allreduce"])
@pytest.mark.parametrize("dims", [[4, 2], [3, 5], [2, 3, 2]], ids=str)
def test_one_copy_is_a_hierarchy_of_rings(kind: str, dims: list[int]) -> None:
    moves = []
    for name in ("bucket", "hierarchical"):
        schedule = build(name, kind, prod(dims), 100, dims=dims)
        row, chunk = schedule.moves()
        columns = (schedule.step[row], schedule.src[row], schedule.dst[row], chunk)
        moves.append(set(zip(*(column.tolist() for column in columns), strict=True)))
    assert moves[0] == moves[1]


def allowed(dims: list[int]) -> bool:
    """The paper's r = c k, gcd(r, c - 1) = 1, for either dimension as c > 2."""
    return any(c > 2 and r % c == 0 and gcd(r, c - 1) == 1 for r, c in (dims, dims[::-1]))


@pytest.mark.parametrize("inner", range(2, 17))
def test_hamiltonian_cycles(inner: int) -> None:
    for outer in range(2, 17):
        with case(inner, outer):
            check_cycles([inner, outer])


def check_cycles(dims: list[int]) -> None:
    cycles = hamiltonian_cycles(dims)
    assert (cycles is not None) == allowed(dims)
    if cycles is None:
        return
    grid = torus(dims, BETA)
    links = set(zip(grid.links.src.tolist(), grid.links.dst.tolist(), strict=True))
    walked = []
    for cycle in cycles.tolist():
        assert sorted(cycle) == list(range(prod(dims)))
        walked += [(a, b) for a, b in zip(cycle, cycle[1:] + cycle[:1], strict=True)]
        walked += [(b, a) for a, b in zip(cycle, cycle[1:] + cycle[:1], strict=True)]
    # every link of the torus once, each way
    assert len(walked) == len(set(walked)) == len(links)
    assert set(walked) == links


@pytest.mark.parametrize("dims", [[3, 3], [4, 4], [8, 4], [4, 8], [5, 5], [9, 3]], ids=str)
def test_four_rings_take_a_quarter(dims: list[int]) -> None:
    # 2 (N - 1)(alpha + M / 4N beta)
    ranks = prod(dims)
    schedule = build("hamiltonian_rings", "allreduce", ranks, 400 * ranks, dims=dims)
    assert seconds(schedule, dims) == pytest.approx(2 * (ranks - 1) * (ALPHA + 100 / BETA), rel=1e-12)
    assert schedule.fallback is None


@pytest.mark.parametrize(
    ("ranks", "options"),
    [
        (8, {"dims": [4, 2]}),
        (12, {"dims": [4, 3]}),
        (8, {"dims": [2, 2, 2]}),
        (27, {"dims": [3, 3, 3]}),
        (9, {}),
        (9, {"dims": [9]}),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", ["reduce_scatter", "allgather", "allreduce"])
def test_elsewhere_it_is_the_bidirectional_ring(kind: str, ranks: int, options: dict[str, Any]) -> None:
    schedule = build("hamiltonian_rings", kind, ranks, 720, **options)
    instead = build("bidirectional_ring", kind, ranks, 720)
    assert schedule.fallback == "bidirectional_ring"
    for column in ("step", "src", "dst", "first", "count", "mode"):
        np.testing.assert_array_equal(getattr(schedule, column), getattr(instead, column))
    assert rounds("hamiltonian_rings", kind, ranks, 720, **options) == rounds(
        "bidirectional_ring", kind, ranks, 720
    )


def test_all_copies_of_a_square_torus_by_rounds() -> None:
    # 4 x 4, M = 1600: 3 steps of 1600 / 4 / 4, then 3 of 1600 / 4 / 16, four messages at a time to reduce
    turns = rounds("bucket", "reduce_scatter", 16, 1600, dims=[4, 4], copies="all")
    assert turns is not None
    assert [(t.times, t.sent, t.fan_in) for t in turns] == [(3, 100, 4), (3, 25, 4)]
    assert closed_form(turns, [Platform(1, 1)]) == 6 + Fraction(1600 * 15, 16 * 4)


@pytest.mark.parametrize("name", ["bucket", "hamiltonian_rings"])
def test_refuses_dims_of_other_clusters(name: str) -> None:
    for dims in ([3, 3], [], [-2, -4], [0, 8]):
        for ask in (build, rounds):
            with pytest.raises(ScheduleError, match="do not multiply to 8 ranks") as caught:
                ask(name, "allgather", 8, 64, dims=dims)
            assert caught.value.at == ("dims",)
        with pytest.raises(ScheduleError, match="do not multiply to 8 ranks"):
            totals(name, "allgather", 8, dims=dims)
