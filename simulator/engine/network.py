"""How a schedule meets a topology: the network's model, and the reducers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
    placement : tuple of int or None
        The topology's rank that plays each rank of the schedule; None for the same.
    direct_links_only : bool
        Refuse a transfer that takes more than one hop.
    """

    model: Model = "store_and_forward"
    sync: Sync = "step"
    placement: tuple[int, ...] | None = None
    direct_links_only: bool = False


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

    bandwidth: float
    mode: Mode = "after"
