"""Cuts that are soon looked through: of ranks, cards and racks, and halves; and what all must move."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.collective import EVERY, KINDS
from algorithms.cuts import total_bandwidth

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.collective import Collective
    from topologies.topology import Topology

_MOST_GROUPED: Final = 1 << 22
"""Chunks that are told apart by groups of ranks."""

_MOST_PARTED: Final = 1 << 18
"""Chunks up to which dimensions are parted in more places than the middle."""


def must_move(
    collective: Collective, group: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Bytes that each group of ranks must send and receive, and that all must send, by any algorithm.

    A chunk of one group leaves it once at least, whoever passes it on; a sum is received whole by
    the group that wants it, and every other group gives its part away. Where every group wants the
    sum, somebody has it first, for which all others gave something away, and must then be told,
    one by one.

    Parameters
    ----------
    collective : Collective
    group : ndarray of int64, shape (ranks,), optional
        From 0, none of them empty; each rank is one by default.
    """
    group = np.arange(collective.ranks) if group is None else group
    groups = int(group.max()) + 1
    # where every rank is meant, so is every group
    source, target = (
        np.where(column == EVERY, EVERY, group[column]) for column in (collective.source, collective.target)
    )
    if not (source == EVERY).any() and not (target == EVERY).any():
        moved = np.where(source != target, collective.sizes, 0)
        return _where(source, moved, groups), _where(target, moved, groups), int(moved.sum())
    moving = (source != target) | (source == EVERY) if groups > 1 else np.zeros(len(source), dtype=bool)
    source, target, sizes = (column[moving] for column in (source, target, collective.sizes))
    from_all, to_all = source == EVERY, target == EVERY
    # what a group is the only source of, it need not receive; the sum that it wants, it need not send
    wanted, given = from_all & ~to_all, to_all & ~from_all
    sent = _where(source, sizes, groups) - _where(target[wanted], sizes[wanted], groups)
    received = _where(target, sizes, groups) - _where(source[given], sizes[given], groups)
    times = np.where(from_all, groups - 1, 0) + np.where(to_all, groups - 1, 0) + (~from_all & ~to_all)
    total = sum(int(sizes[times == n].sum()) * n for n in np.unique(times).tolist())
    return sent, received, total


def _where(place: NDArray[np.integer], sizes: NDArray[np.int64], groups: int) -> NDArray[np.int64]:
    """Bytes at each place, and at each of them those that are everywhere."""
    one = place != EVERY
    amount = np.full(groups, int(sizes[~one].sum()), dtype=np.int64)
    if int(sizes.max(initial=0)) * len(sizes) < 2**53:
        return amount + np.bincount(place[one], weights=sizes[one], minlength=groups).astype(np.int64)
    np.add.at(amount, place[one], sizes[one])
    return amount


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A bound on the time of bytes.

    Attributes
    ----------
    seconds : Fraction
    side : ndarray of bool, shape (nodes,), or None
        The nodes that must send so much, where it is a cut.
    """

    seconds: Fraction
    side: NDArray[np.bool_] | None = None

    def or_longer(self, *others: Found) -> Found:
        """The longest; of equally long ones a cut, which says more."""
        return max(self, *others, key=lambda found: (found.seconds, found.side is not None))


def by_groups(collective: Collective, topology: Topology, place: NDArray[np.int64]) -> Found:
    """The best bound of what single ranks, cards, racks and the like, or all of them, must move."""
    found = Found(Fraction(0))
    for label in _groupings(collective, topology, place):
        for sides in _of_groups(collective, topology, place, label):
            # what is clearly less need not be exact
            if sides.about > float(found.seconds) * (1 - 1e-9):
                found = found.or_longer(Found(sides.must / total_bandwidth(sides.over), sides.side))
    return found


def _groupings(
    collective: Collective, topology: Topology, place: NDArray[np.int64]
) -> Iterator[NDArray[np.int64]]:
    """Group of every node, -1 of none: ranks alone, what inner levels join, two parts of a dimension."""
    nodes, kind = len(topology.nodes), KINDS[collective.kind]
    alone = np.full(nodes, -1, dtype=np.int64)
    alone[place] = np.arange(len(place))
    yield alone
    inner = len(topology.levels) - 1 if collective.chunks <= _MOST_GROUPED else 0
    for level in range(inner):
        yield _joined(topology, topology.links.level <= level)
    # where each has something for each, the middle may be the narrowest
    if kind.source != kind.target or nodes > topology.ranks or len(place) < topology.ranks:
        return
    everywhere = collective.chunks <= _MOST_PARTED
    stride = 1
    for size in topology.dims:
        coordinate = np.arange(nodes) // stride % size
        for part in _parts(size, everywhere=everywhere):
            yield (coordinate >= part).astype(np.int64)
        stride *= size


def _parts(size: int, *, everywhere: bool) -> list[int]:
    """Where to part a dimension: everywhere, or in a few places of a long one, or in the middle alone."""
    if not everywhere:
        return [size // 2] if size > 1 else []
    return list(range(1, size)) if size <= 16 else [size // 4, size // 2, size - size // 4]


def _joined(topology: Topology, kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Number of the part that each node is in, if only some links were there."""
    label = np.arange(len(topology.nodes))
    src, dst = topology.links.src[kept], topology.links.dst[kept]
    while True:
        least = np.minimum(label[src], label[dst])
        new = label.copy()
        np.minimum.at(new, src, least)
        np.minimum.at(new, dst, least)
        new = new[new]
        if np.array_equal(new, label):
            return label
        label = new


@dataclass(frozen=True, slots=True, eq=False)
class _Sides:
    """What some nodes must send, or all groups together, about how many seconds that takes, and over what."""

    about: float
    must: int
    over: NDArray[np.float64]
    side: NDArray[np.bool_] | None


def _of_groups(
    collective: Collective, topology: Topology, place: NDArray[np.int64], label: NDArray[np.int64]
) -> Iterator[_Sides]:
    """What the busiest group, and all together, must send and receive, over the links that leave or enter."""
    links = topology.links
    known, group = np.unique(label[place], return_inverse=True)
    if len(known) == 1:
        return
    # nodes in groups without a rank are nobody's
    number = np.searchsorted(known, label)
    number = np.where(known[np.minimum(number, len(known) - 1)] == label, number, -1)
    sent, received, total = must_move(collective, group.ravel())
    crossing = number[links.src] != number[links.dst]
    for end, must, leaves in ((links.src, sent, True), (links.dst, received, False)):
        own = crossing & (number[end] >= 0)
        can = np.bincount(number[end[own]], weights=links.bandwidth[own], minlength=len(known))
        times = np.divide(must, can, out=np.zeros(len(known)), where=(must > 0) & (can > 0))
        worst = int(np.argmax(times))
        if times[worst] > 0:
            over = links.bandwidth[own & (number[end] == worst)]
            yield _Sides(float(times[worst]), int(must[worst]), over, (number == worst) == leaves)
        # what switches sum or copy, a group sends once and no other group again
        together = int(must.sum()) if topology.reduces else total
        if together and own.any():
            yield _Sides(together / float(can.sum()), together, links.bandwidth[own], None)
