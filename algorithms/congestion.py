"""Static congestion: what the most loaded link of each step carries, without simulating time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from algorithms.collective import check_same_ranks
from algorithms.schedule import expand, unique_inverse
from topologies.errors import TopologyError
from topologies.stubs import Stubs, find_stubs
from topologies.ways import count_paths, direct_links, parallel_links, ways

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.schedule import Schedule
    from topologies.topology import Topology

Part: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]"
"""Pair, link and share of each of several shares."""


def congestion_factor(
    schedule: Schedule, topology: Topology, placement: NDArray[np.int64] | None = None
) -> float | None:
    """Sum over steps of the bytes on the most loaded link, in units of M, at equal bandwidth.

    Equal-length shortest paths share a message evenly. Recursive halving of 8 ranks gives 7/8 on
    the hypercube and 13/8 on the ring.

    Parameters
    ----------
    schedule : Schedule
    topology : Topology
        With as many ranks, or more where the placement says which of them take part.
    placement : ndarray of int, optional
        The topology's rank of each of the schedule's ranks.

    Returns
    -------
    float or None
        None where M is 0.

    Raises
    ------
    ScheduleError
        If the topology has another number of ranks.

    Examples
    --------
    >>> from algorithms import build
    >>> from topologies import ring
    >>> congestion_factor(build("recursive_halving", "reduce_scatter", 8, 1024), ring(8, bandwidth=1.0))
    1.625
    """
    if placement is None:
        check_same_ranks(schedule.collective, topology)
    size = schedule.collective.size
    if size == 0:
        return None
    place = places(schedule, topology, placement)
    nodes = len(topology.nodes)
    steps = _steps(schedule)
    # a step that goes the same ways as the one before it is not looked up again
    looked_up = [np.arange(step.start, step.stop) for step in steps if step.first == step.start]
    rows = np.concatenate([np.zeros(0, dtype=np.int64), *looked_up])
    pairs, found = unique_inverse(place[schedule.src[rows]] * nodes + place[schedule.dst[rows]])
    stubs, src, dst = find_stubs(topology), pairs // nodes, pairs % nodes
    outer, inner = stubs.between(src, dst)
    # thousands of pairs of hosts share the ways between a few pairs of switches
    legs, leg = unique_inverse(outer * nodes + inner)
    ends = _stub_shares(topology, stubs, src, dst)
    between = path_shares(topology, legs // nodes, legs % nodes)
    sizes, total, at = schedule.sizes(), 0.0, 0
    pair, weight, worst = found[:0], sizes[:0], 0.0
    for step in steps:
        new, carried = step.first == step.start, sizes[step.start : step.stop]
        if new:
            pair, at = found[at : at + len(carried)], at + len(carried)
        if new or not np.array_equal(carried, weight):
            weight = carried
            load = ends.loads(pair, carried.astype(np.float64))
            load += between.loads(leg[pair], carried.astype(np.float64))
            worst = float(load.max(initial=0.0))
        total += worst
    return total / size


@dataclass(frozen=True, slots=True)
class _Step:
    """Rows of a step, and the first row of the latest step that went other ways than the one before it."""

    start: int
    stop: int
    first: int


def _steps(schedule: Schedule) -> list[_Step]:
    steps: list[_Step] = []
    for start, stop in schedule.step_bounds():
        last = steps[-1] if steps else None
        same = last is not None and all(
            np.array_equal(column[start:stop], column[last.start : last.stop])
            for column in (schedule.src, schedule.dst)
        )
        steps.append(_Step(start, stop, last.first if last is not None and same else start))
    return steps


def places(
    schedule: Schedule, topology: Topology, placement: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """The topology's node of each rank of a schedule, and of each switch that takes part in it.

    Raises
    ------
    TopologyError
        If such a switch is not there, or does not reduce.
    """
    ranks = np.arange(topology.ranks) if placement is None else placement
    if not schedule.switches:
        return ranks
    used = np.unique(np.concatenate([schedule.src, schedule.dst]))
    for switch in used[used >= topology.ranks].tolist():
        if switch not in topology.reduces:
            known = topology.nodes[switch] if switch < len(topology.nodes) else switch - topology.ranks
            raise TopologyError(f"the schedule reduces in switch {known}, but there is none that reduces")
    return np.concatenate([ranks, topology.ranks + np.arange(schedule.switches)])


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Which share of each pair's bytes crosses which link.

    Attributes
    ----------
    pair, link : ndarray of int64, shape (shares,)
        Those of a pair stand side by side.
    share : ndarray of float64, shape (shares,)
    offsets : ndarray of int64, shape (pairs + 1,)
        Pair p has the shares offsets[p]:offsets[p + 1].
    links : int
        Number of links.
    """

    pair: NDArray[np.int64]
    link: NDArray[np.int64]
    share: NDArray[np.float64]
    offsets: NDArray[np.int64]
    links: int

    @classmethod
    def of(cls, topology: Topology, pairs: int, parts: Sequence[Part]) -> Shares:
        """Shares of so many pairs from parts in any order."""
        pair, link, share = (np.concatenate(column) for column in zip(*parts, strict=True))
        order = np.argsort(pair, kind="stable")
        offsets = np.concatenate([[0], np.cumsum(np.bincount(pair, minlength=pairs))])
        return cls(pair[order], link[order], share[order], offsets, len(topology.links))

    def loads(self, pair: NDArray[np.integer], size: NDArray[np.float64]) -> NDArray[np.float64]:
        """Bytes on every link, where pair[i] sends size[i]."""
        carried = np.bincount(pair, weights=size, minlength=len(self.offsets) - 1)
        sending = np.flatnonzero(carried)
        first = self.offsets[sending]
        row, at = expand(first, self.offsets[sending + 1] - first)
        weights = self.share[at] * carried[sending][row]
        return np.bincount(self.link[at], weights=weights, minlength=self.links).astype(np.float64)


def _stub_shares(topology: Topology, stubs: Stubs, src: NDArray[np.int64], dst: NDArray[np.int64]) -> Shares:
    """The hops from and to nodes with one neighbour, spread evenly over parallel links."""
    outer, inner = stubs.between(src, dst)
    up, down = np.flatnonzero(src != outer), np.flatnonzero(dst != inner)
    parts = []
    for pair, first, lanes in (
        (up, stubs.up[src[up]], stubs.up_lanes[src[up]]),
        (down, stubs.down[dst[down]], stubs.down_lanes[dst[down]]),
    ):
        row, link = expand(first, lanes)
        parts.append((pair[row], link.astype(np.int64), 1.0 / lanes[row]))
    return Shares.of(topology, len(src), parts)


def path_shares(topology: Topology, src: NDArray[np.int64], dst: NDArray[np.int64]) -> Shares:
    """Every pair's bytes, spread evenly over its shortest paths."""
    direct = direct_links(topology, src, dst)
    near = np.flatnonzero(direct >= 0)
    lanes = parallel_links(topology.links)[direct[near]] if len(near) else near
    row, link = expand(direct[near], lanes)
    parts = [(near[row], link.astype(np.int64), 1.0 / lanes[row])]
    far = np.flatnonzero((direct < 0) & (src != dst))
    if len(far):
        parts += [(far[pair], link, share) for pair, link, share in _spread(topology, src[far], dst[far])]
    return Shares.of(topology, len(src), parts)


def _spread(topology: Topology, src: NDArray[np.int64], dst: NDArray[np.int64]) -> Iterator[Part]:
    """(pair, link, share) of pairs that are several hops apart, hop by hop.

    The number of shortest paths to each destination is counted outwards from it; a pair's bytes
    are then sent inwards, each link taking its share of the paths.
    """
    targets, which = np.unique(dst, return_inverse=True)
    found = ways(topology, targets)
    paths = count_paths(topology, targets, found)
    pair, node, share = np.arange(len(src)), src.copy(), np.ones(len(src))
    while len(pair):
        row = which.ravel()[pair]
        fork, at = expand(found.start[row, node], found.count[row, node])
        link = found.links[at].astype(np.int64)
        row, here, there = row[fork], node[fork], topology.links.dst[link].astype(np.int64)
        part = share[fork] * paths[row, there] / paths[row, here]
        yield pair[fork], link, part
        pair, node, share = _merged(pair[fork], there, part, len(topology.nodes))
        under_way = node != dst[pair]
        pair, node, share = pair[under_way], node[under_way], share[under_way]


def _merged(
    pair: NDArray[np.int64], node: NDArray[np.int64], share: NDArray[np.float64], nodes: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """What arrives at one node for one pair, added up."""
    key, where = np.unique(pair * nodes + node, return_inverse=True)
    total = np.bincount(where.ravel(), weights=share, minlength=len(key)).astype(np.float64)
    return key // nodes, key % nodes, total
