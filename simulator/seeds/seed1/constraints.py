"""The machines and numbers of ranks that halving is said to need, and the comparison of algorithms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from algorithms.congestion import congestion_factor
from algorithms.counts import count
from algorithms.latency_bound import ceil_log
from simulator.seeds.page import Cell, Grid, Remark, Section, compared, verdict
from simulator.seeds.seed1.claims import COMPARISON, halving_time, ring_time, sent
from simulator.seeds.seed1.examples import (
    ALPHA,
    BETA,
    PLAIN,
    RANKS,
    SIZE,
    Machine,
    cube_of,
    ladder,
    line_of,
    mesh_of,
    one_port,
    pipelined_port,
    proven,
    ratio,
    ring_of,
    same,
    seconds,
    torus_of,
)
from simulator.seeds.seed1.halvings import halving
from topologies.clos import fat_tree

if TYPE_CHECKING:
    from algorithms.schedule import Schedule

LADDER_HALVING: Final = (0, 3, 1, 5, 6, 2, 7, 4)
"""A placement on the box of eight with the least congestion of all 8!, messages split over equal ways."""


def constraints_section() -> Section:
    """N = 2^k and the hypercube."""
    return Section(
        "Where halving applies",
        (
            (needs_power(),),
            "Steps, and what the busiest rank sends over (N-1)M/N:",
            Grid(("N", "ceil(log2 N)", *_OTHER_NAMES), tuple(_other_rows())),
            (stand_ins(), not_on_a_ring()),
            "Halving of 1 GiB, cut through, in brackets over the formula. Congestion is the sum over steps "
            "of the bytes on the busiest link, in M, where equal ways share evenly; packets are of 16 MiB, "
            "each on another of the shortest ways:",
            Grid(
                (
                    "machine",
                    "congestion",
                    "simulated",
                    "packets, spread",
                    "bound of this graph",
                    "ring algorithm",
                ),
                tuple(_machine_rows()),
            ),
        ),
    )


_OTHERS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("recursive_halving", {"non_power_of_two": "fold"}),
    ("recursive_halving", {"non_power_of_two": "hybrid"}),
    ("bruck", {}),
    ("pat", {}),
    ("ring", {}),
)
_OTHER_NAMES: Final = ("folded", "hybrid", "Bruck's dual", "PAT", "ring")
_ODD_RANKS: Final = (3, 5, 6, 7, 12, 24)


@cache
def _on_odd(ranks: int) -> tuple[tuple[int, Fraction], ...]:
    """Steps, and bytes of the busiest rank over (N-1)M/N."""
    counts = (
        count(proven(name, "reduce_scatter", ranks, ranks * 1000, **options)) for name, options in _OTHERS
    )
    return tuple((c.steps, c.bytes_sent_max / sent(ranks, ranks * 1000)) for c in counts)


def _other_rows() -> Iterator[tuple[str, ...]]:
    for ranks in _ODD_RANKS:
        cells = (f"{steps}, {float(part):.4g}" for steps, part in _on_odd(ranks))
        yield (str(ranks), str(ceil_log(ranks, 2)), *cells)


@cache
def needs_power() -> Remark:
    """Other N need padding or a hybrid."""
    bruck = [_on_odd(ranks)[_OTHER_NAMES.index("Bruck's dual")] for ranks in _ODD_RANKS]
    reached = [
        steps == ceil_log(ranks, 2) and part == 1
        for ranks, (steps, part) in zip(_ODD_RANKS, bruck, strict=True)
    ]
    return Remark(
        "It needs N = 2^k; other N need padding or a hybrid algorithm.",
        verdict([not all(reached)]),
        "Halving itself needs it. But any N does without either: the dual of Bruck's AllGather takes "
        f"ceil(log2 N) steps and sends (N-1)M/N on {', '.join(map(str, _ODD_RANKS))} ranks, both least. "
        "Folding (MPI's way) sends all of M and takes floor(log2 N) + 2 steps; the hybrid N = m 2^k sends "
        "(N-1)M/N in m - 1 + k steps. Nobody pads ranks.",
    )


PACKET: Final = 2**24
"""Bytes of a packet where packets are spread over all shortest ways."""


@cache
def _networks() -> tuple[Machine, ...]:
    # six links between pods
    wire: dict[str, Any] = {"bandwidth": float(BETA), "latency": float(ALPHA / 6)}
    found = (
        cube_of(3),
        mesh_of(RANKS),
        pipelined_port(RANKS),
        Machine(FAT_TREE, fat_tree(4, **wire)),
        Machine("the same, 2 : 1 oversubscribed", fat_tree(4, oversubscription=2, **wire)),
        torus_of(4, 4),
        ladder(),
        ladder(LADDER_HALVING),
        ring_of(RANKS),
        line_of(RANKS),
    )
    return tuple(replace(one, network=replace(one.network, model="cut_through")) for one in found)


FAT_TREE: Final = "fat tree of 16 (k = 4)"


@dataclass(frozen=True, slots=True)
class _Halved:
    """Halving of 1 GiB on a machine: congestion, what it takes on fixed ways and spread, and the formula."""

    congestion: float
    fixed: Fraction
    spread: Fraction
    formula: Fraction


@cache
def _halved(name: str) -> _Halved:
    machine = next(machine for machine in _networks() if machine.name == name)
    ranks, where = machine.topology.ranks, machine.network.placement
    assert not isinstance(where, str)
    factor = congestion_factor(halving(ranks), machine.topology, None if where is None else np.array(where))
    packets = replace(machine, network=replace(machine.network, model="packet", mtu=PACKET, routing="spray"))
    return _Halved(
        factor or 0.0,
        machine.time(halving(ranks)),
        packets.time(halving(ranks)),
        halving_time(ranks, SIZE, PLAIN),
    )


def _machine_rows() -> Iterator[tuple[str, ...]]:
    for machine in _networks():
        ranks, found = machine.topology.ranks, _halved(machine.name)
        ring = machine.time(proven("ring", "reduce_scatter", ranks, SIZE))
        yield (
            machine.name,
            f"{found.congestion:.4g}",
            f"{seconds(found.fixed)} ({ratio(found.fixed, found.formula)})",
            f"{seconds(found.spread)} ({ratio(found.spread, found.formula)})",
            seconds(machine.bounds("reduce_scatter", SIZE).bandwidth),
            seconds(ring),
        )


@cache
def stand_ins() -> Remark:
    """Fat tree and full mesh."""
    mesh, tree = _halved(mesh_of(RANKS).name), _halved(FAT_TREE)
    ideal = float(sent(16, SIZE) / SIZE)
    return Remark(
        "It needs something like a hypercube, for which a fat tree or a full mesh can stand in.",
        verdict(
            [same(mesh.fixed, mesh.formula), tree.congestion == ideal],
            [found.fixed < found.formula * Fraction(11, 10) for found in (mesh, tree)],
        ),
        "the ways through the tree do not meet. Spread evenly, no link of a full fat tree carries more than "
        f"on a hypercube ({tree.congestion:g} M); ways picked by a hash meet, "
        f"{ratio(tree.fixed, tree.formula)} times the formula, and packets of 16 MiB spread over all ways "
        f"are between, {ratio(tree.spread, tree.formula)} times.",
    )


@cache
def not_on_a_ring() -> Remark:
    """A ring cannot."""
    ring, found = ring_of(RANKS), _halved(ring_of(RANKS).name)
    hops = ring.time(halving(RANKS, 0)) / ALPHA
    cube = _halved(cube_of(3).name)
    return Remark(
        "A ring cannot.",
        verdict([found.fixed == 0]),
        "It can, proven on data, but slower. Spread over both ways the busiest links carry "
        f"{found.congestion:g} M instead of {cube.congestion:g} M, "
        f"{ratio(found.congestion, cube.congestion)} times; with all of distance N/2 one way round it is "
        f"{ratio(found.fixed, found.formula)} times. And its messages go {float(hops):g} hops one after the "
        "other, as many as the ring algorithm's, so that nothing is won. What halving needs is bandwidth "
        "between the halves.",
    )


def comparison_section() -> Section:
    """The table of algorithms, with the third row that it announces."""
    rows = tuple(_comparison_rows())
    return Section(
        "Comparison",
        (
            "Ring and recursive halving, its cells; the third algorithm of its question is left out there, "
            "and is added. Simulated: N = 16, 1 GiB, 64 GB/s and 1 us a link.",
            Grid(
                ("algorithm", "latency term", "bandwidth term", "both at the bound", "topology", "simulated"),
                rows,
            ),
        ),
    )


def _comparison_rows() -> Iterator[tuple[Cell | str, ...]]:
    machines = {"ring": (ring_of(16), ring_time), "recursive_halving": (cube_of(4), halving_time)}
    for name, (latency, bandwidth, both, topology) in COMPARISON.items():
        machine, formula = machines[name]
        empty, full = (proven(name, "reduce_scatter", 16, size) for size in (0, SIZE))
        start, all_bytes = machine.time(empty), machine.time(full) - machine.time(empty)
        yield (
            name,
            compared(latency, latency if same(start, formula(16, 0, PLAIN)) else seconds(start)),
            compared(bandwidth, bandwidth if same(all_bytes, sent(16, SIZE) / BETA) else seconds(all_bytes)),
            compared(both, _at_both_bounds(empty, full)),
            Cell(topology, not_on_a_ring().verdict, "bandwidth between halves")
            if name != "ring"
            else topology,
            seconds(machine.time(full)),
        )
    torus = torus_of(4, 4)
    empty, full = (proven("hierarchical", "reduce_scatter", 16, size, dims=(4, 4)) for size in (0, SIZE))
    yield (
        "hierarchical, rings of p_i",
        "sum of (p_i - 1) alpha_i",
        "sum of (p_i - 1)/p_i M/(P_{i-1} beta_i)",
        _at_both_bounds(empty, full),
        f"levels; {torus.name}",
        seconds(torus.time(full)),
    )


def _at_both_bounds(empty: Schedule, full: Schedule) -> str:
    """Whether both terms are at their bound on one port."""
    port = one_port(16)
    start = port.time(empty)
    bounds = port.bounds("reduce_scatter", SIZE)
    return "yes" if same(start, bounds.latency) and same(port.time(full) - start, bounds.bandwidth) else "no"
