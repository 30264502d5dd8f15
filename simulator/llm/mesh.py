"""Products of strategies on a device mesh: one strategy on each axis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from simulator.llm.errors import ModelError
from simulator.llm.layouts import Layout, Mesh, Move, move
from simulator.llm.products import made, needed
from simulator.llm.seed_rules import stored
from simulator.llm.states import REPLICATED, Partitioned, State
from simulator.llm.strategies import NEXT, SHARD, STRATEGIES, USUAL, Flow, Habits, Strategy, flows
from simulator.llm.symbols import Expression, symbol, total

Plan: TypeAlias = Mapping[str, Strategy]
"""A strategy on each axis of a mesh, innermost first."""


@dataclass(frozen=True, slots=True)
class MeshFlow:
    """What moves along one axis, by all groups of ranks there.

    Attributes
    ----------
    flow : Flow
        As the axis's strategy has it by itself.
    move : Move
        The same beside the other axes' strategies.
    """

    flow: Flow
    move: Move

    @property
    def total(self) -> Expression:
        """Elements that leave all ranks in a step."""
        return self.move.total(self.flow.size) * self._along(self.flow.times)

    @property
    def rank(self) -> Expression:
        """Elements that leave the rank that sends most."""
        times = self.flow.times if self.flow.own is None else self.flow.own
        return self.move.rank(self.flow.size) * self._along(times)

    def _along(self, times: Expression) -> Expression:
        return times.replaced(N=self.move.ranks)


def mesh_of(plan: Plan) -> dict[str, Expression]:
    """A mesh whose sizes are symbols, n_axis each."""
    return {axis: symbol(f"n_{axis}") for axis in plan}


def layouts(plan: Plan) -> Mapping[str, Layout]:
    """The state of X, W and Y on every axis, where a layer computes.

    Examples
    --------
    >>> from simulator.llm.strategies import STRATEGIES
    >>> both = layouts({"tp": STRATEGIES["tp-column"], "dp": STRATEGIES["dp"]})
    >>> {name: " ".join(map(str, layout.values())) for name, layout in both.items()}
    {'X': 'R P(B)', 'W': 'P(O) R', 'Y': 'P(O) P(B)'}
    >>> str(layouts({"dp": STRATEGIES["fsdp"]})["W"]["dp"])  # gathered from parts, and dropped again
    'R'
    """
    return {
        "X": {axis: needed("X", strategy.splits[0]) for axis, strategy in plan.items()},
        "W": {axis: needed("W", strategy.splits[0]) for axis, strategy in plan.items()},
        "Y": {axis: made("Y", strategy.splits[-1]) for axis, strategy in plan.items()},
    }


def at_rest(strategy: Strategy, variable: str) -> State:
    """The state that a variable has on an axis while something moves along another one.

    Activations wait as they do between layers, weights and gradients as they are kept.
    """
    name = variable.removeprefix("d")
    first, last = strategy.splits[0], strategy.splits[-1]
    if name == "W":
        kept = strategy.zero == 3 or (variable == "dW" and strategy.zero > 0)
        return SHARD if kept and needed("W", first) == REPLICATED else needed("W", first)
    if name in ("Q", "K", "V", "Z"):
        # heads are columns of the first matrix
        return made("Y", first)
    if strategy.boundary is not None:
        return strategy.boundary
    state = made("Y", last)
    if isinstance(state, Partitioned):
        return Partitioned(NEXT.get(state.dim, state.dim))
    return needed("X", first)


def mesh_flows(plan: Plan, mesh: Mesh, habits: Habits = USUAL) -> tuple[MeshFlow, ...]:
    """Everything that moves in a training step, axis by axis.

    Raises
    ------
    ModelError
        If the mesh has not the plan's axes.

    Examples
    --------
    >>> for found in mesh_flows(hsdp(), HSDP_MESH):
    ...     print(found.move.axis, found.flow.variable, found.move.primitive.name, found.total)
    shard W All-Gather (F-1)GLOI
    shard W All-Gather (F-1)GLOI
    shard dW Reduce-Scatter (F-1)GLOI
    replicate dW All-Reduce 2(G-1)LOI
    """
    if set(plan) != set(mesh):
        raise ModelError(f"the mesh has the axes {', '.join(mesh)}, the plan {', '.join(plan)}")
    return tuple(_mesh_flows(plan, mesh, habits))


def _mesh_flows(plan: Plan, mesh: Mesh, habits: Habits) -> Iterator[MeshFlow]:
    for axis, strategy in plan.items():
        for flow in flows(strategy, habits):
            layout = {other: at_rest(there, flow.variable) for other, there in plan.items() if other != axis}
            yield MeshFlow(flow, move(axis, flow.change, layout, mesh))


def mesh_traffic(plan: Plan, mesh: Mesh, habits: Habits = USUAL, *, training: bool = True) -> Expression:
    """Elements that leave all ranks in a step, or in its forward pass."""
    every = mesh_flows(plan, mesh, habits)
    return total(found.total for found in every if training or found.flow.phase == "forward")


def mesh_stored(plan: Plan, mesh: Mesh, *, prefetch: int = 0, stays: bool = False) -> dict[str, Expression]:
    """Elements of X, W and Y that all ranks hold at most in inference.

    Every axis multiplies what one rank would hold by how often its ranks hold it together. Each
    stage of a pipeline gathers layers of its own.

    Parameters
    ----------
    prefetch : int
        Layers whose weights FSDP has gathered ahead.
    stays : bool
        Whether the gathered weights of all layers stay, as in training that does not reshard.

    Examples
    --------
    >>> from simulator.llm.strategies import STRATEGIES
    >>> plan = {"tp": STRATEGIES["tp-column"], "dp": STRATEGIES["dp"]}
    >>> {name: str(size) for name, size in mesh_stored(plan, {"tp": 8, "dp": 4}).items()}
    {'X': '8BI', 'W': '4LOI', 'Y': 'BO'}
    """
    alone = stored(Strategy(name="one", title="one rank", splits=("B",)))
    found = {variable: size.replaced(N=1) for variable, size in alone.items()}
    stages = [mesh[axis] for axis, strategy in plan.items() if strategy.is_pipeline]
    own = symbol("L") / (stages[0] if stages else 1)
    for axis, strategy in plan.items():
        for variable, size in stored(strategy, prefetch=prefetch, stays=stays).items():
            times = size / alone[variable].replaced(N=1)
            found[variable] = found[variable] * times.replaced(N=mesh[axis], L=own)
    return found


HSDP_MESH: Final[Mapping[str, Expression]] = {"shard": symbol("F"), "replicate": symbol("G")}
"""F ranks a group, G groups."""


def hsdp() -> dict[str, Strategy]:
    """Hybrid sharding: FSDP among the ranks of a group, data parallelism between groups."""
    return {"shard": STRATEGIES["fsdp"], "replicate": STRATEGIES["dp"]}
