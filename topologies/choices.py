"""Which of several equally short next links a message takes: the preferred, a hashed one, each in turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Column: TypeAlias = "NDArray[np.int64]"
State: TypeAlias = "NDArray[Any]"
"""What a choice goes by, one a message; integers of whatever width the chooser works in."""


@dataclass(frozen=True, slots=True, eq=False)
class Fork:
    """Where messages stand, one row a message: equally short links to choose from.

    Attributes
    ----------
    first : ndarray of int, shape (messages,)
        Link preferred over the others; its parallels follow it.
    count : ndarray of int64
        Number of links to choose from, 1 or more.
    node : ndarray of int64
        Where the message stands.
    paths : PathCounts or None
        How many paths begin with each link; None where with each as many.
    """

    first: NDArray[np.integer]
    count: Column
    node: Column
    paths: PathCounts | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PathCounts:
    """Shortest paths that begin with each link of a fork.

    Attributes
    ----------
    start : ndarray of int64, shape (messages,)
        The choices of message m are weight[start[m]:][:count[m]].
    uneven : ndarray of bool, shape (messages,)
        Whether they differ.
    weight : ndarray of int64
        Number of paths, at most 2^16.
    lanes : ndarray of int64, shape (messages,)
        Into how many each of them falls apart past what is counted there.
    """

    start: Column
    uneven: NDArray[np.bool_]
    weight: Column
    lanes: Column


class Chooser(Protocol):
    """A rule by which messages choose."""

    weighs: ClassVar[bool]
    """Whether it needs to know how many paths begin with each link."""

    def choose(self, fork: Fork, state: State) -> tuple[Column, State]:
        """Position among the choices that each message takes, and its state from there on."""


def choose(
    chooser: Chooser | None, first: Column, count: Column, node: Column, state: State
) -> tuple[Column, State]:
    """Choose among parallel links: `count` that begin with `first`, or without a chooser that one."""
    if chooser is None:
        return first, state
    choice, state = chooser.choose(Fork(first, count, node), state)
    return first + choice, state


@dataclass(frozen=True, slots=True, eq=False)
class Preferred:
    """The preferred link, or of k that are parallel number r mod k; the state is the rank r.

    Attributes
    ----------
    lanes : ndarray of int64, shape (links,)
        Parallel links that begin at each link.
    """

    weighs: ClassVar[bool] = False
    lanes: Column

    def choose(self, fork: Fork, state: State) -> tuple[Column, State]:
        """Position of the link, and the same state."""
        return state % self.lanes[fork.first], state


@dataclass(frozen=True, slots=True)
class Hashed:
    """The link that a hash of the flow and the node picks; the state is the flow's, see `mixed`."""

    weighs: ClassVar[bool] = False

    def choose(self, fork: Fork, state: State) -> tuple[Column, State]:
        """Position of the link, and the same state."""
        choice = np.zeros(len(fork.count), dtype=np.int64)
        some = np.flatnonzero(fork.count > 1)
        drawn = below_2_32(mixed(state[some], fork.node[some]))
        choice[some] = drawn % fork.count[some].astype(np.uint32)
        return choice, state


@dataclass(frozen=True, slots=True)
class InTurn:
    """Each link in turn, as long as it has paths left; the state says which of the paths from here.

    Messages with states 0, 1, 2, ... take the next link of every fork as often as paths begin with it,
    and no path twice before all have been taken (of more than 2^16 from a fork, no link more often).
    """

    weighs: ClassVar[bool] = True

    def choose(self, fork: Fork, state: State) -> tuple[Column, State]:
        """Position of the link, and which of the paths from there."""
        choice, onward = state % fork.count, state // fork.count
        if fork.paths is not None and fork.paths.uneven.any():
            some = np.flatnonzero(fork.paths.uneven)
            choice[some], onward[some] = _turn(_table(fork.paths, fork.count, some), state[some])
        return choice, onward


def _table(paths: PathCounts, count: Column, some: Column) -> Column:
    """Paths by message and choice; 0 past the last choice."""
    column = np.arange(count[some].max())
    at = np.minimum(paths.start[some, None] + column, len(paths.weight) - 1)
    weight = paths.weight[at] * paths.lanes[some, None]
    return np.where(column < count[some, None], weight, 0)


def _turn(paths: Column, turn: Column) -> tuple[Column, Column]:
    """The choice that has the turn, and how often it had it before.

    >>> [column.tolist() for column in _turn(np.array([[1, 3]] * 4), np.arange(4))]
    [[0, 1, 1, 1], [0, 0, 1, 2]]
    """
    turn = turn % paths.sum(axis=1)
    choice, before = np.zeros_like(turn), np.zeros_like(turn)
    rounds, seeking = np.zeros_like(turn), np.arange(len(turn))
    while len(seeking):
        left = paths[seeking] > rounds[seeking, None]
        taking, shortest = left.sum(axis=1), np.where(left, paths[seeking], paths.max()).min(axis=1)
        among = taking * (shortest - rounds[seeking])
        found = turn[seeking] < among
        nth, row = turn[seeking] % taking, seeking[found]
        choice[row] = (np.cumsum(left, axis=1) == nth[:, None] + 1).argmax(axis=1)[found]
        before[row] = (rounds[seeking] + turn[seeking] // taking)[found]
        turn[seeking] -= among
        rounds[seeking] = shortest
        seeking = seeking[~found]
    return choice, before


def mixed(state: NDArray[np.uint64] | int, *parts: Column) -> NDArray[np.uint64]:
    """Hash of a state and all parts, by the finaliser of MurmurHash3 (Appleby 2011); itself a state.

    >>> three, five = np.array([3]), np.array([5])
    >>> bool(mixed(0, three, five) == mixed(mixed(0, three), five))
    True
    """
    for part in parts:
        state = np.asarray(state, dtype=np.uint64) ^ part.astype(np.uint64)
        state *= np.uint64(0x9E3779B97F4A7C15)
        state ^= state >> np.uint64(33)
        state *= np.uint64(0xFF51AFD7ED558CCD)
        state ^= state >> np.uint64(33)
    return np.asarray(state, dtype=np.uint64)


def below_2_32(state: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """The upper half of a state, which depends on all of it."""
    return (state >> np.uint64(32)).astype(np.uint32)
