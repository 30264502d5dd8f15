"""Reader of GOAL, the input of LogGOPSim: what every rank sends, receives and computes, and after what."""

from __future__ import annotations

from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.collective import LARGEST, check_ranks
from algorithms.errors import ScheduleError
from algorithms.formats.goal_text import WORDS, ranks_of
from algorithms.formats.messages import Ends, refuse_where
from algorithms.programs.program import NOTHING, Places, Program, listed
from algorithms.programs.purpose import Messages
from algorithms.variation import MOST_CHANNELS
from topologies.errors import FormatError
from topologies.formats.reading import decode

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from algorithms.formats.goal_text import Rank

NANOSECOND: Final = 10**6
"""fs."""

_LONGEST_CALC: Final = 10**13
"""ns, past what a run may take."""

_MOST_PROCESSORS: Final = 256
_MOST_WAITS: Final = 1 << 20
"""That follow from what begins when others have begun."""


def read_goal(data: bytes, file: str) -> Program:
    """Program of a GOAL file.

    Messages from one rank to another with one tag are matched by their order alone. Who begins when another
    has begun (`irequires`) waits for what that one waits for. A rank has as many processors as its file has
    a `cpu`; the first handles its messages. It has one network card, whatever `nic` says.

    Raises
    ------
    FormatError
        If it is no GOAL file, or its sends and receives do not fit; names the line.
    """
    ranks = ranks_of(decode(data, file), file)
    try:
        check_ranks(len(ranks))
    except ScheduleError as error:
        raise FormatError(error.message, file, 1, 1) from None
    program = _program(_Operations.of(ranks, file), _waits(ranks, file))
    cards = any(rank.cards for rank in ranks)
    return replace(program, unsaid=("nic: ranks have one network card",)) if cards else program


@dataclass(frozen=True, slots=True, eq=False)
class _Operations:
    """The operations of all ranks, in columns.

    Attributes
    ----------
    file : str
    ranks : int
        N.
    rank, step : ndarray of int64, shape (operations,)
        Whose it is, and its number there.
    code : ndarray of int64
        Position in `WORDS`.
    amount, peer, tag, cpu, line : ndarray of int64
        As in `goal_text.Operation`.
    """

    file: str
    ranks: int
    rank: NDArray[np.int64]
    step: NDArray[np.int64]
    code: NDArray[np.int64]
    amount: NDArray[np.int64]
    peer: NDArray[np.int64]
    tag: NDArray[np.int64]
    cpu: NDArray[np.int64]
    line: NDArray[np.int64]

    @classmethod
    def of(cls, ranks: list[Rank], file: str) -> _Operations:
        """Columns of what the text says, held against what a run can be."""
        each = np.array([len(rank.operations) for rank in ranks], dtype=np.int64)
        operations = [operation for rank in ranks for operation in rank.operations]
        rank = np.repeat(np.arange(len(ranks)), each)
        step = np.arange(len(operations)) - np.repeat(np.cumsum(each) - each, each)
        code = np.array([WORDS.index(operation.word) for operation in operations], dtype=np.int64)
        amount, peer, tag, cpu, line = (
            np.array([getattr(operation, name) for operation in operations], dtype=np.int64)
            for name in ("amount", "peer", "tag", "cpu", "line")
        )
        tag = _numbered(file, tag, "tags", MOST_CHANNELS)
        cpu = _numbered(file, cpu, "cpus", _MOST_PROCESSORS)
        found = cls(file, len(ranks), rank, step, code, amount, peer, tag, cpu, line)
        found._check()
        return found

    def refuse_where(self, wrong: NDArray[np.bool_], say: Callable[[int], str]) -> None:
        """Refuse the first of the operations that are wrong."""
        refuse_where(self.file, wrong, self.line, say)

    def _check(self) -> None:
        """Refuse ranks that are not there, and what is too large."""
        moves, peer, amount = self.code < WORDS.index("calc"), self.peer, self.amount

        def whom(i: int) -> str:
            return f"rank {self.rank[i]} {'receives from' if self.code[i] else 'sends to'}"

        there = f"there are {self.ranks} ranks"
        self.refuse_where(moves & (peer >= self.ranks), lambda i: f"{whom(i)} rank {peer[i]}; {there}")
        self.refuse_where(moves & (peer == self.rank), lambda i: f"{whom(i)} itself")
        self.refuse_where(moves & (amount > LARGEST), lambda i: f"{amount[i]} bytes are too many")
        self.refuse_where(~moves & (amount > _LONGEST_CALC), lambda i: f"{amount[i]} ns are too long")

    def senders(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The operations that receive, and the one that sends what each of them receives."""
        sends, receives = (np.flatnonzero(self.code == WORDS.index(word)) for word in ("send", "recv"))
        columns = (self.line, self.rank, self.peer, self.peer, self.tag, self.amount)
        return receives, Ends(self.file, *columns, words=("with tag", "bytes")).senders(sends, receives)


def _numbered(file: str, said: NDArray[np.int64], what: str, most: int) -> NDArray[np.int64]:
    """What stands in a file or, where that is too large, its number among all that do, 0 among them."""
    if said.max(initial=0) < most:
        return said
    distinct, number = np.unique(np.append(said, 0), return_inverse=True)
    if len(distinct) > most:
        raise FormatError(f"{len(distinct)} different {what}; at most {most} fit", file, 1, 1)
    return np.asarray(number.ravel()[:-1])


def _program(operations: _Operations, waits: NDArray[np.int64]) -> Program:
    receives, sends = operations.senders()
    count, messages = len(operations.code), np.arange(len(receives))
    wire, received = messages + len(messages), messages + 2 * len(messages)
    source, target = (operations.rank[ends].astype(np.int32) for ends in (sends, receives))
    calc = operations.code == WORDS.index("calc")
    return Program(
        name="goal",
        ranks=operations.ranks,
        purpose=Messages(operations.ranks, operations.amount[sends], source, target),
        rank=operations.rank.astype(np.int32),
        block=np.zeros(count, dtype=np.int32),
        step=operations.step.astype(np.int32),
        word=tuple(WORDS[code] for code in operations.code.tolist()),
        line=operations.line.astype(np.int32),
        channel=operations.tag.astype(np.int16),
        count=np.where(calc, 0, 1).astype(np.int32),
        reads=listed(count, (sends, messages), (receives, wire)),
        writes=listed(count, (sends, wire), (receives, received)),
        after=listed(count, (waits[:, 0], waits[:, 1]), (receives, sends)),
        places=_places(source, target),
        work=np.where(calc, operations.amount * NANOSECOND, 0),
        processor=operations.cpu.astype(np.int16),
    )


def _waits(ranks: list[Rank], file: str) -> NDArray[np.int64]:
    """Who begins after whom: (waiter, awaited), shape (waits, 2)."""
    pairs, first = list[tuple[int, int]](), 0
    for rank in ranks:
        needs: dict[int, list[int]] = {}
        for waiter, awaited in rank.after:
            needs.setdefault(waiter, []).append(awaited)
        found = [*rank.after, *_together(rank.with_, needs, file)]
        pairs += [(first + waiter, first + awaited) for waiter, awaited in found]
        first += len(rank.operations)
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _together(pairs: list[tuple[int, int]], needs: dict[int, list[int]], file: str) -> list[tuple[int, int]]:
    """What those wait for that begin when others have begun; those in a circle wait for each other."""
    begun: dict[int, list[int]] = {}
    for waiter, awaited in pairs:
        begun.setdefault(waiter, []).append(awaited)
    try:
        order = list(TopologicalSorter(begun).static_order())
    except CycleError as error:
        circle: list[int] = error.args[1]
        return [(waiter, awaited) for awaited, waiter in pairwise(circle)]
    found, inherited = list[tuple[int, int]](), dict[int, dict[int, None]]()
    for waiter in order:
        own = inherited[waiter] = {}
        for other in begun.get(waiter, []):
            own |= inherited[other] | dict.fromkeys(needs.get(other, []))
        found += [(waiter, awaited) for awaited in own]
        if len(found) > _MOST_WAITS:
            raise FormatError(f"more than {_MOST_WAITS:,} waits follow from irequires", file, 1, 1)
    return found


def _places(source: NDArray[np.int32], target: NDArray[np.int32]) -> Places:
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
