"""What a program must compute, and what the buffers of its ranks hold of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from algorithms.collective import EVERY, KINDS, Collective, check_kind, make_collective
from algorithms.errors import ScheduleError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Side = Literal["source", "target"]

MESSAGES: Final = "all_to_all"
"""The collective that messages of unknown content are: each is for one rank."""


@dataclass(frozen=True, slots=True)
class Purpose:
    """A collective whose full vector is cut into equal parts.

    Attributes
    ----------
    kind : str
        One of `COLLECTIVES`.
    ranks : int
        N.
    parts : int
        Chunks of the full vector; where ranks have blocks of their own, a multiple of N.
    root : int
    """

    kind: str
    ranks: int
    parts: int
    root: int = 0

    def __post_init__(self) -> None:
        check_kind(self.kind)
        if self.parts < 1 or (KINDS[self.kind].by_rank and self.parts % self.ranks):
            whole = f"a multiple of its {self.ranks} ranks" if KINDS[self.kind].by_rank else "at least 1"
            raise ScheduleError(f"{self.kind} in {self.parts} chunks; expected {whole}", ("parts",))

    def collective(self, size: int) -> Collective:
        """The collective of a full vector of so many bytes.

        Raises
        ------
        ScheduleError
            If there are too many ranks, chunks or bytes.
        """
        by_rank = KINDS[self.kind].by_rank
        return make_collective(
            self.kind,
            self.ranks,
            size,
            blocks=None if by_rank else self.parts,
            segments=self.parts // self.ranks if by_rank else 1,
            root=self.root if KINDS[self.kind].rooted else 0,
        )

    def room(self, side: Side) -> int:
        """Chunks that the input buffer ("source") or the output buffer of a rank has."""
        each = getattr(KINDS[self.kind], side) == "each" and self.kind != "all_to_all"
        return self.parts // self.ranks if each else self.parts

    def inner(self, rank: int) -> int:
        """Where the smaller buffer lies in the larger one, when the program works in place."""
        inputs, outputs = self.room("source"), self.room("target")
        return 0 if inputs == outputs else rank * min(inputs, outputs)

    def __str__(self) -> str:
        return f"{self.kind} in {self.parts} chunks"


@dataclass(frozen=True, slots=True, eq=False)
class Messages:
    """Messages of which only the bytes are known: each is a chunk for one rank.

    Attributes
    ----------
    ranks : int
        N.
    sizes : ndarray of int64, shape (messages,)
        Bytes.
    source, target : ndarray of int32
        From whom to whom.
    """

    ranks: int
    sizes: NDArray[np.int64]
    source: NDArray[np.int32]
    target: NDArray[np.int32]

    def collective(self, size: int = 0) -> Collective:  # noqa: ARG002
        """All messages, as an All-to-All of as many bytes as each pair has for each other.

        They say their sizes by themselves, whatever the size.
        """
        return Collective(MESSAGES, self.ranks, self.sizes, self.source, self.target)

    def __str__(self) -> str:
        return "messages of unknown content"


def chunks_at(collective: Collective, rank: int, side: Side) -> NDArray[np.int64]:
    """Chunks that a rank contributes ("source") or must end with ("target"), in the order of its buffer."""
    ends = getattr(collective, side)
    return np.flatnonzero((ends == rank) | (ends == EVERY))
