"""Bytes of activations that training keeps for the backward pass, layer by layer.

Korthikanti et al. 2022, "Reducing activation recomputation in large transformer models", equations
1 to 6 and table 2, with 16-bit activations and masks of a byte; taken apart tensor by tensor, so that
grouped-query and latent attention, gated MLPs, experts and models without dropout follow from it.
"""

from __future__ import annotations

from fractions import Fraction

from simulator.llm.model import Experts, Model
from simulator.llm.plan import MemoryPlan, Parallel

STORED = 2
"""Bytes of a stored number; of a mask, 1; of what softmax and loss keep in 32 bits, 4."""


def layer_bytes(
    model: Model, layer: int, parallel: Parallel, plan: MemoryPlan, *, micro: int, sequence: int
) -> Fraction:
    """What a rank keeps of one layer for one micro-batch.

    Parameters
    ----------
    layer : int
        From 0.
    micro, sequence : int
        b, and s before context parallelism cuts it.

    Examples
    --------
    >>> from simulator.llm.model import transformer
    >>> gpt = transformer(layers=96, hidden=12288, heads=96, vocab=51200, sequence=2048, dropout=True)
    >>> plan = MemoryPlan(recompute="selective", attention="scores")
    >>> layer_bytes(gpt, 0, Parallel(tp=8, sp=True), plan, micro=1, sequence=2048) == 34 * 2048 * 12288 / 8
    True
    """
    tokens = Fraction(micro * sequence, parallel.cp)
    if plan.recompute == "full":
        return tokens * STORED * model.hidden / _whole(parallel)
    kept = tokens * (_attention(model, parallel) + _wide(model, layer, parallel))
    return (
        kept if plan.recompute == "selective" else kept + core_bytes(model, parallel, plan, tokens, sequence)
    )


def core_bytes(
    model: Model, parallel: Parallel, plan: MemoryPlan, tokens: Fraction, sequence: int
) -> Fraction:
    """What attention keeps between its queries, keys and values and its result: 5as^2b/t, or little.

    Scores are softmax's result, its dropped-out copy and the mask: 5 bytes a pair of tokens and head,
    2 without dropout. Flash attention keeps one 32-bit number a token and head instead.
    """
    heads = tokens * model.heads / parallel.tp
    if plan.attention == "flash":
        return 4 * heads
    return heads * sequence * (2 * STORED + 1 if model.dropout else STORED)


def embedding_bytes(model: Model, parallel: Parallel, *, micro: int, sequence: int) -> Fraction:
    """The mask of the dropout after the embedding: sbh a micro-batch."""
    tokens = Fraction(micro * sequence, parallel.cp)
    return tokens * model.hidden / _whole(parallel) if model.dropout else Fraction(0)


def loss_bytes(model: Model, parallel: Parallel, *, micro: int, sequence: int) -> Fraction:
    """Inputs of the final norm and of the output layer, and the logits in 32 bits: 4sbh(1 + v/h)."""
    tokens = Fraction(micro * sequence, parallel.cp)
    norm_and_output = Fraction(2 * STORED * model.hidden) / _whole(parallel)
    return tokens * (norm_and_output + Fraction(4 * model.vocab, parallel.tp))


def _whole(parallel: Parallel) -> int:
    """Ranks that share what tensor parallelism leaves whole: those of sequence parallelism."""
    return parallel.tp if parallel.sp else 1


def _attention(model: Model, parallel: Parallel) -> Fraction:
    """Bytes a token of a norm's and attention's inputs, queries, keys, values and the result.

    In multi-head attention 5h whole, a mask among them, and 8h cut.
    """
    mask = model.hidden if model.dropout else 0
    whole = STORED * 2 * model.hidden + mask
    cut = Fraction(STORED * (model.query_width + model.value_width), parallel.tp)
    if model.latent is None:
        pieces = min(parallel.tp, model.kv_heads)
        cut += Fraction(STORED * 2 * model.kv_heads * model.head_size, pieces)
    else:
        latent = model.latent
        keys = model.heads * (latent.nope + latent.rope)
        cut += Fraction(STORED * (keys + model.value_width), parallel.tp)
        # what goes into the norms of the latent vectors, and what comes out
        whole += STORED * (2 * (latent.query_rank + latent.kv_rank) + latent.rope)
    return Fraction(whole, _whole(parallel)) + cut


def _wide(model: Model, layer: int, parallel: Parallel) -> Fraction:
    """Bytes a token of the second norm's and the MLP's or the experts' inputs, and of what is inside.

    Around an MLP of 4h: 5h whole, a mask among them, and 16h cut.
    """
    mask = model.hidden if model.dropout else 0
    whole = Fraction(STORED * 2 * model.hidden + mask, _whole(parallel))
    if model.experts is None or not model.is_sparse(layer):
        return whole + _inside(model, model.ffn, parallel)
    return whole + _experts(model, model.experts, parallel)


def _inside(model: Model, ffn: int, parallel: Parallel) -> Fraction:
    """The inner layer before and after its function, and the gate's before; the rest is recomputed."""
    return Fraction(STORED * (3 if model.gated else 2) * ffn, parallel.tp)


def _experts(model: Model, experts: Experts, parallel: Parallel) -> Fraction:
    """The router's probabilities, and each routed token's way in, inside and out; loads are even.

    The tensor parallel ranks of an expert all hold its tokens, sequence parallelism or not.
    """
    routed = 2 * STORED * model.hidden + _inside(model, experts.ffn, parallel)
    router = Fraction(4 * experts.count, _whole(parallel))
    return router + experts.active * routed + _inside(model, experts.ffn * experts.shared, parallel)
