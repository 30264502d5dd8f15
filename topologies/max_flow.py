"""Minimum cuts by maximum flow: push-relabel, the highest first.

Goldberg and Tarjan (1988); Cherkassky and Goldberg (1997) for the order, exact labels and gaps.
"""

from __future__ import annotations

from collections.abc import MutableSequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from topologies.loops import fast

if TYPE_CHECKING:
    from numpy.typing import NDArray

Column: TypeAlias = MutableSequence[int]
"""A list in Python, an array of int64 where a loop is compiled."""


@dataclass(frozen=True, slots=True, eq=False)
class FlowNetwork:
    """Edges between nodes, each an arc and its twin the other way.

    Attributes
    ----------
    nodes : int
    first : ndarray of int64, shape (nodes + 1,)
        Node u has the arcs first[u]:first[u + 1].
    head, twin : ndarray of int64, shape (2 edges,)
        Where an arc leads, and which arc leads back.
    forth : ndarray of int64, shape (edges,)
        The arc of each edge from its first end to its second.
    """

    nodes: int
    first: NDArray[np.int64]
    head: NDArray[np.int64]
    twin: NDArray[np.int64]
    forth: NDArray[np.int64]


def flow_network(nodes: int, u: NDArray[np.integer], v: NDArray[np.integer]) -> FlowNetwork:
    """Network of edges between u[i] and v[i]."""
    tail, head = np.concatenate([u, v]), np.concatenate([v, u])
    order = np.argsort(tail, kind="stable")
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    edges = len(u)
    twin = np.concatenate([place[edges:], place[:edges]])[order]
    first = np.concatenate([[0], np.cumsum(np.bincount(tail, minlength=nodes))])
    return FlowNetwork(nodes, first.astype(np.int64), head[order].astype(np.int64), twin, place[:edges])


def min_cut(
    network: FlowNetwork,
    forth: NDArray[np.int64],
    back: NDArray[np.int64],
    source: int,
    sink: int,
    turns: int = 0,
) -> tuple[int, NDArray[np.bool_]]:
    """Least capacity that parts a source from a sink, and the nodes on the source's side.

    Of several least cuts it is the one with the most nodes on the source's side.

    Parameters
    ----------
    network : FlowNetwork
    forth, back : ndarray of int64, shape (edges,)
        Capacities of each edge from its first end to its second, and back; the sum of all is
        less than 2^62.
    source, sink : int
    turns : int
        About how long the search for this and the cuts to come takes, in loops' turns (`fast`).

    Examples
    --------
    >>> line = flow_network(3, np.array([0, 1]), np.array([1, 2]))
    >>> value, inside = min_cut(line, np.array([5, 3]), np.array([0, 0]), 0, 2)
    >>> value, inside.tolist()
    (3, [True, True, False])
    """
    measure, press = fast(_relabel_all, turns), fast(_discharge, turns)
    left = np.zeros(len(network.head), dtype=np.int64)
    left[network.forth] = forth
    left[network.twin[network.forth]] = back
    excess = np.zeros(network.nodes, dtype=np.int64)
    own = slice(network.first[source], network.first[source + 1])
    np.add.at(excess, network.head[own], left[own])
    left[network.twin[own]] += left[own]
    left[own] = 0
    zeros = np.zeros(network.nodes + 1, dtype=np.int64)
    columns = (network.first, network.head, network.twin, left, excess, *(zeros.copy() for _ in range(5)))
    if measure is _relabel_all:
        first, head, twin, rest, full, *scratch = (column.tolist() for column in columns)
    else:
        first, head, twin, rest, full, *scratch = columns
    label, current, waiting, top, count = scratch
    done = 0
    while not done:
        measure(first, head, twin, rest, sink, label, waiting)
        done = press(first, head, twin, rest, full, label, current, waiting, top, count, sink)
    measure(first, head, twin, rest, sink, label, waiting)
    return int(full[sink]), np.array(label[: network.nodes]) == network.nodes


def _relabel_all(
    first: Column, head: Column, twin: Column, left: Column, sink: int, label: Column, queue: Column
) -> None:
    """Label every node with its arcs to the sink, of those with room, or with the nodes where none lead."""
    nodes = len(first) - 1
    for node in range(nodes):
        label[node] = nodes
    label[sink], queue[0] = 0, sink
    seen = 1
    at = 0
    while at < seen:
        node = queue[at]
        at += 1
        for arc in range(first[node], first[node + 1]):
            other = head[arc]
            if left[twin[arc]] > 0 and label[other] == nodes:
                label[other] = label[node] + 1
                queue[seen] = other
                seen += 1


def _discharge(
    first: Column,
    head: Column,
    twin: Column,
    left: Column,
    excess: Column,
    label: Column,
    current: Column,
    waiting: Column,
    top: Column,
    count: Column,
    sink: int,
) -> int:
    """Press excess towards the sink, the farthest first; 0 where labels should be measured anew before."""
    nodes = len(first) - 1
    for node in range(nodes + 1):
        top[node] = -1
        count[node] = 0
    highest = 0
    for node in range(nodes):
        current[node] = first[node]
        count[label[node]] += 1
        if excess[node] > 0 and label[node] < nodes and node != sink:
            waiting[node] = top[label[node]]
            top[label[node]] = node
            highest = max(highest, label[node])
    patience = 2 * len(head) + 4 * nodes
    while highest > 0:
        node = top[highest]
        if node < 0:
            highest -= 1
            continue
        top[highest] = waiting[node]
        if label[node] != highest:
            continue
        if patience < 0:
            return 0
        while excess[node] > 0:
            arc = current[node]
            if arc < first[node + 1]:
                other = head[arc]
                if left[arc] > 0 and label[node] == label[other] + 1:
                    moved = min(excess[node], left[arc])
                    left[arc] -= moved
                    left[twin[arc]] += moved
                    excess[node] -= moved
                    if excess[other] == 0 and other != sink:
                        waiting[other] = top[label[other]]
                        top[label[other]] = other
                        highest = max(highest, label[other])
                    excess[other] += moved
                else:
                    current[node] = arc + 1
                continue
            lowest = nodes
            for way in range(first[node], first[node + 1]):
                if left[way] > 0:
                    lowest = min(lowest, label[head[way]] + 1)
            patience -= first[node + 1] - first[node]
            was = label[node]
            count[was] -= 1
            if count[was] == 0:
                # nobody is left at this distance: who is farther has no way
                for far in range(nodes):
                    if was < label[far] < nodes:
                        count[label[far]] -= 1
                        label[far] = nodes
                patience -= nodes
                lowest = nodes
            label[node] = lowest
            if lowest >= nodes:
                break
            count[lowest] += 1
            current[node] = first[node]
    return 1
