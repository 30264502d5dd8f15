"""What a plan's operations can hold: the links of a topology, and what its ranks have."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from algorithms.schedule import unique_inverse
from simulator.engine.hops import Hops, clipped, hold_table, single
from simulator.engine.memory import Memory
from simulator.engine.network import Endpoint, Network, Reduction
from simulator.engine.plan import COMPUTE, LINK, PROCESSOR, RECEIVE_PORT, REDUCER, SEND_PORT, START, Resources
from topologies.clock import femtoseconds
from topologies.errors import TopologyError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topologies.paths import Routes
    from topologies.topology import Topology


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """A topology under a network's model, with reducers.

    What runs on it may take so much memory, and its ranks may compute on so many processors, of which the
    first handles messages, too, where that takes time. Its resources are the links, then a
    block for each kind of thing that every rank has, and one for each engine that every link has.
    Where `known` is given, routes that were found are kept there, for schedules whose messages have the
    same ends.
    """

    topology: Topology
    network: Network
    reduction: Reduction | None = None
    memory: Memory = field(default_factory=Memory)
    processors: int = 0
    known: dict[bytes, Routes] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        staging = self.network.staging
        if staging is not None and staging.reduce is not None and self.reduction is not None:
            message = "the staging reduces, and so does the reduction; one of them is enough"
            raise TopologyError(message, ("network", "staging", "reduce"))

    @property
    def endpoint(self) -> Endpoint | None:
        """What messages cost their ranks."""
        return self.network.endpoint

    def check_memory(self, transfers: int, hops: int, parts: int = 0) -> None:
        """Refuse so many transfers, hops, and operations of transfers that have several.

        Raises
        ------
        PlanError
            If they would take more memory than they may.
        """
        self.memory.check(transfers, hops, parts, hops if self.network.buffers is not None else 0)

    def kinds(self) -> list[int]:
        """What every rank has."""
        reducers = [] if self.reduction is None else [REDUCER]
        endpoint = [] if self.endpoint is None else [PROCESSOR, SEND_PORT, RECEIVE_PORT]
        return reducers + endpoint + [COMPUTE] * max(self.processors - (self.endpoint is not None), 0)

    def number(
        self, kind: int, ranks: NDArray[np.integer], which: NDArray[np.integer] | int = 0
    ) -> NDArray[np.int64]:
        """Numbers of the resources of that kind that the topology's ranks have; which of several."""
        block = self.kinds().index(kind) + which
        return np.asarray(len(self.topology.links) + block * self.topology.ranks + ranks.astype(np.int64))

    @property
    def engines(self) -> int:
        """Number of the first engine of the links."""
        return len(self.topology.links) + len(self.kinds()) * self.topology.ranks

    @property
    def starts(self) -> int:
        """Number of the first start; every late rank has one."""
        staging = self.network.staging
        return self.engines + (len(staging.engines) * len(self.topology.links) if staging else 0)

    def resources(self, late: NDArray[np.int64]) -> Resources:
        """All resources; `late` are the topology's ranks that the starts belong to."""
        links, ranks = len(self.topology.links), np.arange(self.topology.ranks)
        gap = clipped(femtoseconds(self.endpoint.gap)) if self.endpoint is not None else 0
        every: list[tuple[int, NDArray[np.integer], int]] = [(LINK, np.arange(links), 0)]
        every += [(kind, ranks, gap if kind in (SEND_PORT, RECEIVE_PORT) else 0) for kind in self.kinds()]
        staging = self.network.staging
        if staging is not None:
            engines = staging.engines
            every += [(staging.kind(engine), staging.rank(engine, self.topology), 0) for engine in engines]
        every.append((START, late, 0))
        latency = np.zeros(self.starts + len(late), dtype=np.int64)
        latency[:links] = femtoseconds_of(self.topology.links.latency)
        return Resources(
            np.concatenate([np.full(len(which), kind, dtype=np.uint8) for kind, which, _ in every]),
            np.concatenate([which for _, which, _ in every]).astype(np.int32),
            latency,
            np.concatenate([np.full(len(which), gap, dtype=np.int64) for _, which, gap in every]),
        )

    def computing(
        self, work: NDArray[np.int64], rank: NDArray[np.int64], processor: NDArray[np.integer]
    ) -> Hops:
        """A hop over a processor of its rank for each operation that computes.

        Parameters
        ----------
        work : ndarray of int64, shape (operations,)
            fs.
        rank : ndarray of int64, shape (operations,)
            The topology's.
        processor : ndarray of int, shape (operations,)
            Which of those that the rank has.
        """
        some = work > 0
        which, rank = processor[some].astype(np.int64), rank[some]
        if self.endpoint is None:
            return single(some, self.number(COMPUTE, rank, which), work[some])
        first = self.number(PROCESSOR, rank)
        if self.processors > 1:
            first = np.where(which == 0, first, self.number(COMPUTE, rank, which - 1))
        return single(some, first, work[some])

    def reducing(
        self,
        operations: NDArray[np.bool_],
        rank: NDArray[np.int64],
        sizes: NDArray[np.int64],
        *,
        head: bool | NDArray[np.bool_] = False,
    ) -> Hops:
        """A hop over the reducer of its rank for each operation that is marked.

        Parameters
        ----------
        operations : ndarray of bool, shape (operations,)
        rank : ndarray of int64, shape (marked,)
            The topology's.
        sizes : ndarray of int64, shape (marked,)
            Bytes.
        head : bool, or ndarray of bool, shape (marked,)
            Whether it is entered by the head.
        """
        if self.reduction is None or not len(rank):
            return single(operations, rank)
        rates = self.reduction.rates(self.topology.ranks)
        distinct, which = unique_inverse(sizes)
        hold = hold_table(rates, np.zeros(self.topology.ranks), distinct, rank, which)
        return single(operations, self.number(REDUCER, rank), hold, head=head)


def femtoseconds_of(seconds: NDArray[np.float64]) -> NDArray[np.int64]:
    """Nearest whole femtoseconds of each."""
    distinct, which = np.unique(seconds, return_inverse=True)
    times = np.array([clipped(femtoseconds(s)) for s in distinct.tolist()], dtype=np.int64)
    return times[which.ravel()]
