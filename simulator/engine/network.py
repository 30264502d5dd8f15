"""How a schedule meets a topology: the network's model, and the reducers.

The annotations of these values are what a scenario may write.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from topologies.errors import TopologyError
from topologies.quantities import Bandwidth, Whole

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
    placement : sequence of int or None
        The topology's rank that plays each rank of the schedule; None for the same.
    direct_links_only : bool
        Refuse a transfer that takes more than one hop.
    """

    model: Model = "store_and_forward"
    sync: Sync = "step"
    placement: Sequence[Whole] | None = None
    direct_links_only: bool = False

    def __post_init__(self) -> None:
        seen: set[int] = set()
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
    """

    bandwidth: Bandwidth
    mode: Mode = "after"
