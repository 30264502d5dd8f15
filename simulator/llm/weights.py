"""The weights of a transformer: shapes, and along what tensor parallelism cuts them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from simulator.llm.model import Experts, LatentAttention, Model

Part = Literal["embedding", "attention", "mlp", "experts", "router", "norms", "head"]


@dataclass(frozen=True, slots=True)
class Weight:
    """One weight, or the same one of several experts.

    Attributes
    ----------
    name : str
    part : str
        What of the model it belongs to.
    inputs, outputs : int
        Its shape; a vector has one input.
    cut : {'outputs', 'inputs', 'none'}
        Which dimension tensor parallelism cuts: columns, rows, or none, when every rank holds it all.
    pieces : int
        Into how many at most: past that many ranks, several hold the same piece.
    copies : int
        How many experts have such a weight.
    is_matrix : bool
        Whether it multiplies: no bias, no scale of a norm.
    """

    name: str
    part: Part
    inputs: int
    outputs: int
    cut: Literal["outputs", "inputs", "none"] = "none"
    pieces: int = 1
    copies: int = 1
    is_matrix: bool = True

    @property
    def size(self) -> int:
        """Parameters of all its copies."""
        return self.inputs * self.outputs * self.copies


def norm_weights(model: Model, name: str, width: int = 0) -> tuple[Weight, ...]:
    """The scale of a norm, and its shift where it has one."""
    size = width or model.hidden
    scale = Weight(name, "norms", 1, size, is_matrix=False)
    return (
        (scale,)
        if model.norm == "rms"
        else (scale, Weight(f"{name} shift", "norms", 1, size, is_matrix=False))
    )


def attention_weights(model: Model) -> Iterator[Weight]:
    """Queries, keys and values side by side, cut by heads, then the output projection."""
    queries, heads, kv_heads = model.query_width, model.heads, model.kv_heads
    keys = kv_heads * model.head_size
    widths = (("query", queries, heads), ("key", keys, kv_heads), ("value", keys, kv_heads))
    for name, width, pieces in widths:
        yield Weight(name, "attention", model.hidden, width, "outputs", pieces)
        if model.biases != "none":
            yield Weight(f"{name} bias", "attention", 1, width, "outputs", pieces, is_matrix=False)
    yield Weight("attention output", "attention", queries, model.hidden, "inputs", heads)
    if model.biases == "all":
        yield Weight("attention output bias", "attention", 1, model.hidden, is_matrix=False)


def latent_weights(model: Model, latent: LatentAttention) -> Iterator[Weight]:
    """Down to the latent vectors, whole on every rank, and up from them, cut by heads."""
    source = model.hidden
    if latent.query_rank:
        yield Weight("query down", "attention", model.hidden, latent.query_rank)
        yield from norm_weights(model, "query norm", latent.query_rank)
        source = latent.query_rank
    yield Weight("query up", "attention", source, model.query_width, "outputs", model.heads)
    yield Weight("key-value down", "attention", model.hidden, latent.kv_rank + latent.rope)
    yield from norm_weights(model, "key-value norm", latent.kv_rank)
    up = model.heads * (latent.nope + latent.value)
    yield Weight("key-value up", "attention", latent.kv_rank, up, "outputs", model.heads)
    yield Weight("attention output", "attention", model.value_width, model.hidden, "inputs", model.heads)


def mlp_weights(model: Model, ffn: int, part: Part, copies: int = 1) -> Iterator[Weight]:
    """Columns, then rows; with a gate beside the columns."""
    for name in ("gate", "up") if model.gated else ("up",):
        yield Weight(name, part, model.hidden, ffn, "outputs", ffn, copies)
        if model.biases == "all":
            yield Weight(f"{name} bias", part, 1, ffn, "outputs", ffn, copies, is_matrix=False)
    yield Weight("down", part, ffn, model.hidden, "inputs", ffn, copies)
    if model.biases == "all":
        yield Weight("down bias", part, 1, model.hidden, copies=copies, is_matrix=False)


def expert_weights(model: Model, experts: Experts) -> Iterator[Weight]:
    """The router, the experts it chooses from, and those of every token."""
    yield Weight("router", "router", model.hidden, experts.count)
    yield from mlp_weights(model, experts.ffn, "experts", experts.count)
    if experts.shared:
        yield from mlp_weights(model, experts.ffn * experts.shared, "mlp")
