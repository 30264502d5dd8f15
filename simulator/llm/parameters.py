"""Parameters that one rank holds, and the bytes that weights, gradients and the optimizer take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from simulator.llm.model import Model
from simulator.llm.placement import holds_ends
from simulator.llm.plan import Convention, MemoryPlan, Parallel
from simulator.llm.weights import Weight


@dataclass(frozen=True, slots=True)
class Held:
    """Parameters of a rank, before ZeRO: those of all replicas, and those of experts."""

    dense: Fraction = Fraction(0)
    experts: Fraction = Fraction(0)

    def __add__(self, other: Held) -> Held:
        return Held(self.dense + other.dense, self.experts + other.experts)

    @property
    def total(self) -> Fraction:
        """Both."""
        return self.dense + self.experts


@dataclass(frozen=True, slots=True)
class StateBytes:
    """Bytes of what training keeps for parameters.

    Examples
    --------
    >>> from simulator.llm.plan import CONVENTIONS
    >>> model = Held(Fraction(7_500_000_000))
    >>> float(state_bytes(model, CONVENTIONS[16], Parallel(dp=64, zero=3)).total / 10**9)
    1.875
    """

    weights: Fraction
    gradients: Fraction
    optimizer: Fraction

    def __add__(self, other: StateBytes) -> StateBytes:
        return StateBytes(
            self.weights + other.weights,
            self.gradients + other.gradients,
            self.optimizer + other.optimizer,
        )

    @property
    def total(self) -> Fraction:
        """All three."""
        return self.weights + self.gradients + self.optimizer


def held(weights: Iterable[Weight], parallel: Parallel, plan: MemoryPlan) -> Held:
    """Parameters that a rank of tensor and expert parallelism holds of some weights."""
    dense = experts = Fraction(0)
    for weight in weights:
        if plan.count == "matrices" and not (weight.is_matrix and weight.part not in ("embedding", "head")):
            continue
        share = Fraction(weight.size, min(parallel.tp, weight.pieces))
        if weight.part == "experts":
            experts += share / parallel.ep
        else:
            dense += share
    return Held(dense, experts)


def layer_units(model: Model, parallel: Parallel, plan: MemoryPlan) -> Mapping[bool, Held]:
    """What a rank holds of a layer with experts, and of one without: all of a kind are alike."""
    return {
        sparse: held(model.layer_weights(model.layers - 1 if sparse else 0), parallel, plan)
        for sparse in {model.is_sparse(0), model.is_sparse(model.layers - 1)}
    }


def units(
    model: Model,
    chunks: Iterable[range],
    parallel: Parallel,
    plan: MemoryPlan,
    stage: int,
    kinds: Mapping[bool, Held] | None = None,
) -> list[Held]:
    """What a rank of a stage holds, in units that ZeRO gathers: embedding, layers, output.

    `kinds` are the `layer_units`, for who asks for many stages.
    """
    kinds = layer_units(model, parallel, plan) if kinds is None else kinds
    inside = [kinds[model.is_sparse(layer)] for chunk in chunks for layer in chunk]
    if plan.count == "matrices":
        return inside
    first, last = holds_ends(parallel, stage)
    before = [held(model.embedding_weights(), parallel, plan)] if first else []
    after = [held(model.head_weights(), parallel, plan)] if last else []
    if last and model.tied and not first:
        # the output layer is the embedding, which lives on another rank: it has a copy
        after.append(held(model.embedding_weights()[:1], parallel, plan))
    return [*before, *inside, *after]


def state_bytes(owned: Held, convention: Convention, parallel: Parallel) -> StateBytes:
    """Bytes of weights, gradients and optimizer under ZeRO: 4P + 12P/N, 2P + 14P/N, 16P/N.

    Experts are sharded over fewer ranks: those of ZeRO's that hold the same ones.
    """
    shards = parallel.sharded
    dense = _state_bytes(owned.dense, convention, parallel.zero, shards)
    return dense + _state_bytes(owned.experts, convention, parallel.zero, max(shards // parallel.ep, 1))


def _state_bytes(parameters: Fraction, convention: Convention, zero: int, shards: int) -> StateBytes:
    share = parameters / shards
    gradients = share if zero >= 3 or (zero == 2 and not convention.keeps_gradients) else parameters
    if zero == 3 and convention.layer_gradients:
        gradients = Fraction(0)
    return StateBytes(
        (share if zero == 3 else parameters) * Fraction(convention.weight),
        gradients * Fraction(convention.gradient),
        (share if zero else parameters) * Fraction(convention.optimizer),
    )


def gathered(inside: list[Held], convention: Convention, parallel: Parallel, *, training: bool) -> Fraction:
    """Bytes of whole weights and gradients that ZeRO holds for a moment.

    ZeRO-3: the weights of the unit that computes and of those gathered ahead, or of all where
    they stay after the forward pass; ZeRO-2 and 3 in training: the gradients of one unit. What no
    two ranks share is whole already: experts where each is on one rank only.
    """
    if parallel.zero < 2 or not inside:
        return Fraction(0)
    dense, experts = parallel.sharded > 1, parallel.sharded > parallel.ep
    sizes = [unit.dense * dense + unit.experts * experts for unit in inside]
    whole = Fraction(0)
    if parallel.zero == 3:
        stays = training and not parallel.reshard_after_forward
        width = len(sizes) if stays else min(1 + parallel.prefetch, len(sizes))
        whole = max(sum(sizes[i : i + width], Fraction(0)) for i in range(len(sizes) - width + 1))
    keeps = parallel.zero == 2 and convention.keeps_gradients
    single = max(sizes) if training and not keeps else Fraction(0)
    return whole * Fraction(convention.weight) + single * Fraction(convention.gradient)
