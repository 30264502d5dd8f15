"""What a step sends over the links of a topology: by level, and over the links that have most to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simulator.engine.analysis import LinkUse, use_of
from simulator.engine.engines import run_plan
from simulator.engine.plan import LINK
from topologies.clock import to_seconds

if TYPE_CHECKING:
    from simulator.engine.timeline import Timeline
    from simulator.llm.step.fabric import Fabric
    from simulator.llm.step.simulate import Step
    from topologies.topology import Topology


@dataclass(frozen=True, slots=True)
class LevelUse:
    """Use of the links of a level in a step.

    Attributes
    ----------
    level : str
    links : int
        Directed.
    bytes : int
        Over all of them.
    utilisation : float
        Bytes over what the links could carry in the time of the step, over all of them.
    hottest : HotLink or None
        The link with the highest utilisation.
    """

    level: str
    links: int
    bytes: int
    utilisation: float
    hottest: HotLink | None


@dataclass(frozen=True, slots=True)
class HotLink:
    """Use of one link in a step.

    Attributes
    ----------
    number : int
        Of the topology's links.
    name, level : str
    bytes : int
    busy : int
        fs for which it is held; where links are shared, its bytes over its bandwidth.
    utilisation : float
        Bytes over what it could carry in the time of the step.
    bandwidth : float
        B/s that it could carry.
    """

    number: int
    name: str
    level: str
    bytes: int
    busy: int
    utilisation: float
    bandwidth: float

    @property
    def achieved(self) -> float:
        """B/s while it is busy."""
        return self.bytes / to_seconds(self.busy) if self.busy else 0.0


def step_link_use(step: Step, fabric: Fabric) -> LinkUse:
    """Use of every link in a step: of calls that were laid over it, and of those that were memoised."""
    links = len(fabric.topology.links)
    moved, busy = np.zeros(links, dtype=np.int64), np.zeros(links, dtype=np.int64)
    for timeline, times in _timelines(step, fabric):
        carried = timeline.plan.bytes
        if carried is not None and (timeline.plan.resources.kind == LINK).any():
            use = use_of(timeline, carried)
            moved += times * use.bytes
            busy += times * use.busy
    return LinkUse(moved, busy)


def _timelines(step: Step, fabric: Fabric) -> Iterator[tuple[Timeline, int]]:
    """What was run, and how often it counts: a memoised call once for each time that it is done."""
    yield step.timeline, 1
    done = Counter((task.way, task.size) for task in step.graph.tasks if task.way in step.memoised)
    for (way, size), times in done.items():
        assert way is not None
        yield run_plan(fabric.plan(way, size), step.timeline.engine), times


def level_uses(use: LinkUse, topology: Topology, time: int) -> tuple[LevelUse, ...]:
    """Use of each level in a step of so many fs."""
    return tuple(_level(use, topology, time, number) for number in range(len(topology.levels)))


def hottest_links(use: LinkUse, topology: Topology, time: int, count: int = 5) -> tuple[HotLink, ...]:
    """The links that take longest for their bytes, the first of those that take as long first."""
    order = np.argsort(-use.bytes / topology.links.bandwidth, kind="stable")
    return tuple(_link(use, topology, time, int(link)) for link in order[:count] if use.bytes[link])


def _level(use: LinkUse, topology: Topology, time: int, number: int) -> LevelUse:
    here = np.flatnonzero(topology.links.level == number)
    could = float(topology.links.bandwidth[here].sum()) * to_seconds(time)
    total = int(use.bytes[here].sum())
    longest = use.bytes[here] / topology.links.bandwidth[here]
    hottest = _link(use, topology, time, int(here[np.argmax(longest)])) if total else None
    return LevelUse(topology.levels[number], len(here), total, total / could if could else 0.0, hottest)


def _link(use: LinkUse, topology: Topology, time: int, link: int) -> HotLink:
    bandwidth = float(topology.links.bandwidth[link])
    could = bandwidth * to_seconds(time)
    return HotLink(
        link,
        topology.link_name(link),
        topology.levels[topology.links.level[link]],
        int(use.bytes[link]),
        int(use.busy[link]),
        int(use.bytes[link]) / could if could else 0.0,
        bandwidth,
    )
