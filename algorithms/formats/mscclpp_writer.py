"""Writer of MSCCL++ execution plans."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from algorithms.errors import ScheduleError
from algorithms.formats.msccl_elements import COLLECTIVES
from algorithms.formats.written import Written
from algorithms.programs.matching import messages_of
from algorithms.programs.program import members
from algorithms.programs.purpose import Messages, Purpose

if TYPE_CHECKING:
    from algorithms.programs.program import Program

_NAMES: Final = {kind: name for name, kind in COLLECTIVES.items()}
_MOST: Final = {
    "operations in a thread block": 64,
    "semaphores at a rank": 16,
    "channels of a thread block": 16,
}
"""What the executor of microsoft/mscclpp takes."""

Flow = tuple[int, int, int]
"""Who sends to whom by which channel of the program."""


def write_mscclpp(program: Program, size: int | None = None) -> Written:  # noqa: ARG001
    """An MSCCL++ execution plan of a program.

    A message has room of its own in the scratch buffer of its receiver: it is put there and signalled, and
    the receiver, when it comes to it, copies or adds it. Who waits for another thread block of its rank
    acquires a semaphore that the other releases.

    Raises
    ------
    ScheduleError
        If the format cannot say it; says why.
    """
    purpose = program.purpose
    if isinstance(purpose, Messages):
        raise ScheduleError("MSCCL++ cannot say it: nobody knows what its messages hold")
    plan = _Plan.of(program)
    gpus = [_gpu(plan, purpose, rank) for rank in range(program.ranks)]
    about: dict[str, Any] = {
        "name": program.name,
        "collective": _NAMES[purpose.kind],
        "protocol": "Simple",
        "inplace": not {"i", "o"} <= set(program.places.name),
        "reuse_resources": False,
        "gpus": [],
    }
    lost = [] if purpose.root == 0 else [f"the root, {purpose.root}: the format does not name it"]
    # a line each for what is said of the whole, and of every rank
    lines = ",\n".join(json.dumps(gpu) for gpu in gpus)
    text = f"{json.dumps(about).removesuffix(']}')}\n{lines}\n]}}\n"
    return Written(text.encode(), (*lost, *_beyond(gpus)))


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """A program, and what stands for its messages and waits.

    Attributes
    ----------
    program : Program
    named : list of tuple of str and int
        Buffer of each place, and where it is there; of a place on a wire, in its receiver's scratch.
    scratch : list of int
        Chunks of every rank's scratch buffer.
    sends, receives : dict of int to Flow
        Of instructions.
    links : dict of int to list of tuple of int
        Channels of every rank: the other one, and which of those between them; by number.
    number : dict of tuple of int and Flow
        Number of a flow's channel at a rank.
    releases, acquires : dict of int to list of int
        Semaphores of instructions.
    semaphores : list of int
        How many every rank has.
    """

    program: Program
    named: list[tuple[str, int]]
    scratch: list[int]
    sends: dict[int, Flow]
    receives: dict[int, Flow]
    links: dict[int, list[int]]
    number: dict[tuple[int, Flow], int]
    releases: dict[int, list[int]]
    acquires: dict[int, list[int]]
    semaphores: list[int]

    @classmethod
    def of(cls, program: Program) -> _Plan:
        sends, receives = _flows(program)
        links, number = _links(program.ranks, {*sends.values(), *receives.values()})
        releases, acquires, count = _semaphores(program)
        return cls(
            program, *_named(program), sends, receives, links, number, releases, acquires, semaphores=count
        )


def _flows(program: Program) -> tuple[dict[int, Flow], dict[int, Flow]]:
    """The flow into which each instruction sends, and from which it receives."""
    to, sender = messages_of(program, "MSCCL++ is not written again")
    sends = {i: (int(program.rank[i]), dst, int(program.channel[i])) for i, dst in to.items()}
    return sends, {i: sends[other] for i, other in sender.items()}


def _links(ranks: int, flows: set[Flow]) -> tuple[dict[int, list[int]], dict[tuple[int, Flow], int]]:
    """Channels of every rank, one for each flow at both of its ends, in the same order."""
    links: dict[int, list[int]] = {rank: [] for rank in range(ranks)}
    number = {}
    for flow in sorted(flows):
        for rank, peer in (flow[:2], flow[1::-1]):
            number[rank, flow] = len(links[rank])
            links[rank].append(peer)
    return links, number


def _named(program: Program) -> tuple[list[tuple[str, int]], list[int]]:
    """Buffer of each place and where it is there; and the chunks of every rank's scratch buffer."""
    places = program.places
    room = np.diff(np.append(places.first, len(places)))
    scratch = [0] * program.ranks
    named: list[tuple[str, int]] = []
    for name, first, length in zip(places.name, places.first.tolist(), room.tolist(), strict=True):
        if name:
            named += [(name, at) for at in range(length)]
            if name == "s":
                scratch[int(places.owner[first])] = length
            continue
        for owner in places.owner[first : first + length].tolist():
            named.append(("s", scratch[owner]))
            scratch[owner] += 1
    return named, scratch


def _semaphores(program: Program) -> tuple[dict[int, list[int]], dict[int, list[int]], list[int]]:
    """Semaphores that instructions release and acquire: one for each wait; and how many every rank has."""
    lane, waiter, awaited = program.lanes(), members(program.after), program.after.index
    near = (program.rank[waiter] == program.rank[awaited]) & (lane[waiter] != lane[awaited])
    releases, acquires = (defaultdict[int, list[int]](list) for _ in range(2))
    count = [0] * program.ranks
    for one, other in zip(waiter[near].tolist(), awaited[near].tolist(), strict=True):
        rank = int(program.rank[one])
        acquires[one].append(count[rank])
        releases[other].append(count[rank])
        count[rank] += 1
    return releases, acquires, count


def _gpu(plan: _Plan, purpose: Purpose, rank: int) -> dict[str, Any]:
    program, peers = plan.program, plan.links[rank]
    mine = np.flatnonzero(program.rank == rank)
    blocks = [mine[program.block[mine] == block] for block in range(len(np.unique(program.block[mine])))]
    remote = sorted(set(peers))
    return {
        "id": rank,
        "input_chunks": purpose.room("source"),
        "output_chunks": purpose.room("target"),
        "scratch_chunks": plan.scratch[rank],
        "threadblocks": [_block(plan, number, some.tolist(), remote) for number, some in enumerate(blocks)],
        "channels": [{"channel_type": "memory", "connected_to": peers}] if peers else [],
        "remote_buffers": [
            {"rank": peer, "type": "s", "access_channel_types": ["memory"]} for peer in remote
        ],
        "semaphores": [{"init_value": 0}] * plan.semaphores[rank],
    }


def _block(plan: _Plan, number: int, instructions: list[int], remote: list[int]) -> dict[str, Any]:
    """A thread block: its operations, and the channels and buffers that they name by position."""
    rank = int(plan.program.rank[instructions[0]])
    flows = [flow[i] for i in instructions for flow in (plan.receives, plan.sends) if i in flow]
    channels = {flow: at for at, flow in enumerate(dict.fromkeys(flows))}
    sent = dict.fromkeys(plan.sends[i][1] for i in instructions if i in plan.sends)
    peers = {peer: at for at, peer in enumerate(sent)}
    operations = [op for i in instructions for op in _operations(plan, i, channels, peers)]
    ids = [plan.number[rank, flow] for flow in channels]
    reached = [remote.index(peer) for peer in peers]
    return {
        "id": number,
        "ops": operations,
        "channels": [{"channel_type": "memory", "channel_ids": ids}] if ids else [],
        "remote_buffer_refs": (
            [{"access_channel_type": "memory", "remote_buffer_ids": reached}] if reached else []
        ),
    }


def _operations(
    plan: _Plan, i: int, channels: dict[Flow, int], peers: dict[int, int]
) -> Iterator[dict[str, Any]]:
    """Operations of an instruction: it waits, adds up or copies, sends, and says so."""
    program, count = plan.program, int(plan.program.count[i])
    if plan.acquires.get(i):
        yield from _synced({"name": "sem_acquire", "semaphore_ids": plan.acquires[i]})
    if i in plan.receives:
        yield from _synced(_signal("wait", channels[plan.receives[i]]))
    reads, writes = program.reads.of(i), program.writes.of(i)
    wire = {place for place in writes if program.places.owner[place] != program.rank[i]}
    kept = [place for place in writes if place not in wire]
    if count:
        source = reads[0]
        if len(reads) > 1 or kept:
            # what is added up and kept by nobody is added to the message that came
            target = (kept or [place for place in reads if not program.places.located(place)[0]] or reads)[0]
            word = "re" if len(reads) > 1 else "copy"
            added = {"src_buff": _local(plan, reads, count), "dst_buff": _local(plan, [target], count)}
            yield {"name": word, **added}
            yield {"name": "nop"}
            source = target
        for place in wire:
            there = {"buffer_id": peers[plan.sends[i][1]], "index": plan.named[place][1], "size": count}
            sent = {"src_buff": _local(plan, [source], count), "dst_buff": [there], "channel_type": "memory"}
            yield {"name": "put", **sent, "channel_ids": [channels[plan.sends[i]]]}
            yield from _synced(_signal("signal", channels[plan.sends[i]]))
    if plan.releases.get(i):
        yield from _synced({"name": "sem_release", "semaphore_ids": plan.releases[i]})


def _synced(operation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """An operation for which all threads of the thread block wait, and which waits for all of them."""
    yield {"name": "nop"}
    yield operation
    yield {"name": "nop"}


def _signal(name: str, channel: int) -> dict[str, Any]:
    return {"name": name, "channel_ids": [channel], "channel_type": "memory"}


def _local(plan: _Plan, places: list[int], count: int) -> list[dict[str, Any]]:
    named = (plan.named[place] for place in places)
    return [{"type": name, "index": at, "size": count} for name, at in named]


def _beyond(gpus: list[dict[str, Any]]) -> Iterator[str]:
    """What the executor may refuse."""
    blocks = [block for gpu in gpus for block in gpu["threadblocks"]]
    found = (
        max((len(block["ops"]) for block in blocks), default=0),
        max(len(gpu["semaphores"]) for gpu in gpus),
        max((len(ids["channel_ids"]) for block in blocks for ids in block["channels"]), default=0),
    )
    for (what, most), number in zip(_MOST.items(), found, strict=True):
        if number > most:
            yield f"{number} {what}: the executor of microsoft/mscclpp takes {most}"
