"""The scenarios that a comparison runs: one for every algorithm, or why not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from algorithms.algorithm import COMMON
from algorithms.registry import ALGORITHMS, able
from simulator.scenario.errors import ScenarioErrors, known

if TYPE_CHECKING:
    from simulator.scenario.models import Scenario


def check_sizes(scenario: Scenario, sizes: Sequence[int], own: int) -> None:
    """Refuse to vary a size that a scenario's collective does not have; its own is no other.

    Raises
    ------
    ScenarioErrors
    """
    choice = scenario.collective
    fixed = "sizes" in choice.options or choice.kind == "barrier"
    if not fixed or set(sizes) <= {own}:
        return
    why = "a barrier has no size" if choice.kind == "barrier" else "its blocks have sizes of their own"
    raise ScenarioErrors(
        [scenario.source.error(f"collective: {why}, so that none can vary", ("collective",))]
    )


def own_name(scenario: Scenario) -> str | None:
    """What a scenario's own code or steps go by beside the catalogue; None where it has none."""
    choice = scenario.collective
    if choice.own is None:
        return None
    return f"{choice.algorithm} (own)" if choice.algorithm in ALGORITHMS else choice.algorithm


def variants(scenario: Scenario, algorithms: Sequence[str] | None = None) -> dict[str, Scenario]:
    """The scenario by each algorithm that does its collective, or by those that were named.

    An algorithm is given the scenario's options that it takes.

    Raises
    ------
    CollsimError
        If there is none of a name.
    """
    kind, own = scenario.collective.kind, own_name(scenario)
    if algorithms is None:
        algorithms = able(kind) if own is None else (own, *able(kind))
    words = ALGORITHMS if own is None else (own, *ALGORITHMS)
    algorithms = [known(str(name), words, "algorithm") for name in algorithms]
    return {name: scenario if name == own else _by(scenario, name) for name in algorithms}


def _by(scenario: Scenario, name: str) -> Scenario:
    choice = scenario.collective
    if choice.own is None and choice.algorithm == name:
        return scenario
    taken = (*COMMON, *ALGORITHMS[name].options)
    options: dict[str, Any] = {key: value for key, value in choice.options.items() if key in taken}
    return replace(
        scenario, collective=replace(choice, algorithm=name, options=options, own=None, blocks=None)
    )


def unfit(scenario: Scenario) -> dict[str, str]:
    """Algorithms that do not do a scenario's collective, and that they do not."""
    kind = scenario.collective.kind
    return {name: f"does no {kind}" for name, known in ALGORITHMS.items() if kind not in known.collectives}


def reason_of(error: ScenarioErrors, scenario: Scenario) -> str:
    """The first thing that is wrong, in a line without its place; with the option that does not fit."""
    first = error.errors[0]
    message = first.message.removeprefix("collective: ")
    option = str(first.at[1]) if first.at[:1] == ("collective",) and len(first.at) > 1 else ""
    return f"{option}: {message}" if option in scenario.collective.options else message
