"""Writer of GOAL, the input of LogGOPSim."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from algorithms.errors import ScheduleError
from algorithms.formats.goal import NANOSECOND
from algorithms.formats.written import Written
from algorithms.programs.matching import messages_of
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
    moved, messages = _bytes(program, size or 0), messages_of(program, "GOAL cannot say it")
    lines = [f"num_ranks {program.ranks}"]
    for rank in range(program.ranks):
        lines += ["", f"rank {rank} {{", *_rank(program, rank, moved, *messages), "}"]
    return Written(("\n".join(lines) + "\n").encode(), tuple(_lost(program)))


def _bytes(program: Program, size: int) -> NDArray[np.int64]:
    """Bytes of what each instruction moves."""
    run, sizes = run_program(program), program.purpose.collective(size).sizes
    total = np.concatenate([[0], np.cumsum(np.where(run.chunk < 0, 0, sizes[run.chunk]))])
    return np.asarray(total[run.offset[1:]] - total[run.offset[:-1]])


def _rank(
    program: Program, rank: int, moved: NDArray[np.int64], sends: dict[int, int], receives: dict[int, int]
) -> Iterator[str]:
    """Operations of a rank, and who waits for whom."""
    label: dict[int, str] = {}
    operations, waits = list[str](), list[str]()

    def add(text: str, after: list[str]) -> str:
        name = f"l{len(operations) + 1}"
        operations.append(f"{name}: {text}")
        waits.extend(f"{name} requires {other}" for other in after)
        return name

    mine = np.flatnonzero(program.rank == rank).tolist()
    needs = {i: [other for other in program.after.of(i) if program.rank[other] == rank] for i in mine}
    texts = {i: list(_texts(program, i, int(moved[i]), sends, receives)) for i in mine}
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


def _texts(
    program: Program, i: int, moved: int, sends: dict[int, int], receives: dict[int, int]
) -> Iterator[str]:
    """What an instruction is in the file: at least one operation."""
    work = 0 if program.work is None else int(program.work[i])
    if i in receives:
        yield f"recv {moved}b from {program.rank[receives[i]]} tag {program.channel[i]}"
    if i in sends:
        yield f"send {moved}b to {sends[i]} tag {program.channel[i]}"
    if work or not (i in receives or i in sends):
        cpu = 0 if program.processor is None else int(program.processor[i])
        yield f"calc {round(work / NANOSECOND)}{f' cpu {cpu}' if cpu else ''}"


def _lost(program: Program) -> Iterator[str]:
    if not isinstance(program.purpose, Messages):
        yield f"that it is {program.purpose}: GOAL knows bytes, not what they are"
    if (np.diff(program.reads.offsets) > 1).any():
        yield "what is added up: in GOAL it takes no time"
