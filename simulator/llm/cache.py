"""The KV cache, and what else inference keeps while tokens go through."""

from __future__ import annotations

from fractions import Fraction

from simulator.llm.fit import tokens_at_once
from simulator.llm.model import Model
from simulator.llm.plan import Batch, MemoryPlan, Parallel

ONE = Parallel()
STORED = 2
"""Bytes of a number of an activation."""


def cache_per_token(model: Model, plan: MemoryPlan, parallel: Parallel = ONE) -> Fraction:
    """Bytes of the KV cache that a rank keeps for one token of its replica, over all layers.

    Grouped-query attention keeps a key and a value a head of theirs, latent attention one vector for
    all heads, which tensor parallelism cannot cut. Ring attention cuts the tokens, Ulysses the heads.

    Parameters
    ----------
    parallel : Parallel
        How the heads and tokens are shared; a rank that has them all where it does not say.

    Examples
    --------
    >>> from simulator.llm.model import transformer
    >>> llama = transformer(layers=126, hidden=16384, heads=128, kv_heads=8, vocab=128256, sequence=8192)
    >>> int(cache_per_token(llama, MemoryPlan())), int(cache_per_token(llama, MemoryPlan(), Parallel(tp=8)))
    (516096, 64512)
    """
    ring = parallel.cp_kind == "ring"
    cut = parallel.cp if ring else 1
    if model.latent is not None:
        numbers = Fraction(model.latent.kv_rank + model.latent.rope, cut)
    else:
        heads = min(parallel.tp * (1 if ring else parallel.cp), model.kv_heads)
        numbers = Fraction(2 * model.kv_heads * model.head_size, heads * cut)
    return numbers * model.layers * Fraction(plan.cache_bytes)


def working_bytes(model: Model, parallel: Parallel, batch: Batch, plan: MemoryPlan) -> Fraction:
    """What the widest matrix of a rank takes and gives, beside the residual, in 16 bits.

    An estimate: it counts no scratch space of kernels, and logits of the last token only.
    """
    tokens = tokens_at_once(model, parallel, batch, plan)
    queries = Fraction(model.query_width, parallel.tp)
    keys = Fraction(2 * model.kv_heads * model.head_size, min(parallel.tp, model.kv_heads))
    inner = Fraction((2 if model.gated else 1) * model.ffn, parallel.tp)
    widths = [model.hidden + queries + keys, model.hidden + inner]
    if model.experts is not None:
        one = model.hidden + Fraction((2 if model.gated else 1) * model.experts.ffn, parallel.tp)
        widths.append((model.experts.active + model.experts.shared) * one)
    logits = Fraction(4 * batch.micro * model.vocab, parallel.tp) if plan.count == "all" else Fraction(0)
    return tokens * STORED * (model.hidden + max(widths)) + logits
