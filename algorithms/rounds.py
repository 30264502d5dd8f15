"""Closed-form costs: rounds of equal messages, priced in alpha, beta and gamma.

Every closed form of the catalogue is a sum over rounds. In a round a rank sends `sent` bytes
over a link and, where it reduces, receives and reduces `fan_in` such messages:

    T = sum of times * (alpha + sent / beta + fan_in * sent / gamma)

with alpha in s and beta, gamma in bytes/s, as the first seed document writes them. Leaving out
the last term gives the approximate form for gamma >> beta. What all ranks together send and reduce
is a closed form of its own, in units of M.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Number = int | float | Fraction


@dataclass(frozen=True, slots=True)
class Round:
    """Rounds of equal messages.

    Attributes
    ----------
    times : int
        How many such rounds follow each other.
    sent : Fraction
        Bytes of a message.
    fan_in : int
        Messages that a rank reduces in a round; 0 where they are only stored.
    level : int
        Dimension of a multi-level topology whose alpha and beta hold.
    pipelined : bool
        Whether these messages follow the ones before on the same link, without waiting for them
        to arrive: a further segment in a pipeline. It is then no step of its own.
    """

    times: int
    sent: Fraction
    fan_in: int = 0
    level: int = 0
    pipelined: bool = False


@dataclass(frozen=True, slots=True)
class Totals:
    """What all ranks together do, M being divided evenly.

    Attributes
    ----------
    messages : int
        Transfers.
    sent, reduced : Fraction
        Bytes that are sent, and that arrive to be reduced, in units of M.
    """

    messages: int
    sent: Fraction
    reduced: Fraction = Fraction(0)

    def __add__(self, other: Totals) -> Totals:
        return Totals(self.messages + other.messages, self.sent + other.sent, self.reduced + other.reduced)

    def scaled(self, *, messages: int = 1, bytes: int | Fraction = 1) -> Totals:
        """So many times the messages, and so many times the bytes in all of them."""
        return Totals(self.messages * messages, self.sent * bytes, self.reduced * bytes)


def least(kind: str, ranks: int, messages: int = 0) -> Totals:
    """The fewest bytes in units of M, sent and reduced, with which a collective can be done.

    A chunk must reach every rank that needs it, and every contribution be combined once (Chan,
    Heimlich, Purkayastha and van de Geijn 2007).

    Parameters
    ----------
    kind, ranks
        As `make_collective`.
    messages : int
        In how many messages an algorithm does it.

    Examples
    --------
    >>> least("allreduce", 4).sent, least("scatter", 4).sent
    (Fraction(6, 1), Fraction(3, 4))
    """
    others = Fraction(ranks - 1)
    sent = {
        "allreduce": 2 * others,
        "scatter": others / ranks,
        "gather": others / ranks,
        "barrier": Fraction(0),
        "send_recv": Fraction(min(1, ranks - 1)),
    }.get(kind, others)
    reduces = kind in ("reduce", "reduce_scatter", "allreduce")
    return Totals(messages, sent, others if reduces else Fraction(0))


@dataclass(frozen=True, slots=True)
class Platform:
    """alpha and beta of one level, and gamma.

    Attributes
    ----------
    latency, overhead : float
        s; alpha is their sum. The overhead is spent before the bytes, the latency after.
    bandwidth : float
        beta, bytes/s.
    reduction : float or None
        gamma, bytes/s; None where reducing is free.
    mode : {'after', 'streamed'}
        Whether a message is reduced after it has arrived, or while it arrives.
    """

    latency: Number
    bandwidth: Number
    overhead: Number = 0
    reduction: Number | None = None
    mode: Literal["after", "streamed"] = "after"

    @property
    def alpha(self) -> Fraction:
        """Start-up time of a message, s."""
        return Fraction(self.latency) + Fraction(self.overhead)

    def price(self, turn: Round) -> Fraction:
        """Seconds of one round."""
        wire = Fraction(self.overhead) + turn.sent / Fraction(self.bandwidth)
        if turn.pipelined:
            # links and reducers work side by side: the slower of them sets the pace
            work = 0 if self.reduction is None else turn.fan_in * turn.sent / Fraction(self.reduction)
            return max(wire, Fraction(work))
        if self.reduction is None or turn.fan_in == 0:
            return Fraction(self.latency) + wire
        reduce = turn.sent / Fraction(self.reduction)
        if self.mode == "after":
            return Fraction(self.latency) + wire + turn.fan_in * reduce
        return Fraction(self.latency) + max(wire, reduce) + (turn.fan_in - 1) * reduce


def steps_of(rounds: Iterable[Round]) -> int:
    """Steps that the rounds stand for: all but those that follow in a pipeline."""
    return sum(turn.times for turn in rounds if not turn.pipelined)


def closed_form(rounds: Iterable[Round], platforms: Sequence[Platform]) -> Fraction:
    """Seconds that the rounds take; `platforms[i]` holds for level i, the last one for all above.

    Examples
    --------
    The first seed's ring ReduceScatter, N = 8, M = 1 GiB, 1 us, 64 GB/s, approximate form:

    >>> from algorithms.catalogue.ring import ring_rounds
    >>> rounds = ring_rounds("reduce_scatter", 8, 2**30)
    >>> float(closed_form(rounds, [Platform(latency=1e-6, bandwidth=64e9)]))
    0.014687064
    """
    last = len(platforms) - 1
    return sum((turn.times * platforms[min(turn.level, last)].price(turn) for turn in rounds), Fraction(0))
