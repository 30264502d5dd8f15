"""Closed-form costs: rounds of equal messages, priced in alpha, beta and gamma.

Every closed form of the catalogue is a sum over rounds. In a round a rank sends `sent` bytes
over a link and, where it reduces, receives and reduces `fan_in` such messages:

    T = sum of times * (alpha + sent / beta + fan_in * sent / gamma)

with alpha in s and beta, gamma in bytes/s, as the first seed document writes them. Leaving out
the last term gives the approximate form for gamma >> beta.
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
    """

    times: int
    sent: Fraction
    fan_in: int = 0
    level: int = 0


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
        if self.reduction is None or turn.fan_in == 0:
            return Fraction(self.latency) + wire
        reduce = turn.sent / Fraction(self.reduction)
        if self.mode == "after":
            return Fraction(self.latency) + wire + turn.fan_in * reduce
        return Fraction(self.latency) + max(wire, reduce) + (turn.fan_in - 1) * reduce


def closed_form(rounds: Iterable[Round], platforms: Sequence[Platform]) -> Fraction:
    """Seconds that the rounds take; `platforms[i]` holds for level i, the last one for all above.

    Examples
    --------
    The first seed's ring ReduceScatter, N = 8, M = 1 GiB, 1 us, 64 GB/s, approximate form:

    >>> from algorithms.ring import ring_rounds
    >>> rounds = ring_rounds("reduce_scatter", 8, 2**30)
    >>> float(closed_form(rounds, [Platform(latency=1e-6, bandwidth=64e9)]))
    0.014687064
    """
    last = len(platforms) - 1
    return sum((turn.times * platforms[min(turn.level, last)].price(turn) for turn in rounds), Fraction(0))
