"""The first seed document's formulas and tables, as they stand there.

M is the vector that a rank holds before a ReduceScatter, alpha the start of a message, beta the
bandwidth of a link and gamma that of a reducer, both in bytes/s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class Costs:
    """alpha in s, beta and gamma in bytes/s; gamma None where the formula leaves reducing out."""

    alpha: Fraction
    beta: Fraction
    gamma: Fraction | None = None

    def message(self, size: Fraction | int) -> Fraction:
        """Alpha + S/beta + S/gamma."""
        return self.alpha + size / self.beta + (size / self.gamma if self.gamma else 0)


def sent(ranks: int, size: int) -> Fraction:
    """(N-1) M / N: S_i, what a node must send."""
    return Fraction((ranks - 1) * size, ranks)


def ring_time(ranks: int, size: int, costs: Costs) -> Fraction:
    """(N-1) (alpha + M/N/beta + M/N/gamma)."""
    return (ranks - 1) * costs.message(Fraction(size, ranks))


def halving_time(ranks: int, size: int, costs: Costs) -> Fraction:
    """Sum over j = 1 ... log2 N of alpha + M/2^j/beta + M/2^j/gamma; N = 2^k."""
    steps = range(1, ranks.bit_length())
    return sum((costs.message(Fraction(size, 2**j)) for j in steps), Fraction(0))


def levels_time(dims: Sequence[int], size: int, costs: Sequence[Costs]) -> Fraction:
    """Sum over i of (p_i - 1) alpha_i + (p_i - 1)/p_i M / (P_{i-1} beta_i)."""
    return sum(
        (
            (p - 1) * (level.alpha + Fraction(size, prod(dims[: i + 1])) / level.beta)
            for i, (p, level) in enumerate(zip(dims, costs, strict=True))
        ),
        Fraction(0),
    )


DUALITY: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "input of a node": ("M/N", "M"),
        "output of a node": ("M", "M/N"),
        "flow": ("scattered → gathered", "gathered → scattered"),
        "operation": ("concatenate", "reduce, keep a part"),
    }
)
"""Of AllGather and of ReduceScatter."""

RING_FIRST_CHUNK: Final = 1
"""In step 1 of its ring node i sends chunk i + 1 mod N."""

HALVING_STEPS: Final = (
    ("(0,4) (1,5) (2,6) (3,7)", "M/2", "M/2"),
    ("(0,2) (1,3) (4,6) (5,7)", "M/4", "M/4"),
    ("(0,1) (2,3) (4,5) (6,7)", "M/8", "M/N"),
)
"""Of N = 8: pairs, what they exchange, what is left on a node."""

COMPARISON: Final[Mapping[str, tuple[str, str, str, str]]] = MappingProxyType(
    {
        "ring": ("(N-1) alpha", "(N-1)M/(N beta)", "no", "ring"),
        "recursive_halving": ("log2 N alpha", "(N-1)M/(N beta)", "yes", "hypercube, N = 2^k"),
    }
)
"""Latency term, bandwidth term, whether both are at their bound, topology."""

USES: Final = (
    ("tp", "TP", "AllReduce", "bsh", "RS + AG"),
    ("sp", "SP", "RS + AG", "bsh", "each one half, can be overlapped"),
    ("fsdp", "ZeRO-3 backward", "ReduceScatter", "layer_params", "gradients of a layer, reduced and cut"),
)
"""Strategy, its name there, primitive, traffic of a layer, remark."""
