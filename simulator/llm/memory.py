"""Memory of a rank of every pipeline stage: what it is for, and what no longer fits.

A total is the sum of each part's own peak. They do meet, or nearly: gathered weights, recomputed
activations and everything stored are there together when the first backward pass begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, Literal

from simulator.llm import activations
from simulator.llm.cache import cache_per_token, working_bytes
from simulator.llm.fit import check_fit, layers_held, sequence_of
from simulator.llm.model import Model
from simulator.llm.parameters import Held, gathered, layer_units, state_bytes, units
from simulator.llm.pipeline import most_in_flight
from simulator.llm.placement import chunk_count, holds_ends
from simulator.llm.plan import Batch, MemoryPlan, Parallel

Part = Literal["reserved", "weights", "gradients", "optimizer", "cache", "gathered", "activations", "working"]
PARTS: Final[tuple[Part, ...]] = (
    "reserved",
    "weights",
    "gradients",
    "optimizer",
    "cache",
    "gathered",
    "activations",
    "working",
)
"""In the order in which they fill the memory: what is always there, then what comes with a step."""


@dataclass(frozen=True, slots=True)
class StageMemory:
    """Memory of a rank of one stage.

    Attributes
    ----------
    stage : int
        From 0.
    layers : int
    parameters : Fraction
        That the rank works with, before ZeRO shards them.
    in_flight : Fraction
        Micro-batches whose activations it keeps at its peak, in whole stages.
    parts, host : mapping
        Bytes of each of `PARTS`, on the device and in the host's memory.
    """

    stage: int
    layers: int
    parameters: Fraction
    in_flight: Fraction
    parts: Mapping[Part, Fraction]
    host: Mapping[Part, Fraction]

    @property
    def total(self) -> Fraction:
        """Bytes on the device."""
        return sum(self.parts.values(), Fraction(0))

    @property
    def states(self) -> Fraction:
        """Bytes of weights, gradients and optimizer on the device."""
        return self.parts["weights"] + self.parts["gradients"] + self.parts["optimizer"]

    def overflow(self, capacity: int) -> Part | None:
        """Which part is the first that no longer fits."""
        filled = Fraction(0)
        for part, size in self.parts.items():
            filled += size
            if filled > capacity:
                return part
        return None


@dataclass(frozen=True, slots=True)
class Overflow:
    """The first stage that does not fit, the part at which it overflows, and by how many bytes in all."""

    stage: int
    part: Part
    excess: Fraction


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory of a plan.

    Attributes
    ----------
    model, parallel, batch, plan
        What it was counted for.
    microbatches : int
        m, of a replica in a step.
    stages : tuple of StageMemory
    cache_per_token : Fraction
        Bytes of the KV cache for one token, over all layers and ranks that share it.
    """

    model: Model
    parallel: Parallel
    batch: Batch
    plan: MemoryPlan
    microbatches: int
    stages: tuple[StageMemory, ...]
    cache_per_token: Fraction

    @property
    def peak(self) -> StageMemory:
        """The first of the stages with the most bytes."""
        return max(self.stages, key=lambda stage: stage.total)

    def largest(self, part: Part) -> Fraction:
        """Bytes of a part at the stage that has most of it."""
        return max(stage.parts[part] for stage in self.stages)

    @property
    def overflow(self) -> Overflow | None:
        """What does not fit; None where everything does, or no capacity is given."""
        capacity = self.plan.capacity
        if capacity is None:
            return None
        for stage in self.stages:
            part = stage.overflow(capacity)
            if part is not None:
                return Overflow(stage.stage, part, stage.total - capacity)
        return None

    @property
    def fits(self) -> bool | None:
        """Whether every stage fits; None where no capacity is given."""
        return None if self.plan.capacity is None else self.overflow is None


def memory(model: Model, parallel: Parallel, batch: Batch, plan: MemoryPlan) -> Memory:
    """Count the memory of a rank of every stage.

    Raises
    ------
    ModelError
        If the plan cannot be laid out.

    Examples
    --------
    >>> from simulator.llm.model import transformer
    >>> model = transformer(layers=96, hidden=12288, heads=96, vocab=51200, sequence=2048, dropout=True)
    >>> plan = MemoryPlan(recompute="selective", attention="scores", count="matrices")
    >>> stages = Parallel(tp=8, sp=True, pp=8, interleave=3)
    >>> first = memory(model, stages, Batch(total=64), plan).stages[0]
    >>> float(first.states / 2**30), float(first.parts["activations"] / 2**30)
    (45.5625, 12.3515625)
    """
    check_fit(model, parallel, batch, plan)
    kinds = _layer_kinds(model, parallel, batch, plan)
    held = layer_units(model, parallel, plan)
    step = _Step(model, parallel, batch, plan, kinds, held)
    stages = tuple(step.stage(stage) for stage in range(parallel.pp))
    return Memory(
        model, parallel, batch, plan, batch.microbatches(parallel), stages, cache_per_token(model, plan)
    )


@dataclass(frozen=True, slots=True)
class _Layer:
    """Bytes of one micro-batch in a layer: stored, and computed again by its backward pass."""

    stored: Fraction
    again: Fraction


def _layer_kinds(model: Model, parallel: Parallel, batch: Batch, plan: MemoryPlan) -> dict[bool, _Layer]:
    """Layers with experts, and those without: all of a kind are alike."""
    kinds = {}
    for layer in {0, model.layers - 1}:
        stored, everything = (
            activations.layer_bytes(
                model, layer, parallel, way, micro=batch.micro, sequence=sequence_of(model, batch)
            )
            for way in (plan, replace(plan, recompute="none"))
        )
        kinds[model.is_sparse(layer)] = _Layer(stored, everything - stored)
    return kinds


@dataclass(frozen=True, slots=True)
class _Step:
    """What one step keeps, by stage."""

    model: Model
    parallel: Parallel
    batch: Batch
    plan: MemoryPlan
    kinds: Mapping[bool, _Layer]
    held: Mapping[bool, Held]

    def stage(self, stage: int) -> StageMemory:
        """Memory of a rank of a stage."""
        chunks = layers_held(self.model, self.parallel, stage)
        inside = units(self.model, chunks, self.parallel, self.plan, stage, self.held)
        owned = sum(inside, Held())
        training = self.plan.phase == "training"
        kept = state_bytes(owned, self.plan.convention, self.parallel)
        parts: dict[Part, Fraction] = {part: Fraction(0) for part in PARTS}
        parts["reserved"] = Fraction(self.plan.reserved)
        parts["weights"] = kept.weights
        parts["gathered"] = gathered(inside, self.plan.convention, self.parallel, training=training)
        layers, alive = sum(map(len, chunks)), Fraction(0)
        if training:
            parts["gradients"], parts["optimizer"] = kept.gradients, kept.optimizer
            parts["activations"], alive = self._activations(stage, chunks)
            again = (self._layer(layer).again for chunk in chunks for layer in chunk)
            parts["working"] = max(again, default=Fraction(0))
        else:
            parts["cache"] = self._cache(layers)
            parts["working"] = working_bytes(self.model, self.parallel, self.batch, self.plan)
        host = {part: parts[part] for part in PARTS if part in self.plan.offload}
        device = {part: Fraction(0) if part in host else size for part, size in parts.items()}
        return StageMemory(stage, layers, owned.total, alive, device, host)

    def _layer(self, layer: int) -> _Layer:
        return self.kinds[self.model.is_sparse(layer)]

    def _activations(self, stage: int, chunks: tuple[range, ...]) -> tuple[Fraction, Fraction]:
        """Bytes at the peak, and the micro-batches under way then."""
        sizes = [sum((self._layer(layer).stored for layer in chunk), Fraction(0)) for chunk in chunks]
        shape = {"micro": self.batch.micro, "sequence": sequence_of(self.model, self.batch)}
        first, last = holds_ends(self.parallel, stage)
        if self.plan.count == "all" and first:
            sizes[0] += activations.embedding_bytes(self.model, self.parallel, **shape)
        if self.plan.count == "all" and last:
            sizes[-1] += activations.loss_bytes(self.model, self.parallel, **shape)
        microbatches = self.batch.microbatches(self.parallel)
        size, alive = most_in_flight(self.parallel, microbatches, stage, sizes)
        return size, Fraction(alive * self.parallel.pp, chunk_count(self.parallel))

    def _cache(self, layers: int) -> Fraction:
        """The KV cache of the sequences that a replica serves."""
        tokens = Fraction(self.batch.total * sequence_of(self.model, self.batch), self.parallel.dp)
        per_token = cache_per_token(self.model, self.plan, self.parallel)
        return tokens * per_token * Fraction(layers, self.model.layers)
