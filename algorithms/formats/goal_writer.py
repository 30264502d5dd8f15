"""Writer of GOAL, the input of LogGOPSim."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from algorithms.errors import ScheduleError
from algorithms.formats.goal import NANOSECOND
from algorithms.formats.written import Written
from algorithms.programs.program import members
from algorithms.programs.proof import run_program
from algorithms.programs.purpose import Messages

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.programs.program import Program


def write_goal(program: Program, size: int | None = None) -> Written:
    """A GOAL file of a program.

    What an instruction receives and sends is an operation each, with the channel as tag; one that does
    neither computes for no time, so that others can wait for it.

    Parameters
    ----------
    program : Program
    size : int, optional
        Bytes of the full vector, where the program does not say by itself.

    Raises
    ------
    ScheduleError
        If the size is missing, or an instruction reaches into another rank's buffers.
    ProgramError
        If the program comes to a stop.
    """
    if size is None and not isinstance(program.purpose, Messages):
        raise ScheduleError("GOAL says how many bytes each message has; it needs a size")
    moved = _bytes(program, size or 0)
    lines = [f"num_ranks {program.ranks}"]
    for rank in range(program.ranks):
        lines += ["", f"rank {rank} {{", *_rank(program, rank, moved), "}"]
    return Written(("\n".join(lines) + "\n").encode(), tuple(_lost(program)))


def _bytes(program: Program, size: int) -> NDArray[np.int64]:
    """Bytes of what each instruction moves."""
    run, sizes = run_program(program), program.purpose.collective(size).sizes
    total = np.concatenate([[0], np.cumsum(np.where(run.chunk < 0, 0, sizes[run.chunk]))])
    return np.asarray(total[run.offset[1:]] - total[run.offset[:-1]])


def _rank(program: Program, rank: int, moved: NDArray[np.int64]) -> Iterator[str]:
    """Operations of a rank, and who waits for whom."""
    senders, receivers = _messages(program)
    label: dict[int, str] = {}
    operations, waits = list[str](), list[str]()

    def add(text: str, after: list[str]) -> str:
        name = f"l{len(operations) + 1}"
        operations.append(f"{name}: {text}")
        waits.extend(f"{name} requires {other}" for other in after)
        return name

    mine = np.flatnonzero(program.rank == rank).tolist()
    needs = {i: [other for other in program.after.of(i) if program.rank[other] == rank] for i in mine}
    texts = {i: list(_texts(program, i, int(moved[i]), senders, receivers)) for i in mine}
    number = 0
    for i in mine:
        number += len(texts[i])
        label[i] = f"l{number}"
    for i in mine:
        after = [label[other] for other in needs[i]]
        for text in texts[i]:
            after = [add(text, after)]
    yield from operations
    yield from waits


def _messages(program: Program) -> tuple[dict[int, int], dict[int, int]]:
    """Whom each instruction sends to, and receives from.

    Raises
    ------
    ScheduleError
        If it is by other means than a message, or several at once.
    """
    wire = program.places.on_wire()
    instruction, other = program.senders()
    waiter = members(program.after)
    far = program.rank[waiter] != program.rank[program.after.index]
    sent = wire[program.writes.index]
    if len(program.fetchers()[0]) or int(sent.sum()) != len(instruction):
        raise ScheduleError("GOAL cannot say it: its ranks reach into each other's buffers")
    source = program.rank[program.after.index[far]]
    ends = (
        dict(zip(instruction.tolist(), other.tolist(), strict=True)),
        dict(zip(waiter[far].tolist(), source.tolist(), strict=True)),
    )
    if len(ends[0]) < len(instruction) or len(ends[1]) < int(far.sum()):
        raise ScheduleError("GOAL cannot say it: an instruction has several messages")
    return ends


def _texts(
    program: Program, i: int, moved: int, senders: dict[int, int], receivers: dict[int, int]
) -> Iterator[str]:
    """What an instruction is in the file: at least one operation."""
    work = 0 if program.work is None else int(program.work[i])
    if i in receivers:
        yield f"recv {moved}b from {receivers[i]} tag {program.channel[i]}"
    if i in senders:
        yield f"send {moved}b to {senders[i]} tag {program.channel[i]}"
    if work or not (i in receivers or i in senders):
        cpu = 0 if program.processor is None else int(program.processor[i])
        yield f"calc {round(work / NANOSECOND)}{f' cpu {cpu}' if cpu else ''}"


def _lost(program: Program) -> Iterator[str]:
    if not isinstance(program.purpose, Messages):
        yield f"that it is {program.purpose}: GOAL knows bytes, not what they are"
    if (np.diff(program.reads.offsets) > 1).any():
        yield "what is added up: in GOAL it takes no time"
