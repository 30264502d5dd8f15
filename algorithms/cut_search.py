"""The cut that takes longest, by maximum flow and Dinkelbach's iteration (Dinkelbach 1967).

Where every rank must have what some ranks have to give, the longest cut is the optimum of
ForestColl (Zhao et al., arXiv 2402.06787), of which Edmonds' branchings (1973) are the case of one
source. A cut is looked for that takes longer than the best so far; each that is found is measured
exactly, so that rounding could at worst miss one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING, Final

import numpy as np

from topologies.max_flow import flow_network, min_cut

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topologies.max_flow import FlowNetwork
    from topologies.topology import Topology

_MOST: Final = 1 << 60
"""Sum of all capacities of a flow."""


@dataclass(frozen=True, slots=True, eq=False)
class Pipes:
    """A topology as a network of flows, with a source that feeds every rank and a sink that drains them.

    Attributes
    ----------
    network : FlowNetwork
        The nodes, then the source, then the sink.
    nodes : int
        Of the topology.
    place : ndarray of int64, shape (ranks,)
        Node of each rank concerned.
    low, high : ndarray of int64, shape (pairs,)
        Nodes joined by links.
    forth, back : sequence of int, shape (pairs,)
        Bandwidth from low to high and back, in `unit`.
    unit : Fraction
        bytes/s.
    """

    network: FlowNetwork
    nodes: int
    place: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    forth: Sequence[int]
    back: Sequence[int]
    unit: Fraction

    @property
    def turns(self) -> int:
        """About how long a flow takes, in turns of a loop (`topologies.loops.fast`)."""
        return len(self.network.head) // 2

    @property
    def same_both_ways(self) -> bool:
        """Whether every pair has the same bandwidth both ways."""
        return list(self.forth) == list(self.back)

    def turned(self) -> Pipes:
        """The same with all links turned round."""
        return Pipes(
            self.network, self.nodes, self.place, self.low, self.high, self.back, self.forth, self.unit
        )

    def passes_on(self) -> bool:
        """Whether as much can leave as can enter every node that is not a rank concerned."""
        balance = [0] * self.nodes
        for low, high, forth, back in zip(
            self.low.tolist(), self.high.tolist(), self.forth, self.back, strict=True
        ):
            balance[low] += forth - back
            balance[high] += back - forth
        for node in self.place.tolist():
            balance[node] = 0
        return not any(balance)

    def leaving(self, side: NDArray[np.bool_]) -> int:
        """Bandwidth with which a side can send, in `unit`."""
        low, high = side[self.low], side[self.high]
        out = sum(self.forth[i] for i in np.flatnonzero(low & ~high).tolist())
        return out + sum(self.back[i] for i in np.flatnonzero(high & ~low).tolist())


def pipes(topology: Topology, place: NDArray[np.int64]) -> Pipes:
    """A topology as a network of flows between the ranks concerned."""
    links, nodes = topology.links, len(topology.nodes)
    whole, unit = whole_numbers(links.bandwidth)
    low, high = np.minimum(links.src, links.dst), np.maximum(links.src, links.dst)
    key, pair = np.unique(low.astype(np.int64) * nodes + high, return_inverse=True)
    forth, back = [0] * len(key), [0] * len(key)
    ways = zip(pair.ravel().tolist(), (links.src == low).tolist(), whole, strict=True)
    for at, up, bandwidth in ways:
        (forth if up else back)[at] += bandwidth
    low, high = key // nodes, key % nodes
    source, sink = np.full(len(place), nodes), np.full(len(place), nodes + 1)
    network = flow_network(
        nodes + 2, np.concatenate([low, source, place]), np.concatenate([high, place, sink])
    )
    return Pipes(network, nodes, place, low, high, forth, back, unit)


def whole_numbers(values: NDArray[np.float64]) -> tuple[list[int], Fraction]:
    """Values as multiples of the largest unit of which all are, and that unit.

    >>> whole_numbers(np.array([64e9, 16e9]))
    ([4, 1], Fraction(16000000000, 1))
    """
    distinct, which = np.unique(values, return_inverse=True)
    exact = [Fraction(value) for value in distinct.tolist()]
    fine = lcm(*(value.denominator for value in exact))
    counts = [int(value * fine) for value in exact]
    coarse = gcd(*counts)
    return [counts[i] // coarse for i in which.ravel().tolist()], Fraction(coarse, fine)


@dataclass(frozen=True, slots=True, eq=False)
class Longest:
    """The cut that takes longest.

    Attributes
    ----------
    seconds : Fraction
    side : ndarray of bool, shape (nodes,), or None
        What sends; None where none took longer than was known.
    exact : bool
        Whether capacities were not rounded, so that none was missed.
    """

    seconds: Fraction
    side: NDArray[np.bool_] | None
    exact: bool


def spread_from(
    pipes: Pipes, weights: Sequence[int], sinks: Sequence[int], known: Fraction = Fraction(0)
) -> Longest:
    """Longest cut where every rank must have all that ranks have to give.

    Parameters
    ----------
    pipes : Pipes
    weights : sequence of int, shape (ranks,)
        Bytes that each rank has.
    sinks : sequence of int
        Ranks of which one at least lacks something in the longest cut.
    known : Fraction
        Seconds that are known to be a bound.
    """
    drains = [0] * len(weights)
    feeds, total = list(weights), sum(weights)
    longest, scale = Longest(known, None, True), _scale(pipes, weights, known)
    for sink in sinks:
        drains[sink] = total
        longest, scale = _longer(pipes, feeds, drains, weights, longest, scale, len(sinks))
        drains[sink] = 0
        # of cuts that this rank is not on the sending side of, none takes longer
        feeds[sink] = total
    return longest


def spread_to(pipes: Pipes, root: int, weights: Sequence[int], known: Fraction = Fraction(0)) -> Longest:
    """Longest cut where a root has to give each rank something of its own.

    Parameters
    ----------
    pipes : Pipes
    root : int
    weights : sequence of int, shape (ranks,)
        Bytes for each rank; the root's do not count.
    known : Fraction
        Seconds that are known to be a bound.
    """
    feeds, wanted = [0] * len(weights), list(weights)
    wanted[root] = 0
    feeds[root] = sum(wanted)
    lost = [-weight for weight in wanted]
    return _longer(pipes, feeds, wanted, lost, Longest(known, None, True), _scale(pipes, lost, known), 1)[0]


def _longer(
    pipes: Pipes,
    feeds: Sequence[int],
    drains: Sequence[int],
    weights: Sequence[int],
    longest: Longest,
    scale: _Scale,
    flows: int,
) -> tuple[Longest, _Scale]:
    """The longest of all cuts that part what is fed from what drains, and the capacities that show it.

    What must cross is the sum of the sending side's weights, less that of all where those are
    negative: what the others want.
    """
    least, zeros = min(0, sum(weights)), np.zeros(len(feeds), dtype=np.int64)
    while True:
        forth = np.concatenate([scale.forth, scale.of(feeds), scale.of(drains)])
        back = np.concatenate([scale.back, zeros, zeros])
        turns = flows * pipes.turns
        value, side = min_cut(pipes.network, forth, back, pipes.nodes, pipes.nodes + 1, turns)
        longest = Longest(longest.seconds, longest.side, longest.exact and scale.exact)
        if value >= scale.enough:
            return longest, scale
        side = side[: pipes.nodes]
        must = sum(weights[rank] for rank in np.flatnonzero(side[pipes.place]).tolist()) - least
        if must <= longest.seconds * pipes.leaving(side) * pipes.unit:
            return longest, scale
        longest = Longest(must / (pipes.leaving(side) * pipes.unit), side, longest.exact)
        scale = _scale(pipes, weights, longest.seconds)


@dataclass(frozen=True, slots=True, eq=False)
class _Scale:
    """Bytes, and what crosses links in time, as whole numbers of one unit.

    Attributes
    ----------
    forth, back : ndarray of int64, shape (pairs,)
        What crosses links.
    times : int
        Of a byte.
    over : int
        What both are divided by.
    enough : int
        All bytes.
    exact : bool
        Whether nothing had to be rounded.
    """

    forth: NDArray[np.int64]
    back: NDArray[np.int64]
    times: int
    over: int
    enough: int
    exact: bool

    def of(self, values: Sequence[int]) -> NDArray[np.int64]:
        """Bytes as such numbers."""
        return _scaled(values, self.times, self.over)


def _scale(pipes: Pipes, weights: Sequence[int], seconds: Fraction) -> _Scale:
    """Whole numbers that stand for capacities, small enough for a flow of them all."""
    crosses, total = seconds * pipes.unit, abs(sum(weights))
    links, times = crosses.numerator, crosses.denominator
    shared = gcd(links, times * gcd(*weights)) or 1
    most = (sum(pipes.forth) + sum(pipes.back)) * links + 2 * len(weights) * total * times
    over = shared * max(1, -(-most // (_MOST * shared)))
    forth, back = _scaled(pipes.forth, links, over), _scaled(pipes.back, links, over)
    return _Scale(forth, back, times, over, int(_scaled([total], times, over)[0]), over == shared)


def _scaled(values: Sequence[int], times: int, over: int) -> NDArray[np.int64]:
    """Values times over, to the nearest whole number."""
    return np.array([(2 * value * times + over) // (2 * over) for value in values], dtype=np.int64)
