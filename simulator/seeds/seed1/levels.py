"""Levels, one after the other: volumes, cost, what crosses the outer links, and the section 4.8 it cites."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from algorithms.trace import trace
from simulator.engine.analysis import link_use
from simulator.engine.engines import simulate
from simulator.engine.network import Network
from simulator.seeds.page import Grid, Remark, Section, compared, verdict
from simulator.seeds.seed1.claims import Costs, levels_time, sent
from simulator.seeds.seed1.examples import GAMMA, Machine, amount, proven, ratio, same, seconds, share
from topologies.clock import FEMTOSECONDS
from topologies.multilevel import Level, Shared, multilevel

if TYPE_CHECKING:
    from algorithms.schedule import Schedule
    from topologies.shapes import Shape

VECTOR: Final = 2**26
NAMES: Final = ("chip", "card", "machine")
DIMS: Final = (4, 2, 4)
COSTS: Final = tuple(
    Costs(Fraction(latency, 10**8), Fraction(rate * 10**9))
    for latency, rate in ((5, 128), (55, 32), (300, 25))
)
"""Cores of a chip, chips of a card, machines: 128, 32 and 25 GB/s, 0.05, 0.55 and 3 us, as in
scenarios/presets/sg2260-multilevel.yaml; the last two are assumed there."""


def cluster(levels: int, *, shared: bool = False) -> Machine:
    """The first so many levels: rings of links of every rank's own, or one link that leaves each group."""
    shape: Shape = "switch" if shared else "ring"
    uplink: Literal["per_rank"] | Shared = Shared(1) if shared else "per_rank"
    built = multilevel(
        [
            Level(
                name,
                size,
                shape if i == 0 else "ring",
                float(cost.beta),
                float(cost.alpha) / (2 if shared and i == 0 else 1),
                uplink=uplink if i else "per_rank",
            )
            for i, (name, size, cost) in enumerate(zip(NAMES[:levels], DIMS, COSTS, strict=False))
        ]
    )
    how = "one link leaves a group" if shared else "every rank has its own links"
    return Machine(
        f"{' x '.join(map(str, DIMS[:levels]))}, {how}",
        built,
        Network(model="cut_through" if shared else "store_and_forward"),
    )


def levels_section() -> Section:
    """The document's multi-dimensional ReduceScatter."""
    return Section(
        "Levels, one after the other",
        (
            (decomposition(),),
            f"Its table of volumes, on {' x '.join(map(str, DIMS))} ranks (d = {len(DIMS)}), as counted in "
            "the schedule:",
            Grid(("level", "input of a node", "output of a node", "counted"), tuple(_flow_rows())),
            (cost(), reducing_left_out()),
            f"The formula beside what is simulated, {amount(VECTOR)}; links {_links()}:",
            Grid(
                ("machine", "formula", "simulated", "with gamma = 512 GB/s", "more by", "(N-1)M/(N gamma)"),
                tuple(_cost_rows()),
            ),
            (less_outside(),),
            "What crosses the links of each level in all, and the busiest link of the outermost:",
            Grid(("machine", "algorithm", *NAMES, "busiest outermost", "simulated"), tuple(_crossing_rows())),
        ),
    )


def _links() -> str:
    return ", ".join(
        f"{float(cost.beta) / 1e9:g} GB/s and {seconds(cost.alpha)} ({name})"
        for name, cost in zip(NAMES, COSTS, strict=True)
    )


def hierarchical(dims: Sequence[int], size: int = VECTOR, kind: str = "reduce_scatter") -> Schedule:
    """One level after the other, rings along each, proven."""
    return proven("hierarchical", kind, prod(dims), size, dims=tuple(dims))


@cache
def decomposition() -> Remark:
    """RS_0, then RS_1, ..."""
    shapes = ((8,), (4, 2), (2, 4), (4, 2, 4), (2, 3, 2), (3, 1, 5))
    ends = [
        bool((hierarchical(dims, 4 * prod(dims)).collective.target == np.arange(prod(dims))).all())
        for dims in shapes
    ]
    return Remark(
        "On p_0 x ... x p_{d-1} nodes a ReduceScatter is RS_0, then RS_1, ..., then RS_{d-1}.",
        verdict(ends),
        "Proven on data for "
        + ", ".join(" x ".join(map(str, dims)) for dims in shapes)
        + ". That node i ends with part i takes an order of parts: along level 0 those whose numbers agree "
        "modulo p_0 go together, which do not lie side by side in memory.",
    )


def _flow_rows() -> Iterator[tuple[Any, ...]]:
    said = (("M", "M/p_0"), ("M/p_0", "M/(p_0 p_1)"), ("M/P_{d-2}", "M/N"))
    steps = list(trace(hierarchical(DIMS)))
    ends = np.cumsum([p - 1 for p in DIMS]) - 1
    left = [VECTOR, *(steps[end].live[1] for end in ends)]
    for level, names in enumerate(said):
        meant = [VECTOR // prod(DIMS[:level]), VECTOR // prod(DIMS[: level + 1])]
        counted = left[level : level + 2]
        cells = (
            compared(name, name if one == other else share(other, VECTOR))
            for name, one, other in zip(names, meant, counted, strict=True)
        )
        yield (
            str(level) if level < len(DIMS) - 1 else "d - 1",
            *cells,
            " → ".join(share(one, VECTOR) for one in counted),
        )


@dataclass(frozen=True, slots=True)
class _Cost:
    """Of a machine: the formula, and simulated without and with a reducer."""

    name: str
    ranks: int
    formula: Fraction
    plain: Fraction
    reduced: Fraction


@cache
def _costs() -> tuple[_Cost, ...]:
    found = []
    for levels, shared in ((2, False), (3, False), (2, True), (3, True)):
        machine, schedule = cluster(levels, shared=shared), hierarchical(DIMS[:levels])
        formula = levels_time(DIMS[:levels], VECTOR, COSTS[:levels])
        times = machine.time(schedule), machine.time(schedule, GAMMA)
        found.append(_Cost(machine.name, schedule.ranks, formula, *times))
    return tuple(found)


def _halved_latency() -> Fraction:
    """Time of no bytes with halving along every level, each wired as a hypercube."""
    levels = [
        Level(name, size, "hypercube", float(cost.beta), float(cost.alpha))
        for name, size, cost in zip(NAMES, DIMS, COSTS, strict=True)
    ]
    names = ("recursive_halving",) * len(DIMS)
    schedule = proven("hierarchical", "reduce_scatter", prod(DIMS), 0, dims=DIMS, algorithms=names)
    return Machine("", multilevel(levels)).time(schedule)


def _cost_rows() -> Iterator[tuple[str, ...]]:
    for found in _costs():
        off = "" if same(found.plain, found.formula) else f", {ratio(found.plain, found.formula)} times"
        yield (
            found.name,
            seconds(found.formula),
            seconds(found.plain) + off,
            seconds(found.reduced),
            seconds(found.reduced - found.plain),
            seconds(sent(found.ranks, VECTOR) / GAMMA),
        )


@cache
def cost() -> Remark:
    """The sum over levels."""
    own, shared = _costs()[:2], _costs()[2:]
    return Remark(
        "T = sum over i of (p_i - 1) alpha_i + (p_i - 1)/p_i M/(P_{i-1} beta_i).",
        verdict(
            [same(found.plain, found.formula) for found in own],
            [same(found.plain, found.formula) for found in shared],
        ),
        "a ring runs along each level, and every node has links of its own at every level: then it is "
        "exact. Where the nodes of a group share one link out, P_{i-1} of them send at once and beta_i is "
        "what each has of it: the term is up to (p_i - 1)/p_i M/beta_i again, and "
        f"{ratio(shared[1].plain, shared[1].formula)} times the formula is simulated. Halving along a level "
        f"of 2^k nodes makes it log2 p_i alpha_i: {seconds(_halved_latency())} instead of "
        f"{seconds(levels_time(DIMS, 0, COSTS))} on levels that are hypercubes.",
    )


@cache
def reducing_left_out() -> Remark:
    """Gamma is not in it."""
    exact = [same(f.reduced - f.plain, sent(f.ranks, VECTOR) / GAMMA) for f in _costs()[:2]]
    found = _costs()[1]
    part = found.reduced / found.plain - 1
    return Remark(
        "Reducing is left out, as for the ring.",
        verdict([all(exact)], [same(found.reduced, found.plain)]),
        "it is hidden. After arrival it adds (N-1)M/(N gamma), however the levels are cut: the sum over i of "
        "(p_i - 1)/p_i M/(P_{i-1} gamma) telescopes to that. Here that is "
        f"{float(part) * 100:.3g} %; the fastest level feels it most, "
        f"{ratio(COSTS[0].beta * 100, GAMMA)} % on a chip.",
    )


@dataclass(frozen=True, slots=True)
class _Crossing:
    """Of an algorithm on a machine: bytes over each level, over its busiest outermost link, and the time."""

    machine: str
    algorithm: str
    by_level: tuple[int, ...]
    busiest: int
    time: Fraction


def placed(order: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Dimensions in an order of levels, and the cluster's rank of each rank of such a grid."""
    dims = tuple(DIMS[level] for level in order)
    strides = [prod(DIMS[:level]) for level in order]
    rank, place = np.arange(prod(dims)), np.zeros(prod(dims), dtype=np.int64)
    for size, stride in zip(dims, strides, strict=True):
        place += rank % size * stride
        rank = rank // size
    return dims, tuple(place.tolist())


@cache
def crossings() -> tuple[_Crossing, ...]:
    """Innermost first, outermost first and one ring, with links of every rank's own and with shared ones."""
    found = []
    for shared in (False, True):
        machine = cluster(3, shared=shared)
        outer_first, place = placed((2, 1, 0))
        tried = (
            ("hierarchical", hierarchical(DIMS), None),
            ("hierarchical, outermost first", hierarchical(outer_first), place),
            ("ring over all", proven("ring", "reduce_scatter", prod(DIMS), VECTOR), None),
        )
        for name, schedule, placement in tried:
            found.append(
                _crossing(
                    replace(machine, network=replace(machine.network, placement=placement)), name, schedule
                )
            )
    return tuple(found)


def _crossing(machine: Machine, name: str, schedule: Schedule) -> _Crossing:
    timeline = simulate(schedule, machine.topology, machine.network)
    used, level = link_use(timeline, schedule).bytes, machine.topology.links.level
    outer = level == len(NAMES) - 1
    by_level = tuple(int(used[level == i].sum()) for i in range(len(NAMES)))
    return _Crossing(
        machine.name, name, by_level, int(used[outer].max()), Fraction(timeline.time, FEMTOSECONDS)
    )


def _crossing_rows() -> Iterator[tuple[str, ...]]:
    for one in crossings():
        yield (
            one.machine,
            one.algorithm,
            *(share(size, VECTOR) for size in one.by_level),
            share(one.busiest, VECTOR),
            seconds(one.time),
        )


@cache
def less_outside() -> Remark:
    """Outer levels carry P_{i-1} times less."""
    own, outward, flat, shared, _, flat_shared = crossings()
    factor = prod(DIMS[:-1])
    return Remark(
        "Outer levels (slow) only carry what inner ones have left: P_{i-1} times less.",
        verdict(
            [own.by_level[-1] * factor == outward.by_level[-1], own.busiest * factor == outward.busiest],
            [one.busiest * factor <= other.busiest for one, other in ((own, flat), (shared, flat_shared))],
        ),
        f"compared with the outermost level first, on all of M: P_1 = {factor} times less there, in all and "
        f"on each link, and {ratio(outward.time, own.time)} times faster. Compared with one ring over all "
        f"nodes it is {ratio(flat.busiest, own.busiest)} times less on the busiest link if every node has "
        "its own, for the ring uses only one of a group's; in all groups together it is "
        f"{share(own.by_level[-1], VECTOR)} for {share(flat.by_level[-1], VECTOR)}. On one shared link a "
        f"group it is {share(shared.busiest, VECTOR)} for {share(flat_shared.busiest, VECTOR)}, "
        f"{ratio(flat_shared.busiest, shared.busiest)} times less, and {seconds(shared.time)} for "
        f"{seconds(flat_shared.time)}.",
    )
