"""What the catalogue knows of an algorithm, and the algorithms that stand by themselves."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from algorithms.collective import COLLECTIVES
from algorithms.direct import direct, direct_rounds
from algorithms.halving import (
    doubling_rounds,
    halving_rounds,
    rabenseifner,
    recursive_doubling,
    recursive_halving,
)
from algorithms.ring import bidirectional_ring, bidirectional_ring_rounds, ring, ring_rounds
from algorithms.rounds import Round
from algorithms.schedule import Schedule


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
        (kind, ranks, size, **options) -> Schedule.
    rounds : callable
        (kind, ranks, size, **options) -> its closed form as rounds.
    formula : str
        The closed form in words of alpha, beta, gamma.
    ideal : str
        Topology on which the closed form is exact.
    source : str
        Where it is published.
    power_of_two : bool
        Whether it is made for N = 2^k; elsewhere it folds, unless `non_power_of_two` says otherwise.
    """

    name: str
    collectives: tuple[str, ...]
    build: Callable[..., Schedule]
    rounds: Callable[..., tuple[Round, ...]]
    formula: str
    ideal: str
    source: str
    power_of_two: bool = False

    @property
    def options(self) -> tuple[str, ...]:
        """Names of the options that it takes beyond kind, ranks and size."""
        own = tuple(inspect.signature(self.build).parameters)[3:]
        return (*own, "non_power_of_two") if self.power_of_two else own

    @property
    def summary(self) -> str:
        """First line of the builder's docstring."""
        return (inspect.getdoc(self.build) or "").partition("\n")[0]


FLAT: Mapping[str, Algorithm] = MappingProxyType(
    {
        algorithm.name: algorithm
        for algorithm in (
            Algorithm(
                "ring",
                COLLECTIVES,
                ring,
                ring_rounds,
                "(N-1)(alpha + M/N/beta + M/N/gamma); allreduce twice, the second time without gamma",
                "ring",
                "Patarasuk and Yuan 2009",
            ),
            Algorithm(
                "bidirectional_ring",
                COLLECTIVES,
                bidirectional_ring,
                bidirectional_ring_rounds,
                "ceil((N-1)/2) alpha + (N-1)/2 M/N (1/beta + 2/gamma); "
                "allreduce 2(N-1)(alpha + M/2N/beta) + (N-1) M/N/gamma",
                "ring",
                "Jain and Sabharwal 2010",
            ),
            Algorithm(
                "recursive_halving",
                ("reduce_scatter",),
                recursive_halving,
                halving_rounds,
                "log2(N) alpha + (N-1)/N M (1/beta + 1/gamma)",
                "hypercube",
                "Thakur, Rabenseifner and Gropp 2005",
                power_of_two=True,
            ),
            Algorithm(
                "recursive_doubling",
                ("allgather", "allreduce"),
                recursive_doubling,
                doubling_rounds,
                "log2(N) alpha + (N-1)/N M/beta; allreduce log2(N)(alpha + M/beta + M/gamma)",
                "hypercube",
                "Thakur, Rabenseifner and Gropp 2005",
                power_of_two=True,
            ),
            Algorithm(
                "rabenseifner",
                ("allreduce",),
                rabenseifner,
                halving_rounds,
                "2 log2(N) alpha + (N-1)/N M (2/beta + 1/gamma)",
                "hypercube",
                "Rabenseifner 2004",
                power_of_two=True,
            ),
            Algorithm(
                "direct",
                COLLECTIVES,
                direct,
                direct_rounds,
                "alpha + M/N/beta + (N-1) M/N/gamma; allreduce alpha + M/beta + (N-1) M/gamma",
                "full_mesh",
                "Chan, Heimlich, Purkayastha and van de Geijn 2007",
            ),
        )
    }
)
"""Algorithms over one dimension."""
