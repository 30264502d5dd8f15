"""What a stage works through: its units, and the passes of each in femtoseconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from simulator.llm.calls import that_send
from simulator.llm.fit import chunks_of
from simulator.llm.parameters import Held, held, layer_units
from simulator.llm.placement import chunk_count, chunks_held, holds_ends
from simulator.llm.step.roofline import Efficiency, duration
from simulator.llm.step.unit_passes import UnitPasses, unit_passes
from simulator.llm.step.weave import embedding_items, head_items, layer_items
from simulator.llm.step.work import optimizer_work
from simulator.llm.traffic import unit_calls

if TYPE_CHECKING:
    from simulator.llm.calls import Call
    from simulator.llm.hardware import Hardware
    from simulator.llm.layer_calls import Pass
    from simulator.llm.step.kernels import WorkPlan
    from simulator.llm.step.weave import Item

UnitKind: TypeAlias = Literal["embedding", "layer", "sparse layer", "head", "tied embedding"]


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """What computes, and how well.

    Attributes
    ----------
    hardware : Hardware
    efficiency : Efficiency
    """

    hardware: Hardware
    efficiency: Efficiency = field(default_factory=Efficiency)


@dataclass(slots=True, eq=False)
class StageUnits:
    """The units of a stage, chunk by chunk; what is found out of a kind of unit is kept.

    Attributes
    ----------
    asked : Pass
    stage : int
    machine : Machine
    plan : WorkPlan
    past : int
        In inference, tokens of each sequence in the KV cache already.
    """

    asked: Pass
    stage: int
    machine: Machine
    plan: WorkPlan
    past: int = 0
    _passes: dict[UnitKind, UnitPasses] = field(default_factory=dict, repr=False)
    _calls: dict[UnitKind, tuple[Call, ...]] = field(default_factory=dict, repr=False)

    def chunk(self, chunk: int) -> tuple[UnitKind, ...]:
        """Units of a chunk, in the model's order."""
        model, parallel = self.asked.model, self.asked.parallel
        kinds: list[UnitKind] = ["embedding"] if chunk == 0 else []
        layers = chunks_of(model, parallel)[chunk]
        kinds += ["sparse layer" if model.is_sparse(layer) else "layer" for layer in layers]
        if chunk == chunk_count(parallel) - 1:
            kinds.append("head")
            if model.tied and not holds_ends(parallel, self.stage)[0]:
                kinds.append("tied embedding")
        return tuple(kinds)

    def chunks(self) -> dict[int, tuple[UnitKind, ...]]:
        """Units of each chunk that the stage has."""
        return {chunk: self.chunk(chunk) for chunk in chunks_held(self.asked.parallel, self.stage)}

    def passes(self, kind: UnitKind) -> UnitPasses:
        """What a unit does forward and backward."""
        if kind not in self._passes:
            self._passes[kind] = unit_passes(
                self._items(kind), self.machine.hardware, self.machine.efficiency
            )
        return self._passes[kind]

    def calls(self, kind: UnitKind) -> tuple[Call, ...]:
        """What replicas exchange for a unit: weights that are gathered, and gradients that are summed."""
        if kind not in self._calls:
            calls = unit_calls(self.asked, self.stage, self._held(kind))
            self._calls[kind] = tuple(that_send(calls, self.asked.parallel))
        return self._calls[kind]

    def optimizer(self) -> int:
        """Fs of the update of what a rank of the stage has to update."""
        return duration(
            optimizer_work(self.asked, self.stage), self.machine.hardware, self.machine.efficiency
        )

    def _items(self, kind: UnitKind) -> tuple[Item, ...]:
        asked, stage = self.asked, self.stage
        match kind:
            case "embedding":
                return embedding_items(asked, stage)
            case "head":
                return head_items(asked, stage)
            case "tied embedding":
                return ()
        return layer_items(asked, stage, self._layer(kind), self.plan, self.past)

    def _layer(self, kind: UnitKind) -> int:
        """A layer of that kind: the first are without experts, the last one has them if any has."""
        return self.asked.model.layers - 1 if kind == "sparse layer" else 0

    def _held(self, kind: UnitKind) -> Held:
        model, parallel, memory = self.asked.model, self.asked.parallel, self.asked.memory
        match kind:
            case "embedding":
                return held(model.embedding_weights(), parallel, memory)
            case "head":
                return held(model.head_weights(), parallel, memory)
            case "tied embedding":
                return held(model.embedding_weights()[:1], parallel, memory)
        return layer_units(model, parallel, memory)[kind == "sparse layer"]
