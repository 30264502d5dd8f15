"""Writer of MSCCL XML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import quoteattr

import numpy as np

from algorithms.errors import ScheduleError
from algorithms.formats.msccl_elements import COLLECTIVES, TYPES, Type
from algorithms.formats.msccl_xml import root_of
from algorithms.formats.written import Written
from algorithms.programs.program import members
from algorithms.programs.purpose import Messages

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.programs.program import Program
    from algorithms.programs.purpose import Purpose

_NAMES: Final = {kind: name for name, kind in list(COLLECTIVES.items())[::-1]}
_WORDS: Final = {kind: word for word, kind in TYPES.items()}
_MOST: Final = {"thread blocks at a rank": 216, "steps in a thread block": 256, "chunks in a step": 71}
"""What the runtime of microsoft/msccl takes."""

_NONE: Final = 'srcbuf="i" srcoff="-1" dstbuf="o" dstoff="-1"'


def write_msccl_xml(program: Program, size: int | None = None) -> Written:  # noqa: ARG001
    """An MSCCL XML file of a program.

    A step names one step of another thread block that it waits for; where an instruction waits for more,
    steps that do nothing come before it.

    Raises
    ------
    ScheduleError
        If an instruction has no form in the format; names it.
    """
    purpose = program.purpose
    if isinstance(purpose, Messages):
        raise ScheduleError("MSCCL XML cannot say it: nobody knows what its messages hold")
    file = _File.of(program)
    lines = [_algo(program, purpose), *file.lines(), "</algo>"]
    return Written(("\n".join(lines) + "\n").encode(), tuple(_lost(file, purpose)))


@dataclass(frozen=True, slots=True)
class _Form:
    """Type of a step, and its places as attributes."""

    type: Type
    ends: str


@dataclass(frozen=True, slots=True, eq=False)
class _File:
    """A program as it will stand in the file.

    Attributes
    ----------
    program : Program
    form : list of _Form
        Of each instruction.
    lane : ndarray of int64
        Thread block of each, numbered over all ranks.
    waits : list of list of int
        Instructions of other thread blocks of its rank that each waits for.
    step : ndarray of int64
        Its number in its thread block.
    peer : ndarray of int64, shape (2, lanes)
        Whom each thread block sends to, and receives from, or -1.
    """

    program: Program
    form: list[_Form]
    lane: NDArray[np.int64]
    waits: list[list[int]]
    step: NDArray[np.int64]
    peer: NDArray[np.int64]

    @classmethod
    def of(cls, program: Program) -> _File:
        lane = program.lanes()
        waits = [
            [other for other in program.after.of(i) if program.rank[other] == rank and lane[other] != lane[i]]
            for i, rank in enumerate(program.rank.tolist())
        ]
        taken = np.maximum([len(others) for others in waits], 1)
        last = np.cumsum(taken)
        begins = np.flatnonzero(np.diff(lane, prepend=-1))
        step = last - 1 - (last - taken)[begins][lane]
        wire = program.places.on_wire()
        forms = [_form(program, i, wire) for i in range(len(program))]
        return cls(program, forms, lane, waits, step, _peers(program, lane))

    def lines(self) -> Iterator[str]:
        """Elements of all ranks."""
        program = self.program
        places, names = program.places, program.places.name
        room = np.diff(np.append(places.first, len(places)))
        owner = places.owner[places.first]
        begins = np.flatnonzero(np.diff(self.lane, prepend=-1)).tolist()
        needed = {other for others in self.waits for other in others}
        for rank in range(program.ranks):
            here = {names[run]: int(room[run]) for run in np.flatnonzero(owner == rank).tolist()}
            rooms = " ".join(f'{buffer}_chunks="{here.get(buffer, 0)}"' for buffer in "ios")
            yield f'  <gpu id="{rank}" {rooms}>'
            for lane in [lane for lane, i in enumerate(begins) if program.rank[i] == rank]:
                first, stop = begins[lane], [*begins[1:], len(program)][lane]
                send, recv = self.peer[:, lane]
                chan = program.channel[first]
                yield f'    <tb id="{program.block[first]}" send="{send}" recv="{recv}" chan="{chan}">'
                for i in range(first, stop):
                    yield from self._steps(i, i in needed)
                yield "    </tb>"
            yield "  </gpu>"

    def _steps(self, i: int, needed: bool) -> Iterator[str]:
        """Steps of an instruction: it waits for the last of others itself."""
        others = self.waits[i]
        for before, other in enumerate(others[:-1]):
            step = int(self.step[i]) - len(others) + 1 + before
            yield f'      <step s="{step}" type="nop" {_NONE} cnt="0" {self._wait(other)} hasdep="0"/>'
        wait = self._wait(others[-1]) if others else 'depid="-1" deps="-1"'
        form = self.form[i]
        about = f's="{self.step[i]}" type="{_WORDS[form.type]}" {form.ends} cnt="{self.program.count[i]}"'
        yield f'      <step {about} {wait} hasdep="{int(needed)}"/>'

    def _wait(self, other: int) -> str:
        return f'depid="{self.program.block[other]}" deps="{self.step[other]}"'


def _form(program: Program, i: int, wire: NDArray[np.bool_]) -> _Form:
    """The type of step that does what an instruction does.

    Raises
    ------
    ScheduleError
        If there is none.
    """
    if program.count[i] == 0:
        return _Form(Type(), _NONE)
    reads, writes = program.reads.of(i), program.writes.of(i)
    own = [place for place in reads if not wire[place]]
    kept = [place for place in writes if not wire[place]]
    receives, sends = len(own) < len(reads), len(kept) < len(writes)
    # a step that reduces by itself adds what it reads first to what it writes
    adds = len(own) == 2 and not receives and own[1:] == kept
    kind = Type(receives, bool(own), adds, bool(kept), sends)
    strange = len(own) > 1 + adds or len(reads) - len(own) > 1 or len(writes) > kind.writes + kind.sends
    if kind not in _WORDS or strange or (program.places.owner[own + kept] != program.rank[i]).any():
        raise ScheduleError(f"MSCCL XML cannot say it: no step does what {program.at(i)} does")
    source, target = (own or kept)[0], (kept or own)[0]
    return _Form(kind, f"{_end(program, 'src', source)} {_end(program, 'dst', target)}")


def _end(program: Program, end: str, place: int) -> str:
    buffer, at = program.places.located(place)
    return f'{end}buf="{buffer}" {end}off="{at}"'


def _peers(program: Program, lane: NDArray[np.int64]) -> NDArray[np.int64]:
    """Whom each thread block sends to, and receives from."""
    peer = np.full((2, int(lane.max(initial=-1)) + 1), -1, dtype=np.int64)
    waiter = members(program.after)
    received = program.rank[waiter] != program.rank[program.after.index]
    ends = (
        program.senders(),
        (waiter[received], program.rank[program.after.index[received]].astype(np.int64)),
    )
    for side, (instruction, other) in enumerate(ends):
        peer[side, lane[instruction]] = other
        mixed = peer[side, lane[instruction]] != other
        if mixed.any():
            i = int(instruction[np.argmax(mixed)])
            text = f"thread block {program.block[i]} of rank {program.rank[i]} has several peers"
            raise ScheduleError(f"MSCCL XML cannot say it: {text}")
    return peer


def _algo(program: Program, purpose: Purpose) -> str:
    """The outermost element."""
    names = set(program.places.name)
    channels = int(program.channel.max(initial=0)) + 1
    in_place = not {"i", "o"} <= names
    about = {
        "name": program.name,
        "proto": "Simple",
        "nchannels": channels,
        "nchunksperloop": purpose.parts,
        "ngpus": program.ranks,
        "coll": _NAMES[purpose.kind],
        "inplace": int(in_place),
        "outofplace": int(not in_place),
        "minBytes": 0,
        "maxBytes": 0,
    }
    return f"<algo {' '.join(f'{key}={quoteattr(str(value))}' for key, value in about.items())}>"


def _lost(file: _File, purpose: Purpose) -> Iterator[str]:
    """What a reader, or a runtime, will miss."""
    program = file.program
    if purpose.root != root_of(purpose, program):
        yield f"the root, {purpose.root}: the format does not name it"
    begins = np.flatnonzero(np.diff(file.lane, prepend=-1))
    blocks = int(np.bincount(program.rank[begins], minlength=1).max())
    found = (blocks, int(file.step.max(initial=-1)) + 1, int(program.count.max(initial=0)))
    for (what, most), number in zip(_MOST.items(), found, strict=True):
        if number > most:
            yield f"{number} {what}: the runtime of microsoft/msccl takes {most}"
