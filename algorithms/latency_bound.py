"""The bound on latency: the farthest pair, and the rounds in which ports can inform everybody."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.collective import KINDS
from topologies.clock import femtoseconds, to_seconds
from topologies.errors import TopologyError
from topologies.ways import cheapest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.collective import Collective
    from topologies.topology import Topology

EVERY_PAIR: Final = 1024
"""Ranks up to which every pair is looked at for the farthest; past it, those that a few sweeps find."""


def ceil_log(number: int, base: int) -> int:
    """Smallest k with base^k >= number.

    >>> ceil_log(8, 2), ceil_log(9, 2), ceil_log(1, 3)
    (3, 4, 0)
    """
    power, k = 1, 0
    while power < number:
        power, k = power * base, k + 1
    return k


def least_rounds(kind: str, ranks: int, growth: int) -> int:
    """Rounds in which N ranks can learn of one, or one of N, if each round multiplies the knowing ones.

    >>> least_rounds("broadcast", 9, 2), least_rounds("send_recv", 9, 2)
    (4, 1)
    """
    return min(1, ranks - 1) if kind == "send_recv" else ceil_log(ranks, growth)


def latency_bound(collective: Collective, topology: Topology, model: str, place: NDArray[np.int64]) -> float:
    """Farthest pair that must hear of each other, or the rounds in which d ports can inform N ranks.

    Parameters
    ----------
    collective : Collective
    topology : Topology
    model : {'store_and_forward', 'cut_through', 'packet', 'fair_share'}
    place : ndarray of int64, shape (ranks,)
        The topology's rank of each rank.

    Returns
    -------
    float
        Seconds, of parts that are rounded as in a plan.

    Raises
    ------
    TopologyError
        If a rank cannot reach another.
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
    rounds = least_rounds(collective.kind, collective.ranks, ports + 1) * overhead.min()
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
