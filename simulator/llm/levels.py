"""Traffic on a topology: the collectives of every group laid over its links, and which level carries what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.llm.calls import Call
from simulator.llm.errors import ModelError
from simulator.llm.group_schedules import dims_of, group_schedule
from topologies.routing import routes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.llm.traffic import Traffic
    from topologies.topology import Topology


@dataclass(frozen=True, slots=True)
class Pairs:
    """Bytes from rank to rank of a group, in units of M.

    Attributes
    ----------
    src, dst : ndarray of int64, shape (pairs,)
        Places in the group.
    share : ndarray of float64, shape (pairs,)
    """

    src: NDArray[np.int64]
    dst: NDArray[np.int64]
    share: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LevelTraffic:
    """What one kind of group sends over the links of one level in a step.

    Attributes
    ----------
    group, level : str
    total : float
        Bytes over all links of the level.
    busiest : float
        Bytes over the link that carries most of this group's.
    share : float
        Of what the group sends over links, the part that goes over this level.
    """

    group: str
    level: str
    total: float
    busiest: float
    share: float


@dataclass(frozen=True, slots=True)
class LinkTraffic:
    """What all groups together send over the links of one level in a step.

    Attributes
    ----------
    level : str
    links : int
        Directed.
    total : float
        Bytes.
    busiest : float
        Bytes over the link that takes longest.
    time : float
        s that the link takes which takes longest: bytes over bandwidth.
    link : str
        Its name.
    """

    level: str
    links: int
    total: float
    busiest: float
    time: float
    link: str


@dataclass(frozen=True, slots=True)
class Levels:
    """Traffic by level: of each kind of group, and of all together."""

    groups: tuple[LevelTraffic, ...]
    levels: tuple[LinkTraffic, ...]


def levels(traffic: Traffic, topology: Topology) -> Levels:
    """Lay every group's collectives over a topology's links.

    Rank r of the plan is rank r of the topology.

    Parameters
    ----------
    traffic : Traffic
    topology : Topology

    Raises
    ------
    ModelError
        If the topology has another number of ranks, or an algorithm cannot serve a group.

    Examples
    --------
    >>> from simulator.llm import plan, traffic
    >>> from simulator.llm.model import transformer
    >>> from topologies import Level, multilevel
    >>> machines = multilevel([Level("node", 8, "switch", 450e9), Level("net", 2, "switch", 50e9)])
    >>> gpt = transformer(layers=96, hidden=12288, heads=96, vocab=51200, sequence=2048)
    >>> step = traffic.traffic(gpt, plan.Parallel(tp=8, dp=2), plan.Batch(total=2))
    >>> {(row.group, row.level): round(row.share, 3) for row in levels(step, machines).groups if row.total}
    {('tp', 'node'): 1.0, ('dp', 'net'): 1.0}
    """
    if topology.ranks != traffic.parallel.ranks:
        raise ModelError(
            f"the plan has {traffic.parallel.ranks} ranks, the topology {topology.ranks}", ("topology",)
        )
    loads = {name: np.zeros(len(topology.links)) for name in traffic.groups}
    for name, load in _loads(traffic, topology):
        loads[name] += load
    rows = [row for name, load in loads.items() for row in _group_rows(name, load, topology)]
    return Levels(
        tuple(rows), tuple(_level_rows(sum(loads.values(), np.zeros(len(topology.links))), topology))
    )


def _loads(traffic: Traffic, topology: Topology) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Bytes on every link, by kind of group; calls that go the same ways together."""
    together: dict[tuple[Any, ...], tuple[Call, float]] = {}
    for call in traffic.calls:
        key = (call.group, call.kind, call.stage, call.peer)
        before = together.get(key, (call, 0.0))[1]
        together[key] = (call, before + float(call.size * call.times))
    for call, size in together.values():
        src, dst, share = _pairs(call, traffic, topology)
        yield call.group.name, _on_links(topology, src, dst, share * size)


def _pairs(
    call: Call, traffic: Traffic, topology: Topology
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Every pair of ranks that a call's groups have, and its bytes in units of M."""
    members = call.group.members(traffic.parallel, call.stage)
    if call.peer is not None:
        return members[:, call.stage], members[:, call.peer], np.ones(len(members))
    name = traffic.plan.algorithm(call.kind)
    dims = dims_of(topology, members[0]) if name == "hierarchical" else ()
    found = _scheduled(name, call.kind, members.shape[1], dims)
    src, dst = members[:, found.src].ravel(), members[:, found.dst].ravel()
    return src, dst, np.tile(found.share, len(members))


@cache
def _scheduled(name: str, kind: str, ranks: int, dims: tuple[int, ...]) -> Pairs:
    """What an algorithm of the catalogue sends from whom to whom."""
    # so many bytes that all shares are whole
    size = ranks * ranks
    schedule = group_schedule(name, kind, ranks, size, dims)
    key, where = np.unique(schedule.src.astype(np.int64) * ranks + schedule.dst, return_inverse=True)
    share = np.bincount(where.ravel(), weights=schedule.sizes(), minlength=len(key)) / size
    return Pairs(key // ranks, key % ranks, share)


def _on_links(
    topology: Topology, src: NDArray[np.int64], dst: NDArray[np.int64], sizes: NDArray[np.float64]
) -> NDArray[np.float64]:
    way = routes(topology, src, dst)
    carried = np.repeat(sizes, way.hops())
    return np.bincount(way.links, weights=carried, minlength=len(topology.links)).astype(np.float64)


def _group_rows(name: str, load: NDArray[np.float64], topology: Topology) -> Iterator[LevelTraffic]:
    whole = float(load.sum())
    for number, level in enumerate(topology.levels):
        here = load[topology.links.level == number]
        total = float(here.sum())
        yield LevelTraffic(name, level, total, float(here.max(initial=0)), total / whole if whole else 0.0)


def _level_rows(load: NDArray[np.float64], topology: Topology) -> Iterator[LinkTraffic]:
    for number, level in enumerate(topology.levels):
        here = np.flatnonzero(topology.links.level == number)
        time = load[here] / topology.links.bandwidth[here]
        slowest = int(here[np.argmax(time)]) if len(here) else -1
        yield LinkTraffic(
            level,
            len(here),
            float(load[here].sum()),
            float(load[slowest]) if len(here) else 0.0,
            float(time.max(initial=0)),
            topology.link_name(slowest) if len(here) else "-",
        )
