"""The second seed document's closing remark on experts, in numbers: what a card holds, and what is left."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Mixture:
    """A mixture of experts by its size alone.

    Attributes
    ----------
    parameters, layers : int
    weight : int
        Bytes of a parameter; 2 in 16 bits.
    cache : int
        Bytes of the KV cache of a token in one layer. Latent attention's is 576 numbers in 16 bits
        (DeepSeek-V3 report).
    activations : int
        Bytes that a card keeps free for activations.
    capacity : int
        Bytes of a card.
    """

    parameters: int = 10**12
    layers: int = 80
    weight: int = 2
    cache: int = 1152
    activations: int = 2 * 10**9
    capacity: int = 80 * 10**9

    @property
    def layer_parameters(self) -> Fraction:
        """Parameters of a layer.

        >>> int(Mixture().layer_parameters)
        12500000000
        """
        return Fraction(self.parameters, self.layers)


@dataclass(frozen=True, slots=True)
class Card:
    """A card of several that share a model.

    Attributes
    ----------
    cards : int
    weights, free : Fraction
        Bytes of weights, and what is left for the KV cache; less than 0 where it does not fit.
    tokens : int
        Tokens whose KV cache fits the card, where it keeps that of its own sequences in all layers.
    """

    cards: int
    weights: Fraction
    free: Fraction
    tokens: int

    @property
    def fits(self) -> bool:
        """Whether weights and activations fit."""
        return self.free >= 0


def by_layers(mixture: Mixture) -> Card:
    """One layer a card: as many cards as layers, and no more.

    A card keeps the cache of one layer for the sequences of all cards: as many tokens a card as if
    it kept all layers' of its own.
    """
    return by_experts(mixture, mixture.layers)


def by_experts(mixture: Mixture, cards: int) -> Card:
    """Every card has its part of the experts of all layers.

    Examples
    --------
    >>> one = by_experts(Mixture(), 80)
    >>> int(one.weights), one.tokens, by_experts(Mixture(), 320).tokens
    (25000000000, 575086, 778537)
    """
    weights = Fraction(mixture.parameters * mixture.weight, cards)
    free = mixture.capacity - mixture.activations - weights
    return Card(cards, weights, free, max(int(free // (mixture.cache * mixture.layers)), 0))
