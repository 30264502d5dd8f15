"""A transformer in numbers, and its parameters, weight by weight."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from simulator.llm.errors import ModelError
from simulator.llm.weights import (
    Part,
    Weight,
    attention_weights,
    expert_weights,
    latent_weights,
    mlp_weights,
    norm_weights,
)
from topologies.quantities import Count, Whole

MOST_LAYERS: Final = 4096
"""Layers are looked at one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Experts:
    """A mixture of experts in place of the MLP.

    Parameters
    ----------
    count : int
        Experts of a layer that tokens are routed to.
    active : int
        Of those, how many a token goes to.
    ffn : int
        Inner width of one expert.
    shared : int
        Experts of the same width that every token goes through.
    dense_layers : int
        First layers that have an ordinary MLP instead.
    """

    count: Count
    active: Count
    ffn: Count
    shared: Whole = 0
    dense_layers: Whole = 0

    def __post_init__(self) -> None:
        if self.active > self.count:
            raise ModelError(f"a token cannot go to {self.active} of {self.count} experts", ("active",))


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentAttention:
    """Multi-head latent attention (DeepSeek-V2, 2024): keys and values from one short vector.

    Parameters
    ----------
    kv_rank : int
        Width of the vector that keys and values are made from.
    rope : int
        Width of the part of a key that holds the position; one for all heads.
    nope : int
        Width, a head, of the part of a key that does not.
    value : int
        Width of a head's value.
    query_rank : int
        Width of the vector that queries are made from; 0 makes them from the hidden state.
    """

    kv_rank: Count
    rope: Count
    nope: Count
    value: Count
    query_rank: Whole = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A decoder-only transformer; `transformer` fills in what usually follows from the rest.

    Parameters
    ----------
    name : str
        What people call it.
    layers : int
        L, layers of attention and MLP.
    hidden : int
        h, the width of what a layer takes and gives.
    heads : int
        a, of queries.
    kv_heads : int
        Heads of keys and values: `heads` for multi-head, less for grouped-query attention.
    head_size : int
        Width of a head.
    ffn : int
        Inner width of an MLP.
    gated : bool
        Whether the MLP has a gate beside its inner layer (SwiGLU): three matrices, not two.
    vocab : int
        V, tokens of the vocabulary, padded as the model is trained.
    sequence : int
        s, tokens of a sequence where a plan does not say.
    tied : bool
        Whether the output layer is the input embedding.
    positions : int
        Learned positions; 0 where they are computed (RoPE).
    biases : {'all', 'qkv', 'none'}
        Which linear layers have biases.
    norm : {'layer', 'rms'}
        Two vectors a norm, or one.
    dropout : bool
        Whether training drops out, and keeps its masks.
    experts : Experts, optional
    latent : LatentAttention, optional
        In place of kv_heads and head_size.
    source : str
        Where the numbers come from.
    """

    name: str
    layers: Count
    hidden: Count
    heads: Count
    kv_heads: Count
    head_size: Count
    ffn: Count
    gated: bool
    vocab: Count
    sequence: Count
    tied: bool = False
    positions: Whole = 0
    biases: Literal["all", "qkv", "none"] = "none"
    norm: Literal["layer", "rms"] = "rms"
    dropout: bool = False
    experts: Experts | None = None
    latent: LatentAttention | None = None
    source: str = ""

    def __post_init__(self) -> None:
        if self.layers > MOST_LAYERS:
            raise ModelError(f"found {self.layers} layers, expected at most {MOST_LAYERS}", ("layers",))
        if self.heads % self.kv_heads:
            message = f"{self.heads} heads cannot share {self.kv_heads} heads of keys and values equally"
            raise ModelError(message, ("kv_heads",))
        if self.experts is not None and self.experts.dense_layers > self.layers:
            message = f"{self.experts.dense_layers} dense layers are more than {self.layers} layers"
            raise ModelError(message, ("experts", "dense_layers"))

    @property
    def query_width(self) -> int:
        """Width of the queries of all heads."""
        return self.heads * (self.head_size if self.latent is None else self.latent.nope + self.latent.rope)

    @property
    def value_width(self) -> int:
        """Width of what attention gives to its output projection, all heads."""
        return self.heads * (self.head_size if self.latent is None else self.latent.value)

    def is_sparse(self, layer: int) -> bool:
        """Whether a layer, from 0, has experts."""
        return self.experts is not None and layer >= self.experts.dense_layers

    def layer_weights(self, layer: int) -> tuple[Weight, ...]:
        """Every weight of a layer, from 0."""
        attention = attention_weights(self) if self.latent is None else latent_weights(self, self.latent)
        wide = mlp_weights(self, self.ffn, "mlp")
        if self.experts is not None and self.is_sparse(layer):
            wide = expert_weights(self, self.experts)
        return (*norm_weights(self, "input norm"), *attention, *norm_weights(self, "second norm"), *wide)

    def embedding_weights(self) -> tuple[Weight, ...]:
        """What comes before the first layer."""
        tokens = Weight("embedding", "embedding", self.vocab, self.hidden, "inputs", self.vocab)
        if not self.positions:
            return (tokens,)
        return (tokens, Weight("positions", "embedding", self.positions, self.hidden))

    def head_weights(self) -> tuple[Weight, ...]:
        """What comes after the last layer, without the output layer where it is the embedding."""
        output = Weight("output", "head", self.hidden, self.vocab, "outputs", self.vocab)
        return norm_weights(self, "final norm") if self.tied else (*norm_weights(self, "final norm"), output)

    def weights(self) -> Iterator[Weight]:
        """Every weight of the model."""
        yield from self.embedding_weights()
        for layer in range(self.layers):
            yield from self.layer_weights(layer)
        yield from self.head_weights()

    def layer_parameters(self, layer: int) -> int:
        """Parameters of a layer, from 0."""
        return sum(weight.size for weight in self.layer_weights(layer))

    def part_parameters(self, part: Part) -> int:
        """Parameters of all weights of a part: embedding, attention, mlp, experts, router, norms, head.

        An expert that every token goes through is of the part mlp.
        """
        return sum(weight.size for weight in self.weights() if weight.part == part)

    def parameters(self) -> int:
        """Parameters of the model.

        Examples
        --------
        >>> gpt = transformer(name="GPT-3", layers=96, hidden=12288, heads=96, vocab=50257, sequence=2048,
        ...                   tied=True, positions=2048, biases="all", norm="layer")
        >>> gpt.parameters()
        174604259328
        """
        return sum(weight.size for weight in self.weights())

    def active_parameters(self) -> int:
        """Parameters that one token meets: of the experts only the active ones."""
        if self.experts is None:
            return self.parameters()
        idle = self.experts.count - self.experts.active
        return self.parameters() - self.part_parameters("experts") // self.experts.count * idle


def transformer(
    *,
    name: str = "model",
    layers: Count,
    hidden: Count,
    heads: Count,
    vocab: Count,
    sequence: Count,
    kv_heads: Count | None = None,
    head_size: Count | None = None,
    ffn: Count | None = None,
    gated: bool = False,
    tied: bool = False,
    positions: Whole = 0,
    biases: Literal["all", "qkv", "none"] = "none",
    norm: Literal["layer", "rms"] = "rms",
    dropout: bool = False,
    experts: Experts | None = None,
    latent: LatentAttention | None = None,
    source: str = "",
) -> Model:
    """Make a model: multi-head attention with hidden / heads a head, an MLP of 4 hidden, unless said.

    Raises
    ------
    ModelError
        If the numbers do not go together.
    """
    if head_size is None and latent is None and hidden % heads:
        raise ModelError(f"{heads} heads do not divide {hidden}; give head_size", ("heads",))
    return Model(
        name=name,
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=kv_heads or heads,
        head_size=head_size or hidden // heads,
        ffn=ffn or 4 * hidden,
        gated=gated,
        vocab=vocab,
        sequence=sequence,
        tied=tied,
        positions=positions,
        biases=biases,
        norm=norm,
        dropout=dropout,
        experts=experts,
        latent=latent,
        source=source,
    )
