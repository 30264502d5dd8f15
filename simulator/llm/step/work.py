"""What a step computes at one rank for one micro-batch, part by part, in the order in which they run.

Everything is exact, and cut as the weights are: by tensor parallelism into as many pieces as there are
heads or columns (past that, ranks do the same), by context parallelism along the tokens, by expert
parallelism into experts. What tensor parallelism leaves whole every rank does, or, under sequence
parallelism, its part of the tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction

from simulator.llm.fit import layers_held
from simulator.llm.layer_calls import Pass
from simulator.llm.model import Experts
from simulator.llm.parameters import Held, units
from simulator.llm.step.attention import attention_parts
from simulator.llm.step.kernels import NOTHING, Part, Place, Work, WorkPlan, elementwise, linear, own_tokens
from simulator.llm.weights import Weight, mlp_weights

DEFAULT = WorkPlan()


def layer_parts(asked: Pass, layer: int, plan: WorkPlan = DEFAULT, past: int = 0) -> tuple[Part, ...]:
    """Parts of a layer.

    Parameters
    ----------
    asked : Pass
    layer : int
        From 0.
    plan : WorkPlan
    past : int
        In inference, tokens of each sequence in the KV cache already.

    Examples
    --------
    >>> from simulator.llm.model import transformer
    >>> from simulator.llm.plan import Batch, MemoryPlan, Parallel
    >>> from simulator.llm.traffic_plan import TrafficPlan
    >>> gpt = transformer(layers=2, hidden=512, heads=8, vocab=1024, sequence=256)
    >>> asked = Pass(gpt, Parallel(tp=2), Batch(total=1), MemoryPlan(), TrafficPlan())
    >>> for part in layer_parts(asked, 0, WorkPlan(mask="full")):
    ...     print(f"{part.place:17}{part.name:22}{int(part.forward.flops):10}{int(part.forward.bytes):9}")
    input norm       input norm                     0   524288
    projections      queries, keys, values  201326592  1441792
    attention        core                    67108864   528384
    attention output attention output        67108864   655360
    second norm      residual                       0   786432
    second norm      second norm                    0   524288
    mlp              up                     268435456  1835008
    mlp              function                       0  1048576
    mlp              down                   268435456  1835008
    residual         residual                       0   786432
    """
    return _asked_for(asked, _layer(asked, layer, plan, past), full=asked.recomputes)


def embedding_parts(asked: Pass) -> tuple[Part, ...]:
    """What comes before the first layer: each rank looks up the tokens of its part of the vocabulary.

    The others' rows are 0; they are added up, so all are written.
    """
    model, numbers = asked.model, asked.tokens * asked.model.hidden
    found = numbers / asked.parallel.tp
    learned = numbers if model.positions else Fraction(0)
    forward = Work(bytes=(found + learned) * asked.weight + numbers * asked.activation)
    back = Work(bytes=numbers * asked.activation + 2 * (found + learned) * asked.gradient)
    return _asked_for(asked, [Part("embedding", "embedding", forward, NOTHING, back)])


def head_parts(asked: Pass) -> tuple[Part, ...]:
    """What comes after the last layer: in inference for the last token of a sequence only."""
    model = asked.model
    if not asked.training:
        last = Fraction(asked.batch.micro)
        return _asked_for(asked, [_norm(asked, "final norm", last), _output(asked, last)])
    logits = asked.tokens * Fraction(model.vocab, asked.parallel.tp)
    # softmax in 32 bits
    loss = logits * (asked.activation + 4)
    parts = [
        _norm(asked, "final norm", own_tokens(asked)),
        _output(asked, asked.tokens),
        elementwise("loss", "loss", loss, loss),
    ]
    return _asked_for(asked, parts)


def optimizer_work(asked: Pass, stage: int) -> Work:
    """Update of what a rank of a stage has to update, once a step.

    Weights, gradients and the optimizer's states are read, and the first and last written; what ZeRO shards,
    a rank's shard of it; as if all were in the device's memory.

    Examples
    --------
    >>> from simulator.llm.model import transformer
    >>> from simulator.llm.plan import Batch, MemoryPlan, Parallel
    >>> from simulator.llm.traffic_plan import TrafficPlan
    >>> gpt = transformer(layers=2, hidden=512, heads=8, vocab=1024, sequence=256)
    >>> asked = Pass(gpt, Parallel(dp=4, zero=1), Batch(total=4), MemoryPlan(), TrafficPlan())
    >>> optimizer_work(asked, 0).bytes == Fraction(gpt.parameters(), 4) * (2 + 4 + 12 + 2 + 12)
    True
    """
    parallel, memory = asked.parallel, replace(asked.memory, count="all")
    owned = sum(
        units(asked.model, layers_held(asked.model, parallel, stage), parallel, memory, stage), Held()
    )
    shards = parallel.sharded if parallel.zero else 1
    mine = owned.dense / shards + owned.experts / max(shards // parallel.ep, 1)
    kept = asked.memory.convention
    return Work(bytes=mine * (kept.total + Fraction(kept.weight) + Fraction(kept.optimizer)))


def _asked_for(asked: Pass, parts: Iterable[Part], *, full: bool = False) -> tuple[Part, ...]:
    """Parts as the step needs them: without a backward pass, or all done again in it."""
    if not asked.training:
        return tuple(Part(part.name, part.place, part.forward) for part in parts)
    return tuple(replace(part, recomputed=True) if full else part for part in parts)


def _layer(asked: Pass, layer: int, plan: WorkPlan, past: int) -> Iterator[Part]:
    weights, own = asked.model.layer_weights(layer), own_tokens(asked)
    ends = ("input norm", "second norm")
    inside = [w for w in weights if w.part in ("attention", "norms") and not w.name.startswith(ends)]
    yield _norm(asked, "input norm", own)
    yield from attention_parts(asked, inside, plan, past)
    yield _residual(asked, "second norm")
    yield _norm(asked, "second norm", own)
    experts = asked.model.experts
    if experts is None or not asked.model.is_sparse(layer):
        yield from _mlp(asked, "mlp", [w for w in weights if w.part == "mlp"], asked.tokens)
    else:
        yield from _mixture(asked, experts, weights, plan)
    yield _residual(asked, "residual")


def _mixture(asked: Pass, experts: Experts, weights: Iterable[Weight], plan: WorkPlan) -> Iterator[Part]:
    """The router, every token's experts, and the sum of what they give."""
    parallel, own = asked.parallel, own_tokens(asked)
    one = own * asked.model.hidden * asked.activation
    routed = {part: [w for w in weights if w.part == part] for part in ("router", "mlp")}
    yield linear(asked, "router", "router", routed["router"], own)
    yield elementwise("copies", "router", one * (1 + experts.active), one * (1 + experts.active))
    if experts.shared:
        yield from _mlp(asked, "shared expert", routed["mlp"], asked.tokens)
    most = asked.tokens * experts.active * min(Fraction(plan.skew), Fraction(parallel.ep))
    # few tokens do not meet all experts
    met = min(Fraction(experts.count, parallel.ep), most)
    yield from _mlp(asked, "experts", list(mlp_weights(asked.model, experts.ffn, "experts")), most, met)
    # backward, what the experts gave is read for the gradient of the router
    yield elementwise("weighted sum", "combine", one * (1 + experts.active), one * (1 + 2 * experts.active))


def _mlp(
    asked: Pass, place: Place, weights: list[Weight], tokens: Fraction, copies: Fraction = Fraction(1)
) -> Iterator[Part]:
    """Columns, the function, rows."""
    inner = [weight for weight in weights if not weight.name.startswith("down")]
    rows = [weight for weight in weights if weight.name.startswith("down")]
    gates = 2 if asked.model.gated else 1
    width = sum(weight.outputs for weight in inner if weight.is_matrix) // gates
    moved = tokens * Fraction(width, asked.parallel.tp) * asked.activation
    yield linear(asked, "up", place, inner, tokens, copies=copies)
    yield elementwise("function", place, (gates + 1) * moved, (2 * gates + 1) * moved)
    yield linear(asked, "down", place, rows, tokens, copies=copies)


def _output(asked: Pass, tokens: Fraction) -> Part:
    """The output layer, which may be the embedding."""
    model = asked.model
    return linear(
        asked,
        "logits",
        "head",
        [Weight("output", "head", model.hidden, model.vocab, "outputs", model.vocab)],
        tokens,
    )


def _norm(asked: Pass, place: Place, tokens: Fraction) -> Part:
    moved = tokens * asked.model.hidden * asked.activation
    return elementwise(place, place, 2 * moved, 3 * moved)


def _residual(asked: Pass, place: Place) -> Part:
    """Two are added up, as their gradients are; dropout has a mask of a byte, and backward its own pass."""
    numbers = own_tokens(asked) * asked.model.hidden
    once = 3 * numbers * asked.activation
    if not (asked.model.dropout and asked.training):
        return elementwise("residual", place, once, once)
    return elementwise("residual", place, once + numbers, once + numbers * (2 * asked.activation + 1))
