"""The links that messages cross, and what ranks do between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from algorithms.errors import ScheduleError
from algorithms.schedule import expand, unique_inverse
from simulator.engine.hops import Hops, hold_table
from topologies.multipath import flow_routes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.schedule import Schedule
    from simulator.engine.machine import Machine
    from simulator.engine.network import Network
    from simulator.engine.operations import Messages
    from topologies.paths import Routes


def link_hops(
    schedule: Schedule, messages: Messages, machine: Machine, *, parts: int = 0, extra: int = 0
) -> Hops:
    """Links that every message crosses.

    Parameters
    ----------
    schedule : Schedule
    messages : Messages
        Of all transfers, or of a block of them.
    machine : Machine
    parts, extra : int
        Operations and hops that the transfers have beside, for which there must be memory, too.

    Raises
    ------
    ScheduleError
        If a transfer needs more than one hop and `direct_links_only` forbids it.
    TopologyError
        If there is no route.
    PlanError
        If there is not enough memory for them.
    """
    network = machine.network
    way, pair = ways_of(schedule, messages, machine)
    count = way.hops().astype(np.int32)[pair]
    check_direct(schedule, messages.transfer, count, network)
    # where these are a block of all transfers, the others are taken to be like them
    share = max(1.0, len(schedule) / max(1, len(count)))
    machine.check_memory(len(schedule), int(count.sum(dtype=np.int64) * share) + extra, parts)
    message, at = expand(way.offsets[pair], count)
    walked = way.links[at]
    if network.model in ("cut_through", "fair_share"):
        head = at != way.offsets[pair][message]
    else:
        head = np.zeros(len(walked), dtype=bool)
    return Hops(count, walked, _holds(messages.size, message, walked, machine), head)


def computed(schedule: Schedule, messages: Messages, machine: Machine) -> list[Hops]:
    """What ranks compute between their messages, where a program says that they do."""
    if schedule.precedence is None or schedule.precedence.work is None:
        return []
    work, processor = schedule.precedence.work[messages.transfer], schedule.precedence.processor
    which = np.zeros(len(work), dtype=np.int64) if processor is None else processor[messages.transfer]
    return [machine.computing(work, messages.src, which)]


def ways_of(schedule: Schedule, messages: Messages, machine: Machine) -> tuple[Routes, NDArray[np.integer]]:
    """Routes of all messages, and which of them each takes.

    Raises
    ------
    TopologyError
        If there is no route, or a static one is wrong.
    """
    network, nodes = machine.network, len(machine.topology.nodes)
    routing = network.chosen_routing
    flow = messages.src * nodes + messages.dst
    if routing.by_channel:
        flow += schedule.channel[messages.transfer].astype(np.int64) * nodes**2
    distinct, which = unique_inverse(flow)
    turn = np.zeros(len(distinct), dtype=np.int64)
    if routing.by_turn:
        distinct, which, turn = flow, np.arange(len(flow)), _turns(which)
    known = machine.known
    if known is None:
        return _found(machine, distinct, turn), which
    key = distinct.tobytes() + turn.tobytes()
    if key not in known:
        known[key] = _found(machine, distinct, turn)
    return known[key], which


def _found(machine: Machine, flow: NDArray[np.int64], turn: NDArray[np.int64]) -> Routes:
    """Routes of flows, each a channel and a pair of nodes in one number."""
    network, nodes = machine.network, len(machine.topology.nodes)
    channel, pair = np.divmod(flow, nodes**2)
    src, dst = np.divmod(pair, nodes)
    return flow_routes(machine.topology, network.chosen_routing, network.routes, src, dst, channel, turn)


def _turns(group: NDArray[np.integer]) -> NDArray[np.int64]:
    """How many of its group come before each member.

    >>> _turns(np.array([4, 7, 4, 4])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(group, kind="stable")
    first = np.flatnonzero(np.diff(group[order], prepend=-1))
    size = np.diff(first, append=len(group))
    turn = np.empty(len(group), dtype=np.int64)
    turn[order] = np.arange(len(group)) - np.repeat(first, size)
    return turn


def _holds(
    sizes: NDArray[np.int64], message: NDArray[np.integer], walked: NDArray[np.int32], machine: Machine
) -> NDArray[np.int64]:
    links = machine.topology.links
    distinct, which = unique_inverse(sizes)
    return hold_table(links.bandwidth, links.overhead, distinct, walked, which[message])


def check_direct(
    schedule: Schedule, transfer: NDArray[np.integer], links: NDArray[np.integer], network: Network
) -> None:
    """Refuse a transfer that crosses several links, where only direct links are allowed.

    Raises
    ------
    ScheduleError
        Names the first of them.
    """
    if not network.direct_links_only or not (links > 1).any():
        return
    far = int(np.argmax(links > 1))
    columns = (schedule.step, schedule.src, schedule.dst)
    step, src, dst = (int(column[transfer[far]]) for column in columns)
    text = (
        f"step {step}: rank {src} sends to rank {dst}, {links[far]} hops away; direct_links_only forbids it"
    )
    raise ScheduleError(text, ("direct_links_only",), step=step, rank=src)
