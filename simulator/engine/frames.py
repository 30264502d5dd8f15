"""Transfers of several operations: packets, what their ranks do for a message, and a rendezvous before it.

A transfer is, in this order, a request and its answer (of a rendezvous), an opening, its packets
and a closing. The processors of the ranks work on a message in the opening and the closing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from algorithms.schedule import unique_inverse
from simulator.engine.hops import Hops, clipped, hold_table, joined, single
from simulator.engine.links import computed, link_hops
from simulator.engine.operations import Messages, Operations
from simulator.engine.plan import PROCESSOR, RECEIVE_PORT, SEND_PORT
from topologies.clock import femtoseconds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.schedule import Schedule
    from simulator.engine.machine import Machine
    from simulator.engine.network import Network


def packets_of(sizes: NDArray[np.int64], network: Network) -> NDArray[np.int64]:
    """Packets of messages of so many bytes; one where the model knows no packets."""
    if network.model != "packet":
        return np.ones(len(sizes), dtype=np.int64)
    return np.maximum(1, -(-sizes // network.packet))


def packet_sizes(sizes: NDArray[np.int64], network: Network) -> dict[int, int]:
    """How many packets there are of each size; or messages, where the model knows no packets.

    Examples
    --------
    >>> from simulator.engine.network import Network
    >>> packet_sizes(np.array([10, 10, 4]), Network("packet", mtu=4))
    {2: 2, 4: 5}
    """
    if network.model == "packet":
        rest = sizes % network.packet
        last = rest[(rest > 0) | (sizes == 0)]
        found = packet_sizes(last, replace(network, model="store_and_forward", mtu=None))
        whole = int((sizes // network.packet).sum())
        return {**found, network.packet: whole} if whole else found
    distinct, count = np.unique(sizes, return_counts=True)
    return dict(zip(distinct.tolist(), count.tolist(), strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class _Frames:
    """Which operation is what.

    Attributes
    ----------
    messages : Messages
        From whom to whom each operation goes, with its bytes: those of its packet, or none.
    first, opening, closing : ndarray of int64, shape (transfers,)
        First operation of each transfer, what all its packets wait for, and what waits for them.
    request, answer, opens, carries, closes : ndarray of bool, shape (operations,)
    """

    messages: Messages
    first: NDArray[np.int64]
    opening: NDArray[np.int64]
    closing: NDArray[np.int64]
    request: NDArray[np.bool_]
    answer: NDArray[np.bool_]
    opens: NDArray[np.bool_]
    carries: NDArray[np.bool_]
    closes: NDArray[np.bool_]

    @property
    def moves(self) -> NDArray[np.bool_]:
        """What crosses the network."""
        return self.request | self.answer | self.carries


def framed(schedule: Schedule, whole: Messages, reduces: NDArray[np.bool_], machine: Machine) -> Operations:
    """Operations of transfers that may have several.

    Parameters
    ----------
    schedule : Schedule
    whole : Messages
        One a transfer.
    reduces : ndarray of bool, shape (transfers,)
        What ends at a reducer.
    machine : Machine
    """
    endpoint = machine.endpoint
    asks = np.zeros(len(whole.size), dtype=bool)
    if endpoint is not None and endpoint.protocol == "rendezvous":
        asks = whole.size > endpoint.threshold
    frames = _frames(whole, asks, machine)
    stretches = [_links(schedule, frames, machine)]
    if endpoint is not None:
        stretches = _between_ranks(frames, stretches[0], machine)
    stretches.append(_reducing(frames, whole, reduces, machine))
    stretches += computed(schedule, frames.messages, machine)
    begin, end = _ends(frames, asks, eager=endpoint is not None)
    messages = frames.messages
    return Operations(messages.transfer, joined(stretches), begin, end, *_inner(frames), messages.size)


def _frames(whole: Messages, asks: NDArray[np.bool_], machine: Machine) -> _Frames:
    # what a rank does by itself is one operation, and crosses nothing
    far = whole.src != whole.dst
    packets = np.where(far, packets_of(whole.size, machine.network), 1)
    closed = far & ((packets > 1) | (machine.endpoint is not None))
    asks = asks & far
    count = packets + 2 * closed + 2 * asks
    parts = int(count.sum())
    # each walks at least one hop, but for openings and closings
    machine.check_memory(len(count), int(packets.sum()), parts)
    first = np.cumsum(count) - count
    transfer = np.repeat(np.arange(len(count), dtype=np.int32), count)
    at, lead = np.arange(len(transfer)) - first[transfer], (2 * asks)[transfer]
    request, answer = (at == 0) & (lead > 0), (at == 1) & (lead > 0)
    opens = closed[transfer] & (at == lead)
    closes = closed[transfer] & (at == count[transfer] - 1)
    carries = (at >= lead) & ~opens & ~closes & far[transfer]
    size = whole.size[transfer]
    if machine.network.model == "packet":
        mtu = machine.network.packet
        size = np.minimum(size - (at - lead - closed[transfer]) * mtu, mtu)
    src, dst = whole.src[transfer], whole.dst[transfer]
    messages = Messages(
        np.where(answer, dst, src), np.where(answer, src, dst), np.where(carries, size, 0), transfer
    )
    ends = (first, first + 2 * asks, first + count - 1)
    return _Frames(messages, *ends, request, answer, opens, carries, closes)


def _links(schedule: Schedule, frames: _Frames, machine: Machine) -> Hops:
    parts = len(frames.moves)
    # between its links a message passes two ports, and most operations occupy a processor
    extra = 0 if machine.endpoint is None else 2 * int(frames.moves.sum()) + parts
    links = link_hops(schedule, frames.messages.take(frames.moves), machine, parts=parts, extra=extra)
    count = np.zeros(len(frames.moves), dtype=np.int64)
    count[frames.moves] = links.count
    return Hops(count, links.resource, links.hold, links.head)


def _between_ranks(frames: _Frames, links: Hops, machine: Machine) -> list[Hops]:
    """The links of every message, between the ports and the processors of its ranks.

    The port of the sender is held while the bytes leave over the first link, which begins with it;
    that of the receiver while they come over the last one.
    """
    messages, ranks = frames.messages, machine.topology.ranks
    src, dst = messages.src, messages.dst
    sends, receives = (frames.moves & (node < ranks) for node in (src, dst))
    offset = np.cumsum(links.count) - links.count
    first, last = links.resource[offset[sends]], links.resource[(offset + links.count)[receives] - 1]
    leaving, coming = (
        _bare_holds(messages.size[some], link, machine) for some, link in ((sends, first), (receives, last))
    )
    head = links.head.copy()
    head[offset[sends]] = True
    return [
        _work(frames.opens | frames.request | frames.answer, src, machine),
        single(sends, machine.number(SEND_PORT, src[sends]), leaving),
        Hops(links.count, links.resource, links.hold, head),
        single(receives, machine.number(RECEIVE_PORT, dst[receives]), coming, head=True),
        _work(frames.closes | frames.request | frames.answer, dst, machine),
    ]


def _bare_holds(sizes: NDArray[np.int64], link: NDArray[np.int32], machine: Machine) -> NDArray[np.int64]:
    """Femtoseconds that the bytes alone take over links."""
    rate = machine.topology.links.bandwidth
    distinct, which = unique_inverse(sizes)
    return hold_table(rate, np.zeros(len(rate)), distinct, link, which)


def _work(operations: NDArray[np.bool_], node: NDArray[np.int64], machine: Machine) -> Hops:
    """What the processor of a rank does for a message; switches have none."""
    busy = operations & (node < machine.topology.ranks)
    overhead = 0 if machine.endpoint is None else clipped(femtoseconds(machine.endpoint.overhead))
    return single(busy, machine.number(PROCESSOR, node[busy]), overhead)


def _reducing(frames: _Frames, whole: Messages, reduces: NDArray[np.bool_], machine: Machine) -> Hops:
    """The reducer: for each packet as it comes, or for all of them when the last has come."""
    messages = frames.messages
    streamed = machine.reduction is not None and machine.reduction.mode == "streamed"
    alone = (frames.opening == frames.closing)[messages.transfer]
    own = (whole.src == whole.dst)[messages.transfer]
    marked = reduces[messages.transfer] & (frames.carries | own if streamed else frames.closes | alone)
    size = np.where(streamed & ~own, messages.size, whole.size[messages.transfer])
    return machine.reducing(marked, messages.dst[marked], size[marked], head=streamed & ~own[marked])


def _ends(
    frames: _Frames, asks: NDArray[np.bool_], *, eager: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Operations with which a transfer begins, and is done, at its source and at its destination."""
    first, opening, closing = frames.first, frames.opening, frames.closing
    # who is asked answers when it is ready; what comes unasked is taken when it is
    at_destination = np.where(asks, first + 1, closing if eager else first)
    # an eager sender is done when its processor is
    at_source = np.where(asks | (not eager), closing, opening)
    begin, end = np.stack([first, at_destination], axis=1), np.stack([at_source, closing], axis=1)
    return begin.ravel(), end.ravel()


def _inner(frames: _Frames) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Who waits for whom within a transfer: (waiter, awaited)."""
    opening, closing, transfer = frames.opening, frames.closing, frames.messages.transfer
    after_answer = frames.opens & (opening > frames.first)[transfer]
    chained = np.flatnonzero(frames.answer | after_answer)
    inside = np.flatnonzero(frames.carries & (opening < closing)[transfer])
    waiter = np.concatenate([chained, inside, closing[transfer[inside]]])
    awaited = np.concatenate([chained - 1, opening[transfer[inside]], inside])
    order = np.argsort(waiter, kind="stable")
    return waiter[order], awaited[order]
