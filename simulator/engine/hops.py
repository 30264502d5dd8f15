"""Stretches of hops: what operations walk, piece by piece."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.schedule import expand
from topologies.clock import femtoseconds

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOO_LONG: Final = 2**63 - 1
"""fs that stand for any time past what a plan may take: it is refused only if something takes that long."""


@dataclass(frozen=True, slots=True, eq=False)
class Hops:
    """A stretch of hops for each of some operations, one stretch after the other.

    Attributes
    ----------
    count : ndarray of int, shape (operations,)
        Hops of each.
    resource : ndarray of int32, shape (hops,)
    hold : ndarray of int64
        fs.
    head : ndarray of bool
        Entered by the head.
    """

    count: NDArray[np.integer]
    resource: NDArray[np.int32]
    hold: NDArray[np.int64]
    head: NDArray[np.bool_]


def joined(stretches: Sequence[Hops]) -> Hops:
    """Every operation's stretches, one behind the other.

    >>> one = Hops(np.array([1, 1]), np.array([7, 8]), np.array([5, 5]), np.array([False, False]))
    >>> more = Hops(np.array([1, 0]), np.array([9]), np.array([2]), np.array([True]))
    >>> joined([one, more]).resource.tolist()
    [7, 9, 8]
    """
    some = [stretch for stretch in stretches if len(stretch.resource)]
    if len(some) < 2:
        return some[0] if some else stretches[0]
    count = sum((stretch.count for stretch in some), np.zeros(len(some[0].count), dtype=np.int64))
    place = np.cumsum(count) - count
    hops = int(count.sum())
    whole = Hops(count, np.empty(hops, np.int32), np.empty(hops, np.int64), np.empty(hops, np.bool_))
    for stretch in some:
        slot = expand(place, stretch.count)[1]
        whole.resource[slot], whole.hold[slot] = stretch.resource, stretch.hold
        whole.head[slot] = stretch.head
        place = place + stretch.count
    return whole


def in_a_row(blocks: Sequence[Hops]) -> Hops:
    """The hops of some operations, and then those of others."""
    if len(blocks) == 1:
        return blocks[0]
    columns = ([getattr(block, field.name) for block in blocks] for field in fields(Hops))
    return Hops(*map(np.concatenate, columns))


def single(
    operations: NDArray[np.bool_],
    resource: NDArray[np.integer],
    hold: NDArray[np.int64] | int = 0,
    *,
    head: bool | NDArray[np.bool_] = False,
) -> Hops:
    """One hop for each of the operations that are marked.

    Parameters
    ----------
    operations : ndarray of bool, shape (operations,)
    resource : ndarray of int, shape (marked,)
    hold : ndarray of int64, shape (marked,), or int
        fs.
    head : bool, or ndarray of bool, shape (marked,)
        Whether it is entered by the head.
    """
    marked = len(resource)
    return Hops(
        operations.astype(np.int64),
        resource.astype(np.int32),
        np.broadcast_to(np.asarray(hold, dtype=np.int64), marked),
        np.full(marked, head),
    )


def clipped(time: int) -> int:
    """Time in fs, or what stands for any that is too long."""
    return min(time, TOO_LONG)


def hold_table(
    bandwidth: NDArray[np.float64],
    overhead: NDArray[np.float64],
    sizes: NDArray[np.int64],
    resource: NDArray[np.integer],
    size: NDArray[np.integer],
) -> NDArray[np.int64]:
    """Hold of each hop over resource[h] by a message of sizes[size[h]]: distinct prices by distinct sizes.

    Parameters
    ----------
    bandwidth : ndarray of float64, shape (resources,)
        Bytes/s.
    overhead : ndarray of float64, shape (resources,)
        s.
    sizes : ndarray of int64
        Distinct sizes, bytes.
    resource, size : ndarray of int, shape (hops,)

    Returns
    -------
    ndarray of int64, shape (hops,)
        fs; `TOO_LONG` for any that is too long.
    """
    if not len(resource):
        return np.zeros(0, dtype=np.int64)
    (rates, rate), (fixed, extra) = _distinct(bandwidth), _distinct(overhead)
    used = np.unique(rate * len(fixed) + extra)
    table = np.zeros((len(rates) * len(fixed), len(sizes)), dtype=np.int64)
    for price in used.tolist():
        table[price] = _holds(sizes, float(rates[price // len(fixed)]), float(fixed[price % len(fixed)]))
    if len(used) == 1:
        return np.asarray(table[used[0]][size])
    return np.asarray(table[(rate * len(fixed) + extra)[resource], size])


def _distinct(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Distinct values, and which of them each is; what is all alike is not sorted."""
    if (values == values[0]).all():
        return values[:1], np.zeros(len(values), dtype=np.int64)
    distinct, which = np.unique(values, return_inverse=True)
    return distinct, which.ravel()


def _holds(sizes: NDArray[np.int64], bandwidth: float, overhead: float) -> NDArray[np.int64]:
    """Femtoseconds that a message of each size holds a resource: overhead + bytes / bandwidth."""
    rate, fixed = Fraction(bandwidth), femtoseconds(overhead)
    times = [clipped(fixed + femtoseconds(Fraction(size) / rate)) for size in sizes.tolist()]
    return np.array(times, dtype=np.int64)
