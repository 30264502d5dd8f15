"""Lower bounds on the time of a collective: what no algorithm can beat on this topology.

Chan, Heimlich, Purkayastha and van de Geijn (2007) for the textbook's; cuts and flows of the
graph at hand here. The terms are not attainable together in general: the best bound is their
maximum, never their sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from algorithms.bandwidth_bound import bandwidth_bound
from algorithms.collective import EVERY, bus_factor, check_same_ranks
from algorithms.cuts import total_bandwidth
from algorithms.latency_bound import latency_bound, least_rounds
from topologies.clock import FEMTOSECONDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.bandwidth_bound import Effort
    from algorithms.collective import Collective
    from algorithms.cuts import Cut
    from topologies.topology import Topology

    Rates: TypeAlias = Sequence[float] | NDArray[np.float64]

_MOST_HOLDS: Final = 200
"""Different holds whose rounding is looked at one by one."""


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
        What must cross a cut, or what must use up all links together.
    reduction : float
        (N - 1)/N M / gamma, or 0 where reducing is free, or switches can do it.
    cut : Cut or None
        The cut that takes as long as `bandwidth` says, where it is one.
    composed : float or None
        Of an AllReduce: what the best ReduceScatter and the best AllGather take, one after the
        other. It can be attained, but is no bound: other algorithms may be faster.
    how : str
        How good the bound on bandwidth is, in a few words: `exact` where bytes that may be split
        at will attain it.
    """

    latency: float
    textbook_latency: float
    bandwidth: float
    reduction: float
    cut: Cut | None = None
    composed: float | None = None
    how: str = "nothing to do"

    @property
    def best(self) -> float:
        """The largest of those that hold."""
        return max(self.latency, self.bandwidth, self.reduction)

    @property
    def moved(self) -> str:
        """What sets the bound on bandwidth, for people, and how good it is."""
        if self.cut is not None:
            return f"{self.cut.text()} ({self.how})"
        return f"what all links together must carry ({self.how})" if self.bandwidth else self.how

    @property
    def binds(self) -> Literal["latency", "bandwidth", "reduction"]:
        """The term that is the best; of equal ones bandwidth first, then reduction."""
        if self.bandwidth == self.best:
            return "bandwidth"
        return "reduction" if self.reduction == self.best else "latency"


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
        latency=least_rounds(kind, ranks, 2) * alpha,
        bandwidth=float(moved / ports / Fraction(beta)),
    )


def lower_bounds(
    collective: Collective,
    topology: Topology,
    *,
    model: str,
    reduction: float | NDArray[np.float64] | None = None,
    placement: NDArray[np.int64] | None = None,
    messages: Mapping[int, int] | None = None,
    effort: Effort = "quick",
    cut: Cut | None = None,
) -> Bounds:
    """Bounds of a collective on a topology.

    Parameters
    ----------
    collective : Collective
    topology : Topology
        With as many ranks, or more where the placement says which of them take part.
    model : {'store_and_forward', 'cut_through', 'packet', 'fair_share'}
    reduction : float or ndarray of float, optional
        gamma of every rank's reducer, or of each rank's, bytes/s.
    placement : ndarray of int, optional
        The topology's rank of each rank.
    messages : mapping of int to int, optional
        How many messages, or packets, of each size there are, by bytes. Holds are rounded, so that
        where some are rounded down, the bounds on bytes give way by as much. Without it they do
        not: they are those of exact times.
    effort : {'quick', 'full'}
        Whether to look for the best bound for no longer than about a second, or as long as it takes.
    cut : Cut, optional
        A known cut, of another size on the same topology: it is measured, and none is looked for.

    Raises
    ------
    ScheduleError
        If the topology has another number of ranks.
    TopologyError
        If a rank cannot reach another.

    Examples
    --------
    >>> from algorithms.collective import make_collective
    >>> from topologies import torus
    >>> found = lower_bounds(make_collective("allgather", 16, 16 * 10**6), torus([4, 4], 1e9), model="packet")
    >>> found.bandwidth, found.how, found.cut.text()
    (0.00375, 'exact', 'rank 0 receives 15 MB over 4 links')
    """
    if placement is None:
        check_same_ranks(collective, topology)
    if collective.ranks == 1:
        return Bounds(0.0, 0.0, 0.0, 0.0)
    place = np.arange(topology.ranks) if placement is None else placement
    alpha = float((topology.links.latency + topology.links.overhead).min(initial=np.inf))
    latency = latency_bound(collective, topology, model, place)
    moved = bandwidth_bound(collective, topology, place, effort, cut)
    rates = np.zeros(0) if reduction is None else np.broadcast_to(reduction, (collective.ranks,))
    reduced = Fraction(0)
    if len(rates) and (collective.source == EVERY).any() and not topology.reduces:
        reduced = (collective.ranks - 1) * collective.size / total_bandwidth(rates)
    return Bounds(
        latency=latency,
        textbook_latency=least_rounds(collective.kind, collective.ranks, 2) * alpha,
        bandwidth=give_way(moved.seconds, messages, topology.links.bandwidth, model),
        reduction=give_way(reduced, messages, rates, model),
        cut=moved.cut,
        composed=None if moved.composed is None else float(moved.composed),
        how=moved.how,
    )


def give_way(seconds: Fraction, messages: Mapping[int, int] | None, rates: Rates, model: str) -> float:
    """A bound on bytes, less what holds that are rounded down might save.

    Each is rounded to whole femtoseconds by itself, and no more than all messages hold any one link.

    Parameters
    ----------
    seconds : Fraction
    messages : mapping of int to int or None
        How many there are of each size.
    rates : sequence or ndarray of float
        Of all links, or reducers, bytes/s.
    model : {'store_and_forward', 'cut_through', 'packet', 'fair_share'}

    Examples
    --------
    >>> give_way(Fraction(1), {30: 7}, [10.0], "packet")
    1.0
    >>> give_way(Fraction(1), {1: 10**12}, [3e15], "packet")
    0.9996666666666667
    """
    if not messages or not seconds:
        return float(seconds)
    saved = Fraction(1, 2) if model == "fair_share" else _rounded_down(messages, np.unique(rates))
    return float(max(Fraction(0), seconds - saved * sum(messages.values()) / FEMTOSECONDS))


def _rounded_down(sizes: Iterable[int], rates: NDArray[np.float64]) -> Fraction:
    """Most that a hold loses when it is rounded, fs; 0 where all are whole, or rounded up."""
    holds = list(product(sizes, map(Fraction, rates.tolist())))
    if len(holds) > _MOST_HOLDS:
        return Fraction(1, 2)
    exact = (size * FEMTOSECONDS / rate for size, rate in holds)
    return max(Fraction(0), *(hold - round(hold) for hold in exact))
