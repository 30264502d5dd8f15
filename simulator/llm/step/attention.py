"""Work of attention: queries, keys and values, its core, and its output."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from simulator.llm.layer_calls import Pass
from simulator.llm.model import LatentAttention
from simulator.llm.step.kernels import Part, Place, Work, WorkPlan, elementwise, linear, own_tokens, product
from simulator.llm.weights import Weight


def attention_parts(asked: Pass, weights: Sequence[Weight], plan: WorkPlan, past: int) -> Iterator[Part]:
    """Yield the parts of attention in order, from its weights.

    Parameters
    ----------
    asked : Pass
    weights : sequence of Weight
        Of the part attention, and norms of latent vectors.
    plan : WorkPlan
    past : int
        Tokens of each sequence in the KV cache already.
    """
    output = [weight for weight in weights if weight.name.startswith("attention output")]
    inside = [weight for weight in weights if weight not in output]
    latent = asked.model.latent
    yield from (
        _grouped(asked, inside, plan, past) if latent is None else _latent(asked, latent, inside, plan, past)
    )
    yield linear(asked, "attention output", "attention output", output, asked.tokens)


def _grouped(asked: Pass, weights: Sequence[Weight], plan: WorkPlan, past: int) -> Iterator[Part]:
    """Queries, keys and values in one product, where heads are fewer than ranks with copies."""
    model, parallel = asked.model, asked.parallel
    yield linear(asked, "queries, keys, values", "projections", weights, asked.tokens)
    width = 2 * Fraction(model.kv_heads * model.head_size, min(parallel.tp * _sharing(asked), model.kv_heads))
    read, new = _keys(asked, past) * width, _new(asked) * width
    yield from _Core(asked, _pairs(asked, plan, past), model.head_size, model.head_size, read, new).parts()


def _sharing(asked: Pass) -> int:
    """Ranks that swap tokens for heads: then each has all tokens, and of the heads a part."""
    return asked.parallel.cp if asked.parallel.cp_kind == "ulysses" else 1


def _pairs(asked: Pass, plan: WorkPlan, past: int) -> Fraction:
    """Scores of a rank: pairs of tokens, over all of its heads."""
    pairs = asked.batch.micro * plan.pairs(asked.length, past)
    return Fraction(pairs * asked.model.heads, asked.parallel.tp * asked.parallel.cp)


def _keys(asked: Pass, past: int) -> Fraction:
    """Tokens whose keys a rank reads: all, but of a ring that works on one token together a part."""
    together = asked.parallel.cp_kind == "ring" and asked.length == 1
    return Fraction(asked.batch.micro * (past + asked.length), asked.parallel.cp if together else 1)


def _new(asked: Pass) -> Fraction:
    """Tokens whose keys a rank keeps, of those that go through."""
    return asked.tokens * _sharing(asked)


@dataclass(frozen=True, slots=True)
class _Core:
    """Scores of queries and keys, their softmax, and the values that it weighs.

    Attributes
    ----------
    asked : Pass
    pairs : Fraction
        Scores.
    key, value : int
        Width of a head's keys and values.
    read : Fraction
        Numbers of keys and values that the rank reads.
    new : Fraction
        Of those, what inference adds to the KV cache.
    """

    asked: Pass
    pairs: Fraction
    key: int
    value: int
    read: Fraction
    new: Fraction

    def parts(self) -> Iterator[Part]:
        """Yield one kernel that keeps no scores, or three that do."""
        memory = self.asked.memory
        stores = memory.attention == "scores" and self.asked.training
        for part in self._stored() if stores else [self._flash() if self.asked.training else self._cached()]:
            yield replace(part, recomputed=memory.recompute != "none")

    @property
    def _heads(self) -> Fraction:
        """Queries of a rank, head by head."""
        return self.asked.tokens * self.asked.model.heads / self.asked.parallel.tp

    @property
    def _ends(self) -> Fraction:
        """Bytes of the queries, and of the result."""
        return self._heads * (self.key + self.value) * self.asked.activation

    def _cached(self) -> Part:
        """What is new goes into the KV cache, and all of that is read."""
        number = Fraction(self.asked.memory.cache_bytes) if self.new else self.asked.activation
        moved = self._ends + (self.read + self.new) * number
        return Part("core", "attention", Work("attention", 2 * self.pairs * (self.key + self.value), moved))

    def _flash(self) -> Part:
        """Five products backward: scores are made again (Dao et al. 2022).

        Queries, keys, values, the result and its gradient go in, and three gradients come out.
        """
        once = self._ends + self.read * self.asked.activation
        normalisation = 4 * self._heads
        forward = Work("attention", 2 * self.pairs * (self.key + self.value), once + normalisation)
        back = Work("attention", 2 * self.pairs * (3 * self.key + 2 * self.value), 2 * once + normalisation)
        return Part("core", "attention", forward, back)

    def _stored(self) -> Iterator[Part]:
        """Scores, s x s a head, go over the memory between the kernels."""
        scores = self.pairs * self.asked.activation
        yield self._weighed("scores", self.key, scores)
        # with dropout once more, with a mask of a byte; backward the result is read, too
        dropped = 2 * scores + self.pairs if self.asked.model.dropout else Fraction(0)
        yield elementwise("softmax", "attention", 2 * scores + dropped, 3 * scores + dropped)
        yield self._weighed("values", self.value, scores)

    def _weighed(self, name: str, width: int, scores: Fraction) -> Part:
        """One of the two products; backward two as large."""
        other = self.read * width / (self.key + self.value)
        moved = (self._heads * width + other) * self.asked.activation + scores
        forward = Work("attention", 2 * self.pairs * width, moved)
        return Part(name, "attention", forward, Work("attention", 2 * forward.flops, 2 * moved))


def _latent(
    asked: Pass, latent: LatentAttention, weights: Sequence[Weight], plan: WorkPlan, past: int
) -> Iterator[Part]:
    """Latent attention (DeepSeek-V2, 2024): down to short vectors, and up from them to heads.

    In inference whichever takes fewer operations: keys and values of every head made from the cache, or
    their matrices multiplied into queries and results instead, so that all heads read the cache itself.
    """
    own = own_tokens(asked)
    for weight in weights:
        if weight.is_matrix and weight.name != "key-value up":
            tokens = own if weight.cut == "none" else asked.tokens
            yield linear(asked, weight.name, "projections", [weight], tokens)
        elif not weight.is_matrix and not weight.name.endswith("shift"):
            moved = own * weight.outputs * asked.activation
            yield elementwise(weight.name, "projections", 2 * moved, 3 * moved)
    [up] = [weight for weight in weights if weight.name == "key-value up"]
    ways = [_expanded(asked, latent, up, plan, past)]
    if not asked.training:
        ways.append(_absorbed(asked, latent, plan, past))
    yield from min(ways, key=lambda parts: sum(part.forward.flops for part in parts))


def _expanded(asked: Pass, latent: LatentAttention, up: Weight, plan: WorkPlan, past: int) -> list[Part]:
    """Keys and values of every head: on a ring of all tokens, since the short vectors go round."""
    heads = Fraction(asked.model.heads, asked.parallel.tp)
    place: Place = "projections" if asked.parallel.cp_kind == "ulysses" else "attention"
    keys = _keys(asked, past) / _sharing(asked)
    read = keys * heads * (latent.nope + latent.rope + latent.value)
    core = _Core(asked, _pairs(asked, plan, past), latent.nope + latent.rope, latent.value, read, Fraction(0))
    return [linear(asked, "keys, values", place, [up], keys), *core.parts()]


def _absorbed(asked: Pass, latent: LatentAttention, plan: WorkPlan, past: int) -> list[Part]:
    """Queries and results through the up matrices, head by head, and the core on latent vectors."""
    heads, vector = Fraction(asked.model.heads, asked.parallel.tp), latent.kv_rank + latent.rope
    ends = [
        product(
            asked,
            name,
            "attention",
            asked.tokens * heads,
            Fraction(before),
            Fraction(after),
            heads * before * after,
        )
        for name, before, after in (
            ("queries to latent", latent.nope, latent.kv_rank),
            ("latent to values", latent.kv_rank, latent.value),
        )
    ]
    read = _keys(asked, past) * vector
    new = _new(asked) * vector
    core = _Core(asked, _pairs(asked, plan, past), vector, latent.kv_rank, read, new)
    return [ends[0], *core.parts(), ends[1]]
