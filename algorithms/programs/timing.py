"""From a program to a schedule: its messages as transfers that wait as its thread blocks do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.assembly import as_ranges
from algorithms.programs.proof import prove_program, run_program
from algorithms.programs.purpose import Messages
from algorithms.schedule import COPY, REDUCE, Lists, Precedence, Schedule, expand

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.collective import Collective
    from algorithms.programs.order import Order
    from algorithms.programs.program import Program
    from algorithms.programs.proof import Run

_COLUMNS: Final = ("src", "dst", "mode", "instruction", "moves", "step", "level")


def schedule_of(program: Program, size: int) -> Schedule:
    """Schedule of a program's messages, with a full vector of so many bytes, where it does not say by itself.

    A message leaves when its sender comes to it: when the instructions before it in its thread block, those
    that it depends on, and the messages that it passes on have finished. What is sent is finished when it
    is delivered. A receiver that is not ready holds nobody up. What a rank adds up by itself is a row from
    it to itself that reduces; so is, copying nothing, what only waits for several others.

    Raises
    ------
    ProgramError
        If it comes to a stop, or reads what holds nothing.
    ScheduleError
        If the size does not fit.
    """
    run = run_program(program)
    if run.failed >= 0:
        # says in full what is wrong
        prove_program(program)
    rows = _Rows()
    _fill(program, run.order, rows)
    purpose = program.purpose
    collective = purpose.collective(size)
    return _settled(program, rows, collective, run)


@dataclass(slots=True)
class _Rows:
    """Transfers in the making: ends 2r and 2r + 1 are row r at its source and at its destination.

    Attributes
    ----------
    column : dict of list of int
        `src`, `dst`, `mode`, `instruction`, `moves` (chunks), and of the longest chain before each:
        `step`, the messages, and `level`, the rows.
    after : list of tuple of int
        Ends that each waits for.
    """

    column: dict[str, list[int]] = field(default_factory=lambda: {name: [] for name in _COLUMNS})
    after: list[tuple[int, ...]] = field(default_factory=list)

    def add(self, src: int, dst: int, mode: int, instruction: int, moves: int, after: Iterable[int]) -> int:
        """Add a row; its number."""
        waits, column = tuple(after), self.column
        step = level = 0
        for end in waits:
            row = end >> 1
            level = max(level, column["level"][row] + 1)
            step = max(step, column["step"][row] + (column["src"][row] != column["dst"][row]))
        for name, value in zip(_COLUMNS, (src, dst, mode, instruction, moves, step, level), strict=True):
            column[name].append(value)
        self.after.append(waits)
        return len(self.after) - 1


def _fill(program: Program, order: Order, rows: _Rows) -> None:
    """Add the rows of every instruction, after those that it waits for."""
    rank, count = program.rank.tolist(), program.count.tolist()
    sources, targets = _far(program.fetchers()), _far(program.senders())
    reads = np.diff(program.reads.offsets).tolist()
    offsets, awaited = program.after.offsets.tolist(), program.after.index.tolist()
    work = [0] * len(program) if program.work is None else program.work.tolist()
    done: list[tuple[int, ...]] = [()] * len(program)
    for i in order.turn.tolist():
        here, moves = rank[i], count[i]
        ends: list[int] = []
        for other in awaited[offsets[i] : offsets[i + 1]]:
            ends += done[other] if rank[other] == here else _delivered(done[other], here, rows)
        ends = list(dict.fromkeys(ends))
        added = [rows.add(src, here, COPY, i, moves, ends) for src in sources.get(i, ())]
        ends = [2 * row + 1 for row in added] or ends
        for _ in range(reads[i] - 1 if moves else 0):
            ends = [2 * rows.add(here, here, REDUCE, i, moves, ends)]
        sent = [rows.add(here, dst, COPY, i, moves, ends) for dst in targets.get(i, ())]
        ends = [2 * row for row in sent] or ends
        if (len(ends) > 1 and not sent) or work[i]:
            ends = [2 * rows.add(here, here, COPY, i, 0, ends)]
        done[i] = tuple(ends)


def _far(pairs: tuple[NDArray[np.int64], NDArray[np.int64]]) -> dict[int, list[int]]:
    """The other rank of each message of each instruction that has any."""
    found: dict[int, list[int]] = {}
    for instruction, rank in zip(*(column.tolist() for column in pairs), strict=True):
        found.setdefault(instruction, []).append(rank)
    return found


def _delivered(ends: tuple[int, ...], rank: int, rows: _Rows) -> list[int]:
    """What another rank waits for, of what a rank has done: that it has been delivered."""
    here = [end | 1 for end in ends if rows.column["dst"][end >> 1] == rank]
    return here or [end | 1 for end in ends]


def _settled(program: Program, rows: _Rows, collective: Collective, run: Run) -> Schedule:
    """The rows in their order, as a schedule."""
    column = {name: np.array(values, dtype=np.int64) for name, values in rows.column.items()}
    # what a rank does by itself belongs to the step of the last message before it
    alone = column["src"] == column["dst"]
    column["step"] -= alone & (column["step"] > 0)
    channel = program.channel[column["instruction"]]
    if isinstance(program.purpose, Messages):
        # tags keep messages apart, but are no lanes: what is ready at once goes in the order of the file
        channel = np.zeros_like(channel)
    order = np.lexsort((column["src"], channel, column["level"], column["step"]))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    waits = np.array([len(after) for after in rows.after], dtype=np.int64)
    ends = np.fromiter((end for after in rows.after for end in after), dtype=np.int64, count=int(waits.sum()))
    _, at = expand((np.cumsum(waits) - waits)[order], waits[order])
    offsets = np.concatenate([[0], np.cumsum(waits[order])])
    after = Lists(offsets, 2 * place[ends[at] >> 1] + (ends[at] & 1))
    column = {name: values[order] for name, values in column.items()}
    start, count = run.offset[column["instruction"]], column["moves"]
    first, index = as_ranges(np.where(count > 0, start, 0), count, run.chunk)
    # of messages nobody knows which passes on what another brought
    depth = int(column["step"].max(initial=-1)) + 1 if isinstance(program.purpose, Messages) else run.depth
    return Schedule(
        collective,
        column["step"].astype(np.int32),
        channel[order],
        column["src"].astype(np.int32),
        column["dst"].astype(np.int32),
        first.astype(np.int32),
        count.astype(np.int32),
        column["mode"].astype(np.uint8),
        None if index is None else index.astype(np.int32),
        program.name,
        precedence=Precedence(after, depth, program, *_work(program, column)),
    )


def _work(
    program: Program, column: Mapping[str, NDArray[np.int64]]
) -> tuple[NDArray[np.int64] | None, NDArray[np.int16] | None]:
    """Fs for which each row computes, and on which of its rank's processors."""
    if program.work is None or not program.work.any():
        return None, None
    alone, instruction = (column["src"] == column["dst"]) & (column["moves"] == 0), column["instruction"]
    work = np.where(alone, program.work[instruction], 0)
    return work, None if program.processor is None else np.where(work > 0, program.processor[instruction], 0)
