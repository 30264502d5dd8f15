"""Calls on a network: what plan each becomes, how long it takes alone, and which of them can meet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from algorithms.compose import side_by_side
from algorithms.messages import messages
from algorithms.schedule import COPY, REDUCE
from simulator.engine.engines import run_plan
from simulator.engine.jobs import Job
from simulator.engine.lower import lower_on
from simulator.engine.machine import Machine
from simulator.llm.calls import Call, Group, rank_share
from simulator.llm.group_schedules import dims_of, group_schedule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.engine.network import Network, Reduction
    from simulator.engine.plan import Plan
    from simulator.llm.plan import Parallel
    from topologies.paths import Routes
    from topologies.topology import Topology


SHIFT: Final = "shift"
SHIFT_AND_ADD: Final = "shift and add"
"""Each rank of a group sends to the next one, which keeps it, or adds it to what it has."""


@dataclass(frozen=True, slots=True)
class Way:
    """Who sends to whom by what collective, whatever the size.

    Attributes
    ----------
    group : Group
    kind : str
        One of the catalogue's collectives; or `SHIFT` or `SHIFT_AND_ADD`, a step of a ring.
    stage : int
        Pipeline stage whose groups do it, all at once.
    peer : int or None
        The stage that a Send/Recv goes to.
    back : bool
        Of tokens and experts: from the experts back, so that a loaded rank sends the most instead of
        being sent it.
    ranks : ndarray of int64, shape (groups, members), optional
        Who is in these groups, where no parallel plan says it; a way is known without them.
    """

    group: Group
    kind: str
    stage: int
    peer: int | None = None
    back: bool = False
    ranks: NDArray[np.int64] | None = field(default=None, compare=False, repr=False)

    def share(self, parallel: Parallel) -> Fraction:
        """What the rank that sends most sends at least, in units of the size."""
        if self.kind in (SHIFT, SHIFT_AND_ADD):
            return Fraction(1)
        return rank_share(self.kind, self.group.size(parallel))


def way_of(call: Call) -> Way:
    """The way of a call; gradients of what came back from experts go to them, and the other way round."""
    combines = call.what.startswith("combine")
    back = call.group.axes == ("ep",) and combines == (call.phase == "forward")
    return Way(call.group, call.kind, call.stage, call.peer, back)


class Algorithms(Protocol):
    """What says which algorithm does a kind of collective."""

    def algorithm(self, kind: str) -> str:
        """Name of the algorithm."""


@dataclass(slots=True, eq=False)
class Fabric:
    """A network on which the groups of a parallel plan do their calls.

    What was found out of a call is kept: a step has the same ones many times. One that is made by
    `dataclasses.replace` begins with nothing.

    Attributes
    ----------
    parallel : Parallel
    traffic : Algorithms
        Says which algorithm does a kind of collective.
    topology : Topology
        Of as many ranks.
    network : Network
    reduction : Reduction or None
    skew : float
        How many times the mean the rank with the most loaded experts is sent; the first of a group.
    """

    parallel: Parallel
    traffic: Algorithms
    topology: Topology
    network: Network
    reduction: Reduction | None = None
    skew: float = 1.0
    _plans: dict[tuple[Way, int], Plan] = field(default_factory=dict, init=False, repr=False)
    _routes: dict[bytes, Routes] = field(default_factory=dict, init=False, repr=False)
    _times: dict[tuple[Way, int], int] = field(default_factory=dict, init=False, repr=False)

    def plan(self, way: Way, size: int) -> Plan:
        """The plan of all groups of a way, with the bytes of every operation.

        Raises
        ------
        ModelError
            If the algorithm cannot do it.
        PlanError
            If it takes too long, or too much memory.
        """
        if (way, size) not in self._plans:
            machine = Machine(self.topology, self.network, self.reduction, known=self._routes)
            self._plans[way, size] = lower_on([self._job(way, size)], machine).plan
        return self._plans[way, size]

    def time(self, way: Way, size: int, engine: str = "auto") -> int:
        """Fs that it takes until the last rank has finished, with the network to itself."""
        if (way, size) not in self._times:
            self._times[way, size] = run_plan(self.plan(way, size), engine).time
        return self._times[way, size]

    def _job(self, way: Way, size: int) -> Job:
        members = way.group.members(self.parallel, way.stage) if way.ranks is None else way.ranks
        if way.peer is not None:
            ends = members[:, [way.stage, way.peer]] if way.ranks is None else members
            return _pairs(ends, size, COPY)
        if way.kind in (SHIFT, SHIFT_AND_ADD):
            there = np.stack([members, np.roll(members, -1, axis=1)], axis=-1)
            return _pairs(there, size, COPY if way.kind == SHIFT else REDUCE)
        name = self.traffic.algorithm(way.kind)
        dims = dims_of(self.topology, members[0]) if name == "hierarchical" else ()
        # between machines the loads of many ranks even out
        skew = self.skew if way.group.axes == ("ep",) and way.group.part != "far" else 1.0
        schedule = group_schedule(name, way.kind, members.shape[1], size, dims, skew, back=way.back)
        return Job(side_by_side(schedule, len(members)), members.ravel())


def _pairs(ends: NDArray[np.int64], size: int, mode: int) -> Job:
    """A message from the one rank of each pair to the other; none waits for another."""
    return Job(messages(size, ends.size // 2, mode=mode), ends.ravel(), sync="step")


def whole_bytes(call: Call) -> int:
    """M of a call in whole bytes; a part of a byte counts as one."""
    return ceil(call.size)


def that_meet(held: Iterable[tuple[object, NDArray[np.int32]]], resources: int) -> list[bool]:
    """Which of some sets of resources share one with a set of another owner.

    Parameters
    ----------
    held : iterable of (hashable, ndarray of int)
        Owner and resources of each set; what one owner does, it does one after the other.
    resources : int
        How many there are.

    Examples
    --------
    >>> held = [("tp", [0, 1]), ("tp", [1]), ("dp", [2]), ("pp", [2])]
    >>> that_meet([(owner, np.array(some)) for owner, some in held], 3)
    [False, False, True, True]
    """
    sets = list(held)
    owners = {owner: number for number, owner in enumerate(dict.fromkeys(owner for owner, _ in sets))}
    # the owner of each resource; -1 before there is one, and where there are several -2
    owner_of = np.full(resources, -1, dtype=np.int64)
    for owner, some in sets:
        taken = owner_of[some]
        owner_of[some] = np.where((taken == -1) | (taken == owners[owner]), owners[owner], -2)
    return [bool((owner_of[some] == -2).any()) for _, some in sets]
