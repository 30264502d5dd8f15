"""What holds for every algorithm of the registry; a new one needs its options in `variants`."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from algorithms import ALGORITHMS, Counts, Schedule, ScheduleError, build, count, dual, prove, rounds, totals
from algorithms import collective as collectives
from algorithms.collective import make_collective
from algorithms.rounds import Totals, least, steps_of
from algorithms.schedule import REDUCE
from tests.algorithms.variants import KINDS, ROOTED, folds, is_power_of_two, variants
from tests.cases import case

RANKS = (*range(1, 34), 48, 64)
COLUMNS = ("step", "channel", "src", "dst", "first", "count", "mode")

# scope: all tests of an algorithm one after the other, so that they share its schedules
every_algorithm = pytest.mark.parametrize(("name", "kind"), KINDS, scope="module")


def some_size(kind: str) -> int:
    """Not divisible by any number of ranks but 7, 11, 13 and their products."""
    return 0 if kind == "barrier" else 1001


def usual(name: str, kind: str, ranks: int, options: dict[str, Any]) -> Schedule:
    """Of some size; several tests look at it."""
    return _usual(name, kind, ranks, json.dumps(options))


@lru_cache(maxsize=128)
def _usual(name: str, kind: str, ranks: int, options: str) -> Schedule:
    return build(name, kind, ranks, some_size(kind), **json.loads(options))


def ways(name: str, kind: str, ranks: int) -> list[dict[str, Any]]:
    """All variants; of more than 8 ranks one of them, another at every N in turn."""
    every = variants(name, kind, ranks)
    return every if ranks <= 8 else [every[ranks % len(every)]]


@every_algorithm
def test_computes_its_collective_with_the_counts_of_its_closed_forms(name: str, kind: str) -> None:
    for ranks in RANKS:
        for options in ways(name, kind, ranks):
            with case(ranks, options):
                schedule = usual(name, kind, ranks, options)
                prove(schedule)
                counts = count(schedule)
                assert (schedule.collective.kind, schedule.ranks) == (kind, ranks)
                assert schedule.collective.size == some_size(kind)
                turns = rounds(name, kind, ranks, some_size(kind), **options)
                assert turns is None or counts.steps == steps_of(turns)
                check_counts(counts, schedule)
                check_totals(schedule, totals(name, kind, ranks, **options))


def check_totals(schedule: Schedule, every: Totals | None) -> None:
    """What the ranks together send and reduce where every chunk has two bytes."""
    assert every is not None
    collective = schedule.collective
    even = replace(schedule, collective=replace(collective, sizes=np.full(collective.chunks, 2)))
    if collective.kind == "barrier":
        even = schedule
    sent, size = even.sizes(), even.collective.size
    assert len(schedule) == every.messages
    assert int(sent.sum()) == every.sent * size
    assert int(sent[schedule.mode == REDUCE].sum()) == every.reduced * size


@every_algorithm
def test_odd_sizes(name: str, kind: str) -> None:
    """Nothing, less than a byte a rank, a remainder, none."""
    several = ((1, 1), (2, 2), (3, 3), (6, 4))
    for ranks, options in [(n, options) for n, few in several for options in variants(name, kind, n)[:few]]:
        other = usual(name, kind, ranks, options)
        for size in {0, 1, ranks - 1, 720720} if kind != "barrier" else {0}:
            with case(ranks, options, size):
                schedule = build(name, kind, ranks, size, **options)
                for column in COLUMNS:
                    np.testing.assert_array_equal(getattr(other, column), getattr(schedule, column))
                np.testing.assert_array_equal(other.moves()[1], schedule.moves()[1])
                assert schedule.collective.size == size
                check_counts(count(schedule), schedule)


def check_counts(counts: Counts, schedule: Schedule) -> None:
    """No fewer bytes than any algorithm needs, and nothing impossible."""
    kind, ranks, size = schedule.collective.kind, schedule.ranks, schedule.collective.size
    assert counts.depth <= counts.steps
    needed = least(kind, ranks)
    if kind in ("scatter", "gather", "all_to_all"):
        # the bytes that stay where they are, are those of rank 0's block, the largest
        needed = replace(needed, sent=needed.sent - (size % ranks > 0))
    assert counts.bytes_sent_total >= needed.sent * size
    if not schedule.switches:
        assert counts.bytes_sent_max * ranks >= counts.bytes_sent_total
    assert counts.bytes_reduced_total >= needed.reduced * size


@pytest.mark.parametrize(("name", "kind"), ROOTED)
def test_any_rank_may_be_the_root(name: str, kind: str) -> None:
    for ranks in (*range(2, 9), *range(9, 34, 8), 48, 64):
        for options in ways(name, kind, ranks):
            at_0 = count(usual(name, kind, ranks, options))
            for root in {1, ranks // 2, ranks - 1}:
                with case(ranks, options, root):
                    check_root(name, kind, ranks, root, options, at_0)


def check_root(name: str, kind: str, ranks: int, root: int, options: dict[str, Any], at_0: Counts) -> None:
    schedule = build(name, kind, ranks, 1001, root=root, **options)
    prove(schedule)
    at = collectives.KINDS[kind]
    assert {"source": at.source == "root", "target": at.target == "root"} == {
        "source": bool((schedule.collective.source == root).all()),
        "target": bool((schedule.collective.target == root).all()),
    }
    counts = count(schedule)
    turns = rounds(name, kind, ranks, 1001, root=root, **options)
    assert turns is None or counts.steps == steps_of(turns)
    assert abs(counts.transfers - at_0.transfers) <= 1


@every_algorithm
def test_segments_go_their_way_and_cost_as_many_bytes(name: str, kind: str) -> None:
    for ranks, options in [(n, options) for n in (1, 3, 6, 8) for options in variants(name, kind, n)[:2]]:
        whole = count(usual(name, kind, ranks, options))
        schedule = build(name, kind, ranks, some_size(kind), segments=3, **options)
        prove(schedule)
        counts = count(schedule)
        assert counts.bytes_sent_total == whole.bytes_sent_total
        assert counts.bytes_reduced_total == whole.bytes_reduced_total
        assert counts.transfers == 3 * whole.transfers
        assert whole.steps <= counts.steps <= 3 * whole.steps


@pytest.mark.parametrize(("name", "kind"), [(n, k) for n, k in KINDS if collectives.KINDS[k].by_rank])
def test_blocks_of_any_sizes(name: str, kind: str) -> None:
    rng = np.random.default_rng(12)
    for ranks, options in [(n, options) for n in (1, 2, 3, 8, 12) for options in variants(name, kind, n)[:2]]:
        shape = (ranks, ranks) if kind == "all_to_all" else ranks
        blocks = rng.integers(0, 50, shape) * rng.integers(0, 2, shape)
        if kind == "barrier":
            with pytest.raises(ScheduleError, match="barrier has no sizes by rank"):
                build(name, kind, ranks, sizes=blocks.tolist(), **options)
            continue
        schedule = build(name, kind, ranks, sizes=blocks.tolist(), **options)
        prove(schedule)
        collective = schedule.collective
        assert collective.size == int(blocks.sum(axis=-1).max())
        owner = collective.target if kind in ("scatter", "reduce_scatter") else collective.source
        if kind == "all_to_all":
            owner = collective.source * ranks + collective.target
        held = np.bincount(owner, weights=collective.sizes, minlength=blocks.size)
        np.testing.assert_array_equal(held, blocks.ravel())


@every_algorithm
def test_rows_stand_in_canonical_order_and_say_who_made_them(name: str, kind: str) -> None:
    for ranks in (1, 2, 3, 5, 6, 8, 12, 33):
        for options in ways(name, kind, ranks):
            with case(ranks, options):
                schedule = usual(name, kind, ranks, options)
                keys = canonical_keys(schedule)
                assert keys == sorted(set(keys))
                assert schedule.algorithm == name
                assert schedule.fallback == folds(name, ranks, options)


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


@every_algorithm
def test_dual_of_the_dual_is_the_original(name: str, kind: str) -> None:
    for ranks in (2, 3, 4, 6, 7, 12, 16):
        for options in ways(name, kind, ranks):
            with case(ranks, options):
                check_dual(usual(name, kind, ranks, options))


def check_dual(schedule: Schedule) -> None:
    opposite = mirrored(schedule)
    if not is_tree(schedule):
        with pytest.raises(ScheduleError, match="no dual"):
            dual(schedule, opposite.collective)
        return
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
    kind = collectives.KINDS[collective.kind].dual or collective.kind
    if kind == "all_to_all":
        # the chunk from s to d is the mirror of the one from d to s
        other = make_collective(kind, schedule.ranks, collective.size)
    else:
        other = replace(collective, kind=kind, source=collective.target, target=collective.source)
    return replace(schedule, collective=other)


def is_tree(schedule: Schedule) -> bool:
    """Whether every chunk goes from one source, or to one target, and touches each rank on its way once."""
    collective = schedule.collective
    if collectives.KINDS[collective.kind].dual is None:
        return False
    row, chunk = schedule.moves()
    gathers = collectives.KINDS[collective.kind].source != "every"
    leaf = (schedule.dst if gathers else schedule.src)[row]
    root = (collective.source if gathers else collective.target)[chunk]
    reached = Counter(zip(leaf.tolist(), chunk.tolist(), strict=True))
    return max(reached.values(), default=1) == 1 and not (leaf == root).any()


@every_algorithm
def test_one_rank_moves_nothing(name: str, kind: str) -> None:
    for options in variants(name, kind, 1):
        schedule = usual(name, kind, 1, options)
        assert (len(schedule), schedule.steps, schedule.fallback) == (0, 0, None)
        assert count(schedule).bytes_sent_total == 0


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
    assert {len(o.get("dims", [12])) for o in options} == {1, 2, 3}
    assert [1, 12, 1] in [o.get("dims") for o in options]
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
        ("ring", "allgather", 4, {"sizes": 5}, "sizes must be a list, found 5", ("sizes",)),
        ("swing", "allgather", 4, {"dims": 4}, "dims must be a list, found 4", ("dims",)),
        ("in_network", "allreduce", 2, {"tree": ["a"]}, "tree must be whole numbers", ("tree",)),
        ("themis", "allreduce", 4, {"chunks": 10**9}, "at most 32,768 fit", ("chunks",)),
        (
            "hierarchical",
            "allreduce",
            4,
            {"dims": [2, 2], "algorithms": ["ring", "in_network"]},
            "does no",
            ("algorithms", 1),
        ),
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
    with pytest.raises(ScheduleError, match='no collective "reduces"'):
        build("ring", "reduces", 4, 64)
    with pytest.raises(ScheduleError, match=r"0 to 2\^50 bytes, found -1"):
        build("ring", "reduce_scatter", 4, -1)
    with pytest.raises(ScheduleError, match='no collective "gossip"'):
        make_collective("gossip", 4, 64)
