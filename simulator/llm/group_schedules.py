"""Schedules of the collectives that groups of ranks do."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from algorithms.errors import ScheduleError
from algorithms.registry import build
from simulator.llm.calls import primitive_of
from simulator.llm.errors import ModelError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.schedule import Schedule
    from topologies.topology import Topology


def group_schedule(
    name: str,
    kind: str,
    ranks: int,
    size: int,
    dims: tuple[int, ...] = (),
    skew: float = 1.0,
    *,
    back: bool = False,
) -> Schedule:
    """Schedule of a collective among the ranks of a group.

    Parameters
    ----------
    name, kind : str
        An algorithm of the catalogue, and what it does.
    ranks, size : int
        N, and M in bytes.
    dims : tuple of int
        What `hierarchical` goes along; empty for others.
    skew : float
        Of an All-to-All, how many times the mean rank 0 is sent, as `skewed` has it.
    back : bool
        Whether rank 0 sends the most instead.

    Raises
    ------
    ModelError
        If the algorithm cannot do it, or needs switches that reduce.
    """
    options: dict[str, Any] = {"dims": dims} if dims else {}
    if kind == "all_to_all" and skew > 1 and ranks > 1:
        shares = skewed(size, ranks, skew)
        options["sizes"] = [[share] * ranks for share in shares] if back else [shares] * ranks
    try:
        schedule = build(name, kind, ranks, size, **options)
    except ScheduleError as error:
        message = f"{name} {primitive_of(kind).name} on {ranks} ranks: {error.message}"
        raise ModelError(message, ("traffic", "algorithms", kind)) from None
    if schedule.switches:
        raise ModelError(f"{name} needs switches that reduce", ("traffic", "algorithms", kind))
    return schedule


def skewed(size: int, ranks: int, skew: float) -> list[int]:
    """Bytes that a rank sends to each rank, where the first gets `skew` times the mean, at most all.

    >>> skewed(800, 4, 2), skewed(800, 4, 9), skewed(10, 3, 1.5)
    ([400, 134, 133, 133], [800, 0, 0, 0], [5, 3, 2])
    """
    most = min(size, round(Fraction(skew) * size / ranks))
    each, more = divmod(size - most, ranks - 1)
    return [most, *(each + (other < more) for other in range(ranks - 1))]


def dims_of(topology: Topology, members: NDArray[np.int64]) -> tuple[int, ...]:
    """Sizes of a group along the topology's dimensions, or the group's own size if it is no box."""
    places = np.array([topology.coordinates(rank) for rank in members.tolist()])
    sizes = [len(np.unique(column)) for column in places.T]
    stride, index = 1, np.zeros(len(members), dtype=np.int64)
    for size, column in zip(sizes, places.T, strict=True):
        index += np.unique(column, return_inverse=True)[1].ravel() * stride
        stride *= size
    if stride != len(members) or (index != np.arange(len(members))).any():
        return (len(members),)
    return tuple(size for size in sizes if size > 1) or (1,)
