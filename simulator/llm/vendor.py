"""SOPHGO's closed forms of an AllReduce among SG2260 chips, and what they describe, simulated.

The vendor's planner prices an AllReduce of N chips in two versions (sophgo/torch-tpu): `tpu.json`
by tools/superParSel.py with the rates of tools/examples/tpu.json, `newer` by the class SPS_AllReduce
of torch_tpu/utils/reflection/deprecated.py. Both count N/2 - 1 steps of M/N that are summed, one
exchange of M/N of which half is summed, and N/2 - 1 steps of M/N that are only stored: the steps of
`paired_rings` where two links join a pair. That the chips take these steps is inferred from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from types import MappingProxyType
from typing import Final

from algorithms.registry import build
from simulator.engine.engines import simulate
from simulator.engine.network import Network
from simulator.engine.staging import Order, Staging
from simulator.llm.errors import ModelError
from topologies.clock import FEMTOSECONDS
from topologies.grids import torus
from topologies.topology import Topology
from topologies.wiring import MOST_RANKS

_GB: Final = 10**9
_US: Final = Fraction(1, 10**6)


@dataclass(frozen=True, slots=True)
class Rates:
    """What a version of the planner counts with: rates in bytes/s, times in s.

    Attributes
    ----------
    link : Fraction
        One chip-to-chip link each way.
    sum : Fraction
        The reduction.
    memory : Fraction or None
        DDR to L2 and back, around every sum; None where it is not counted.
    local : Fraction or None
        Local memory to L2 before everything, and back after it; None where it is not counted.
    fire, sync : Fraction
        To start a transfer, and to wait for one.
    elements : int or None
        Of a rank's share that are reduced at a time; None for all.
    """

    link: Fraction
    sum: Fraction
    memory: Fraction | None
    local: Fraction | None
    fire: Fraction
    sync: Fraction
    elements: int | None


VARIANTS: Final[Mapping[str, Rates]] = MappingProxyType(
    {
        "tpu.json": Rates(
            Fraction(32 * _GB), Fraction(512 * _GB), Fraction(128 * _GB), None, _US / 4, _US * 3 / 10, None
        ),
        "newer": Rates(
            Fraction(32 * _GB),
            Fraction(512 * _GB),
            None,
            Fraction(128 * 9, 10) * _GB,
            _US * 3 / 10,
            _US * 3 / 10,
            1 << 19,
        ),
    }
)


def vendor_allreduce(variant: str, ranks: int, size: int, element: int = 2) -> Fraction:
    """Time of an AllReduce as the vendor's planner has it.

    Parameters
    ----------
    variant : str
        One of `VARIANTS`.
    ranks : int
        N, even or 1.
    size : int
        M, bytes.
    element : int
        Bytes of a number.

    Returns
    -------
    Fraction
        Seconds, exactly.

    Raises
    ------
    ModelError
        If N is odd, or there is no such variant.

    Examples
    --------
    >>> float(vendor_allreduce("tpu.json", 8, 2**20) * 10**6)
    41.086
    """
    rates = _checked(variant, ranks, size, element)
    times, share = _pieces(rates, ranks, size, element)
    if ranks == 1:
        return Fraction(0)
    return times * _piece(rates, ranks, share) + _ends(rates, share)


def simulated_allreduce(
    variant: str, ranks: int, size: int, element: int = 2, order: Order = "serial"
) -> Fraction:
    """The same on links and engines: `paired_rings` on two rings and two links a pair, in s.

    Pieces follow each other; before the first and after the last a share moves to and from local memory,
    which is added as it is.

    Parameters
    ----------
    variant, ranks, size, element
        As `vendor_allreduce`.
    order : {'serial', 'overlapped'}
        Whether the legs of a message, DDR to L2, link, sum, L2 to DDR, follow each other or overlap.

    Raises
    ------
    ModelError
        As `vendor_allreduce`.
    """
    rates = _checked(variant, ranks, size, element)
    times, share = _pieces(rates, ranks, size, element)
    if ranks == 1:
        return Fraction(0)
    # a share that is no whole number of bytes is one piece of all bytes
    schedule = build("paired_rings", "allreduce", ranks, int(ranks * share))
    timeline = simulate(schedule, paired_topology(rates, ranks), paired_network(rates, ranks, order))
    return times * Fraction(timeline.time, FEMTOSECONDS) + _ends(rates, share)


def paired_topology(rates: Rates, ranks: int) -> Topology:
    """Two rings of N/2 chips and two links between those of a pair."""
    # where every transfer pays them alike, fire and sync are the links' own
    overhead = Fraction(0) if rates.memory is not None else rates.fire + rates.sync
    wire = (float(rates.link), 0.0, float(overhead))
    return torus((ranks // 2, 2), *wire, size_two="two_links")


def paired_network(rates: Rates, ranks: int, order: Order) -> Network:
    """How messages cross it: the lanes of a pair take its two links in turn."""
    memory = None if rates.memory is None else float(rates.memory)
    overheads = {}
    if rates.memory is not None:
        # the planner counts none in the exchange, unless it is all there is
        level, syncs = ("dim0", 4) if ranks > 2 else ("dim1", 2)
        overheads = {level: float(rates.fire + syncs * rates.sync)}
    staging = Staging(order, load=memory, reduce=float(rates.sum), write=memory, overheads=overheads)
    return Network(routing="spray", direct_links_only=True, staging=staging)


def _checked(variant: str, ranks: int, size: int, element: int) -> Rates:
    if variant not in VARIANTS:
        raise ModelError(f'there is no variant "{variant}"; there are {" and ".join(VARIANTS)}', ("variant",))
    if not 1 <= ranks <= MOST_RANKS or (ranks % 2 and ranks > 1):
        message = f"SOPHGO's AllReduce is for an even number of chips, or one; found {ranks}"
        raise ModelError(message, ("ranks",))
    if size < 0 or element < 1:
        raise ModelError(f"found {size} B of numbers of {element} B", ("size",))
    return VARIANTS[variant]


def _pieces(rates: Rates, ranks: int, size: int, element: int) -> tuple[int, Fraction]:
    """In how many pieces the vector is reduced, and a rank's share of one, bytes."""
    share = Fraction(size, ranks)
    if rates.elements is None:
        return 1, share
    times = max(1, ceil(share / element / rates.elements))
    # of several each counts in full, the last one, too
    return times, share if times == 1 else Fraction(rates.elements * element)


def _piece(rates: Rates, ranks: int, share: Fraction) -> Fraction:
    """Seconds of one piece: steps that sum, the exchange, steps that store."""
    wire = share / rates.link
    around = share / rates.sum + (0 if rates.memory is None else 2 * share / rates.memory)
    if rates.memory is not None:
        if ranks == 2:
            return wire + around + rates.fire + 2 * rates.sync
        steps = ranks // 2 - 1
        return steps * (wire + around + rates.fire + 4 * rates.sync) + wire + around / 2 + steps * wire
    step = rates.fire + rates.sync
    if ranks == 2:
        return wire + around + step
    steps = ranks // 2 - 1
    return steps * (wire + around + step) + wire + around / 2 + 2 * step + steps * (wire + step)


def _ends(rates: Rates, share: Fraction) -> Fraction:
    """Seconds of the moves to and from local memory."""
    return Fraction(0) if rates.local is None else 2 * share / rates.local
