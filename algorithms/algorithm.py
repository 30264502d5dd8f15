"""What the catalogue knows of an algorithm."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from algorithms.collective import KINDS
from algorithms.rounds import Round, Totals
from algorithms.schedule import Schedule

if TYPE_CHECKING:
    from algorithms.representative import Representative
    from topologies.topology import Topology

FromTopology: TypeAlias = "Callable[[Topology, Mapping[str, Any], Sequence[int] | None], Mapping[str, Any]]"

COMMON: Final = ("root", "peer", "segments", "sizes")
"""Options of every algorithm, where the collective has them; a builder may see to some itself."""


@cache
def parameters(function: Callable[..., object]) -> tuple[str, ...]:
    """Names of a function's parameters."""
    return tuple(inspect.signature(function).parameters)


@dataclass(frozen=True, slots=True)
class Algorithm:
    """An algorithm of the catalogue.

    Attributes
    ----------
    name : str
        Its name in scenarios.
    collectives : tuple of str
        What it does.
    build : callable
        `(kind, ranks, size, **options)` -> Schedule.
    rounds : callable
        `(kind, ranks, size, **options)` -> its closed form as rounds; None where there is none.
    totals : callable
        `(kind, ranks, **options)` -> what all ranks together send and reduce, in units of M.
    formula : str
        The closed form in words of alpha, beta, gamma.
    ideal : str
        Topology on which the closed form is exact; empty where there is none.
    source : str
        Where it is published.
    power_of_two : bool
        Whether it is made for N = 2^k; elsewhere it folds, unless `non_power_of_two` says otherwise.
    constraint : str
        Which N it is made for, and what it does elsewhere.
    keeps_order : {'any root', 'root 0', 'no'}
        Whether every sum joins neighbouring runs of ranks in their order, so that an operator that does
        not commute gives the right result: with any root, with root 0 only, or not. This is said of the
        default options; `algorithms.order.keeps_order` finds it out of any schedule.
    from_topology : callable, optional
        (topology, options, placement) -> options that follow from the topology, for those that are not
        among the given ones; the placement is the topology's rank of each rank, where it is known.
    representative : callable, optional
        `(kind, ranks, size, **options)` -> rank 0's transfers and the group that makes everybody's of
        them; None where these do not allow it.
    """

    name: str
    collectives: tuple[str, ...]
    build: Callable[..., Schedule]
    rounds: Callable[..., tuple[Round, ...] | None]
    totals: Callable[..., Totals]
    formula: str
    ideal: str
    source: str
    power_of_two: bool = False
    constraint: str = "any N"
    keeps_order: Literal["any root", "root 0", "no"] = "no"
    from_topology: FromTopology | None = None
    representative: Callable[..., Representative | None] | None = None

    @property
    def reduces(self) -> bool:
        """Whether it does a collective that sums."""
        return any(KINDS[kind].source == "every" for kind in self.collectives)

    @property
    def options(self) -> tuple[str, ...]:
        """Names of the options that it takes beyond kind, ranks, size, and those of every algorithm."""
        own = tuple(p for p in parameters(self.build) if p not in COMMON)[3:]
        return (*own, "non_power_of_two") if self.power_of_two else own

    @property
    def summary(self) -> str:
        """First line of the builder's docstring."""
        return (inspect.getdoc(self.build) or "").partition("\n")[0]
