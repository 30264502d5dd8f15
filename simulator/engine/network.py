"""How a schedule meets a topology: the network's model, and the reducers.

The annotations of these values are what a scenario may write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, get_args

import numpy as np

from simulator.engine.staging import Staging, check_alone
from topologies.errors import TopologyError
from topologies.multipath import Kind, Routing
from topologies.quantities import Bandwidth, Bytes, Time, Whole
from topologies.static_routes import StaticRoute

if TYPE_CHECKING:
    from numpy.typing import NDArray

Model = Literal["store_and_forward", "cut_through", "packet", "fair_share"]
Sync = Literal["step", "dataflow", "barrier"]
Mode = Literal["after", "streamed"]
Protocol = Literal["eager", "rendezvous"]

MTU: Final = 4096
"""Bytes of a packet where a scenario does not say."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What a message costs the ranks at its two ends: LogGP (Alexandrov et al. 1995).

    G is the inverse of a link's bandwidth and L its latency.

    Attributes
    ----------
    overhead : float
        o, s: how long the processor of the sender, and later that of the receiver, is busy with it.
    gap : float
        g, s: between the last byte of a message and the first of the next, at the port of a rank
        that sends, and likewise at one that receives.
    protocol : {'eager', 'rendezvous'}
        An eager message leaves as soon as its sender is ready; a rendezvous first asks the
        receiver, which answers when it is ready.
    threshold : int
        Bytes up to which a message is eager in spite of `rendezvous`.
    """

    overhead: Time = 0.0
    gap: Time = 0.0
    protocol: Protocol = "eager"
    threshold: Bytes = 0

    def __post_init__(self) -> None:
        check_word("protocol", self.protocol, get_args(Protocol))
        for name in ("overhead", "gap"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise TopologyError(
                    f"{name} is zero or more and finite, found {getattr(self, name)}", (name,)
                )
        if self.threshold and self.protocol == "eager":
            raise TopologyError("only a rendezvous has a threshold", ("threshold",))


@dataclass(frozen=True, slots=True)
class Network:
    """The network's model.

    Attributes
    ----------
    model : {'store_and_forward', 'cut_through', 'packet', 'fair_share'}
        A message enters its next link when its tail has arrived there, or when its head has; or
        it is cut into packets, each of which is stored and forwarded; or it flows over all of its
        links at once, and whatever flows over a link shares it max-min fairly.
    sync : {'step', 'dataflow', 'barrier'}
        When a transfer may start: when its source and its destination have finished their
        earlier steps; when what it sends has arrived at its source; when all ranks have
        finished the step before.
    placement : sequence of int, 'auto' or None
        The topology's rank that plays each rank of the schedule; None for the same, `auto` for
        the one with the smallest static congestion factor that a search finds.
    direct_links_only : bool
        Refuse a transfer that takes more than one hop.
    mtu : int, optional
        Most bytes of a packet; 4096 where nothing is said.
    endpoint : Endpoint, optional
        What messages cost their ranks; nothing without it.
    buffers : int, optional
        Bytes of the buffer at the far end of every link; boundless without it.
    routing : {'shortest', 'ecmp', 'spray', 'valiant'} or Routing
        How messages find their ways.
    routes : sequence of StaticRoute
        Pairs of the topology's ranks that go their own ways, whatever the routing.
    staging : Staging, optional
        What a message goes through between memory and port at its ranks; nothing without it.
    """

    model: Model = "store_and_forward"
    sync: Sync = "step"
    placement: Sequence[Whole] | Literal["auto"] | None = None
    direct_links_only: bool = False
    mtu: Bytes | None = None
    endpoint: Endpoint | None = None
    buffers: Bytes | None = None
    routing: Kind | Routing = "shortest"
    routes: Sequence[StaticRoute] = ()
    staging: Staging | None = None

    def __post_init__(self) -> None:
        check_word("model", self.model, get_args(Model))
        self._check_sizes()
        by_message = self.model in ("store_and_forward", "cut_through")
        others = (f"the model {self.model}", not by_message), ("endpoint", self.endpoint)
        check_alone(self.staging, (*others, ("buffers", self.buffers)))
        for name in ("endpoint", "buffers"):
            if self.model == "fair_share" and getattr(self, name) is not None:
                raise TopologyError(f"the model fair_share knows no {name}", (name,))
        check_word("sync", self.sync, get_args(Sync))
        if isinstance(self.routing, str):
            check_word("routing", self.routing, get_args(Kind))
        seen: set[int] = set()
        if isinstance(self.placement, str):
            check_word("placement", self.placement, ("auto",))
            return
        for i, rank in enumerate(self.placement or ()):
            if rank in seen:
                raise TopologyError(f"rank {rank} is placed twice", ("placement", i))
            seen.add(rank)

    def _check_sizes(self) -> None:
        if self.mtu is not None and self.model != "packet":
            raise TopologyError("only the model packet has an mtu", ("mtu",))
        for name in ("mtu", "buffers"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise TopologyError(f"{name} must be at least 1 byte", (name,))
        if self.buffers is None:
            return
        if self.model == "packet" and self.buffers < self.packet:
            raise TopologyError(
                f"a packet of {self.packet} bytes does not fit buffers of {self.buffers}", ("buffers",)
            )

    @property
    def packet(self) -> int:
        """Most bytes of a packet, where the model knows packets."""
        return MTU if self.mtu is None else self.mtu

    @property
    def chosen_routing(self) -> Routing:
        """The routing, whichever way it was given."""
        return Routing(self.routing) if isinstance(self.routing, str) else self.routing


@dataclass(frozen=True, slots=True)
class Reduction:
    """A reducer at every rank.

    Attributes
    ----------
    bandwidth : float
        gamma, bytes/s.
    mode : {'after', 'streamed'}
        A message is reduced after it has arrived, or while it arrives.
    ranks : mapping of int to float
        gamma of the topology's ranks whose reducers differ, bytes/s.
    """

    bandwidth: Bandwidth
    mode: Mode = "after"
    ranks: Mapping[Whole, Bandwidth] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_word("mode", self.mode, get_args(Mode))
        _check_rate(self.bandwidth, ("bandwidth",))
        for rank, rate in self.ranks.items():
            _check_rate(rate, ("ranks", rank))

    def rates(self, ranks: int) -> NDArray[np.float64]:
        """Gamma of each of the topology's ranks, bytes/s.

        Raises
        ------
        TopologyError
            If a rank that differs is not there.
        """
        rates = np.full(ranks, self.bandwidth)
        for rank, rate in self.ranks.items():
            if not 0 <= rank < ranks:
                raise TopologyError(f"there is no rank {rank} with a reducer", ("reduction", "ranks", rank))
            rates[rank] = rate
        return rates


def _check_rate(rate: float, at: tuple[str | int, ...]) -> None:
    if not 0 < rate < float("inf"):
        raise TopologyError(f"bandwidth must be positive and finite, found {rate}", at)


def check_word(name: str, word: str, known: Sequence[str]) -> None:
    """Refuse a word that is not among those known.

    Raises
    ------
    TopologyError
    """
    if word not in known:
        raise TopologyError(f'{name} must be {" or ".join(known)}, found "{word}"', (name,))
