"""The links that messages cross."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from algorithms.errors import ScheduleError
from algorithms.schedule import expand
from simulator.engine.hops import Hops, hold_table, unique_inverse
from topologies.routing import routes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.schedule import Schedule
    from simulator.engine.machine import Machine
    from simulator.engine.operations import Messages


def link_hops(schedule: Schedule, messages: Messages, machine: Machine) -> Hops:
    """Links that every message crosses.

    Raises
    ------
    ScheduleError
        If a transfer needs more than one hop and `direct_links_only` forbids it.
    TopologyError
        If there is no route.
    """
    topology, network = machine.topology, machine.network
    nodes = len(topology.nodes)
    pairs, pair = unique_inverse(messages.src * nodes + messages.dst)
    way = routes(topology, pairs // nodes, pairs % nodes)
    count = way.hops()[pair]
    if network.direct_links_only and (count > 1).any():
        far = int(np.argmax(count > 1))
        raise _indirect(schedule, int(messages.transfer[far]), int(count[far]))
    message, at = expand(way.offsets[pair], count)
    walked = way.links[at]
    if network.model == "cut_through":
        head = at != way.offsets[pair][message]
    else:
        head = np.zeros(len(walked), dtype=bool)
    return Hops(count, walked, _holds(messages.size, message, walked, machine), head)


def _holds(
    sizes: NDArray[np.int64], message: NDArray[np.integer], walked: NDArray[np.int32], machine: Machine
) -> NDArray[np.int64]:
    links = machine.topology.links
    distinct, which = unique_inverse(sizes)
    return hold_table(links.bandwidth, links.overhead, distinct, walked, which[message])


def _indirect(schedule: Schedule, row: int, links: int) -> ScheduleError:
    step, src, dst = (int(column[row]) for column in (schedule.step, schedule.src, schedule.dst))
    text = f"step {step}: rank {src} sends to rank {dst}, {links} hops away; direct_links_only forbids it"
    return ScheduleError(text, ("direct_links_only",), step=step, rank=src)
