"""The bound on bandwidth: what must cross a cut, or use up all links together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import numpy as np

from algorithms.collective import KINDS, make_collective
from algorithms.cut_search import pipes, spread_from, spread_to
from algorithms.cuts import Cut, cut_side, cut_time, named_cut
from algorithms.group_cuts import Found, by_groups
from topologies.alike import is_maximally_connected, moved_by, twins
from topologies.loops import WORTH_LOADING, numba_is_here
from topologies.ways import SMALL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from algorithms.collective import Collective
    from algorithms.concurrent_flow import Exchange
    from algorithms.cut_search import Longest, Pipes
    from topologies.topology import Topology

Effort: TypeAlias = Literal["quick", "full"]
"""What a bound may cost: about a second, without a linear program; or what it takes."""

_MOST_TURNS: Final = {"quick": 1 << 22, "full": 1 << 30}
"""Of all flows in search of a cut."""

_SLOWER: Final = 30
"""Times, without numba."""

_MOST_PAIRS: Final = {"quick": 1 << 14, "full": 1 << 21}
"""Of ranks between which ways are looked for."""

_MOST_UNKNOWNS: Final = 20_000
"""Of a linear program."""

EXACT: Final = "exact"
NO_BYTES: Final = "no bytes"
GROUPS: Final = "cuts of single ranks, groups and halves"
DISTANCES: Final = "distances, cuts of groups and halves"


@dataclass(frozen=True, slots=True, eq=False)
class Moved:
    """The bound on the time of bytes.

    Attributes
    ----------
    seconds : Fraction
    cut : Cut or None
        That which takes so long, where it is a cut.
    how : str
        How good the bound is.
    composed : Fraction or None
        Of an AllReduce: seconds that the best ReduceScatter and the best AllGather take.
    """

    seconds: Fraction
    cut: Cut | None
    how: str
    composed: Fraction | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Best:
    found: Found
    how: str
    composed: Fraction | None = None


def bandwidth_bound(
    collective: Collective,
    topology: Topology,
    place: NDArray[np.int64],
    effort: Effort = "quick",
    known: Cut | None = None,
) -> Moved:
    """Least time of a collective's bytes on a topology.

    Parameters
    ----------
    collective : Collective
    topology : Topology
        On which every rank concerned can reach those that it must.
    place : ndarray of int64, shape (ranks,)
        The topology's rank of each rank.
    effort : {'quick', 'full'}
    known : Cut, optional
        A cut to be measured instead of a search: one that was found for another size stays a
        bound, and for equal shares the best.
    """
    if not collective.sizes.any():
        return Moved(Fraction(0), None, NO_BYTES)
    groups = by_groups(collective, topology, place)
    if known is not None:
        side = cut_side(known, len(topology.nodes))
        given = Found(cut_time(collective, topology, place, side), side)
        best = _Best(groups.or_longer(given), "a known cut")
    else:
        best = _Search(collective, topology, place, effort).best(groups)
    side_found = best.found.side
    cut = None if side_found is None else named_cut(collective, topology, place, side_found)
    return Moved(best.found.seconds, cut, best.how, best.composed)


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """The search for the best bound of one collective."""

    collective: Collective
    topology: Topology
    place: NDArray[np.int64]
    effort: Effort

    def best(self, groups: Found) -> _Best:
        """The best bound, of which that of groups is a first."""
        kind = KINDS[self.collective.kind]
        if kind.source == kind.target == "each":
            return self._exchanged(groups)
        if is_maximally_connected(self.topology):
            # no cut takes longer than that of a rank, whoever takes part
            allreduce = kind.source == kind.target
            return _Best(groups, EXACT, groups.seconds if allreduce else None)
        if len(self.topology.links) > _MOST_TURNS[self.effort]:
            return _Best(groups, GROUPS)
        network = pipes(self.topology, self.place)
        if kind.source == kind.target == "every":
            return self._reduced_and_told(groups, network)
        if kind.target == "every":
            return self._spread(groups, network, self._amounts(self.collective.source), turned=False)
        if kind.source == "every":
            return self._spread(groups, network.turned(), self._amounts(self.collective.target), turned=True)
        if kind.source == "root":
            root, wanted = int(self.collective.source[0]), self._amounts(self.collective.target)
            return self._parted(groups, spread_to(network, root, wanted, groups.seconds), turned=False)
        root, given = int(self.collective.target[0]), self._amounts(self.collective.source)
        return self._parted(groups, spread_to(network.turned(), root, given, groups.seconds), turned=True)

    def _amounts(self, place: NDArray[np.int32]) -> list[int]:
        """Bytes of each rank's own chunks."""
        amounts = np.zeros(self.collective.ranks, dtype=np.int64)
        np.add.at(amounts, place, self.collective.sizes)
        return [int(amount) for amount in amounts]

    def _sinks(self, weights: Sequence[int]) -> list[int]:
        """Ranks of which one at least lacks something in a longest cut: one of all that look the same."""
        whole = len(self.place) == self.topology.ranks
        if whole and min(weights) == max(weights) and moved_by(self.topology) is not None:
            return [0]
        marks, rank = [-1] * len(self.topology.nodes), {}
        for i, node in enumerate(self.place.tolist()):
            marks[node], rank[node] = weights[i], i
        return [rank[node] for node in twins(self.topology, marks, self.place.tolist())]

    def _affordable(self, network: Pipes, flows: int) -> bool:
        turns = network.turns * flows
        slow = turns > WORTH_LOADING and not numba_is_here()
        return (_SLOWER if slow else 1) * turns <= _MOST_TURNS[self.effort]

    def _spread(self, groups: Found, network: Pipes, weights: Sequence[int], *, turned: bool) -> _Best:
        """Every rank wants all that ranks have, or the other way round."""
        sinks = self._sinks(weights)
        if not self._affordable(network, len(sinks)):
            return _Best(groups, GROUPS)
        longest = spread_from(network, weights, sinks, groups.seconds)
        best = self._parted(groups, longest, turned=turned)
        attained = network.passes_on() and not self.topology.reduces
        if attained:
            return best
        return _Best(best.found, "what all must be sent" if best.found.side is None else "best cut")

    def _parted(self, groups: Found, longest: Longest, *, turned: bool) -> _Best:
        how = EXACT if longest.exact else "exact but for rounding"
        if longest.side is None:
            return _Best(groups, how)
        # turned round, what they must send is what they must get
        return _Best(Found(longest.seconds, ~longest.side if turned else longest.side), how)

    def _reduced_and_told(self, groups: Found, network: Pipes) -> _Best:
        """An AllReduce: the sum out of every part of the ranks, and into it."""
        ranks = self.collective.ranks
        # where the sum is anywhere, it must come in; where anything is, it must get out
        weights = [self.collective.size] + [0] * (ranks - 1)
        composed = None if self.topology.reduces else self._composed(network)
        if composed == groups.seconds and network.passes_on():
            return _Best(groups, EXACT, composed)
        sinks = [sink for sink in self._sinks(weights) if sink]
        ways = [False] if network.same_both_ways else [False, True]
        if not self._affordable(network, len(sinks) * len(ways)):
            return _Best(groups, GROUPS, composed)
        found = groups
        for turned in ways:
            pipe = network.turned() if turned else network
            longest = spread_from(pipe, weights, sinks, found.seconds)
            found = self._parted(found, longest, turned=turned).found
        attained = composed == found.seconds and network.passes_on()
        return _Best(found, EXACT if attained else "best cut, and all that groups must send", composed)

    def _composed(self, network: Pipes) -> Fraction | None:
        """Seconds of the best ReduceScatter and AllGather; None where the search is too long."""
        ranks, weights = self.collective.ranks, [1] * self.collective.ranks
        sinks = self._sinks(weights)
        if not self._affordable(network, len(sinks) * (1 if network.same_both_ways else 2)):
            return None
        total = Fraction(0)
        for kind, pipe in (("allgather", network), ("reduce_scatter", network.turned())):
            if kind == "reduce_scatter" and network.same_both_ways:
                total *= 2
                break
            groups = by_groups(make_collective(kind, ranks, ranks), self.topology, self.place)
            total += spread_from(pipe, weights, sinks, groups.seconds).seconds
        return total * self.collective.size / ranks

    def _exchanged(self, groups: Found) -> _Best:
        """An All-to-All, or what else every rank has for every other."""
        from algorithms.concurrent_flow import distance_bound, exchange, plain_lengths, spread_time

        ranks, topology, sizes = self.collective.ranks, self.topology, self.collective.sizes
        group = moved_by(topology) if ranks == topology.ranks else None
        few = ranks * ranks <= _MOST_PAIRS[self.effort]
        alike = sizes.min() == sizes.max()
        if group is None or (few and not alike):
            if not few or (len(topology.nodes) > SMALL and self.effort == "quick"):
                return _Best(groups, GROUPS)
            problem = exchange(self.collective, topology, self.place)
        else:
            # of uneven blocks at least so much goes from each to each
            even = replace(self.collective, sizes=np.full_like(sizes, sizes.min()))
            problem = exchange(even, topology, self.place, group)
        if not problem.demand.any():
            return _Best(groups, GROUPS)
        found = groups
        for length in plain_lengths(topology):
            found = found.or_longer(Found(distance_bound(problem, length)))
        if not alike and len(problem.demand) < ranks:
            return _Best(found, DISTANCES)
        if spread_time(problem) <= float(found.seconds) * (1 + 1e-12):
            return _Best(found, EXACT)
        if self.effort == "full" and problem.size <= _MOST_UNKNOWNS:
            return self._programmed(found, problem)
        return _Best(found, DISTANCES)

    def _programmed(self, found: Found, problem: Exchange) -> _Best:
        """By the best lengths that there are."""
        from algorithms.concurrent_flow import best_lengths, distance_bound

        length, seconds = best_lengths(problem)
        found = found.or_longer(Found(distance_bound(problem, length)))
        exact = seconds <= float(found.seconds) * (1 + 1e-9)
        return _Best(found, EXACT if exact else "concurrent flow")
