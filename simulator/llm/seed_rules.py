"""The second seed document's own rules: what it counts, and when that is what must be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from simulator.llm.products import is_related, made, needed
from simulator.llm.states import (
    CENTRALIZED,
    PARTIAL,
    REPLICATED,
    Partitioned,
    State,
    primitive,
    storage,
)
from simulator.llm.strategies import SHARD, USUAL, B, Flow, Habits, I, L, N, O, Strategy, flows, states
from simulator.llm.symbols import Expression, expression, total

SIZES: Final[Mapping[str, Expression]] = {"X": L * B * I, "W": L * O * I, "Y": L * B * O}
"""Elements of each variable in all layers."""


@dataclass(frozen=True, slots=True)
class SeedTraffic:
    """The second seed document's figures of a transition, system totals.

    Attributes
    ----------
    name : str
    order : int
    exact : Expression
        As it adds them up: of second order, the primitives to and from one rank.
    rounded : Expression
        For N >> 1, as its tables have it.
    """

    name: str
    order: int
    exact: Expression
    rounded: Expression


def seed_traffic(source: State, target: State) -> SeedTraffic | None:
    """The second seed's figures, by its own rules: no partial state, all second order by way of one rank.

    None where it has none: to a partial sum, or from one dimension's partition to another's.

    Examples
    --------
    >>> found = seed_traffic(Partitioned(), REPLICATED)
    >>> found.name, found.order, str(found.exact), str(found.rounded)
    ('All-Gather', 2, '(N-1)(N+1)M/N', 'NM')
    >>> seed_traffic(REPLICATED, Partitioned()).name
    'Reduce-Scatter'
    """
    between = isinstance(source, Partitioned) and isinstance(target, Partitioned)
    if source == target or target == PARTIAL or between:
        return None
    # what its tables call replicated is partial wherever something is to be moved
    meant = PARTIAL if source == REPLICATED else source
    if meant == PARTIAL and target == REPLICATED:
        parts = [seed_traffic(PARTIAL, Partitioned()), seed_traffic(Partitioned(), REPLICATED)]
        exact = total(part.exact for part in parts if part)
        return SeedTraffic("Reduce-Scatter + All-Gather", 4, exact, exact.leading("N"))
    through = primitive(meant, target)
    exact = through.exact_total
    if through.order == 2:
        exact = primitive(meant, CENTRALIZED).exact_total + primitive(CENTRALIZED, target).exact_total
    return SeedTraffic(through.name, through.order, exact, exact.leading("N"))


def seed_states(strategy: Strategy) -> dict[str, tuple[State, ...]]:
    """States of X, W and Y with partial sums taken for copies, as the second seed does.

    >>> from simulator.llm.strategies import STRATEGIES
    >>> [str(state) for state in seed_states(STRATEGIES["tp-row"])["Y"]]
    ['R']
    """
    found = states(strategy)
    return {
        variable: tuple(REPLICATED if state == PARTIAL else state for state in found[variable])
        for variable in SIZES
    }


def stored(
    strategy: Strategy, *, prefetch: int = 0, in_place: bool = False, stays: bool = False
) -> dict[str, Expression]:
    """Elements that all ranks hold at most in inference, by variable.

    Weights of all layers are there at once; of activations only those of the layer that computes,
    one in every stage of a pipeline, whose B is the tokens of the micro-batch in it.

    Parameters
    ----------
    strategy : Strategy
    prefetch : int
        Layers whose weights FSDP has gathered ahead.
    in_place : bool
        Whether gathered weights take the place of the rank's own shard.
    stays : bool
        Whether gathered weights of all layers stay.

    Examples
    --------
    >>> from simulator.llm.strategies import STRATEGIES
    >>> {name: str(size) for name, size in stored(STRATEGIES["fsdp"]).items()}
    {'X': 'BI', 'W': 'LOI + NOI', 'Y': 'BO'}
    """
    split, last = strategy.splits[0], strategy.splits[-1]
    at_once = N if strategy.is_pipeline else expression(1)
    width = strategy.width * at_once
    weights = _copies(SHARD if strategy.zero == 3 else needed("W", split)) * SIZES["W"]
    if strategy.zero == 3:
        gathered = L if stays else expression(1 + prefetch)
        weights = weights + gathered * (N - int(in_place)) * SIZES["W"] / L
    return {
        "X": _copies(needed("X", split)) * width * SIZES["X"] / L,
        "W": weights,
        "Y": _copies(made("Y", last)) * width * SIZES["Y"] / L,
    }


def _copies(state: State) -> Expression:
    """How often all ranks together hold a variable."""
    return storage(state).replaced(M=1)


def seed_stored(strategy: Strategy) -> dict[str, Expression]:
    """The same as the second seed counts: where all variables have L, all layers' activations."""
    found = stored(strategy)
    if all(is_related(variable, strategy.splits[0]) for variable in SIZES):
        return {
            variable: _copies(needed(variable, strategy.splits[0])) * SIZES[variable] for variable in SIZES
        }
    return found


def coefficients(sizes: Mapping[str, Expression]) -> dict[str, Expression]:
    """Which part of all layers' variable a rank holds, from what all ranks hold.

    >>> from simulator.llm.strategies import STRATEGIES
    >>> found = coefficients(seed_stored(STRATEGIES["fsdp"]))
    >>> {name: str(part) for name, part in found.items()}
    {'X': '1/(NL)', 'W': '1/N + 1/L', 'Y': '1/(NL)'}
    """
    return {variable: size / N / SIZES[variable] for variable, size in sizes.items()}


def exact_forward(strategy: Strategy, habits: Habits = USUAL) -> Expression:
    """Elements that leave all ranks in a forward pass over B tokens, at least."""
    return total(flow.total for flow in flows(strategy, habits) if flow.phase == "forward")


def exact_training(strategy: Strategy, habits: Habits = USUAL) -> Expression:
    """Elements that leave all ranks in a training step over B tokens, at least."""
    return total(flow.total for flow in flows(strategy, habits))


def seed_forward(strategy: Strategy) -> Expression:
    """Elements moved forward as the second seed counts: for N >> 1, a hand-over after every layer."""
    return _seed_count(strategy, [flow for flow in flows(strategy) if flow.phase == "forward"])


def seed_training(strategy: Strategy) -> Expression | None:
    """The same of a training step, which it says of FSDP only.

    >>> from simulator.llm.strategies import STRATEGIES
    >>> print(seed_training(STRATEGIES["fsdp"]), seed_training(STRATEGIES["dp"]))
    3NLOI None
    """
    return _seed_count(strategy, flows(strategy)) if strategy.zero == 3 else None


def _seed_count(strategy: Strategy, counted: Iterable[Flow]) -> Expression:
    found = expression(0)
    for flow in counted:
        traffic = seed_traffic(flow.change.source, flow.change.target)
        if traffic is not None:
            times = L if strategy.is_pipeline else flow.times
            found = found + traffic.rounded.replaced(M=flow.size) * times
    return found


def agreement(seed: Expression, exact: Expression) -> str | None:
    """When a figure of the second seed is what must be: always, for N >> 1, for N = L; None if never.

    Examples
    --------
    >>> agreement(N * L * B, (N - 1) * L * B), agreement(L * B, (N - 1) * B)
    ('N >> 1', 'N = L >> 1')
    """
    if seed == exact:
        return "always"
    if seed.leading("N") == exact.leading("N"):
        return "N >> 1"
    at = {"N": L}
    if seed.replaced(**at) == exact.replaced(**at):
        return "N = L"
    if seed.replaced(**at).leading("L") == exact.replaced(**at).leading("L"):
        return "N = L >> 1"
    return None
