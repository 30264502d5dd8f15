"""Traffic of a step: what every group of ranks sends, in training or in a pass of inference.

Counted for the rank that sends most, by algorithms that send no more than they must. Sources: tensor and
sequence parallelism Korthikanti et al. 2022, pipelines Narayanan et al. 2021, ZeRO Rajbhandari et
al. 2020, experts the DeepSeek-V3 report; the forms follow from the states of each variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from simulator.llm.calls import Call, Group, Phase, rank_share, that_send
from simulator.llm.fit import check_fit, layers_held
from simulator.llm.layer_calls import Pass, layer_calls
from simulator.llm.model import Model
from simulator.llm.parameters import Held, layer_units, units
from simulator.llm.placement import copies, handed_on, holds_ends
from simulator.llm.plan import Batch, MemoryPlan, Parallel
from simulator.llm.traffic_plan import TrafficPlan
from simulator.llm.weights import Weight

PIPELINE = Group("pp", ("pp",))
MIRROR = Group("pp mirror", ("pp",), "mirror")
ONCE = Fraction(1)


@dataclass(frozen=True, slots=True)
class Row:
    """Calls that differ only in their stage.

    Attributes
    ----------
    group : str
    ranks : int
        In a group.
    phase, what, kind : str
    size : Fraction
        M in bytes of one call, where it is largest.
    times : Fraction
        In a step, at the stage that has most.
    rank : Fraction
        Bytes that a rank sends in a step, at the stage that sends most.
    total : Fraction
        Bytes that all ranks send in a step.
    """

    group: str
    ranks: int
    phase: Phase
    what: str
    kind: str
    size: Fraction
    times: Fraction
    rank: Fraction
    total: Fraction


@dataclass(frozen=True, slots=True)
class Traffic:
    """Traffic of a plan.

    Attributes
    ----------
    model, parallel, batch, memory, plan
        What it was counted for.
    calls : tuple of Call
    sent : mapping
        Bytes that a rank sends in a step, by stage and kind of group; follows from the calls.
    """

    model: Model
    parallel: Parallel
    batch: Batch
    memory: MemoryPlan
    plan: TrafficPlan
    calls: tuple[Call, ...]
    sent: Mapping[int, Mapping[str, Fraction]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        sent: dict[int, dict[str, Fraction]] = {stage: {} for stage in range(self.parallel.pp)}
        for call in self.calls:
            size = call.rank_bytes(self.parallel)
            for stage in call.senders(self.parallel):
                groups = sent[stage]
                groups[call.group.name] = groups.get(call.group.name, Fraction(0)) + size
        object.__setattr__(self, "sent", sent)

    @property
    def total(self) -> Fraction:
        """Bytes that all ranks send in a step."""
        return sum((call.total_bytes(self.parallel) for call in self.calls), Fraction(0))

    def rank(self, stage: int, group: str | None = None) -> Fraction:
        """Bytes that a rank of a stage sends in a step, in one kind of group or in all."""
        sent = self.sent[stage]
        return sum(sent.values(), Fraction(0)) if group is None else sent.get(group, Fraction(0))

    @property
    def groups(self) -> dict[str, int]:
        """Kinds of groups that send, and their ranks."""
        return {call.group.name: call.group.size(self.parallel) for call in self.calls}

    @property
    def busiest(self) -> int:
        """The first of the stages whose ranks send most."""
        return max(range(self.parallel.pp), key=self.rank)

    def rows(self) -> tuple[Row, ...]:
        """The calls, those of several stages in one row; by group, then by phase."""
        together: dict[tuple[str, Phase, str, str], list[Call]] = {}
        for call in self.calls:
            together.setdefault((call.group.name, call.phase, call.what, call.kind), []).append(call)
        groups, phases = list(self.groups), ("forward", "backward", "update")
        order = sorted(together, key=lambda key: (groups.index(key[0]), phases.index(key[1])))
        return tuple(self._row(together[key]) for key in order)

    def _row(self, calls: list[Call]) -> Row:
        first, by_stage = calls[0], dict[int, tuple[Fraction, Fraction]]()
        one = rank_share(first.kind, first.group.size(self.parallel))
        for call in calls:
            for stage in call.senders(self.parallel):
                rank, times = by_stage.get(stage, (Fraction(0), Fraction(0)))
                by_stage[stage] = rank + one * call.size * call.times, times + call.times
        rank, times = max(by_stage.values())
        everybody = first.group_share(self.parallel) * first.groups(self.parallel)
        return Row(
            first.group.name,
            2 if first.peer is not None else first.group.size(self.parallel),
            first.phase,
            first.what,
            first.kind,
            max(call.size for call in calls),
            times,
            rank,
            everybody * sum((call.size * call.times for call in calls), Fraction(0)),
        )


def traffic(
    model: Model,
    parallel: Parallel,
    batch: Batch,
    memory: MemoryPlan | None = None,
    plan: TrafficPlan | None = None,
) -> Traffic:
    """Count what a step sends.

    In inference that is one pass: all tokens of each sequence, or `batch.chunk` of them.

    Raises
    ------
    ModelError
        If the plan cannot be laid out.

    Examples
    --------
    >>> from simulator.llm.model import transformer
    >>> gpt = transformer(layers=96, hidden=12288, heads=96, vocab=51200, sequence=2048)
    >>> found = traffic(gpt, Parallel(tp=8, pp=8, dp=2), Batch(total=64), MemoryPlan(count="matrices"))
    >>> {name: float(found.rank(1, name) / 2**30) for name in found.groups}
    {'tp': 126.0, 'pp': 3.0, 'dp': 10.125}
    """
    asked = Pass(model, parallel, batch, memory or MemoryPlan(), plan or TrafficPlan())
    check_fit(model, parallel, batch, asked.memory, asked.plan)
    held = layer_units(model, parallel, asked.memory)
    every: list[Call] = []
    for stage in range(parallel.pp):
        own = layers_held(model, parallel, stage)
        every += layer_calls(asked, stage, own)
        every += end_calls(asked, stage)
        every += _boundary_calls(asked, stage)
        every += _replica_calls(asked, stage, own, held)
        every += shared_calls(asked, stage)
        every += tensor_update_calls(asked, stage)
    return Traffic(model, parallel, batch, asked.memory, asked.plan, tuple(that_send(every, parallel)))


def end_calls(asked: Pass, stage: int) -> Iterator[Call]:
    """Calls of the embedding and of the output layer, both cut along the vocabulary."""
    if asked.memory.count == "matrices":
        return
    parallel, count, tensor = asked.parallel, asked.passes, asked.tensor
    first, last = holds_ends(parallel, stage)
    if first:
        kind = "reduce_scatter" if parallel.sp else "allreduce"
        yield Call(tensor, "forward", "embedding", kind, asked.message, count, stage)
        if asked.training and parallel.sp:
            yield Call(tensor, "backward", "embedding", "allgather", asked.message, count, stage)
    if last:
        yield from _output_calls(asked, stage)


def _output_calls(asked: Pass, stage: int) -> Iterator[Call]:
    """Logits are cut along the vocabulary; the loss needs their maxima, sums and the right ones."""
    parallel, count, tensor = asked.parallel, asked.passes, asked.tensor
    if not asked.training:
        logits = asked.batch.micro * asked.model.vocab * asked.activation
        yield Call(tensor, "forward", "logits of the last token", "allgather", logits, count, stage)
        return
    if parallel.sp:
        yield Call(tensor, "forward", "output layer", "allgather", asked.message, count, stage)
    tokens = asked.tokens * 4
    yield Call(tensor, "forward", "loss", "allreduce", tokens, 3 * count, stage)
    kind = "reduce_scatter" if parallel.sp else "allreduce"
    yield Call(tensor, "backward", "output layer", kind, asked.message, count, stage)
    if parallel.sp and asked.plan.regather:
        yield Call(tensor, "backward", "input again", "allgather", asked.message, count, stage)


def boundary_call(asked: Pass, phase: Phase, stage: int, peer: int, times: Fraction = ONCE) -> Call:
    """What a stage hands on to another one, or gives back."""
    size = asked.message / (asked.parallel.tp if asked.parallel.sp else 1)
    return Call(PIPELINE, phase, "boundary", "send_recv", size, times, stage, peer)


def _boundary_calls(asked: Pass, stage: int) -> Iterator[Call]:
    """What a stage hands on after each of its chunks, and gives back."""
    ways: tuple[tuple[Phase, int], ...] = (("forward", 1), ("backward", -1))
    for phase, steps in ways if asked.training else ways[:1]:
        for peer, chunks in handed_on(asked.parallel, stage, steps).items():
            yield boundary_call(asked, phase, stage, peer, asked.passes * chunks)


def _replica_calls(
    asked: Pass, stage: int, chunks: tuple[range, ...], held: Mapping[bool, Held]
) -> Iterator[Call]:
    """Gradients and weights of ranks that hold the same layers, by what ZeRO shards."""
    inside = units(asked.model, chunks, asked.parallel, asked.memory, stage, held)
    for size, count in _counted(unit.dense for unit in inside).items():
        yield from unit_calls(asked, stage, Held(dense=size), Fraction(count))
    for size, count in _counted(unit.experts for unit in inside).items():
        yield from unit_calls(asked, stage, Held(experts=size), Fraction(count))


def unit_calls(asked: Pass, stage: int, unit: Held, count: Fraction = ONCE) -> Iterator[Call]:
    """What replicas exchange for so many units: weights that are gathered, gradients that are summed."""
    parallel = asked.parallel
    if unit.dense:
        group = Group("dp", ("cp", "ep", "dp"))
        yield from _exchange(asked, stage, group, parallel.sharded, unit.dense, count)
    if unit.experts:
        group, shards = Group("expert dp", ("cp", "dp")), max(parallel.sharded // parallel.ep, 1)
        yield from _exchange(asked, stage, group, shards, unit.experts, count)


def shared_calls(asked: Pass, stage: int) -> Iterator[Call]:
    """Gradients that a stage sums up with the one that has the same weights, once a step."""
    parallel, first = asked.parallel, holds_ends(asked.parallel, stage) == (True, False)
    if not asked.training:
        return
    if copies(parallel) > 1 and stage < parallel.pp - 1 - stage:
        held = layer_units(asked.model, parallel, asked.memory)
        own = layers_held(asked.model, parallel, stage)
        inside = units(asked.model, own, parallel, asked.memory, stage, held)
        size = _shared(asked, sum(inside, Held())) * asked.gradient
        yield Call(MIRROR, "update", "gradients", "allreduce", size, ONCE, stage)
    if asked.model.tied and first and asked.memory.count == "all":
        tokens = asked.model.embedding_weights()[0]
        size = Fraction(tokens.size, parallel.tp) * asked.gradient
        ends = Group("embedding", ("pp",), "mirror")
        yield Call(ends, "update", "tied embedding", "allreduce", size, ONCE, stage)


def tensor_update_calls(asked: Pass, stage: int) -> Iterator[Call]:
    """Gradients of what tensor parallelism leaves whole, where sequence parallelism shares its tokens."""
    if asked.training and asked.parallel.sp and asked.memory.count == "all":
        own = layers_held(asked.model, asked.parallel, stage)
        alike = sum(map(_whole_on_all, _stage_weights(asked.model, own))) * asked.gradient
        yield Call(asked.tensor, "update", "gradients of norms", "allreduce", alike, ONCE, stage)


def _shared(asked: Pass, owned: Held) -> Fraction:
    """Parameters of a rank of a stage whose gradients it sums up with the stage that has the same."""
    parallel = asked.parallel
    shards = parallel.sharded if parallel.zero else 1
    return owned.dense / shards + owned.experts / max(shards // parallel.ep, 1)


def _counted(sizes: Iterable[Fraction]) -> Mapping[Fraction, int]:
    """How many units have each size; none of the empty ones."""
    counts: dict[Fraction, int] = {}
    for size in sizes:
        if size:
            counts[size] = counts.get(size, 0) + 1
    return counts


def _exchange(
    asked: Pass, stage: int, group: Group, shards: int, size: Fraction, count: Fraction
) -> Iterator[Call]:
    """What replicas exchange for `count` units of so many parameters.

    Where less than all of them share, the sums of each run of `shards` are added up across the runs.
    """
    parallel, each = asked.parallel, count * asked.passes
    weights, gradients = size * asked.weight, size * asked.gradient
    if parallel.zero == 0 or shards == 1:
        if asked.training:
            yield Call(group, "update", "gradients", "allreduce", gradients, count, stage)
        return
    whole = shards == group.size(parallel)
    near = group if whole else Group(group.name, group.axes, "near", shards)
    yield from _sharded(asked, stage, near, weights, gradients, count, each)
    if asked.training and not whole:
        far = Group(f"{group.name} copies", group.axes, "far", shards)
        yield Call(far, "update", "gradients", "allreduce", gradients / shards, count, stage)


def _sharded(
    asked: Pass,
    stage: int,
    group: Group,
    weights: Fraction,
    gradients: Fraction,
    once: Fraction,
    each: Fraction,
) -> Iterator[Call]:
    """What the ranks of a shard group exchange: once a step, or for each micro-batch."""
    zero = asked.parallel.zero
    if zero == 3:
        yield Call(group, "forward", "weights", "allgather", weights, each, stage)
    if not asked.training:
        return
    if zero == 3 and asked.parallel.reshard_after_forward:
        yield Call(group, "backward", "weights again", "allgather", weights, each, stage)
    if zero == 1:
        yield Call(group, "update", "gradients", "reduce_scatter", gradients, once, stage)
    else:
        # gradients that are kept in shards are added up micro-batch by micro-batch
        yield Call(group, "backward", "gradients", "reduce_scatter", gradients, each, stage)
    if zero < 3:
        yield Call(group, "update", "weights", "allgather", weights, once, stage)


def _stage_weights(model: Model, chunks: Iterable[range]) -> Iterator[Weight]:
    for chunk in chunks:
        for layer in chunk:
            yield from model.layer_weights(layer)


def _whole_on_all(weight: Weight) -> int:
    """Parameters of a weight that tensor parallelism does not cut."""
    return weight.size if weight.cut == "none" else 0
