"""Binary trees of Open MPI: filled level by level, split in two halves, and in the order of the ranks."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

import numpy as np

from algorithms.algorithm import Algorithm
from algorithms.assembly import assemble
from algorithms.catalogue.tree_schedules import (
    OPEN_MPI,
    WHOLE,
    check_segments,
    reduce_steps,
    tree_totals,
    whole_on,
    whole_rounds,
)
from algorithms.catalogue.tree_shapes import binary_tree, in_order_tree
from algorithms.collective import make_collective
from algorithms.rounds import Round, Totals, least
from algorithms.schedule import COPY, Ranges, Schedule, Step, check_moves
from topologies.quantities import Count


def binary(kind: str, ranks: int, size: int, segments: int = 1) -> Schedule:
    """Binary tree filled level by level, as Open MPI numbers it.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`.
    segments : int
        Parts of the vector: a rank sends both children one before the next.
    """
    return whole_on("binary_tree", kind, size, binary_tree(ranks), segments)


def binary_steps(ranks: int) -> int:
    """T: a rank whose number from 1 has b bits, k of them 1, is served after b + k - 2 steps.

    >>> [binary_steps(n) for n in (1, 2, 3, 4, 5, 8, 12, 16)]
    [0, 1, 2, 2, 3, 4, 5, 6]
    """
    # below N the most bits are 1 in numbers that end in ones
    best = {ranks, *((ranks >> k << k) - 1 for k in range(1, ranks.bit_length()))}
    return max(number.bit_length() + number.bit_count() for number in best) - 2


def binary_rounds(kind: str, ranks: int, size: int, segments: int = 1) -> tuple[Round, ...]:
    """T + 2 (S - 1) rounds of M/S."""
    return whole_rounds(kind, binary_steps(ranks), min(2, ranks - 1), size, segments)


def binary_totals(kind: str, ranks: int, segments: int = 1) -> Totals:
    """A message for every rank but the root."""
    return tree_totals(kind, ranks, ranks - 1, segments)


def in_order(kind: str, ranks: int, size: int, root: int = 0) -> Schedule:
    """Binary tree rooted at rank N - 1 whose sums keep the order of the ranks, for any root.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`.
    root : int
        Where rank N - 1 sends the sum, in one more step.
    """

    def steps() -> Iterator[Step]:
        yield from reduce_steps(in_order_tree(ranks))
        if root != ranks - 1:
            yield (np.array([ranks - 1]), np.array([root]), np.array([0]), COPY)

    collective = make_collective(kind, ranks, size, blocks=1, root=root)
    return assemble(collective, steps(), algorithm="in_order_binary_tree")


def in_order_rounds(_kind: str, ranks: int, size: int, root: int = 0) -> tuple[Round, ...]:
    """T rounds of a binary tree, and one more where the root is not rank N - 1."""
    whole = Fraction(size)
    return (Round(binary_steps(ranks), whole, fan_in=1), Round(int(root != ranks - 1), whole))


def in_order_totals(kind: str, ranks: int, root: int = 0) -> Totals:
    """N whole vectors, N - 1 of them summed."""
    forwarded = int(root != ranks - 1)
    return tree_totals(kind, ranks, ranks - 1) + Totals(forwarded, Fraction(forwarded))


def split_steps(ranks: int, segments: int = 1) -> Iterator[Step]:
    """The two halves, chunks 0 ... S-1 and S ... 2S-1, go down their sides; then partners exchange them.

    Odd ranks are sent the first half, even ones the second. Ranks 2i - 1 and 2i are partners, and
    where N is even the root is that of the last rank.
    """
    for parent, child, segment in binary_tree(ranks).served(segments):
        yield (parent, child, segment + segments * (child % 2 == 0), COPY)
    odd = np.arange(1, ranks, 2)
    even = (odd + 1) % ranks
    half = np.full_like(odd, segments)
    below = even > 0
    if ranks > 1:
        yield [
            (even, odd, Ranges(half, half), COPY),
            (odd[below], even[below], Ranges(0 * half[below], half[below]), COPY),
        ]


def split_binary(kind: str, ranks: int, size: int, tree_segments: Count = 1) -> Schedule:
    """Half of the vector down each side of a binary tree, then an exchange of halves across.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`.
    tree_segments : int
        Parts of each half on the way down; whole halves are exchanged, as in Open MPI.
    """
    check_segments(tree_segments, "tree_segments")
    check_moves(2 * ranks * tree_segments)
    collective = make_collective(kind, ranks, size, blocks=2, segments=tree_segments)
    return assemble(collective, split_steps(ranks, tree_segments), algorithm="split_binary_tree")


def split_rounds(_kind: str, ranks: int, size: int, tree_segments: int = 1) -> tuple[Round, ...]:
    """T + 2 (S - 1) rounds of M/2S, and one of M/2."""
    check_segments(tree_segments, "tree_segments")
    half = Fraction(size, 2)
    turns = binary_steps(ranks) + (tree_segments - 1) * min(2, ranks - 1)
    return (Round(turns, half / tree_segments), Round(min(1, ranks - 1), half))


def split_totals(kind: str, ranks: int, tree_segments: int = 1) -> Totals:
    """Two halves for every rank but the root."""
    return least(kind, ranks, (ranks - 1) * (tree_segments + 1))


BINARY_TREES: Final = (
    Algorithm(
        "binary_tree",
        WHOLE,
        binary,
        binary_rounds,
        binary_totals,
        "T about 2 log2(N+1) - 2: (T + 2(S-1))(alpha + M/S/beta + M/S/gamma)",
        "crossbar",
        OPEN_MPI,
    ),
    Algorithm(
        "in_order_binary_tree",
        ("reduce",),
        in_order,
        in_order_rounds,
        in_order_totals,
        "T about 2 log2(N+1) - 2: T (alpha + M/beta + M/gamma), and alpha + M/beta where the root is not N-1",
        "crossbar",
        OPEN_MPI,
        keeps_order="any root",
    ),
    Algorithm(
        "split_binary_tree",
        ("broadcast",),
        split_binary,
        split_rounds,
        split_totals,
        "T about 2 log2(N+1) - 2: (T + 2(S-1))(alpha + M/2S/beta) + alpha + M/2/beta",
        "crossbar",
        OPEN_MPI,
    ),
)
