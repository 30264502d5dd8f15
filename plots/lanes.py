"""Lanes of a timeline's figure: which resource is shown where, from the top."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from plots.palette import label
from simulator.engine.plan import (
    LINK,
    PROCESSOR,
    RECEIVE_PORT,
    REDUCER,
    SEND_PORT,
    STAGE,
    START,
    name_at_rank,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.engine.plan import Plan
    from simulator.engine.timeline import Timeline
    from topologies.topology import Topology

HIDDEN: Final = -1
ROLES: Final = ("processor", "sends", "receives", "stages", "reduces", "starts")
_PROCESSOR, _SENDS, _RECEIVES, _STAGES, _REDUCES, _STARTS = range(6)
_AT_RANKS: Final = {
    REDUCER: "reducers",
    PROCESSOR: "processors",
    SEND_PORT: "send ports",
    RECEIVE_PORT: "receive ports",
    STAGE: "stages",
    START: "starts",
}


@dataclass(frozen=True, slots=True, eq=False)
class Lanes:
    """Lanes of a figure, numbered from the top, and the groups they stand in.

    Attributes
    ----------
    lane : ndarray of int64, shape (layers, resources)
        Lane of each resource, HIDDEN where it has none. A second layer shows links once more,
        at the rank they lead to.
    low, high : ndarray of float64, shape (layers, resources)
        Part of the lane's height that is the resource's own, 0 at its top, 1 at its bottom.
    group : ndarray of int64, shape (lanes,)
        Position in `groups` of each lane; rises.
    groups : tuple of str
    name : callable
        Name of a lane.
    """

    lane: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    group: NDArray[np.int64]
    groups: tuple[str, ...]
    name: Callable[[int], str]

    def __len__(self) -> int:
        return len(self.group)

    def starts(self) -> NDArray[np.int64]:
        """First lane of each group."""
        return np.flatnonzero(np.diff(self.group, prepend=-1))


def by_resource(plan: Plan, topology: Topology, *, starts: bool = True) -> Lanes:
    """One lane for each resource used: links by level, source and destination, then what ranks have."""
    kind, which = plan.resources.kind, plan.resources.which.astype(np.int64)
    group, titles = _kinds(plan, topology)
    member, link = which.copy(), kind == LINK
    order = np.lexsort((topology.links.dst, topology.links.src))
    member[link] = _inverse(order)[which[link]]

    def name(resource: int) -> str:
        if kind[resource] == LINK:
            return _link_name(topology, int(which[resource]))
        return name_at_rank(int(kind[resource]), int(which[resource]))

    return _stack(_used(plan, starts=starts), group[None], member[None], titles, name)


def by_rank(plan: Plan, topology: Topology, *, role_first: bool = False, starts: bool = True) -> Lanes:
    """Lanes for what each rank sends, receives and reduces; links between switches have their own, below.

    Links that leave a rank share its lane, side by side. The lanes of a rank stand together or,
    `role_first`, those of a role.
    """
    rank, role, level = _ends(plan, topology)
    at_rank = role != HIDDEN
    group, member = (role, rank) if role_first else (rank, role)
    titles = ROLES if role_first else tuple(f"rank {i}" for i in range(topology.ranks))
    group = np.where(at_rank, group, np.where(level == HIDDEN, HIDDEN, len(titles) + level))
    member = np.where(at_rank, member, np.arange(len(plan.resources)))
    # beside the names of ranks there is no room for others, and the links tell theirs
    titles += tuple(f"{label(level)} links" if role_first else "" for level in topology.levels)

    def name(resource: int, layer: int) -> str:
        if not at_rank[layer, resource]:
            return _link_name(topology, int(plan.resources.which[resource]))
        return f"rank {rank[layer, resource]}" if role_first else ROLES[role[layer, resource]]

    resources = len(plan.resources)
    used = _used(plan, starts=starts)
    return _stack(used, group, member, titles, lambda entry: name(entry % resources, entry // resources))


def by_level(plan: Plan, topology: Topology) -> Lanes:
    """One lane for all links of a level, and one for what ranks have of each kind, in equal parts."""
    group, titles = _kinds(plan, topology)
    member = np.zeros_like(group)
    return _stack(
        _used(plan, starts=False), group[None], member[None], titles, lambda entry: titles[group[entry]]
    )


def _kinds(plan: Plan, topology: Topology) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """What each resource is among: links of a level, or what ranks have of a kind; names of all of these."""
    kind, which = plan.resources.kind, plan.resources.which
    levels, link = len(topology.levels), kind == LINK
    group = np.select([kind == own for own in _AT_RANKS], levels + np.arange(len(_AT_RANKS)))
    group[link] = topology.links.level[which[link]]
    return group, (*(f"{label(level)} links" for level in topology.levels), *_AT_RANKS.values())


def only(lanes: Lanes, resources: NDArray[np.bool_]) -> Lanes:
    """The lanes of some resources, closed up."""
    # the last place is that of HIDDEN
    lane = np.where(resources, lanes.lane, HIDDEN)
    kept = np.unique(lane[lane != HIDDEN])
    place = np.full(len(lanes) + 1, HIDDEN)
    place[kept] = np.arange(len(kept))
    present, group = np.unique(lanes.group[kept], return_inverse=True)
    return replace(
        lanes,
        lane=place[lane],
        group=group.ravel(),
        groups=tuple(lanes.groups[i] for i in present),
        name=lambda number: lanes.name(int(kept[number])),
    )


def some_lanes(lanes: Lanes, most: int) -> list[int]:
    """Lanes that are named: about so many, evenly within their groups."""
    some: list[int] = []
    for first, stop in pairwise([*lanes.starts().tolist(), len(lanes)]):
        count = max(1, round(most * (stop - first) / len(lanes)))
        step = -(-(stop - first) // count)
        # the last would run into the first of the next group
        some += range(first, max(first + 1, stop - step // 2), step)
    return some


def packed(lanes: Lanes, timeline: Timeline) -> Lanes:
    """The same lanes, where resources that are never in use at once are not side by side, but taller."""
    low, high = lanes.low.copy(), lanes.high.copy()
    for lane in np.unique(lanes.lane[high - low < 1]):
        entry = np.flatnonzero((lanes.lane == lane) & (lanes.high - lanes.low < 1))
        track = _tracks([_in_use(timeline, int(i) % lanes.lane.shape[1]) for i in entry])
        share = track.max() + 1
        low.ravel()[entry], high.ravel()[entry] = track / share, (track + 1) / share
    return replace(lanes, low=low, high=high)


def _in_use(timeline: Timeline, resource: int) -> NDArray[np.int64]:
    """From when to when messages wait for a resource, hold it or leave it, shape (hops, 2)."""
    own = timeline.plan.resource == resource
    last = timeline.release[own] + timeline.plan.resources.latency[resource]
    return np.stack([timeline.arrival[own], last], axis=1)


def _tracks(uses: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Track of each use: the first in which it meets no other at any time."""
    tracks: list[NDArray[np.int64]] = []
    found = []
    for use in uses:
        number = next((i for i, other in enumerate(tracks) if not _meet(use, other)), len(tracks))
        if number == len(tracks):
            tracks.append(use)
        else:
            tracks[number] = np.concatenate([tracks[number], use])
        found.append(number)
    return np.array(found)


def _meet(one: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
    """Whether an interval of one overlaps an interval of the other."""
    return bool(((one[:, None, 0] < other[None, :, 1]) & (other[None, :, 0] < one[:, None, 1])).any())


def _link_name(topology: Topology, link: int) -> str:
    """Name of a link, with its ends as figures write them."""
    src, dst = (topology.nodes[node[link]] for node in (topology.links.src, topology.links.dst))
    twin = topology.link_name(link).removeprefix(f"{src}->{dst}")
    return f"{label(src)}->{label(dst)}{twin}"


def _ends(plan: Plan, topology: Topology) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Rank and role of each resource at its beginning and at its end; level of links between switches."""
    kind, which = plan.resources.kind, plan.resources.which.astype(np.int64)
    rank = np.tile(which, (2, 1))
    role = np.full(rank.shape, HIDDEN)
    level = role.copy()
    # ports are as busy as the links that begin or end at them
    own = {PROCESSOR: _PROCESSOR, STAGE: _STAGES, REDUCER: _REDUCES, START: _STARTS}
    role[0] = np.select([kind == which for which in own], list(own.values()), HIDDEN)
    link = np.flatnonzero(kind == LINK)
    ends = ((topology.links.src, _SENDS), (topology.links.dst, _RECEIVES))
    for layer, (node, what) in enumerate(ends):
        rank[layer, link] = node[which[link]]
        role[layer, link] = np.where(rank[layer, link] < topology.ranks, what, HIDDEN)
    inner = link[(role[:, link] == HIDDEN).all(axis=0)]
    level[0, inner] = topology.links.level[which[inner]]
    return rank, role, level


def _used(plan: Plan, *, starts: bool) -> NDArray[np.bool_]:
    used = np.bincount(plan.resource, minlength=len(plan.resources)) > 0
    return used if starts else used & (plan.resources.kind != START)


def _inverse(order: NDArray[np.int64]) -> NDArray[np.int64]:
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place


def _stack(
    used: NDArray[np.bool_],
    group: NDArray[np.int64],
    member: NDArray[np.int64],
    titles: tuple[str, ...],
    name: Callable[[int], str],
) -> Lanes:
    """Lanes in the order of (group, member); entries that agree in both share a lane in equal parts."""
    shown = np.flatnonzero((group != HIDDEN) & used)
    groups, members = group.ravel()[shown], member.ravel()[shown]
    order = np.lexsort((shown, members, groups))
    entry, groups, members = shown[order], groups[order], members[order]
    new = (np.diff(groups, prepend=-1) != 0) | (np.diff(members, prepend=-1) != 0)
    number, first = np.cumsum(new) - 1, np.flatnonzero(new)
    share = np.bincount(number)[number] if len(number) else number
    part = np.arange(len(entry)) - first[number]
    lane = np.full(group.shape, HIDDEN)
    low, high = np.zeros(group.shape), np.ones(group.shape)
    lane.ravel()[entry] = number
    low.ravel()[entry], high.ravel()[entry] = part / share, (part + 1) / share
    present, of_lane = np.unique(groups[first], return_inverse=True)
    heads = entry[first]
    return Lanes(
        lane,
        low,
        high,
        of_lane.ravel(),
        tuple(titles[i] for i in present),
        lambda number: name(int(heads[number])),
    )
