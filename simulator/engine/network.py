"""How a schedule meets a topology: the network's model, and the reducers.

The annotations of these values are what a scenario may write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from topologies.errors import TopologyError
from topologies.quantities import Bandwidth, Whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

Model = Literal["store_and_forward", "cut_through"]
Sync = Literal["step", "dataflow", "barrier"]
Mode = Literal["after", "streamed"]


@dataclass(frozen=True, slots=True)
class Network:
    """The network's model.

    Attributes
    ----------
    model : {'store_and_forward', 'cut_through'}
        A message enters its next link when its tail has arrived there, or when its head has.
    sync : {'step', 'dataflow', 'barrier'}
        When a transfer may start: when its source and its destination have finished their
        earlier steps; when what it sends has arrived at its source; when all ranks have
        finished the step before.
    placement : sequence of int, 'auto' or None
        The topology's rank that plays each rank of the schedule; None for the same, `auto` for
        the one with the smallest static congestion factor that a search finds.
    direct_links_only : bool
        Refuse a transfer that takes more than one hop.
    """

    model: Model = "store_and_forward"
    sync: Sync = "step"
    placement: Sequence[Whole] | Literal["auto"] | None = None
    direct_links_only: bool = False

    def __post_init__(self) -> None:
        check_word("model", self.model, get_args(Model))
        check_word("sync", self.sync, get_args(Sync))
        seen: set[int] = set()
        if isinstance(self.placement, str):
            check_word("placement", self.placement, ("auto",))
            return
        for i, rank in enumerate(self.placement or ()):
            if rank in seen:
                raise TopologyError(f"rank {rank} is placed twice", ("placement", i))
            seen.add(rank)


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
