"""Machines and numbers on which the document's statements are tried, and how they are measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from algorithms.bounds import Bounds, lower_bounds
from algorithms.collective import make_collective
from algorithms.errors import ScheduleError
from algorithms.proof import prove
from algorithms.registry import ALGORITHMS, build
from algorithms.variation import segmented
from simulator.engine.engines import simulate
from simulator.engine.network import Network, Reduction
from simulator.seeds.seed1.claims import Costs
from topologies.builders import CustomLink, CustomNodes, crossbar, custom, full_mesh, hypercube, ring
from topologies.clock import FEMTOSECONDS
from topologies.grids import line, torus
from topologies.text import format_bytes, format_time

if TYPE_CHECKING:
    from algorithms.schedule import Schedule
    from topologies.topology import Topology

ALPHA: Final = Fraction(1, 10**6)
BETA: Final = Fraction(64 * 10**9)
GAMMA: Final = Fraction(512 * 10**9)
"""The document's rates: a chip's links 64 GB/s and its reducer 512 GB/s; 1 us is ours."""

SIZE: Final = 2**30
RANKS: Final = 8

PLAIN: Final = Costs(ALPHA, BETA)
FULL: Final = Costs(ALPHA, BETA, GAMMA)

_WIRE: Final[dict[str, Any]] = {"bandwidth": float(BETA), "latency": float(ALPHA)}


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """A topology with the model that it is run under."""

    name: str
    topology: Topology
    network: Network = field(default_factory=Network)

    @property
    def ports(self) -> int:
        """d: links that leave the rank that has fewest."""
        links = self.topology.links.src
        return min(int((links == rank).sum()) for rank in range(self.topology.ranks))

    def time(
        self, schedule: Schedule, gamma: Fraction | None = None, *, streamed: bool = False, pieces: int = 1
    ) -> Fraction:
        """Simulated seconds of a schedule, exactly; every chunk is cut into so many pieces."""
        reduction = Reduction(float(gamma), "streamed" if streamed else "after") if gamma else None
        cut = segmented(schedule, pieces)
        return Fraction(simulate(cut, self.topology, self.network, reduction).time, FEMTOSECONDS)

    def bounds(self, kind: str, size: int) -> Bounds:
        """Lower bounds of a collective here."""
        collective = make_collective(kind, self.topology.ranks, size)
        return lower_bounds(collective, self.topology, model=self.network.model)


def one_port(ranks: int, overhead: Fraction = ALPHA) -> Machine:
    """The textbook's machine: a rank sends one message and receives one at a time, alpha holds the port."""
    switch = crossbar(ranks, bandwidth=float(BETA), overhead=float(overhead))
    return Machine("one port, alpha holds it", switch, Network(model="cut_through"))


def pipelined_port(ranks: int) -> Machine:
    """One port; alpha is the way, during which the port is free again."""
    switch = crossbar(ranks, bandwidth=float(BETA), latency=float(ALPHA / 2))
    return Machine("one port, alpha is the way", switch, Network(model="cut_through"))


def reducing_switch(ranks: int) -> Machine:
    """The same switch, which also adds up and copies."""
    switch = crossbar(ranks, bandwidth=float(BETA), latency=float(ALPHA / 2), switch="reduces")
    return Machine("one switch that reduces", switch, Network(model="cut_through"))


def ring_of(ranks: int) -> Machine:
    """Ring with a link each way."""
    return Machine(f"ring of {ranks}", ring(ranks, **_WIRE))


def line_of(ranks: int) -> Machine:
    """Line with a link each way."""
    return Machine(f"line of {ranks}", line(ranks, **_WIRE))


def cube_of(dimension: int) -> Machine:
    """Hypercube."""
    return Machine(f"hypercube of {2**dimension}", hypercube(dimension, **_WIRE))


def mesh_of(ranks: int) -> Machine:
    """A link each way between all pairs."""
    return Machine(f"full mesh of {ranks}", full_mesh(ranks, **_WIRE))


def torus_of(*dims: int) -> Machine:
    """Torus."""
    return Machine(f"torus {' x '.join(map(str, dims))}", torus(dims, **_WIRE))


LADDER: Final = ((0, 1), (0, 2), (0, 4), (1, 3), (1, 5), (2, 3), (2, 6), (3, 7), (4, 5), (6, 7))
"""Links of SOPHGO's box of eight SG2260 (sophgo/torch-tpu, 3_c2c_topology.png): a ladder of 2 x 4."""

LADDER_RING: Final = (0, 2, 6, 7, 3, 1, 5, 4)
"""The order in which its library runs a ring (the same repository's chip map)."""


def ladder(placement: tuple[int, ...] | None = None) -> Machine:
    """The box of eight, with the document's 64 GB/s for each of its links."""
    wires = [CustomLink(a, b, **_WIRE) for a, b in LADDER]
    how = "" if placement is None else ", placed " + " ".join(map(str, placement))
    return Machine(f"SG2260 ladder of 8{how}", custom(CustomNodes(8), wires), Network(placement=placement))


@cache
def proven(name: str, kind: str, ranks: int, size: int, **options: Any) -> Schedule:
    """A schedule of the catalogue, proven on data."""
    schedule = build(name, kind, ranks, size, **options)
    prove(schedule)
    return schedule


def fastest(machine: Machine, kind: str, size: int) -> tuple[Fraction, str]:
    """The least time that an algorithm of the catalogue takes on a machine, and the first that does."""
    found: list[tuple[Fraction, int, str]] = []
    best = machine.bounds(kind, size).best
    for place, (name, algorithm) in enumerate(ALGORITHMS.items()):
        if kind in algorithm.collectives:
            for options in _options(name, machine.topology):
                try:
                    schedule = build(name, kind, machine.topology.ranks, size, **options)
                except ScheduleError:
                    # made for other numbers of ranks
                    continue
                found.append((machine.time(schedule), place, name))
                if same(found[-1][0], best):
                    return found[-1][0], name
    time, _, name = min(found)
    return time, name


def _options(name: str, topology: Topology) -> Iterator[dict[str, Any]]:
    """None, and those that fit an algorithm to a grid and let it use all links of a rank."""
    yield {}
    known = ALGORITHMS[name].options
    if "dims" in known and len(topology.dims) > 1:
        yield {"dims": topology.dims}
        if "copies" in known:
            yield {"dims": topology.dims, "copies": "all"}


def same(one: Fraction | float, other: Fraction | float) -> bool:
    """Whether two quantities agree but for rounding to femtoseconds and bytes."""
    one, other = Fraction(one), Fraction(other)
    return abs(one - other) <= max(abs(one), abs(other)) / 10**7


def seconds(value: Fraction | float) -> str:
    """A time for people."""
    return format_time(float(value))


def amount(value: Fraction | int) -> str:
    """Bytes for people."""
    return format_bytes(round(value))


def ratio(one: Fraction | float, other: Fraction | float) -> str:
    """One over another, to four digits."""
    return f"{float(Fraction(one) / Fraction(other)):.4g}"


def share(value: Fraction | int, size: int) -> str:
    """A part of M as it is written: M/8, 7/8 M."""
    part = Fraction(value) / size
    above = "M" if part.numerator == 1 else f"{part.numerator}M"
    return above if part.denominator == 1 else f"{above}/{part.denominator}"
