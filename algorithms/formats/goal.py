"""Reader of GOAL, the input of LogGOPSim: what every rank sends, receives and computes, and after what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.collective import LARGEST, check_ranks
from algorithms.errors import ScheduleError
from algorithms.formats.errors import FormatError
from algorithms.formats.goal_text import ranks_of
from algorithms.formats.msccl_steps import refuse_where
from algorithms.programs.matching import NOBODY, matched
from algorithms.programs.program import NOTHING, Places, Program, listed
from algorithms.programs.purpose import Messages

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.formats.goal_text import Rank

NANOSECOND: Final = 10**6
"""fs."""

_WORDS: Final = ("send", "recv", "calc")
_LONGEST_CALC: Final = 10**13
"""ns, past what a run may take."""


def read_goal(data: bytes) -> Program:
    """Program of a GOAL file.

    Messages from one rank to another with one tag are matched by their order alone. Who begins when another
    has begun (`irequires`) waits for what that one waits for. Every rank has one processor, whatever `cpu`
    and `nic` say.

    Raises
    ------
    FormatError
        If it is no GOAL file, or its sends and receives do not fit; names the line.
    """
    try:
        ranks = ranks_of(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise FormatError("is not UTF-8", data[: error.start].count(b"\n") + 1) from None
    try:
        check_ranks(len(ranks))
    except ScheduleError as error:
        raise FormatError(error.message) from None
    return _program(ranks)


def _program(ranks: list[Rank]) -> Program:
    operations = [operation for rank in ranks for operation in rank.operations]
    each = np.array([len(rank.operations) for rank in ranks], dtype=np.int64)
    rank = np.repeat(np.arange(len(ranks)), each)
    code = np.array([_WORDS.index(operation.word) for operation in operations], dtype=np.int64)
    amount, peer, tag, line = (
        np.array([getattr(operation, name) for operation in operations], dtype=np.int64)
        for name in ("amount", "peer", "tag", "line")
    )
    _check(code, amount, peer, rank, line, len(ranks))
    sends, receives = np.flatnonzero(code == 0), np.flatnonzero(code == 1)
    sender = _matched(sends, receives, rank, peer, tag, amount, line)
    messages, count = len(receives), len(operations)
    number = np.arange(messages)
    wire = number + messages
    starts, ends = sender, receives
    return Program(
        name="goal",
        ranks=len(ranks),
        purpose=Messages(
            len(ranks), amount[sender], rank[sender].astype(np.int32), rank[receives].astype(np.int32)
        ),
        rank=rank.astype(np.int32),
        block=np.zeros(count, dtype=np.int32),
        step=(np.arange(count) - np.repeat(np.cumsum(each) - each, each)).astype(np.int32),
        word=tuple(operation.word for operation in operations),
        line=line.astype(np.int32),
        channel=np.zeros(count, dtype=np.int16),
        count=(code < 2).astype(np.int32),
        reads=listed(count, (starts, number), (ends, wire)),
        writes=listed(count, (starts, wire), (ends, wire + messages)),
        after=listed(count, *_waits(ranks), (receives, sender)),
        places=_places(rank[sender], rank[receives]),
        work=np.where(code == 2, amount * NANOSECOND, 0),
    )


def _check(
    code: NDArray[np.int64],
    amount: NDArray[np.int64],
    peer: NDArray[np.int64],
    rank: NDArray[np.int64],
    line: NDArray[np.int64],
    ranks: int,
) -> None:
    """Refuse ranks that are not there, and what is too large."""

    def whom(i: int) -> str:
        return f"rank {rank[i]} {'sends to' if code[i] == 0 else 'receives from'}"

    moves = code < 2
    refuse_where(
        moves & (peer >= ranks), line, lambda i: f"{whom(i)} rank {peer[i]}; there are {ranks} ranks"
    )
    refuse_where(moves & (peer == rank), line, lambda i: f"{whom(i)} itself")
    refuse_where(moves & (amount > LARGEST), line, lambda i: f"{amount[i]} bytes are too many")
    refuse_where(~moves & (amount > _LONGEST_CALC), line, lambda i: f"{amount[i]} ns are too long")


def _matched(
    sends: NDArray[np.int64],
    receives: NDArray[np.int64],
    rank: NDArray[np.int64],
    peer: NDArray[np.int64],
    tag: NDArray[np.int64],
    amount: NDArray[np.int64],
    line: NDArray[np.int64],
) -> NDArray[np.int64]:
    """The operation that sends what each of the receiving ones receives."""
    _, tags = np.unique(tag, return_inverse=True)
    width, ranks = int(tags.max(initial=0)) + 1, int(max(rank.max(initial=0), peer.max(initial=0))) + 1
    sent = (rank[sends] * ranks + peer[sends]) * width + tags.ravel()[sends]
    received = (peer[receives] * ranks + rank[receives]) * width + tags.ravel()[receives]
    _, queue = np.unique(np.concatenate([sent, received]), return_inverse=True)
    receiver, sender = matched(queue.ravel()[: len(sent)], queue.ravel()[len(sent) :])
    lost, idle = sends[receiver == NOBODY], receives[sender == NOBODY]
    missing = np.zeros(len(rank), dtype=bool)
    missing[lost] = missing[idle] = True

    def text(i: int) -> str:
        if i in lost:
            return f"rank {rank[i]} sends to rank {peer[i]} with tag {tag[i]}, which never receives it"
        return f"rank {rank[i]} receives from rank {peer[i]} with tag {tag[i]}, which never sends it"

    refuse_where(missing, line, text)
    partner = sends[sender]
    unequal = amount[receives] != amount[partner]

    def sizes(i: int) -> str:
        one, other = receives[i], partner[i]
        return f"receives {amount[one]} bytes, of which line {line[other]} sends {amount[other]}"

    refuse_where(unequal, line[receives], sizes)
    return np.asarray(partner)


def _waits(ranks: list[Rank]) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Who begins after whom: (waiter, awaited)."""
    pairs, first = list[tuple[int, int]](), 0
    for rank in ranks:
        needs: dict[int, list[int]] = {}
        for waiter, awaited in rank.after:
            needs.setdefault(waiter, []).append(awaited)
        found = [*rank.after, *_together(rank.with_, needs)]
        pairs += [(first + waiter, first + awaited) for waiter, awaited in found]
        first += len(rank.operations)
    table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return [(table[:, 0], table[:, 1])]


def _together(pairs: list[tuple[int, int]], needs: dict[int, list[int]]) -> list[tuple[int, int]]:
    """What those wait for that begin when others have begun."""
    begun: dict[int, list[int]] = {}
    for waiter, awaited in pairs:
        begun.setdefault(waiter, []).append(awaited)
    found = []
    for waiter in begun:
        seen, left = {waiter}, list(begun[waiter])
        while left:
            other = left.pop()
            if other not in seen:
                seen.add(other)
                left += begun.get(other, [])
                found += [(waiter, awaited) for awaited in needs.get(other, [])]
    return found


def _places(source: NDArray[np.int64], target: NDArray[np.int64]) -> Places:
    """Of each message where it comes from, its wire, and where it goes."""
    messages = len(source)
    nothing = np.full(messages, NOTHING, dtype=np.int32)
    number = np.arange(messages, dtype=np.int32)
    runs = {0: "sent", messages: "", 2 * messages: "received"} if messages else {}
    return Places(
        np.concatenate([source, target, target]).astype(np.int32),
        np.concatenate([number, nothing, nothing]),
        np.concatenate([nothing, nothing, number]),
        np.array(list(runs), dtype=np.int64),
        tuple(runs.values()),
    )
