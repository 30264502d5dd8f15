"""Who is combined with whom, by what libraries print for symbolic operands, and on strings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from algorithms import ALGORITHMS, COPY, REDUCE, Schedule, ScheduleError, assemble, build, make_collective
from algorithms.collective import EVERY, KINDS
from algorithms.errors import ProofError
from algorithms.order import Tree, association, associations, keeps_order, text

RANKS = (*range(2, 10), 12, 16)
SUMS = [
    (name, kind)
    for name, algorithm in ALGORITHMS.items()
    for kind in algorithm.collectives
    if KINDS[kind].source == "every"
]


def normal(tree: Tree) -> Tree:
    """The same sum with the lower first rank to the left, as we write it."""
    if isinstance(tree, int):
        return tree
    left, right = sorted((normal(tree[0]), normal(tree[1])), key=first)
    return left, right


def first(tree: Tree) -> int:
    return tree if isinstance(tree, int) else first(tree[0])


@pytest.mark.parametrize(
    ("name", "kind", "ranks", "options", "chunk", "expected"),
    [
        # Open MPI 5.0.11, operands printed by a user-defined operator; every rank has the same sum
        ("recursive_doubling", "allreduce", 3, {}, 0, ((0, 1), 2)),
        ("recursive_doubling", "allreduce", 4, {}, 0, ((0, 1), (2, 3))),
        ("recursive_doubling", "allreduce", 5, {}, 0, (((0, 1), 2), (3, 4))),
        ("ring", "allreduce", 4, {"first_chunk": 0}, 0, (((0, 1), 2), 3)),
        ("ring", "allreduce", 4, {"first_chunk": 0}, 1, (((1, 2), 3), 0)),
        ("rabenseifner", "allreduce", 4, {"order": "near"}, 0, ((3, 2), (1, 0))),
        ("rabenseifner", "allreduce", 4, {"order": "near"}, 1, ((1, 0), (3, 2))),
        ("rabenseifner", "allreduce", 4, {"order": "near"}, 2, ((2, 3), (0, 1))),
        ("rabenseifner", "allreduce", 4, {"order": "near"}, 3, ((0, 1), (2, 3))),
        # MPICH 5.0.2, likewise
        ("ring", "allreduce", 4, {}, 0, (((1, 2), 3), 0)),
        ("ring", "allreduce", 4, {}, 3, (((0, 1), 2), 3)),
        ("recursive_doubling", "allreduce", 2, {}, 0, (1, 0)),
        ("recursive_doubling", "allreduce", 3, {}, 0, (2, (0, 1))),
        ("recursive_doubling", "allreduce", 4, {}, 0, ((3, 2), (1, 0))),
        ("recursive_doubling", "allreduce", 5, {}, 0, ((4, 3), (2, (0, 1)))),
        ("recursive_multiplying", "allreduce", 5, {"radix": 2}, 0, (((4, 0), 1), (2, 3))),
    ],
)
def test_combines_as_the_libraries_do(
    name: str, kind: str, ranks: int, options: dict[str, Any], chunk: int, expected: Tree
) -> None:
    schedule = build(name, kind, ranks, **options)
    for rank in range(ranks):
        assert association(schedule, chunk, rank) == normal(expected)


def test_text_is_a_formula() -> None:
    assert text((((0, 1), 2), (3, 4))) == "(((0 1) 2) (3 4))"
    assert text(7) == "7"


def test_a_sum_deeper_than_python_calls_itself() -> None:
    deep = association(build("ring", "reduce_scatter", 2000), chunk=1999, rank=1999)
    assert text(deep).startswith("(" * 1999 + "0 1) 2) 3)")


def test_equal_sums_of_several_chunks_are_one_object() -> None:
    every = list(associations(build("rabenseifner", "allreduce", 8)))
    assert len(every) == 8
    assert len({id(tree) for trees in every for tree in trees.values()}) == 1
    assert [sorted(trees) for trees in associations(build("ring", "reduce_scatter", 3))] == [[0], [1], [2]]


def test_a_copy_replaces_and_arrivals_are_combined_in_the_order_of_the_rows() -> None:
    chunk = np.zeros(2, dtype=np.int64)
    steps = [
        (np.array([2, 1]), np.array([3, 3]), chunk, REDUCE),  # rows stand by source: 1, then 2
        (np.array([3]), np.array([1]), chunk[:1], COPY),
        (np.array([0]), np.array([1]), chunk[:1], REDUCE),
    ]
    schedule = assemble(make_collective("reduce", 4, 4, blocks=1, root=1), steps)
    assert association(schedule, 0, 1) == (0, ((1, 3), 2))
    assert not keeps_order(schedule)


def test_reducing_into_nothing_stores() -> None:
    gather = make_collective("gather", 3, 3)
    one = np.zeros(1, dtype=np.int64)
    schedule = assemble(gather, [(one, one + 1, one, COPY), (one + 1, one + 2, one, REDUCE)])
    with pytest.raises(ProofError, match="nothing was ever written there"):
        list(associations(schedule))
    assert association(schedule, 0, 0) == 0


def test_refuses_a_chunk_that_does_not_end_there_and_a_read_of_nothing() -> None:
    scatter = build("ring", "reduce_scatter", 4)
    for chunk, rank in ((0, 1), (4, 0), (-1, 0), (0, 4)):
        with pytest.raises(ScheduleError, match=f"no chunk {chunk} must end at rank {rank}"):
            association(scatter, chunk, rank)
    broadcast = make_collective("broadcast", 3, 3, blocks=1)
    broken = assemble(broadcast, [(np.array([1]), np.array([2]), np.zeros(1, dtype=np.int64), COPY)])
    with pytest.raises(ProofError, match="rank 1 sends chunk 0 to rank 2 but holds nothing of it"):
        association(broken, 0, 2)


def concatenated(schedule: Schedule) -> list[str]:
    """What every target ends with when the operator joins strings, the lower first rank to the left."""
    collective = schedule.collective
    held = {(int(r), int(c)): f"{r}" for r, c in zip(*collective.initial(), strict=True)}
    for start, stop in schedule.step_bounds():
        row, chunk = schedule.moves(start, stop)
        ends = zip(
            row.tolist(), schedule.src[row].tolist(), schedule.dst[row].tolist(), chunk.tolist(), strict=True
        )
        arrivals = [(r, (dst, c), held[src, c]) for r, src, dst, c in ends]
        for r, cell, arriving in arrivals:
            # what is reduced into a switch that holds nothing is stored
            replaces = schedule.mode[r] == COPY or cell not in held
            operands = [arriving] if replaces else [held[cell], arriving]
            held[cell] = " ".join(sorted(operands, key=lambda words: int(words.partition(" ")[0])))
    return [held[int(r), int(c)] for r, c in zip(*collective.final(), strict=True)]


def in_order(name: str, kind: str, ranks: int, root: int) -> bool:
    """Whether an algorithm joins strings in the order of the ranks; both ways of finding out agree."""
    schedule = build(name, kind, ranks, **({"root": root} if KINDS[kind].rooted else {}))
    expected = " ".join(map(str, range(ranks)))
    right = all(result == expected for result in concatenated(schedule))
    assert keeps_order(schedule) == right
    return right


@pytest.mark.parametrize(("name", "kind"), SUMS)
def test_the_catalogue_says_whether_the_order_is_kept(name: str, kind: str) -> None:
    """For N - 1 as for 0 and 1: roots of a rooted collective, nothing else."""
    says = ALGORITHMS[name].keeps_order
    kept = {
        (ranks, root): in_order(name, kind, ranks, root)
        for ranks in RANKS
        for root in ({0, 1, ranks - 1} if KINDS[kind].rooted else {0})
    }
    of_root_0 = [right for (_, root), right in kept.items() if root == 0]
    if says == "any root":
        assert all(kept.values()), [case for case, right in kept.items() if not right]
    if says == "root 0":
        assert all(of_root_0)


@pytest.mark.parametrize("name", sorted({name for name, _ in SUMS}))
def test_the_catalogue_does_not_say_too_little(name: str) -> None:
    """Where an algorithm does several sums, the one that keeps the order least is what it says."""
    kinds = [kind for other, kind in SUMS if other == name]
    says = ALGORITHMS[name].keeps_order
    kept = [
        (root, in_order(name, kind, ranks, root))
        for kind in kinds
        for ranks in RANKS
        for root in ({0, 1, ranks - 1} if KINDS[kind].rooted else {0})
    ]
    if says == "root 0":
        assert not all(right for _, right in kept)
    if says == "no":
        assert not all(right for root, right in kept if root == 0)


def test_nothing_is_summed_where_everything_is_copied() -> None:
    for kind in ("allgather", "barrier"):
        assert keeps_order(build("recursive_doubling", kind, 6))
    assert (build("ring", "allgather", 4).collective.source != EVERY).all()


def test_one_rank_is_in_order() -> None:
    schedule = build("ring", "allreduce", 1)
    assert keeps_order(schedule)
    assert association(schedule, 0, 0) == 0
