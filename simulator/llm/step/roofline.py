"""How long work takes: what computes and what moves bytes overlap, and the slower one counts.

Williams, Waterman and Patterson 2009, "Roofline". Calculon (Isaev et al. 2023) and llm-analysis take the
maximum of the same two, with efficiencies of the same kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from simulator.llm.checked import check_fields
from simulator.llm.errors import ModelError
from simulator.llm.hardware import Hardware
from simulator.llm.step.kernels import Work
from topologies.clock import femtoseconds
from topologies.quantities import Ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class Efficiency:
    """What of its peak a machine attains, from above 0 to 1.

    Parameters
    ----------
    matmul : float
        Of its FLOP/s, in products with weights.
    attention : float
        Of its FLOP/s, in attention's core.
    memory : float
        Of its memory's bandwidth.
    """

    matmul: Ratio = 1
    attention: Ratio = 1
    memory: Ratio = 1

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("matmul", "attention", "memory"):
            if getattr(self, name) > 1:
                raise ModelError(f"must be 1 or less, found {getattr(self, name):g}", (name,))


def duration(work: Work, hardware: Hardware, efficiency: Efficiency) -> int:
    """Femtoseconds that work takes: that of its operations or of its bytes, whichever is longer.

    Raises
    ------
    ModelError
        If the hardware does not say how fast it computes, or its memory.

    Examples
    --------
    >>> chip = Hardware(capacity=2**30, compute=1e12, memory_bandwidth=1e9)
    >>> product = Work("matmul", Fraction(10**9), Fraction(10**5))
    >>> duration(product, chip, Efficiency()), duration(product, chip, Efficiency(matmul=0.5, memory=0.01))
    (1000000000000, 10000000000000)
    """
    compute, memory = hardware.compute, hardware.memory_bandwidth
    if compute is None:
        raise ModelError("a step needs the FLOP/s of the hardware: compute", ("hardware", "compute"))
    if memory is None:
        raise ModelError(
            "a step needs the bandwidth of the hardware's memory: memory_bandwidth",
            ("hardware", "memory_bandwidth"),
        )
    seconds = work.bytes / (Fraction(memory) * Fraction(efficiency.memory))
    if work.kind != "memory":
        attained = efficiency.matmul if work.kind == "matmul" else efficiency.attention
        seconds = max(seconds, work.flops / (Fraction(compute) * Fraction(attained)))
    return femtoseconds(seconds)
