"""What one rank is made of."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.llm.checked import check_fields
from simulator.llm.errors import ModelError
from topologies.quantities import Bandwidth, Bytes, Compute


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardware:
    """An accelerator.

    Parameters
    ----------
    name : str
        What people call it.
    capacity : int
        Bytes of its own memory.
    compute : float, optional
        Peak FLOP/s of dense 16-bit matrix products.
    memory_bandwidth : float, optional
        Peak bytes/s between its memory and what computes.
    source : str
        Where the numbers come from.
    """

    name: str = "hardware"
    capacity: Bytes
    compute: Compute | None = None
    memory_bandwidth: Bandwidth | None = None
    source: str = ""

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.capacity:
            raise ModelError("must be more than 0 B", ("capacity",))
