"""The algorithms that a scenario may name, and what is done with the options of all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from algorithms.algorithm import COMMON, Algorithm, parameters
from algorithms.catalogue.composed import COMPOSED
from algorithms.catalogue.flat import FLAT
from algorithms.catalogue.hierarchical import HIERARCHICAL
from algorithms.catalogue.hybrid import HYBRID, hybrid_dims
from algorithms.catalogue.in_network import IN_NETWORK
from algorithms.catalogue.themis import THEMIS
from algorithms.collective import KINDS, check_kind, check_rank, check_ranks
from algorithms.compose import is_power_of_two
from algorithms.errors import ScheduleError
from algorithms.representative import Representative
from algorithms.rounds import Round, Totals
from algorithms.schedule import Schedule
from algorithms.sizes import resized
from algorithms.variation import rooted, segmented

ALGORITHMS: Mapping[str, Algorithm] = MappingProxyType(
    {**FLAT, **{a.name: a for a in (*IN_NETWORK, *HIERARCHICAL, *HYBRID, *THEMIS, *COMPOSED)}}
)


def find(name: str, kind: str) -> Algorithm:
    """The algorithm of that name, checked to do that collective.

    Raises
    ------
    ScheduleError
        If there is no such algorithm or collective, or it does something else.
    """
    check_kind(kind)
    if name not in ALGORITHMS:
        raise ScheduleError(f'there is no algorithm "{name}"', ("algorithm",))
    algorithm = ALGORITHMS[name]
    if kind not in algorithm.collectives:
        raise ScheduleError(f'"{name}" does no {kind}; {", ".join(able(kind))} do', ("algorithm",))
    return algorithm


def able(kind: str) -> tuple[str, ...]:
    """Algorithms that do a collective.

    Examples
    --------
    >>> able("send_recv")
    ('direct',)
    """
    return tuple(name for name, algorithm in ALGORITHMS.items() if kind in algorithm.collectives)


def build(name: str, kind: str, ranks: int, size: int = 0, **options: Any) -> Schedule:
    """Schedule of a named algorithm.

    Parameters
    ----------
    name : str
        One of `ALGORITHMS`.
    kind : str
        One of `COLLECTIVES`.
    ranks, size : int
        N, and the full vector's M in bytes; where `sizes` are given, theirs is the M that counts.
    **options
        What the algorithm takes, see `Algorithm.options`, and for all of them: `root` and `peer`
        where the collective has them, `segments` of every chunk, `sizes` of the ranks' blocks.

    Raises
    ------
    ScheduleError
        If the name, an option or N does not fit.

    Examples
    --------
    >>> build("ring", "reduce_scatter", 8, 2**30).steps
    7
    """
    asked = _resolve(name, kind, ranks, options)
    schedule = with_common(asked.algorithm.build(kind, ranks, size, **asked.own), asked.left)
    return replace(schedule, algorithm=name, fallback=asked.fallback or schedule.fallback)


def representative(name: str, kind: str, ranks: int, size: int, **options: Any) -> Representative | None:
    """Rank 0's part of what `build` builds from the same arguments, where it stands for everybody's.

    None where the algorithm is not the same from every rank with that collective, N and those options,
    or chunks that stand for each other differ in size.

    Raises
    ------
    ScheduleError
        As `build`.

    Examples
    --------
    >>> one = representative("ring", "allreduce", 8, 2**30)
    >>> len(one.schedule), one.group.order
    (14, 8)
    >>> representative("ring", "allreduce", 3, 2**30) is None
    True
    """
    asked = _resolve(name, kind, ranks, options)
    if asked.algorithm.representative is None or asked.fallback or asked.left not in ({}, {"segments": 1}):
        return None
    found = asked.algorithm.representative(kind, ranks, size, **asked.own)
    if found is None or not found.is_even:
        return None
    return replace(found, schedule=replace(found.schedule, algorithm=name))


def with_common(schedule: Schedule, options: Mapping[str, Any]) -> Schedule:
    """A schedule made for root 0 with those options of every algorithm that its builder did not see to.

    Raises
    ------
    ScheduleError
        If the segments or the sizes do not fit.
    """
    if options.get("root", 0):
        schedule = rooted(schedule, options["root"])
    schedule = segmented(schedule, options.get("segments", 1))
    if "sizes" in options:
        schedule = replace(schedule, collective=resized(schedule.collective, options["sizes"]))
    return schedule


def rounds(name: str, kind: str, ranks: int, size: int, **options: Any) -> tuple[Round, ...] | None:
    """Closed form of what `build` builds from the same arguments.

    An option that the closed form does not name makes no difference to it, but for those that it
    cannot know: None for blocks of given sizes, and for segments where it does not count them.

    Raises
    ------
    ScheduleError
        As `build`.
    """
    asked = _resolve(name, kind, ranks, options)
    known = parameters(asked.algorithm.rounds)
    if "sizes" in options or (options.get("segments", 1) > 1 and "segments" not in known):
        return None
    return asked.algorithm.rounds(kind, ranks, size, **_known(asked.algorithm.rounds, asked))


def totals(name: str, kind: str, ranks: int, **options: Any) -> Totals | None:
    """What the ranks together send and reduce in what `build` builds, in units of M.

    None for blocks of given sizes.

    Raises
    ------
    ScheduleError
        As `build`.
    """
    asked = _resolve(name, kind, ranks, options)
    if "sizes" in options:
        return None
    whole = asked.algorithm.totals(kind, ranks, **_known(asked.algorithm.totals, asked))
    return whole.scaled(messages=asked.left.get("segments", 1))


def dimensions(name: str, ranks: int, options: Mapping[str, Any]) -> tuple[int, ...]:
    """p_0 x p_1 x ... along which a named algorithm works: (N,) where it knows no dimensions."""
    if options.get("dims") is not None:
        return tuple(options["dims"])
    falls_back = options.get("non_power_of_two") == "hybrid" and not is_power_of_two(ranks)
    return hybrid_dims(ranks) if name == "hybrid" or falls_back else (ranks,)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What was asked for: the algorithm that does it, its own options, and those that are left to do."""

    algorithm: Algorithm
    own: Mapping[str, Any]
    left: Mapping[str, Any]
    fallback: str | None = None


def _known(function: Callable[..., object], asked: _Asked) -> dict[str, Any]:
    """The options that a closed form names."""
    known = parameters(function)
    return {key: value for key, value in {**asked.left, **asked.own}.items() if key in known}


def _resolve(name: str, kind: str, ranks: int, options: Mapping[str, Any]) -> _Asked:
    algorithm = find(name, kind)
    check_ranks(ranks)
    for option, value in options.items():
        if option in COMMON:
            check_common(kind, ranks, option, value)
        elif option not in algorithm.options:
            raise ScheduleError(f'"{name}" takes no {option}', (option,))
        else:
            _check_option(algorithm, option, value)
    own = {key: value for key, value in options.items() if key not in COMMON}
    elsewhere = own.pop("non_power_of_two", "fold")
    fallback = None
    if elsewhere != "fold" and not is_power_of_two(ranks):
        if elsewhere == "error":
            raise ScheduleError(f"{name} needs N = 2^k ranks, found N = {ranks}", ("non_power_of_two",))
        algorithm, fallback = ALGORITHMS["hybrid"], "hybrid"
        if kind not in algorithm.collectives:
            raise ScheduleError(f"there is no hybrid {kind}", ("non_power_of_two",))
        # how it would have folded makes no difference
        own = {key: value for key, value in own.items() if key in algorithm.options}
    native = parameters(algorithm.build)
    own |= {key: options[key] for key in COMMON if key in options and key in native}
    left = {key: options[key] for key in COMMON if key in options and key not in native}
    return _Asked(algorithm, own, left, fallback)


def check_common(kind: str, ranks: int, option: str, value: Any) -> None:
    """Refuse an option of every algorithm that the collective does not have, or a value out of range.

    Raises
    ------
    ScheduleError
    """
    if option == "root" and not KINDS[kind].rooted:
        raise ScheduleError(f"{kind} has no root", (option,))
    if option == "peer" and KINDS[kind].target != "peer":
        raise ScheduleError(f"{kind} has no peer", (option,))
    if option == "sizes":
        _check_listed(option, value)
        return
    _check_whole(option, value)
    if option != "segments":
        check_rank(value, ranks, option)


def _check_whole(option: str, value: Any) -> None:
    if type(value) is not int:
        raise ScheduleError(f"{option} must be a whole number, found {value!r}", (option,))


def _check_listed(option: str, value: Any) -> None:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise ScheduleError(f"{option} must be a list, found {value!r}", (option,))


@cache
def _hints(function: Callable[..., object]) -> Mapping[str, Any]:
    return get_type_hints(function)


def _check_option(algorithm: Algorithm, option: str, value: Any) -> None:
    """Refuse a word, or a number, that the option's type does not allow."""
    if option == "non_power_of_two":
        wanted: Any = Literal["fold", "hybrid", "error"]
    else:
        # an optional word is as good as the word
        hint = _hints(algorithm.build)[option]
        wanted = next((part for part in get_args(hint) if get_origin(part) is Literal), hint)
    if get_origin(wanted) is Literal and value not in get_args(wanted):
        words = " or ".join(get_args(wanted))
        raise ScheduleError(f"{option} must be {words}, found {value!r}", (option,))
    if wanted is int or (wanted == int | None and value is not None):
        _check_whole(option, value)
    if option in ("dims", "tree") and value is not None:
        _check_listed(option, value)
        if not all(type(size) is int for size in value):
            raise ScheduleError(f"{option} must be whole numbers, found {list(value)}", (option,))
