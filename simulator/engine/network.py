"""How a schedule meets a topology: the network's model, and the reducers.

The annotations of these values are what a scenario may write.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

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
        check_word("model", self.model, get_args(Model))
        check_word("sync", self.sync, get_args(Sync))
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

    def __post_init__(self) -> None:
        check_word("mode", self.mode, get_args(Mode))
        if not 0 < self.bandwidth < float("inf"):
            raise TopologyError(
                f"bandwidth must be positive and finite, found {self.bandwidth}", ("bandwidth",)
            )


def check_word(name: str, word: str, known: Sequence[str]) -> None:
    """Refuse a word that is not among those known.

    Raises
    ------
    TopologyError
    """
    if word not in known:
        raise TopologyError(f'{name} must be {" or ".join(known)}, found "{word}"', (name,))
