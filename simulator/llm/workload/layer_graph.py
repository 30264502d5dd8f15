"""A table of layers as a graph of tasks: one rank stands for all, which do the same at the same time.

What waits for what is as in ASTRA-sim's loops over layers. Forward, a layer's collective is waited for before
the next layer. Backward, that on gradients of inputs is waited for before the next layer, in a transformer
before the layer's own gradients of weights; that on gradients of weights by the layer in the next pass.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from simulator.llm.calls import Group
from simulator.llm.step.fabric import Way
from simulator.llm.step.graph import Builder, Graph, check_passes
from simulator.llm.workload.layer_groups import LayerGroups, Phase

if TYPE_CHECKING:
    from simulator.llm.workload.groups import Groups
    from simulator.llm.workload.layers import Layer, LayerTable
    from simulator.llm.workload.plan import WorkloadPlan

_LETTERS = {"forward": "F", "inputs": "I", "weights": "W"}
_NANOSECOND = 10**6
"""fs."""


def layer_graph(table: LayerTable, groups: Groups, plan: WorkloadPlan) -> Graph:
    """Tasks of a table of layers, on the streams of stage 0: to compute, and of each kind of group.

    Parameters
    ----------
    table : LayerTable
    groups : Groups
        Of the topology.
    plan : WorkloadPlan

    Raises
    ------
    FormatError
        If the degrees of the table do not divide the ranks.
    ModelError
        If there are too many layers and passes.
    """
    again = sum(layer - _kept(table, layer) for layer in table.recomputes)
    check_passes(plan.passes * (3 * len(table.layers) + again), ("passes",))
    loop = _Loop(table, LayerGroups(table, groups), plan)
    for _ in range(plan.passes):
        loop.once()
    return loop.builder.graph()


def _kept(table: LayerTable, layer: int) -> int:
    """The nearest layer from which a layer can be computed again."""
    return max(checkpoint for checkpoint in table.checkpoints if checkpoint <= layer)


@dataclass(slots=True, eq=False)
class _Loop:
    """Passes over the layers, as they grow.

    Attributes
    ----------
    done : dict of int to int
        The last task on the gradients of a layer's weights.
    sent : dict of int to int
        The last task of a layer's collective forward that is not waited for at once.
    """

    table: LayerTable
    groups: LayerGroups
    plan: WorkloadPlan
    builder: Builder = field(default_factory=Builder)
    done: dict[int, int] = field(default_factory=dict)
    sent: dict[int, int] = field(default_factory=dict)

    @property
    def layers(self) -> tuple[Layer, ...]:
        """Of the table."""
        return self.table.layers

    @property
    def bottom(self) -> int:
        """The last of the layers before which embeddings are not needed."""
        return self.table.numbers.get("bottom", -1)

    def once(self) -> None:
        """All layers forward, and backward where the kind of parallelism has it."""
        policy = self.table.policy
        if policy == "MICRO":
            for number in range(len(self.layers)):
                self._call(number, "weights", [])
            return
        recommends = policy.startswith("HYBRID_DLRM")
        for number in range(len(self.layers)):
            self._forward_of_recommender(number) if recommends else self._forward(number)
        if policy == "DISTRIBUTED_INFERENCE":
            return
        for number in reversed(range(len(self.layers))):
            if policy == "DATA" or recommends:
                self._weights_first(number, recommends=recommends)
            else:
                self._inputs_first(number)

    def _forward(self, number: int) -> None:
        waits = [self.done.pop(number)] if number in self.done else []
        computed = self._compute(number, "forward", waits)
        if self.table.policy != "DATA":
            self._wait_for(self._call(number, "forward", [computed]))

    def _forward_of_recommender(self, number: int) -> None:
        """Only All-to-Alls are done, of embeddings; they are waited for at the last of the bottom layers."""
        waits = [self.done.pop(number)] if number in self.done else []
        computed = self._compute(number, "forward", waits)
        if self.layers[number].forward.kind == "all_to_all":
            call = self._call(number, "forward", [computed])
            self.sent |= {} if call is None else {number: call}
        elif number == self.bottom and 0 in self.sent:
            self._wait_for(self.sent.pop(0))

    def _inputs_first(self, number: int) -> None:
        """Gradients of inputs, then of weights."""
        if number in self.table.recomputes:
            for again in range(_kept(self.table, number), number):
                self._forward(again)
        at_once = self.table.policy.startswith("HYBRID_TRANSFORMER")
        computed = self._compute(number, "inputs")
        call = self._call(number, "inputs", [computed]) if number or at_once else None
        if at_once:
            self._wait_for(call)
        computed = self._compute(number, "weights")
        if self.table.policy != "MODEL":
            self._of_weights(number, computed)
        if not at_once:
            self._wait_for(call)

    def _weights_first(self, number: int, *, recommends: bool) -> None:
        """Gradients of weights, then of inputs, but for the first layer."""
        self._of_weights(number, self._compute(number, "weights"))
        if not number:
            return
        computed = self._compute(number, "inputs")
        if recommends and number == self.bottom + 1:
            call = self._call(0, "inputs", [computed])
            if self.table.policy == "HYBRID_DLRM" and call is not None:
                # embeddings get their gradients before the next pass
                self.done[0] = call

    def _of_weights(self, number: int, computed: int) -> None:
        call = self._call(number, "weights", [computed])
        if call is not None:
            self.done[number] = call

    def _wait_for(self, task: int | None) -> None:
        """Let nothing more be computed before a task has ended."""
        if task is not None:
            self.builder.hold_up(0, [task])

    def _compute(self, number: int, phase: Phase, waits: list[int] | None = None) -> int:
        layer = self.layers[number]
        hold = getattr(layer, phase).time * _NANOSECOND
        return self.builder.compute(layer.name, 0, _LETTERS[phase], hold, waits or ())

    def _call(self, number: int, phase: Phase, after: list[int]) -> int | None:
        """Add a layer's collective, and the time that follows it; None where there is none."""
        layer = self.layers[number]
        turn, members = getattr(layer, phase), self.groups.of(layer, phase)
        if not turn.kind or members is None:
            return None
        of_simai = self.table.policy.startswith("HYBRID_TRANSFORMER")
        said: Literal["whole", "part"] = "whole" if of_simai else "part"
        size = self.plan.whole(turn.kind, turn.size, members.ranks.shape[1], said)
        way = Way(Group(members.name, ()), turn.kind, 0, ranks=members.ranks)
        call = self.builder.send(layer.name, way, size, members.name, _LETTERS[phase], after)
        if not layer.update:
            return call
        stream = f"update after {members.name}"
        return self.builder.compute(
            layer.name, 0, "update", layer.update * _NANOSECOND, [call], stream=stream
        )
