"""What a builder works on: nodes and links, collected until they are a `Topology`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from topologies.errors import TopologyError
from topologies.topology import Links, Topology

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

MOST_RANKS: Final = 1 << 20
MOST_LINKS: Final = 1 << 24
"""What a topology may hold; more would not fit memory."""


@dataclass(frozen=True, slots=True)
class Wire:
    """What one directed link is made of.

    Attributes
    ----------
    bandwidth : float
        bytes/s.
    latency, overhead : float
        s.
    level : str
        Name of its level.
    cost : int
        What routing minimises.
    """

    bandwidth: float
    latency: float
    overhead: float
    level: str
    cost: int = 1


def check_wire(bandwidth: float, latency: float, overhead: float) -> None:
    """Refuse a link that cannot carry anything.

    Raises
    ------
    TopologyError
        If the bandwidth is not positive and finite, or a time is negative or not finite.
    """
    if not 0 < bandwidth < float("inf"):
        raise TopologyError(f"bandwidth must be positive and finite, found {bandwidth}", ("bandwidth",))
    for name, value in (("latency", latency), ("overhead", overhead)):
        if not 0 <= value < float("inf"):
            raise TopologyError(f"{name} must be zero or more and finite, found {value}", (name,))


class Wiring:
    """Ranks 0..N-1, then switches, and the directed links between them.

    Parameters
    ----------
    ranks : int
        N.
    at : tuple of str or int
        The parameter to blame if N is out of range.

    Raises
    ------
    TopologyError
        If N is not 1 to 2^20.
    """

    def __init__(self, ranks: int, at: tuple[str | int, ...] = ("ranks",)) -> None:
        if not 1 <= ranks <= MOST_RANKS:
            found = f"{ranks:,}" if ranks < 10**15 else "far more"
            raise TopologyError(f"a topology has 1 to {MOST_RANKS:,} ranks, found {found}", at)
        self.ranks = ranks
        self.switches: dict[str, int] = {}
        self._blocks: list[tuple[NDArray[np.int64], NDArray[np.int64], Wire]] = []
        self._links = 0

    def switch(self, name: str) -> int:
        """Add a switch; its node number."""
        return self.switches.setdefault(name, self.ranks + len(self.switches))

    def add(self, src: ArrayLike, dst: ArrayLike, wire: Wire, count: int = 1) -> None:
        """Add `count` parallel links from each src to the dst beside it.

        A node's links are added in the order in which routing should prefer them.

        Raises
        ------
        TopologyError
            If there are more than 2^24 links.
        """
        tails, heads = np.broadcast_arrays(np.atleast_1d(src), np.atleast_1d(dst))
        self.make_room(tails.size * count)
        self._links += tails.size * count
        for _ in range(count):
            self._blocks.append((tails.astype(np.int64), heads.astype(np.int64), wire))

    def make_room(self, links: int, at: tuple[str | int, ...] = ()) -> None:
        """Refuse more links than a topology may have, before they are made.

        Raises
        ------
        TopologyError
            At the parameter `at`.
        """
        if self._links + links > MOST_LINKS:
            needed = self._links + links
            words = f"{needed:,}" if needed < 10**15 else "far more"
            raise TopologyError(f"a topology has at most {MOST_LINKS:,} links; this one needs {words}", at)

    def join(self, low: Sequence[int], high: Sequence[int], wire: Wire, count: int = 1) -> None:
        """A link each way between every node of one side and every node of the other."""
        self.make_room(2 * len(low) * len(high) * count)
        lows, highs = np.repeat(low, len(high)), np.tile(high, len(low))
        self.add(lows, highs, wire, count)
        self.add(highs, lows, wire, count)

    def topology(
        self,
        kind: str,
        dims: Sequence[int],
        levels: Sequence[str],
        spread: Literal["first", "hash"] = "first",
        *,
        reduces: bool = False,
    ) -> Topology:
        """The finished topology; with `reduces`, all its switches reduce.

        Raises
        ------
        TopologyError
            If the dimensions do not multiply to the number of ranks.
        """
        if prod(dims) != self.ranks:
            raise TopologyError(f"dims {tuple(dims)} do not multiply to {self.ranks} ranks")
        nodes: tuple[Hashable, ...] = (*range(self.ranks), *self.switches)
        able = tuple(self.switches.values()) if reduces else ()
        columns = self._columns(levels)
        return Topology(kind, self.ranks, tuple(dims), nodes, tuple(levels), columns, spread, able)

    def _columns(self, levels: Sequence[str]) -> Links:
        nodes = self.ranks + len(self.switches)
        numbers = {name: i for i, name in enumerate(levels)}
        sizes = [len(src) for src, _, _ in self._blocks]
        wires = [wire for _, _, wire in self._blocks]
        src = np.concatenate([block[0] for block in self._blocks] or [np.zeros(0, dtype=np.int64)])
        dst = np.concatenate([block[1] for block in self._blocks] or [np.zeros(0, dtype=np.int64)])
        # grouped by source, and beside the first link between two nodes all that are parallel to it
        _, first, pair = np.unique(src * nodes + dst, return_index=True, return_inverse=True)
        order = np.lexsort((first[pair.ravel()], src))
        columns = [
            np.repeat([getattr(wire, name) for wire in wires], sizes)
            for name in ("bandwidth", "latency", "overhead", "cost")
        ]
        level = np.repeat([numbers[wire.level] for wire in wires], sizes)
        bandwidth, latency, overhead = (column[order].astype(np.float64) for column in columns[:3])
        return Links(
            src[order].astype(np.int32),
            dst[order].astype(np.int32),
            bandwidth,
            latency,
            overhead,
            level[order].astype(np.int32),
            columns[3][order].astype(np.int64),
        )


def switch_reduces(switch: str) -> bool:
    """What a builder's parameter `switch` says of its switches.

    Raises
    ------
    TopologyError
        If it is neither word.
    """
    if switch not in ("forwards", "reduces"):
        raise TopologyError(f'switch must be forwards or reduces, found "{switch}"', ("switch",))
    return switch == "reduces"
