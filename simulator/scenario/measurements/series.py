"""What a log tells: times of one collective over sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

# 10^15 B and 10^6 s are more than any run
MOST_SIZE: Final = 10**15
MOST_TIME: Final = 1e6


@dataclass(frozen=True, slots=True)
class Point:
    """A time at a size.

    Attributes
    ----------
    size : int
        M in bytes, the full vector.
    time : float
        s.
    line : int
        Of the log.
    """

    size: int
    time: float
    line: int


@dataclass(frozen=True, slots=True)
class Series:
    """Times of one collective over sizes.

    Attributes
    ----------
    file : str
    kind : str
        The collective, by its name in scenarios.
    ranks : int
        N.
    in_place : bool
        Whether sources and destinations were the same buffers.
    library : {'nccl', 'mpi'}
        What was timed.
    points : tuple of Point
        By rising size, of one size in the order of the log.
    """

    file: str
    kind: str
    ranks: int
    in_place: bool
    points: tuple[Point, ...]
    library: Literal["nccl", "mpi"] = "nccl"

    @property
    def name(self) -> str:
        """What it is of, for people."""
        return f"{self.kind}, {self.ranks} ranks{', in place' if self.in_place else ''}"


@dataclass(frozen=True, slots=True)
class Told:
    """What a person says of a log that it does not say itself; None leaves it to the log."""

    kind: str | None = None
    ranks: int | None = None


@dataclass(frozen=True, slots=True)
class Log:
    """A log: its series, and what a person should know of how it was read."""

    series: tuple[Series, ...]
    notes: tuple[str, ...] = ()


def is_point(size: float, time: float) -> bool:
    """Whether a size and a time, s, can be of a run that sends something."""
    return 0 < size <= MOST_SIZE and 0 < time <= MOST_TIME


def in_order(points: list[Point]) -> tuple[Point, ...]:
    """Points by rising size."""
    return tuple(sorted(points, key=lambda point: (point.size, point.line)))
