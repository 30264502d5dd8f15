"""Collectives by way of rank 0: everything goes to it, and on from there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from algorithms.algorithm import Algorithm
from algorithms.catalogue.flat import FLAT
from algorithms.catalogue.scattered import SCATTERED, in_turn
from algorithms.errors import ScheduleError
from algorithms.rounds import Round, Totals
from algorithms.schedule import Schedule

WAYS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "allreduce": ("reduce", "broadcast"),
        "allgather": ("gather", "broadcast"),
        "reduce_scatter": ("reduce", "scatter"),
    }
)
"""To rank 0, and from it."""

PARTS: Final[Mapping[str, Algorithm]] = MappingProxyType({**FLAT, **{a.name: a for a in SCATTERED}})
"""The algorithms that may do one of the two collectives."""


def reduce_broadcast(
    kind: str,
    ranks: int,
    size: int,
    algorithms: Sequence[str] | None = None,
    allgather: str | None = None,
) -> Schedule:
    """AllReduce as a Reduce to rank 0, then a Broadcast from it.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`.
    algorithms : sequence of str, optional
        Names of the two; default `binomial` for both.
    allgather : str, optional
        Of a `scatter_allgather` among them.

    Raises
    ------
    ScheduleError
        If there are not two, or one does not do its collective.
    """
    return _by_way_of_root(kind, ranks, size, algorithms, allgather)


def gather_broadcast(
    kind: str,
    ranks: int,
    size: int,
    algorithms: Sequence[str] | None = None,
    allgather: str | None = None,
) -> Schedule:
    """AllGather as a Gather to rank 0, then a Broadcast from it.

    Parameters
    ----------
    algorithms : sequence of str, optional
        Names of the algorithms of the Gather and of the Broadcast; binomial trees unless given.
    allgather : str, optional
        As of `reduce_broadcast`.

    Raises
    ------
    ScheduleError
        As `reduce_broadcast`.
    """
    return _by_way_of_root(kind, ranks, size, algorithms, allgather)


def reduce_then_scatter(
    kind: str, ranks: int, size: int, algorithms: Sequence[str] | None = None
) -> Schedule:
    """ReduceScatter as a Reduce to rank 0, then a Scatter from it.

    Parameters
    ----------
    algorithms : sequence of str, optional
        Names of the algorithms of the Reduce and of the Scatter; binomial trees unless given.

    Raises
    ------
    ScheduleError
        As `reduce_broadcast`.
    """
    return _by_way_of_root(kind, ranks, size, algorithms, None)


def _by_way_of_root(
    kind: str, ranks: int, size: int, algorithms: Sequence[str] | None, allgather: str | None
) -> Schedule:
    parts = [way.build(ranks, size) for way in _ways(kind, algorithms, allgather)]
    return in_turn(parts, kind, ranks, size)


@dataclass(frozen=True, slots=True)
class _Way:
    """A collective to or from rank 0, what does it, and with which options."""

    kind: str
    algorithm: Algorithm
    options: Mapping[str, str]

    def build(self, ranks: int, size: int) -> Schedule:
        return self.algorithm.build(self.kind, ranks, size, **self.options)

    def rounds(self, ranks: int, size: int) -> tuple[Round, ...] | None:
        return self.algorithm.rounds(self.kind, ranks, size, **self.options)

    def totals(self, ranks: int) -> Totals:
        return self.algorithm.totals(self.kind, ranks, **self.options)


def _ways(kind: str, names: Sequence[str] | None, allgather: str | None) -> list[_Way]:
    names = ["binomial", "binomial"] if names is None else list(names)
    parts = WAYS[kind]
    if len(names) != len(parts):
        raise ScheduleError(f"a {parts[0]} and a {parts[1]} are needed, found {len(names)}", ("algorithms",))
    for i, (part, name) in enumerate(zip(parts, names, strict=True)):
        if name not in PARTS or part not in PARTS[name].collectives:
            raise ScheduleError(f'"{name}" does no {part}', ("algorithms", i))
    if allgather is not None and "scatter_allgather" not in names:
        raise ScheduleError("there is no scatter_allgather among the algorithms", ("allgather",))
    chosen = {} if allgather is None else {"allgather": allgather}
    return [
        _Way(part, PARTS[name], chosen if name == "scatter_allgather" else {})
        for part, name in zip(parts, names, strict=True)
    ]


def by_way_of_root_rounds(
    kind: str,
    ranks: int,
    size: int,
    algorithms: Sequence[str] | None = None,
    allgather: str | None = None,
) -> tuple[Round, ...] | None:
    """Of both collectives: rank 0 is the last to be done with the first, and begins the second."""
    first, second = (way.rounds(ranks, size) for way in _ways(kind, algorithms, allgather))
    return None if first is None or second is None else (*first, *second)


def by_way_of_root_totals(
    kind: str, ranks: int, algorithms: Sequence[str] | None = None, allgather: str | None = None
) -> Totals:
    """Of both collectives."""
    first, second = (way.totals(ranks) for way in _ways(kind, algorithms, allgather))
    return first + second


COMPOSED: Final = (
    *SCATTERED,
    Algorithm(
        "reduce_broadcast",
        ("allreduce",),
        reduce_broadcast,
        by_way_of_root_rounds,
        by_way_of_root_totals,
        "L = ceil(log2 N): 2 L (alpha + M/beta) + L M/gamma",
        "crossbar",
        "Thakur, Rabenseifner and Gropp 2005",
        keeps_order="any root",
    ),
    Algorithm(
        "gather_broadcast",
        ("allgather",),
        gather_broadcast,
        by_way_of_root_rounds,
        by_way_of_root_totals,
        "L = ceil(log2 N): 2 L alpha + ((N-1)/N + L) M/beta",
        "crossbar",
        "Chan, Heimlich, Purkayastha and van de Geijn 2007",
    ),
    Algorithm(
        "reduce_then_scatter",
        ("reduce_scatter",),
        reduce_then_scatter,
        by_way_of_root_rounds,
        by_way_of_root_totals,
        "L = ceil(log2 N): 2 L alpha + (L + (N-1)/N) M/beta + L M/gamma",
        "crossbar",
        "Chan, Heimlich, Purkayastha and van de Geijn 2007",
        keeps_order="any root",
    ),
)
