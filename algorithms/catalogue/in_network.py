"""Sums in the network: switches that reduce on the way up and copy on the way down."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from algorithms.algorithm import Algorithm
from algorithms.assembly import assemble
from algorithms.collective import make_collective
from algorithms.duality import dual
from algorithms.errors import ScheduleError
from algorithms.rounds import Round, Totals
from algorithms.schedule import COPY, REDUCE, Lists, Schedule, Step
from topologies.trees import aggregation_tree

if TYPE_CHECKING:
    from topologies.topology import Topology


@dataclass(frozen=True, slots=True)
class SwitchTree:
    """A tree of switches with the ranks as its leaves.

    Attributes
    ----------
    ranks, switches : int
    parent : dict of int to int
        Of each rank and switch that is in the tree, but the top.
    depth : dict of int to int
        Edges between each rank or switch that is in the tree and the top.
    top : int
        The switch above all.
    """

    ranks: int
    switches: int
    parent: dict[int, int]
    depth: dict[int, int]
    top: int

    @property
    def height(self) -> int:
        """Depth of the deepest rank."""
        return max(self.depth[rank] for rank in range(self.ranks))

    def above(self, node: int) -> list[int]:
        """The node, its parent, and so on to the top."""
        way = [node]
        while way[-1] != self.top:
            way.append(self.parent[way[-1]])
        return way


def switch_tree(ranks: int, tree: Sequence[int] | None) -> SwitchTree:
    """Tree from the parent of each rank and switch, -1 where there is none; one switch above all by default.

    Raises
    ------
    ScheduleError
        If some rank is without a parent, a parent is no switch, or there is not one top.
    """
    parents = [ranks] * ranks + [-1] if tree is None else list(tree)
    if len(parents) <= ranks:
        raise ScheduleError(
            f"a tree names the parents of {ranks} ranks and of their switches, found {len(parents)} parents",
            ("tree",),
        )
    for node, up in enumerate(parents):
        if not (ranks <= up < len(parents) or (up == -1 and node >= ranks)):
            raise ScheduleError(f"the parent of node {node} must be a switch, found {up}", ("tree", node))
    depth: dict[int, int] = {}
    for rank in range(ranks):
        *below, known = _way_up(rank, parents, depth)
        depth.setdefault(known, 0)
        for node in reversed(below):
            depth[node] = depth[parents[node]] + 1
    tops = [node for node, edges in depth.items() if edges == 0]
    if len(tops) > 1:
        raise ScheduleError(f"the ranks must meet in one switch, found {len(tops)} at the top", ("tree",))
    parent = {node: parents[node] for node in depth if node != tops[0]}
    return SwitchTree(ranks, len(parents) - ranks, parent, depth, tops[0])


def _way_up(node: int, parents: list[int], depth: dict[int, int]) -> list[int]:
    """The node and those above it, to the first whose depth is known, or to the top."""
    way = [node]
    while way[-1] not in depth and parents[way[-1]] != -1:
        way.append(parents[way[-1]])
        if len(way) > len(parents):
            raise ScheduleError(f"switch {way[-1]} is above itself", ("tree", way[-1]))
    return way


def in_network(
    kind: str, ranks: int, size: int, root: int = 0, tree: Sequence[int] | None = None
) -> Schedule:
    """Sum in switches: every rank sends its vector up once and, in an AllReduce, gets the sum back once.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`.
    root : int
        Of a Broadcast or a Reduce.
    tree : sequence of int, optional
        Parent of each rank and then of each switch; -1 for the one at the top, and for those that
        take no part. Switch j of the topology is number N + j. By default one switch is above all.
    """
    collective = make_collective(
        kind, ranks, size, blocks=None if kind == "barrier" else 1, root=0 if kind in BOTH_WAYS else root
    )
    if ranks == 1:
        return assemble(collective, [], algorithm="in_network")
    switches = switch_tree(ranks, tree)
    if kind == "reduce":
        spread = in_network("broadcast", ranks, size, root, tree)
        return dual(spread, collective)
    steps = up_and_down(switches, kind) if kind in BOTH_WAYS else spreading(switches, root)
    return assemble(collective, steps, algorithm="in_network", switches=switches.switches)


BOTH_WAYS: Final = ("allreduce", "barrier")


def up_and_down(tree: SwitchTree, kind: str) -> Iterator[Step]:
    """From the leaves to the top, level by level, and back."""
    levels: dict[int, list[int]] = {}
    for node in tree.parent:
        levels.setdefault(tree.depth[node], []).append(node)
    deepest_first = [sorted(levels[depth]) for depth in sorted(levels, reverse=True)]
    whole = kind == "allreduce"
    below: dict[int, list[int]] = {}
    for rank in range(tree.ranks):
        for node in tree.above(rank):
            below.setdefault(node, []).append(0 if whole else rank)
    for level in deepest_first:
        parents = [tree.parent[node] for node in level]
        yield (
            level,
            parents,
            _lists([below[node][:1] if whole else below[node] for node in level]),
            REDUCE if whole else COPY,
        )
    for level in deepest_first[::-1]:
        parents = [tree.parent[node] for node in level]
        everything = below[tree.top][:1] if whole else below[tree.top]
        yield (parents, level, _lists([everything for _ in level]), COPY)


def _lists(chunks: list[list[int]]) -> Lists:
    widths = [len(some) for some in chunks]
    return Lists(
        np.concatenate([[0], np.cumsum(widths)]), np.concatenate([np.array(some) for some in chunks])
    )


def spreading(tree: SwitchTree, root: int) -> Iterator[Step]:
    """From the root over the tree's edges outwards, one edge a step, to every rank."""
    joined: dict[int, list[int]] = {}
    for node, up in tree.parent.items():
        joined.setdefault(node, []).append(up)
        joined.setdefault(up, []).append(node)
    known, edge = {root}, [root]
    while len(known) < len(joined):
        # the last first: backwards, in a Reduce, a switch then hears them in order
        moves = [
            (node, other)
            for node in sorted(edge)
            for other in sorted(joined[node], reverse=True)
            if other not in known
        ]
        edge = [other for _, other in moves]
        known.update(edge)
        src, dst = np.array(moves).T
        yield (src, dst, np.zeros(len(moves), dtype=np.int64), COPY)


def in_network_rounds(
    kind: str,
    ranks: int,
    size: int,
    root: int = 0,
    tree: Sequence[int] | None = None,
    segments: int = 1,
) -> tuple[Round, ...]:
    """One link after the other: twice the height of the tree; the last segment follows the others."""
    if ranks == 1:
        return ()
    part = Fraction(size, segments)
    steps = _steps(kind, switch_tree(ranks, tree), root)
    if kind == "reduce":
        # the root adds its own part to what the switches have summed
        turns: tuple[Round, ...] = (Round(steps - 1, part), Round(1, part, fan_in=1))
    else:
        turns = (Round(steps, part),)
    return turns if segments == 1 else (*turns, Round(segments - 1, part, turns[-1].fan_in, pipelined=True))


def _steps(kind: str, tree: SwitchTree, root: int) -> int:
    if kind in BOTH_WAYS:
        return 2 * tree.height
    up = tree.above(root)
    return max(
        len(up) + len(other) - 2 * len(set(up) & set(other))
        for other in (tree.above(rank) for rank in range(tree.ranks))
    )


def in_network_totals(kind: str, ranks: int, tree: Sequence[int] | None = None) -> Totals:
    """Each edge of the tree once; up and down for an AllReduce or a Barrier."""
    if ranks == 1:
        return Totals(0, Fraction(0))
    edges = len(switch_tree(ranks, tree).parent)
    sent = Fraction(edges)
    return {
        "allreduce": Totals(2 * edges, 2 * sent, sent),
        "reduce": Totals(edges, sent, sent),
        "broadcast": Totals(edges, sent),
        "barrier": Totals(2 * edges, Fraction(0)),
    }[kind]


def tree_of_switches(
    topology: Topology, options: Mapping[str, Any], placement: Sequence[int] | None
) -> dict[str, Any]:
    """The topology's tree of switches that reduce, its leaves named as the schedule's ranks.

    Raises
    ------
    ScheduleError
        If there is no such tree.
    """
    if "tree" in options:
        return {}
    tree = aggregation_tree(topology)
    if tree is None:
        message = (
            "in_network needs switches that reduce above all ranks, e.g. a crossbar with switch: reduces"
        )
        raise ScheduleError(message, ("algorithm",))
    # a placement that is no order of all ranks is refused when the schedule is laid on the topology
    if placement is None or sorted(placement) != list(range(topology.ranks)):
        return {"tree": tree}
    return {"tree": (*(tree[rank] for rank in placement), *tree[topology.ranks :])}


IN_NETWORK: Final = (
    Algorithm(
        "in_network",
        ("broadcast", "reduce", "allreduce", "barrier"),
        in_network,
        in_network_rounds,
        in_network_totals,
        "2 h (alpha + M/beta) over a tree of height h, with alpha and beta of one link",
        "switch",
        "Graham et al. 2016 (SHARP)",
        constraint="switches that reduce",
        keeps_order="root 0",
        from_topology=tree_of_switches,
    ),
)
