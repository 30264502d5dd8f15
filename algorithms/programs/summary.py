"""What a program is, in a line and in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from algorithms.programs.proof import run_program
from algorithms.programs.purpose import Messages

if TYPE_CHECKING:
    from algorithms.programs.program import Program


@dataclass(frozen=True, slots=True)
class Totals:
    """What a program does, whatever the network.

    Attributes
    ----------
    messages : int
    sent, sent_max : int
        Chunks that all ranks send, and the busiest one.
    reduced : int
        Chunks that are added to others.
    depth : int
        Longest chain of messages in which each sends what the one before it delivered.
    """

    messages: int
    sent: int
    sent_max: int
    reduced: int
    depth: int


def totals_of(program: Program) -> Totals:
    """Count a program's messages and chunks.

    Raises
    ------
    ProgramError
        If it comes to a stop.
    """
    sender, _ = program.senders()
    fetcher, source = program.fetchers()
    rank = np.concatenate([program.rank[sender], source])
    count = program.count[np.concatenate([sender, fetcher])].astype(np.int64)
    per_rank = np.bincount(rank, weights=count, minlength=program.ranks).astype(np.int64)
    added = np.maximum(np.diff(program.reads.offsets) - 1, 0) * program.count
    return Totals(
        messages=len(rank),
        sent=int(count.sum()),
        sent_max=int(per_rank.max(initial=0)),
        reduced=int(added.sum()),
        depth=run_program(program).depth,
    )


def summary(program: Program) -> str:
    """A line about a program that is right."""
    count = totals_of(program)
    if isinstance(program.purpose, Messages):
        return f"comes to an end: {program.ranks} ranks, {count.messages} {program.purpose}"
    return (
        f"correct: {program.purpose}, {program.ranks} ranks, {count.messages} messages of {count.sent} "
        f"chunks, {count.reduced} reduced, {count.depth} deep"
    )
