"""Two binary trees, each for one half of the vector (Sanders, Speck and Traeff 2009; NCCL)."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.algorithm import Algorithm
from algorithms.assembly import assemble
from algorithms.catalogue.tree_schedules import broadcast_steps, reduce_steps
from algorithms.catalogue.tree_shapes import Tree, grow
from algorithms.collective import make_collective
from algorithms.compose import beside, is_power_of_two, on
from algorithms.rounds import Round, Totals, least
from algorithms.schedule import Lists, Schedule

if TYPE_CHECKING:
    from numpy.typing import NDArray


def alternating_tree(ranks: int) -> Tree:
    """Binary tree below rank 0 in which odd ranks are leaves and even ranks are not.

    The parent of a rank has its lowest 1 moved up by one bit, or without it where that is N or more.
    """
    rank = np.arange(ranks)
    lowest = rank & -rank
    moved = rank ^ lowest | lowest << 1
    return grow(np.where(moved < ranks, moved, rank ^ lowest), rank)


def second_players(ranks: int) -> NDArray[np.int64]:
    """Rank in each place of the second tree of an AllReduce: mirrored, or moved on by one where N is odd.

    For even N no rank has children in both trees, for odd N >= 3 one has.
    """
    rank = np.arange(ranks)
    return (rank + 1) % ranks if ranks % 2 else rank[::-1]


def second_players_below(ranks: int) -> NDArray[np.int64]:
    """The same with rank 0 as the root of both trees: the other N - 1 are moved on by one, or mirrored."""
    return np.concatenate([[0], 1 + second_players(ranks - 1)]) if ranks > 1 else np.arange(1)


def double_binary_tree(kind: str, ranks: int, size: int) -> Schedule:
    """Two binary trees side by side, one for each half of the vector; leaves of one branch in the other.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`. The trees of an AllReduce have roots of their own, as in NCCL; for a
        Broadcast or Reduce rank 0 is the root of both.
    """
    tree = alternating_tree(ranks)
    up, down = list(reduce_steps(tree)), list(broadcast_steps(tree))
    steps = {"broadcast": down, "reduce": up, "allreduce": up + down}[kind]
    half = assemble(make_collective(kind, ranks, size, blocks=1), steps)
    whole = make_collective(kind, ranks, size, blocks=2)
    players = second_players(ranks) if kind == "allreduce" else second_players_below(ranks)
    trees = [
        on(half, whole, who, Lists(np.array([0, 1]), np.array([chunk])))
        for chunk, who in enumerate((np.arange(ranks), players))
    ]
    return beside(trees, whole, algorithm="double_binary_tree")


def alternating_steps(ranks: int) -> int:
    """T: steps in which the alternating tree serves all ranks, 2 floor(log2 N), one less at N = 2^k > 1.

    >>> [alternating_steps(n) for n in range(1, 10)]
    [0, 1, 2, 3, 4, 4, 4, 5, 6]
    """
    return max(0, 2 * (ranks.bit_length() - 1) - is_power_of_two(ranks))


def double_rounds(kind: str, ranks: int, size: int) -> tuple[Round, ...]:
    """T rounds of M/2 up, T down. In a Reduce the halves meet at the root in the last step."""
    steps, half = alternating_steps(ranks), Fraction(size, 2)
    down, up = Round(steps, half), Round(steps, half, fan_in=1)
    if kind == "allreduce":
        return (up, down)
    if ranks <= 2:
        # two ranks have but one link this way, so that one half follows the other
        one = down if kind == "broadcast" else up
        return (one, replace(one, pipelined=True))
    return (down,) if kind == "broadcast" else (replace(up, times=steps - 1), Round(1, half, fan_in=2))


def double_totals(kind: str, ranks: int) -> Totals:
    """Two halves for every rank but the root of its tree, up or down or both."""
    return least(kind, ranks, (4 if kind == "allreduce" else 2) * (ranks - 1))


DOUBLE_TREE: Final = (
    Algorithm(
        "double_binary_tree",
        ("broadcast", "reduce", "allreduce"),
        double_binary_tree,
        double_rounds,
        double_totals,
        "T = 2 floor(log2 N), one less at N = 2^k: T (alpha + M/2/beta); reduce with M/2/gamma; "
        "allreduce both",
        "full_mesh",
        "Sanders, Speck and Traeff 2009; NCCL",
    ),
)
