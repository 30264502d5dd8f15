"""One rank's part of a schedule: moved by its group it is the whole, proven and counted alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from algorithms import (
    ALGORITHMS,
    ProofError,
    Schedule,
    build,
    congestion_factor,
    count,
    lower_bounds,
    platforms,
    totals,
)
from algorithms.registry import representative
from algorithms.representative import Representative
from algorithms.schedule import COPY
from algorithms.symmetric_costs import symmetric_bounds, symmetric_congestion, symmetric_platforms
from algorithms.symmetry import count_by_symmetry, prove_by_symmetry
from tests.algorithms.variants import variants
from topologies import TOPOLOGIES
from topologies.orbits import symmetric_topology

OFFERED = [
    (name, kind)
    for name, algorithm in ALGORITHMS.items()
    if algorithm.representative
    for kind in algorithm.collectives
]
COLUMNS = ("step", "channel", "count", "mode")


def every_part(rank_counts: tuple[int, ...]) -> Iterator[tuple[Representative, Schedule, Any]]:
    """Rank 0's part and the whole of every algorithm that has one, in all its ways up to N = 8."""
    for name, kind in OFFERED:
        for ranks in rank_counts:
            ways = variants(name, kind, ranks)
            for options in ways if ranks <= 8 else ways[ranks % len(ways) :][:1]:
                size = 0 if kind == "barrier" else 24 * ranks
                one = representative(name, kind, ranks, size, **options)
                if one is not None:
                    yield one, build(name, kind, ranks, size, **options), (name, kind, ranks, options)


def moved(one: Representative) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """All ranks' transfers in their order, and sorted (row, chunk) of all that they carry."""
    schedule, ranks, group = one.schedule, one.ranks, one.group
    row, rank = (place.ravel() for place in np.indices((len(schedule), ranks)))
    columns = [getattr(schedule, name)[row] for name in COLUMNS]
    columns += [rank, group.add(schedule.dst[row].astype(np.int64), rank)]
    carried, chunk = schedule.moves()
    back = group.subtract(np.zeros(ranks, dtype=np.int64), np.arange(ranks))
    chunks = one.moved(np.tile(chunk, ranks), np.repeat(back, len(chunk)))
    rows = np.tile(carried, ranks) * ranks + np.repeat(np.arange(ranks), len(chunk))
    order = np.lexsort((chunks, rows))
    return columns, rows[order], chunks[order]


def test_moved_by_its_group_it_is_the_whole_row_for_row_with_the_same_counts() -> None:
    offered = set()
    for one, whole, case in every_part((1, 2, 3, 4, 6, 8, 9, 16, 31, 64)):
        columns, rows, chunks = moved(one)
        for name, column in zip((*COLUMNS, "src", "dst"), columns, strict=True):
            assert (getattr(whole, name) == column).all(), (case, name)
        row, chunk = whole.moves()
        order = np.lexsort((chunk, row))
        assert (row[order] == rows).all(), case
        assert (chunk[order] == chunks).all(), case
        assert count_by_symmetry(one) == count(whole), case
        prove_by_symmetry(one)
        offered.add(case[:2])
    # what has a root, is relayed, or goes from rank to rank is not the same from everywhere
    rest = {"scatter", "gather", "broadcast", "reduce", "send_recv"}
    left = {("ring", "all_to_all"), ("ring", "barrier")}
    assert set(OFFERED) - offered == {(name, kind) for name, kind in OFFERED if kind in rest} | left


def test_nothing_is_offered_where_chunks_or_ranks_differ() -> None:
    assert representative("ring", "allreduce", 8, 1001) is None
    assert representative("ring", "allreduce", 8, 800, segments=2) is None
    assert representative("ring", "allgather", 4, 10, sizes=(1, 2, 3, 4)) is None
    assert representative("recursive_halving", "reduce_scatter", 6, 600) is None
    assert representative("rabenseifner", "allreduce", 6, 600, non_power_of_two="hybrid") is None
    assert representative("binomial", "broadcast", 8, 800) is None
    # of a whole vector nothing differs
    assert representative("recursive_doubling", "allreduce", 8, 1001) is not None


def without_last(schedule: Schedule) -> Schedule:
    columns = ("step", "channel", "src", "dst", "first", "count", "mode")
    return replace(schedule, **{name: getattr(schedule, name)[:-1] for name in columns})


def repeated(schedule: Schedule) -> Schedule:
    return replace(schedule, dst=np.full_like(schedule.dst, schedule.dst[0]))


def other_chunk(schedule: Schedule) -> Schedule:
    return replace(schedule, first=np.roll(schedule.first, 1))


def copied(schedule: Schedule) -> Schedule:
    return replace(schedule, mode=np.full_like(schedule.mode, COPY))


@pytest.mark.parametrize(
    ("name", "kind", "change", "message"),
    [
        ("ring", "reduce_scatter", without_last, "wrong sum"),
        ("ring", "reduce_scatter", other_chunk, "wrong sum"),
        ("ring", "allgather", without_last, "wrong sum"),
        ("ring", "allgather", other_chunk, "sends rank 1 what it has not"),
        ("direct", "all_to_all", repeated, "wrong sum"),
        ("direct", "all_to_all", without_last, "wrong sum"),
        ("recursive_halving", "reduce_scatter", copied, "wrong sum"),
        ("recursive_doubling", "allreduce", without_last, "without the contributions of 4 ranks"),
        ("recursive_doubling", "allreduce", repeated, "adds a contribution twice"),
        ("recursive_doubling", "allreduce", copied, "is copied"),
        ("direct", "allreduce", repeated, "adds a contribution twice"),
    ],
)
def test_the_proof_refuses_what_is_wrong(
    name: str, kind: str, change: Callable[[Schedule], Schedule], message: str
) -> None:
    one = representative(name, kind, 8, 800)
    assert one is not None
    with pytest.raises(ProofError, match=message):
        prove_by_symmetry(replace(one, schedule=change(one.schedule)))


def test_more_contributions_than_ranks_are_refused_before_they_are_followed() -> None:
    """By hand: rank 0 has 1 + 3 after the first three of 7 ranks, and would get three times 4 more."""
    one = representative("direct", "allreduce", 8, 800)
    assert one is not None
    in_threes = replace(one.schedule, step=np.arange(7, dtype=np.int32) // 3)
    with pytest.raises(ProofError, match="step 1: rank 0 adds more contributions than there are"):
        prove_by_symmetry(replace(one, schedule=in_threes))


def test_many_ranks_are_proven_and_counted_by_their_closed_form() -> None:
    """2 (N - 1) steps, 2 (N - 1)/N M from every rank (Patarasuk and Yuan 2009); the loops are compiled."""
    ranks = 1 << 15
    one = representative("ring", "allreduce", ranks, 1 << 30)
    assert one is not None
    prove_by_symmetry(one)
    counts = count_by_symmetry(one)
    whole = totals("ring", "allreduce", ranks)
    assert whole is not None
    assert (counts.steps, counts.depth, counts.transfers) == (2 * ranks - 2, 2 * ranks - 2, whole.messages)
    assert counts.bytes_sent_total == whole.sent * 2**30


def places(ranks: int) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "ring", {"ranks": ranks}
    yield "ring", {"ranks": ranks, "direction": "one"}
    yield "full_mesh", {"ranks": ranks}
    yield "crossbar", {"ranks": ranks}
    if ranks.bit_count() == 1:
        yield "hypercube", {"dimension": ranks.bit_length() - 1}
    if ranks % 4 == 0:
        yield "torus", {"dims": [4, ranks // 4]}


def test_bounds_congestion_and_prices_are_those_of_the_whole() -> None:
    wire, size = {"bandwidth": 50e9, "latency": 1.3e-6, "overhead": 2e-7}, 480
    for ranks in (3, 4, 8, 32):
        for number, (name, kind) in enumerate(OFFERED):
            if ranks > 4 and number % 4 != ranks // 32:
                continue
            for shape, parameters in places(ranks):
                given = {"dims": parameters["dims"]} if name == "bucket" and shape == "torus" else {}
                one = representative(name, kind, ranks, size * ranks * (kind != "barrier"), **given)
                seen = symmetric_topology(shape, {**parameters, **wire})
                assert seen is not None
                if one is not None and seen.moved_by(one.group):
                    whole = build(name, kind, ranks, one.schedule.collective.size, **given)
                    check_costs(one, whole, seen, TOPOLOGIES[shape](**parameters, **wire))


def check_costs(one: Representative, whole: Schedule, seen: Any, topology: Any) -> None:
    factors = symmetric_congestion(one, seen), congestion_factor(whole, topology)
    assert factors[0] == (factors[1] and pytest.approx(factors[1], rel=1e-12))
    # 30 bytes at 50e9 bytes/s are round: nothing gives way
    messages = {30: len(one.schedule)}
    for model in ("store_and_forward", "cut_through"):
        for reduction in (None, 20e9):
            priced = {"model": model, "reduction": reduction, "messages": messages}
            found = symmetric_bounds(one, seen, **priced)
            wanted = lower_bounds(whole.collective, topology, **priced)
            for bound in ("latency", "textbook_latency", "bandwidth", "reduction"):
                assert getattr(found, bound) == pytest.approx(getattr(wanted, bound), rel=1e-12), bound
            assert (found.bandwidth, found.composed, found.how) == (
                wanted.bandwidth,
                wanted.composed,
                wanted.how,
            )
            assert (found.cut is None) or found.cut.bytes / found.cut.bandwidth == found.bandwidth
            for mode in ("after", "streamed"):
                alike = symmetric_platforms(seen, model, reduction, mode)
                assert alike == platforms(topology, (whole.ranks,), model, reduction, mode)
