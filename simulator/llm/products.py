"""Matrix products whose work is shared along one dimension: who needs what, and who is left with what.

A variable that has the dimension is partitioned along it. An operand that has it not is needed
whole by every rank, and a result that has it not comes out as partial sums, since the dimension
was summed over. That, applied to a layer and to its derivatives, gives every state of every strategy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from simulator.llm.states import PARTIAL, REPLICATED, Partitioned, State

DIMENSIONS: Final[Mapping[str, str]] = MappingProxyType(
    {"X": "LBI", "W": "LIO", "Y": "LBO", "Q": "BH", "K": "TH", "V": "TH", "A": "BTH", "Z": "BH"}
)
"""Dimensions of a layer's input X, weights W and output Y, and of attention's queries, keys, values,
scores and result: layers L, tokens B, input I, output O, heads H, and T for the tokens that B attends to."""

WITHIN: Final[Mapping[str, str]] = MappingProxyType({"S": "B"})
"""Dimensions that are part of another: the sequence is part of the tokens."""

ROUTED: Final = "E"
"""Experts: a dimension of the weights, and of tokens once they are routed; of all three, as L."""


def dimensions(variable: str) -> str:
    """Dimensions of a variable, or of its derivative.

    >>> dimensions("X"), dimensions("dW")
    ('LBI', 'LIO')
    """
    return DIMENSIONS[variable.removeprefix("d")]


def is_related(variable: str, dim: str) -> bool:
    """Whether a variable has a dimension.

    >>> is_related("X", "B"), is_related("X", "O"), is_related("Y", "S"), is_related("W", "S")
    (True, False, True, False)
    """
    return dim == ROUTED or WITHIN.get(dim, dim) in dimensions(variable)


@dataclass(frozen=True, slots=True)
class Product:
    """A product of two variables, summed over the dimensions that the result has not.

    Attributes
    ----------
    output, left, right : str
    """

    output: str
    left: str
    right: str

    @property
    def summed(self) -> str:
        """Dimensions that are summed over.

        >>> FORWARD.summed, [product.summed for product in FORWARD.adjoints()]
        ('I', ['O', 'B'])
        """
        output = dimensions(self.output)
        return "".join(d for d in dimensions(self.left) if d in dimensions(self.right) and d not in output)

    def adjoints(self) -> tuple[Product, Product]:
        """The products of the backward pass: what the derivatives of left and right are made of."""
        by = f"d{self.output}"
        return Product(f"d{self.left}", by, self.right), Product(f"d{self.right}", self.left, by)


FORWARD: Final = Product("Y", "X", "W")
"""Y = X W, a linear layer."""

SCORES: Final = Product("A", "Q", "K")
VALUES: Final = Product("Z", "A", "V")
"""Attention: scores of queries and keys, then the values weighed by them."""


def needed(variable: str, split: str) -> State:
    """The state in which an operand is needed where the work is shared along a dimension.

    >>> print(needed("X", "B"), needed("W", "B"))
    P(B) R
    """
    return Partitioned(split) if is_related(variable, split) else REPLICATED


def made(variable: str, split: str) -> State:
    """The state in which a result comes out where the work is shared along a dimension.

    >>> print(made("Y", "O"), made("Y", "I"), made("dW", "B"))
    P(O) Σ Σ
    """
    return Partitioned(split) if is_related(variable, split) else PARTIAL
