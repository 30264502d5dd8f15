"""The translations of a grid: the symmetry of rings, tori and hypercubes."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Where = TypeVar("Where", int, "NDArray[np.int64]")


@dataclass(frozen=True, slots=True)
class Translations:
    """A group whose elements are the places of a grid: coordinates are added modulo its sizes.

    ``(N,)`` rotates a ring, ``(2, 2, ..., 2)`` is XOR, and a torus has its own.

    Attributes
    ----------
    dims : tuple of int
        p_0, p_1, ..., innermost first, none of them 1.
    """

    dims: tuple[int, ...]

    @property
    def order(self) -> int:
        """Number of elements N."""
        return prod(self.dims)

    def add(self, place: Where, by: Where) -> Where:
        """Where a place goes.

        Examples
        --------
        >>> Translations((8,)).add(6, 3), Translations((2, 2, 2)).add(6, 3), Translations((4, 2)).add(6, 3)
        (1, 5, 5)
        """
        return self._combine(place, by, 1)

    def subtract(self, place: Where, by: Where) -> Where:
        """Where a place came from."""
        return self._combine(place, by, -1)

    def _combine(self, place: Where, by: Where, sign: int) -> Where:
        if len(self.dims) == 1:
            return (place + sign * by) % self.dims[0]
        if set(self.dims) == {2}:
            return place ^ by
        total, stride = 0 * place, 1
        for size in self.dims:
            total = total + (place // stride + sign * (by // stride)) % size * stride
            stride *= size
        return total


def translations(dims: tuple[int, ...]) -> Translations:
    """Translations of a grid, of which dimensions of one place are left out.

    Examples
    --------
    >>> translations((4, 1, 2))
    Translations(dims=(4, 2))
    """
    return Translations(tuple(size for size in dims if size > 1))
