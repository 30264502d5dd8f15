"""Messages whose two ends stand in different lines of a file, and which line of one is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from algorithms.programs.matching import NOBODY, matched
from topologies.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """What the lines of a file say of messages; columns of all lines, whether they send, receive or neither.

    Attributes
    ----------
    file : str
    line : ndarray of int64, shape (lines,)
        Number of each.
    rank : ndarray of int64
        Whose it is.
    to, by : ndarray of int64
        Whom it sends to, and receives from.
    lane : ndarray of int64
        Messages of different ones do not meet.
    amount : ndarray of int64
        How much is sent, and received.
    words : tuple of str
        What a lane is called, as "by channel", and what is counted, as "chunks".
    """

    file: str
    line: NDArray[np.int64]
    rank: NDArray[np.int64]
    to: NDArray[np.int64]
    by: NDArray[np.int64]
    lane: NDArray[np.int64]
    amount: NDArray[np.int64]
    words: tuple[str, str]

    def senders(self, sends: NDArray[np.int64], receives: NDArray[np.int64]) -> NDArray[np.int64]:
        """The line that sends what each receiving one receives: of one lane the n-th is the n-th.

        Parameters
        ----------
        sends, receives : ndarray of int64
            Lines that send, and that receive, in the order in which they do.

        Raises
        ------
        FormatError
            If a message has one end only, or ends of different amounts.
        """
        source = np.concatenate([self.rank[sends], self.by[receives]])
        target = np.concatenate([self.to[sends], self.rank[receives]])
        lane = np.concatenate([self.lane[sends], self.lane[receives]])
        key = (source * (target.max(initial=0) + 1) + target) * (lane.max(initial=0) + 1) + lane
        _, queue = np.unique(key, return_inverse=True)
        receiver, sender = matched(queue.ravel()[: len(sends)], queue.ravel()[len(sends) :])
        alone = np.zeros(len(self.line), dtype=bool)
        lost = sends[receiver == NOBODY]
        alone[lost] = alone[receives[sender == NOBODY]] = True
        refuse_where(self.file, alone, self.line, lambda i: self._alone(i, sends=i in lost))
        partner = np.full(len(self.line), NOBODY, dtype=np.int64)
        partner[receives] = sends[sender]
        unequal = (partner != NOBODY) & (self.amount != self.amount[partner])
        refuse_where(self.file, unequal, self.line, lambda i: self._unequal(i, int(partner[i])))
        return partner[receives]

    def _alone(self, i: int, *, sends: bool) -> str:
        lane = f"{self.words[0]} {self.lane[i]}"
        if sends:
            return f"rank {self.rank[i]} sends to rank {self.to[i]} {lane}, which never receives it"
        return f"rank {self.rank[i]} receives from rank {self.by[i]} {lane}, which never sends it"

    def _unequal(self, i: int, other: int) -> str:
        return (
            f"receives {self.amount[i]} {self.words[1]}, of which line {self.line[other]} sends "
            f"{self.amount[other]}"
        )


def refuse_where(
    file: str, wrong: NDArray[np.bool_], line: NDArray[np.int64], say: Callable[[int], str]
) -> None:
    """Refuse a file for what is wrong in its first line.

    Parameters
    ----------
    file : str
    wrong : ndarray of bool
    line : ndarray of int64
        Of each.
    say : callable
        What is wrong with one of them.

    Raises
    ------
    FormatError
    """
    if wrong.any():
        found = np.flatnonzero(wrong)
        at = int(found[np.argmin(line[found])])
        raise FormatError(say(at), file, int(line[at]), 1)
