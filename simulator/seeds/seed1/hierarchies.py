"""The hierarchical AllReduce, left to section 4.8: its cost, and the best order of levels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import permutations
from math import prod

from simulator.seeds.page import Grid, Section
from simulator.seeds.seed1.claims import levels_time, sent
from simulator.seeds.seed1.examples import GAMMA, ratio, same, seconds
from simulator.seeds.seed1.levels import COSTS, DIMS, NAMES, VECTOR, cluster, hierarchical, placed


def allreduce_section() -> Section:
    """What section 4.8 would have to say."""
    return Section(
        "The hierarchical AllReduce (its section 4.8)",
        (
            "The document refers to a section that it does not contain: its ReduceScatter is the first half "
            "of this.",
            _composition(),
            Grid(("part", "formula", "simulated"), tuple(_part_rows())),
            _optimal_order(),
            Grid(("order of levels", "formula", "simulated", "over the best"), tuple(_order_rows())),
        ),
    )


def _composition() -> str:
    return (
        "**Cost.** RS_0, ..., RS_{d-2} inside, an AllReduce along the outermost level, AG_{d-2}, ..., AG_0 "
        "back. After RS_0 ... RS_{i-1} a node holds M/P_{i-1}, the sum over the nodes that share its outer "
        "coordinates; nodes with equal inner coordinates hold the same part, so the next level may go on "
        "with it as a vector of its own. A ring along level i takes (p_i - 1) alpha_i + (p_i - 1)/p_i "
        "M/(P_{i-1} beta_i) out, and by duality as much back; the outermost AllReduce is both. So T = 2 sum "
        "over i of [(p_i - 1) alpha_i + (p_i - 1)/p_i M/(P_{i-1} beta_i)], and (N-1)M/(N gamma) once, since "
        "only the way out reduces. A node sends 2(N-1)M/N in all, the least: the sum of (p_i - 1)/P_i "
        "telescopes to (N-1)/N."
    )


def _part_rows() -> Iterator[tuple[str, ...]]:
    machine, formula = cluster(3), levels_time(DIMS, VECTOR, COSTS)
    reducing = sent(prod(DIMS), VECTOR) / GAMMA
    for kind, meant in (
        ("reduce_scatter", formula + reducing),
        ("allgather", formula),
        ("allreduce", 2 * formula + reducing),
    ):
        time = machine.time(hierarchical(DIMS, VECTOR, kind), GAMMA)
        off = "" if same(time, meant) else f", {ratio(time, meant)} times"
        yield (kind, seconds(meant), seconds(time) + off)


@cache
def orders() -> tuple[tuple[tuple[int, ...], Fraction, Fraction], ...]:
    """Every order of levels, the formula of an AllReduce and its simulated time; the fastest first."""
    found = []
    for order in permutations(range(len(DIMS))):
        dims, place = placed(order)
        machine = cluster(3)
        elsewhere = replace(machine, network=replace(machine.network, placement=place))
        formula = 2 * levels_time(dims, VECTOR, [COSTS[level] for level in order])
        found.append((order, formula, elsewhere.time(hierarchical(dims, VECTOR, "allreduce"))))
    return tuple(sorted(found, key=lambda one: (one[2], one[0])))


def _optimal_order() -> str:
    best = orders()[0][0]
    by_rate = tuple(sorted(range(len(DIMS)), key=lambda level: -COSTS[level].beta))
    held = "as below" if best == by_rate else "but not below"
    return (
        "**Order.** Swap two neighbours in the order, levels a and b, at which a node holds V: a first "
        "costs (1 - 1/p_a) V/beta_a + (1 - 1/p_b) V/(p_a beta_b), b first the same with a and b exchanged. "
        "The difference is (1 - 1/p_a)(1 - 1/p_b) V (1/beta_a - 1/beta_b), and no other term changes: the "
        f"faster level goes first, however many nodes it has and whatever M, alpha or gamma are ({held}: "
        f"{', '.join(NAMES[level] for level in best)}). Any order can be sorted by such swaps, so fastest "
        "first is best of all."
    )


def _order_rows() -> Iterator[tuple[str, ...]]:
    best = orders()[0][2]
    for order, formula, time in orders():
        off = "" if same(time, formula) else f", {ratio(time, formula)} times"
        yield (
            ", ".join(NAMES[level] for level in order),
            seconds(formula),
            seconds(time) + off,
            ratio(time, best),
        )
