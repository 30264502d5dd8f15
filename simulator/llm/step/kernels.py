"""What computes at a rank, kernel by kernel: operations, and bytes that go over its memory.

A kernel reads each of its inputs from memory once and writes each of its results once. What works
number by number (norms, sums, activation functions, softmax) is counted by its bytes alone, as the
closed forms of the papers do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from simulator.llm.checked import check_fields
from simulator.llm.errors import ModelError
from topologies.quantities import Ratio

if TYPE_CHECKING:
    from simulator.llm.layer_calls import Pass
    from simulator.llm.weights import Weight

Kind: TypeAlias = Literal["matmul", "attention", "memory"]
Place: TypeAlias = Literal[
    "embedding",
    "input norm",
    "projections",
    "attention",
    "attention output",
    "second norm",
    "mlp",
    "router",
    "shared expert",
    "experts",
    "combine",
    "residual",
    "final norm",
    "head",
    "loss",
]
"""In the order in which they run; collectives come between two of them.

With sequence parallelism an All-Gather before projections, mlp, shared expert and head, and a
Reduce-Scatter after embedding, attention output, mlp and shared expert; without it an AllReduce after
embedding, attention output and mlp, or combine. Context parallelism's come around attention. Tokens go
to experts before that place, and back after it; under sequence parallelism tensor parallel ranks
gather them there, and scatter the results.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkPlan:
    """How work is counted.

    Parameters
    ----------
    mask : {'causal', 'full'}
        Whether a token attends to those before it only, and kernels leave out the rest; or to all, as
        the closed forms of Narayanan et al. 2021 and Korthikanti et al. 2022 count.
    skew : float
        Tokens of the rank whose experts get most, over the mean; no more than all of them counts.
    """

    mask: Literal["causal", "full"] = "causal"
    skew: Ratio = 1

    def __post_init__(self) -> None:
        check_fields(self)
        if self.skew < 1:
            raise ModelError(f"must be 1 or more, found {self.skew:g}", ("skew",))

    def pairs(self, tokens: int, past: int = 0) -> int:
        """Pairs of a token and one that it attends to, for tokens of a sequence that come after `past`.

        >>> WorkPlan().pairs(4), WorkPlan(mask="full").pairs(4), WorkPlan().pairs(1, past=9)
        (10, 16, 10)
        """
        inside = tokens * tokens if self.mask == "full" else tokens * (tokens + 1) // 2
        return tokens * past + inside


@dataclass(frozen=True, slots=True)
class Work:
    """One pass of a kernel.

    Attributes
    ----------
    kind : {'matmul', 'attention', 'memory'}
        What it is beside bytes: a product with weights, one of attention's core, or nothing.
    flops : Fraction
        Floating point operations, a multiplication and an addition being two.
    bytes : Fraction
        Read and written.
    """

    kind: Kind = "memory"
    flops: Fraction = Fraction(0)
    bytes: Fraction = Fraction(0)


NOTHING: Final = Work()


@dataclass(frozen=True, slots=True)
class Part:
    """A kernel of the forward pass, and those of the backward pass that belong to it.

    Attributes
    ----------
    name : str
        What it computes, for people.
    place : str
        Where it comes: one of `Place`.
    forward : Work
    input_gradient : Work
        What hands the gradient on to the part before it.
    weight_gradient : Work
        What may come at any time after: gradients of weights, added up over micro-batches.
    recomputed : bool
        Whether the backward pass does the forward pass again first.
    """

    name: str
    place: Place
    forward: Work
    input_gradient: Work = NOTHING
    weight_gradient: Work = NOTHING
    recomputed: bool = False

    @property
    def again(self) -> Work:
        """What is recomputed."""
        return self.forward if self.recomputed else NOTHING

    @property
    def flops(self) -> Fraction:
        """Operations of a micro-batch, forward and backward."""
        works = (self.forward, self.again, self.input_gradient, self.weight_gradient)
        return sum((work.flops for work in works), Fraction(0))


def own_tokens(asked: Pass) -> Fraction:
    """Tokens of a micro-batch that a rank works on where tensor parallelism cuts no matrix."""
    return asked.tokens / (asked.parallel.tp if asked.parallel.sp else 1)


def cut_of(weight: Weight, asked: Pass) -> int:
    """Into how many pieces tensor parallelism cuts a weight."""
    return min(asked.parallel.tp, weight.pieces)


def linear(
    asked: Pass,
    name: str,
    place: Place,
    weights: Sequence[Weight],
    tokens: Fraction,
    *,
    copies: Fraction = Fraction(1),
) -> Part:
    """Make the part that multiplies tokens by matrices side by side, and adds their biases.

    Parameters
    ----------
    weights : sequence of Weight
        Matrices of one input, and biases.
    tokens : Fraction
        That the rank multiplies.
    copies : Fraction
        Of each weight that the rank reads: experts with tokens to work on.
    """
    matrices = [weight for weight in weights if weight.is_matrix]
    first = matrices[0]
    inputs = Fraction(first.inputs, cut_of(first, asked) if first.cut == "inputs" else 1)
    outputs = sum(Fraction(w.outputs, cut_of(w, asked) if w.cut == "outputs" else 1) for w in matrices)
    held = sum(Fraction(w.inputs * w.outputs, cut_of(w, asked)) for w in weights)
    return product(asked, name, place, tokens, inputs, Fraction(outputs), held * copies)


def product(
    asked: Pass,
    name: str,
    place: Place,
    tokens: Fraction,
    inputs: Fraction,
    outputs: Fraction,
    held: Fraction,
) -> Part:
    """Make the part of a matrix product: backward, one as large for each operand's gradient.

    Parameters
    ----------
    inputs, outputs : Fraction
        Numbers of a token before and after.
    held : Fraction
        Weights that are read.
    """
    flops = 2 * tokens * inputs * outputs
    moved = tokens * (inputs + outputs) * asked.activation
    through = Work("matmul", flops, moved + held * asked.weight)
    # what other micro-batches added up is read, too
    weights = Work("matmul", flops, moved + 2 * held * asked.gradient)
    return Part(name, place, through, through, weights)


def elementwise(name: str, place: Place, forward: Fraction, backward: Fraction) -> Part:
    """Make the part of what works number by number, from the bytes of both passes."""
    return Part(name, place, Work(bytes=forward), Work(bytes=backward))
