"""Grids of ranks: their dimensions, and what algorithms are asked to do along each of them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from algorithms.errors import ScheduleError


def grid_dims(ranks: int, dims: Sequence[int] | None) -> tuple[int, ...]:
    """p_0, p_1, ..., innermost first; (N,) where none are given.

    Raises
    ------
    ScheduleError
        If they do not multiply to N.

    Examples
    --------
    >>> grid_dims(8, [4, 1, 2]), grid_dims(8, None)
    ((4, 1, 2), (8,))
    """
    sizes = (ranks,) if dims is None else tuple(dims)
    if prod(sizes) != ranks or min(sizes, default=0) < 1:
        raise ScheduleError(f"dims {list(sizes)} do not multiply to {ranks} ranks", ("dims",))
    return sizes


def names_by_dim(dims: Sequence[int], names: Sequence[str] | None, default: str) -> list[str]:
    """An algorithm for each dimension, the default where none are given.

    Raises
    ------
    ScheduleError
        If there are not as many as dimensions.
    """
    names = [default] * len(dims) if names is None else list(names)
    if len(names) != len(dims):
        raise ScheduleError(
            f"{len(dims)} dims need {len(dims)} algorithms, found {len(names)}", ("algorithms",)
        )
    return names
