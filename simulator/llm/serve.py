"""How many requests a plan serves, how fast, and what keeps it from serving more."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from simulator.llm.errors import ModelError
from simulator.llm.server import Server
from topologies.clock import FEMTOSECONDS, femtoseconds

if TYPE_CHECKING:
    from simulator.llm.memory import StageMemory
    from simulator.llm.plan import Parallel

Limit: TypeAlias = Literal["memory", "ttft", "tpot"]

MOST: Final = 2**20
"""Requests of a replica at which the search for the largest batch ends."""


@dataclass(frozen=True, slots=True)
class Point:
    """A number of requests that are served at once.

    Attributes
    ----------
    server : Server
    requests : int
        Over all replicas.
    first, ttft : int
        Fs until the first token of the first request, and of the last.
    tpot : int
        Fs from one token of a request to its next.
    exposed : int
        By how many of those calls delay it.
    memory : StageMemory
        Of the stage that needs most.
    missed : tuple of {'memory', 'ttft', 'tpot'}
        What does not fit, and targets that are missed.
    """

    server: Server
    requests: int
    first: int
    ttft: int
    tpot: int
    exposed: int
    memory: StageMemory
    missed: tuple[Limit, ...]

    @property
    def rate(self) -> Fraction:
        """Tokens a second of all requests, while all are being answered."""
        return Fraction(self.requests * FEMTOSECONDS, self.tpot)

    @property
    def whole(self) -> int:
        """Fs until all have been answered."""
        return self.ttft + (self.server.serve.output - 1) * self.tpot

    @property
    def whole_rate(self) -> Fraction:
        """Tokens a second of all requests, the time in which prompts are read among it."""
        return Fraction(self.requests * self.server.serve.output * FEMTOSECONDS, self.whole)


@dataclass(frozen=True, slots=True)
class Served:
    """What a plan serves.

    Attributes
    ----------
    server : Server
    points : tuple of Point
        By number of requests.
    in_memory : int
        The most requests that memory has room for, over all replicas.
    largest : int
        The most that also meet the targets; 0 where not even one a replica does.
    binds : tuple of {'memory', 'ttft', 'tpot'}
        What one more request a replica would miss.
    """

    server: Server
    points: tuple[Point, ...]
    in_memory: int
    largest: int
    binds: tuple[Limit, ...]

    @property
    def best(self) -> Point | None:
        """The largest batch that meets everything."""
        return next((point for point in self.points if point.requests == self.largest), None)

    def exposed(self) -> dict[str, int]:
        """Fs by which each group of calls delays a token of the largest batch."""
        each = self.largest // self.server.parallel.dp
        return {group: self.server.exposed(each, [group]) for group in self.server.groups} if each else {}


def serve(server: Server, also: Iterable[int] = ()) -> Served:
    """Look at a plan at several numbers of requests, and find the most it can serve.

    Parameters
    ----------
    server : Server
    also : iterable of int
        Numbers of requests to look at beside those of the plan.

    Raises
    ------
    ModelError
        If replicas cannot share a number of requests equally, or hardware does not say how fast it is.
    """
    asked, dp = server.serve.batch, server.parallel.dp
    for number, requests in enumerate(asked or ()):
        if requests % dp:
            raise ModelError(f"{dp} replicas do not share {requests} requests", ("serve", "batch", number))
    in_memory, largest = limits(server)
    shares = {largest, in_memory} if asked is None else {requests // dp for requests in asked}
    if asked is None:
        shares |= {2**power for power in range(in_memory.bit_length())}
        shares |= {requests // dp for requests in also if requests % dp == 0}
    points = tuple(_point(server, each) for each in sorted({largest, *shares} - {0}))
    return Served(server, points, in_memory * dp, largest * dp, _missed(server, largest + 1))


def limits(server: Server) -> tuple[int, int]:
    """The most requests of a replica that memory has room for, and of those that meet the targets.

    That more requests take no less time and memory is taken for granted.
    """
    in_memory = _most(server.fits)
    return in_memory, _most(lambda each: not _missed(server, each), in_memory)


def _point(server: Server, each: int) -> Point:
    """Look at so many requests of a replica."""
    return Point(
        server,
        each * server.parallel.dp,
        server.ttft(1),
        server.ttft(each),
        server.tpot(each),
        server.exposed(each, server.groups),
        max(server.memory(each), key=lambda stage: stage.total),
        _missed(server, each),
    )


def _missed(server: Server, each: int) -> tuple[Limit, ...]:
    """What so many requests of a replica miss."""
    targets = server.serve
    missed: list[Limit] = [] if server.fits(each) else ["memory"]
    if targets.ttft is not None and server.ttft(each) > femtoseconds(Fraction(targets.ttft)):
        missed.append("ttft")
    if targets.tpot is not None and server.tpot(each) > femtoseconds(Fraction(targets.tpot)):
        missed.append("tpot")
    return tuple(missed)


def _most(holds: Callable[[int], bool], limit: int = MOST) -> int:
    """The largest number up to a limit for which something holds that holds for all smaller ones, else 0."""
    low, high = 0, 1
    while high <= limit and holds(high):
        low, high = high, 2 * high
    high = min(high, limit + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def with_tensor_parallelism(parallel: Parallel, tp: int) -> Parallel:
    """The plan with other tensor parallelism on as many ranks: the rest of them are replicas.

    Raises
    ------
    ModelError
        If the ranks cannot be shared so.

    Examples
    --------
    >>> from simulator.llm.plan import Parallel
    >>> with_tensor_parallelism(Parallel(tp=8), 2).dp
    4
    """
    shared = tp * parallel.cp * parallel.pp
    if parallel.ranks % shared:
        raise ModelError(f"groups of {shared} ranks do not share {parallel.ranks} ranks", ("parallel", "tp"))
    return replace(parallel, tp=tp, dp=parallel.ranks // shared)
