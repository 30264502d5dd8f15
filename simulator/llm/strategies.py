"""Parallel strategies: along what the work is shared, in which state each variable is, and what moves.

A strategy says which dimension each layer is cut along, how activations wait between layers, and
what of the model's state is sharded. The rest is derived: states from the products of
`simulator.llm.products`, primitives from `simulator.llm.states`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from simulator.llm.products import ROUTED, SCORES, VALUES, made, needed
from simulator.llm.states import (
    CENTRALIZED,
    PARTIAL,
    REPLICATED,
    Centralized,
    Partitioned,
    Primitive,
    State,
    primitive,
)
from simulator.llm.symbols import Expression, expression, symbols

L, B, I, O, D, N, K = symbols("L", "B", "I", "O", "D", "N", "k")  # noqa: E741 - the second seed's letters

Phase: TypeAlias = Literal["forward", "backward", "update"]

NEXT: Final = {"O": "I"}
"""What a dimension of a layer's output is called as one of the next layer's input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """A way to share the work of layers among N ranks.

    Attributes
    ----------
    name, title : str
    splits : tuple of str
        Dimension along which successive layers are cut; they take turns.
    boundary : State, optional
        In which activations wait before the first and after the last of them; where it is None, one
        run of layers hands on to the next directly.
    zero : int
        What of the replicated weights' state is sharded: 0 nothing, 1 optimizer, 2 and gradients,
        3 and weights.
    attention : str
        Dimension along which attention is cut, where tokens are partitioned by the sequence.
    source : str
    """

    name: str
    title: str
    splits: tuple[str, ...]
    boundary: State | None = None
    zero: int = 0
    attention: str = ""
    source: str = "the second seed document"

    @property
    def is_pipeline(self) -> bool:
        """Whether layers are on ranks of their own."""
        return self.splits == ("L",)

    @property
    def width(self) -> Expression:
        """How often a token counts: once, or once for each of its k experts."""
        return K if self.splits == (ROUTED,) else expression(1)


@dataclass(frozen=True, slots=True)
class Flow:
    """A variable that changes its state, once in so many layers.

    Attributes
    ----------
    phase : {'forward', 'backward', 'update'}
    variable : str
    size : Expression
        Of one layer's variable.
    times : Expression
        In a step of L layers.
    change : Primitive
    own : Expression, optional
        How many of these times a rank takes part; every time where it does not say.
    """

    phase: Phase
    variable: str
    size: Expression
    times: Expression
    change: Primitive
    own: Expression | None = None

    @property
    def total(self) -> Expression:
        """Elements that leave all ranks in a step, at least."""
        return self.change.exact_total.replaced(M=self.size) * self.times

    @property
    def rank(self) -> Expression:
        """Elements that leave the rank that sends most, at least."""
        times = self.times if self.own is None else self.own
        return self.change.exact_rank.replaced(M=self.size) * times


def states(strategy: Strategy) -> dict[str, tuple[State, ...]]:
    """States of X, W and Y, and of the derivatives, in the order in which they go through them.

    Of several layers that take turns, those of the first one's input and the last one's output; a
    layer's weights are alike in all.

    Examples
    --------
    >>> {name: " ".join(map(str, found)) for name, found in states(STRATEGIES["tp-row"]).items()}
    {'X': 'P(I)', 'W': 'P(I)', 'Y': 'Σ', 'dY': 'R', 'dX': 'P(I)', 'dW': 'P(I)'}
    """
    first, last = strategy.splits[0], strategy.splits[-1]
    found: dict[str, tuple[State, ...]] = {
        "X": (needed("X", first),),
        "W": (needed("W", first),),
        "Y": (made("Y", last),),
        "dY": (needed("dY", last),),
        "dX": (made("dX", first),),
        "dW": (made("dW", first),),
    }
    if found["W"] == (REPLICATED,) and strategy.zero == 3:
        found["W"] = (SHARD, REPLICATED, SHARD)
    if found["dW"] == (PARTIAL,):
        found["dW"] = (PARTIAL, SHARD if strategy.zero else REPLICATED)
    return found


SHARD: Final = Partitioned("O")
"""How ZeRO cuts weights, gradients and optimizer state; any dimension of W serves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """What implementations do differently.

    Attributes
    ----------
    reshard : bool
        Whether ZeRO-3 drops gathered weights after the forward pass, and gathers them again.
    regather : bool
        Whether an input that lies partitioned is gathered again for the gradient of the weights,
        as Korthikanti et al. 2022 do, instead of being kept whole.
    chunks : int or Expression
        Of layers that a pipeline stage holds (interleaving).
    boundaries : (int, int), optional
        Between chunks of different stages, in all and of the stage that hands on most; where it does
        not say, every one: chunks N - 1 and chunks.
    microbatches : int or Expression
        Between two updates; whose state is sharded exchanges it for each.
    recompute : bool
        Whether the backward pass does each layer's forward pass again.
    """

    reshard: bool = True
    regather: bool = False
    chunks: Expression | int = 1
    boundaries: tuple[int, int] | None = None
    microbatches: Expression | int = 1
    recompute: bool = False


USUAL: Final = Habits()


def flows(strategy: Strategy, habits: Habits = USUAL) -> tuple[Flow, ...]:
    """Everything that moves in a training step; its forward part is what inference moves.

    Examples
    --------
    >>> for flow in flows(STRATEGIES["fsdp"]):
    ...     print(flow.phase, flow.variable, flow.change.name, flow.total)
    forward W All-Gather (N-1)LOI
    backward W All-Gather (N-1)LOI
    backward dW Reduce-Scatter (N-1)LOI
    """
    between = tuple((_boundaries if strategy.is_pipeline else _activations)(strategy, habits))
    layers = (*(() if strategy.is_pipeline else between), *_attention(strategy))
    again = [replace(flow, phase="backward") for flow in layers if flow.phase == "forward"]
    every = (*between, *_attention(strategy), *_weights(strategy, habits))
    if habits.recompute:
        every = (*every, *again)
    return tuple(flow for flow in every if flow.change.kind is not None)


def _boundaries(strategy: Strategy, habits: Habits) -> Iterator[Flow]:
    """What a stage hands to the next, and gets back."""
    chunks = expression(habits.chunks)
    size, times, own = strategy.width * B * D, chunks * N - 1, chunks
    if habits.boundaries is not None:
        times, own = map(expression, habits.boundaries)
    yield Flow("forward", "Y", size, times, primitive(CENTRALIZED, Centralized(1)), own)
    yield Flow("backward", "dX", size, times, primitive(Centralized(1), CENTRALIZED), own)


def _activations(strategy: Strategy, habits: Habits) -> Iterator[Flow]:
    """What moves between layers: forward from a layer's Y to the next one's X, backward from dX to dY."""
    size, runs = strategy.width * B * D, L / len(strategy.splits)
    first, last = strategy.splits[0], strategy.splits[-1]
    ends = [] if strategy.boundary is None else [strategy.boundary]
    yield from _chain("forward", "Y", "X", strategy.splits, ends, size, runs)
    yield from _chain("backward", "dX", "dY", strategy.splits[::-1], ends, size, runs)
    at_rest = ends[0] if ends else _handed_on(made("Y", last))
    if habits.regather and isinstance(at_rest, Partitioned) and needed("X", first) == REPLICATED:
        yield Flow("backward", "X", size, runs, primitive(at_rest, REPLICATED))


def _chain(
    phase: Phase,
    output: str,
    operand: str,
    splits: tuple[str, ...],
    ends: list[State],
    size: Expression,
    runs: Expression,
) -> Iterator[Flow]:
    """From each layer's result to the next one's operand, round to the first, by the boundary if any."""
    results = [_handed_on(made(output, split)) for split in splits]
    wanted = [_handed_on(needed(operand, split)) for split in splits]
    for result, following in zip(results[:-1], wanted[1:], strict=True):
        yield Flow(phase, output, size, runs, primitive(result, following))
    way = [results[-1], *ends, wanted[0]]
    for result, following in pairwise(way):
        yield Flow(phase, output, size, runs, primitive(result, following))


def _handed_on(state: State) -> State:
    """A state under the name that its dimension has between layers."""
    return Partitioned(NEXT.get(state.dim, state.dim)) if isinstance(state, Partitioned) else state


def _attention(strategy: Strategy) -> Iterator[Flow]:
    """What attention moves where tokens are partitioned: to see all keys and values, or whole heads."""
    if not strategy.attention:
        return
    at_rest, split = Partitioned("S"), strategy.attention
    operands = ("Q", "K", "V")
    for variable in operands:
        yield Flow("forward", variable, B * D, L, primitive(at_rest, _same(needed(variable, split))))
    yield Flow("forward", "Z", B * D, L, primitive(_same(made("Z", split)), at_rest))
    yield Flow("backward", "dZ", B * D, L, primitive(at_rest, _same(needed("dZ", split))))
    for variable in operands:
        if needed(variable, split) == REPLICATED:
            # whole keys and values were not kept
            yield Flow("backward", variable, B * D, L, primitive(at_rest, REPLICATED))
    for product in (*VALUES.adjoints(), *SCORES.adjoints()):
        if product.output.removeprefix("d") in operands:
            result = _same(made(product.output, split))
            yield Flow("backward", product.output, B * D, L, primitive(result, at_rest))


def _same(state: State) -> State:
    """Tokens cut for attention are tokens cut by the sequence."""
    return Partitioned("S") if state == Partitioned("B") else state


def _weights(strategy: Strategy, habits: Habits) -> Iterator[Flow]:
    """What moves because weights are needed by ranks that share the tokens."""
    split = strategy.splits[0]
    size, need, gradient = O * I, needed("W", split), made("dW", split)
    if need != REPLICATED:
        return
    each = L * habits.microbatches
    if strategy.zero == 3:
        yield Flow("forward", "W", size, each, primitive(SHARD, need))
        if habits.reshard:
            yield Flow("backward", "W", size, each, primitive(SHARD, need))
    rest, times = SHARD if strategy.zero else REPLICATED, each if strategy.zero >= 2 else L
    yield Flow("backward", "dW", size, times, primitive(gradient, rest))
    if strategy.zero in (1, 2):
        yield Flow("update", "W", size, L, primitive(SHARD, need))


_KORTHIKANTI: Final = "Korthikanti et al. 2022"
_ZERO: Final = "Rajbhandari et al. 2020"

STRATEGIES: Final[Mapping[str, Strategy]] = MappingProxyType(
    {
        strategy.name: strategy
        for strategy in (
            Strategy(name="pp", title="Pipeline Parallelism (PP)", splits=("L",)),
            Strategy(name="dp", title="Data Parallelism (DP)", splits=("B",)),
            Strategy(name="tp-column", title="Tensor Parallelism, column (TP)", splits=("O",)),
            Strategy(name="tp-row", title="Tensor Parallelism, row (TP)", splits=("I",)),
            Strategy(name="fsdp", title="Fully Sharded Data Parallel (FSDP, ZeRO-3)", splits=("B",), zero=3),
            Strategy(
                name="tp",
                title="Tensor Parallelism, column then row",
                splits=("O", "I"),
                boundary=REPLICATED,
                source="Shoeybi et al. 2019",
            ),
            Strategy(
                name="sp",
                title="Sequence Parallelism on top of it (SP)",
                splits=("O", "I"),
                boundary=Partitioned("S"),
                source=_KORTHIKANTI,
            ),
            Strategy(name="zero-1", title="ZeRO-1", splits=("B",), zero=1, source=_ZERO),
            Strategy(name="zero-2", title="ZeRO-2", splits=("B",), zero=2, source=_ZERO),
            Strategy(
                name="cp-ring",
                title="Context Parallelism, ring attention (CP)",
                splits=("S",),
                attention="B",
                source="Liu, Zaharia and Abbeel 2023",
            ),
            Strategy(
                name="cp-ulysses",
                title="Context Parallelism, Ulysses (CP)",
                splits=("S",),
                attention="H",
                source="Jacobs et al. 2023",
            ),
            Strategy(
                name="ep",
                title="Expert Parallelism (EP)",
                splits=(ROUTED,),
                boundary=Partitioned("B"),
                source="Lepikhin et al. 2020",
            ),
        )
    }
)

SEED_ROWS: Final = ("pp", "dp", "tp-column", "tp-row", "fsdp")
"""Those in the second seed document's tables, in its order."""
