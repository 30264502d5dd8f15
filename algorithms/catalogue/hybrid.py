"""The hybrid for N = m * 2^k: a ring over the odd part, halving over the rest."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from algorithms.algorithm import Algorithm
from algorithms.catalogue.halving import Order
from algorithms.catalogue.hierarchical import composed, hierarchical_rounds, hierarchical_totals
from algorithms.rounds import Round, Totals
from algorithms.schedule import Schedule


def hybrid_dims(ranks: int) -> tuple[int, int]:
    """N = m * 2^k with m odd: (m, 2^k).

    >>> hybrid_dims(12)
    (3, 4)
    """
    power = ranks & -ranks
    return ranks // power, power


HYBRID_ALGORITHMS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "reduce_scatter": ("ring", "recursive_halving"),
        "allgather": ("ring", "recursive_doubling"),
        "allreduce": ("ring", "rabenseifner"),
    }
)


def hybrid(kind: str, ranks: int, size: int, order: Order | None = None) -> Schedule:
    """N = m * 2^k: ring over the odd part m, then recursive halving over 2^k.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`.
    order : {'far', 'near'}, optional
        Which distance comes first in the halving or doubling.
    """
    options = {} if order is None else {"order": order}
    return composed(kind, ranks, size, hybrid_dims(ranks), HYBRID_ALGORITHMS[kind], options)


def hybrid_rounds(kind: str, ranks: int, size: int) -> tuple[Round, ...] | None:
    """Ring over m on M, then halving over 2^k on M/m."""
    return hierarchical_rounds(kind, ranks, size, hybrid_dims(ranks), HYBRID_ALGORITHMS[kind])


def hybrid_totals(kind: str, ranks: int) -> Totals:
    """Of its two levels."""
    return hierarchical_totals(kind, ranks, hybrid_dims(ranks), HYBRID_ALGORITHMS[kind])


HYBRID: Final = (
    Algorithm(
        "hybrid",
        ("reduce_scatter", "allgather", "allreduce"),
        hybrid,
        hybrid_rounds,
        hybrid_totals,
        "N = m 2^k: (m-1 + k) alpha + (N-1)/N M (1/beta + 1/gamma)",
        "full_mesh",
        "Chan, Heimlich, Purkayastha and van de Geijn 2007 (hybrids)",
    ),
)
