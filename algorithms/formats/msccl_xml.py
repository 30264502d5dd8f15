"""Reader of MSCCL XML: what each thread block of every GPU sends, receives, copies and reduces."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.collective import KINDS
from algorithms.errors import ScheduleError
from algorithms.formats.messages import Ends, refuse_where
from algorithms.formats.msccl_elements import COLLECTIVES, TYPES, elements_of
from algorithms.formats.msccl_steps import steps_of
from algorithms.programs.buffers import BUFFERS, buffers_of
from algorithms.programs.program import Program, listed
from algorithms.programs.purpose import Purpose
from algorithms.schedule import check_moves
from topologies.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from algorithms.formats.msccl_elements import Elements
    from algorithms.formats.msccl_steps import Steps
    from algorithms.programs.buffers import Buffers

_SAID: Final = ("name", "nchannels", "nchunksperloop", "ngpus", "coll", "inplace", "outofplace")


def read_msccl_xml(data: bytes, file: str) -> Program:
    """Program of an MSCCL XML file.

    Messages of one channel from one rank to another are matched by their order alone.

    Raises
    ------
    FormatError
        If it is not XML, has a DTD, or says what no runtime would take; names the line.
    """
    elements = elements_of(data, file)
    try:
        purpose, in_place = _purpose(elements)
        scratch = _scratch(elements, purpose)
        steps = steps_of(elements, purpose.ranks)
        busy = steps["rank"][steps.does("receives" if KINDS[purpose.kind].source == "root" else "sends")]
        purpose = replace(purpose, root=_idle(purpose, busy))
        check_moves(4 * int(steps["cnt"].sum()))
        return _program(elements, steps, buffers_of(purpose, scratch, in_place=in_place))
    except ScheduleError as error:
        raise elements.error(error.message, elements.algo_line) from None


def _purpose(file: Elements) -> tuple[Purpose, bool]:
    """What must be computed, and whether input and output share their memory."""
    said = {"inplace": "0", **file.algo}
    kind = COLLECTIVES.get(said.get("coll", ""))
    if kind is None:
        found = f'coll is "{said["coll"][:40]}"' if "coll" in said else 'missing attribute "coll" in <algo>'
        raise file.error(f"{found}; expected {', '.join(COLLECTIVES)}", file.algo_line)
    ranks, parts, in_place = (
        file.number(said, key, least, "algo", file.algo_line)
        for key, least in (("ngpus", 1), ("nchunksperloop", 1), ("inplace", 0))
    )
    return Purpose(kind, ranks, parts), bool(in_place)


def _scratch(file: Elements, purpose: Purpose) -> NDArray[np.int64]:
    """Chunks of every rank's scratch buffer; the others must be as large as the collective says."""
    scratch = {}
    for rank, inputs, outputs, room, line in file.gpus:
        if rank >= purpose.ranks or rank in scratch:
            there = "is there twice" if rank in scratch else f"is not among {purpose.ranks}"
            raise file.error(f"gpu {rank} {there}", line)
        scratch[rank] = room
        wanted = {"i_chunks": (inputs, purpose.room("source")), "o_chunks": (outputs, purpose.room("target"))}
        for name, (found, expected) in wanted.items():
            if found not in (0, expected):
                text = f"{name} is {found}; nchunksperloop makes it {expected}, or 0 where it is not used"
                raise file.error(text, line)
    if len(scratch) < purpose.ranks:
        missing = next(rank for rank in range(purpose.ranks) if rank not in scratch)
        raise file.error(f"gpu {missing} is missing", file.algo_line)
    return np.array([scratch[rank] for rank in range(purpose.ranks)], dtype=np.int64)


def root_of(purpose: Purpose, program: Program) -> int:
    """The root of a program as a reader of its file will find it."""
    sender, receiver = program.senders()
    return _idle(purpose, receiver if KINDS[purpose.kind].source == "root" else program.rank[sender])


def _idle(purpose: Purpose, busy: NDArray[np.integer]) -> int:
    """The root, which no file names: the one rank that never receives, or that never sends; else 0."""
    if not KINDS[purpose.kind].rooted:
        return 0
    idle = np.setdiff1d(np.arange(purpose.ranks), busy)
    return int(idle[0]) if len(idle) == 1 else 0


def _program(file: Elements, steps: Steps, buffers: Buffers) -> Program:
    count, line = steps["cnt"], steps["line"]
    sends, receives = (np.flatnonzero(steps.does(what)) for what in ("sends", "receives"))
    columns = (steps["line"], steps["rank"], steps["send"], steps["recv"], steps["chan"], steps["cnt"])
    sender = Ends(steps.file, *columns, words=("by channel", "chunks")).senders(sends, receives)
    # the n-th message lies on a wire after those of the receivers before its own
    wires = buffers.places + np.cumsum(count[receives]) - count[receives]
    wire = np.empty(len(count), dtype=np.int64)
    wire[sender] = wires
    # a message of no chunks only has its receiver wait
    full, sent = count[receives] > 0, sends[count[sends] > 0]
    reads, writes = [(receives[full], wires[full])], [(sent, wire[sent])]
    ends = (("reads_source", "src", reads), ("reads_target", "dst", reads), ("writes", "dst", writes))
    for what, end, accesses in ends:
        who = np.flatnonzero(steps.does(what) & (count > 0))
        accesses.append((who, _places(steps, who, end, buffers)))
    places = buffers.with_wires(steps["rank"][receives], count[receives])
    words, rows = list(TYPES), len(count)
    moves = (steps["send"] >= 0) | (steps["recv"] >= 0)
    return Program(
        name=file.algo.get("name", "msccl"),
        ranks=buffers.purpose.ranks,
        purpose=buffers.purpose,
        rank=steps["rank"].astype(np.int32),
        block=steps["block"].astype(np.int32),
        step=steps["s"].astype(np.int32),
        word=tuple(words[code] for code in steps["type"].tolist()),
        line=line.astype(np.int32),
        channel=np.where(moves, steps["chan"], 0).astype(np.int16),
        count=count.astype(np.int32),
        reads=listed(rows, *reads),
        writes=listed(rows, *writes),
        after=listed(rows, _before(steps), _depended(steps), (receives, sender)),
        places=places,
        unsaid=tuple(_unsaid(file.algo)),
    )


def _unsaid(algo: Mapping[str, str]) -> Iterator[str]:
    """What a program says nothing about."""
    usual = {"proto": "Simple", "minBytes": "0", "maxBytes": "0"}
    for name, value in algo.items():
        if name not in _SAID and value != usual.get(name):
            yield f'{printable(name)}="{printable(value)}"'


def _places(steps: Steps, who: NDArray[np.int64], end: str, buffers: Buffers) -> NDArray[np.int64]:
    """First place of what some steps read or write."""
    buffer, at, rank = (steps[name][who] for name in (f"{end}buf", f"{end}off", "rank"))
    room, count = buffers.room[buffer, rank], steps["cnt"][who]

    def text(i: int) -> str:
        return (
            f"{end}off is {at[i]} and cnt is {count[i]}; "
            f"buffer {BUFFERS[buffer[i]]} has the chunks 0 to {room[i] - 1}"
        )

    refuse_where(steps.file, (at < 0) | (at + count > room), steps["line"][who], text)
    return np.asarray(buffers.first[buffer, rank] + at)


def _before(steps: Steps) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each step waits for the one before it in its thread block: (waiter, awaited)."""
    later = np.flatnonzero(np.diff(steps["lane"], prepend=-1) == 0)
    return later, later - 1


def _depended(steps: Steps) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Steps that wait for one of another thread block: (waiter, awaited)."""
    rank, block, lane = (steps[name] for name in ("rank", "block", "lane"))
    waiter = np.flatnonzero(steps["depid"] >= 0)
    wanted, number = steps["depid"][waiter], steps["deps"][waiter]
    begins = np.flatnonzero(np.diff(lane, prepend=-1))
    # thread blocks and their steps are numbered without gaps
    named = rank[begins] * (1 << 31) + block[begins]
    key = rank[waiter] * (1 << 31) + wanted
    at = np.minimum(np.searchsorted(named, key), max(len(named) - 1, 0))
    length = np.diff(np.append(begins, len(lane)))
    absent = (named[at] != key) | (number < 0) | (number >= length[at]) if len(waiter) else waiter < 0

    def text(i: int) -> str:
        return f"waits for step {number[i]} of thread block {wanted[i]}; gpu {rank[waiter[i]]} has none"

    refuse_where(steps.file, absent, steps["line"][waiter], text)
    return waiter, begins[at] + number
