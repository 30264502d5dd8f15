"""Primitives held against what schedules of the catalogue send, and against the way round by one rank."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from algorithms.collective import KINDS, make_collective
from algorithms.compose import on, then
from algorithms.counts import count
from algorithms.errors import ScheduleError
from algorithms.proof import prove
from algorithms.registry import ALGORITHMS, build
from algorithms.schedule import Lists
from simulator.llm.errors import ModelError
from simulator.llm.states import Centralized, Primitive

if TYPE_CHECKING:
    from algorithms.schedule import Schedule
    from simulator.engine.network import Network
    from topologies.topology import Topology

PIECES: Final = 64
"""In which the primitives of first order send a whole vector along a chain, to hide its length."""


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What a built schedule of a primitive sends, beside what it must send at least.

    Attributes
    ----------
    algorithm : str or None
        The first of the catalogue that sends no more than it must, in all and at its busiest ranks;
        None where none does.
    ranks, size : int
        N, and M in bytes, the whole variable.
    total, busiest, received : int
        Bytes that all ranks send, that one rank sends at most, and that one receives at most.
    least_total, least_busiest, least_received : int
        The figures that they confirm.
    """

    algorithm: str | None
    ranks: int
    size: int
    total: int
    busiest: int
    received: int
    least_total: int
    least_busiest: int
    least_received: int

    @property
    def holds(self) -> bool:
        """Whether a schedule attains all figures at once."""
        return self.algorithm is not None


def confirm(primitive: Primitive, ranks: int, *, proven: bool = False) -> Confirmation:
    """Build schedules of a primitive until one sends exactly what must be sent, and count its bytes.

    M is N^2 bytes or a multiple, so that all shares are whole.

    Parameters
    ----------
    primitive : Primitive
    ranks : int
        N, 2 or more.
    proven : bool
        Whether to run the schedule on data, too.

    Raises
    ------
    ModelError
        If there are fewer than 2 ranks.
    ProofError
        If a schedule does not do what it should.

    Examples
    --------
    >>> from simulator.llm.states import REPLICATED, Partitioned, primitive
    >>> found = confirm(primitive(Partitioned("B"), REPLICATED), 8)
    >>> found.algorithm, found.holds, found.total == 7 * found.size
    ('ring', True, True)
    """
    if ranks < 2:
        raise ModelError(f"states differ on 2 ranks or more, found {ranks}", ("ranks",))
    size = 64 * ranks * ranks
    figures = (primitive.exact_total, primitive.exact_rank, primitive.exact_received)
    least = tuple(int(figure.at(N=ranks, M=size)) for figure in figures)
    if primitive.kind is None:
        return Confirmation("nothing moves", ranks, size, 0, 0, 0, 0, 0, 0)
    name, counted = _frugal(primitive, ranks, size, least)
    if proven and name:
        prove(build(name, primitive.kind, ranks, call_size(primitive.kind, ranks, size), **_root(primitive)))
    return Confirmation(name, ranks, size, *counted, *least)


def call_size(kind: str, ranks: int, size: int) -> int:
    """M as the catalogue counts it: of an All-to-All what one rank has, not what all have.

    >>> call_size("allgather", 8, 64), call_size("all_to_all", 8, 64)
    (64, 8)
    """
    return size // ranks if kind == "all_to_all" else size


def _frugal(
    primitive: Primitive, ranks: int, size: int, least: tuple[int, ...]
) -> tuple[str | None, tuple[int, int, int]]:
    kind = primitive.kind or ""
    best: tuple[int, int, int] | None = None
    for name in _able(kind):
        try:
            schedule = build(name, kind, ranks, call_size(kind, ranks, size), **_root(primitive))
        except ScheduleError:
            # made for other numbers of ranks
            continue
        counts = count(schedule)
        sent = (counts.bytes_sent_total, counts.bytes_sent_max, _received(schedule))
        if sent == tuple(least):
            return name, sent
        best = sent if best is None else min(best, sent)
    return None, best or (0, 0, 0)


@cache
def _able(kind: str) -> tuple[str, ...]:
    """Algorithms for a kind that need nothing said of dimensions or trees."""
    return tuple(
        name
        for name, algorithm in ALGORITHMS.items()
        if kind in algorithm.collectives and not {"dims", "tree"} & set(algorithm.options)
    )


def _root(primitive: Primitive) -> dict[str, Any]:
    """The ranks that the states name."""
    assert primitive.kind is not None
    kind, options = KINDS[primitive.kind], {}
    for state, option in ((primitive.source, "root"), (primitive.target, "peer")):
        if isinstance(state, Centralized):
            options["root" if kind.target != "peer" else option] = state.rank
    return options


def _received(schedule: Schedule) -> int:
    into = np.zeros(schedule.nodes, dtype=np.int64)
    np.add.at(into, schedule.dst, schedule.sizes())
    return int(into.max(initial=0))


def legs(kind: str, ranks: int, size: int, pieces: int = 1) -> tuple[Schedule, Schedule]:
    """The two primitives of first order that one of second order is remembered by: to rank 0, and from it.

    Parameters
    ----------
    kind : {'allgather', 'reduce_scatter', 'allreduce', 'all_to_all'}
    ranks, size : int
        N, and M in bytes, the whole variable.
    pieces : int
        In which a whole vector goes along a chain of ranks.

    Raises
    ------
    ModelError
        If it is of first order.
    """
    towards = {"each": "gather", "every": "reduce"}.get(KINDS[kind].source)
    away = {"each": "scatter", "every": "broadcast"}.get(KINDS[kind].target)
    if towards is None or away is None:
        raise ModelError(f"{kind} is of first order", ("kind",))
    return _leg(towards, ranks, size, pieces), _leg(away, ranks, size, pieces)


def _leg(kind: str, ranks: int, size: int, pieces: int) -> Schedule:
    if KINDS[kind].by_rank:
        return build("linear", kind, ranks, size)
    return build("chain", kind, ranks, size, segments=pieces)


def by_way_of_one_rank(kind: str, ranks: int, size: int) -> Schedule:
    """A primitive of second order as its two legs, in one schedule that can be proven.

    Parameters
    ----------
    kind, ranks, size
        As `legs`; the size of an All-to-All is a multiple of N^2.

    Examples
    --------
    >>> count(by_way_of_one_rank("allgather", 8, 64)).bytes_sent_total
    504
    """
    collective = make_collective(kind, ranks, call_size(kind, ranks, size))
    parts = []
    for leg in legs(kind, ranks, size):
        chunks = np.arange(collective.chunks)
        if kind == "all_to_all" and leg.collective.kind == "scatter":
            # what goes to rank d is chunk d of every source
            chunks = chunks.reshape(ranks, ranks).T.ravel()
        offsets = np.arange(leg.collective.chunks + 1) * (collective.chunks // leg.collective.chunks)
        parts.append(on(leg, collective, np.arange(ranks), Lists(offsets, chunks)))
    return then(parts, collective, algorithm="by way of rank 0")


@dataclass(frozen=True, slots=True)
class Detour:
    """A primitive of second order beside the two of first order that it is remembered by.

    Attributes
    ----------
    algorithm : str
        What does it directly.
    direct_bytes, detour_bytes : int
        Sent by all ranks.
    direct_busiest, detour_busiest : int
        Sent by the busiest rank.
    direct_time, detour_time : float
        Simulated s; of the two, one after the other, whole vectors in `PIECES` pieces along a chain.
    """

    algorithm: str
    direct_bytes: int
    detour_bytes: int
    direct_busiest: int
    detour_busiest: int
    direct_time: float
    detour_time: float


def detour(primitive: Primitive, size: int, topology: Topology, network: Network | None = None) -> Detour:
    """Simulate a primitive of second order directly, and by way of one rank.

    Parameters
    ----------
    primitive : Primitive
        Of second order.
    size : int
        M in bytes, the whole variable.
    topology : Topology
    network : Network, optional

    Raises
    ------
    ModelError
        If it is not of second order, or no schedule does it with as little as must be sent.
    """
    from simulator.engine.engines import simulate

    ranks = topology.ranks
    if primitive.kind is None or primitive.order != 2:
        raise ModelError(f"{primitive.name} is not of second order")
    found = confirm(primitive, ranks)
    if found.algorithm is None:
        raise ModelError(f"nothing does {primitive.name} on {ranks} ranks with as little as must be sent")
    direct = build(found.algorithm, primitive.kind, ranks, call_size(primitive.kind, ranks, size))
    around = by_way_of_one_rank(primitive.kind, ranks, size)
    counts = count(direct), count(around)
    time, *times = (
        simulate(schedule, topology, network).seconds
        for schedule in (direct, *legs(primitive.kind, ranks, size, PIECES))
    )
    return Detour(
        found.algorithm,
        counts[0].bytes_sent_total,
        counts[1].bytes_sent_total,
        counts[0].bytes_sent_max,
        counts[1].bytes_sent_max,
        time,
        sum(times),
    )
