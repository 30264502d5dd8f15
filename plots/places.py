"""What a layout is made of: points, and the groups around them."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import pi
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Points: TypeAlias = "NDArray[np.float64]"


@dataclass(frozen=True, slots=True)
class Hull:
    """A disc around the members of a group.

    Parameters
    ----------
    level : int
        Index of the level that joins the members.
    x, y, radius : float
        Of the disc.
    """

    level: int
    x: float
    y: float
    radius: float


@dataclass(frozen=True, slots=True)
class Box:
    """A box around the members of a group.

    Parameters
    ----------
    level : int
        Index of the level that joins the members.
    low, high : tuple of float
        Its corner on the left, below, and the one on the right, above.
    """

    level: int
    low: tuple[float, float]
    high: tuple[float, float]

    @property
    def size(self) -> tuple[float, float]:
        """Width and height."""
        return self.high[0] - self.low[0], self.high[1] - self.low[1]


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Where all nodes stand.

    Parameters
    ----------
    points : ndarray of float64, shape (nodes, 2)
        Positions.
    hulls, boxes : tuple
        The groups around them.
    steps : ndarray of float64, shape (dims, 2)
        In a grid, from a rank to its neighbour along each dimension; a link of that level that is
        longer wraps round. Else empty.
    """

    points: Points
    hulls: tuple[Hull, ...] = ()
    boxes: tuple[Box, ...] = ()
    steps: Points = field(default_factory=lambda: np.zeros((0, 2)))

    @property
    def grouping(self) -> frozenset[int]:
        """Levels that have a group drawn."""
        return frozenset({*(hull.level for hull in self.hulls), *(box.level for box in self.boxes)})


def on_circle(count: int, first: float) -> Points:
    """Points clockwise on the unit circle from the angle `first` on.

    >>> from math import pi
    >>> on_circle(2, pi / 2).tolist()
    [[0.0, 1.0], [0.0, -1.0]]
    """
    angle = first - 2 * pi * np.arange(count) / count
    return np.stack([np.cos(angle), np.sin(angle)], axis=1).round(12) + 0.0
