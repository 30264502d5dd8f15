"""A parallel plan as products of strategies: axes that share its tokens, and those that share its weights.

Both are the same but for context parallelism: whoever shares the tokens of a sequence has the same
weights, and ZeRO shards those over the data and context parallel ranks together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from simulator.llm.errors import ModelError
from simulator.llm.layouts import Mesh
from simulator.llm.mesh import MeshFlow, Plan, layouts, mesh_flows, mesh_stored
from simulator.llm.placement import copies, handed_on
from simulator.llm.plan import Batch, MemoryPlan, Parallel
from simulator.llm.strategies import STRATEGIES, USUAL, Habits, states
from simulator.llm.symbols import Expression
from simulator.llm.traffic_plan import TrafficPlan

WEIGHTS: Final = ("W", "dW")
REPLICAS: Final = ("dp", "zero-1", "zero-2", "fsdp")
"""Strategies of the ranks that share weights, by what ZeRO shards."""

Axes: TypeAlias = "dict[str, tuple[str, int]]"
"""Strategy and ranks of each axis."""


@dataclass(frozen=True, slots=True)
class PlanMesh:
    """The strategies of a plan and the sizes of their axes, innermost first.

    Attributes
    ----------
    tokens, weights : mapping of str to Strategy
        On the axes along which activations and weights are shared; an axis of one rank is left out.
    token_mesh, weight_mesh : mapping of str to int
        Ranks of each axis.
    """

    tokens: Plan
    token_mesh: Mesh
    weights: Plan
    weight_mesh: Mesh

    @property
    def axes(self) -> dict[str, str]:
        """Every axis, and what people read of it."""
        sides = ((self.tokens, self.token_mesh), (self.weights, self.weight_mesh))
        return {
            axis: f"{axis} {mesh[axis]}: {way.name}" for plan, mesh in sides for axis, way in plan.items()
        }

    def shown(self, variable: str, axis: str) -> str | None:
        """States that X, W or Y goes through on an axis; None on one that does not share it."""
        plan = self.weights if variable == "W" else self.tokens
        if axis not in plan:
            return None
        if variable == "W":
            return " → ".join(map(str, states(plan[axis])["W"]))
        return str(layouts(plan)[variable][axis])

    def flows(self, habits: Habits = USUAL, *, training: bool = True) -> tuple[MeshFlow, ...]:
        """Everything that moves in a step of training, or in a pass of inference."""
        shared = mesh_flows(self.tokens, self.token_mesh, habits)
        held = mesh_flows(self.weights, self.weight_mesh, habits)
        every = (
            *(found for found in shared if found.flow.variable not in WEIGHTS),
            *(found for found in held if found.flow.variable in WEIGHTS),
        )
        return tuple(found for found in every if training or found.flow.phase == "forward")

    def stored(self, *, prefetch: int = 0, stays: bool = False) -> dict[str, Expression]:
        """Elements of X, W and Y that all ranks hold at most, of activations one layer's."""
        found = mesh_stored(self.tokens, self.token_mesh)
        held = mesh_stored(self.weights, self.weight_mesh, prefetch=prefetch, stays=stays)
        return {**found, "W": held["W"]}


def plan_mesh(parallel: Parallel) -> PlanMesh:
    """The strategies of a plan; of a plan with expert parallelism, the weights are the experts'.

    Replicas that share only in part (HSDP) are two axes.

    Examples
    --------
    >>> found = plan_mesh(Parallel(tp=8, sp=True, dp=4, zero=3, pp=2))
    >>> list(found.axes.values())
    ['tp 8: sp', 'dp 4: fsdp', 'pp 2: pp']
    >>> list(plan_mesh(Parallel(cp=4, dp=2, zero=3)).axes.values())
    ['cp 4: cp-ring', 'dp 2: dp', 'dp x cp 8: fsdp']

    Raises
    ------
    ModelError
        Under DualPipe, which has two copies of each layer in one pipeline.
    """
    if copies(parallel) > 1:
        message = f"{parallel.schedule} has two copies of each layer, which are no state of one axis"
        raise ModelError(message, ("parallel", "schedule"))
    tensor = ("sp" if parallel.sp else "tp", parallel.tp)
    stages, experts = ("pp", parallel.pp), ("ep", parallel.ep)
    alone = parallel.cp == 1
    replicas = _replicas(parallel, "dp" if alone else "dp x cp")
    weights: Axes = {"tp": tensor, "ep": experts, **replicas, "pp": stages}
    tokens: Axes = weights
    if not alone:
        context = (f"cp-{parallel.cp_kind}", parallel.cp)
        batch = ("dp", parallel.dp // parallel.ep)
        tokens = {"tp": tensor, "cp": context, "ep": experts, "dp": batch, "pp": stages}
    return PlanMesh(*_used(tokens), *_used(weights))


def _replicas(parallel: Parallel, name: str) -> Axes:
    """Ranks that have the same weights: those that shard them, and groups of those."""
    same = parallel.replicas // parallel.ep
    shards = max(parallel.sharded // parallel.ep, 1) if parallel.zero else same
    if shards == 1:
        return {name: ("dp", same)}
    return {name: (REPLICAS[parallel.zero], shards), "copies": ("dp", same // shards)}


def _used(axes: Axes) -> tuple[Plan, Mesh]:
    used = {axis: pair for axis, pair in axes.items() if pair[1] > 1}
    return {axis: STRATEGIES[way] for axis, (way, _) in used.items()}, {
        axis: ranks for axis, (_, ranks) in used.items()
    }


def habits_of(parallel: Parallel, batch: Batch, memory: MemoryPlan, traffic: TrafficPlan) -> Habits:
    """What a plan says of everything that implementations do differently."""
    handed = [sum(handed_on(parallel, stage, 1).values()) for stage in range(parallel.pp)]
    return Habits(
        reshard=parallel.reshard_after_forward,
        regather=parallel.sp and traffic.regather,
        boundaries=(sum(handed), max(handed)),
        microbatches=batch.microbatches(parallel),
        recompute=memory.recompute == "full",
    )
