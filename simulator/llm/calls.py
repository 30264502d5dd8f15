"""Collective calls of a step: who takes part, what they do, on how many bytes, and how often."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from algorithms.collective import KINDS, Place
from simulator.llm.plan import Axis, Parallel
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

if TYPE_CHECKING:
    from numpy.typing import NDArray

Phase: TypeAlias = Literal["forward", "backward", "update"]


@dataclass(frozen=True, slots=True)
class Group:
    """Ranks that take part in a collective together: those that differ along some axes.

    Attributes
    ----------
    name : str
    axes : tuple of str
    part : {'all', 'near', 'far', 'mirror'}
        All of them; runs of `run` neighbours; those in the same place of each run; a pipeline stage
        and the one as far from the other end.
    run : int
    """

    name: str
    axes: tuple[Axis, ...]
    part: Literal["all", "near", "far", "mirror"] = "all"
    run: int = 1

    def size(self, parallel: Parallel) -> int:
        """Ranks that take part together."""
        whole = prod(parallel.mesh[axis] for axis in self.axes)
        match self.part:
            case "near":
                return self.run
            case "far":
                return whole // self.run
            case "mirror":
                return min(whole, 2)
        return whole

    def members(self, parallel: Parallel, stage: int) -> NDArray[np.int64]:
        """Ranks of every such group in a pipeline stage, or across all where the axes include pp.

        Returns
        -------
        ndarray of int64, shape (groups, size)

        Examples
        --------
        >>> plan = Parallel(tp=2, dp=4, pp=2)
        >>> Group("dp", ("ep", "dp")).members(plan, 1).tolist()
        [[8, 10, 12, 14], [9, 11, 13, 15]]
        >>> Group("dp", ("ep", "dp"), "far", 2).members(plan, 0).tolist()
        [[0, 4], [2, 6], [1, 5], [3, 7]]
        """
        mesh = parallel.mesh
        order = list(mesh)[::-1]
        ranks = np.arange(parallel.ranks).reshape([mesh[axis] for axis in order])
        if "pp" not in self.axes:
            ranks = ranks.take([stage], axis=order.index("pp"))
        inside = [i for i, axis in enumerate(order) if axis in self.axes]
        outside = [i for i, axis in enumerate(order) if axis not in self.axes]
        whole = prod(mesh[axis] for axis in self.axes)
        groups: NDArray[np.int64] = ranks.transpose(outside + inside).reshape(-1, whole)
        match self.part:
            case "near":
                return groups.reshape(-1, self.run)
            case "far":
                runs = groups.reshape(-1, whole // self.run, self.run)
                return runs.transpose(0, 2, 1).reshape(-1, whole // self.run)
            case "mirror":
                return groups[:, [stage, -1 - stage]] if whole > 1 else groups
        return groups


@dataclass(frozen=True, slots=True)
class Call:
    """A collective, as often as a step has it, by every group of its kind in a stage.

    Attributes
    ----------
    group : Group
    phase : {'forward', 'backward', 'update'}
    what : str
        What is moved, for people.
    kind : str
        One of the catalogue's collectives.
    size : Fraction
        M in bytes as the catalogue counts it; of an All-to-All what one rank has for all.
    times : Fraction
        In a step.
    stage : int
        Pipeline stage whose ranks send.
    peer : int, optional
        The stage that a Send/Recv goes to.
    """

    group: Group
    phase: Phase
    what: str
    kind: str
    size: Fraction
    times: Fraction
    stage: int
    peer: int | None = None

    def rank_bytes(self, parallel: Parallel) -> Fraction:
        """Bytes that the rank that sends most sends in a step, at least."""
        return rank_share(self.kind, self.group.size(parallel)) * self.size * self.times

    def total_bytes(self, parallel: Parallel) -> Fraction:
        """Bytes that all ranks of all its groups send in a step, at least."""
        return self.group_share(parallel) * self.size * self.times * self.groups(parallel)

    def senders(self, parallel: Parallel) -> tuple[int, ...]:
        """Stages whose ranks send."""
        mirror = parallel.pp - 1 - self.stage
        return (self.stage, mirror) if self.group.part == "mirror" else (self.stage,)

    def group_share(self, parallel: Parallel) -> Fraction:
        """Bytes that a group sends, in units of M."""
        return total_share(self.kind, self.group.size(parallel))

    def groups(self, parallel: Parallel) -> int:
        """How many groups do it side by side."""
        ranks = parallel.ranks
        if self.peer is None and "pp" not in self.group.axes:
            ranks //= parallel.pp
        return ranks // prod(parallel.mesh[axis] for axis in self.group.axes) * self._parts(parallel)

    def _parts(self, parallel: Parallel) -> int:
        whole = prod(parallel.mesh[axis] for axis in self.group.axes)
        return {"near": whole // self.group.run, "far": self.group.run}.get(self.group.part, 1)


def that_send(calls: Iterable[Call], parallel: Parallel) -> Iterator[Call]:
    """Those of some calls that move anything: neither in groups of one, nor of no bytes, nor never."""
    return (call for call in calls if call.times and call.rank_bytes(parallel))


@cache
def primitive_of(kind: str) -> Primitive:
    """The primitive that a collective of the catalogue is.

    >>> primitive_of("all_to_all").name, str(primitive_of("all_to_all").exact_total)
    ('All-to-All', '(N-1)M/N')
    """
    before: Mapping[Place, State] = {"root": CENTRALIZED, "each": Partitioned("a"), "every": PARTIAL}
    after: Mapping[Place, State] = {
        "root": CENTRALIZED,
        "peer": Centralized(1),
        "each": Partitioned("b"),
        "every": REPLICATED,
    }
    return primitive(before[KINDS[kind].source], after[KINDS[kind].target])


@cache
def rank_share(kind: str, ranks: int) -> Fraction:
    """What the rank that sends most sends at least, in units of the catalogue's M; 0 alone.

    >>> rank_share("allreduce", 8), rank_share("all_to_all", 8)
    (Fraction(7, 4), Fraction(7, 8))
    """
    return _share(kind, ranks, primitive_of(kind).exact_rank.at(N=ranks, M=_whole(kind, ranks)))


@cache
def total_share(kind: str, ranks: int) -> Fraction:
    """What all ranks send at least, in units of the catalogue's M; 0 for one alone."""
    return _share(kind, ranks, primitive_of(kind).exact_total.at(N=ranks, M=_whole(kind, ranks)))


def _share(kind: str, ranks: int, share: Fraction) -> Fraction:
    # a Send/Recv has its own two ranks, however many the group has
    return share if ranks > 1 or KINDS[kind].target == "peer" else Fraction(0)


def _whole(kind: str, ranks: int) -> int:
    """The whole variable in units of the catalogue's M."""
    return ranks if kind == "all_to_all" else 1
