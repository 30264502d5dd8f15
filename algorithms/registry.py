"""The algorithms that a scenario may name: one function and one line in a table for each."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from algorithms.catalogue import FLAT, Algorithm
from algorithms.collective import COLLECTIVES, check_ranks
from algorithms.errors import ScheduleError
from algorithms.hierarchical import hierarchical, hierarchical_rounds, hybrid, hybrid_dims, hybrid_rounds
from algorithms.rounds import Round
from algorithms.schedule import Schedule

NESTED: Mapping[str, Algorithm] = MappingProxyType(
    {
        algorithm.name: algorithm
        for algorithm in (
            Algorithm(
                "hierarchical",
                COLLECTIVES,
                hierarchical,
                hierarchical_rounds,
                "sum over levels i of the level's closed form on M/P_{i-1} with alpha_i, beta_i",
                "multilevel",
                "Cho, Finkler, Serrano, Kung and Hunter 2019 (BlueConnect)",
            ),
            Algorithm(
                "hybrid",
                COLLECTIVES,
                hybrid,
                hybrid_rounds,
                "N = m 2^k: (m-1 + k) alpha + (N-1)/N M (1/beta + 1/gamma)",
                "full_mesh",
                "Chan, Heimlich, Purkayastha and van de Geijn 2007 (hybrids)",
            ),
        )
    }
)


ALGORITHMS: Mapping[str, Algorithm] = MappingProxyType({**FLAT, **NESTED})


def find(name: str, kind: str) -> Algorithm:
    """The algorithm of that name, checked to do that collective.

    Raises
    ------
    ScheduleError
        If there is no such algorithm or collective, or it does something else.
    """
    if kind not in COLLECTIVES:
        raise ScheduleError(f'there is no collective "{kind}"', ("kind",))
    if name not in ALGORITHMS:
        raise ScheduleError(f'there is no algorithm "{name}"', ("algorithm",))
    algorithm = ALGORITHMS[name]
    if kind not in algorithm.collectives:
        able = ", ".join(a.name for a in ALGORITHMS.values() if kind in a.collectives)
        raise ScheduleError(f'"{name}" does no {kind}; {able} do', ("algorithm",))
    return algorithm


def build(name: str, kind: str, ranks: int, size: int, **options: Any) -> Schedule:
    """Schedule of a named algorithm.

    Parameters
    ----------
    name : str
        One of `ALGORITHMS`.
    kind : str
        One of `COLLECTIVES`.
    ranks, size : int
        N, and the full vector's M in bytes.
    **options
        What the algorithm takes, see `Algorithm.options`.

    Raises
    ------
    ScheduleError
        If the name, an option or N does not fit.

    Examples
    --------
    >>> build("ring", "reduce_scatter", 8, 2**30).steps
    7
    """
    algorithm, own, fallback = _resolve(name, kind, ranks, options)
    schedule = algorithm.build(kind, ranks, size, **own)
    return replace(schedule, algorithm=name, fallback=fallback or schedule.fallback)


def rounds(name: str, kind: str, ranks: int, size: int, **options: Any) -> tuple[Round, ...]:
    """Closed form of what `build` builds from the same arguments.

    An option that the closed form does not name makes no difference to it.

    Raises
    ------
    ScheduleError
        As `build`.
    """
    algorithm, own, _ = _resolve(name, kind, ranks, options)
    matters = inspect.signature(algorithm.rounds).parameters
    return algorithm.rounds(kind, ranks, size, **{key: own[key] for key in own if key in matters})


def dimensions(name: str, ranks: int, options: Mapping[str, Any]) -> tuple[int, ...]:
    """p_0 x p_1 x ... along which a named algorithm works: (N,) where it knows no dimensions."""
    if "dims" in options:
        return tuple(options["dims"])
    falls_back = options.get("non_power_of_two") == "hybrid" and ranks.bit_count() != 1
    return hybrid_dims(ranks) if name == "hybrid" or falls_back else (ranks,)


def _resolve(
    name: str, kind: str, ranks: int, options: Mapping[str, Any]
) -> tuple[Algorithm, dict[str, Any], str | None]:
    """The algorithm that does the work, its options, and the fallback if it is not the one named."""
    algorithm = find(name, kind)
    for option, value in options.items():
        if option not in algorithm.options:
            raise ScheduleError(f'"{name}" takes no {option}', (option,))
        _check_option(algorithm, option, value)
    check_ranks(ranks)
    own = dict(options)
    elsewhere = own.pop("non_power_of_two", "fold")
    if elsewhere == "fold" or ranks.bit_count() == 1:
        return algorithm, own, None
    if elsewhere == "error":
        raise ScheduleError(f"{name} needs N = 2^k ranks, found N = {ranks}", ("non_power_of_two",))
    return NESTED["hybrid"], own, "hybrid"


def _check_option(algorithm: Algorithm, option: str, value: Any) -> None:
    """Refuse a word, or a number, that the option's type does not allow."""
    if option == "non_power_of_two":
        wanted: Any = Literal["fold", "hybrid", "error"]
    else:
        # an optional word is as good as the word
        hint = get_type_hints(algorithm.build)[option]
        wanted = next((part for part in get_args(hint) if get_origin(part) is Literal), hint)
    if get_origin(wanted) is Literal and value not in get_args(wanted):
        words = " or ".join(get_args(wanted))
        raise ScheduleError(f"{option} must be {words}, found {value!r}", (option,))
    if wanted is int and type(value) is not int:
        raise ScheduleError(f"{option} must be a whole number, found {value!r}", (option,))
    if option == "dims" and not all(type(size) is int for size in value):
        raise ScheduleError(f"dims must be whole numbers, found {list(value)}", (option,))
