"""Recursive halving: its steps, its cost, and the machines and numbers of ranks that it is said to need."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

from algorithms.collective import make_collective
from algorithms.duality import dual
from algorithms.trace import trace
from simulator.seeds.page import Grid, Remark, Section, compared, verdict
from simulator.seeds.seed1.claims import HALVING_STEPS, halving_time
from simulator.seeds.seed1.examples import (
    FULL,
    GAMMA,
    PLAIN,
    RANKS,
    SIZE,
    Machine,
    cube_of,
    mesh_of,
    one_port,
    pipelined_port,
    proven,
    ratio,
    same,
    seconds,
    share,
)

if TYPE_CHECKING:
    from algorithms.schedule import Schedule


def halving_section() -> Section:
    """Steps, cost and both bounds."""
    return Section(
        "Recursive halving ReduceScatter",
        (
            "Its table of N = 8, as the schedule of the catalogue has it:",
            Grid(("step", "pairs", "exchanged", "left on a node"), tuple(_step_rows())),
            (dual_of_doubling(), halves(), full_cost(), geometric_sum(), approximate_cost(), both_bounds()),
            "Where both terms are at their bound together (N = 8, 1 GiB, 1 us):",
            Grid(
                (
                    "machine",
                    "d",
                    "algorithm",
                    "no bytes",
                    "its bound",
                    "1 GiB, more",
                    "its bound",
                    "both at the bound",
                ),
                tuple(_both_rows()),
            ),
        ),
    )


@cache
def halving(ranks: int = RANKS, size: int = SIZE) -> Schedule:
    """Recursive halving, proven."""
    return proven("recursive_halving", "reduce_scatter", ranks, size)


def _step_rows() -> Iterator[tuple[Any, ...]]:
    steps = list(trace(halving()))
    for said, step in zip(HALVING_STEPS, steps, strict=True):
        pairs = " ".join(f"({a},{b})" for a, b in step.pairs() or ())
        left = share(step.live[1], SIZE)
        if step is steps[-1]:
            left = left.replace(str(RANKS), "N")
        found = (pairs, share(step.sent[1], SIZE), left)
        yield (str(step.step + 1), *map(compared, said, found))


@cache
def dual_of_doubling() -> Remark:
    """Recursive doubling backwards."""
    gather = proven("recursive_doubling", "allgather", RANKS, SIZE)
    turned = dual(gather, make_collective("reduce_scatter", RANKS, SIZE))
    alike = [
        [(m.src, m.dst, m.chunks) for m in one.moves] == [(m.src, m.dst, m.chunks) for m in other.moves]
        for one, other in zip(trace(turned), trace(halving()), strict=True)
    ]
    return Remark(
        "It is the dual of recursive doubling's AllGather.",
        verdict(alike),
        "Turned round, `recursive_doubling` is `recursive_halving`, transfer by transfer and chunk by "
        f"chunk, in all {len(alike)} steps.",
    )


@cache
def halves() -> Remark:
    """Step j exchanges M/2^j."""
    found = {ranks: [step.sent for step in trace(halving(ranks, SIZE))] for ranks in (2, 4, 8, 16, 64)}
    return Remark(
        "In step j nodes exchange M/2^j, half of the step before.",
        verdict(
            step == (SIZE >> j, SIZE >> j)
            for steps in found.values()
            for j, step in enumerate(steps, start=1)
        ),
        "So it is on "
        + ", ".join(f"{ranks} ({len(steps)} steps)" for ranks, steps in found.items())
        + " nodes.",
    )


@cache
def full_cost() -> Remark:
    """The sum with gamma."""
    cube = cube_of(3)
    after, streamed = cube.time(halving(), GAMMA), cube.time(halving(), GAMMA, streamed=True)
    formula = halving_time(RANKS, SIZE, FULL)
    return Remark(
        "T = sum over j of alpha + M/(2^j beta) + M/(2^j gamma).",
        verdict([same(after, formula)], [same(streamed, formula)]),
        f"messages are reduced after they have arrived: {seconds(formula)}, and {seconds(after)} on a "
        f"{cube.name}; as they come, {seconds(streamed)}.",
    )


@cache
def geometric_sum() -> Remark:
    """Sum of 1/2^j."""
    sums = {n: sum(Fraction(1, 2**j) for j in range(1, n.bit_length())) for n in (2**k for k in range(1, 21))}
    return Remark(
        "The sum of 1/2^j is (N-1)/N.",
        verdict(total == Fraction(n - 1, n) for n, total in sums.items()),
        f"Exactly, for N = 2 to 2^{len(sums)}.",
    )


@cache
def approximate_cost() -> Remark:
    """Without reducing."""
    cube = cube_of(3)
    time, formula = cube.time(halving()), halving_time(RANKS, SIZE, PLAIN)
    longer = cube.time(halving(), GAMMA)
    return Remark(
        "Without reducing T = log2 N alpha + (N-1)M/(N beta).",
        verdict([same(time, formula)], [same(longer, formula)]),
        f"reducing is free or streamed at gamma >= beta: {seconds(time)} on a {cube.name}. After arrival it "
        f"is {ratio(longer, time)} times.",
    )


@cache
def _reach() -> tuple[tuple[Machine, str, Schedule, Schedule], ...]:
    """Machine, algorithm, its schedules for no bytes and for 1 GiB."""
    copies: dict[str, Any] = {"dims": (2, 2, 2), "copies": "all"}
    tried: tuple[tuple[Machine, str, str, dict[str, Any]], ...] = (
        (one_port(RANKS), "recursive_halving", "recursive_halving", {}),
        (cube_of(3), "recursive_halving", "recursive_halving", {}),
        (cube_of(3), "bucket, 6 copies", "bucket", copies),
        (mesh_of(RANKS), "recursive_halving", "recursive_halving", {}),
        (mesh_of(RANKS), "direct", "direct", {}),
    )
    return tuple(
        (
            machine,
            title,
            proven(name, "reduce_scatter", RANKS, 0, **options),
            proven(name, "reduce_scatter", RANKS, SIZE, **options),
        )
        for machine, title, name, options in tried
    )


def _terms(place: int) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Latency term and its bound, bandwidth term (what bytes add) and its bound."""
    machine, _, empty, full = _reach()[place]
    latency = machine.time(empty)
    bounds = machine.bounds("reduce_scatter", SIZE)
    return latency, Fraction(bounds.latency), machine.time(full) - latency, Fraction(bounds.bandwidth)


def both(place: int) -> bool:
    """Whether an algorithm of the table has both terms at their bound."""
    latency, least, bandwidth, fewest = _terms(place)
    return same(latency, least) and same(bandwidth, fewest)


def _both_rows() -> Iterator[tuple[str, ...]]:
    for place, (machine, name, *_) in enumerate(_reach()):
        yield (
            machine.name,
            str(machine.ports),
            name,
            *map(seconds, _terms(place)),
            "yes" if both(place) else "no",
        )


@cache
def both_bounds() -> Remark:
    """Both bounds at once."""
    port = pipelined_port(RANKS)
    direct = port.time(proven("direct", "reduce_scatter", RANKS, SIZE))
    return Remark(
        "It reaches both bounds at once.",
        verdict(
            [both(0)], [both(place) for place, one in enumerate(_reach()) if one[1] == "recursive_halving"]
        ),
        "a rank has one port, alpha holds it, and N = 2^k. Then no term can be smaller; that their sum is a "
        "bound does not follow: the bound is the larger of them. With d ports halving pays d times the "
        "bandwidth term: on a hypercube both are reached by halvings side by side, each in another order of "
        f"dimensions. Where alpha is the way and not the port's, `direct` is faster: {seconds(direct)} for "
        f"{seconds(port.time(halving()))}.",
    )
