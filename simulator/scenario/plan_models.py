"""What a file of a parallel plan says, once read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from simulator.llm.hardware import Hardware
from simulator.llm.memory import PARTS
from simulator.llm.model import Model
from simulator.llm.plan import CONVENTIONS, Batch, Convention, MemoryPlan, Parallel
from simulator.llm.traffic_plan import TrafficPlan
from simulator.scenario.fields import Short, Words
from simulator.scenario.models import TopologyChoice, check_tolerance
from simulator.scenario.source import Source
from topologies.quantities import Bytes, Ratio, Whole


@dataclass(frozen=True, slots=True)
class ExpectedBytes:
    """A number of bytes and how far from it is still right; exact where neither is given."""

    value: Bytes
    rel: float | None = None
    abs: Bytes | None = None

    def __post_init__(self) -> None:
        check_tolerance(self.rel, self.abs)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectPlan:
    """What a plan must come to; None expects nothing.

    Parameters
    ----------
    fits : bool, optional
        Whether every stage fits the capacity.
    overflow : str, optional
        The first part that no longer fits; `none` where everything does.
    parameters : int, optional
        Of the model.
    cache_per_token : int, optional
        Bytes of the KV cache.
    memory_max, states_max, activations_max, cache_max : ExpectedBytes, optional
        At the stage that has most: in all, of weights, gradients and optimizer, of activations, of
        the KV cache; a part of a byte counts as one.
    sent_max, sent_total : ExpectedBytes, optional
        In a step: by a rank of the stage that sends most, and by all ranks.
    """

    fits: bool | None = None
    overflow: Annotated[str, Words((*PARTS, "none"))] | None = None
    parameters: Whole | None = None
    cache_per_token: Whole | None = None
    memory_max: Annotated[ExpectedBytes, Short("value")] | None = None
    states_max: Annotated[ExpectedBytes, Short("value")] | None = None
    activations_max: Annotated[ExpectedBytes, Short("value")] | None = None
    cache_max: Annotated[ExpectedBytes, Short("value")] | None = None
    sent_max: Annotated[ExpectedBytes, Short("value")] | None = None
    sent_total: Annotated[ExpectedBytes, Short("value")] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanScenario:
    """A model laid over ranks.

    Parameters
    ----------
    name : str
        What people call it; the stem of the file's name where it says nothing.
    model : Model
    parallel : Parallel
    batch : Batch
    source : Source
        Where each of these stands in the file; not compared.
    memory : MemoryPlan
        With the capacity of the hardware where it says none.
    traffic : TrafficPlan
    hardware : Hardware, optional
    topology : TopologyChoice, optional
        Of as many ranks as the plan has.
    expect : ExpectPlan
    """

    name: str
    model: Model
    batch: Batch
    source: Source = field(repr=False, compare=False)
    parallel: Parallel = field(default_factory=Parallel)
    memory: MemoryPlan = field(default_factory=MemoryPlan)
    traffic: TrafficPlan = field(default_factory=TrafficPlan)
    hardware: Hardware | None = None
    topology: TopologyChoice | None = None
    expect: ExpectPlan = field(default_factory=ExpectPlan)

    @property
    def expects_something(self) -> bool:
        """Whether there is anything to hold the result against."""
        return self.expect != ExpectPlan()


def memory_plan(
    *,
    phase: Literal["training", "inference"] = "training",
    convention: Literal[16, 18, 20, "fp32", "deepspeed"] | Convention = 18,
    recompute: Literal["none", "selective", "full"] = "none",
    attention: Literal["flash", "scores"] = "flash",
    count: Literal["all", "matrices"] = "all",
    capacity: Bytes | None = None,
    reserved: Bytes = 0,
    offload: Sequence[Literal["optimizer", "gradients", "weights", "activations"]] = (),
    cache_bytes: Ratio = 2,
) -> MemoryPlan:
    """The block `memory`, with the bytes of a parameter by name or as numbers."""
    return MemoryPlan(
        phase=phase,
        convention=convention if isinstance(convention, Convention) else CONVENTIONS[convention],
        recompute=recompute,
        attention=attention,
        count=count,
        capacity=capacity,
        reserved=reserved,
        offload=offload,
        cache_bytes=cache_bytes,
    )
