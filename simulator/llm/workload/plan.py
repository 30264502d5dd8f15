"""How what the file of a workload leaves open is done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Final, Literal

from simulator.llm.checked import check_fields
from simulator.llm.traffic_plan import DEFAULTS, check_algorithms
from topologies.clock import femtoseconds
from topologies.quantities import Bandwidth, Compute, Count

ALGORITHMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **DEFAULTS,
        **dict.fromkeys(("broadcast", "reduce", "gather", "scatter"), "binomial"),
        "barrier": "dissemination",
    }
)
"""Algorithm of each kind of collective, where a plan says none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadPlan:
    """How what the file of a workload leaves open is done.

    Parameters
    ----------
    algorithms : mapping of str to str
        Algorithm of each kind of collective; else a ring, everybody to everybody directly, a binomial tree.
    one_at_a_time : {'group', 'rank', 'none'}
        Whose collectives follow each other, in the order of their nodes: those of one group of ranks, as on a
        communicator's stream; all that a rank takes part in, as in ASTRA-sim; or none.
    messages : {'eager', 'rendezvous'}
        A message leaves when its sender is ready; or when its receiver is, too.
    control : bool
        Whether a node waits for its `ctrl_deps`, too, as in ASTRA-sim, or for its `data_deps` alone.
    compute : float, optional
        FLOP/s of a node that says its operations but no time; without it they take none.
    bandwidth : float, optional
        Bytes/s of the memory, over which the tensor of such a node goes; likewise.
    remote : float, optional
        Bytes/s of nodes that load or store tensors and say no time; likewise.
    gathered : {'part', 'whole'}, optional
        Whether the size of an AllGather or Gather is what a rank gives, or what comes of it. By default as
        the tool that reads the file has it.
    passes : int
        How often a table of layers is gone through.
    """

    algorithms: Mapping[str, str] = field(default_factory=dict)
    one_at_a_time: Literal["group", "rank", "none"] = "group"
    messages: Literal["eager", "rendezvous"] = "eager"
    control: bool = True
    compute: Compute | None = None
    bandwidth: Bandwidth | None = None
    remote: Bandwidth | None = None
    gathered: Literal["part", "whole"] | None = None
    passes: Count = 1

    def __post_init__(self) -> None:
        check_fields(self)
        check_algorithms(self.algorithms, ALGORITHMS)

    def algorithm(self, kind: str) -> str:
        """What does a kind of collective."""
        return self.algorithms.get(kind, ALGORITHMS[kind])

    def whole(self, kind: str, size: int, ranks: int, default: Literal["part", "whole"]) -> int:
        """M of a collective, as the catalogue counts it, of the size that a file says.

        >>> plan = WorkloadPlan()
        >>> plan.whole("allgather", 8, 4, "part"), plan.whole("allreduce", 8, 4, "part")
        (32, 8)
        """
        gathers = kind in ("allgather", "gather") and (self.gathered or default) == "part"
        return size * ranks if gathers else size

    def work_time(self, operations: int, size: int) -> int:
        """Fs of so many operations on so many bytes: of whichever takes longer."""
        return max(_time(operations, self.compute), _time(size, self.bandwidth))

    def load_time(self, size: int) -> int:
        """Fs that so many bytes are loaded or stored for."""
        return _time(size, self.remote)


def _time(amount: int, rate: float | None) -> int:
    return 0 if rate is None else femtoseconds(Fraction(amount) / Fraction(rate))
