"""The states that a variable may have on N ranks, and what turns one into another.

A state says which rank holds which share. What a rank needs after and has not before must come
from somewhere, and what is partial must be summed on the way: from that alone follow the
primitive, its order and its traffic. M is the whole variable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Final, TypeAlias

from algorithms.collective import KINDS, Place
from simulator.llm.errors import ModelError
from simulator.llm.symbols import Expression, expression, symbol


@dataclass(frozen=True, slots=True)
class Partitioned:
    """Every rank holds one part of N along a dimension; M in all."""

    dim: str = ""

    def __str__(self) -> str:
        return f"P({self.dim})" if self.dim else "P"


@dataclass(frozen=True, slots=True)
class Replicated:
    """Every rank holds all of it; NM in all."""

    def __str__(self) -> str:
        return "R"


@dataclass(frozen=True, slots=True)
class Centralized:
    """One rank holds all of it; M in all."""

    rank: int = 0

    def __str__(self) -> str:
        return "C" if self.rank == 0 else f"C{self.rank}"


@dataclass(frozen=True, slots=True)
class Partial:
    """Every rank holds an addend of the size of the whole; their sum is the variable; NM in all."""

    def __str__(self) -> str:
        return "Σ"


State: TypeAlias = Partitioned | Replicated | Centralized | Partial

REPLICATED: Final = Replicated()
CENTRALIZED: Final = Centralized()
PARTIAL: Final = Partial()

Cell: TypeAlias = tuple[int, int]
Shares: TypeAlias = tuple[frozenset[Cell], ...]
"""What each rank holds: cells of a variable that is cut into N x N."""


def shares(state: State, ranks: int, axis: int = 0) -> Shares:
    """What each rank holds in a state.

    Parameters
    ----------
    state : State
    ranks : int
        N.
    axis : {0, 1}
        Along which side of the N x N cells a partition cuts.

    Examples
    --------
    >>> [sorted(held) for held in shares(Partitioned("B"), 2)]
    [[(0, 0), (0, 1)], [(1, 0), (1, 1)]]
    """
    whole = frozenset((i, j) for i in range(ranks) for j in range(ranks))
    match state:
        case Partitioned():
            return tuple(frozenset(cell for cell in whole if cell[axis] == r) for r in range(ranks))
        case Centralized(owner):
            return tuple(whole if r == owner % ranks else frozenset() for r in range(ranks))
        case _:
            return (whole,) * ranks


def storage(state: State) -> Expression:
    """What all ranks hold together, in M and N.

    >>> print(storage(Partitioned("B")), storage(REPLICATED), storage(CENTRALIZED), storage(PARTIAL))
    M NM M NM
    """
    return _fitted(lambda n: sum(_part(held, n) for held in shares(state, n)) or Fraction(0))


@dataclass(frozen=True, slots=True)
class Primitive:
    """What turns one state into another.

    Attributes
    ----------
    source, target : State
    kind : str or None
        The collective of the catalogue; None where nothing moves.
    name : str
    order : int
        0 where nothing moves, 1 where the variable is in one place before or after, 2 otherwise.
    legs : tuple of str
        The primitives of first order that, one after the other, do the same: by way of one rank.
    exact_total : Expression
        What leaves all ranks at least, in M and N.
    exact_rank : Expression
        What leaves the rank that sends most, at least.
    exact_received : Expression
        What reaches the rank that receives most, at least.
    """

    source: State
    target: State
    kind: str | None
    name: str
    order: int
    legs: tuple[str, ...]
    exact_total: Expression
    exact_rank: Expression
    exact_received: Expression


_NAMES: Final = {"allgather": "All-Gather", "allreduce": "All-Reduce", "send_recv": "Send/Recv"}


def title(kind: str) -> str:
    """A collective's name as texts write it.

    >>> title("reduce_scatter"), title("allgather"), title("all_to_all")
    ('Reduce-Scatter', 'All-Gather', 'All-to-All')
    """
    return _NAMES.get(kind) or "-".join(word.capitalize() for word in kind.split("_")).replace("-To-", "-to-")


@cache
def primitive(source: State, target: State) -> Primitive:
    """What turns one state into another, derived from who holds which share.

    Examples
    --------
    >>> gather = primitive(Partitioned("B"), REPLICATED)
    >>> gather.name, gather.order, gather.legs, str(gather.exact_total), str(gather.exact_rank)
    ('All-Gather', 2, ('Gather', 'Broadcast'), '(N-1)M', '(N-1)M/N')
    >>> primitive(PARTIAL, Partitioned("B")).name, primitive(REPLICATED, Partitioned("B")).name
    ('Reduce-Scatter', 'slice')
    """
    moves = any(_lacking(source, target, 3))
    kind = _kind(source, target) if moves else None
    legs = _legs(source, target) if moves else ()
    return Primitive(
        source,
        target,
        kind,
        title(kind) if kind else _local_name(source, target),
        len(legs),
        legs,
        _fitted(lambda n: _least_total(source, target, n)),
        _fitted(lambda n: _least_sent(source, target, n)),
        _fitted(lambda n: _least_received(source, target, n)),
    )


def _axes(source: State, target: State) -> tuple[int, int]:
    """Sides of the cells that source and target cut: two where they cut different dimensions."""
    both = isinstance(source, Partitioned) and isinstance(target, Partitioned)
    return (0, 1) if both and source != target else (0, 0)


def _held(source: State, target: State, ranks: int) -> tuple[Shares, Shares]:
    before, after = _axes(source, target)
    return shares(source, ranks, before), shares(target, ranks, after)


def _lacking(source: State, target: State, ranks: int) -> Shares:
    """What each rank needs after and has not before.

    An addend is not the value that it is part of, so that of a partial variable a rank has
    nothing; and whatever has its value somewhere can be written as a sum, with zeros elsewhere.
    """
    before, after = _held(source, target, ranks)
    if target == PARTIAL:
        return (frozenset(),) * ranks
    if source == PARTIAL:
        return after
    return tuple(needs - has for has, needs in zip(before, after, strict=True))


def _part(cells: frozenset[Cell], ranks: int) -> Fraction:
    return Fraction(len(cells), ranks * ranks)


def _takers(source: State, target: State, ranks: int) -> dict[Cell, int]:
    """How many ranks lack each cell."""
    takers: dict[Cell, int] = {}
    for cells in _lacking(source, target, ranks):
        for cell in cells:
            takers[cell] = takers.get(cell, 0) + 1
    return takers


def _least_total(source: State, target: State, ranks: int) -> Fraction:
    """Each cell is sent once to every rank that lacks it; N addends take N - 1 messages for the first."""
    first = ranks - 1 if source == PARTIAL else 1
    sent = sum(first + takers - 1 for takers in _takers(source, target, ranks).values())
    return Fraction(sent, ranks * ranks)


def _least_sent(source: State, target: State, ranks: int) -> Fraction:
    """The larger of an even share, and of what only one rank has and others must get."""
    lacking = _lacking(source, target, ranks)
    held = shares(source, ranks, _axes(source, target)[0])
    must = [Fraction(0)]
    for rank, cells in enumerate(held):
        elsewhere = frozenset().union(*(lacks for other, lacks in enumerate(lacking) if other != rank))
        alone = source == PARTIAL or not any(cells & other for i, other in enumerate(held) if i != rank)
        must.append(_part(cells & elsewhere, ranks) if alone else Fraction(0))
    return max(*must, _least_total(source, target, ranks) / ranks)


def _least_received(source: State, target: State, ranks: int) -> Fraction:
    """The larger of an even share, and of what a rank lacks."""
    lacking = max(_part(cells, ranks) for cells in _lacking(source, target, ranks))
    return max(lacking, _least_total(source, target, ranks) / ranks)


def _kind(source: State, target: State) -> str:
    """The collective that the catalogue defines by the same places before and after."""
    before, after = _place(source), _place(target)
    if before == "root" == after:
        after = "peer"
    return next(name for name, kind in KINDS.items() if (kind.source, kind.target) == (before, after))


def _place(state: State) -> Place:
    """Where the catalogue would say that a variable is: one rank, one for each chunk, or every rank."""
    held = shares(state, 3)
    if sum(map(bool, held)) == 1:
        return "root"
    return "each" if not held[0] & held[1] else "every"


def _local_name(source: State, target: State) -> str:
    """What each rank does by itself."""
    if source == target:
        return "-"
    if target == PARTIAL:
        return "scale" if source == REPLICATED else "zero-pad"
    return "drop" if isinstance(target, Centralized) else "slice"


def _legs(source: State, target: State) -> tuple[str, ...]:
    """The shortest way on which one rank holds everything before or after every primitive."""
    if isinstance(source, Centralized) or isinstance(target, Centralized):
        return (title(_kind(source, target)),)
    return (title(_kind(source, CENTRALIZED)), title(_kind(CENTRALIZED, target)))


_FIT: Final = (2, 3, 4, 5)
_CHECK: Final = (6, 7)


def _fitted(value: Callable[[int], Fraction]) -> Expression:
    """The expression in M and N that has these values: a sum of N, 1, 1/N and 1/N^2, times M.

    Raises
    ------
    ModelError
        If there is none.
    """
    n = symbol("N")
    found = expression(0)
    for here in _FIT:
        basis = expression(value(here) * here * here)
        for other in _FIT:
            if other != here:
                basis = basis * (n - other) / (here - other)
        found = found + basis
    found = found / (n * n)
    for here in _CHECK:
        if found.at(N=here) != value(here):
            raise ModelError("no expression in N fits")
    return found * symbol("M")


STATES: Final[tuple[State, ...]] = (Partitioned(), REPLICATED, CENTRALIZED, PARTIAL)
"""One of each."""
