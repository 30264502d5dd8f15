"""Simulated time is the closed form, on the topology that each algorithm is made for.

How close: every hop's bytes / bandwidth is rounded to a femtosecond, half to even, so it is wrong
by half a femtosecond at most. Overheads and latencies here are whole femtoseconds but for the last
bits of their floats, which 0.01 covers. The time is a longest path, so it is wrong by no more than
the sum along some path; a path has one link a round and, where messages are reduced, `fan_in`
reductions.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

from algorithms import ALGORITHMS, Platform, Schedule, build, closed_form, rounds
from algorithms.catalogue.hybrid import hybrid_dims
from algorithms.rounds import Round
from simulator.engine.lower import lower
from simulator.engine.network import Network, Reduction
from simulator.engine.simpy_engine import run_simpy
from tests.algorithms.variants import HALVING, KINDS, is_power_of_two, variants
from tests.cases import case
from topologies import Level, Topology, crossbar, full_mesh, hypercube, multilevel, ring, torus

BANDWIDTH, LATENCY, OVERHEAD = 64e9, 1e-6, 3e-7
REDUCTIONS = (
    None,
    Reduction(512e9),
    Reduction(512e9, "streamed"),
    Reduction(16e9, "streamed"),
)
REDUCTIONS_OF = {3: REDUCTIONS, 8: REDUCTIONS[1:2], 17: REDUCTIONS[3:]}
"""By N; elsewhere the first and the last that reduce."""

FEMTOSECOND = Fraction(1, 10**15)
PER_HOP = Fraction(51, 100)
DIVIDED, UNDIVIDED = 2**6 * 720720, (0, 1, 1001)
"""Bytes that every number of chunks divides here (17 ranks ask for a factor 17 more), and that few do."""


TIMED = [(name, kind) for name, kind in KINDS if ALGORITHMS[name].ideal]


def link(level: int) -> tuple[float, float, float]:
    """beta, latency and overhead of a level: the farther out, the slower."""
    return BANDWIDTH / (level + 1), LATENCY * (level + 1), OVERHEAD * (level + 1)


def ideal(name: str, ranks: int, dims: Sequence[int]) -> Topology:
    """The topology that the catalogue names; where it has levels, one of full meshes."""
    kind = ALGORITHMS[name].ideal
    if kind == "torus":
        return torus(dims, *link(0))
    if kind == "multilevel" and len(dims) > 1:
        return multilevel([Level(f"level{i}", p, "full_mesh", *link(i)) for i, p in enumerate(dims)])
    if kind == "crossbar":
        return crossbar(ranks, BANDWIDTH, latency=0.0, overhead=OVERHEAD)
    if kind == "switch":
        return crossbar(ranks, *link(0), switch="reduces")
    if kind == "ring":
        return ring(ranks, *link(0))
    if kind == "hypercube" and is_power_of_two(ranks):
        return hypercube(ranks.bit_length() - 1, *link(0))
    return full_mesh(ranks, *link(0))


def network(name: str) -> Network:
    """A machine of one port per rank is cut through; elsewhere links meet at ranks."""
    return Network("cut_through" if ALGORITHMS[name].ideal == "crossbar" else "store_and_forward")


def priced(name: str, dims: Sequence[int], reduction: Reduction | None) -> list[Platform]:
    """alpha, beta and gamma of every level, from the numbers above."""
    levels = [link(i) for i in range(len(dims) if ALGORITHMS[name].ideal == "multilevel" else 1)]
    if ALGORITHMS[name].ideal == "crossbar":
        levels = [(BANDWIDTH, 0.0, OVERHEAD)]
    if reduction is None:
        return [Platform(latency, beta, overhead) for beta, latency, overhead in levels]
    return [
        Platform(latency, beta, overhead, reduction.bandwidth, reduction.mode)
        for beta, latency, overhead in levels
    ]


def dims_of(name: str, ranks: int, options: dict[str, Any]) -> Sequence[int]:
    if name == "paired_rings" and ranks % 2 == 0:
        return [ranks // 2, 2]
    return hybrid_dims(ranks) if name == "hybrid" else options.get("dims") or [ranks]


def simulated(
    schedule: Schedule, topology: Topology, reduction: Reduction | None, way: Network | None = None
) -> Fraction:
    return run_simpy(lower(schedule, topology, way, reduction)).time * FEMTOSECOND


def allowance(turns: Sequence[Round], reduction: Reduction | None) -> Fraction:
    hops = sum(turn.times * (1 + (turn.fan_in if reduction else 0)) for turn in turns)
    return hops * PER_HOP * FEMTOSECOND


def check(
    name: str,
    kind: str,
    ranks: int,
    options: dict[str, Any],
    sizes: Sequence[int],
    reductions: Sequence[Reduction | None],
) -> None:
    """Equal to the closed form where all chunks are equal; else between its floor- and ceil-size forms."""
    dims = dims_of(name, ranks, options)
    topology = ideal(name, ranks, dims)
    for size in (0,) if kind == "barrier" else sizes:
        schedule = build(name, kind, ranks, size, **options)
        chunks = parts(schedule)
        floor, ceil = chunks * (size // chunks), chunks * -(-size // chunks)
        turns = form(name, kind, ranks, floor, options)
        more = turns if ceil == floor else form(name, kind, ranks, ceil, options)
        for reduction in reductions:
            time = simulated(schedule, topology, reduction, network(name))
            low, high = (closed_form(each, priced(name, dims, reduction)) for each in (turns, more))
            near = allowance(turns, reduction)
            assert low - near <= time <= high + near, (size, reduction)


def form(name: str, kind: str, ranks: int, size: int, options: dict[str, Any]) -> tuple[Round, ...]:
    turns = rounds(name, kind, ranks, size, **options)
    assert turns is not None
    return turns


def parts(schedule: Schedule) -> int:
    """Into how many chunks M is cut."""
    return schedule.collective.chunks // (schedule.ranks if schedule.collective.kind == "all_to_all" else 1)


def choices(name: str, kind: str, ranks: int) -> list[dict[str, Any]]:
    if name in HALVING:
        return [{"order": "far"}, {"order": "near"}]
    if name != "hierarchical" or kind == "all_to_all":
        return variants(name, kind, ranks)[: 1 if ALGORITHMS[name].ideal == "switch" else None]
    pairs = [(p, ranks // p) for p in range(1, ranks + 1) if ranks % p == 0]
    every = [{"dims": list(dims)} for dims in pairs]
    every += [{"dims": list(dims), "algorithms": ["direct", "recursive_doubling"]} for dims in pairs[1:2]]
    if ranks % 8 == 0:
        every.append({"dims": [2, 2, ranks // 4], "algorithms": ["direct", "recursive_halving", "ring"]})
    return every


@pytest.mark.parametrize(("name", "kind"), TIMED)
def test_time_is_the_closed_form(name: str, kind: str) -> None:
    for ranks in (2, 3, 4, 6, 8, 17):
        with case(ranks):
            check_times(name, kind, ranks)


def check_times(name: str, kind: str, ranks: int) -> None:
    divided = DIVIDED * (17 if ranks == 17 else 1)
    few = ranks != 3
    for options in choices(name, kind, ranks)[: 2 if few else None]:
        assert divided % parts(build(name, kind, ranks, 0, **options)) == 0
        if name == "swing" and ranks % 2 and kind != "allgather":
            # the last rank's blocks arrive beside larger messages: whether reducing them hides is not said
            check(name, kind, ranks, options, [divided], REDUCTIONS[:2])
            continue
        check(name, kind, ranks, options, [divided], REDUCTIONS_OF.get(ranks, REDUCTIONS[1::2]))
        if ranks in (2, 3):
            check(
                name, kind, ranks, options, UNDIVIDED[2 * few :], REDUCTIONS[1:2] if few else REDUCTIONS[::3]
            )


@pytest.mark.parametrize(("name", "kind"), TIMED)
def test_time_is_the_closed_form_at_32(name: str, kind: str) -> None:
    for options in choices(name, kind, 32)[-1:]:
        check(name, kind, 32, options, [2**26], REDUCTIONS[1:2])


@pytest.mark.parametrize("name", HALVING)
@pytest.mark.parametrize("ranks", [3, 6, 12])
def test_time_of_the_hybrid_fallback_on_a_full_mesh(name: str, ranks: int) -> None:
    kind = ALGORITHMS[name].collectives[0]
    options = {"non_power_of_two": "hybrid"}
    turns = form(name, kind, ranks, DIVIDED, options)
    topology = full_mesh(ranks, *link(0))
    time = simulated(build(name, kind, ranks, DIVIDED, **options), topology, REDUCTIONS[1])
    expected = closed_form(turns, priced("hybrid", [ranks], REDUCTIONS[1]))
    assert abs(time - expected) <= allowance(turns, REDUCTIONS[1])


@pytest.mark.parametrize("first_chunk", [-1, 0, 1, 2])
@pytest.mark.parametrize("kind", ["reduce_scatter", "allreduce"])
def test_the_first_chunk_costs_nothing(kind: str, first_chunk: int) -> None:
    schedule = build("ring", kind, 6, DIVIDED, first_chunk=first_chunk)
    usual = build("ring", kind, 6, DIVIDED)
    topology = ring(6, *link(0))
    assert simulated(schedule, topology, None) == simulated(usual, topology, None)


# on the textbook's one-port machine, alpha is overhead and the two links of a way are cut through
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ring", "reduce_scatter"),
        ("ring", "allgather"),
        ("ring", "allreduce"),
        ("recursive_halving", "reduce_scatter"),
        ("recursive_doubling", "allgather"),
        ("rabenseifner", "allreduce"),
    ],
)
def test_one_port_machine_costs_the_textbooks_form(name: str, kind: str) -> None:
    alpha = 1e-6
    for ranks in (2, 3, 4, 7, 8, 16):
        machine = crossbar(ranks, BANDWIDTH, latency=0.0, overhead=alpha)
        schedule = build(name, kind, ranks, DIVIDED)
        turns = form(name, kind, ranks, DIVIDED, {})
        time = run_simpy(lower(schedule, machine, Network(model="cut_through"))).time * FEMTOSECOND
        assert abs(time - closed_form(turns, [Platform(0, BANDWIDTH, alpha)])) <= allowance(turns, None)


@pytest.mark.parametrize("ranks", [2, 3, 5, 8])
def test_direct_on_one_port_is_a_pairwise_exchange(ranks: int) -> None:
    # rank i sends to i + 1, i + 2, ...: no two meet at a receiver, so (N - 1)(alpha + M/N/beta)
    alpha = 1e-6
    machine = crossbar(ranks, BANDWIDTH, latency=0.0, overhead=alpha)
    schedule = build("direct", "reduce_scatter", ranks, DIVIDED)
    time = run_simpy(lower(schedule, machine, Network(model="cut_through"))).time * FEMTOSECOND
    expected = (ranks - 1) * (Fraction(alpha) + Fraction(DIVIDED, ranks) / Fraction(BANDWIDTH))
    assert abs(time - expected) <= (ranks - 1) * PER_HOP * FEMTOSECOND
