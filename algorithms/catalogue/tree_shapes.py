"""Trees of ranks: whose child each rank is, and the step in which a broadcast serves it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from algorithms.catalogue.radix import strides
from algorithms.errors import ScheduleError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Served: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]"
"""What a step serves: parents, their children, and the segment that each child is sent."""


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """A tree of ranks, and when a rank with one port has served its children.

    Attributes
    ----------
    root : int
        The rank above all others.
    parent : ndarray of int64, shape (ranks,)
        The root is its own.
    step : ndarray of int64, shape (ranks,)
        Step, from 0, in which each rank is served; -1 for the root.
    fan_out : int
        Most children of a rank.
    """

    root: int
    parent: NDArray[np.int64]
    step: NDArray[np.int64]
    fan_out: int

    @property
    def ranks(self) -> int:
        """Number of ranks N."""
        return len(self.parent)

    @property
    def steps(self) -> int:
        """Steps of a broadcast."""
        return int(self.step.max()) + 1

    def served(self, segments: int = 1) -> Iterator[Served]:
        """What is served in each step: all children with one segment, before any with the next.

        A segment is `fan_out` steps behind the one before it, so T steps become
        T + (segments - 1) fan_out, and nobody sends or receives twice in a step.
        """
        child = np.delete(np.arange(self.ranks), self.root)
        step = (self.step[child] + self.fan_out * np.arange(segments)[:, None]).ravel()
        order = np.argsort(step, kind="stable")
        bounds = np.searchsorted(step[order], np.arange(int(step.max(initial=-1)) + 2))
        for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            segment, place = np.divmod(order[start:stop], len(child))
            yield self.parent[child[place]], child[place], segment


def grow(parent: NDArray[np.int64], order: NDArray[np.int64], root: int = 0) -> Tree:
    """Tree in which every rank serves its children one a step, as soon as it is served itself.

    Parameters
    ----------
    parent : ndarray of int64, shape (ranks,)
        Of each rank; the root's is the root.
    order : ndarray of int64, shape (ranks,)
        Of two children of a rank, the one of the lower number is served first.
    root : int
        The rank above all others.
    """
    child = np.delete(np.arange(len(parent)), root)
    child = child[np.lexsort((order[child], parent[child]))]
    turn = np.arange(len(child)) - np.searchsorted(parent[child], parent[child])
    # steps since the ancestor `above` was served: doubled in height until that is the root
    steps = np.zeros(len(parent), dtype=np.int64)
    steps[child] = turn + 1
    above = parent
    while (above != root).any():
        steps, above = steps + steps[above], above[above]
    return Tree(root, parent, steps - 1, int(turn.max(initial=-1)) + 1)


def linear_tree(ranks: int, root: int = 0, *, upwards: bool = False) -> Tree:
    """The root serves r-1, r-2, ..., 0, then r+1, ..., N-1; upwards it hears them in this order."""
    rank = np.arange(ranks)
    order = np.where(rank < root, root - rank, rank)
    return grow(np.full(ranks, root), -order if upwards else order, root)


def knomial_tree(ranks: int, radix: int = 2) -> Tree:
    """The parent of a rank is the rank without its last digit that is not 0; far children come first."""
    rank = np.arange(ranks)
    parent = rank.copy()
    for stride in reversed(strides(ranks, radix)):
        digit = rank // stride % radix
        parent = np.where(digit > 0, rank - digit * stride, parent)
    return grow(parent, -rank)


def subtree_sizes(ranks: int, radix: int = 2) -> NDArray[np.int64]:
    """Ranks of each rank's k-nomial subtree; they follow each other.

    >>> subtree_sizes(6).tolist()
    [6, 1, 2, 1, 2, 1]
    """
    rank = np.arange(ranks)
    size = np.full(ranks, ranks)
    for stride in reversed(strides(ranks, radix)):
        size = np.where(rank // stride % radix > 0, np.minimum(stride, ranks - rank), size)
    return size


def binary_tree(ranks: int) -> Tree:
    """Level by level: rank r on the level of 2^l ranks has the children r + 2^l and r + 2 * 2^l.

    Odd ranks stand below rank 1, even ones below rank 2, and r + 1 where r stands on the other side.
    """
    number = np.arange(1, ranks + 1)
    level = np.frexp(number)[1].astype(np.int64) - 1
    above = np.left_shift(1, np.maximum(level - 1, 0))
    parent = np.where(level > 0, above + number % above, 1) - 1
    return grow(parent, number)


def in_order_tree(ranks: int) -> Tree:
    """Binary tree rooted at N - 1 that hears its subtrees in the order of the ranks.

    The root of n neighbouring ranks is the last of them. The first n // 2 are one subtree, the
    others the one that is heard first.
    """
    parent = np.full(ranks, ranks - 1)
    ranges = [(0, ranks)]
    while ranges:
        low, high = ranges.pop()
        middle = low + (high - low) // 2
        for start, stop in ((low, middle), (middle, high - 1)):
            if start < stop:
                parent[stop - 1] = high - 1
                ranges.append((start, stop))
    return grow(parent, np.arange(ranks), ranks - 1)


def chain_tree(ranks: int, fan_out: int = 1, *, upwards: bool = False) -> Tree:
    """Chains of neighbours below the root, long ones first; upwards it hears them in this order."""
    rank = np.arange(ranks)
    chains = chain_lengths(ranks, fan_out)
    parent = np.maximum(rank - 1, 0)
    heads = np.cumsum([1, *chains[:-1]])[: len(chains)]
    parent[heads] = 0
    return grow(parent, -rank if upwards else rank)


def chain_lengths(ranks: int, fan_out: int) -> list[int]:
    """Ranks of each chain: as equal as can be.

    Raises
    ------
    ScheduleError
        If there are fewer than 1 chain.

    Examples
    --------
    >>> chain_lengths(16, 4)
    [4, 4, 4, 3]
    """
    if fan_out < 1:
        raise ScheduleError(f"there is at least 1 chain, found {fan_out}", ("fanout",))
    chains = min(fan_out, ranks - 1)
    return [(ranks - 1) // chains + (i < (ranks - 1) % chains) for i in range(chains)]
