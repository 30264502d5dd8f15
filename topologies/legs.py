"""Ways of rank 0's messages where links look the same from every rank, told by orbits of links.

The links that are images of each other under a group that moves the ranks are an orbit. Routing is
the same from everywhere, so that a route is told by the orbits that it walks, one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Legs:
    """Ways of many messages of rank 0, told by orbits.

    Attributes
    ----------
    row : ndarray of int64, shape (legs,)
        Which message; rises.
    orbit : ndarray of int64
        Of the links that are walked.
    hops : ndarray of int64 or float64
        How many of them, one after the other; or the mean over all shortest ways.
    """

    row: NDArray[np.int64]
    orbit: NDArray[np.int64]
    hops: NDArray[np.number]


class Shape(Protocol):
    """How the ranks of a symmetric topology are joined."""

    @property
    def ends(self) -> NDArray[np.int64]:
        """Where the link of rank 0 in each orbit leads, in routing's order of preference."""

    @property
    def level(self) -> NDArray[np.int32]:
        """Level of each orbit."""

    @property
    def farthest(self) -> int:
        """Most links on the route of a message."""

    @property
    def distances(self) -> list[tuple[int, int]]:
        """Links along each dimension on shortest ways from rank 0 to all others, and its links along it."""

    def legs(self, dst: NDArray[np.int64], *, spread: bool) -> Legs:
        """Ways of messages from rank 0 to others: the routes, or all shortest ways evenly."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A ring along every dimension; of a dimension of two ranks, one link each way.

    Attributes
    ----------
    dims : tuple of int
    both_ways : bool
        Whether links go both ways round.
    leveled : bool
        Whether each dimension is a level of its own.
    """

    dims: tuple[int, ...]
    both_ways: bool = True
    leveled: bool = False

    def _orbits(self) -> list[tuple[int, int]]:
        """(dimension, direction) of every orbit."""
        ways = [(1, -1) if self.both_ways and size > 2 else (1,) * (size > 1) for size in self.dims]
        return [(dim, way) for dim, both in enumerate(ways) for way in both]

    @property
    def ends(self) -> NDArray[np.int64]:
        """One further along each dimension, in either direction."""
        return np.array(
            [way % self.dims[dim] * prod(self.dims[:dim]) for dim, way in self._orbits()], dtype=np.int64
        )

    @property
    def level(self) -> NDArray[np.int32]:
        """The dimension, or one for all."""
        return np.array([dim * self.leveled for dim, _ in self._orbits()], dtype=np.int32)

    @property
    def farthest(self) -> int:
        """Half-way round every dimension, or all but one rank where links go one way."""
        return sum(size // 2 if self.both_ways else size - 1 for size in self.dims)

    @property
    def distances(self) -> list[tuple[int, int]]:
        """Of every dimension of more than one rank."""
        ranks, found = prod(self.dims), []
        for size in self.dims:
            # 0 + 1 + 1 + 2 + 2 + ... both ways, 0 + 1 + 2 + ... one way
            once = size * size // 4 if self.both_ways else size * (size - 1) // 2
            if size > 1:
                found.append((ranks // size * once, 2 if self.both_ways and size > 2 else 1))
        return found

    def legs(self, dst: NDArray[np.int64], *, spread: bool) -> Legs:
        """Dimension by dimension the shorter way round; half-way round the positive one."""
        hops = np.zeros((len(dst), len(self.ends)))
        for orbit, (dim, way) in enumerate(self._orbits()):
            size = self.dims[dim]
            away: NDArray[np.int64] = way * (dst // prod(self.dims[:dim])) % size
            if not self.both_ways or size == 2:
                hops[:, orbit] = away
                continue
            half = 2 * away == size
            hops[:, orbit] = np.where(2 * away < size, away, 0)
            hops[half, orbit] = size / 4 if spread else size / 2 * (way == 1)
        row, which = np.nonzero(hops)
        walked = hops[row, which]
        return Legs(row, which, walked if spread else walked.astype(np.int64))


@dataclass(frozen=True, slots=True)
class Mesh:
    """A link from everybody to everybody."""

    ranks: int

    @property
    def ends(self) -> NDArray[np.int64]:
        """Every other rank."""
        return np.arange(1, self.ranks)

    @property
    def level(self) -> NDArray[np.int32]:
        """One."""
        return np.zeros(self.ranks - 1, dtype=np.int32)

    @property
    def farthest(self) -> int:
        """One hop."""
        return min(1, self.ranks - 1)

    @property
    def distances(self) -> list[tuple[int, int]]:
        """One link to each."""
        return [(self.ranks - 1, self.ranks - 1)]

    def legs(self, dst: NDArray[np.int64], *, spread: bool) -> Legs:
        """The link that leads there, which has no rival, spread or not."""
        return Legs(np.arange(len(dst)), dst - 1, np.ones(len(dst), dtype=float if spread else np.int64))


@dataclass(frozen=True, slots=True)
class Switch:
    """A link up to one switch and a link down for every rank."""

    ranks: int

    @property
    def ends(self) -> NDArray[np.int64]:
        """The switch, which all ranks share, and rank 0 again."""
        return np.array([self.ranks, 0])

    @property
    def level(self) -> NDArray[np.int32]:
        """One."""
        return np.zeros(2, dtype=np.int32)

    @property
    def farthest(self) -> int:
        """Up and down."""
        return 2 * min(1, self.ranks - 1)

    @property
    def distances(self) -> list[tuple[int, int]]:
        """Up, and as often down."""
        return [(self.ranks - 1, 1)]

    def legs(self, dst: NDArray[np.int64], *, spread: bool) -> Legs:
        """Up and down, which have no rival, spread or not."""
        row, orbit = np.divmod(np.arange(2 * len(dst)), 2)
        return Legs(row, orbit, np.ones(len(row), dtype=float if spread else np.int64))
