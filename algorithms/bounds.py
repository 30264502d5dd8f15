"""Lower bounds on the time of a collective: what no algorithm can beat on this topology.

Chan, Heimlich, Purkayastha and van de Geijn (2007) for the textbook's; per rank and per sum of
all ranks here. The terms are not attainable together in general: the best bound is their
maximum, never their sum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.collective import EVERY, KINDS, bus_factor, check_same_ranks
from topologies.clock import femtoseconds, to_seconds
from topologies.errors import TopologyError
from topologies.ways import cheapest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.collective import Collective
    from topologies.topology import Topology

EVERY_PAIR: Final = 1024
"""Ranks up to which every pair is looked at for the farthest; past it, those that a few sweeps find."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Lower bounds, in seconds.

    Attributes
    ----------
    latency : float
        Of this model: the farthest pair of ranks, and where overhead holds the link
        ceil(log_{d+1} N) overheads, with d the ports of a rank.
    textbook_latency : float
        ceil(log2 N) alpha; a bound only where alpha is overhead, since latency is pipelined.
    bandwidth : float
        What a rank, or all ranks together, must send or receive.
    reduction : float
        (N - 1)/N M / gamma, or 0 where reducing is free, or switches can do it.
    """

    latency: float
    textbook_latency: float
    bandwidth: float
    reduction: float

    @property
    def best(self) -> float:
        """The largest of those that hold."""
        return max(self.latency, self.bandwidth, self.reduction)


@dataclass(frozen=True, slots=True)
class TextbookBounds:
    """The first seed's lower bounds, in seconds."""

    latency: float
    bandwidth: float


def textbook_bounds(
    kind: str, ranks: int, size: int, alpha: float, beta: float, ports: int = 1
) -> TextbookBounds:
    """ceil(log2 N) alpha, and (N - 1) M / (N d beta), twice that for an AllReduce.

    A Broadcast, a Reduce and a single transfer move all of M, and a single transfer takes one alpha.

    Parameters
    ----------
    kind : str
        One of `COLLECTIVES`.
    ranks, size : int
        N, and M in bytes.
    alpha, beta : float
        s, and bytes/s of a port.
    ports : int
        d, the links that a rank can send on at once.

    Examples
    --------
    >>> textbook_bounds("reduce_scatter", 8, 2**30, 1e-6, 64e9).bandwidth
    0.014680064
    """
    moved = size * (bus_factor(kind, ranks) or 0)
    return TextbookBounds(
        latency=_least_rounds(kind, ranks, 2) * alpha,
        bandwidth=float(moved / ports / Fraction(beta)),
    )


def ceil_log(number: int, base: int) -> int:
    """Smallest k with base^k >= number.

    >>> ceil_log(8, 2), ceil_log(9, 2), ceil_log(1, 3)
    (3, 4, 0)
    """
    power, k = 1, 0
    while power < number:
        power, k = power * base, k + 1
    return k


def lower_bounds(
    collective: Collective,
    topology: Topology,
    *,
    model: str,
    reduction: float | None = None,
    placement: NDArray[np.int64] | None = None,
    messages: int = 0,
) -> Bounds:
    """Bounds of a collective on a topology.

    Parameters
    ----------
    collective : Collective
    topology : Topology
        With as many ranks, or more where the placement says which of them take part.
    model : {'store_and_forward', 'cut_through', 'packet', 'fair_share'}
    reduction : float, optional
        gamma of every rank's reducer, bytes/s.
    placement : ndarray of int, optional
        The topology's rank of each rank.
    messages : int
        Most messages that a rank sends or receives; the bounds on bytes give way by one
        femtosecond for each, since every hold is rounded (`Counts.messages_max`).

    Raises
    ------
    ScheduleError
        If the topology has another number of ranks.
    TopologyError
        If a rank cannot reach another.
    """
    if placement is None:
        check_same_ranks(collective, topology)
    if collective.ranks == 1:
        return Bounds(0.0, 0.0, 0.0, 0.0)
    place = np.arange(topology.ranks) if placement is None else placement
    slack = to_seconds(messages)
    alpha = float((topology.links.latency + topology.links.overhead).min(initial=np.inf))
    reduced = 0.0
    if reduction is not None and (collective.source == EVERY).any() and not topology.reduces:
        reduced = (collective.ranks - 1) * collective.size / collective.ranks / reduction
    return Bounds(
        latency=_latency(collective, topology, model, place),
        textbook_latency=_least_rounds(collective.kind, collective.ranks, 2) * alpha,
        bandwidth=max(0.0, _bandwidth(collective, topology, place) - slack),
        reduction=max(0.0, reduced - slack),
    )


def _least_rounds(kind: str, ranks: int, growth: int) -> int:
    """Rounds in which N ranks can learn of one, or one of N, if each round multiplies the knowing ones."""
    return min(1, ranks - 1) if kind == "send_recv" else ceil_log(ranks, growth)


def _latency(collective: Collective, topology: Topology, model: str, place: NDArray[np.int64]) -> float:
    """Farthest pair that must hear of each other, or the rounds in which d ports can inform N ranks.

    Rounded as in a plan.
    """
    links = topology.links
    if not len(links):
        raise TopologyError("there are ranks with no way between them")
    overhead, latency = (_rounded(column) for column in (links.overhead, links.latency))
    farthest = _farthest(collective, place, _Ways(topology, latency, overhead, model))
    if not np.isfinite(farthest):
        raise TopologyError("there are ranks with no way between them")
    if topology.reduces or model == "fair_share":
        # a switch tells many in one round, and sums what many tell; so does who shares its links
        return to_seconds(int(farthest))
    ports = max(_ports(topology, links.src), _ports(topology, links.dst))
    rounds = _least_rounds(collective.kind, collective.ranks, ports + 1) * overhead.min()
    return to_seconds(int(max(farthest, rounds)))


def _rounded(seconds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Whole femtoseconds, as in a plan."""
    distinct, which = np.unique(seconds, return_inverse=True)
    return np.array([femtoseconds(t) for t in distinct.tolist()], dtype=np.float64)[which.ravel()]


def _farthest(collective: Collective, place: NDArray[np.int64], ways: _Ways) -> float:
    """Time to the farthest rank that the root must reach, or that must reach it; else of any pair."""
    kind = KINDS[collective.kind]
    if kind.target == "peer":
        return float(ways.to(place[collective.target[:1]])[0, place[collective.source[0]]])
    if kind.source == "root":
        return float(ways.backwards().to(place[collective.source[:1]])[0, place].max())
    if kind.target == "root":
        return float(ways.to(place[collective.target[:1]])[0, place].max())
    if len(place) <= EVERY_PAIR:
        return float(ways.to(place)[:, place].max())
    return _farthest_found(place, ways)


def _farthest_found(place: NDArray[np.int64], ways: _Ways) -> float:
    """The farthest pair of a few sweeps, each from the end of the one before; no less is a bound."""
    end, farthest = place[0], 0.0
    for one in (ways, ways.backwards()) * 2:
        away = one.to(np.array([end]))[0, place]
        end, farthest = place[np.argmax(away)], max(farthest, float(away.max()))
    return farthest


@dataclass(frozen=True, slots=True, eq=False)
class _Ways:
    """What a message of no bytes takes over each link, fs."""

    topology: Topology
    latency: NDArray[np.float64]
    overhead: NDArray[np.float64]
    model: str

    def backwards(self) -> _Ways:
        """The same network with all its links turned round."""
        links = replace(self.topology.links, src=self.topology.links.dst, dst=self.topology.links.src)
        return replace(self, topology=replace(self.topology, links=links))

    def to(self, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Least time from every node to each target, fs; (targets, nodes)."""
        if self.model != "cut_through":
            return self._lightest(targets, self.latency + self.overhead)
        # cut through, a path costs its latencies and its largest overhead: try each as the largest
        nearest = np.full((len(targets), len(self.topology.nodes)), np.inf)
        for largest in np.unique(self.overhead):
            allowed = np.where(self.overhead <= largest, self.latency, np.inf)
            np.minimum(nearest, self._lightest(targets, allowed) + largest, out=nearest)
        nearest[np.arange(len(targets)), targets] = 0.0
        return nearest

    def _lightest(self, targets: NDArray[np.int64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
        return cheapest(self.topology.links, len(self.topology.nodes), targets, weight)


def _ports(topology: Topology, end: NDArray[np.int32]) -> int:
    return int(np.bincount(end, minlength=len(topology.nodes))[: topology.ranks].max())


def _bandwidth(collective: Collective, topology: Topology, place: NDArray[np.int64]) -> float:
    """Bytes that must leave or enter a rank, or all ranks, over the bandwidth with which they can."""
    links = topology.links
    nodes = len(topology.nodes)
    out = np.bincount(links.src, weights=links.bandwidth, minlength=nodes)[place]
    into = np.bincount(links.dst, weights=links.bandwidth, minlength=nodes)[place]
    sent, received, total = must_move(collective)
    # what switches sum or copy, a rank sends once and no other rank again
    totals = (sent.sum(), received.sum()) if topology.reduces else (total, total)
    shares = ((sent, out), (received, into), (totals[0], out.sum()), (totals[1], into.sum()))
    with np.errstate(invalid="ignore"):
        # a rank without links may have nothing to move
        return max(float(np.nanmax(must / can)) for must, can in shares)


def must_move(collective: Collective) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Bytes that each rank must send and receive, and that all must send, by any algorithm.

    A chunk of one rank leaves it once at least, whoever passes it on; a sum is received whole by
    the rank that wants it, and every other rank gives its part away.
    """
    ranks = collective.ranks
    sent, received = np.zeros(ranks), np.zeros(ranks)
    moving = collective.source != collective.target
    moving |= collective.source == EVERY
    source, target, sizes = (
        column[moving] for column in (collective.source, collective.target, collective.sizes)
    )
    whole = sizes.astype(np.float64)
    for place, amount in ((source, sent), (target, received)):
        one = place != EVERY
        np.add.at(amount, place[one], whole[one])
        amount += whole[~one].sum()
    # what a rank is the only source of, it need not receive; the sum that it wants, it need not send
    from_all, to_all = source == EVERY, target == EVERY
    np.subtract.at(received, source[to_all & ~from_all], whole[to_all & ~from_all])
    np.subtract.at(sent, target[from_all & ~to_all], whole[from_all & ~to_all])
    times = np.where(from_all, ranks - 1, 0) + np.where(to_all, ranks - 1, 0) + (~from_all & ~to_all)
    total = float((times * whole).sum())
    return sent, received, total
