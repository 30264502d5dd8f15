"""Walks from node to node along shortest paths, many at once.

Three things keep the search for shortest paths small: a node with one neighbour is left and
entered by that neighbour, so that only the ways between neighbours are searched; where every
rank's links are those of rank 0 moved along the dimensions, so are its ways, and one target is
enough; and otherwise targets are searched for some at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from topologies.choices import Fork, PathCounts, choose
from topologies.errors import TopologyError
from topologies.paths import Routes, assemble
from topologies.stubs import find_stubs
from topologies.translations import translations
from topologies.ways import Ways, count_paths, ways

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from topologies.choices import Chooser, State
    from topologies.stubs import Stubs
    from topologies.topology import Topology
    from topologies.translations import Translations

Column: TypeAlias = "NDArray[np.int64]"

_WALKS_AT_ONCE: Final = 1 << 15
_CELLS_AT_ONCE: Final = 1 << 23
"""Targets times nodes that are searched at once."""

_MOST_PATHS: Final = 1 << 16

MOST_LINKS: Final = 1 << 28
"""Links that the routes of all pairs may cross: a gigabyte."""


def walk(
    topology: Topology, chooser: Chooser | None, state: State, src: Column, dst: Column
) -> tuple[Routes, NDArray[np.bool_]]:
    """Walk pairs of different nodes along shortest paths.

    Parameters
    ----------
    chooser : Chooser or None
        Which of several next links a pair takes; without one the first.
    state : ndarray, shape (pairs,)
        What it goes by.
    src, dst : ndarray of int64, shape (pairs,)
        Node indices.

    Returns
    -------
    Routes
        No links where there is no way.
    ndarray of bool, shape (pairs,)
        Whether there is none.

    Raises
    ------
    TopologyError
        If the routes cross too many links to be held.
    """
    stubs = find_stubs(topology)
    outer, inner = stubs.between(src, dst)
    parts, lost, room = [], np.zeros(len(src), dtype=bool), MOST_LINKS
    for rows, search in _searches(topology, chooser, outer, inner):
        for first in range(0, len(rows), _WALKS_AT_ONCE):
            some = rows[first : first + _WALKS_AT_ONCE]
            log = _Log.of(src[some], dst[some], state[some])
            _leave(log, stubs, chooser, np.flatnonzero(src[some] != outer[some]))
            if search is not None:
                _walk_through(log, topology, chooser, search, outer[some], inner[some], stubs)
            _enter(log, stubs, chooser, inner[some])
            room -= int(log.count.sum())
            if room < 0:
                raise _too_long(len(src))
            parts.append((some, log.routes()))
            lost[some] = log.lost
    return assemble(len(src), parts), lost


@dataclass(frozen=True, slots=True, eq=False)
class _Log:
    """Hops of some walks as they are taken, and what the next are chosen by.

    Attributes
    ----------
    lead : ndarray of int64, shape (walks,)
        Hops before the first that a search finds: 1 from a stub, else 0.
    count : ndarray of int64, shape (walks,)
        All hops so far.
    hops : list of (walks, position, links)
        The position counts from the first hop that a search finds.
    """

    src: Column
    dst: Column
    state: State
    lead: Column
    count: Column
    lost: NDArray[np.bool_]
    hops: list[tuple[Column, Column | int, NDArray[np.integer]]]

    @classmethod
    def of(cls, src: Column, dst: Column, state: State) -> _Log:
        lead, lost = np.zeros(len(src), dtype=np.int64), np.zeros(len(src), dtype=bool)
        return cls(src, dst, state, lead, lead.copy(), lost, [])

    def routes(self) -> Routes:
        """All hops, those of one walk side by side; what a lost one took is dropped."""
        found = Routes.counted(self.count, np.empty(int(self.count.sum()), dtype=np.int32))
        first = found.offsets[:-1] + self.lead
        for walker, position, link in self.hops:
            found.links[first[walker] + position] = link
        if not self.lost.any():
            return found
        kept = found.links[~np.repeat(self.lost, self.count)]
        return Routes.counted(np.where(self.lost, 0, self.count), kept)


def _leave(log: _Log, stubs: Stubs, chooser: Chooser | None, walker: Column) -> None:
    """Take the hop from nodes with one neighbour."""
    node = log.src[walker]
    link, log.state[walker] = choose(chooser, stubs.up[node], stubs.up_lanes[node], node, log.state[walker])
    log.hops.append((walker, -1, link))
    log.lead[walker] = log.count[walker] = 1


def _enter(log: _Log, stubs: Stubs, chooser: Chooser | None, here: Column) -> None:
    """Take the hop to nodes with one neighbour, where the walks are now."""
    walker = np.flatnonzero((log.dst != here) & ~log.lost)
    first, lanes = stubs.down[log.dst[walker]], stubs.down_lanes[log.dst[walker]]
    link, log.state[walker] = choose(chooser, first, lanes, here[walker], log.state[walker])
    log.hops.append((walker, log.count[walker] - log.lead[walker], link))
    log.count[walker] += 1


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """Ways to some targets.

    Attributes
    ----------
    found : Ways
    first : ndarray of int32, shape (cells,)
        First link of each cell of the ways, -1 where there is none.
    row : ndarray of int64, shape (nodes,)
        Row of each target in the ways.
    weight, uneven : ndarray or None
        Paths that begin with each link of the ways, and of each of their cells, whether they differ.
    group : Translations or None
        The one target is node 0, and stands for all others by a translation.
    degree : int
        Links that leave each node, in that case.
    """

    found: Ways
    first: NDArray[np.int32]
    row: Column
    weight: Column | None
    uneven: NDArray[np.bool_] | None
    group: Translations | None = None
    degree: int = 0


def _searches(
    topology: Topology, chooser: Chooser | None, src: Column, dst: Column
) -> Iterator[tuple[Column, _Search | None]]:
    """Which of the walks, and the ways that they take if they take any."""
    nodes, every, through = len(topology.nodes), np.arange(len(src)), src != dst
    if not through.any():
        yield every, None
        return
    if is_translated(topology):
        zero, group = np.zeros(nodes, dtype=np.int64), translations(topology.dims)
        degree = len(topology.links) // topology.ranks
        yield every, _Search(*_weighed(topology, chooser, zero[:1], zero), group, degree)
        return
    wanted = np.zeros(nodes, dtype=bool)
    wanted[dst[through]] = True
    targets, number = np.flatnonzero(wanted), np.cumsum(wanted) - 1
    at_once = max(_CELLS_AT_ONCE // nodes, 1)
    for first in range(0, len(targets), at_once):
        some = every
        if at_once < len(targets):
            some = np.flatnonzero(np.maximum(number[dst], 0) // at_once == first // at_once)
        yield some, _Search(*_weighed(topology, chooser, targets[first : first + at_once], number - first))


def _weighed(
    topology: Topology, chooser: Chooser | None, targets: Column, number: Column
) -> tuple[Ways, NDArray[np.int32], Column, Column | None, NDArray[np.bool_] | None]:
    """The ways to some targets and, if the chooser asks, how many paths begin with each of their links."""
    found = ways(topology, targets)
    fork = np.flatnonzero(found.count)
    first, start = np.full(found.count.size, -1, dtype=np.int32), found.start.ravel()[fork]
    first[fork] = found.links[start]
    if chooser is None or not chooser.weighs:
        return found, first, number, None, None
    row = np.repeat(np.arange(len(targets)), found.count.sum(axis=1))
    paths = np.minimum(count_paths(topology, targets, found), _MOST_PATHS).astype(np.int64)
    weight, uneven = paths[row, topology.links.dst[found.links]], np.zeros(found.count.size, dtype=bool)
    if len(fork):
        uneven[fork] = np.minimum.reduceat(weight, start) != np.maximum.reduceat(weight, start)
    return found, first, number, weight, uneven


def _walk_through(
    log: _Log,
    topology: Topology,
    chooser: Chooser | None,
    search: _Search,
    src: Column,
    dst: Column,
    stubs: Stubs,
) -> None:
    """Walk along the ways of a search from src[w] to dst[w], not counting hops from and to stubs."""
    links, found, nodes = topology.links, search.found, len(topology.nodes)
    start, count, heads = found.start.ravel(), found.count.ravel(), links.dst.astype(np.int64)
    onward = heads - links.src
    at = src if search.group is None else search.group.subtract(src, dst)
    cell = search.row[dst] * nodes + at
    log.lost[:] = (src != dst) & (search.first[cell] < 0)
    walker, hop = np.flatnonzero((src != dst) & ~log.lost), 0
    lanes = np.where(log.dst == dst, 1, stubs.down_lanes[log.dst])
    cell, node, state = cell[walker], src[walker], log.state[walker]
    link, room = search.first[cell], MOST_LINKS >> 2
    while len(walker):
        room -= len(walker)
        if room < 0:
            raise _too_long(len(src))
        if chooser is not None:
            paths = None
            if search.weight is not None and search.uneven is not None:
                paths = PathCounts(start[cell], search.uneven[cell], search.weight, lanes[walker])
            # a link of the ways stands for the same of the node where the walk is
            apart = 0 if search.group is None else (node - cell) * search.degree
            choice, state = chooser.choose(Fork(link + apart, count[cell], node, paths), state)
            link = found.links[start[cell] + choice]
        taken = link if search.group is None else link + (node - cell) * search.degree
        log.hops.append((walker, hop, taken))
        cell, node, hop = cell + onward[link], heads[taken], hop + 1
        # only at its target a walk has no link to take
        link = search.first[cell]
        moving = link >= 0
        if not moving.all():
            done = walker[~moving]
            log.count[done] += hop
            log.state[done] = state[~moving]
            walker, cell, link, node, state = (c[moving] for c in (walker, cell, link, node, state))


def _too_long(pairs: int) -> TopologyError:
    return TopologyError(f"the routes of {pairs:,} pairs cross too many links, over {MOST_LINKS:,} in all")


def is_translated(topology: Topology) -> bool:
    """Whether every rank's links are those of rank 0 in their order, moved along the dimensions.

    Then what is a shortest path stays one when it is moved.

    >>> from topologies import line, ring
    >>> is_translated(ring(4, 1e9)), is_translated(line(4, 1e9))
    (True, False)
    """
    links, ranks = topology.links, topology.ranks
    if len(topology.nodes) != ranks or not len(links) or len(links) % ranks:
        return False
    degree = len(links) // ranks
    cost, tails = links.cost.reshape(ranks, degree), links.src.reshape(ranks, degree)
    rank = np.arange(ranks)[:, None]
    if (tails != rank).any() or (cost != cost[0]).any():
        return False
    heads = links.dst.astype(np.int64).reshape(ranks, degree)
    return bool((heads == translations(topology.dims).add(heads[:1], rank)).all())
