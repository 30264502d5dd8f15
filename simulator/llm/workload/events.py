"""What happens in a workload of execution traces: nodes of all ranks, matched with each other.

The k-th collective of a group at one of its ranks is the k-th at all of them; the k-th message from one rank
to another with a tag is received by the k-th node that receives from there with that tag.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NoReturn

from algorithms.collective import LARGEST
from algorithms.formats.chakra import (
    COLLECTIVES,
    COMM_COLL,
    COMM_RECV,
    COMM_SEND,
    COMP,
    MEM_LOAD,
    MEM_STORE,
    Node,
    Trace,
)
from simulator.llm.workload.groups import Members
from topologies.errors import FormatError
from topologies.text import quoted

if TYPE_CHECKING:
    from simulator.llm.workload.groups import Groups
    from simulator.llm.workload.plan import WorkloadPlan

SEND: Final = "send_recv"
_TAGS: Final = 1 << 31


@dataclass(frozen=True, slots=True)
class Part:
    """A node of a rank's trace.

    Attributes
    ----------
    rank : int
    node : Node
    trace : Trace
    """

    rank: int
    node: Node
    trace: Trace

    def wrong(self, message: str) -> FormatError:
        """What to raise of the node."""
        return FormatError(f"node {self.node.id}: {message}", self.trace.file, byte=self.node.at)

    def number(self, name: str, default: int | None = None, most: int = LARGEST) -> int:
        """An attribute that is a number of zero or more.

        Raises
        ------
        FormatError
            If it is missing and has no default, is no number, or is out of range.
        """
        value = self.node.attributes.get(name, default)
        if value is None:
            raise self.wrong(f'lacks the attribute "{name}"')
        if not isinstance(value, int) or not 0 <= value <= most:
            found = quoted(value) if isinstance(value, str) else str(value)[:40]
            raise self.wrong(f'found "{name}" {found}, expected a number from 0 to {most:,}')
        return value


@dataclass(slots=True)
class Event:
    """A node, or nodes of several ranks that are one and the same.

    Attributes
    ----------
    parts : list of Part
    stream : str
        What computes, or moves; empty where nothing takes time.
    hold : int
        fs.
    kind : str
        Of a collective or message, else empty.
    members : Members or None
        Who takes part in it.
    size : int
        M of it.
    after : dict of int
        Events that must have ended, in order.
    """

    parts: list[Part]
    stream: str = ""
    hold: int = 0
    kind: str = ""
    members: Members | None = None
    size: int = 0
    after: dict[int, None] = field(default_factory=dict)

    @property
    def key(self) -> tuple[int, int]:
        """In what order events come that do not wait for each other."""
        return min((part.node.id, part.rank) for part in self.parts)


def _micros(part: Part) -> int:
    """Fs that a node says it takes."""
    return part.node.micros * 10**9


def events_of(traces: Sequence[Trace], groups: Groups, plan: WorkloadPlan) -> list[Event]:
    """Events of all ranks.

    Parameters
    ----------
    traces : sequence of Trace
        Of each rank.
    groups : Groups
    plan : WorkloadPlan

    Raises
    ------
    FormatError
        If an attribute is missing or wrong, or what ranks do together does not match.
    """
    found = _Found(groups, plan)
    for rank, trace in enumerate(traces):
        for node in trace.nodes:
            found.add(Part(rank, node, trace))
    return found.matched()


@dataclass(slots=True, eq=False)
class _Found:
    """Events as they are found, and which of them each node is."""

    groups: Groups
    plan: WorkloadPlan
    events: list[Event] = field(default_factory=list)
    which: dict[tuple[int, int], int] = field(default_factory=dict)
    calls: dict[tuple[Members, int], int] = field(default_factory=dict)
    turns: dict[tuple[Members, int], int] = field(default_factory=dict)
    sent: dict[tuple[int, int, int], list[int]] = field(default_factory=dict)
    received: dict[tuple[int, int, int], list[int]] = field(default_factory=dict)

    def add(self, part: Part) -> None:
        """Take a node."""
        said, node_type = part.node.attributes, part.node.type
        if node_type == COMM_SEND:
            self._ends(part, self.sent, "comm_src", "comm_dst")
        elif node_type == COMM_RECV:
            self._ends(part, self.received, "comm_dst", "comm_src")
        elif node_type == COMM_COLL and ("comm_type" in said or not said.get("is_cpu_op")):
            self._collective(part)
        else:
            self._new(self._alone(part))

    def _alone(self, part: Part) -> Event:
        """What a rank does by itself."""
        on_processor = part.node.attributes.get("is_cpu_op")
        if part.node.type in (MEM_LOAD, MEM_STORE):
            hold = _micros(part) or self.plan.load_time(part.number("tensor_size", 0))
            return Event([part], "memory", hold)
        if part.node.type == COMP:
            return Event([part], "cpu" if on_processor else "compute", self._work(part))
        # on the processor a collective is the call that starts it; metadata takes no time
        return Event([part], "cpu", _micros(part) if part.node.type == COMM_COLL else 0)

    def _new(self, event: Event) -> int:
        number = len(self.events)
        self.events.append(event)
        part = event.parts[0]
        self.which[part.rank, part.node.id] = number
        return number

    def _work(self, part: Part) -> int:
        if part.node.micros:
            return _micros(part)
        return self.plan.work_time(part.number("num_ops", 0, 1 << 62), part.number("tensor_size", 0))

    def _ends(self, part: Part, ends: dict[tuple[int, int, int], list[int]], own: str, other: str) -> None:
        """Take one end of a message."""
        most = self.groups.topology.ranks - 1
        if part.number(own, part.rank, most) != part.rank:
            raise part.wrong(f'found "{own}" {part.node.attributes[own]} in the trace of rank {part.rank}')
        peer = part.number(other, None, most)
        if peer == part.rank:
            raise part.wrong("a rank sends to itself")
        event = Event([part], size=part.number("comm_size", 0))
        lane = (part.rank, peer) if ends is self.sent else (peer, part.rank)
        tag = part.number("comm_tag", 0, _TAGS - 1)
        ends.setdefault((*lane, tag), []).append(self._new(event))

    def _collective(self, part: Part) -> None:
        members = self._members(part)
        kind = COLLECTIVES[part.number("comm_type", 0, len(COLLECTIVES) - 1)]
        said = part.number("comm_size", 0)
        # some write the byte, or the number, that a barrier is done with
        size = 0 if kind == "barrier" else self.plan.whole(kind, said, len(members.ranks), "part")
        if size > LARGEST:
            raise part.wrong(f"moves {size:,} bytes; at most {LARGEST:,} can be moved")
        turn = self.turns.get((members, part.rank), 0)
        self.turns[members, part.rank] = turn + 1
        number = self.calls.get((members, turn))
        if number is None:
            self.calls[members, turn] = self._new(Event([part], members.name, 0, kind, members, size))
            return
        event = self.events[number]
        self._check_alike(event, Event([part], kind=kind, members=members, size=size), turn)
        event.parts.append(part)
        self.which[part.rank, part.node.id] = number

    def _check_alike(self, event: Event, other: Event, turn: int) -> None:
        """Refuse a collective that is another at another rank."""
        first, part = event.parts[0], other.parts[0]
        assert event.members is not None
        assert other.members is not None
        where, name = f"rank {first.rank} (node {first.node.id})", event.members.name
        if event.members.ranks != other.members.ranks:
            raise part.wrong(f"{name} has other ranks than at {where}")
        if (event.kind, event.size) != (other.kind, other.size):
            raise part.wrong(
                f"collective {turn} of {name} is {other.kind} of {other.size:,} bytes, and {event.kind} of "
                f"{event.size:,} bytes at {where}"
            )

    def _members(self, part: Part) -> Members:
        """Who takes part in a collective."""
        name = part.node.attributes.get("pg_name", part.node.attributes.get("comm_group", ""))
        dims = part.node.attributes.get("involved_dim")
        if isinstance(dims, tuple) and not name:
            if not any(dims):
                raise part.wrong('"involved_dim" names no dimension')
            return self.groups.along(dims, part.rank)
        members = self.groups.communicator(str(name), part.rank)
        if members is not None:
            return members
        if str(name) in self.groups.named:
            raise part.wrong(f"rank {part.rank} is not in group {quoted(str(name))}")
        known = ", ".join(map(quoted, list(self.groups.named)[:8])) or 'none: the workload says no "groups"'
        raise part.wrong(f"there is no group {quoted(str(name))}; groups are {known}")

    def matched(self) -> list[Event]:
        """All events, with what they wait for.

        Raises
        ------
        FormatError
            If a rank of a group does not do a collective, or a message has one end only.
        """
        for (members, turn), number in self.calls.items():
            event = self.events[number]
            if len(event.parts) < len(members.ranks):
                there = {part.rank for part in event.parts}
                absent = next(rank for rank in members.ranks if rank not in there)
                raise event.parts[0].wrong(f"rank {absent} has no collective {turn} of {members.name}")
            if len(members.ranks) == 1:
                event.kind = event.stream = ""
        for event in self.events:
            for part in event.parts:
                named = (*part.node.after, *(part.node.control if self.plan.control else ()))
                # who has called a node may be no part of the trace
                found = (self.which.get((part.rank, other)) for other in named)
                event.after |= dict.fromkeys(number for number in found if number is not None)
        self._match_messages()
        return self.events

    def _match_messages(self) -> None:
        for lane in {**self.sent, **self.received}:
            sent, received = self.sent.get(lane, []), self.received.get(lane, [])
            if len(sent) != len(received):
                self._refuse_odd(lane, sent, received)
            for send, receive in zip(sent, received, strict=True):
                message, arrival = self.events[send], self.events[receive]
                if message.size != arrival.size:
                    raise arrival.parts[0].wrong(
                        f"receives {arrival.size:,} bytes, of which rank {lane[0]} sends {message.size:,} "
                        f"(node {message.parts[0].node.id})"
                    )
                message.stream, message.kind, message.members = "send", SEND, Members.of("send", lane[:2])
                if self.plan.messages == "rendezvous":
                    message.after |= arrival.after
                arrival.after[send] = None

    def _refuse_odd(self, lane: tuple[int, int, int], sent: list[int], received: list[int]) -> NoReturn:
        """Say which end of a message has no other."""
        src, dst, tag = lane
        less = min(len(sent), len(received))
        part = self.events[[*sent[less:], *received[less:]][0]].parts[0]
        what = (
            f"rank {dst} does not receive it from rank {src}"
            if len(sent) > less
            else f"rank {src} does not send it to rank {dst}"
        )
        raise part.wrong(f"{what} (message {less} with tag {tag})")
