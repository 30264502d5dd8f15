"""Files that say, step by step, which chunk goes from whom to whom: a program of such moves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from algorithms.assembly import settled
from algorithms.collective import make_collective
from algorithms.errors import ScheduleError
from algorithms.programs.from_schedule import program_of
from algorithms.schedule import COPY, Schedule
from topologies.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from algorithms.collective import Collective
    from algorithms.programs.program import Program


class Move(NamedTuple):
    """A chunk that goes from a rank to another in a step of a channel."""

    step: int
    src: int
    dst: int
    chunk: int
    mode: int = COPY
    channel: int = 0


def collective_of(
    file: str, kind: str, ranks: int, *, blocks: int | None = None, segments: int = 1, root: int = 0
) -> Collective:
    """The collective that a file does, of any size.

    Raises
    ------
    FormatError
        If there are too many ranks or chunks.
    """
    try:
        return make_collective(kind, ranks, 0, blocks=blocks, segments=segments, root=root)
    except ScheduleError as error:
        raise FormatError(error.message, file, 1, 1) from None


def program_of_moves(
    file: str, name: str, collective: Collective, moves: Sequence[Move], unsaid: Sequence[str] = ()
) -> Program:
    """Program in which every rank sends what a step says when it has it.

    Raises
    ------
    FormatError
        If a rank sends to itself, or to one that is not there.
    """
    table = np.array(moves, dtype=np.int64).reshape(-1, len(Move._fields))
    # what is equal in all else goes in the order of the file
    table = table[np.lexsort((table[:, 5], table[:, 0]))]
    column = dict(zip(Move._fields, table.T, strict=True))
    schedule = Schedule(
        collective,
        column["step"].astype(np.int32),
        column["channel"].astype(np.int16),
        column["src"].astype(np.int32),
        column["dst"].astype(np.int32),
        column["chunk"].astype(np.int32),
        np.ones(len(table), dtype=np.int32),
        column["mode"].astype(np.uint8),
        algorithm=name,
    )
    try:
        return replace(program_of(settled(schedule)), unsaid=tuple(unsaid))
    except ScheduleError as error:
        raise FormatError(error.message, file, 1, 1) from None
