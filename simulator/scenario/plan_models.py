"""What a file of a parallel plan says, once read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from simulator.engine.network import Network, Reduction
from simulator.llm.hardware import Hardware
from simulator.llm.memory import PARTS
from simulator.llm.model import Model
from simulator.llm.plan import CONVENTIONS, Batch, Convention, MemoryPlan, Parallel
from simulator.llm.search.space import Space
from simulator.llm.serve_plan import ServePlan
from simulator.llm.step.kernels import WorkPlan
from simulator.llm.step.overlap import Overlap
from simulator.llm.step.roofline import Efficiency
from simulator.llm.traffic_plan import TrafficPlan
from simulator.scenario.fields import Short, Words
from simulator.scenario.models import ExpectedTime, TopologyChoice, check_tolerance
from simulator.scenario.source import Source
from topologies.errors import CollsimError
from topologies.quantities import Bytes, Ratio, Whole


@dataclass(frozen=True, slots=True)
class ExpectedBytes:
    """A number of bytes and how far from it is still right; exact where neither is given.

    Parameters
    ----------
    value : int
        The bytes.
    rel : float, optional
        How far from it, as a share of it.
    abs : int, optional
        How far from it, in bytes.
    """

    value: Bytes
    rel: float | None = None
    abs: Bytes | None = None

    def __post_init__(self) -> None:
        check_tolerance(self.rel, self.abs)


@dataclass(frozen=True, slots=True)
class ExpectedNumber:
    """A number and how far from it is still right; to 1e-9 relative where neither is given.

    Parameters
    ----------
    value : float
        The number.
    rel : float, optional
        How far from it, as a share of it.
    abs : float, optional
        How far from it, as a number.
    """

    value: float
    rel: float | None = None
    abs: float | None = None

    def __post_init__(self) -> None:
        if not self.value >= 0:
            raise CollsimError(f"must be zero or more, found {self.value:g}", ("value",))
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
    step_time : ExpectedTime, optional
        Of a simulated step.
    mfu, hfu, tokens_per_second : ExpectedNumber, optional
        Of it.
    bubble, bubble_share : ExpectedNumber, optional
        Of its passes: idle over ideal compute time, and over the whole time.
    ideal_bubble, ideal_bubble_share : ExpectedNumber, optional
        The same where no communication takes time.
    ttft, tpot : ExpectedTime, optional
        Of `batch.global` requests that are served.
    largest_batch, batch_in_memory : int, optional
        Requests that meet the targets, and that memory has room for.
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
    step_time: Annotated[ExpectedTime, Short("value")] | None = None
    mfu: Annotated[ExpectedNumber, Short("value")] | None = None
    hfu: Annotated[ExpectedNumber, Short("value")] | None = None
    tokens_per_second: Annotated[ExpectedNumber, Short("value")] | None = None
    bubble: Annotated[ExpectedNumber, Short("value")] | None = None
    bubble_share: Annotated[ExpectedNumber, Short("value")] | None = None
    ideal_bubble: Annotated[ExpectedNumber, Short("value")] | None = None
    ideal_bubble_share: Annotated[ExpectedNumber, Short("value")] | None = None
    ttft: Annotated[ExpectedTime, Short("value")] | None = None
    tpot: Annotated[ExpectedTime, Short("value")] | None = None
    largest_batch: Whole | None = None
    batch_in_memory: Whole | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanScenario:
    """A model laid over ranks.

    Parameters
    ----------
    name : str
        What people call it; the stem of the file's name where it says nothing.
    model : Model
        The model, or its preset.
    parallel : Parallel
    batch : Batch
        What a step works on: sequences, and in which portions.
    source : Source
        Where each of these stands in the file; not compared.
    memory : MemoryPlan
        With the capacity of the hardware where it says none.
    traffic : TrafficPlan
    hardware : Hardware, optional
    topology : TopologyChoice, optional
        Of as many ranks as the plan has.
    network : Network
        How messages pass the network; without a placement.
    reduction : Reduction, optional
        A reducer at every rank; without it reducing takes no time.
    efficiency : Efficiency
    work : WorkPlan
    overlap : Overlap
    serve : ServePlan, optional
    search : Space
    expect : ExpectPlan
        What the plan must come to, as `collsim check` holds it.
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
    network: Network = field(default_factory=Network)
    reduction: Reduction | None = None
    efficiency: Efficiency = field(default_factory=Efficiency)
    work: WorkPlan = field(default_factory=WorkPlan)
    overlap: Overlap = field(default_factory=Overlap)
    serve: ServePlan | None = None
    search: Space = field(default_factory=Space)
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
