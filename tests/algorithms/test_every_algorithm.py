"""What holds for every algorithm of the registry; a new one needs its options in `variants`."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from algorithms import ALGORITHMS, Schedule, ScheduleError, build, count, dual, prove, rounds
from algorithms.collective import make_collective
from tests.algorithms.variants import KINDS, folds, is_power_of_two, variants

RANKS = (*range(1, 34), 48, 64)
COLUMNS = ("step", "channel", "src", "dst", "first", "count", "mode")

every_algorithm = pytest.mark.parametrize(("name", "kind"), KINDS)
every_size_of_cluster = pytest.mark.parametrize("ranks", RANKS)


def sizes(ranks: int) -> tuple[int, ...]:
    """Nothing, less than a byte a rank, a remainder, none; large clusters get the middle ones only."""
    every = (0, 1, ranks - 1, 1001, 720720)
    return every if ranks <= 6 else every[2:4] if ranks <= 9 else every[3:4]


def ways(name: str, kind: str, ranks: int) -> list[dict[str, Any]]:
    """Variants, thinned out where they take long; the rest is seen at fewer ranks."""
    every = variants(name, kind, ranks)
    return every if ranks <= 16 else every[: 3 + (name == "hierarchical") * 2]


def least_sent(kind: str, ranks: int, size: int) -> int:
    """All ranks together: a chunk must reach, or be gathered from, N - 1 others (Chan et al. 2007)."""
    return (2 if kind == "allreduce" else 1) * (ranks - 1) * size


@every_size_of_cluster
@every_algorithm
def test_computes_its_collective_in_the_steps_of_its_closed_form(name: str, kind: str, ranks: int) -> None:
    for options in ways(name, kind, ranks):
        for size in sizes(ranks):
            schedule = build(name, kind, ranks, size, **options)
            prove(schedule)
            counts = count(schedule)
            assert (schedule.collective.kind, schedule.ranks) == (kind, ranks)
            assert schedule.collective.size == size
            assert counts.steps == sum(turn.times for turn in rounds(name, kind, ranks, size, **options))
            assert counts.depth <= counts.steps
            assert counts.bytes_sent_total >= least_sent(kind, ranks, size)
            assert counts.bytes_sent_max * ranks >= counts.bytes_sent_total
            least_reduced = 0 if kind == "allgather" else (ranks - 1) * size
            assert counts.bytes_reduced_total >= least_reduced


@pytest.mark.parametrize("ranks", [*range(1, 11), 12, 16, 33])
@every_algorithm
def test_rows_stand_in_canonical_order_and_say_who_made_them(name: str, kind: str, ranks: int) -> None:
    for options in ways(name, kind, ranks):
        schedule = build(name, kind, ranks, 1001, **options)
        keys = canonical_keys(schedule)
        assert keys == sorted(set(keys))
        assert schedule.algorithm == name
        asked = options.get("non_power_of_two", "fold")
        assert schedule.fallback == (asked if folds(name, ranks, options) else None)


def canonical_keys(schedule: Schedule) -> list[tuple[int, int, int, int]]:
    """(step, channel, slot, src) of every row, in the order of the rows."""
    slots: Counter[tuple[int, int, int]] = Counter()
    keys = []
    for step, channel, src in zip(
        schedule.step.tolist(), schedule.channel.tolist(), schedule.src.tolist(), strict=True
    ):
        keys.append((step, channel, slots[step, channel, src], src))
        slots[step, channel, src] += 1
    return keys


@pytest.mark.parametrize("ranks", [*range(2, 11), 12, 16, 24])
@every_algorithm
def test_dual_of_the_dual_is_the_original(name: str, kind: str, ranks: int) -> None:
    for options in ways(name, kind, ranks):
        schedule = build(name, kind, ranks, 1001, **options)
        opposite = mirrored(schedule)
        if not_a_tree(schedule):
            with pytest.raises(ScheduleError, match="no dual"):
                dual(schedule, opposite.collective)
            continue
        backward = dual(schedule, opposite.collective)
        prove(backward)
        assert backward.steps == schedule.steps
        again = dual(backward, schedule.collective)
        for column in COLUMNS[:4] + COLUMNS[5:]:
            np.testing.assert_array_equal(getattr(again, column), getattr(schedule, column), column)
        np.testing.assert_array_equal(again.moves()[1], schedule.moves()[1])


def mirrored(schedule: Schedule) -> Schedule:
    """Not a schedule that works: only the collective in it counts, source and target exchanged."""
    collective = schedule.collective
    kinds = {"reduce_scatter": "allgather", "allgather": "reduce_scatter", "allreduce": "allreduce"}
    other = replace(
        collective, kind=kinds[collective.kind], source=collective.target, target=collective.source
    )
    return replace(schedule, collective=other)


def not_a_tree(schedule: Schedule) -> bool:
    """AllReduce has no root; a folded ReduceScatter sends away even the block that it gets back."""
    kind = schedule.collective.kind
    return kind == "allreduce" or (kind == "reduce_scatter" and schedule.fallback == "fold")


@every_algorithm
def test_one_rank_moves_nothing(name: str, kind: str) -> None:
    for options in variants(name, kind, 1):
        schedule = build(name, kind, 1, 1001, **options)
        assert (len(schedule), schedule.steps, schedule.fallback) == (0, 0, None)
        assert count(schedule).bytes_sent_total == 0


@every_algorithm
def test_the_steps_do_not_depend_on_the_size(name: str, kind: str) -> None:
    for ranks in (2, 6, 8):
        for options in variants(name, kind, ranks):
            small, large = (build(name, kind, ranks, size, **options) for size in (0, 10**9))
            for column in COLUMNS:
                np.testing.assert_array_equal(getattr(small, column), getattr(large, column))


def test_variants_cover_every_algorithm_and_option() -> None:
    assert {name for name, _ in KINDS} == set(ALGORITHMS)
    for name, algorithm in ALGORITHMS.items():
        asked = {
            option
            for kind in algorithm.collectives
            for ranks in (3, 4, 6)
            for options in variants(name, kind, ranks)
            for option in options
        }
        assert asked == set(algorithm.options), name


def test_variants_fold_inside_a_dimension_and_have_three_levels() -> None:
    options = variants("hierarchical", "reduce_scatter", 12)
    assert any(folds("hierarchical", 12, o) for o in options)
    assert {len(o["dims"]) for o in options} == {1, 2, 3}
    assert [1, 12, 1] in [o["dims"] for o in options]
    assert any("bidirectional_ring" in o.get("algorithms", []) for o in options)


@pytest.mark.parametrize("name", [n for n, a in ALGORITHMS.items() if a.power_of_two])
@pytest.mark.parametrize("ranks", [3, 6, 12])
def test_error_refuses_other_numbers_of_ranks(name: str, ranks: int) -> None:
    assert not is_power_of_two(ranks)
    kind = ALGORITHMS[name].collectives[0]
    with pytest.raises(ScheduleError, match=rf"needs N = 2\^k ranks, found N = {ranks}") as caught:
        build(name, kind, ranks, 100, non_power_of_two="error")
    assert caught.value.at == ("non_power_of_two",)


@pytest.mark.parametrize(
    ("name", "kind", "ranks", "options", "message", "at"),
    [
        ("rings", "reduce_scatter", 4, {}, 'there is no algorithm "rings"', ("algorithm",)),
        (
            "rabenseifner",
            "allgather",
            4,
            {},
            '"rabenseifner" does no allgather; ring, bidirectional_ring, recursive_doubling, direct',
            ("algorithm",),
        ),
        ("ring", "reduce_scatter", 4, {"dims": [2, 2]}, '"ring" takes no dims', ("dims",)),
        ("direct", "allreduce", 4, {"order": "far"}, '"direct" takes no order', ("order",)),
        ("ring", "allgather", 4, {"first_chunk": 0}, "starts with each rank's own chunk", ("first_chunk",)),
        ("hierarchical", "allgather", 8, {}, "needs dims", ("dims",)),
        ("hierarchical", "allgather", 8, {"dims": [4, 3]}, "do not multiply to 8", ("dims",)),
        ("hierarchical", "allgather", 8, {"dims": [-2, -4]}, "do not multiply to 8", ("dims",)),
        ("hierarchical", "allgather", 1, {"dims": []}, "do not multiply to 1", ("dims",)),
        (
            "hierarchical",
            "allgather",
            8,
            {"dims": [4, 2], "algorithms": ["ring"]},
            "2 dims need 2 algorithms, found 1",
            ("algorithms",),
        ),
        (
            "hierarchical",
            "allreduce",
            8,
            {"dims": [4, 2], "algorithms": ["rabenseifner", "ring"]},
            '"rabenseifner" does no reduce_scatter along a dimension',
            ("algorithms", 0),
        ),
        (
            "hierarchical",
            "reduce_scatter",
            8,
            {"dims": [4, 2], "algorithms": ["ring", "rong"]},
            '"rong" does no reduce_scatter',
            ("algorithms", 1),
        ),
        ("ring", "reduce_scatter", 0, {}, "1 to 1,048,576 ranks, found 0", ("ranks",)),
    ],
)
def test_refuses(
    name: str, kind: str, ranks: int, options: dict[str, Any], message: str, at: tuple[str | int, ...]
) -> None:
    for ask in (build, rounds):
        if ask is rounds and "first_chunk" in options:
            continue  # the price is the same whatever chunk comes first
        with pytest.raises(ScheduleError, match=message) as caught:
            ask(name, kind, ranks, 64, **options)
        assert caught.value.at == at


def test_refuses_an_unknown_collective_and_a_negative_size() -> None:
    with pytest.raises(ScheduleError, match='no collective "reduce"'):
        build("ring", "reduce", 4, 64)
    with pytest.raises(ScheduleError, match=r"0 to 2\^50 bytes, found -1"):
        build("ring", "reduce_scatter", 4, -1)
    with pytest.raises(ScheduleError, match='no collective "gossip"'):
        make_collective("gossip", 4, 64)
