"""Closed forms against the seed's formulas, written out here, and against Open MPI and MPICH."""

from __future__ import annotations

from fractions import Fraction
from math import prod

import pytest

from algorithms import Platform, build, closed_form, count, rounds

ALPHA, BETA, GAMMA = Fraction(1, 10**6), Fraction(64 * 10**9), Fraction(512 * 10**9)
FULL = [Platform(ALPHA, BETA, reduction=GAMMA)]
APPROXIMATE = [Platform(ALPHA, BETA)]
SIZES = [1, 1001, 720720, 2**30]


@pytest.mark.parametrize("m", SIZES)
@pytest.mark.parametrize("n", [*range(1, 18), 32, 64])
def test_ring_reduce_scatter_is_the_seeds(n: int, m: int) -> None:
    turns = rounds("ring", "reduce_scatter", n, m)
    share = Fraction(m, n)
    assert closed_form(turns, FULL) == (n - 1) * (ALPHA + share / BETA + share / GAMMA)
    assert closed_form(turns, APPROXIMATE) == (n - 1) * ALPHA + Fraction((n - 1) * m, n) / BETA


@pytest.mark.parametrize("m", SIZES)
@pytest.mark.parametrize("k", range(7))
def test_recursive_halving_is_the_seeds(k: int, m: int) -> None:
    n = 2**k
    turns = rounds("recursive_halving", "reduce_scatter", n, m)
    full = sum(
        (ALPHA + Fraction(m, 2**j) / BETA + Fraction(m, 2**j) / GAMMA for j in range(1, k + 1)), Fraction(0)
    )
    assert closed_form(turns, FULL) == full
    assert closed_form(turns, APPROXIMATE) == k * ALPHA + Fraction((n - 1) * m, n) / BETA


@pytest.mark.parametrize("m", SIZES)
@pytest.mark.parametrize("dims", [[8], [4, 2], [2, 3, 4], [5, 1, 2], [2, 2, 2, 2]])
def test_multi_dimensional_reduce_scatter_is_the_seeds(dims: list[int], m: int) -> None:
    alphas = [ALPHA * (i + 1) for i in range(len(dims))]
    betas = [BETA / (3 * i + 1) for i in range(len(dims))]
    expected = sum(
        (
            (p - 1) * alphas[i] + Fraction(p - 1, p) * Fraction(m, prod(dims[:i])) / betas[i]
            for i, p in enumerate(dims)
        ),
        Fraction(0),
    )
    levels = [Platform(alpha, beta) for alpha, beta in zip(alphas, betas, strict=True)]
    for kind in ("reduce_scatter", "allgather"):
        assert closed_form(rounds("hierarchical", kind, prod(dims), m, dims=dims), levels) == expected
    # AllReduce is ReduceScatter and AllGather, level by level
    assert closed_form(rounds("hierarchical", "allreduce", prod(dims), m, dims=dims), levels) == 2 * expected


def test_reducing_at_512_against_64_costs_an_eighth_more() -> None:
    # the bandwidth terms alone: M/N/beta + M/N/gamma = 1.125 M/N/beta
    for name in ("ring", "recursive_halving"):
        turns = rounds(name, "reduce_scatter", 8, 2**30)
        with_sum = closed_form(turns, [Platform(0, BETA, reduction=GAMMA)])
        assert with_sum / closed_form(turns, [Platform(0, BETA)]) == Fraction(9, 8)


def test_streamed_reduction_hides_behind_the_wire_where_it_is_faster() -> None:
    turns = rounds("ring", "reduce_scatter", 8, 2**30)
    hidden = [Platform(ALPHA, BETA, reduction=GAMMA, mode="streamed")]
    assert closed_form(turns, hidden) == closed_form(turns, APPROXIMATE)
    slow = [Platform(ALPHA, GAMMA, reduction=BETA, mode="streamed")]
    assert closed_form(turns, slow) == closed_form(turns, APPROXIMATE)


def test_overhead_counts_as_alpha() -> None:
    turns = rounds("direct", "allreduce", 5, 1000)
    split = [Platform(ALPHA / 4, BETA, overhead=ALPHA * 3 / 4, reduction=GAMMA)]
    assert closed_form(turns, split) == closed_form(turns, FULL)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 9, 16, 17])
def test_other_closed_forms(n: int) -> None:
    m, block = 720720 * 17, Fraction(720720 * 17, n)
    one_shot = ALPHA + m / BETA + (n - 1) * m / GAMMA
    assert closed_form(rounds("direct", "allreduce", n, m), FULL) == one_shot
    spread = ALPHA + block / BETA + (n - 1) * block / GAMMA
    assert closed_form(rounds("direct", "reduce_scatter", n, m), FULL) == spread
    ring = (n - 1) * (2 * ALPHA + 2 * block / BETA + block / GAMMA)
    assert closed_form(rounds("ring", "allreduce", n, m), FULL) == ring
    if n > 2:
        # ALGORITHMS: ceil((N-1)/2) alpha + ((N-1)/2) M/N beta, both ports busy
        both = -(-(n - 1) // 2) * ALPHA + Fraction(n - 1, 2) * block / BETA
        assert closed_form(rounds("bidirectional_ring", "allgather", n, m), FULL) == both
        halves = (n - 1) * (2 * ALPHA + block / BETA + block / GAMMA)
        assert closed_form(rounds("bidirectional_ring", "allreduce", n, m), FULL) == halves


# steps for N = 2..16, from the comments of MPICH's code
MPICH_STEPS = {
    ("recursive_doubling", "allreduce"): [1, 3, 2, 4, 4, 4, 3, 5, 5, 5, 5, 5, 5, 5, 4],
    ("rabenseifner", "allreduce"): [2, 4, 4, 6, 6, 6, 6, 8, 8, 8, 8, 8, 8, 8, 8],
    ("recursive_halving", "reduce_scatter"): [1, 3, 2, 4, 4, 4, 3, 5, 5, 5, 5, 5, 5, 5, 4],
    ("ring", "reduce_scatter"): list(range(1, 16)),
    ("ring", "allgather"): list(range(1, 16)),
}


@pytest.mark.parametrize(("name", "kind"), MPICH_STEPS)
def test_steps_are_mpichs(name: str, kind: str) -> None:
    for n, steps in enumerate(MPICH_STEPS[name, kind], start=2):
        assert build(name, kind, n, 720720).steps == steps
        assert sum(turn.times for turn in rounds(name, kind, n, 720720)) == steps


# Open MPI 5.0.11, every internal message traced, M = 720720 ints: messages, bytes on the wire / M,
# reduction volume / M, all ranks together
MEASURED_RANKS = (2, 3, 4, 5, 7, 8, 9, 10, 12, 15, 16)
POWERS = (2, 4, 8, 16)
OPEN_MPI = {
    ("ring", "allreduce", MEASURED_RANKS): (
        "4 12 24 40 84 112 144 180 264 420 480",
        "2 4 6 8 12 14 16 18 22 28 30",
        "1 2 3 4 6 7 8 9 11 14 15",
    ),
    ("recursive_doubling", "allreduce", MEASURED_RANKS): (
        "2 4 8 10 14 24 26 28 32 38 64",
        "2 4 8 10 14 24 26 28 32 38 64",
        "2 3 8 9 11 24 25 26 28 31 64",
    ),
    ("ring", "allgather", MEASURED_RANKS): (
        "2 6 12 20 42 56 72 90 132 210 240",
        "1 2 3 4 6 7 8 9 11 14 15",
        "0 0 0 0 0 0 0 0 0 0 0",
    ),
    ("recursive_doubling", "allgather", POWERS): ("2 8 24 64", "1 3 7 15", "0 0 0 0"),
    ("ring", "reduce_scatter", MEASURED_RANKS): (
        "2 6 12 20 42 56 72 90 132 210 240",
        "1 2 3 4 6 7 8 9 11 14 15",
        "1 2 3 4 6 7 8 9 11 14 15",
    ),
    ("recursive_halving", "reduce_scatter", MEASURED_RANKS): (
        "2 4 8 10 14 24 26 28 32 38 64",
        "1 7/3 3 21/5 45/7 7 73/9 46/5 34/3 217/15 15",
        "1 2 3 4 6 7 8 9 11 14 15",
    ),
}


@pytest.mark.parametrize(("name", "kind", "ranks"), OPEN_MPI)
def test_volumes_are_open_mpis(name: str, kind: str, ranks: tuple[int, ...]) -> None:
    m = 4 * 720720
    columns = (line.split() for line in OPEN_MPI[name, kind, ranks])
    for n, messages, sent, reduced in zip(ranks, *columns, strict=True):
        counts = count(build(name, kind, n, m))
        assert counts.transfers == int(messages)
        assert counts.bytes_sent_total == Fraction(sent) * m
        assert counts.bytes_reduced_total == Fraction(reduced) * m


# bytes on the critical path / M, from a one-port replay of Open MPI's own trace
BETA_TERMS = {
    ("recursive_halving", "reduce_scatter"): "1/2 2 3/4 11/5 2 7/8 20/9 23/10 9/4 2 15/16",
    ("recursive_doubling", "allreduce"): "1 3 2 4 4 3 5 5 5 5 4",
    ("ring", "allreduce"): "1 4/3 3/2 8/5 12/7 7/4 16/9 9/5 11/6 28/15 15/8",
    ("ring", "reduce_scatter"): "1/2 2/3 3/4 4/5 6/7 7/8 8/9 9/10 11/12 14/15 15/16",
    ("ring", "allgather"): "1/2 2/3 3/4 4/5 6/7 7/8 8/9 9/10 11/12 14/15 15/16",
}


@pytest.mark.parametrize(("name", "kind"), BETA_TERMS)
def test_beta_terms_are_open_mpis(name: str, kind: str) -> None:
    m = 720720
    for n, term in zip(MEASURED_RANKS, BETA_TERMS[name, kind].split(), strict=True):
        assert closed_form(rounds(name, kind, n, m), [Platform(0, 1)]) == Fraction(term) * m


@pytest.mark.parametrize("n", [3, 5, 6, 7, 9, 12, 15, 33])
def test_folded_rabenseifner_is_mpichs(n: int) -> None:
    # MPICH: (2f + 2) alpha, (2 (P-1)/P + 2) M beta, (1 + (P-1)/P) M gamma
    f = n.bit_length() - 1
    share = Fraction(2**f - 1, 2**f)
    m = 2**20
    expected = (2 * f + 2) * ALPHA + (2 * share + 2) * m / BETA + (1 + share) * m / GAMMA
    assert closed_form(rounds("rabenseifner", "allreduce", n, m), FULL) == expected


def test_a_round_is_priced_by_its_level_and_the_last_platform_serves_all_above() -> None:
    turns = rounds("hierarchical", "reduce_scatter", 8, 64, dims=[2, 2, 2])
    assert [turn.level for turn in turns] == [0, 1, 2]
    assert closed_form(turns, [Platform(1, 1), Platform(10, 1)]) == (1 + 32) + (10 + 16) + (10 + 8)
