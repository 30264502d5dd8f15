"""Collective calls inside layers: tensor, sequence, context and expert parallelism."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from simulator.llm.calls import Call, Group, Phase
from simulator.llm.errors import ModelError
from simulator.llm.fit import sequence_of, tokens_at_once
from simulator.llm.model import Experts, Model
from simulator.llm.placement import copies
from simulator.llm.plan import Batch, MemoryPlan, Parallel
from simulator.llm.traffic_plan import TrafficPlan

TENSOR: Final = Group("tp", ("tp",))
CONTEXT: Final = Group("cp", ("cp",))
EXPERTS: Final = Group("ep", ("ep",))


@dataclass(frozen=True, slots=True)
class Pass:
    """What a step works on, and in how many bytes.

    Attributes
    ----------
    model, parallel, batch, memory, plan
    """

    model: Model
    parallel: Parallel
    batch: Batch
    memory: MemoryPlan
    plan: TrafficPlan

    @property
    def tensor(self) -> Group:
        """Ranks that share each matrix."""
        return TENSOR

    @property
    def training(self) -> bool:
        """Whether there is a backward pass."""
        return self.memory.phase == "training"

    @property
    def microbatches(self) -> Fraction:
        """m, of a replica in a step or a pass."""
        return Fraction(self.batch.microbatches(self.parallel))

    @property
    def passes(self) -> Fraction:
        """Micro-batches that go through each chunk of a stage: m, or half of them under DualPipe."""
        return self.microbatches / copies(self.parallel)

    @property
    def activation(self) -> Fraction:
        """Bytes of a number of an activation."""
        return Fraction(self.plan.activation)

    @property
    def weight(self) -> Fraction:
        """Bytes of a weight."""
        return Fraction(self.memory.convention.weight)

    @property
    def gradient(self) -> Fraction:
        """Bytes of a weight's gradient."""
        return Fraction(self.memory.convention.gradient)

    @property
    def length(self) -> int:
        """Tokens of a sequence that go through at once."""
        whole = sequence_of(self.model, self.batch)
        return whole if self.training else self.batch.chunk or whole

    @property
    def tokens(self) -> Fraction:
        """Tokens of a micro-batch that the ranks of a tensor parallel group work on."""
        return tokens_at_once(self.model, self.parallel, self.batch, self.memory)

    @property
    def message(self) -> Fraction:
        """Bytes of a layer's input for one micro-batch: 2sbh in 16 bits."""
        return self.tokens * self.model.hidden * self.activation

    @property
    def recomputes(self) -> bool:
        """Whether the backward pass does the forward pass again."""
        return self.training and self.memory.recompute == "full"


def layer_calls(asked: Pass, stage: int, chunks: tuple[range, ...]) -> Iterator[Call]:
    """Calls of all layers of a stage."""
    layers = [layer for chunk in chunks for layer in chunk]
    times = asked.passes * len(layers)
    experts = asked.model.experts
    sparse = asked.passes * sum(map(asked.model.is_sparse, layers))
    # under sequence parallelism the ranks of an expert gather the tokens that each was sent
    routed = sparse if experts is not None and asked.parallel.ep > 1 and asked.parallel.sp else Fraction(0)
    yield from _tensor_calls(asked, stage, 2 * times - routed, asked.message)
    yield from _context_calls(asked, stage, times)
    if experts is not None:
        shared = routed if experts.shared else Fraction(0)
        yield from _tensor_calls(asked, stage, shared, asked.message, ", shared expert")
        yield from _tensor_calls(asked, stage, routed, experts.active * asked.message, ", experts")
        yield from _expert_calls(asked, experts, stage, sparse)


def _tensor_calls(
    asked: Pass, stage: int, times: Fraction, size: Fraction, where: str = ""
) -> Iterator[Call]:
    """Attention and MLP: columns, then rows, whose partial sums are added up."""
    sp = asked.parallel.sp
    for phase, pass_again in _phases(asked):
        again = where + pass_again
        if not sp:
            yield Call(TENSOR, phase, f"layer output{again}", "allreduce", size, times, stage)
        else:
            yield Call(TENSOR, phase, f"layer input{again}", "allgather", size, times, stage)
            yield Call(TENSOR, phase, f"layer output{again}", "reduce_scatter", size, times, stage)
    if sp and asked.training and asked.plan.regather:
        yield Call(TENSOR, "backward", f"input again{where}", "allgather", size, times, stage)


def _phases(asked: Pass) -> Iterator[tuple[Phase, str]]:
    """Forward, backward, and the forward pass that is done again."""
    yield "forward", ""
    if asked.training:
        yield "backward", ""
    if asked.recomputes:
        yield "backward", ", recomputed"


def _context_calls(asked: Pass, stage: int, times: Fraction) -> Iterator[Call]:
    if asked.parallel.cp == 1:
        return
    if asked.parallel.cp_kind == "ulysses":
        yield from _ulysses_calls(asked, stage, times)
    elif asked.length == 1:
        # one token cannot be shared: its attention to each rank's tokens is added up
        width = Fraction(asked.model.value_width, asked.parallel.tp)
        size = asked.batch.micro * width * asked.activation
        yield Call(CONTEXT, "forward", "attention", "allreduce", size, times, stage)
    else:
        yield from _ring_calls(asked, stage, times)


def _ring_calls(asked: Pass, stage: int, times: Fraction) -> Iterator[Call]:
    """Keys and values go round; their gradients are added up on the way back."""
    whole = asked.tokens * asked.parallel.cp * _key_value_width(asked, 1) * asked.activation
    yield Call(CONTEXT, "forward", "keys, values", "allgather", whole, times, stage)
    if asked.training:
        yield Call(CONTEXT, "backward", "keys, values again", "allgather", whole, times, stage)
        yield Call(CONTEXT, "backward", "their gradients", "reduce_scatter", whole, times, stage)
    if asked.recomputes:
        yield Call(CONTEXT, "backward", "keys, values, recomputed", "allgather", whole, times, stage)


def _ulysses_calls(asked: Pass, stage: int, times: Fraction) -> Iterator[Call]:
    """Tokens for heads before attention, heads for tokens after it."""
    model, parallel = asked.model, asked.parallel
    before = Fraction(model.query_width, parallel.tp) + _key_value_width(asked, parallel.cp)
    after = Fraction(model.value_width, parallel.tp)
    for phase, again in _phases(asked):
        for what, width in (("queries, keys, values", before), ("attention", after)):
            size = asked.tokens * width * asked.activation
            yield Call(CONTEXT, phase, what + again, "all_to_all", size, times, stage)


def _key_value_width(asked: Pass, ranks: int) -> Fraction:
    """Numbers of keys and values of a token at a rank; where heads are fewer than ranks, copies of them."""
    model, tp = asked.model, asked.parallel.tp
    if model.latent is not None:
        if ranks == 1:
            # the short vector goes round, not what is made of it
            return Fraction(model.latent.kv_rank + model.latent.rope)
        keys = model.query_width + model.value_width
        return Fraction(keys, tp)
    heads = max(Fraction(model.kv_heads, tp), Fraction(ranks))
    return 2 * heads * model.head_size


def _expert_calls(asked: Pass, experts: Experts, stage: int, times: Fraction) -> Iterator[Call]:
    """Tokens to their experts and back; in the backward pass the same ways the other way round.

    Under sequence parallelism a rank sends its part of the tokens; else each sends its copy of all.
    """
    if asked.parallel.ep == 1:
        return
    numbers = asked.tokens * asked.model.hidden / (asked.parallel.tp if asked.parallel.sp else 1)
    plan = asked.plan
    there = Fraction(plan.dispatch if plan.dispatch is not None else plan.activation)
    back = Fraction(plan.combine if plan.combine is not None else plan.activation)
    for phase, again in _phases(asked):
        forward = phase == "forward" or again
        for what, width in (("dispatch", there), ("combine", back)):
            size = numbers * (width if forward else asked.activation)
            yield from _spread(
                asked, experts, Call(EXPERTS, phase, what + again, "all_to_all", size, times, stage)
            )


def _spread(asked: Pass, experts: Experts, once: Call) -> Iterator[Call]:
    """To k experts each, or once to each of a few machines, and on from there to the experts."""
    parallel, plan = asked.parallel, asked.plan
    inside = parallel.ep if plan.node is None else near_ranks(parallel, plan.node)
    machines = parallel.ep // inside
    if machines == 1:
        yield _scaled(once, EXPERTS, experts.active, "")
        return
    copies = min(plan.nodes_limit or machines, machines, experts.active)
    yield _scaled(once, Group("ep between machines", ("ep",), "far", inside), copies, ", machines")
    yield _scaled(once, Group("ep in a machine", ("ep",), "near", inside), experts.active, ", ranks")


def _scaled(call: Call, group: Group, copies: int, where: str) -> Call:
    return Call(
        group, call.phase, call.what + where, call.kind, call.size * copies, call.times, call.stage, call.peer
    )


def near_ranks(parallel: Parallel, node: int) -> int:
    """How many ranks of a group of experts are in one machine of `node` ranks.

    Raises
    ------
    ModelError
        If the machines hold different numbers of them.

    Examples
    --------
    >>> near_ranks(Parallel(tp=2, dp=16, ep=16), 8)
    4
    """
    for ranks in EXPERTS.members(parallel, 0) // node:
        near = int((ranks == ranks[0]).sum())
        runs = ranks.reshape(-1, near) if len(ranks) % near == 0 else None
        if runs is None or (runs != runs[:, :1]).any():
            raise ModelError(
                f"machines of {node} ranks cut the {parallel.ep} ranks of ep unequally", ("traffic", "node")
            )
    return near
