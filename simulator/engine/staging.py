"""What a message goes through at its two ends, between the memory of a rank and its port.

Every link has engines of its own at the rank that sends and at the rank that receives: what comes
over two links at once is staged side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal, get_args

import numpy as np

from algorithms.schedule import unique_inverse
from simulator.engine.hops import Hops, clipped, hold_table, single
from simulator.engine.plan import PROCESSOR, REDUCER, STAGE
from topologies.clock import femtoseconds
from topologies.errors import TopologyError
from topologies.quantities import Bandwidth, Time

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topologies.topology import Topology

Order = Literal["serial", "overlapped"]

FIRE: Final = "fire"
LEGS: Final = ("send", "load", "reduce", "write", "store")
"""In the order in which a message comes to them: one before its first link, the others after its last."""


@dataclass(frozen=True, slots=True)
class Staging:
    """Legs of a message at its ranks, each an engine of the link that it leaves or comes by.

    Attributes
    ----------
    order : {'serial', 'overlapped'}
        Each leg is entered by the tail of the message, or by its head.
    send : float, optional
        From memory to the port, before the first link, bytes/s. A leg without a rate is not there.
    load : float, optional
        After the last link, of a message that reduces: what it is added to comes from memory.
    reduce : float, optional
        The sum.
    write : float, optional
        The sum goes back to memory.
    store : float, optional
        After the last link, of a message that is only stored: from the port to memory.
    overheads : mapping of str to float
        By level of the first link: s before a message that reduces, for its commands and semaphores.
    """

    order: Order = "serial"
    send: Bandwidth | None = None
    load: Bandwidth | None = None
    reduce: Bandwidth | None = None
    write: Bandwidth | None = None
    store: Bandwidth | None = None
    overheads: Mapping[str, Time] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.order not in get_args(Order):
            raise TopologyError(f'order must be serial or overlapped, found "{self.order}"', ("order",))
        for leg in self.legs:
            rate = self.rate(leg)
            if not 0 < rate < float("inf"):
                raise TopologyError(f"{leg} must be positive and finite, found {rate}", (leg,))
        for level, time in self.overheads.items():
            if not 0 <= time < float("inf"):
                raise TopologyError(
                    f"an overhead is zero or more and finite, found {time}", ("overheads", level)
                )

    @property
    def legs(self) -> tuple[str, ...]:
        """Those that are there."""
        return tuple(leg for leg in LEGS if getattr(self, leg) is not None)

    @property
    def engines(self) -> tuple[str, ...]:
        """What every link has: legs, and before them what the overheads take."""
        return ((FIRE,) if self.overheads else ()) + self.legs

    def rate(self, leg: str) -> float:
        """Bytes/s of a leg that is there."""
        return float(getattr(self, leg))

    def faster(self, times: float) -> Staging:
        """The same legs with so many times their rates."""

        def times_more(rate: float | None) -> float | None:
            return None if rate is None else times * rate

        return replace(
            self,
            send=times_more(self.send),
            load=times_more(self.load),
            reduce=times_more(self.reduce),
            write=times_more(self.write),
            store=times_more(self.store),
        )

    def kind(self, engine: str) -> int:
        """Kind of resource that an engine is."""
        return {FIRE: PROCESSOR, "reduce": REDUCER}.get(engine, STAGE)

    def rank(self, engine: str, topology: Topology) -> NDArray[np.int32]:
        """Node at which the engine of each link stands, shape (links,)."""
        return topology.links.src if engine in (FIRE, "send") else topology.links.dst

    def held_before(self, topology: Topology) -> NDArray[np.int64]:
        """Fs of the overhead before a message over each link, shape (links,).

        Raises
        ------
        TopologyError
            If there is no such level.
        """
        by_level = np.zeros(len(topology.levels), dtype=np.int64)
        for level, time in self.overheads.items():
            if level not in topology.levels:
                names = ", ".join(map(str, topology.levels))
                at = ("network", "staging", "overheads", level)
                raise TopologyError(f'there is no level "{level}"; there are {names}', at)
            by_level[topology.levels.index(level)] = clipped(femtoseconds(time))
        return by_level[topology.links.level]


def staged(
    links: Hops,
    size: NDArray[np.int64],
    reduces: NDArray[np.bool_],
    staging: Staging,
    topology: Topology,
    first: int,
) -> tuple[list[Hops], list[Hops]]:
    """Hops of messages before they reduce at their rank, their links among them, and after it.

    Parameters
    ----------
    links : Hops
        Of every message.
    size : ndarray of int64, shape (messages,)
        Bytes.
    reduces : ndarray of bool, shape (messages,)
        What is added to what its destination, a rank, has.
    staging : Staging
    topology : Topology
    first : int
        Number of the first engine: those of all links, kind after kind.
    """
    begin = np.cumsum(links.count) - links.count
    walks = links.count > 0
    ways = {
        False: _Ends(links.resource[begin[walks]], walks),
        True: _Ends(links.resource[(begin + links.count)[walks] - 1], walks),
    }
    overlapped = staging.order == "overlapped"
    sending, loading, after = list[Hops](), list[Hops](), list[Hops]()
    for number, engine in enumerate(staging.engines):
        end = ways[engine not in (FIRE, "send")]
        marked = _marked(engine, reduces, end, _able(staging, engine, topology))
        link = end.link[marked[walks]]
        resource = first + number * len(topology.links) + link.astype(np.int64)
        head = overlapped and engine not in (FIRE, "send")
        hops = single(marked, resource, _held(staging, engine, link, size[marked], topology), head=head)
        {FIRE: sending, "send": sending, "write": after, "store": after}.get(engine, loading).append(hops)
    if overlapped and staging.send is not None:
        links = _entered_by_head(links, begin[walks & (sending[-1].count > 0)])
    return [*sending, links, *loading], after


@dataclass(frozen=True, slots=True, eq=False)
class _Ends:
    """First, or last, link of each message that crosses one, and which messages these are."""

    link: NDArray[np.int32]
    walks: NDArray[np.bool_]


def _able(staging: Staging, engine: str, topology: Topology) -> NDArray[np.bool_]:
    """Links that have the engine, those of ranks and not of switches, and something for it to do."""
    at_rank = staging.rank(engine, topology) < topology.ranks
    return at_rank & (staging.held_before(topology) > 0) if engine == FIRE else at_rank


def _marked(
    engine: str, reduces: NDArray[np.bool_], end: _Ends, able: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Messages that pass an engine."""
    marked = end.walks.copy()
    marked[end.walks] = able[end.link]
    if engine == "send":
        return marked
    return marked & (~reduces if engine == "store" else reduces)


def _held(
    staging: Staging, engine: str, link: NDArray[np.int32], size: NDArray[np.int64], topology: Topology
) -> NDArray[np.int64]:
    """Fs for which each message holds the engine of its link."""
    if engine == FIRE:
        return staging.held_before(topology)[link]
    distinct, which = unique_inverse(size)
    rate = np.array([staging.rate(engine)])
    return hold_table(rate, np.zeros(1), distinct, np.zeros(len(size), dtype=np.int64), which)


def _entered_by_head(links: Hops, first: NDArray[np.integer]) -> Hops:
    """The same links, the first of some messages entered by the head."""
    head = links.head.copy()
    head[first] = True
    return Hops(links.count, links.resource, links.hold, head)


def check_alone(staging: Staging | None, others: Sequence[tuple[str, object]]) -> None:
    """Refuse staging beside what does not go with it.

    Raises
    ------
    TopologyError
    """
    for name, given in others:
        if staging is not None and given:
            raise TopologyError(f"staging does not go with {name}", ("staging",))
